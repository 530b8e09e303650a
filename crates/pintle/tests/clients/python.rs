//! The two Python clients: a short script around `mcp.Client`, and the command line of `fastmcp`.

use serde_json::Value;

use crate::served::Home;
use crate::tools::{Ran, need, run};

/// Connects, lists, calls, and prints what it found; the server is a URL or the words of a command.
const SCRIPT: &str = r#"
import asyncio, json, sys
from mcp import Client, StdioServerParameters

async def main():
    words = sys.argv[2:]
    server = words[0] if "://" in words[0] else StdioServerParameters(command=words[0], args=words[1:])
    async with Client(server, mode=sys.argv[1]) as client:
        tools = await client.list_tools()
        answer = await client.call_tool("box.list.boxes", {})
        print(json.dumps({
            "revision": client.protocol_version,
            "tools": [tool.name for tool in tools.tools],
            "text": answer.content[0].text,
            "structured": answer.structured_content,
            "is_error": answer.is_error,
        }))

asyncio.run(main())
"#;

fn by_mcp(home: &Home, mode: &str, server: &[String]) -> Option<Value> {
    let python = need("python")?;
    Some(run(home.client(&python).args(["-c", SCRIPT, mode]).args(server)).json())
}

fn judge(seen: &Value, revision: &str) {
    assert_eq!(seen["revision"], revision, "{seen}");
    let tools = seen["tools"].as_array().expect("a list of names");
    assert!(tools.contains(&Value::from("box.list.boxes")), "{seen}");
    assert!(seen["text"].as_str().is_some_and(|text| text.contains("hello")), "{seen}");
    assert_eq!(seen["is_error"], false, "{seen}");
    assert_eq!(seen["structured"]["outcome"], "ok", "{seen}");
}

#[test]
fn python_mcp_calls_a_dotted_tool_over_stdio_in_the_stateless_revision() {
    let home = Home::new();
    if let Some(seen) = by_mcp(&home, "auto", &home.stdio()) {
        judge(&seen, "2026-07-28");
    }
}

#[test]
fn python_mcp_calls_a_dotted_tool_over_stdio_after_initialize() {
    let home = Home::new();
    if let Some(seen) = by_mcp(&home, "legacy", &home.stdio()) {
        judge(&seen, "2025-11-25");
    }
}

#[test]
fn python_mcp_calls_a_dotted_tool_over_http_in_the_stateless_revision() {
    let home = Home::new();
    let server = home.listening();
    if let Some(seen) = by_mcp(&home, "auto", std::slice::from_ref(&server.url)) {
        judge(&seen, "2026-07-28");
    }
}

#[test]
fn python_mcp_calls_a_dotted_tool_over_http_after_initialize() {
    let home = Home::new();
    let server = home.listening();
    if let Some(seen) = by_mcp(&home, "legacy", std::slice::from_ref(&server.url)) {
        judge(&seen, "2025-11-25");
    }
}

fn by_fastmcp(home: &Home, words: &[&str]) -> Option<Ran> {
    let fastmcp = need("fastmcp")?;
    Some(run(home.client(&fastmcp).args(words)))
}

fn judge_fastmcp(list: &Value, answer: &Value) {
    let tools = list["tools"].as_array().expect("a list of tools");
    assert!(tools.iter().any(|tool| tool["name"] == "box.list.boxes"), "{list}");
    let text = answer.pointer("/content/0/text").and_then(Value::as_str).unwrap_or_default();
    assert!(text.contains("hello"), "{answer}");
    assert_eq!(answer["is_error"], false, "{answer}");
}

#[test]
fn fastmcp_calls_a_dotted_tool_over_stdio() {
    let home = Home::new();
    // fastmcp splits the words as a shell would; a temporary folder has none that needs quotes
    let command = home.stdio().join(" ");
    let Some(list) = by_fastmcp(&home, &["list", "--command", &command, "--json"]) else { return };
    let Some(answer) = by_fastmcp(&home, &["call", "--command", &command, "--target", "box.list.boxes", "--json"])
    else {
        return;
    };
    judge_fastmcp(&list.json(), &answer.json());
}

#[test]
fn fastmcp_calls_a_dotted_tool_over_http() {
    let home = Home::new();
    let server = home.listening();
    let Some(list) = by_fastmcp(&home, &["list", &server.url, "--json"]) else { return };
    let Some(answer) = by_fastmcp(&home, &["call", &server.url, "box.list.boxes", "--json"]) else { return };
    judge_fastmcp(&list.json(), &answer.json());
}
