//! The typed answer of an operation.

use crate::{CutRows, Failure, Outcome, Part, View};
use schemars::JsonSchema;
use serde::Serialize;

/// What an operation answers: a value, how people read it, and what may be cut.
pub trait Answer: Serialize + JsonSchema + Send + 'static {
    /// The answer as people read it.
    fn view(&self) -> View;

    /// How the call ended.
    fn outcome(&self) -> Outcome {
        Outcome::Ok
    }

    /// What went wrong for some targets, or why an answered call counts as failed.
    fn failure(&self) -> Option<Failure> {
        None
    }

    /// Pieces that are not text.
    fn parts(&self) -> Vec<Part> {
        Vec::new()
    }

    /// The rows, where the answer may be large.
    fn rows(&mut self) -> Option<&mut dyn CutRows> {
        None
    }

    /// Continue token of the source behind the rows, for the cursor.
    fn continue_token(&self) -> Option<String> {
        None
    }
}

/// One exact text as an answer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub struct Exact(pub String);

impl Answer for Exact {
    fn view(&self) -> View {
        View::exact(self.0.clone())
    }
}
