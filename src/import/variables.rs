//! Variables of a script: definitions, and what stands for them in a line.

use std::collections::BTreeMap;

use super::formula;
use super::lines::PlacedChar;

/// Depth of variables that are made of variables, at most.
const DEEPEST: usize = 20;

/// A variable.
#[derive(Debug, Clone, PartialEq)]
enum VariableText {
    /// A word: the first of an `index`, or a `string`.
    Word(String),
    /// A formula, evaluated where the variable is used.
    Formula(String),
    /// A style whose values are known only during a run.
    OfRun(String),
}

/// All variables of a script.
#[derive(Debug, Clone, Default)]
pub struct Variables {
    list: BTreeMap<String, VariableText>,
}

/// What became of a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Defined {
    /// The variable has its value.
    Taken,
    /// One of several values was taken, or a style is not known before a run: what to say.
    InPart(String),
}

impl Variables {
    /// Variables given beside the script: a script does not change them where it defines an `index` or a `string`.
    pub fn given(list: &[(String, String)]) -> Variables {
        let one = |(name, text): &(String, String)| (name.clone(), VariableText::Word(text.clone()));
        Variables { list: list.iter().map(one).collect() }
    }

    /// Defines a variable by its style and the words behind it.
    pub fn define(&mut self, name: &str, style: &str, words: &[&str]) -> Result<Defined, String> {
        let first = || {
            words.first().map(|word| (*word).to_owned()).ok_or("expected a value behind the style".to_owned())
        };
        let (text, keeps) = match style {
            "equal" => (VariableText::Formula(words.concat()), false),
            "string" => (VariableText::Word(first()?), false),
            "getenv" => return Err("reads an environment variable: give it by --var NAME=VALUE".to_owned()),
            "delete" => {
                self.list.remove(name);
                return Ok(Defined::Taken);
            }
            "index" => (VariableText::Word(first()?), true),
            "loop" => (VariableText::Word(if words.len() > 1 { first()? } else { "1".to_owned() }), true),
            other => (VariableText::OfRun(other.to_owned()), false),
        };
        if text == VariableText::Formula(String::new()) {
            return Err("expected a formula behind `equal`".to_owned());
        }
        let told = match &text {
            VariableText::OfRun(style) => {
                Defined::InPart(format!("variable `{name}` of style `{style}` is known only during a run"))
            }
            _ if style == "loop" || (style == "index" && words.len() > 1) => {
                Defined::InPart(format!("variable `{name}` stays at its first value: loops are not run"))
            }
            _ => Defined::Taken,
        };
        if !(keeps && self.list.contains_key(name)) {
            self.list.insert(name.to_owned(), text);
        }
        Ok(told)
    }

    /// Number of a variable.
    pub fn number(&self, name: &str) -> Result<f64, String> {
        self.number_within(name, 0)
    }

    fn number_within(&self, name: &str, depth: usize) -> Result<f64, String> {
        if depth > DEEPEST {
            return Err(format!("variable `{name}` is defined by itself"));
        }
        match self.find(name)? {
            VariableText::Word(word) => {
                word.parse().map_err(|_| format!("variable `{name}` is \"{word}\", expected a number"))
            }
            VariableText::Formula(text) => self.formula_within(text, depth + 1),
            VariableText::OfRun(style) => {
                Err(format!("variable `{name}` of style `{style}` is known only during a run"))
            }
        }
    }

    fn formula_within(&self, text: &str, depth: usize) -> Result<f64, String> {
        formula::value(text, &|name| match name.strip_prefix("v_") {
            Some(name) => self.number_within(name, depth),
            None => Err(format!("`{name}` in `{text}` is known only during a run")),
        })
    }

    fn find(&self, name: &str) -> Result<&VariableText, String> {
        self.list.get(name).ok_or_else(|| {
            let known = self.list.keys().map(String::as_str);
            format!("variable `{name}` is not defined ({})", crate::error::suggest(name, known))
        })
    }

    /// Text that stands for a variable in a line.
    fn text(&self, name: &str) -> Result<String, String> {
        match self.find(name)? {
            VariableText::Word(word) => Ok(word.clone()),
            _ => self.number(name).map(|number| number.to_string()),
        }
    }

    /// Line with its variables replaced: `${name}`, `$x`, `$(formula)`; quoted words stay as they are.
    ///
    /// # Errors
    /// The place of the `$`, and what is wrong.
    pub fn expand(&self, line: &[PlacedChar]) -> Result<Vec<PlacedChar>, (usize, String)> {
        let mut expanded = Vec::with_capacity(line.len());
        let (mut at, mut quote) = (0, None);
        while let Some(&(c, place)) = line.get(at) {
            match (quote, c) {
                (None, '"' | '\'') => quote = Some(c),
                (Some(open), _) if open == c => quote = None,
                _ => {}
            }
            if c != '$' || quote.is_some() {
                expanded.push((c, place));
                at += 1;
                continue;
            }
            let (text, length) = self.behind_dollar(&line[at + 1..]).map_err(|wrong| (place, wrong))?;
            expanded.extend(text.chars().map(|c| (c, place)));
            at += 1 + length;
        }
        Ok(expanded)
    }

    /// Text for what stands behind a `$`, and how many characters that takes.
    fn behind_dollar(&self, rest: &[PlacedChar]) -> Result<(String, usize), String> {
        let text: String = rest.iter().map(|(c, _)| *c).collect();
        let unclosed = || "`$` without its closing bracket".to_owned();
        if let Some(inside) = text.strip_prefix('{') {
            let (name, _) = inside.split_once('}').ok_or_else(unclosed)?;
            return Ok((self.text(name)?, name.chars().count() + 2));
        }
        if text.starts_with('(') {
            let mut depth = 0;
            let end = text.char_indices().position(|(_, c)| {
                depth += i32::from(c == '(') - i32::from(c == ')');
                depth == 0
            });
            let end = end.ok_or_else(unclosed)?;
            let inside: String = text.chars().skip(1).take(end - 1).collect();
            let formula = inside.split_once(":%").map_or(inside.as_str(), |(formula, _)| formula);
            return Ok((self.formula_within(formula, 0)?.to_string(), end + 1));
        }
        let name =
            text.chars().next().filter(|c| c.is_alphanumeric()).ok_or("`$` without a name behind it")?;
        Ok((self.text(&name.to_string())?, 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::lines::logical_lines;

    fn expand(variables: &Variables, line: &str) -> Result<String, String> {
        let expanded =
            variables.expand(&logical_lines(line)[0]).map_err(|(at, wrong)| format!("{at}: {wrong}"))?;
        Ok(expanded.into_iter().map(|(c, _)| c).collect())
    }

    #[test]
    fn variables_of_all_kinds_are_put_in() {
        let mut variables = Variables::given(&[("n".to_owned(), "7".to_owned())]);
        for (name, style, words) in [
            ("x", "equal", &["2*v_d"][..]),
            ("d", "equal", &["0.5", "+", "1"]),
            ("n", "index", &["3"]),
            ("name", "string", &["drum"]),
        ] {
            assert_eq!(variables.define(name, style, words), Ok(Defined::Taken), "{name}");
        }
        let found = expand(&variables, "a ${name}_$x b$(v_n+1)c $n '$x'").expect("defined");
        assert_eq!(found, "a drum_3 b8c 7 '$x'", "a given variable goes before an index");
    }

    #[test]
    fn what_is_not_defined_or_not_known_has_its_place() {
        let mut variables = Variables::default();
        variables.define("turn", "equal", &["2*step"]).expect("a formula");
        variables.define("self", "equal", &["v_self"]).expect("a formula");
        assert!(
            expand(&variables, "ab ${tern}")
                .expect_err("unknown")
                .starts_with("3: variable `tern` is not defined (did you mean `turn`")
        );
        assert!(
            expand(&variables, "${turn}")
                .expect_err("of the run")
                .contains("`step` in `2*step` is known only during a run")
        );
        assert!(expand(&variables, "${self}").expect_err("a circle").contains("defined by itself"));
        assert!(matches!(variables.define("k", "loop", &["5"]), Ok(Defined::InPart(_))));
    }
}
