//! Elements of a robot file and their attributes. Every mistake has its line, and every element that is not read is told.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use glam::DVec3;
use roxmltree::Node;

use crate::import::remarks::Remarks;
use crate::scenario::{Problem, SourceText};

/// A robot file that is being read, and what is told of it.
pub struct UrdfReading {
    /// The file.
    pub source: Arc<SourceText>,
    /// What is not in the scenario, and what means something else there.
    pub remarks: Remarks,
    /// Mistakes.
    pub problems: Vec<Problem>,
}

impl UrdfReading {
    /// Begins to read a file with this text.
    pub fn new(file: &Path, text: &str) -> UrdfReading {
        let source = SourceText::new(&file.display().to_string(), text);
        UrdfReading { source, remarks: Remarks::default(), problems: Vec::new() }
    }

    /// Line of a place in the text, from 1.
    pub fn line(&self, span: &Range<usize>) -> usize {
        self.source.text.bytes().take(span.start).filter(|byte| *byte == b'\n').count() + 1
    }

    /// File and line, as in remarks.
    pub fn place(&self, span: &Range<usize>) -> String {
        format!("{}:{}", self.source.name, self.line(span))
    }

    /// Adds a mistake.
    pub fn wrong(&mut self, span: &Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.problems.push(Problem::at(&self.source, span.clone(), message).help(help));
    }

    /// Adds a remark on something that is not in the scenario.
    pub fn not_taken(&mut self, span: &Range<usize>, text: impl Into<String>) {
        self.remarks.not_taken(&self.place(span), text);
    }

    /// Adds a remark on something that means something else in the scenario, or is done in another way.
    pub fn differs(&mut self, span: &Range<usize>, text: impl Into<String>) {
        self.remarks.differs(&self.place(span), text);
    }
}

/// Element of a robot file.
#[derive(Clone, Copy)]
pub struct UrdfElement<'a>(pub Node<'a, 'a>);

impl<'a> UrdfElement<'a> {
    /// Name of the element.
    pub fn tag(&self) -> &'a str {
        self.0.tag_name().name()
    }

    /// Place of the beginning of the element.
    pub fn span(&self) -> Range<usize> {
        let start = self.0.range().start;
        start..start + 1 + self.tag().len()
    }

    /// Elements directly in it.
    pub fn children(&self) -> impl Iterator<Item = UrdfElement<'a>> + use<'a> {
        self.0.children().filter(Node::is_element).map(UrdfElement)
    }

    /// Elements of this name directly in it.
    pub fn all(&self, tag: &'static str) -> impl Iterator<Item = UrdfElement<'a>> + use<'a> {
        self.children().filter(move |child| child.tag() == tag)
    }

    /// The only element of this name in it; a second one is a mistake.
    pub fn child(&self, reading: &mut UrdfReading, tag: &'static str) -> Option<UrdfElement<'a>> {
        let mut all = self.all(tag);
        let first = all.next()?;
        if let Some(second) = all.next() {
            let message = format!("<{}> has a second <{tag}>, expected one", self.tag());
            reading.wrong(&second.span(), message, "leave out one of them");
        }
        Some(first)
    }

    /// Tells of all elements in it but these, with the name of what they belong to.
    pub fn tell_others(&self, reading: &mut UrdfReading, known: &[&str], of: &str) {
        for other in self.children().filter(|child| !known.contains(&child.tag())) {
            reading.not_taken(&other.span(), format!("<{}> of {of}", other.tag()));
        }
    }

    /// Value and place of an attribute.
    pub fn attribute(&self, name: &str) -> Option<(&'a str, Range<usize>)> {
        let attribute = self.0.attribute_node(name)?;
        Some((self.0.attribute(name)?, attribute.range_value()))
    }

    /// Reads an attribute that is required.
    pub fn text(&self, reading: &mut UrdfReading, name: &str) -> Option<(&'a str, Range<usize>)> {
        let found = self.attribute(name);
        if found.is_none() {
            let message = format!("<{}> has no `{name}`, expected one", self.tag());
            reading.wrong(&self.span(), message, format!("add `{name}=\"...\"`"));
        }
        found
    }

    /// Reads numbers of an attribute, if it is there.
    fn numbers<const N: usize>(&self, reading: &mut UrdfReading, name: &str) -> Option<[f64; N]> {
        let (text, span) = self.attribute(name)?;
        let number = |word: &str| word.parse().ok().filter(|number: &f64| number.is_finite());
        let numbers: Option<Vec<f64>> = text.split_whitespace().map(number).collect();
        let numbers = numbers.and_then(|numbers| <[f64; N]>::try_from(numbers).ok());
        if numbers.is_none() {
            let expected = if N == 1 { "a number".to_owned() } else { format!("{N} numbers") };
            let message = format!("`{name}` of <{}> is \"{text}\", expected {expected}", self.tag());
            let macros = "macros are expanded first: xacro robot.urdf.xacro > robot.urdf";
            reading.wrong(&span, message, if text.contains("${") { macros } else { "correct it" });
        }
        numbers
    }

    /// Reads a number, if it is there.
    pub fn maybe(&self, reading: &mut UrdfReading, name: &str) -> Option<f64> {
        self.numbers::<1>(reading, name).map(|[number]| number)
    }

    /// Reads a number that is required.
    pub fn number(&self, reading: &mut UrdfReading, name: &str) -> Option<f64> {
        self.text(reading, name)?;
        self.maybe(reading, name)
    }

    /// Reads a positive length \[m\] that is required.
    pub fn length(&self, reading: &mut UrdfReading, name: &str) -> Option<f64> {
        let length = self.number(reading, name)?;
        self.positive(reading, name, length)
    }

    fn positive(&self, reading: &mut UrdfReading, name: &str, length: f64) -> Option<f64> {
        if length > 0.0 {
            return Some(length);
        }
        let span = self.attribute(name).map_or(self.span(), |(_, span)| span);
        let message = format!("`{name}` of <{}> is {length} m, expected a positive length", self.tag());
        reading.wrong(&span, message, "correct it, or leave the geometry out");
        None
    }

    /// Reads three positive lengths \[m\] that are required.
    pub fn lengths(&self, reading: &mut UrdfReading, name: &str) -> Option<DVec3> {
        self.text(reading, name)?;
        let lengths = self.numbers::<3>(reading, name)?;
        for length in lengths {
            self.positive(reading, name, length)?;
        }
        Some(lengths.into())
    }

    /// Reads a vector, or takes the default.
    pub fn vector(&self, reading: &mut UrdfReading, name: &str, default: DVec3) -> DVec3 {
        self.numbers::<3>(reading, name).map_or(default, DVec3::from_array)
    }
}
