//! Any number of plain tools, to see what a longer list costs.

use pintle_core::{BoxFuture, Call, Digest, Effect, Gate, Lazy, Output, Spec, Stop, Tool, View};
use serde_json::{Value, json};
use std::sync::Arc;

struct Dummy(Spec);

impl Tool for Dummy {
    fn spec(&self) -> &Spec {
        &self.0
    }

    fn call<'a>(&'a self, arguments: Value, gate: &'a dyn Gate, _: &'a Call) -> BoxFuture<'a, Result<Output, Stop>> {
        Box::pin(async move {
            let seen = Digest::of("");
            gate.admit(pintle_core::Ask::read(&seen)).await?;
            let view = View::text(format!("{} was here", self.0.name));
            Ok(Output { answer: Some(arguments), view, ..Output::default() })
        })
    }
}

/// Tools `dummy_001`, `dummy_002` and so on; each gives its arguments back.
#[must_use]
pub fn dummy_tools(count: usize) -> Vec<Arc<dyn Tool>> {
    let dummy = |number: usize| {
        let input = || {
            json!({
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "name of the thing"},
                    "namespace": {"type": "string", "description": "namespace; all when absent"},
                    "limit": {"type": "integer", "minimum": 1, "default": 100},
                    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                    "clusters": {"type": "array", "items": {"type": "string"}}
                },
                "additionalProperties": false
            })
        };
        let description = format!("gives back what it is called with; number {number}");
        let mut spec = Spec::new(format!("dummy_{number:03}"), description, Lazy::new(input), Effect::READ);
        spec.output = Lazy::new(|| Some(json!({"type": "object"})));
        Arc::new(Dummy(spec)) as Arc<dyn Tool>
    };
    (1..=count).map(dummy).collect()
}
