//! What one line means: an answer that the gate gives itself, or a message for one of the two eras.

use rmcp::model::{ClientJsonRpcMessage, ErrorCode};
use serde::Deserialize;
use serde_json::{Value, json};

/// `initialize` without a version gets the newest one that still has `initialize`.
const DEFAULT_VERSION: &str = "2025-11-25";
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const FIRST_MODERN: &str = "2026-07-28";
/// Ids that the protocol library cannot hold travel inside under this mark; no sane client id begins like it.
const ALIAS: &str = "\u{0}u64:";

/// What is to be done with one line.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// Nothing.
    Skip,
    /// This goes back at once.
    Answer(Value),
    /// For the service of the older era.
    Legacy(Box<ClientJsonRpcMessage>),
    /// For the service of the newer era.
    Modern(Box<ClientJsonRpcMessage>),
    /// For both: each knows only its own requests.
    Both(Box<ClientJsonRpcMessage>),
}

/// Reads lines one after another; remembers only whether `initialize` was seen.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    initialized: bool,
    aliased: bool,
}

impl Gate {
    /// Whether some id travels under an alias, so that answers must be looked through.
    pub(crate) fn aliased(&self) -> bool {
        self.aliased
    }

    /// Answer to a line over the limit.
    pub(crate) fn too_long(limit: usize) -> Value {
        let message = format!("message over {} MiB; send large content in parts", limit / (1024 * 1024));
        error(Value::Null, ErrorCode::INVALID_REQUEST, &message)
    }

    /// Judges one line.
    pub(crate) fn judge(&mut self, line: &[u8]) -> Verdict {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
        if line.is_empty() {
            return Verdict::Skip;
        }
        match serde_json::from_slice::<Value>(line) {
            Ok(Value::Object(message)) => self.judge_message(message),
            Ok(Value::Array(_)) => {
                invalid(Value::Null, "batches are not part of the protocol; send one message a line")
            }
            Ok(_) => invalid(Value::Null, "a message must be a JSON object"),
            Err(why) => Verdict::Answer(unreadable(line, &why)),
        }
    }

    fn judge_message(&mut self, mut message: serde_json::Map<String, Value>) -> Verdict {
        let id = message.get("id").cloned();
        let shown_id = id.clone().filter(|id| id.is_string() || id.is_number()).unwrap_or(Value::Null);
        if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return invalid(shown_id, "`jsonrpc` must be \"2.0\"");
        }
        let method = match message.get("method") {
            Some(Value::String(method)) => Some(method.clone()),
            Some(_) => return invalid(shown_id, "`method` must be a string"),
            None => None,
        };
        let is_answer = message.contains_key("result") || message.contains_key("error");
        if method.is_none() && !is_answer {
            return invalid(shown_id, "`method` is missing");
        }
        match &id {
            None | Some(Value::String(_)) => {}
            Some(Value::Number(number)) if number.is_i64() => {}
            Some(Value::Number(number)) if number.is_u64() => {
                self.aliased = true;
                message.insert("id".into(), format!("{ALIAS}{number}").into());
            }
            Some(Value::Null) if is_answer && method.is_none() => return Verdict::Skip,
            Some(Value::Null) => return invalid(Value::Null, "`id` must not be null"),
            Some(Value::Number(_)) => return invalid(shown_id, "`id` must be an integer of 64 bits or a string"),
            Some(_) => return invalid(Value::Null, "`id` must be an integer or a string"),
        }
        // An answer is never answered, however wrong it is; and only the older era asks anything of its clients.
        let Some(method) = method else { return deliver(message, Value::Null, Verdict::Legacy) };
        self.judge_method(&method, message, id.is_some(), shown_id)
    }

    fn judge_method(
        &mut self,
        method: &str,
        mut message: serde_json::Map<String, Value>,
        is_request: bool,
        id: Value,
    ) -> Verdict {
        let version = message.get("params").and_then(|params| params.get("_meta")?.get(VERSION_KEY)).cloned();
        let modern = method == "server/discover"
            || version.as_ref().is_some_and(|version| version.as_str().is_none_or(|version| version >= FIRST_MODERN));
        if !is_request {
            if method == "notifications/cancelled" {
                self.alias_cancelled(&mut message);
                return deliver(message, Value::Null, Verdict::Both);
            }
            // Without a session there is nobody whom an older notification could mean.
            let known = self.initialized || modern;
            return if known { deliver(message, Value::Null, Verdict::Legacy) } else { Verdict::Skip };
        }
        if modern && method != "initialize" {
            return deliver(message, id, Verdict::Modern);
        }
        match method {
            // Answered here, so that it never waits behind anything.
            "ping" => Verdict::Answer(json!({"jsonrpc": "2.0", "id": id, "result": {}})),
            "initialize" => {
                self.initialized = true;
                fill_initialize(&mut message);
                deliver(message, id, Verdict::Legacy)
            }
            _ if self.initialized || version.is_some() => deliver(message, id, Verdict::Legacy),
            _ => {
                let how = format!("`{method}` came before `initialize` and without `_meta` key `{VERSION_KEY}`");
                Verdict::Answer(error(id, ErrorCode::INVALID_PARAMS, &how))
            }
        }
    }

    fn alias_cancelled(&mut self, message: &mut serde_json::Map<String, Value>) {
        let id = message.get_mut("params").and_then(|params| params.get_mut("requestId"));
        if let Some(id) = id
            && id.is_u64()
            && !id.is_i64()
        {
            *id = format!("{ALIAS}{id}").into();
        }
    }
}

/// Puts ids back that travelled under an alias.
pub(crate) fn unalias(bytes: Vec<u8>) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(&bytes) else { return bytes };
    let mark = "\"\\u0000u64:";
    let mut parts = text.split(mark);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('"') {
            Some((digits, rest)) if digits.bytes().all(|b| b.is_ascii_digit()) => out.extend([digits, rest]),
            _ => out.extend([mark, part]),
        }
    }
    out.into_bytes()
}

/// Fills what a hand-written `initialize` leaves out.
fn fill_initialize(message: &mut serde_json::Map<String, Value>) {
    let params = message.entry("params").or_insert_with(|| json!({}));
    if !params.is_object() {
        *params = json!({});
    }
    let defaults = [
        ("protocolVersion", json!(DEFAULT_VERSION)),
        ("capabilities", json!({})),
        ("clientInfo", json!({"name": "unknown", "version": "0"})),
    ];
    if let Some(params) = params.as_object_mut() {
        for (key, value) in defaults {
            params.entry(key).or_insert(value);
        }
    }
}

fn deliver(
    message: serde_json::Map<String, Value>,
    id: Value,
    to: fn(Box<ClientJsonRpcMessage>) -> Verdict,
) -> Verdict {
    match serde_json::from_value(Value::Object(message)) {
        Ok(message) => to(Box::new(message)),
        Err(_) if id.is_null() => Verdict::Skip,
        Err(why) => Verdict::Answer(error(id, ErrorCode::INVALID_REQUEST, &format!("not a message: {why}"))),
    }
}

fn invalid(id: Value, message: &str) -> Verdict {
    Verdict::Answer(error(id, ErrorCode::INVALID_REQUEST, message))
}

fn error(id: Value, code: ErrorCode, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code.0, "message": message}})
}

/// A line that is no JSON has no id to answer to; one that only holds a value nobody can hold has.
fn unreadable(line: &[u8], why: &serde_json::Error) -> Value {
    #[derive(Deserialize)]
    struct Head {
        id: Value,
    }
    let told = why.to_string();
    let told = told.split(" at line ").next().unwrap_or(&told);
    match serde_json::from_slice::<Head>(line) {
        Ok(Head { id }) if id.is_string() || id.is_number() => {
            let message = format!("a value in the message cannot be taken: {told} at column {}", why.column());
            error(id, ErrorCode::INVALID_PARAMS, &message)
        }
        _ => error(Value::Null, ErrorCode::PARSE_ERROR, &format!("not JSON: {told} at column {}", why.column())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(gate: &mut Gate, line: impl AsRef<[u8]>) -> Value {
        match gate.judge(line.as_ref()) {
            Verdict::Answer(answer) => answer,
            other => panic!("an answer, not {other:?}"),
        }
    }
    fn code(line: impl AsRef<[u8]>) -> (i64, Value) {
        let answer = answer(&mut Gate::default(), line);
        (answer["error"]["code"].as_i64().unwrap(), answer["id"].clone())
    }

    #[test]
    fn an_6_02_eg_020_kw_49_garbage_is_answered_with_a_null_id() {
        for line in [&b"{"[..], b"\xff", b"nonsense", b"{\"jsonrpc\":\"2.0\",\"id\":1,", b"\"x\xff\""] {
            assert_eq!(code(line), (-32700, Value::Null), "{}", String::from_utf8_lossy(line));
        }
        for line in ["", "  ", "\r", "\u{feff}"] {
            assert!(matches!(Gate::default().judge(line.as_bytes()), Verdict::Skip), "{line:?}");
        }
    }

    #[test]
    fn eg_020_what_is_json_and_no_request_is_refused_by_name() {
        assert_eq!(code(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#), (-32600, Value::Null));
        assert_eq!(code("7"), (-32600, Value::Null));
        assert_eq!(code(r#"{"id":1,"method":"ping"}"#), (-32600, json!(1)), "jsonrpc is checked");
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#), (-32600, Value::Null));
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#), (-32600, json!(1.5)));
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":1}"#), (-32600, json!(1)));
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":"a","method":"tools/list"}"#), (-32602, json!("a")), "no era yet");
    }

    #[test]
    fn kw_49_neither_notifications_nor_answers_are_answered() {
        let mut gate = Gate::default();
        for line in [
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/unheard-of","params":3}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":"not an object"}"#,
        ] {
            assert!(!matches!(gate.judge(line.as_bytes()), Verdict::Answer(_)), "{line}");
        }
    }

    #[test]
    fn an_6_10_a_value_nobody_can_hold_is_refused_under_its_own_id() {
        let deep = format!("{}1{}", "[".repeat(1000), "]".repeat(1000));
        for bad in [deep.as_str(), "1e400", r#""\ud800""#] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{bad}}}"#);
            let told = answer(&mut Gate::default(), &line);
            assert_eq!((&told["id"], &told["error"]["code"]), (&json!(5), &json!(-32602)), "{told}");
        }
    }

    #[test]
    fn eras_are_told_apart_message_by_message() {
        let mut gate = Gate::default();
        let modern = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
        assert!(matches!(gate.judge(modern.as_bytes()), Verdict::Modern(_)));
        assert!(matches!(
            gate.judge(br#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":{}}"#),
            Verdict::Legacy(_)
        ));
        assert!(matches!(gate.judge(br#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#), Verdict::Legacy(_)));
        assert!(matches!(gate.judge(modern.as_bytes()), Verdict::Modern(_)), "still, after initialize");
        let discover = br#"{"jsonrpc":"2.0","id":4,"method":"server/discover"}"#;
        assert!(matches!(gate.judge(discover), Verdict::Modern(_)));
        let cancelled = br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#;
        assert!(matches!(gate.judge(cancelled), Verdict::Both(_)));
        assert_eq!(answer(&mut gate, r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#)["result"], json!({}));
    }

    #[test]
    fn eg_020_ids_of_64_bits_come_back_unchanged() {
        let mut gate = Gate::default();
        let line = format!(r#"{{"jsonrpc":"2.0","id":{},"method":"initialize"}}"#, u64::MAX);
        let Verdict::Legacy(message) = gate.judge(line.as_bytes()) else { panic!("a message") };
        let inside = serde_json::to_vec(&*message).unwrap();
        assert!(gate.aliased());
        let back: Value = serde_json::from_slice(&unalias(inside)).unwrap();
        assert_eq!(back["id"], json!(u64::MAX));
        assert_eq!(unalias(b"{\"id\":\"\\u0000u64:x\"}".to_vec()), b"{\"id\":\"\\u0000u64:x\"}");
    }
}
