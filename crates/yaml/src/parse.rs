//! From a text to a document: what is checked before and after the parser.

use crate::build::{Builder, MOST_PROBLEMS};
use crate::document::{Body, Document, NodeData, Style};
use crate::offsets::Shadow;
use crate::place::{Limits, LineIndex, Place, Problem};

pub(crate) fn parse_bytes(bytes: &[u8], limits: Limits) -> Result<Document, Vec<Problem>> {
    check_size(bytes.len(), limits)?;
    match std::str::from_utf8(bytes) {
        Ok(text) => parse(text, limits),
        Err(error) => {
            let good = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            let place = LineIndex::new(&good).place(&good, good.len());
            let byte = bytes.get(error.valid_up_to()).copied().unwrap_or(0);
            Err(vec![
                Problem::new(place, format!("byte 0x{byte:02x} is not UTF-8")).with_hint("save the file as UTF-8"),
            ])
        }
    }
}

pub(crate) fn parse(text: &str, limits: Limits) -> Result<Document, Vec<Problem>> {
    check_size(text.len(), limits)?;
    let lines = LineIndex::new(text);
    let unreadable = check_characters(text, &lines);
    if !unreadable.is_empty() {
        return Err(unreadable);
    }
    let mut shadow = Shadow::new(text);
    let mut guessed = None;
    let (nodes, root, mut problems) = loop {
        let mut builder = Builder::new(text, &lines, limits, shadow.offsets());
        let bracket = builder.run();
        let Builder { nodes, root, problems, broken, .. } = builder;
        let again = match bracket {
            Some(bracket) => shadow.shift(bracket),
            None if broken => shadow.withdraw_guess(),
            None => shadow.keep_out_of(&block_texts(&nodes)),
        };
        match (again, bracket, guessed.take()) {
            (true, None, None) if broken => guessed = Some((nodes, root, problems)),
            (true, _, earlier) => guessed = earlier,
            // All tries are used up: what was found with the guess tells more.
            (false, Some(_), Some(earlier)) => break earlier,
            (false, _, _) => break (nodes, root, problems),
        }
    };
    if !problems.is_empty() {
        problems.sort_by_key(Problem::place);
        return Err(problems);
    }
    Ok(Document { text: text.to_owned(), lines, nodes, root })
}

/// The bytes of block scalars, where white space has a meaning.
fn block_texts(nodes: &[NodeData]) -> Vec<std::ops::Range<usize>> {
    let block = |node: &&NodeData| {
        matches!(node.style, Style::Literal | Style::Folded) && matches!(node.body, Body::Scalar { .. })
    };
    nodes.iter().filter(block).map(|node| node.content..node.end).collect()
}

fn check_size(bytes: usize, limits: Limits) -> Result<(), Vec<Problem>> {
    if bytes <= limits.bytes {
        return Ok(());
    }
    let start = Place { line: 1, column: 1 };
    let message = format!("the file has {bytes} bytes, more than {} are refused", limits.bytes);
    Err(vec![Problem::new(start, message).with_hint("split the file")])
}

/// Characters that YAML forbids everywhere.
fn check_characters(text: &str, lines: &LineIndex) -> Vec<Problem> {
    let forbidden = |(at, c): &(usize, char)| !printable(*c) || (*c == '\u{feff}' && *at > 0);
    let problem = |(at, c): (usize, char)| {
        let message = format!("character U+{:04X} is not allowed in YAML", u32::from(c));
        Problem::new(lines.place(text, at), message).with_hint("remove it, or write it as an escape in double quotes")
    };
    text.char_indices().filter(forbidden).take(MOST_PROBLEMS).map(problem).collect()
}

/// `c-printable` of the specification (5.1).
pub(crate) fn printable(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{d7ff}'
        | '\u{e000}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}')
}
