//! A stand-in for a model on loopback, for clients that call a tool only when a model asks for it. It asks once for
//! `box.list.boxes`, under whatever name the client offers it, keeps what the client hands back, and is done.
//!
//! It speaks just enough of three interfaces: Anthropic messages, Gemini content, OpenAI chat completions.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// The interface that a client speaks.
#[derive(Debug, Clone, Copy)]
pub enum Interface {
    Anthropic,
    Gemini,
    OpenAi,
}

/// What the client told its model.
#[derive(Debug, Default, Clone)]
pub struct Seen {
    /// The name under which the client offered our tool.
    pub offered: Option<String>,
    /// The answer of our tool as the model got it, as JSON text.
    pub answer: Option<String>,
    /// Every request line, for the message of a failing test.
    pub requests: Vec<String>,
}

/// A model that listens; its thread ends with the test program.
pub struct Model {
    pub url: String,
    seen: Arc<Mutex<Seen>>,
}

impl Model {
    pub fn start(interface: Interface) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let seen = Arc::new(Mutex::new(Seen::default()));
        let shared = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                // a client that hangs up in between is no concern of the test
                std::thread::spawn(move || serve(stream, interface, &shared));
            }
        });
        Self { url, seen }
    }

    pub fn seen(&self) -> Seen {
        self.seen.lock().expect("no thread panicked").clone()
    }
}

fn serve(stream: TcpStream, interface: Interface, seen: &Mutex<Seen>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let turn = take(&request, seen, first.trim());
    let (kind, text) = answer(interface, &first, &turn);
    write!(
        reader.get_mut(),
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    )
}

/// What the model says next.
enum Turn {
    Ask(String),
    Done,
}

fn take(request: &Value, seen: &Mutex<Seen>, line: &str) -> Turn {
    let mut seen = seen.lock().expect("no thread panicked");
    seen.requests.push(line.to_owned());
    if let Some(answer) = tool_answer(request) {
        seen.answer = Some(answer.to_string());
        return Turn::Done;
    }
    match offered(request) {
        Some(name) => {
            seen.offered = Some(name.clone());
            Turn::Ask(name)
        }
        // a side question, of a title or the like
        None => Turn::Done,
    }
}

/// Our tool among those that a request offers, wherever the interface has their names.
fn offered(request: &Value) -> Option<String> {
    let tools = request["tools"].as_array()?;
    let nested = tools.iter().filter_map(|tool| tool["functionDeclarations"].as_array()).flatten();
    tools
        .iter()
        .chain(nested)
        .filter_map(|tool| tool["name"].as_str().or_else(|| tool["function"]["name"].as_str()))
        .find(|name| name.replace('.', "_").ends_with("box_list_boxes"))
        .map(str::to_owned)
}

/// The last answer of a tool in a conversation.
fn tool_answer(value: &Value) -> Option<&Value> {
    match value {
        Value::Object(fields) => {
            let is_answer = fields.get("type").is_some_and(|kind| kind == "tool_result")
                || fields.get("role").is_some_and(|role| role == "tool")
                || fields.contains_key("functionResponse");
            if is_answer { Some(value) } else { fields.values().rev().find_map(tool_answer) }
        }
        Value::Array(items) => items.iter().rev().find_map(tool_answer),
        _ => None,
    }
}

fn answer(interface: Interface, first: &str, turn: &Turn) -> (&'static str, String) {
    let stream = "text/event-stream";
    match interface {
        Interface::Anthropic if first.contains("count_tokens") => {
            ("application/json", json!({"input_tokens": 1}).to_string())
        }
        Interface::Anthropic => (stream, anthropic(turn)),
        Interface::Gemini if first.contains(":streamGenerateContent") => {
            (stream, format!("data: {}\n\n", gemini(turn)))
        }
        Interface::Gemini => ("application/json", gemini(turn).to_string()),
        Interface::OpenAi => (stream, openai(turn)),
    }
}

fn anthropic(turn: &Turn) -> String {
    let (block, delta, stop) = match turn {
        Turn::Ask(name) => (
            json!({"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}),
            json!({"type": "input_json_delta", "partial_json": "{}"}),
            "tool_use",
        ),
        Turn::Done => (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": "done"}), "end_turn"),
    };
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "stand-in", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1},
    });
    [
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({
            "type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null},
            "usage": {"output_tokens": 1},
        }),
        json!({"type": "message_stop"}),
    ]
    .iter()
    .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default()))
    .collect()
}

fn gemini(turn: &Turn) -> Value {
    let part = match turn {
        Turn::Ask(name) => json!({"functionCall": {"name": name, "args": {}}}),
        Turn::Done => json!({"text": "done"}),
    };
    json!({
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
    })
}

fn openai(turn: &Turn) -> String {
    let (delta, stop) = match turn {
        Turn::Ask(name) => {
            let call = json!({
                "index": 0, "id": "call_1", "type": "function", "function": {"name": name, "arguments": "{}"},
            });
            (json!({"role": "assistant", "tool_calls": [call]}), "tool_calls")
        }
        Turn::Done => (json!({"role": "assistant", "content": "done"}), "stop"),
    };
    let chunk = |delta: &Value, stop: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": stop});
        let chunk = json!({
            "id": "c1", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice],
        });
        format!("data: {chunk}\n\n")
    };
    format!("{}{}data: [DONE]\n\n", chunk(&delta, Value::Null), chunk(&json!({}), json!(stop)))
}
