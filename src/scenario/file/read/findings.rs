//! Mistakes that a reading found, and which of them only follow from others.

use std::collections::HashMap;

use crate::scenario::file::keys::Step;
use crate::scenario::file::problems::Problem;

/// A mistake with its place in the text, and what it may follow from.
pub struct Mistake {
    /// Byte at which its place in the text starts.
    pub start: usize,
    /// The mistake.
    pub problem: Problem,
    /// What else may tell it.
    pub follows: Follows,
}

/// Other mistakes that a mistake may follow from.
pub enum Follows {
    /// None.
    Nothing,
    /// The same cause, in other places: such as a name that is used often, and unknown.
    Cause(String),
    /// A key of the table at this path that is misspelt, and stands for one of these.
    Misspelt(Vec<Step>, Vec<&'static str>),
}

/// Most lines that are listed where one cause has many places.
const LISTED: usize = 5;

/// Returns the mistakes in the order of the text, each cause once. `misspelt` lists keys that are unknown, as the path of their table and
/// the key that each is likely to stand for.
pub fn one_per_cause(mut findings: Vec<Mistake>, misspelt: &[(Vec<Step>, String)]) -> Vec<Problem> {
    findings.sort_by_key(|finding| finding.start);
    findings.retain(|finding| match &finding.follows {
        Follows::Misspelt(path, keys) => {
            !misspelt.iter().any(|(of, key)| of == path && keys.contains(&key.as_str()))
        }
        _ => true,
    });
    let mut places: HashMap<String, (usize, Vec<usize>)> = HashMap::new();
    let mut problems: Vec<Problem> = Vec::new();
    for Mistake { problem, follows, .. } in findings {
        if let Follows::Cause(cause) = follows {
            if let Some((first, lines)) = places.get_mut(&cause) {
                let line = |problem: &Problem| problem.position().map(|(line, _)| line);
                // Lines that are not listed are counted; to find one takes a look at the whole text.
                match lines.len() <= LISTED {
                    true => {
                        lines.extend(line(&problem).filter(|found| line(&problems[*first]) != Some(*found)))
                    }
                    false => lines.push(0),
                }
                continue;
            }
            places.insert(cause, (problems.len(), Vec::new()));
        }
        problems.push(problem);
    }
    for (first, lines) in places.into_values().filter(|(_, lines)| !lines.is_empty()) {
        problems[first].add(&elsewhere(&lines));
    }
    problems
}

/// Says in which other lines a mistake is.
fn elsewhere(lines: &[usize]) -> String {
    let listed = lines.iter().take(LISTED).map(usize::to_string).collect::<Vec<_>>().join(", ");
    let more = lines.len().saturating_sub(LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("; also in line{} {listed}{more}", if lines.len() == 1 { "" } else { "s" })
}
