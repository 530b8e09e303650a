//! A tool made from data, with no type behind it.

use pintle_core::{Ask, BoxFuture, Call, Digest, Effect, Gate, Output, Spec, Stop, Tool, View};
use serde_json::{Value, json};
use std::sync::Arc;

struct Echo(Spec);

pub(super) fn tool() -> Arc<dyn Tool> {
    let input = json!({"type": "object", "properties": {"text": {"type": "string", "default": "hello"}},
        "additionalProperties": false});
    let mut spec = Spec::new("trial.echo", "Gives the text back.", input, Effect::READ);
    spec.output = Some(json!({"type": "object", "properties": {"text": {"type": "string"}}})).into();
    spec.aliases = &["trial.say"];
    Arc::new(Echo(spec))
}

impl Tool for Echo {
    fn spec(&self) -> &Spec {
        &self.0
    }

    fn call<'a>(&'a self, arguments: Value, gate: &'a dyn Gate, _: &'a Call) -> BoxFuture<'a, Result<Output, Stop>> {
        Box::pin(async move {
            let seen = Digest::of("");
            gate.admit(Ask::read(&seen)).await?;
            let text = arguments["text"].as_str().unwrap_or("hello").to_owned();
            Ok(Output { view: View::text(text.clone()), answer: Some(json!({ "text": text })), ..Output::default() })
        })
    }
}
