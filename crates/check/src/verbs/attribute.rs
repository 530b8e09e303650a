//! Attributes of a thing as a verb's own assertions: `exists: true`, `mode: "0644"`.

use pintle_yaml::{Node, Place};
use serde_json::Value;

use crate::json::placed;
use crate::model::sink::Sink;
use crate::outcome::Mismatch;

/// A yes or no that a step expects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) value: bool,
    pub(crate) place: Place,
}

impl Wanted {
    /// Reads a field; absent it is none.
    pub(crate) fn read(body: Node<'_>, field: &str, sink: &mut Sink<'_>) -> Option<Self> {
        let (key, node) = body.entry(field)?;
        sink.flag(node, field).map(|value| Self { value, place: sink.place(key) })
    }

    /// Reads a field; absent it is true, at the verb.
    pub(crate) fn or_true(value: Node<'_>, body: Node<'_>, field: &str, sink: &mut Sink<'_>) -> Self {
        let place = sink.place(value);
        Self::read(body, field, sink).unwrap_or(Self { value: true, place })
    }

    pub(crate) fn check(self, subject: &str, actual: bool) -> Option<Mismatch> {
        (self.value != actual)
            .then(|| placed(self.place, subject, "equals", Value::Bool(self.value), Some(Value::Bool(actual))))
    }
}

/// A text that a step expects exactly.
#[derive(Clone, Debug)]
pub(crate) struct Exact {
    pub(crate) text: String,
    pub(crate) place: Place,
}

impl Exact {
    pub(crate) fn read(body: Node<'_>, field: &str, sink: &mut Sink<'_>) -> Option<Self> {
        let (key, node) = body.entry(field)?;
        sink.word(node, field).map(|text| Self { text, place: sink.place(key) })
    }

    pub(crate) fn check(&self, subject: &str, actual: &str) -> Option<Mismatch> {
        (self.text != actual).then(|| self.mismatch(subject, Some(Value::from(actual))))
    }

    pub(crate) fn mismatch(&self, subject: &str, actual: Option<Value>) -> Mismatch {
        placed(self.place, subject, "equals", Value::from(self.text.as_str()), actual)
    }
}
