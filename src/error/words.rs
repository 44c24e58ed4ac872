//! Words in messages: sizes, printable text, and the nearest known name.

use std::borrow::Cow;

/// Writes a number of bytes in decimal units: `1.28 GB`.
pub fn in_words(bytes: u64) -> String {
    let units = [(1_000_000_000_u64, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{:.2} {name}", bytes as f64 / unit as f64),
        None => format!("{bytes} bytes"),
    }
}

/// Returns the text without control characters, which could steer a terminal. Ends of lines and tabs stay, and so does the number of bytes.
pub fn printable(text: &str) -> Cow<'_, str> {
    let steers = |c: char| c.is_control() && c != '\n' && c != '\t';
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let shown = |c: char| match (steers(c), c.len_utf8()) {
        (false, _) => c,
        (true, _) if c == '\r' => ' ',
        (true, 1) => '?',
        (true, _) => '·',
    };
    Cow::Owned(text.chars().map(shown).collect())
}

/// Returns the known name nearest to a misspelt one, if one is similar enough.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 2).clamp(1, 4);
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&name.to_lowercase(), candidate), candidate))
        .filter(|&(distance, _)| distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Returns advice on a name that is not among the known ones.
pub(crate) fn suggest<'a>(name: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    if let Some(candidate) = nearest(name, known.clone()) {
        return format!("did you mean `{candidate}`?");
    }
    let all: Vec<String> = known.into_iter().map(|candidate| format!("`{candidate}`")).collect();
    if all.is_empty() { "there are none".to_owned() } else { format!("known: {}", all.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_taken_out_of_a_text_byte_by_byte() {
        assert_eq!(printable("a µ-line\n\tof text"), "a µ-line\n\tof text");
        let sent = "\u{1b}[2J\u{7}red\r\u{9b}1m";
        assert_eq!((printable(sent).as_ref(), printable(sent).len()), ("?[2J?red ·1m", sent.len()));
    }

    #[test]
    fn the_nearest_name_is_suggested_and_a_far_one_is_not() {
        assert_eq!(nearest("raduis", ["radius", "packing"]), Some("radius"));
        assert_eq!(nearest("colour", ["radius", "packing"]), None);
        assert_eq!(suggest("colour", ["radius", "packing"]), "known: `radius`, `packing`");
    }
}
