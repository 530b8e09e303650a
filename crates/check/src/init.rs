//! A first plan, from what a server lists. No tool is called.

use std::path::Path;
use std::time::Duration;

use pintle_client::{CallOptions, EraChoice, Error};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::model::{Address, Server, template};
use crate::verbs::Allowance;
use crate::verbs::mcp::{catalogue, connect};

/// Names shown in one list of a plan; more are only counted.
const MOST: usize = 200;

/// Connects, lists, and writes a plan that holds for the server as it is now. `limit` is for all of it.
///
/// `written` is the server as a plan would name it, `resolved` the same with its secrets in place: only the first goes
/// into the plan.
///
/// # Errors
/// What went wrong with the server, by stage.
pub async fn init(
    written: &Server,
    resolved: &Server,
    limit: Duration,
    cancel: &CancellationToken,
) -> Result<String, Error> {
    let time = Allowance::of(limit);
    let session = connect(resolved, Path::new(""), EraChoice::Auto, time, cancel).await?;
    let options = CallOptions { timeout: Some(time.left()), cancel: Some(cancel.clone()), ..CallOptions::default() };
    let listed = catalogue(&session, &options).await;
    let name = session.server().name().map(str::to_owned);
    let closed = session.close().await;
    let listed = listed?;
    closed?;
    Ok(plan(written, &slug(name.as_deref().unwrap_or("server")), &listed))
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
    values_left_out(server, &mut text);
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
    references(server, &mut text);
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

/// Headers and variables with the references that they were given by.
fn references(server: &Server, text: &mut String) {
    for (field, values) in [("headers", &server.headers), ("env", &server.env)] {
        let mut kept = values.iter().filter(|(_, value)| is_reference(value)).peekable();
        if kept.peek().is_some() {
            text.push_str(&format!("    {field}:\n"));
        }
        for (name, value) in kept {
            text.push_str(&format!("      {}: {}\n", scalar(name), scalar(value)));
        }
    }
}

/// A value that is no reference may be a secret: only its name is told, and what to write.
fn values_left_out(server: &Server, text: &mut String) {
    for (field, values) in [("headers", &server.headers), ("env", &server.env)] {
        for name in values.iter().filter(|(_, value)| !is_reference(value)).map(|(name, _)| name) {
            let name = name.replace(char::is_control, " ");
            text.push_str(&format!(
                "    # {field}: the value of {name} is not kept; write ${{env:NAME}} or ${{file:PATH}}\n"
            ));
        }
    }
}

/// Whether a text takes all that could be secret from elsewhere: it has a reference, and beside it at most the word
/// that names a scheme, as in `Bearer ${env:TOKEN}`.
fn is_reference(text: &str) -> bool {
    let Ok(parts) = template::parts(text) else { return false };
    let mut references = 0;
    let mut beside = String::new();
    for part in parts {
        match part {
            template::Part::Variable { name: "env" | "file", argument: Some(_) } => references += 1,
            template::Part::Text(text) => beside.push_str(text),
            template::Part::Variable { .. } => return false,
        }
    }
    let schemes = ["", "bearer", "basic", "token", "apikey", "digest"];
    references > 0 && schemes.contains(&beside.trim().to_ascii_lowercase().as_str())
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
    fn a_reference_is_kept_and_no_value_is() {
        for kept in ["${env:A}", "Bearer ${env:MY_TOKEN}", "Basic ${file:/run/secret}", "${env:A}${env:B}"] {
            assert!(is_reference(kept), "{kept}");
        }
        for bare in ["", "abc", "Bearer abc", "abc-${env:A}", "$${env:A}", "${A}", "${env:A"] {
            assert!(!is_reference(bare), "{bare}");
        }
    }

    #[test]
    fn what_is_written_is_a_valid_plan_in_form() {
        let mut server = Server::stdio("x", vec!["my server".into(), "--flag=1".into()]);
        server.env.insert("API_TOKEN".into(), "hush-hush".into());
        server.env.insert("KEY".into(), "${env:MY_KEY}".into());
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
        assert_eq!(
            set.plans[0].servers[0].env.iter().collect::<Vec<_>>(),
            [(&"KEY".to_owned(), &"${env:MY_KEY}".to_owned())]
        );
        assert!(text.contains("# env: the value of API_TOKEN is not kept; write ${env:NAME}"), "{text}");
        assert_eq!(crate::fmt::format(&text).unwrap(), text);
    }
}
