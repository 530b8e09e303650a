//! What of an object must not leave: values of Secrets, of environments, of members named like secrets.
//!
//! Where a value is surely a secret, the call's redactor learns it too, so that copies of it are masked wherever else
//! they appear in the answer. A value of a Secret shows as a hash with a key of this process: equal values look
//! equal, and nothing can be guessed from it later.

use base64::{Engine, engine::general_purpose::STANDARD};
use pintle_core::{Call, Digest};
use serde_json::{Map, Value};
use std::{
    hash::{BuildHasher, Hasher, RandomState},
    sync::OnceLock,
};

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Takes out of an object, or of a list of them, what must not leave, and what nobody reads (`managedFields`).
pub(crate) fn hide(object: &mut Value, call: &Call) {
    let Some(map) = object.as_object_mut() else { return };
    if let Some(Value::Array(items)) = map.get_mut("items") {
        items.iter_mut().for_each(|item| hide(item, call));
    }
    if let Some(Value::Object(metadata)) = map.get_mut("metadata") {
        metadata.shift_remove("managedFields");
        if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
            annotations.shift_remove(LAST_APPLIED);
            // An annotation is anything: a whole object that somebody applied, a login for a registry.
            for (name, value) in annotations.iter_mut() {
                if value.as_str().is_some_and(|text| text.trim_start().starts_with(['{', '['])) {
                    *value = Value::String("‹JSON, not shown›".to_owned());
                } else if tells_secret(name) {
                    mask(value, name, call);
                }
            }
        }
    }
    let kind = map.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    let is_secret = kind == "Secret" || (kind.is_empty() && map.contains_key("stringData"));
    let owner = map.get("metadata").map(|metadata| &metadata["labels"]["owner"]);
    let of_helm = kind == "ConfigMap" && owner.is_some_and(|owner| owner == "helm");
    for member in ["data", "stringData", "binaryData"] {
        let Some(Value::Object(data)) = map.get_mut(member) else { continue };
        for (name, value) in data.iter_mut() {
            if is_secret {
                hash(value, name, member == "data", call);
            } else if of_helm || (kind == "ConfigMap" && tells_secret(name)) {
                mask(value, name, call);
            }
        }
    }
    for (name, value) in map.iter_mut() {
        if !matches!(name.as_str(), "metadata" | "data" | "stringData" | "binaryData" | "items") {
            inside(value, call);
        }
    }
}

/// Whether a name says that its value is a secret.
pub(crate) fn tells_secret(name: &str) -> bool {
    const ENDS: [&str; 14] = [
        "password",
        "passwd",
        "passphrase",
        "pwd",
        "token",
        "apikey",
        "secret",
        "secretkey",
        "privatekey",
        "accesskey",
        "credential",
        "credentials",
        "dockerconfigjson",
        "connectionstring",
    ];
    let folded: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    ENDS.iter().any(|end| folded.ends_with(end))
}

/// Walks through everything else.
fn inside(value: &mut Value, call: &Call) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| inside(item, call)),
        Value::Object(map) => {
            for (name, member) in map.iter_mut() {
                match member {
                    Value::Array(variables) if name == "env" => {
                        variables.iter_mut().filter_map(Value::as_object_mut).for_each(|one| variable(one, call));
                    }
                    Value::Array(words) if name == "args" || name == "command" => arguments(words, call),
                    Value::String(text) if !text.is_empty() && tells_secret(name) => mask(member, name, call),
                    other => inside(other, call),
                }
            }
        }
        _ => {}
    }
}

/// A variable of an environment: its literal value is never shown, and is a secret where its name says so.
fn variable(variable: &mut Map<String, Value>, call: &Call) {
    let name = variable.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let Some(value) = variable.get_mut("value") else { return };
    if value.as_str().is_none_or(str::is_empty) {
        return;
    }
    if tells_secret(&name) {
        mask(value, &name, call);
    } else {
        *value = Value::String("‹value›".to_owned());
    }
}

/// `--password=x`, `--token x`.
fn arguments(words: &mut [Value], call: &Call) {
    let mut next = None;
    for word in words {
        let Some(text) = word.as_str().map(str::to_owned) else { continue };
        if let Some(name) = next.take() {
            mask(word, name, call);
            continue;
        }
        match text.split_once('=') {
            Some((name, value)) if tells_secret(name) && !value.is_empty() => {
                let secret = call.secret(name.trim_start_matches('-'), value);
                *word = Value::String(format!("{name}={secret}"));
            }
            None if text.starts_with('-') && tells_secret(&text) => next = Some("argument"),
            _ => {}
        }
    }
}

fn mask(value: &mut Value, name: &str, call: &Call) {
    if let Some(text) = value.as_str() {
        *value = Value::String(call.secret(name, text).to_string());
    }
}

/// A value of a Secret: how many bytes, and a hash that only this process can make.
fn hash(value: &mut Value, name: &str, encoded: bool, call: &Call) {
    let Some(text) = value.as_str() else { return };
    let raw = call.secret(name, text);
    let bytes = if encoded { STANDARD.decode(text.trim()).ok() } else { None };
    let bytes = bytes.unwrap_or_else(|| raw.expose().as_bytes().to_vec());
    if let Ok(plain) = std::str::from_utf8(&bytes) {
        drop(call.secret(name, plain));
    }
    let digest = Digest::of_parts([key().as_slice(), bytes.as_slice()]);
    *value = Value::String(format!("‹secret, {} bytes, hash {}›", bytes.len(), &digest.as_str()[..12]));
}

fn key() -> &'static [u8; 16] {
    static KEY: OnceLock<[u8; 16]> = OnceLock::new();
    KEY.get_or_init(|| {
        // Seeded by the operating system, new in each process.
        let half = || RandomState::new().build_hasher().finish().to_ne_bytes();
        let mut key = [0; 16];
        key[..8].copy_from_slice(&half());
        key[8..].copy_from_slice(&half());
        key
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const CANARY: &str = "canary-81f2c6";

    fn hidden(mut value: Value) -> String {
        hide(&mut value, &Call::detached());
        value.to_string()
    }

    #[test]
    fn an_6_13_secrets_are_hidden_wherever_they_stand() {
        let encoded = STANDARD.encode(CANARY);
        let objects = [
            json!({"kind": "Secret", "data": {"any": encoded}, "stringData": {"b": CANARY}}),
            json!({"kind": "Secret", "metadata": {"annotations": {LAST_APPLIED: format!("{{\"data\":\"{CANARY}\"}}")}}}),
            json!({"kind": "ConfigMap", "data": {"db-password": CANARY}}),
            json!({"kind": "ConfigMap", "metadata": {"labels": {"owner": "helm"}}, "data": {"release": CANARY}}),
            json!({"kind": "Pod", "spec": {"containers": [{"env": [{"name": "PLAIN", "value": CANARY}],
                "args": ["--db-password", CANARY, format!("--token={CANARY}")]}]}}),
            json!({"kind": "Crate", "spec": {"auth": {"apiKey": CANARY}}}),
            json!({"kind": "SecretList", "items": [{"kind": "Secret", "data": {"a": encoded}}]}),
        ];
        for object in objects {
            let text = hidden(object.clone());
            assert!(!text.contains(CANARY) && !text.contains(&encoded), "{object} -> {text}");
        }
    }

    #[test]
    fn equal_secrets_look_equal_and_what_is_no_secret_stays() {
        let mut secret = json!({"kind": "Secret", "data": {"a": "YWJj", "b": "YWJj", "c": "eHl6"}});
        hide(&mut secret, &Call::detached());
        assert!(secret["data"]["a"] == secret["data"]["b"] && secret["data"]["a"] != secret["data"]["c"]);
        assert!(secret["data"]["a"].as_str().unwrap().starts_with("‹secret, 3 bytes, hash "));
        let plain = json!({"kind": "Pod", "spec": {"secretName": "tls", "containers": [
            {"image": "web", "args": ["--port=80"], "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]}]}});
        assert_eq!(hidden(plain.clone()), plain.to_string());
    }
}
