//! JSON-RPC messages, as values.

use serde_json::{Map, Value, json};

use crate::error::RpcError;

/// What a message is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Message {
    /// An answer: its ID, and a result or an error.
    Answer { id: Value, outcome: Result<Value, RpcError> },
    /// A request of the server.
    Request { id: Value, method: String, params: Value },
    /// A notification of the server.
    Notification { method: String, params: Value },
}

/// Tells what a message is.
///
/// # Errors
/// Why it is none of JSON-RPC.
pub(crate) fn classify(message: Value) -> Result<Message, String> {
    let Value::Object(mut members) = message else {
        return Err(format!("a message that is no object: {}", brief(&message)));
    };
    if let Some(method) = members.remove("method") {
        let Value::String(method) = method else {
            return Err(format!("a method that is no text: {}", brief(&method)));
        };
        let params = members.remove("params").unwrap_or(Value::Null);
        return Ok(match members.remove("id") {
            Some(id) => Message::Request { id, method, params },
            None => Message::Notification { method, params },
        });
    }
    let id = members.remove("id").unwrap_or(Value::Null);
    match (members.remove("result"), members.remove("error")) {
        (Some(result), None) => Ok(Message::Answer { id, outcome: Ok(result) }),
        (None, Some(error)) => Ok(Message::Answer { id, outcome: Err(rpc_error(&error)) }),
        (Some(_), Some(_)) => Err("an answer with both result and error".into()),
        (None, None) => {
            Err(format!("a message with neither method, result nor error: {}", brief(&Value::Object(members))))
        }
    }
}

fn rpc_error(error: &Value) -> RpcError {
    RpcError {
        code: error.get("code").and_then(Value::as_i64).unwrap_or(0),
        message: error.get("message").and_then(Value::as_str).unwrap_or("(no message)").to_owned(),
        data: error.get("data").cloned(),
        http_status: None,
    }
}

/// The beginning of a value, for messages.
pub(crate) fn brief(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(120) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

pub(crate) fn request(id: u64, method: &str, params: Map<String, Value>) -> Value {
    let mut message = json!({"jsonrpc": "2.0", "id": id, "method": method});
    if !params.is_empty() {
        message["params"] = Value::Object(params);
    }
    message
}

pub(crate) fn notification(method: &str, params: Map<String, Value>) -> Value {
    let mut message = json!({"jsonrpc": "2.0", "method": method});
    if !params.is_empty() {
        message["params"] = Value::Object(params);
    }
    message
}

pub(crate) fn reply(id: &Value, outcome: Result<Value, RpcError>) -> Value {
    match outcome {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(error) => {
            let mut body = json!({"code": error.code, "message": error.message});
            if let Some(data) = error.data {
                body["data"] = data;
            }
            json!({"jsonrpc": "2.0", "id": id, "error": body})
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        assert!(matches!(classify(json!({"id": 1, "result": {}})), Ok(Message::Answer { outcome: Ok(_), .. })));
        assert!(matches!(classify(json!({"id": "a", "method": "ping"})), Ok(Message::Request { .. })));
        assert!(matches!(classify(json!({"method": "notifications/x"})), Ok(Message::Notification { .. })));
        for broken in [json!(3), json!({}), json!({"id": 1, "result": 1, "error": {}}), json!({"method": 5})] {
            assert!(classify(broken.clone()).is_err(), "{broken}");
        }
    }

    #[test]
    fn an_error_keeps_code_message_and_data() {
        let message = json!({"id": 1, "error": {"code": -32602, "message": "no", "data": [1]}});
        let Ok(Message::Answer { outcome: Err(error), .. }) = classify(message) else {
            panic!("not an error");
        };
        assert_eq!((error.code, error.message.as_str()), (-32602, "no"));
        assert_eq!(error.data, Some(json!([1])));
    }
}
