//! Texts with placeholders, such as `{work_dir}/*.iso`.

use std::fmt;

/// A text with placeholders: `{name}` stands for a value of the pack, an option of the verb, or `home`, the folder of
/// the person for whom the program runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Name(String),
}

impl Template {
    /// Reads a text with placeholders.
    ///
    /// # Errors
    /// What is wrong with its braces.
    pub fn new(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at(open);
            let Some((name, after)) = from.strip_prefix('{').and_then(|from| from.split_once('}')) else {
                return Err(format!("`{text}` has a brace without its partner"));
            };
            if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                return Err(format!("`{{{name}}}` in `{text}` is no name"));
            }
            if !before.is_empty() {
                parts.push(Part::Text(before.to_owned()));
            }
            parts.push(Part::Name(name.to_owned()));
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        Ok(Self(parts))
    }

    /// The names of its placeholders.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Part::Name(name) => Some(name.as_str()),
            Part::Text(_) => None,
        })
    }

    /// The text with every placeholder filled in; `None` when one has no value.
    #[must_use]
    pub fn fill(&self, value: impl Fn(&str) -> Option<String>) -> Option<String> {
        self.0
            .iter()
            .map(|part| match part {
                Part::Text(text) => Some(text.clone()),
                Part::Name(name) => value(name),
            })
            .collect()
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            Part::Text(text) => f.write_str(text),
            Part::Name(name) => write!(f, "{{{name}}}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_or_the_whole_is_none() {
        let template = Template::new("{work_dir}/{costume}.iso").unwrap();
        assert_eq!(template.names().collect::<Vec<_>>(), ["work_dir", "costume"]);
        assert_eq!(template.to_string(), "{work_dir}/{costume}.iso");
        let both = |name: &str| Some(format!("<{name}>"));
        assert_eq!(template.fill(both).as_deref(), Some("<work_dir>/<costume>.iso"));
        assert_eq!(template.fill(|name| (name == "costume").then(String::new)), None);
        for wrong in ["{", "a}b", "{}", "{a b}", "{a{b}}"] {
            Template::new(wrong).unwrap_err();
        }
    }
}
