//! Codex: `mcp list` only reads its configuration, so we speak to `codex app-server`, one JSON value a line, and ask
//! it for the state of its servers and to call one of their tools.
//!
//! What it does with dots: it lists and calls `box.list.boxes` under that name; to a model it offers the tool as
//! `box_list_boxes` in a namespace of the server. So `--name-style underscore` is not needed for it.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, Stdio};
use std::sync::mpsc;
use std::time::Instant;

use serde_json::{Value, json};

use crate::served::Home;
use crate::tools::{Grouped, LIMIT, need};

pub struct AppServer {
    stdin: ChildStdin,
    lines: mpsc::Receiver<String>,
    next: u64,
    _child: Grouped,
}

impl AppServer {
    fn start(home: &Home, program: &Path, server: &str) -> Self {
        home.write(".codex/config.toml", &format!("[mcp_servers.pintle]\n{server}\n"));
        Self::of_home(home, program)
    }

    /// With the configuration that the home has.
    pub fn of_home(home: &Home, program: &Path) -> Self {
        let mut command = home.client(program);
        let mut child = Grouped::start(
            command.arg("app-server").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()),
        );
        let stdin = child.0.stdin.take().expect("stdin is piped");
        let stdout = child.0.stdout.take().expect("stdout is piped");
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let mut server = Self { stdin, lines, next: 1, _child: child };
        server.request("initialize", &json!({"clientInfo": {"name": "pintle-test", "title": "test", "version": "1"}}));
        server.send(&json!({"method": "initialized"}));
        server
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.stdin, "{message}").expect("codex reads");
    }

    /// Asks and gives the result; notifications in between are passed over.
    fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.next;
        self.next += 1;
        self.send(&json!({"id": id, "method": method, "params": params}));
        let end = Instant::now() + LIMIT;
        loop {
            let line = self
                .lines
                .recv_timeout(end.saturating_duration_since(Instant::now()))
                .unwrap_or_else(|why| panic!("no answer to {method}: {why}"));
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|why| panic!("{why} in {line}"));
            if message["id"] == json!(id) && message.get("method").is_none() {
                assert!(message.get("result").is_some(), "{method}: {message}");
                return message["result"].clone();
            }
        }
    }

    /// The tools of our server.
    fn tools(&mut self) -> Vec<String> {
        self.tools_of("pintle", "charly")
    }

    /// The tools of the server under this key, which says that it is this one.
    pub fn tools_of(&mut self, key: &str, server: &str) -> Vec<String> {
        let status = self.request("mcpServerStatus/list", &json!({}));
        let ours = status["data"].as_array().and_then(|servers| servers.iter().find(|one| one["name"] == key));
        let ours = ours.unwrap_or_else(|| panic!("our server is not there: {status}"));
        assert_eq!(ours["serverInfo"]["name"], server, "{ours}");
        ours["tools"].as_object().map(|tools| tools.keys().cloned().collect()).unwrap_or_default()
    }

    fn call(&mut self, home: &Home, tool: &str) -> Value {
        let thread = self.request("thread/start", &json!({"cwd": home.project()}));
        let thread = thread.pointer("/thread/id").cloned().unwrap_or_default();
        self.request(
            "mcpServer/tool/call",
            &json!({"threadId": thread, "server": "pintle", "tool": tool, "arguments": {}}),
        )
    }
}

fn judge(answer: &Value) {
    let text = answer.pointer("/content/0/text").and_then(Value::as_str).unwrap_or_default();
    assert!(text.contains("hello"), "{answer}");
}

fn toml_words(words: &[String]) -> String {
    // a JSON array of strings is also a TOML one
    format!("command = {}\nargs = {}", json!(words[0]), json!(words[1..]))
}

#[test]
fn codex_lists_and_calls_dotted_tools_over_stdio() {
    let Some(program) = need("codex") else { return };
    let home = Home::new();
    let mut codex = AppServer::start(&home, &program, &toml_words(&home.stdio()));
    let tools = codex.tools();
    assert!(tools.iter().any(|name| name == "box.list.boxes"), "{tools:?}");
    judge(&codex.call(&home, "box.list.boxes"));
}

#[test]
fn codex_lists_and_calls_dotted_tools_over_http() {
    let Some(program) = need("codex") else { return };
    let home = Home::new();
    let server = home.listening();
    let mut codex = AppServer::start(&home, &program, &format!("url = {}", json!(server.url)));
    let tools = codex.tools();
    assert!(tools.iter().any(|name| name == "box.list.boxes"), "{tools:?}");
    judge(&codex.call(&home, "box.list.boxes"));
}

#[test]
fn codex_sees_underscores_where_they_are_asked_for() {
    let Some(program) = need("codex") else { return };
    let home = Home::new();
    let mut words = home.stdio();
    words.extend(["--name-style", "underscore"].map(str::to_owned));
    let mut codex = AppServer::start(&home, &program, &toml_words(&words));
    let tools = codex.tools();
    assert!(tools.iter().any(|name| name == "box_list_boxes"), "{tools:?}");
    assert!(tools.iter().all(|name| !name.contains(['.', '-'])), "{tools:?}");
    judge(&codex.call(&home, "box_list_boxes"));
}
