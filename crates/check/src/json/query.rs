//! Where in a value to look.

use std::borrow::Cow;

use pintle_yaml::Node;
use serde_json::Value;
use serde_json_path::JsonPath;

use crate::model::sink::Sink;
use crate::model::template;

/// A JSON Pointer or a JSONPath.
#[derive(Clone, Debug)]
pub(crate) struct At {
    source: String,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Pointer,
    /// Finds one value.
    One(JsonPath),
    /// Finds a list.
    Many(JsonPath),
    /// Holds a variable: parsed once that is known.
    Later,
}

impl At {
    /// Reads it; `what` is the field.
    pub(crate) fn read(node: Node<'_>, what: &str, sink: &mut Sink<'_>) -> Option<Self> {
        let source = sink.text(node, what)?;
        match Self::parse(&source) {
            Ok(at) => Some(at),
            Err(why) => {
                sink.wrong(node, format!("{what} `{source}` {why}"));
                None
            }
        }
    }

    pub(crate) fn parse(source: &str) -> Result<Self, String> {
        let kind = if template::is_dynamic(source) {
            Kind::Later
        } else if source.is_empty() || source.starts_with('/') {
            if source.split('~').skip(1).any(|rest| !rest.starts_with(['0', '1'])) {
                return Err("is no JSON Pointer: `~` must be written `~0`".into());
            }
            Kind::Pointer
        } else if source.starts_with('$') {
            let path = JsonPath::parse(source).map_err(|error| format!("is no JSONPath: {error}"))?;
            if finds_one(source) { Kind::One(path) } else { Kind::Many(path) }
        } else {
            return Err("is neither a JSON Pointer (`/a/0`) nor a JSONPath (`$.a[0]`)".into());
        };
        Ok(Self { source: source.to_owned(), kind })
    }

    /// As it is written.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// What is there.
    pub(crate) fn find<'v>(&self, value: &'v Value) -> Option<Cow<'v, Value>> {
        match &self.kind {
            Kind::Pointer => value.pointer(&self.source).map(Cow::Borrowed),
            Kind::One(path) => path.query(value).first().map(Cow::Borrowed),
            Kind::Many(path) => Some(Cow::Owned(path.query(value).all().into_iter().cloned().collect())),
            Kind::Later => None,
        }
    }
}

/// Whether a JSONPath has names and indexes only: no wildcard, slice, filter, union or descent outside quotes.
fn finds_one(source: &str) -> bool {
    let mut quote = None;
    let mut before = ' ';
    for c in source.chars() {
        match quote {
            Some(_) if before == '\\' => {
                before = ' ';
                continue;
            }
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None => match c {
                '"' | '\'' => quote = Some(c),
                '*' | '?' | ':' | ',' => return false,
                '.' if before == '.' => return false,
                _ => {}
            },
        }
        before = c;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn cw_46_pointers_and_paths_find() {
        let value = json!({"tools": [{"name": "a", "x:y": 1}, {"name": "b"}], "a/b": {"~": 2}});
        for (source, wanted) in [
            ("", Some(value.clone())),
            ("/tools/1/name", Some(json!("b"))),
            ("/a~1b/~0", Some(json!(2))),
            ("/tools/7", None),
            ("$.tools[0].name", Some(json!("a"))),
            ("$.tools[0]['x:y']", Some(json!(1))),
            ("$.missing", None),
            ("$.tools[*].name", Some(json!(["a", "b"]))),
            ("$..name", Some(json!(["a", "b"]))),
            ("$.tools[?@.name=='b'].name", Some(json!(["b"]))),
            ("$.tools[5:]", Some(json!([]))),
            ("$.tools[0,1].name", Some(json!(["a", "b"]))),
        ] {
            let at = At::parse(source).unwrap();
            assert_eq!(at.find(&value).map(Cow::into_owned), wanted, "{source}");
        }
    }

    #[test]
    fn what_is_no_query_is_refused() {
        for source in ["content", "$.tools[", "/a~2", "$x"] {
            assert!(At::parse(source).is_err(), "{source}");
        }
    }
}
