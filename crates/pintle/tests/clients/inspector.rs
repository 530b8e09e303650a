//! The Inspector's command line, in both eras over both transports.

use serde_json::Value;

use crate::served::Home;
use crate::tools::{need, run};

/// Calls the dotted tool and gives the result of the protocol.
fn call(home: &Home, era: &str, server: &[String]) -> Option<Value> {
    let inspector = need("mcp-inspector")?;
    let mut command = home.client(&inspector);
    command.args(["--cli", "--protocol-era", era, "--method", "tools/call", "--tool-name", "box.list.boxes"]);
    command.args(["--format", "json", "-q"]).args(server);
    Some(run(&mut command).json())
}

fn over_stdio(era: &str) {
    let home = Home::new();
    let mut server = vec!["--".to_owned()];
    server.extend(home.stdio());
    if let Some(answer) = call(&home, era, &server) {
        judge(&answer);
    }
}

fn over_http(era: &str) {
    let home = Home::new();
    let server = home.listening();
    let words = ["--transport", "http", "--server-url", &server.url].map(str::to_owned);
    if let Some(answer) = call(&home, era, &words) {
        judge(&answer);
    }
}

fn judge(answer: &Value) {
    let text = answer.pointer("/result/content/0/text").and_then(Value::as_str).unwrap_or_default();
    assert!(text.contains("hello"), "{answer}");
    assert_ne!(answer.pointer("/result/isError"), Some(&Value::Bool(true)), "{answer}");
}

#[test]
fn inspector_legacy_over_stdio_calls_a_dotted_tool() {
    over_stdio("legacy");
}

#[test]
fn inspector_modern_over_stdio_calls_a_dotted_tool() {
    over_stdio("modern");
}

#[test]
fn inspector_legacy_over_http_calls_a_dotted_tool() {
    over_http("legacy");
}

#[test]
fn inspector_modern_over_http_calls_a_dotted_tool() {
    over_http("modern");
}
