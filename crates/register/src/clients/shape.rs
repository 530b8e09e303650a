//! What an entry looks like to each client.

use serde_json::{Map, Value, json};

/// The form of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `command`, `args`.
    Plain,
    /// With `type: stdio`.
    Typed,
    /// With `source: custom`.
    Zed,
    /// One list `command`, `type: local`, `enabled`.
    OpenCode,
    /// `type: local` and `tools: ["*"]`.
    Copilot,
    /// As before, with the type that other readers of the same file know.
    CopilotShared,
    /// With `disabled: false`.
    Switched,
    /// `cmd`, `envs`, `env_keys`.
    Goose,
    /// An item with `name` and `type: stdio`.
    Continue,
}

/// How an entry names a variable without its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EnvForm {
    /// It has no way: a value would stand in the file.
    None,
    /// A map `env` whose values are the reference, with the name in the place of `NAME`.
    Env(&'static str),
    /// The same under `environment`.
    Environment(&'static str),
    /// A list of names under this key.
    Names(&'static str),
}

impl Shape {
    /// The entry that starts these words.
    pub(crate) fn entry(self, name: &str, words: &[String]) -> Map<String, Value> {
        let command = words.first().cloned().unwrap_or_default();
        let args: Vec<&String> = words.iter().skip(1).collect();
        let entry = match self {
            Self::Plain => json!({"command": command, "args": args}),
            Self::Typed => json!({"type": "stdio", "command": command, "args": args}),
            Self::Zed => json!({"source": "custom", "command": command, "args": args}),
            Self::OpenCode => json!({"type": "local", "command": words, "enabled": true}),
            Self::Copilot => json!({"type": "local", "command": command, "args": args, "tools": ["*"]}),
            Self::CopilotShared => json!({"type": "stdio", "command": command, "args": args, "tools": ["*"]}),
            Self::Switched => json!({"command": command, "args": args, "disabled": false}),
            Self::Goose => json!({
                "name": name, "type": "stdio", "cmd": command, "args": args, "envs": {}, "env_keys": [], "enabled": true,
                "timeout": 300,
            }),
            Self::Continue => json!({"name": name, "type": "stdio", "command": command, "args": args}),
        };
        match entry {
            Value::Object(entry) => entry,
            _ => Map::new(),
        }
    }

    /// The words that an entry starts, as far as it is one.
    pub(crate) fn words(self, entry: &Value) -> Option<Vec<String>> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let list = |value: &Value| value.as_array()?.iter().map(text).collect::<Option<Vec<_>>>();
        if self == Self::OpenCode {
            return list(entry.get("command")?).filter(|words| !words.is_empty());
        }
        let command = text(entry.get(if self == Self::Goose { "cmd" } else { "command" })?)?;
        let args = match entry.get("args") {
            Some(args) => list(args)?,
            None => Vec::new(),
        };
        Some(std::iter::once(command).chain(args).collect())
    }
}

impl EnvForm {
    /// Adds references to these variables. False when the client has no form for it.
    pub(crate) fn add(self, entry: &mut Map<String, Value>, names: &[String]) -> bool {
        if names.is_empty() {
            return true;
        }
        let map = |form: &str| -> Value {
            names
                .iter()
                .map(|name| (name.clone(), Value::from(form.replace("NAME", name))))
                .collect::<Map<_, _>>()
                .into()
        };
        match self {
            Self::None => return false,
            Self::Env(form) => entry.insert("env".to_owned(), map(form)),
            Self::Environment(form) => entry.insert("environment".to_owned(), map(form)),
            Self::Names(key) => entry.insert(key.to_owned(), json!(names)),
        };
        true
    }

    /// Names of the variables that an entry refers to in that form.
    pub(crate) fn names(self, entry: &Value) -> Vec<String> {
        let of = |key: &str| match entry.get(key) {
            Some(Value::Object(map)) => map.keys().cloned().collect(),
            Some(Value::Array(names)) => names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect(),
            _ => Vec::new(),
        };
        match self {
            Self::None => Vec::new(),
            Self::Env(_) => of("env"),
            Self::Environment(_) => of("environment"),
            Self::Names(key) => of(key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ALL;
    use super::*;

    #[test]
    fn eg_048_every_entry_says_the_same_words_and_always_has_its_arguments() {
        let words = ["/opt/pintle", "eggs", "mcp", "start"].map(str::to_owned);
        for client in ALL {
            for shape in std::iter::once(client.shape).chain(client.project.map(|project| project.shape)) {
                let entry = shape.entry("penguins-eggs", &words);
                assert!(entry.contains_key("args") || entry["command"].is_array(), "{}", client.id);
                assert_eq!(shape.words(&Value::Object(entry)).unwrap(), words, "{}", client.id);
            }
        }
        assert_eq!(Shape::Plain.words(&json!({"url": "http://x"})), None);
        assert_eq!(Shape::Plain.words(&json!({"command": "a", "args": [1]})), None);
    }

    #[test]
    fn variables_are_named_and_never_written_out() {
        let mut entry = Map::new();
        assert!(!EnvForm::None.add(&mut entry, &["TOKEN".to_owned()]) && entry.is_empty());
        assert!(EnvForm::Env("${env:NAME}").add(&mut entry, &["TOKEN".to_owned()]));
        assert_eq!(Value::Object(entry.clone()), json!({"env": {"TOKEN": "${env:TOKEN}"}}));
        assert_eq!(EnvForm::Env("").names(&Value::Object(entry)), ["TOKEN"]);
        let mut entry = Map::new();
        assert!(EnvForm::Names("env_vars").add(&mut entry, &["A".to_owned(), "B".to_owned()]));
        assert_eq!(Value::Object(entry), json!({"env_vars": ["A", "B"]}));
    }
}
