//! What an import tells: commands that are not in the scenario, and those that mean something else there.

use std::fmt;

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
