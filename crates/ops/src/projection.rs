//! Fields of objects by path: `spec.replicas`, `metadata.labels['app.kubernetes.io/name']`, `spec.containers[*].image`.

use pintle_core::Failure;
use serde_json::Value;

/// A path into an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    text: String,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Member(String),
    Index(usize),
    Every,
}

/// The paths of an argument.
///
/// # Errors
/// Code `invalid_argument` for a path that does not parse.
pub(crate) fn paths(texts: &[String]) -> Result<Vec<Path>, Failure> {
    texts.iter().map(|text| Path::parse(text)).collect()
}

impl Path {
    fn parse(text: &str) -> Result<Self, Failure> {
        let refused = || {
            Failure::invalid_argument("fields", format!("`{}` is no path", text.escape_debug()))
                .hint("write it as `spec.replicas`, `spec.containers[*].image` or `metadata.labels['a.b/c']`")
        };
        let mut steps = Vec::new();
        let mut rest = text.trim().trim_start_matches('.');
        while !rest.is_empty() {
            if let Some(inner) = rest.strip_prefix("['") {
                let (name, behind) = inner.split_once("']").ok_or_else(refused)?;
                steps.push(Step::Member(name.to_owned()));
                rest = behind;
            } else if let Some(inner) = rest.strip_prefix('[') {
                let (index, behind) = inner.split_once(']').ok_or_else(refused)?;
                steps.push(if index == "*" { Step::Every } else { Step::Index(index.parse().map_err(|_| refused())?) });
                rest = behind;
            } else {
                let name = rest.strip_prefix('.').unwrap_or(rest);
                let end = name.find(['.', '[']).unwrap_or(name.len());
                if end == 0 {
                    return Err(refused());
                }
                steps.push(Step::Member(name[..end].to_owned()));
                rest = &name[end..];
            }
        }
        if steps.is_empty() {
            return Err(refused());
        }
        Ok(Self { text: text.trim().trim_start_matches('.').to_owned(), steps })
    }

    /// As it was written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// What stands there: null when nothing does, a list behind `[*]`.
    pub(crate) fn of(&self, object: &Value) -> Value {
        let mut found = vec![object];
        let mut many = false;
        for step in &self.steps {
            found = match step {
                Step::Member(name) => found.into_iter().filter_map(|value| value.get(name)).collect(),
                Step::Index(index) => found.into_iter().filter_map(|value| value.get(index)).collect(),
                Step::Every => {
                    many = true;
                    found.into_iter().filter_map(Value::as_array).flatten().collect()
                }
            };
        }
        match (many, found.as_slice()) {
            (true, found) => Value::Array(found.iter().map(|value| (*value).clone()).collect()),
            (false, [one]) => (*one).clone(),
            (false, _) => Value::Null,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_lead_to_what_they_say() {
        let object = json!({"metadata": {"labels": {"a.b/c": "x"}}, "spec": {"list": [{"n": 1}, {"n": 2}]}});
        let at = |text: &str| Path::parse(text).unwrap().of(&object);
        assert_eq!(at(".metadata.labels['a.b/c']"), "x");
        assert_eq!(at("spec.list[1].n"), 2);
        assert_eq!(at("spec.list[*].n"), json!([1, 2]));
        assert_eq!(at("spec.nothing.here"), Value::Null);
        for bad in ["", ".", "a..b", "a[x]", "a['b", "a[1"] {
            assert!(Path::parse(bad).is_err(), "{bad}");
        }
    }
}
