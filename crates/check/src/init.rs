//! A first plan, from what a server lists. No tool is called.

use std::path::Path;
use std::time::Duration;

use pintle_client::{CallOptions, EraChoice, Error};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::model::{Address, Server};
use crate::verbs::Allowance;
use crate::verbs::mcp::{catalogue, connect};

/// Names shown in one list of a plan; more are only counted.
const MOST: usize = 200;

/// Connects, lists, and writes a plan that holds for the server as it is now. `limit` is for all of it.
///
/// # Errors
/// What went wrong with the server, by stage.
pub async fn init(server: &Server, limit: Duration, cancel: &CancellationToken) -> Result<String, Error> {
    let time = Allowance::of(limit);
    let session = connect(server, Path::new(""), EraChoice::Auto, time, cancel).await?;
    let options = CallOptions { timeout: Some(time.left()), cancel: Some(cancel.clone()), ..CallOptions::default() };
    let listed = catalogue(&session, &options).await;
    let name = session.server().name().map(str::to_owned);
    let closed = session.close().await;
    let listed = listed?;
    closed?;
    Ok(plan(server, &slug(name.as_deref().unwrap_or("server")), &listed))
}

/// A name for the server in the plan.
fn slug(name: &str) -> String {
    let mut slug: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    while slug.contains("--") {
        slug = slug.replace("--", "-");
    }
    let slug = slug.trim_matches('-').chars().take(40).collect::<String>();
    if slug.is_empty() { "server".to_owned() } else { slug }
}

fn plan(server: &Server, name: &str, listed: &Value) -> String {
    let mut text =
        String::from("# A first plan, from what the server listed. It calls no tool: add steps that do.\nversion: 1\n");
    text.push_str(&format!("servers:\n  {}:\n", scalar(name)));
    match &server.address {
        Address::Stdio(argv) => {
            let words = argv.iter().map(|word| scalar(word)).collect::<Vec<_>>().join(", ");
            text.push_str(&format!("    stdio: [{words}]\n"));
        }
        Address::Url(url) => {
            text.push_str(&format!("    url: {}\n", scalar(url)));
            if !server.transport.is_empty() {
                text.push_str(&format!("    transport: {}\n", scalar(&server.transport)));
            }
        }
    }
    secrets(server, &mut text);
    text.push_str("\nserver-answers:\n  check: the server answers\n  mcp: ping\n  stdout: ok\n");
    for (member, step, method, field, what) in [
        ("tools", "tools-are-listed", "list-tools", "name", "tools"),
        ("resources", "resources-are-listed", "list-resources", "uri", "resources"),
        ("resourceTemplates", "templates-are-listed", "list-templates", "uriTemplate", "resource templates"),
        ("prompts", "prompts-are-listed", "list-prompts", "name", "prompts"),
    ] {
        let Some(items) = listed.get(member).and_then(Value::as_array) else { continue };
        let names: Vec<&str> = items.iter().filter_map(|item| item.get(field).and_then(Value::as_str)).collect();
        text.push_str(&format!("\n{step}:\n  check: the server lists its {what}\n  mcp: {method}\n"));
        text.push_str(&format!("  json:\n    - at: $.{member}[*].{field}\n      count: {}\n", items.len()));
        if !names.is_empty() {
            text.push_str("      contains:\n");
            for name in names.iter().take(MOST) {
                text.push_str(&format!("        - {}\n", scalar(name)));
            }
        }
    }
    for tool in listed.get("tools").and_then(Value::as_array).into_iter().flatten() {
        described(tool, &mut text);
    }
    text
}

/// A tool keeps the arguments that it requires.
fn described(tool: &Value, text: &mut String) {
    let Some(name) = tool.get("name").and_then(Value::as_str) else { return };
    let required: Vec<&str> = tool
        .pointer("/inputSchema/required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if required.is_empty() || name.contains('\'') {
        return;
    }
    let query = format!("$.tools[?@.name=='{name}'].inputSchema.required[*]");
    text.push_str(&format!(
        "\n{}:\n  check: {}\n  mcp: list-tools\n  json:\n    - at: {}\n      count: {}\n      contains:\n",
        scalar(&format!("{name}-arguments")),
        scalar(&format!("{name} requires the same arguments")),
        scalar(&query),
        required.len()
    ));
    for argument in required {
        text.push_str(&format!("        - {}\n", scalar(argument)));
    }
}

/// Names of headers and variables are kept, their values are not.
fn secrets(server: &Server, text: &mut String) {
    for (field, names) in [("headers", &server.headers), ("env", &server.env)] {
        if names.is_empty() {
            continue;
        }
        text.push_str(&format!("    {field}:\n"));
        for name in names.keys() {
            let variable: String =
                name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
            text.push_str(&format!("      {}: ${{env:{variable}}}\n", scalar(name)));
        }
    }
}

/// A text in YAML: plain where nothing can be misread, else in double quotes.
fn scalar(text: &str) -> String {
    let plain = !text.is_empty()
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./ ".contains(c))
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && !text.ends_with(' ')
        && !matches!(text.to_ascii_lowercase().as_str(), "true" | "false" | "null" | "yes" | "no" | "on" | "off");
    if plain { text.to_owned() } else { Value::from(text).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::load_bytes;
    use crate::registry::Registry;
    use serde_json::json;

    #[test]
    fn what_is_written_is_a_valid_plan_in_form() {
        let mut server = Server::stdio("x", vec!["my server".into(), "--flag=1".into()]);
        server.env.insert("API_TOKEN".into(), "hush-hush".into());
        let listed = json!({
            "tools": [
                {"name": "echo", "inputSchema": {"required": ["text", "#odd"]}},
                {"name": "say: \"hi\""},
                {"name": "true"},
            ],
            "prompts": [],
            "resources": [{"uri": "file:///a b#c"}],
        });
        let text = plan(&server, &slug("My Server (v2)"), &listed);
        assert!(!text.contains("hush"), "{text}");
        let set = load_bytes("plan.yml", text.as_bytes(), Path::new(""), &Registry::new()).unwrap();
        let ids: Vec<_> = set.steps().map(|step| step.id.as_str()).collect();
        let wanted =
            ["server-answers", "tools-are-listed", "resources-are-listed", "prompts-are-listed", "echo-arguments"];
        assert_eq!(ids, wanted);
        assert_eq!(set.plans[0].servers[0].name, "my-server-v2");
        assert_eq!(crate::fmt::format(&text).unwrap(), text);
    }
}
