//! One command of a script, read word by word.

use std::sync::Arc;

use glam::DVec3;

use super::lines::ScriptWord;
use super::remarks::{Remark, RemarkKind, Remarks};
use super::variables::Variables;
use crate::scenario::{Problem, SourceText, Units};

/// Command with the word that is read next.
pub struct ScriptCommand<'a> {
    /// File of the command.
    pub source: &'a Arc<SourceText>,
    /// Its words; the first is its name.
    pub words: &'a [ScriptWord],
    /// Index of the word that is read next.
    at: usize,
    /// Variables, for numbers such as `v_speed`.
    pub variables: &'a Variables,
    /// Units of the script.
    pub units: Units,
    remarks: &'a mut Remarks,
}

impl<'a> ScriptCommand<'a> {
    /// Begins to read a command behind its name.
    pub fn new(
        source: &'a Arc<SourceText>,
        words: &'a [ScriptWord],
        variables: &'a Variables,
        units: Units,
        remarks: &'a mut Remarks,
    ) -> ScriptCommand<'a> {
        ScriptCommand { source, words, at: 1, variables, units, remarks }
    }

    /// Line of the command in its file, from 1.
    pub fn line(&self) -> usize {
        let start = self.words.first().map_or(0, |word| word.span.start);
        self.source.text[..start].matches('\n').count() + 1
    }

    /// File and line, as in remarks.
    pub fn place(&self) -> String {
        format!("{}:{}", self.source.name, self.line())
    }

    /// Remarks that the command, or a part of it, is not in the scenario.
    pub fn not_taken(&mut self, text: impl Into<String>) {
        self.remark(RemarkKind::NotTaken, text.into());
    }

    /// Remarks that something means something else in esker.
    pub fn differs(&mut self, text: impl Into<String>) {
        self.remark(RemarkKind::Differs, text.into());
    }

    fn remark(&mut self, stand: RemarkKind, text: String) {
        let place = self.place();
        self.remarks.add(Remark { place, stand, text });
    }

    /// Mistake at the word that was read last.
    pub fn wrong(&self, message: impl Into<String>, help: impl Into<String>) -> Problem {
        let word = &self.words[(self.at.max(1) - 1).min(self.words.len() - 1)];
        Problem::at(self.source, word.span.clone(), message).help(help)
    }

    /// Word that is read next.
    pub fn peek(&self) -> Option<&'a str> {
        self.words.get(self.at).map(|word| word.text.as_str())
    }

    /// Reads the next word, if there is one.
    pub fn next(&mut self) -> Option<&'a str> {
        let word = self.peek()?;
        self.at += 1;
        Some(word)
    }

    /// Passes over the next word if it is this one.
    pub fn skip(&mut self, word: &str) -> bool {
        let is_it = self.peek() == Some(word);
        self.at += usize::from(is_it);
        is_it
    }

    /// Reads a word; `expected` names it in a mistake.
    pub fn word(&mut self, expected: &str) -> Result<&'a str, Problem> {
        match self.next() {
            Some(word) => Ok(word),
            None => {
                let last = &self.words[self.words.len() - 1];
                let message = format!("`{}` ends, expected {expected}", self.words[0].text);
                Err(Problem::at(self.source, last.span.clone(), message).help("add what is missing"))
            }
        }
    }

    /// Reads one of these words.
    pub fn one_of(&mut self, words: &[&'static str]) -> Result<&'static str, Problem> {
        let expected = words.join(", ");
        let found = self.word(&expected)?;
        let known = words.iter().find(|word| **word == found).copied();
        known.ok_or_else(|| self.wrong(format!("found `{found}`, expected {expected}"), "correct the word"))
    }

    /// Reads this word.
    pub fn exactly(&mut self, word: &'static str) -> Result<(), Problem> {
        self.one_of(&[word]).map(|_| ())
    }

    /// Reads a number, or a variable `v_name`; `expected` names it in a mistake.
    pub fn number(&mut self, expected: &str) -> Result<f64, Problem> {
        let word = self.word(&format!("a number: {expected}"))?;
        if let Some(name) = word.strip_prefix("v_") {
            return self.variables.number(name).map_err(|wrong| {
                self.wrong(
                    format!("{expected}: {wrong}"),
                    "write a number, or a variable whose value is known before the run",
                )
            });
        }
        let number = word.parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| {
            self.wrong(format!("found `{word}`, expected a number: {expected}"), "write a number")
        })
    }

    /// Reads a number above zero.
    pub fn positive(&mut self, expected: &str) -> Result<f64, Problem> {
        let number = self.number(expected)?;
        if number > 0.0 {
            return Ok(number);
        }
        Err(self.wrong(format!("found {number}, expected {expected} above zero"), "correct the number"))
    }

    /// Reads a whole number from 0.
    pub fn count(&mut self, expected: &str) -> Result<u64, Problem> {
        let number = self.number(expected)?;
        if (0.0..=1e15).contains(&number) && number.fract() == 0.0 {
            return Ok(number as u64);
        }
        Err(self.wrong(format!("found {number}, expected a whole number: {expected}"), "correct the number"))
    }

    /// Reads a length in metres, which may be `INF`.
    pub fn bound(&mut self, end: f64, expected: &str) -> Result<f64, Problem> {
        match self.peek() {
            Some("INF" | "EDGE" | "NULL") => {
                self.at += 1;
                Ok(end)
            }
            _ => self.length(expected),
        }
    }

    /// Reads a length in metres.
    pub fn length(&mut self, expected: &str) -> Result<f64, Problem> {
        Ok(self.number(expected)? * self.units.length)
    }

    /// Reads three numbers.
    pub fn vector(&mut self, expected: &str) -> Result<DVec3, Problem> {
        Ok(DVec3::new(self.number(expected)?, self.number(expected)?, self.number(expected)?))
    }

    /// Reads three numbers that are not all zero, as a unit vector.
    pub fn direction(&mut self, expected: &str) -> Result<DVec3, Problem> {
        let vector = self.vector(expected)?;
        let unit = vector.try_normalize();
        unit.ok_or_else(|| {
            self.wrong(format!("{expected} is zero, expected a direction"), "give a direction")
        })
    }

    /// Reads the name of a thing that the script has defined.
    pub fn name_among<'b>(
        &mut self,
        what: &str,
        known: impl IntoIterator<Item = &'b str> + Clone,
    ) -> Result<&'a str, Problem> {
        let name = self.word(&format!("the id of a {what}"))?;
        if known.clone().into_iter().any(|one| one == name) {
            return Ok(name);
        }
        let help = crate::error::suggest(name, known);
        Err(self.wrong(format!("there is no {what} `{name}`"), help))
    }

    /// Reads `yes` or `no`, or `on` or `off`.
    pub fn switch(&mut self) -> Result<bool, Problem> {
        Ok(matches!(self.one_of(&["yes", "no", "on", "off"])?, "yes" | "on"))
    }

    /// Refuses what is left of the command.
    pub fn end(&mut self) -> Result<(), Problem> {
        match self.next() {
            None => Ok(()),
            Some(word) => {
                let name = &self.words[0].text;
                Err(self.wrong(
                    format!("`{word}` is too much for this `{name}`"),
                    "leave it out, or correct what is before it",
                ))
            }
        }
    }

    /// All words that are left, as one text; none is left then.
    pub fn rest(&mut self) -> String {
        let rest: Vec<&str> = self.words[self.at..].iter().map(|word| word.text.as_str()).collect();
        self.at = self.words.len();
        rest.join(" ")
    }
}
