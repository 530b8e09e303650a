//! What this side answers when the server asks.

use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::error::RpcError;

/// A question of the server: `elicitation/create`, `sampling/createMessage`, `roots/list`.
///
/// In the eras with `initialize` it comes as a request, in the new one inside an `input_required` result.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerRequest {
    /// The method.
    pub method: String,
    /// Its parameters; `null` if there are none.
    pub params: Value,
}

/// Answers questions of the server. `ping` is answered by the session itself.
pub trait Handler: Send + Sync + 'static {
    /// The client capabilities this handler stands for, as they go over the wire.
    fn capabilities(&self) -> Value {
        json!({})
    }

    /// Answers one question.
    fn answer(&self, request: ServerRequest) -> BoxFuture<'_, Result<Value, RpcError>>;
}

/// Declares nothing and answers "method not found".
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHandler;

impl Handler for NoHandler {
    fn answer(&self, request: ServerRequest) -> BoxFuture<'_, Result<Value, RpcError>> {
        Box::pin(async move { Err(RpcError::method_not_found(&request.method)) })
    }
}
