//! One entry in somebody else's file: found, put in, taken out, with every other byte left alone.
//!
//! An edit is a few replacements of byte ranges. The new text is parsed again: outside our entry it must have the value
//! that it had, and our entry the value that was asked for; on any difference the edit is refused.

mod json;
mod place;
mod toml;
mod yaml;

pub(crate) use place::{Place, Refusal};

use crate::clients::Format;
use serde_json::{Map, Value};

/// Most bytes of a configuration file that is read.
pub(crate) const FILE_LIMIT: usize = 4 * 1024 * 1024;

/// Where in a file an entry is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot<'a> {
    /// How the file is written.
    pub(crate) format: Format,
    /// Keys from the root to the map (or list) of servers.
    pub(crate) container: &'a [&'a str],
    /// Our key in it, or the `name` of our item where it is a list.
    pub(crate) name: &'a str,
    /// Whether the servers are a list of items with a `name`.
    pub(crate) listed: bool,
}

impl Spot<'_> {
    fn refuse_kind(&self, place: Place, depth: usize, found: &str) -> Refusal {
        let wanted = if self.listed && depth == self.container.len() { "a list" } else { "a map" };
        let what = match depth {
            0 => "the file".to_owned(),
            depth => format!("`{}`", self.container[..depth].join(".")),
        };
        Refusal::Kind { place, what, found: found.to_owned(), wanted }
    }
}

/// The value of the entry; none when it is not there.
///
/// # Errors
/// The text does not parse, or the way to the entry is not clear.
pub(crate) fn find(text: &str, spot: &Spot<'_>) -> Result<Option<Value>, Refusal> {
    match spot.format {
        Format::Json | Format::Jsonc => json::find(text, spot),
        Format::Toml => toml::find(text, spot),
        Format::Yaml => yaml::find(text, spot),
    }
}

/// The text with the entry: members that are named get these values, others of an entry that is there stay. `starter` is
/// the text to begin with where there is none.
///
/// # Errors
/// As [`find`], and when the edit cannot be proved.
pub(crate) fn put(text: &str, spot: &Spot<'_>, entry: &Map<String, Value>, starter: &str) -> Result<String, Refusal> {
    let blank = text.trim_start_matches(BOM).trim().is_empty();
    let started;
    let text = if blank && !starter.is_empty() {
        started = format!("{text}{starter}");
        &started
    } else {
        text
    };
    match spot.format {
        Format::Json | Format::Jsonc => json::put(text, spot, entry),
        Format::Toml => toml::put(text, spot, entry),
        Format::Yaml => yaml::put(text, spot, entry),
    }
}

/// The text without the entry; none when it is not there.
///
/// # Errors
/// As [`put`].
pub(crate) fn take_out(text: &str, spot: &Spot<'_>) -> Result<Option<String>, Refusal> {
    match spot.format {
        Format::Json | Format::Jsonc => json::take_out(text, spot),
        Format::Toml => toml::take_out(text, spot),
        Format::Yaml => yaml::take_out(text, spot),
    }
}

/// Where the text has a comment or a trailing comma, which strict readers of JSON refuse.
pub(crate) fn lenient(text: &str) -> Option<Place> {
    json::lenient(text)
}

pub(crate) const BOM: char = '\u{feff}';

/// The entry as it is to be: what is there, with the members of `entry` over it.
fn merged(old: Option<Value>, entry: &Map<String, Value>) -> Value {
    let mut all = match old {
        Some(Value::Object(old)) => old,
        _ => Map::new(),
    };
    for (key, value) in entry {
        all.insert(key.clone(), value.clone());
    }
    Value::Object(all)
}

/// The line ending of a text: that of its first line.
fn line_ending(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

#[cfg(test)]
mod properties;
