//! `capture:` keeps a part of what a step saw for later steps.

use pintle_yaml::Node;

use super::sink::Sink;
use super::template;
use crate::json::At;

/// A name, and where its value comes from.
#[derive(Clone, Debug)]
pub struct Capture {
    /// Used as `${NAME}`.
    pub name: String,
    /// Where in the result; the standard output without its last newline if none.
    pub(crate) from: Option<At>,
}

/// Reads `capture: NAME` and `capture: {NAME: POINTER}`.
pub(crate) fn read(node: Node<'_>, sink: &mut Sink<'_>) -> Vec<Capture> {
    if !node.is_mapping() {
        let name = sink.word(node, "capture").and_then(|name| checked(node, name, sink));
        return name.map(|name| Capture { name, from: None }).into_iter().collect();
    }
    let mut captures = Vec::new();
    for (key, value) in node.entries() {
        let name = checked(key, key.key_text().to_owned(), sink);
        let from = At::read(value, "capture", sink);
        if let (Some(name), Some(from)) = (name, from) {
            captures.push(Capture { name, from: Some(from) });
        }
    }
    if captures.is_empty() && node.entries().len() == 0 {
        sink.wrong(node, "`capture` is empty");
    }
    captures
}

fn checked(node: Node<'_>, name: String, sink: &mut Sink<'_>) -> Option<String> {
    if !template::is_name(&name) {
        sink.wrong_hint(node, format!("`{name}` is no name for a variable"), "letters, digits and `_`");
        return None;
    }
    if matches!(name.as_str(), "env" | "file") {
        sink.wrong(node, format!("`{name}` is taken: `${{{name}:…}}` means something else"));
        return None;
    }
    Some(name)
}
