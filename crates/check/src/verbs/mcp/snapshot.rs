//! `mcp: snapshot`: what a server lists, compared with a file.

use pintle_client::{CallOptions, Error, List, Session};
use serde_json::{Map, Value, json};
use similar::TextDiff;

use super::Asks;
use crate::json::placed;
use crate::registry::Snapshot;
use crate::verbs::Observation;

/// Everything that a server lists, in an order of its own: what was moved has not changed.
pub(crate) async fn catalogue(session: &Session, options: &CallOptions) -> Result<Value, Error> {
    let mut all = Map::new();
    for (member, list, capability, name) in [
        ("tools", List::Tools, "tools", "name"),
        ("prompts", List::Prompts, "prompts", "name"),
        ("resources", List::Resources, "resources", "uri"),
        ("resourceTemplates", List::ResourceTemplates, "resources", "uriTemplate"),
    ] {
        if session.server().capabilities.get(capability).is_none_or(Value::is_null) {
            continue;
        }
        let mut items = match session.list(list, options).await {
            Ok(items) => items,
            // Many servers with resources know no templates.
            Err(error) if list == List::ResourceTemplates && error.rpc().is_some_and(|e| e.code == -32601) => {
                continue;
            }
            Err(error) => return Err(error),
        };
        items.iter_mut().for_each(settle);
        items.sort_by(|a, b| a[name].as_str().cmp(&b[name].as_str()));
        all.insert(member.to_owned(), Value::Array(items));
    }
    Ok(Value::Object(all))
}

/// Members in order, without what may differ from call to call.
fn settle(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.remove("_meta");
            members.sort_keys();
            members.values_mut().for_each(settle);
        }
        Value::Array(items) => items.iter_mut().for_each(settle),
        _ => {}
    }
}

/// The diff of two texts, three lines of context; empty when they are equal.
fn diff(stored: &str, now: &str, file: &str) -> String {
    if stored == now {
        return String::new();
    }
    TextDiff::from_lines(stored, now).unified_diff().context_radius(3).header(file, "server").to_string()
}

pub(super) async fn compare(
    asks: &Asks,
    session: &Session,
    options: &CallOptions,
    snapshot: &Snapshot,
) -> Result<Observation, Error> {
    let catalogue = catalogue(session, options).await?;
    let now = serde_json::to_string_pretty(&catalogue).unwrap_or_default() + "\n";
    let path = snapshot.directory.join(&asks.snapshot);
    let mut seen = Observation { result: Some(catalogue), ..Observation::default() };
    if snapshot.update {
        if std::fs::read_to_string(&path).ok().as_deref() != Some(now.as_str()) {
            match std::fs::write(&path, &now) {
                Ok(()) => seen.warnings.push(format!("snapshot {} was written", asks.snapshot)),
                Err(error) => return Ok(Observation::unable(format!("snapshot {}: {error}", asks.snapshot))),
            }
        }
        return Ok(seen);
    }
    let stored = match std::fs::read_to_string(&path) {
        Ok(stored) => stored,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let why = format!("snapshot {} is not there yet; update snapshots to write it", asks.snapshot);
            return Ok(Observation { stdout: now, ..Observation::failed(why) });
        }
        Err(error) => return Ok(Observation::unable(format!("snapshot {}: {error}", asks.snapshot))),
    };
    let difference = diff(&stored, &now, &asks.snapshot);
    if !difference.is_empty() {
        let why = format!("snapshot {}: the server lists something else", asks.snapshot);
        seen.mismatches.push(placed(asks.snapshot_place, "catalogue", "snapshot", json!(stored), Some(json!(now))));
        seen.stderr = format!("{why}\n{difference}");
        seen.stdout = difference;
        seen.failure = Some(why);
        seen.exit_status = 1;
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cw_48_a_difference_is_shown_and_order_is_none() {
        let mut a = json!({"b": 1, "a": {"d": [{"_meta": 1, "z": 1, "y": 2}], "c": 3}});
        settle(&mut a);
        assert_eq!(a.to_string(), r#"{"a":{"c":3,"d":[{"y":2,"z":1}]},"b":1}"#);
        assert_eq!(diff("x\n", "x\n", "f"), "");
        let shown = diff("a\nb\nc\n", "a\nB\nc\n", "tools.json");
        assert!(shown.contains("-b\n+B\n"), "{shown}");
        assert!(shown.starts_with("--- tools.json\n+++ server\n"), "{shown}");
    }
}
