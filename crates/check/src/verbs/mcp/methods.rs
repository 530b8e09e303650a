//! The methods, each from its answer to plain text.

use pintle_client::{CallOptions, Era, Error, List, Session};
use serde_json::{Value, json};

use super::{Asks, Method, output, raw, snapshot};
use crate::json::placed;
use crate::matchers;
use crate::registry::Snapshot;
use crate::verbs::{Observation, Scene};

/// The declared servers: no dial.
pub(super) fn servers(asks: &Asks, snapshot: &Snapshot) -> Observation {
    let mut seen = Observation {
        stdout: snapshot.servers.iter().map(output::server).collect(),
        result: Some(json!({
            "servers": snapshot.servers.iter().map(|server| json!({
                "name": server.name,
                "transport": server.transport_word(),
            })).collect::<Vec<_>>()
        })),
        ..Observation::default()
    };
    counted(asks, snapshot.servers.len(), &mut seen);
    seen
}

/// What a request is about, for messages: the tool, resource or prompt.
pub(super) fn about(asks: &Asks) -> String {
    match (asks.method, &asks.uri, &asks.prompt) {
        (Method::Call, ..) => format!("tool \"{}\"", asks.tool),
        (Method::Read | Method::Complete, Some(uri), _) => format!("resource \"{uri}\""),
        (Method::GetPrompt | Method::Complete, _, Some(prompt)) => format!("prompt \"{prompt}\""),
        _ => String::new(),
    }
}

/// Asks a server.
pub(super) async fn ask(
    asks: &Asks,
    session: &Session,
    options: &CallOptions,
    scene: &Scene<'_>,
) -> Result<Observation, Error> {
    match asks.method {
        Method::Ping => {
            let method = if *session.era() == Era::Modern { "server/discover" } else { "ping" };
            let result = session.request(method, None, options).await?;
            Ok(text("ok\n".into(), result))
        }
        Method::ListTools => list(asks, session, List::Tools, output::described, options).await.map(|mut seen| {
            forbidden(asks, &mut seen);
            seen
        }),
        Method::ListResources => list(asks, session, List::Resources, output::resource, options).await,
        Method::ListPrompts => list(asks, session, List::Prompts, output::described, options).await,
        Method::ListTemplates => list(asks, session, List::ResourceTemplates, output::template, options).await,
        Method::Call => {
            let result = session.call_tool(&asks.tool, asks.input.clone(), options).await?;
            Ok(called(asks, result))
        }
        Method::Read => {
            let result = session.read_resource(asks.uri.as_deref().unwrap_or_default(), options).await?;
            Ok(text(output::contents(&result), result))
        }
        Method::GetPrompt => {
            let name = asks.prompt.as_deref().unwrap_or_default();
            let result = session.get_prompt(name, asks.input.clone(), options).await?;
            Ok(text(output::messages(&result), result))
        }
        Method::Complete => {
            let reference = match &asks.prompt {
                Some(name) => json!({"type": "ref/prompt", "name": name}),
                None => json!({"type": "ref/resource", "uri": asks.uri}),
            };
            let argument = json!({"name": asks.argument.0, "value": asks.argument.1});
            let result = session.complete(reference, argument, asks.input.clone(), options).await?;
            Ok(text(output::completions(&result), result))
        }
        Method::Snapshot => snapshot::compare(asks, session, options, scene.snapshot).await,
        Method::Raw => match &asks.raw {
            Some(raw) => raw::exchange(raw, session, scene).await,
            None => Ok(Observation::unable("mcp: raw has nothing to send")),
        },
        Method::Servers => Ok(servers(asks, scene.snapshot)),
    }
}

fn text(stdout: String, result: Value) -> Observation {
    Observation { stdout, result: Some(result), ..Observation::default() }
}

async fn list(
    asks: &Asks,
    session: &Session,
    list: List,
    line: fn(&Value) -> String,
    options: &CallOptions,
) -> Result<Observation, Error> {
    let items = session.list(list, options).await?;
    let mut seen = Observation { stdout: items.iter().map(line).collect(), ..Observation::default() };
    counted(asks, items.len(), &mut seen);
    let member = match list {
        List::Tools => "tools",
        List::Resources => "resources",
        List::ResourceTemplates => "resourceTemplates",
        List::Prompts => "prompts",
    };
    seen.result = Some(json!({ member: items }));
    Ok(seen)
}

fn counted(asks: &Asks, count: usize, seen: &mut Observation) {
    seen.mismatches.extend(matchers::check_all(&asks.count, "count", &count.to_string()));
}

/// Tools that must not be there.
fn forbidden(asks: &Asks, seen: &mut Observation) {
    let names: Vec<&str> = seen
        .result
        .iter()
        .flat_map(|result| result["tools"].as_array().into_iter().flatten())
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    let found: Vec<_> = asks.not_tools.iter().filter(|(name, _)| names.contains(&name.as_str())).collect();
    let mismatches = found.into_iter().map(|(name, place)| {
        placed(*place, "tools", "not_contains", Value::from(name.as_str()), Some(Value::from(name.as_str())))
    });
    let mismatches: Vec<_> = mismatches.collect();
    seen.mismatches.extend(mismatches);
}

/// A tool's answer; one that says it failed is a failure with its text.
fn called(asks: &Asks, result: Value) -> Observation {
    let stdout = output::content(&result);
    if result.get("isError").and_then(Value::as_bool) != Some(true) {
        return text(stdout, result);
    }
    let shown = stdout.trim_end().to_owned();
    let why = if shown.is_empty() { "without saying why".to_owned() } else { shown.clone() };
    Observation {
        failure: Some(format!("request tools/call: tool \"{}\" failed: {}", asks.tool, crate::text::cut(&why))),
        tool_error: Some(shown),
        stderr: stdout.clone(),
        exit_status: 1,
        ..text(stdout, result)
    }
}
