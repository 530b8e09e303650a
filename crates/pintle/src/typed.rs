//! `typed LINE BREAKS`: what the last word of a command line may become; the completion script of bash asks it.
//!
//! It never fails and never speaks: a line that is being typed is no place for messages.

use crate::{Ended, ops, people, personality::Personality, surroundings};
use pintle_cli::{Commands, Console, Options, Typing, leading_flags};
use pintle_core::{Exit, Reference, Toolset};
use pintle_dispatch::{Catalog, Request};
use serde_json::Map;
use std::path::Path;

/// The word; no other command has it.
pub(crate) const WORD: &str = "typed";

/// Prints what may stand there, a word a line, as far as bash takes it for new: what stands behind the last of BREAKS.
pub(crate) fn command(line: &str, breaks: &str) -> Ended {
    let line = Line::of(line);
    let offered = offered(&line.words).unwrap_or_default();
    let lines: String = offered.iter().map(|word| format!("{}\n", line.as_typed(word, breaks))).collect();
    Console::of_process(&Options::default()).out(&lines);
    Ok(Exit::Ok.code())
}

/// Whole words that begin like the last one.
fn offered(words: &[String]) -> Option<Vec<String>> {
    let (program, words) = words.split_first()?;
    let name = Path::new(program).file_name()?.to_string_lossy();
    let (personality, words) = match Personality::of_program(&name) {
        Some(personality) => (personality, words),
        None => {
            let words = words.get(leading_flags(words, &[])..)?;
            let (first, rest) = words.split_first()?;
            (Personality::of_word(first)?, rest)
        }
    };
    let (toolsets, words) = match personality {
        Personality::Charly => people::typed(words)?,
        Personality::Ops => ops::typed(words)?,
        _ => return None,
    };
    let typing = Commands::new("", "", people::specs(&toolsets)).typing(words)?;
    complete(toolsets, typing)
}

fn complete(toolsets: Vec<Toolset>, typing: Typing) -> Option<Vec<String>> {
    let catalog = Catalog::new(toolsets, surroundings::settings().ok()?).ok()?;
    let request = Request::new("", Map::new(), surroundings::caller());
    let tool = Reference::Tool(typing.tool);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    let values = runtime.block_on(catalog.complete(&tool, &typing.argument, &typing.value, &typing.others, &request));
    runtime.shutdown_background();
    Some(values.into_iter().map(|value| format!("{}{value}", typing.before)).collect())
}

/// A command line up to the cursor, taken apart as a shell does.
#[derive(Debug, PartialEq)]
struct Line {
    /// The last one is being typed, and may be empty.
    words: Vec<String>,
    /// The quote in which the last word stands.
    quote: Option<char>,
}

impl Line {
    fn of(text: &str) -> Self {
        let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
        let mut begun = false;
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match (quote, c) {
                (Some(open), c) if c == open => quote = None,
                (None, '"' | '\'') => (quote, begun) = (Some(c), true),
                (None | Some('"'), '\\') => word.extend(chars.next()),
                (None, c) if c.is_whitespace() => {
                    if begun || !word.is_empty() {
                        words.push(std::mem::take(&mut word));
                    }
                    begun = false;
                }
                (_, c) => word.push(c),
            }
        }
        words.push(word);
        Self { words, quote }
    }

    /// A word in the place of the last one: in a quote as it is, else without what bash keeps, and with backslashes.
    fn as_typed(&self, word: &str, breaks: &str) -> String {
        if let Some(quote) = self.quote {
            return word.replace(quote, &format!("\\{quote}"));
        }
        let typed = self.words.last().map_or("", String::as_str);
        let kept = typed.rfind(|c| breaks.contains(c)).map_or(0, |at| at + 1);
        let plain = |c: char| c.is_alphanumeric() || "_-./:@%+,=".contains(c);
        let rest = word.get(kept..).unwrap_or(word).chars();
        rest.flat_map(|c| (!plain(c)).then_some('\\').into_iter().chain([c])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_taken_apart_as_a_shell_does() {
        let words = |text: &str| Line::of(text).words;
        assert_eq!(words("pintle ops get-pods "), ["pintle", "ops", "get-pods", ""]);
        assert_eq!(words(r#"p  'a b' "c\"d" e\ f g"#), ["p", "a b", "c\"d", "e f", "g"]);
        assert_eq!(words(""), [""]);
        assert_eq!(words("p '' x"), ["p", "", "x"]);
        assert_eq!((Line::of("p 'a b").quote, Line::of("p 'a b'").quote), (Some('\''), None));
    }

    #[test]
    fn what_bash_keeps_is_left_out_and_the_rest_is_safe() {
        let typed = |line: &str, word: &str| Line::of(line).as_typed(word, " \"'><=;|&(:");
        assert_eq!(typed("p --clusters arn:aws:e", "arn:aws:eks:a"), "eks:a");
        assert_eq!(typed("p --clusters=bü", "--clusters=büro 2"), "büro\\ 2");
        assert_eq!(typed("p --clusters 'bü", "büro 2"), "büro 2");
        assert_eq!(typed("p ", "it's"), "it\\'s");
        assert_eq!(Line::of("p arn:aws").as_typed("arn:aws:eks", " ="), "arn:aws:eks", "where colons are ordinary");
    }
}
