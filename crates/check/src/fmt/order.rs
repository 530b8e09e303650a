//! Keyword and verb first.

use pintle_yaml::{Document, Node, Style};

use crate::model::Keyword;
use crate::verbs;

/// The text with the fields of every step in order.
pub(super) fn steps(document: &Document) -> String {
    let lines: Vec<&str> = document.text().split_inclusive('\n').collect();
    let mut out: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    for (_, body) in document.root().entries() {
        if body.style() == Style::Block && body.alias().is_none() && body.is_mapping() {
            reorder(body, &lines, &mut out);
        }
    }
    out.concat()
}

/// Puts the lines of a step's fields into their places.
fn reorder(body: Node<'_>, lines: &[&str], out: &mut [String]) {
    let keys: Vec<Node<'_>> = body.entries().map(|(key, _)| key).collect();
    // Lines from 0. Comments right above a field belong to it.
    let mut starts: Vec<usize> = keys.iter().map(|key| key.pos().line - 1).collect();
    let Some(first) = starts.first().copied() else { return };
    for start in &mut starts {
        while *start > first && lines[*start - 1].trim_start().starts_with('#') {
            *start -= 1;
        }
    }
    // Comments between the step's name and its first field belong to that field.
    let name = first - lines[..first].iter().rev().take_while(|line| line.trim_start().starts_with('#')).count();
    starts[0] = name;
    if starts.windows(2).any(|pair| pair[0] >= pair[1]) {
        return;
    }
    let end = last_line(body, lines);
    let rank = |key: &Node<'_>| {
        let word = key.key_text();
        if Keyword::ALL.iter().any(|(known, _)| *known == word) {
            0
        } else if verbs::find(word).is_some() {
            1
        } else {
            2
        }
    };
    let mut chunks: Vec<(usize, Vec<&str>)> = Vec::new();
    for (index, start) in starts.iter().enumerate() {
        let stop = starts.get(index + 1).copied().unwrap_or(end);
        chunks.push((rank(&keys[index]), lines[*start..stop].to_vec()));
    }
    if chunks.is_sorted_by_key(|(rank, _)| *rank) {
        return;
    }
    chunks.sort_by_key(|(rank, _)| *rank);
    for (_, lines) in &mut chunks {
        // Blank lines parted fields that are no longer beside each other.
        while lines.last().is_some_and(|line| line.trim().is_empty()) {
            lines.pop();
        }
    }
    let moved = chunks.into_iter().flat_map(|(_, lines)| lines).map(Some).chain(std::iter::repeat(None));
    for (place, line) in out[name..end].iter_mut().zip(moved) {
        *place = match line {
            Some(line) if line.ends_with('\n') => line.to_owned(),
            Some(line) => format!("{line}\n"),
            None => String::new(),
        };
    }
}

/// The line behind the last one of a node.
fn last_line(body: Node<'_>, lines: &[&str]) -> usize {
    let end = body.span().end;
    let mut at = 0;
    for (index, line) in lines.iter().enumerate() {
        at += line.len();
        if at >= end {
            return index + 1;
        }
    }
    lines.len()
}
