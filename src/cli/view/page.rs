//! Page that shows results. Its files are part of the program.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::error::Error;

/// Attributes by which the page says what it shows; the program replaces their content.
const SIMULATIONS: &str = r#"name="esker-shows" content="simulations""#;
const STYLE: &str = r#"<link rel="stylesheet" href="style.css">"#;
/// Element of the page for the list of its modules: start and end.
const MODULES: [&str; 2] = [r#"<script type="importmap">"#, "</script>"];
/// Element that the results are inserted before.
const START: &str = r#"<script type="module">"#;

const INDEX: &str = include_str!("../../../web/page/index.html");
const CSS: &str = include_str!("../../../web/page/style.css");

/// Modules of the page: name and text of each file.
macro_rules! modules {
    ($($name:literal),*) => { [$(($name, include_str!(concat!("../../../web/page/", $name)))),*] };
}

/// Modules that show results; `simulate.js` is only for the page with the engine.
const SCRIPTS: [(&str, &str); 9] = modules![
    "main.js",
    "results.js",
    "view.js",
    "spheres.js",
    "camera.js",
    "frame.js",
    "colours.js",
    "plot.js",
    "dom.js"
];

/// Source of the results.
#[derive(Clone, Copy)]
pub(super) enum Shows {
    /// The program that serves the page.
    Served,
    /// The page itself.
    Embedded,
}

/// Type and content of a file of the page, by the path in its address.
pub(super) fn file(path: &str) -> Option<(&'static str, String)> {
    match path {
        "/" | "/index.html" => Some(("text/html; charset=utf-8", index(Shows::Served))),
        "/style.css" => Some(("text/css; charset=utf-8", CSS.to_owned())),
        _ => {
            let script = SCRIPTS.iter().find(|(name, _)| path.strip_prefix('/') == Some(name))?;
            Some(("text/javascript; charset=utf-8", script.1.to_owned()))
        }
    }
}

fn index(shows: Shows) -> String {
    let word = match shows {
        Shows::Served => "served results",
        Shows::Embedded => "embedded results",
    };
    INDEX.replace(SIMULATIONS, &SIMULATIONS.replace("simulations", word))
}

/// Page in one file: the part before its frames, and the part after them.
///
/// # Errors
/// None as long as the page has its elements for style and modules.
pub(super) fn around_the_results(results: &str) -> Result<[String; 2], Error> {
    let page = index(Shows::Embedded).replace(STYLE, &format!("<style>\n{CSS}</style>"));
    let [open, close] = MODULES;
    let split = page.split_once(open).and_then(|(head, rest)| {
        let (_, rest) = rest.split_once(close)?;
        let (body, foot) = rest.split_once(START)?;
        Some((head, body, foot))
    });
    let (head, body, foot) = split.ok_or_else(|| Error::Unusable {
        origin: "the page in the program".to_owned(),
        found: "has no place for its modules".to_owned(),
        advice: "this is a defect of esker, please report it".to_owned(),
    })?;
    // Only `<` could end the script element.
    let results = results.replace('<', "\\u003c");
    let results = format!(r#"<script type="application/json" id="results-index">{results}</script>"#);
    Ok([format!("{head}{open}{}{close}{body}{results}\n", import_map()), format!("{START}{foot}")])
}

/// Import map: every module as an address that holds its text.
fn import_map() -> String {
    let module = |(name, text): &(&str, &str)| {
        format!(r#""esker/{name}": "data:text/javascript;base64,{}""#, STANDARD.encode(text))
    };
    format!(r#"{{ "imports": {{ {} }} }}"#, SCRIPTS.iter().map(module).collect::<Vec<_>>().join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_in_one_file_names_no_other_file() {
        let [before, after] = around_the_results(r#"{ "title": "</script>" }"#).expect("the page");
        assert!(before.contains("embedded results") && before.contains("#views"), "style and mode are in it");
        assert!(before.contains(r"\u003c/script>"), "a title cannot end the results");
        let page = before + &after;
        for other in ["href=\"style.css\"", "\"./", "src="] {
            assert!(!page.contains(other), "{other}");
        }
    }

    #[test]
    fn every_module_that_a_module_of_results_names_is_in_the_program() {
        let known = |name: &str| SCRIPTS.iter().any(|(known, _)| *known == name);
        for (file, text) in SCRIPTS {
            for (_, rest) in
                text.match_indices("from \"esker/").map(|(at, found)| (at, &text[at + found.len()..]))
            {
                let name = rest.split('"').next().unwrap_or_default();
                assert!(known(name), "{file} names {name}");
            }
        }
        assert!(!known("simulate.js"), "which would have to name what it needs");
    }

    #[test]
    fn only_files_of_the_page_are_served() {
        assert!(file("/").is_some_and(|(_, text)| text.contains("served results")));
        assert!(file("/view.js").is_some());
        for path in ["/simulate.js", "/../Cargo.toml", "/web/page/view.js", ""] {
            assert!(file(path).is_none(), "{path}");
        }
    }
}
