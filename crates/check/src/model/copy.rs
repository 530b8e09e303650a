//! A step written out as JSON and read again: with its variables replaced, or in another process.

use std::path::Path;

use pintle_yaml::{Document, Limits, Place};
use serde_json::Value;

use super::Dialect;
use super::places;
use super::sink::Sink;
use super::step::{self, Step};
use crate::registry::Registry;

/// Reads the fields of a step. `places` are those of the original, whose shape the fields must have.
pub(crate) fn read(
    name: &str,
    fields: &Value,
    places: &[Place],
    dialect: Dialect,
    directory: &Path,
    registry: &Registry,
) -> Result<Step, String> {
    let text = printable(&serde_json::json!({ name: fields }).to_string());
    let problems = |problems: Vec<pintle_yaml::Problem>| {
        problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>().join("; ")
    };
    let document = Document::parse(&text, Limits::default()).map_err(problems)?;
    let Some((key, body)) = document.root().entries().next() else {
        return Err("there is no step".into());
    };
    let pairs = places::pair(body, places);
    let mut sink = Sink::new(dialect, directory).with_places(&pairs);
    let read = step::read(key, body, registry, &mut sink);
    let told = sink.finish();
    match read {
        Some(step) if told.is_empty() => Ok(step),
        _ => Err(problems(told)),
    }
}

/// JSON may hold characters that YAML does not: they become escapes, which both understand.
fn printable(json: &str) -> String {
    let plain = |c: char| {
        matches!(c, ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}'
            | '\u{10000}'..='\u{10ffff}')
    };
    if json.chars().all(plain) {
        return json.to_owned();
    }
    json.chars().map(|c| if plain(c) { c.to_string() } else { format!("\\u{:04x}", u32::from(c)) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_text_survives() {
        for text in ["a", "ä€😀", "\u{7f}\u{80}\u{feff}\u{fffe}", "tab\tline\n\"quote\" \\ # : {", "null", "1.10", ""]
        {
            let fields = json!({"check": "x", "command": ["echo", text], "stdout": {"contains": ["z", text]}});
            let step = read("n: #", &fields, &[], Dialect::Plan, Path::new(""), &Registry::new()).unwrap();
            assert_eq!(step.fields, fields, "{text:?}");
            assert_eq!(step.name, "n: #");
        }
    }
}
