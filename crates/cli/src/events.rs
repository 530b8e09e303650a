//! What a running call tells a person, and asks.

use crate::{console::Console, options::Options, value::value_of};
use pintle_core::{BoxFuture, Code, Failure, InputKind, InputRequest, InputResponse, LogLevel, Plan, Stop};
use pintle_dispatch::Events;
use serde_json::{Map, Value, json};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Rows, progress and questions of one call.
pub(crate) struct Told {
    console: Arc<Console>,
    command: String,
    yes: bool,
    /// Rows are for reading as they come; as JSON they are in the answer.
    rows: bool,
    streamed: AtomicBool,
}

impl Told {
    pub(crate) fn new(console: Arc<Console>, command: &str, options: &Options) -> Self {
        let rows = options.form == crate::options::Form::Text;
        Self { console, command: command.to_owned(), yes: options.yes, rows, streamed: AtomicBool::new(false) }
    }

    /// Whether rows were shown already.
    pub(crate) fn streamed(&self) -> bool {
        self.streamed.load(Ordering::Acquire)
    }

    async fn confirmed(&self, plan: &Plan) -> Option<bool> {
        if self.yes {
            return Some(true);
        }
        if !self.console.can_ask() {
            return None;
        }
        let effects = plan.effects.join(" and ");
        let preview = plan.preview.trim_end();
        let question = format!("`{}` will {effects}:\n{preview}\ngo on? [y/N] ", self.command);
        let said = self.console.line(&question).await.unwrap_or_default();
        Some(matches!(said.to_lowercase().as_str(), "y" | "yes"))
    }

    async fn answer(&self, request: InputRequest) -> Result<InputResponse, Failure> {
        let value = match request.kind {
            InputKind::Form { message, schema } => self.fill_in(&message, &schema).await,
            InputKind::Url { message, url } => {
                let question = format!("{message}\n{url}\nopened it? [y/N] ");
                let said = self.console.line(&question).await.unwrap_or_default();
                let yes = matches!(said.to_lowercase().as_str(), "y" | "yes");
                json!({"action": if yes { "accept" } else { "decline" }})
            }
            InputKind::Sample(_) | InputKind::Roots => {
                return Err(Failure::new(Code::NeedsInput, "this asks for something that only an MCP client has"));
            }
        };
        Ok(InputResponse { key: request.key, value })
    }

    /// One line for each field; an empty one means the default, or absent.
    async fn fill_in(&self, message: &str, schema: &Value) -> Value {
        self.console.err(&format!("{message}\n"));
        let mut content = Map::new();
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let title = field["title"].as_str().or_else(|| field["description"].as_str()).unwrap_or(name);
            let words: Vec<&str> = field["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let choice = match (field["type"].as_str(), words.is_empty()) {
                (_, false) => format!(" ({})", words.join(", ")),
                (Some("boolean"), _) => " (true or false)".to_owned(),
                _ => String::new(),
            };
            loop {
                let Some(text) = self.console.line(&format!("{title}{choice}: ")).await else {
                    return json!({"action": "cancel"});
                };
                if text.is_empty() {
                    if let Some(default) = field.get("default") {
                        content.insert(name.clone(), default.clone());
                    }
                    break;
                }
                match value_of(&text, field) {
                    Ok(_) if !words.is_empty() && !words.contains(&text.as_str()) => {
                        self.console.err(&format!("must be one of {}\n", words.join(", ")));
                    }
                    Ok(value) => {
                        content.insert(name.clone(), value);
                        break;
                    }
                    Err(why) => self.console.err(&format!("{why}\n")),
                }
            }
        }
        json!({"action": "accept", "content": content})
    }
}

impl Events for Told {
    fn progress(&self, done: f64, total: Option<f64>, message: &str) {
        self.console.progress(done, total, message);
    }

    fn row(&self, row: Value) {
        if self.rows {
            self.streamed.store(true, Ordering::Release);
            self.console.out(&format!("{}\n", row_text(&row)));
        }
    }

    fn log(&self, level: LogLevel, _logger: &str, data: Value) {
        let word = match level {
            LogLevel::Debug | LogLevel::Info => return,
            LogLevel::Notice => "note",
            LogLevel::Warning => "warning",
            LogLevel::Error | LogLevel::Critical | LogLevel::Alert | LogLevel::Emergency => "error",
        };
        if self.console.quiet() && level <= LogLevel::Warning {
            return;
        }
        self.console.err(&format!("{word}: {}\n", row_text(&data)));
    }

    fn ask(&self, requests: Vec<InputRequest>) -> BoxFuture<'_, Result<Vec<InputResponse>, Stop>> {
        Box::pin(async move {
            if !self.console.can_ask() {
                let failure = Failure::new(Code::NeedsInput, "this asks questions, and nobody is at a terminal");
                return Err(failure.hint("run it on a terminal").into());
            }
            let mut answers = Vec::new();
            for request in requests {
                answers.push(self.answer(request).await?);
            }
            Ok(answers)
        })
    }

    fn confirm<'a>(&'a self, plan: &'a Plan) -> BoxFuture<'a, Option<bool>> {
        Box::pin(self.confirmed(plan))
    }
}

/// One row in one line: text as it is, an object by its values.
fn row_text(row: &Value) -> String {
    let scalar = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Null => Some(String::new()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Array(_) | Value::Object(_) => None,
    };
    match row {
        Value::Object(map) => match map.values().map(scalar).collect::<Option<Vec<_>>>() {
            Some(values) => values.join("  "),
            None => row.to_string(),
        },
        other => scalar(other).unwrap_or_else(|| other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_read_in_one_line() {
        assert_eq!(row_text(&json!("a line")), "a line");
        assert_eq!(row_text(&json!({"name": "web", "ready": true, "none": null})), "web  true  ");
        assert_eq!(row_text(&json!({"name": "web", "tags": ["a"]})), r#"{"name":"web","tags":["a"]}"#);
    }
}
