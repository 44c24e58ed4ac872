//! What an import tells: commands that are not in the scenario, and those that mean something else there.

use std::fmt;

use super::text::comment;

/// How a remark stands to the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RemarkKind {
    /// It is not in the scenario.
    NotTaken,
    /// It is in the scenario, and means something else or is done in another way.
    Differs,
}

/// Remark on a command of the script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// File and line.
    pub place: String,
    /// How it stands to the script.
    pub stand: RemarkKind,
    /// What is to know.
    pub text: String,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stand = match self.stand {
            RemarkKind::NotTaken => "not taken",
            RemarkKind::Differs => "differs",
        };
        write!(f, "{}: {stand}: {}", self.place, self.text)
    }
}

/// Remarks as comments at the head of a scenario, those of each kind under a title; `source` says what they are about: a script, a robot.
pub fn listed(remarks: &[Remark], source: &str) -> String {
    let mut text = String::new();
    let groups = [
        (RemarkKind::NotTaken, format!("Not taken from the {source}:")),
        (RemarkKind::Differs, "What means something else here, or is done in another way:".to_owned()),
    ];
    for (stand, title) in groups {
        let mut of_group = remarks.iter().filter(|remark| remark.stand == stand).peekable();
        if of_group.peek().is_some() {
            text.push_str(&format!("#\n# {title}\n"));
            for remark in of_group {
                text.push_str(&comment(&format!("- {}: {}", remark.place, remark.text)));
            }
        }
    }
    text
}

/// All remarks on a script, each text at its first place.
#[derive(Debug, Clone, Default)]
pub struct Remarks {
    /// In the order of the script.
    pub list: Vec<Remark>,
}

impl Remarks {
    /// Adds a remark, unless its place has it already.
    pub fn add(&mut self, remark: Remark) {
        let is_told = |told: &Remark| {
            told.text == remark.text && (told.place == remark.place || told.stand == RemarkKind::Differs)
        };
        if !self.list.iter().any(is_told) {
            self.list.push(remark);
        }
    }

    /// Adds that something differs, at this place.
    pub fn differs(&mut self, place: &str, text: impl Into<String>) {
        self.add(Remark { place: place.to_owned(), stand: RemarkKind::Differs, text: text.into() });
    }

    /// Adds that something is not taken, at this place.
    pub fn not_taken(&mut self, place: &str, text: impl Into<String>) {
        self.add(Remark { place: place.to_owned(), stand: RemarkKind::NotTaken, text: text.into() });
    }
}
