//! Properties of the reader of scenarios: no text makes it panic, and it can draw every refusal.

use std::path::Path;

use esker::scenario::Scenario;
use proptest::prelude::*;

const FILES: [&str; 4] = [
    include_str!("../../scenarios/column.toml"),
    include_str!("../../scenarios/drum.toml"),
    include_str!("../../scenarios/settle_1000.toml"),
    include_str!("../../scenarios/pile.toml"),
];

/// Pieces that turn a valid file into a nearly valid one.
const PIECES: [&str; 24] = [
    "0",
    "-1",
    "nan",
    "inf",
    "1e308",
    "-1e308",
    "1e-320",
    "99999999999999999999",
    "[]",
    "{}",
    "\"\"",
    "[[0]]",
    "[1, 2]",
    "true",
    "1979-05-27",
    "\"µ\"",
    "\n",
    "kind = \"box\"",
    "\"lattice\"",
    "\"random\"",
    "#",
    ".",
    "=",
    "'",
];

fn read(text: &str, overrides: &[String]) {
    match Scenario::parse("case", text, Path::new(""), overrides) {
        Ok(scenario) => {
            let again = Scenario::parse("case", &scenario.resolved, Path::new(""), &[]);
            let again = again.unwrap_or_else(|found| panic!("{found}\nresolved:\n{}", scenario.resolved));
            assert_eq!(again.world, scenario.world);
            assert_eq!(again.settings, scenario.settings);
            assert_eq!(again.emitters, scenario.emitters);
            assert_eq!(again.resolved, scenario.resolved);
        }
        Err(problems) => {
            assert!(!problems.list().is_empty());
            assert!(!problems.to_string().is_empty());
            assert!(!esker::cli::drawing(&problems).is_empty());
        }
    }
}

/// Byte index between characters at about this share of the text.
fn cut(text: &str, share: f64) -> usize {
    let wanted = (share * text.len() as f64) as usize;
    (0..=wanted).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0)
}

/// Replaces the value at this share of all values of the file, if there is one.
fn replace_value(text: &str, share: f64, piece: &str) -> String {
    let code = text.find("title").unwrap_or(0);
    let values: Vec<usize> = text.match_indices("= ").map(|(i, _)| i + 2).filter(|&i| i > code).collect();
    let Some(&start) = values.get((share * values.len() as f64) as usize) else { return text.to_owned() };
    let end = text[start..].find([',', '\n', '}']).map_or(text.len(), |length| start + length);
    format!("{}{piece} {}", &text[..start], &text[end..])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        read(&text, &[]);
    }

    #[test]
    fn any_override_is_applied_or_refused(change in "[a-z0-9_.]{0,20}=?[ -~]{0,12}") {
        read(FILES[0], &[change]);
    }

    #[test]
    fn a_file_with_a_part_cut_out_is_read_or_refused(
        file in 0..FILES.len(), a in 0.0..1.0f64, length in 0..60usize, piece in 0..PIECES.len(),
    ) {
        let text = FILES[file];
        let start = cut(text, a);
        let end = (start + length).min(text.len());
        let end = (end..=text.len()).find(|&i| text.is_char_boundary(i)).unwrap_or(text.len());
        read(&format!("{}{}{}", &text[..start], PIECES[piece], &text[end..]), &[]);
    }

    #[test]
    fn a_file_with_other_values_is_read_or_refused(
        file in 0..FILES.len(), changes in prop::collection::vec((0.0..1.0f64, 0..PIECES.len()), 1..4),
    ) {
        let change = |text: String, (share, piece): (f64, usize)| replace_value(&text, share, PIECES[piece]);
        read(&changes.into_iter().fold(FILES[file].to_owned(), change), &[]);
    }

    #[test]
    fn any_number_in_a_packing_is_read_or_refused(
        number in prop::num::f64::ANY, key in 0..6usize, count in any::<i64>(),
    ) {
        let key = ["spacing", "jitter", "corner.0", "corner.2", "counts.0", "count"][key];
        let value = if key.starts_with("count") { count.to_string() } else { format!("{number:e}") };
        read(FILES[2], &[format!("grains.0.packing.{key}={value}")]);
    }
}
