//! What a failure looks like, as data: the line of the plan, what was expected and what was there.

use super::diff::{Line, difference};
use super::shown;
use crate::outcome::{PlanOutcome, Status, StepOutcome};
use unicode_width::UnicodeWidthChar;

/// Characters of a plan's line that are shown; the window moves to hold the column.
const EXCERPT: usize = 160;

/// A place in the plan with its line, when the text of the plan is at hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// `FILE:LINE:COLUMN`.
    pub(super) place: String,
    pub(super) line: usize,
    /// The line; absent when the plan's text does not hold it.
    pub(super) source: Option<Source>,
}

/// A line of a plan, and the blanks that put a caret below its column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) text: String,
    pub(super) indent: String,
}

/// One assertion that did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Broken {
    pub(super) excerpt: Excerpt,
    /// Subject and operator: `stdout equals`.
    pub(super) label: String,
    pub(super) expected: String,
    /// Absent when nothing was there.
    pub(super) actual: Option<String>,
    pub(super) diff: Option<Vec<Line>>,
}

/// Every assertion of the step that did not hold.
pub(super) fn broken(plan: &PlanOutcome, step: &StepOutcome) -> Vec<Broken> {
    let one = |mismatch: &crate::outcome::Mismatch| Broken {
        excerpt: excerpt(plan, step, mismatch.line, Some(mismatch.column)),
        label: shown::one_line(&format!("{} {}", mismatch.subject, mismatch.operator)),
        expected: shown::value(&mismatch.expected),
        actual: mismatch.actual.as_ref().map(shown::value),
        diff: mismatch.actual.as_ref().and_then(|actual| difference(&mismatch.operator, &mismatch.expected, actual)),
    };
    step.mismatches.iter().map(one).collect()
}

/// Where the step stands, for a failure that no single assertion tells: it never came that far.
pub(super) fn start(plan: &PlanOutcome, step: &StepOutcome) -> Option<Excerpt> {
    let told = matches!(step.status, Status::Failed | Status::Error) && step.mismatches.is_empty();
    told.then(|| excerpt(plan, step, step.line, None))
}

fn excerpt(plan: &PlanOutcome, step: &StepOutcome, line: usize, column: Option<usize>) -> Excerpt {
    // A step of an included file carries that file's name; the text at hand is another's then.
    let source = (plan.file == step.plan)
        .then(|| plan.source.strip_prefix('\u{feff}').unwrap_or(&plan.source).lines().nth(line.saturating_sub(1)))
        .flatten();
    let column = column
        .or_else(|| source.map(|text| text.chars().take_while(|c| c.is_whitespace()).count() + 1))
        .unwrap_or(1)
        .max(1);
    Excerpt {
        place: format!("{}:{line}:{column}", shown::one_line(&step.plan)),
        line,
        source: source.map(|text| window(text, column)),
    }
}

/// At most [`EXCERPT`] characters of the line around the column.
fn window(text: &str, column: usize) -> Source {
    let chars: Vec<char> = text.chars().collect();
    let at = (column - 1).min(chars.len());
    let from = if chars.len() <= EXCERPT { 0 } else { at.saturating_sub(EXCERPT / 2) };
    let to = chars.len().min(from + EXCERPT);
    let before = mark(from > 0) + &shown::visible(&String::from_iter(&chars[from..at]));
    let after = shown::visible(&String::from_iter(&chars[at..to])).into_owned() + &mark(to < chars.len());
    // A tab stays a tab, so that it is as wide below as above; wide characters take two columns.
    let indent =
        before.chars().map(|c| if c == '\t' { "\t".to_owned() } else { " ".repeat(c.width().unwrap_or(0)) }).collect();
    Source { text: before + &after, indent }
}

fn mark(cut: bool) -> String {
    if cut { "…".to_owned() } else { String::new() }
}

/// What a line of an explanation is, for those who paint it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Place,
    Source,
    Caret,
    Expected,
    Actual,
    Plain,
}

/// The failure as lines of text, with a gutter that holds the line number.
pub(super) fn lines(plan: &PlanOutcome, step: &StepOutcome) -> Vec<(Kind, String)> {
    let mut lines = Vec::new();
    if let Some(excerpt) = start(plan, step) {
        excerpt_lines(&excerpt, "", &mut lines);
    }
    for broken in broken(plan, step) {
        let gutter = excerpt_lines(&broken.excerpt, &broken.label, &mut lines);
        if let Some(diff) = &broken.diff {
            lines.push((Kind::Plain, format!("{gutter} | - expected, + actual")));
            for line in diff {
                let kind = match line.side.sign() {
                    '-' => Kind::Expected,
                    '+' => Kind::Actual,
                    _ => Kind::Plain,
                };
                lines.push((kind, format!("{gutter} | {} {}", line.side.sign(), line.text).trim_end().to_owned()));
            }
        } else {
            lines.push((Kind::Expected, format!("{gutter} | expected  {}", broken.expected)));
            let actual = broken.actual.as_deref().unwrap_or(NOTHING);
            lines.push((Kind::Actual, format!("{gutter} | actual    {actual}")));
        }
    }
    lines
}

/// Shown where the value is absent; not JSON, so that it cannot be mistaken for a value.
pub(super) const NOTHING: &str = "(nothing)";

fn excerpt_lines(excerpt: &Excerpt, label: &str, lines: &mut Vec<(Kind, String)>) -> String {
    let number = excerpt.line.to_string();
    let gutter = " ".repeat(number.len());
    lines.push((Kind::Place, format!("{gutter}--> {}", excerpt.place)));
    lines.push((Kind::Plain, format!("{gutter} |")));
    match &excerpt.source {
        Some(source) => {
            lines.push((Kind::Source, format!("{number} | {}", source.text)));
            lines.push((Kind::Caret, format!("{gutter} | {}^ {label}", source.indent).trim_end().to_owned()));
        }
        None if label.is_empty() => {}
        None => lines.push((Kind::Caret, format!("{gutter} | {label}"))),
    }
    gutter
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_below_wide_characters_and_tabs() {
        let source = window("\t漢字: x", 5);
        assert_eq!((source.text.as_str(), source.indent.as_str()), ("\t漢字: x", "\t     "));
    }

    #[test]
    fn a_long_line_is_shown_around_the_column() {
        let text = format!("{}X{}", "a".repeat(5_000), "b".repeat(5_000));
        let source = window(&text, 5_001);
        assert_eq!(source.text.chars().nth(source.indent.chars().count()), Some('X'));
        assert_eq!(source.text.chars().count(), EXCERPT + 2);
        assert_eq!(window("ab", 99).indent, "  ");
    }
}
