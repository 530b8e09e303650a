//! One way to write a plan. Comments stay, values stay, order of steps stays.
//!
//! - Line feeds, no blanks at line ends, a final newline.
//! - Two blanks a level; dashes stand two blanks inside their key.
//! - One blank behind `:` and `-`.
//! - One blank line before every step, at most one anywhere else.
//! - In a step the keyword comes first and the verb second; the rest keeps its order.
//!
//! The result is read again: if it does not mean the same, the text is left as it was.

mod indent;
mod order;

use pintle_yaml::{Document, Limits, Problem};

/// Formatting what is formatted changes nothing; so many rounds find that state.
const ROUNDS: usize = 4;

/// The text in its canonical form.
///
/// # Errors
/// What is wrong with the YAML; whether it is a valid plan does not matter.
pub fn format(text: &str) -> Result<String, Vec<Problem>> {
    let mut now = plain(text);
    let meaning = Document::parse(&now, Limits::default())?.to_json();
    for _ in 0..ROUNDS {
        let next = round(&now)?;
        if next == now {
            break;
        }
        match Document::parse(&next, Limits::default()) {
            Ok(document) if document.to_json() == meaning => now = next,
            _ => return Ok(now),
        }
    }
    Ok(now)
}

fn round(text: &str) -> Result<String, Vec<Problem>> {
    let ordered = order::steps(&Document::parse(text, Limits::default())?);
    let document = match Document::parse(&ordered, Limits::default()) {
        Ok(document) => document,
        // An alias before its anchor: this step keeps its order.
        Err(_) => Document::parse(text, Limits::default())?,
    };
    Ok(indent::lines(&document))
}

/// No byte order mark, line feeds only, one at the end.
fn plain(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    if text.is_empty() || text.ends_with('\n') { text } else { text + "\n" }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats, and sees that formatting again changes nothing.
    fn formatted(text: &str) -> String {
        let once = format(text).unwrap();
        assert_eq!(format(&once).unwrap(), once, "not idempotent");
        once
    }

    #[test]
    fn a_plan_is_brought_into_form() {
        let rough = "\
# top

version: 1
first:
    # about the verb
    mcp:   list-tools   # here
    check: tools are there


    stdout:
    -   contains: a
    - contains: b
# before second
second:
      check: it runs
      command:
          - echo
          - \"x:   y\"
      stdin: |
           two
             levels

           # no comment
      json:
        - at: /a
          equals: {b:   1}
        -  at: /c
           exists: true   ";
        let wanted = "\
# top

version: 1

first:
  check: tools are there
  # about the verb
  mcp: list-tools   # here
  stdout:
    - contains: a
    - contains: b

# before second
second:
  check: it runs
  command:
    - echo
    - \"x:   y\"
  stdin: |
    two
      levels

    # no comment
  json:
    - at: /a
      equals: {b:   1}
    - at: /c
      exists: true
";
        assert_eq!(formatted(rough), wanted);
    }

    #[test]
    fn what_is_in_form_stays() {
        for text in [
            "",
            "a: {check: x, mcp: ping}\n",
            "a:\n  check: x\n  mcp: ping\n\nb:\n  check: >\n    folded\n    text\n  mcp: ping\n",
            "a:\n  check: \"two\n    lines\"\n  mcp: ping\n",
            "a:\n  check: &t x\n  mcp: ping\n\nb:\n  check: *t\n  mcp: ping\n",
        ] {
            assert_eq!(formatted(text), text);
        }
    }

    #[test]
    fn line_ends_and_marks_go() {
        assert_eq!(formatted("\u{feff}a:\r\n    check: x\r\n    mcp: ping"), "a:\n  check: x\n  mcp: ping\n");
    }

    #[test]
    fn an_alias_never_moves_before_its_anchor() {
        let text = "a:\n  id: &n one\n  check: *n\n  mcp: ping\n";
        assert_eq!(formatted(text), text);
    }

    #[test]
    fn bad_yaml_is_told() {
        assert_eq!(format("a: [\n").unwrap_err()[0].line, 2);
    }

    proptest::proptest! {
        #[test]
        fn meaning_survives_any_layout(
            indent in 1_usize..6,
            gap in 1_usize..4,
            dash in 0_usize..5,
            blank in proptest::collection::vec(0_usize..3, 6),
            comments in proptest::collection::vec(proptest::bool::ANY, 6),
        ) {
            let i = " ".repeat(indent);
            let g = " ".repeat(gap);
            let d = format!("{i}{}", " ".repeat(dash));
            let mut text = String::new();
            let lines = [
                "s:".to_owned(),
                format!("{i}stdout:"),
                format!("{d}-{g}contains:{g}a"),
                format!("{d}-{g}equals:{g}'b: c'"),
                format!("{i}mcp:{g}ping"),
                format!("{i}check:{g}x"),
            ];
            for (at, line) in lines.iter().enumerate() {
                text.push_str(&"\n".repeat(blank[at]));
                if comments[at] {
                    text.push_str("   # note\n");
                }
                text.push_str(line);
                text.push('\n');
            }
            let before = Document::parse(&text, Limits::default()).unwrap().to_json();
            let after = formatted(&text);
            proptest::prop_assert_eq!(Document::parse(&after, Limits::default()).unwrap().to_json(), before);
            proptest::prop_assert_eq!(after.matches("# note").count(), text.matches("# note").count());
            proptest::prop_assert!(after.contains("s:\n"), "{}", after);
            proptest::prop_assert!(after.contains("    - contains: a\n"), "{}", after);
        }
    }
}
