//! Secrets written into environment variables in clear. Their values are looked at, and never leave this file.

use super::Look;
use crate::rules::finding::{Finding, Severity};

/// Parts of names whose values are secrets.
const NAMES: [&str; 12] = [
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "SECRET",
    "TOKEN",
    "API_KEY",
    "APIKEY",
    "ACCESS_KEY",
    "PRIVATE_KEY",
    "CREDENTIAL",
    "AUTH_KEY",
    "CONNECTION_STRING",
];

/// Ends of names that say that the value is no secret but the way to one.
const HARMLESS_ENDS: [&str; 13] = [
    "_FILE",
    "_PATH",
    "_DIR",
    "_NAME",
    "_URL",
    "_URI",
    "_ENDPOINT",
    "_TTL",
    "_TIMEOUT",
    "_EXPIRY",
    "_ENABLED",
    "_LENGTH",
    "_ID",
];

/// Literal values in `env`; what comes by reference from a Secret is as it should be.
pub(super) fn check(look: &Look<'_>, found: &mut Vec<Finding>) {
    for c in look.containers() {
        for variable in c.env {
            let Some(value) = variable.value.as_deref() else { continue };
            if let Some(why) = is_secret(&variable.name, value) {
                found.push(
                    look.find(
                        "security/secret-in-env",
                        Severity::High,
                        format!("has a secret in clear in its environment: {why}"),
                    )
                    .in_container(c.name)
                    .shown_by(c.path(&format!("env[{}].value", variable.name)), "set; not shown")
                    .next("move it to a Secret, and name it by valueFrom.secretKeyRef; then change it"),
                );
            }
        }
    }
}

/// Why a variable looks like a secret; none when it does not.
fn is_secret(name: &str, value: &str) -> Option<&'static str> {
    let value = value.trim();
    if let Some(why) = by_value(value) {
        return Some(why);
    }
    let upper = name.to_ascii_uppercase();
    let named = NAMES.iter().any(|part| upper.contains(part)) && !HARMLESS_ENDS.iter().any(|end| upper.ends_with(end));
    let plain = value.len() < 4
        || value.contains("$(")
        || value.starts_with('/')
        || value.bytes().all(|b| b.is_ascii_digit())
        || matches!(value.to_ascii_lowercase().as_str(), "true" | "false" | "none" | "null" | "disabled" | "enabled");
    (named && !plain).then_some("its name says so")
}

fn by_value(value: &str) -> Option<&'static str> {
    let long = |prefix: &str, least: usize| value.starts_with(prefix) && value.len() >= least;
    if value.contains("-----BEGIN") && value.contains("PRIVATE KEY-----") {
        Some("a private key")
    } else if (long("AKIA", 20) || long("ASIA", 20)) && value.len() == 20 {
        Some("an AWS access key")
    } else if long("ghp_", 30) || long("github_pat_", 30) || long("glpat-", 20) {
        Some("a token of a code host")
    } else if long("xoxb-", 20) || long("xoxp-", 20) {
        Some("a Slack token")
    } else if long("eyJ", 60) && value.matches('.').count() == 2 {
        Some("a JSON Web Token")
    } else if has_credentials(value) {
        Some("a URL with a password")
    } else {
        None
    }
}

/// `scheme://user:password@host`, with a password that is not itself a reference.
fn has_credentials(value: &str) -> bool {
    let Some((_, rest)) = value.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
    let Some((user_info, _)) = authority.rsplit_once('@') else { return false };
    user_info.split_once(':').is_some_and(|(_, password)| !password.is_empty() && !password.starts_with('$'))
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use serde_json::json;

    #[test]
    fn an_2_2_extended_secrets_in_env_are_found_and_their_values_never_shown() {
        for (name, value) in [
            ("DB_PASSWORD", "canary-in-clear"),
            ("api_token", "canary-in-clear"),
            ("AWS_KEY", "AKIACANARYCANARY0000"),
            ("DATABASE", "postgres://app:canary-in-clear@db/app"),
            ("KEY", "-----BEGIN RSA PRIVATE KEY-----\ncanary\n-----END RSA PRIVATE KEY-----"),
        ] {
            let found = examine_spec(json!({"containers": [{"name": "a", "env": [{"name": name, "value": value}]}]}));
            assert_eq!(with_id(&found, "security/secret-in-env").len(), 1, "{name}");
            let text = format!("{found:?}").to_lowercase();
            assert!(!text.contains("canary"), "{text}");
        }
    }

    #[test]
    fn an_2_2_extended_harmless_variables_are_left_alone() {
        for (name, value) in [
            ("PASSWORD_FILE", "/run/secrets/db"),
            ("TOKEN_TTL", "3600s"),
            ("USE_TOKEN", "true"),
            ("SECRET_NAME", "db-credentials"),
            ("DB_PASSWORD", "$(OTHER)"),
            ("MAX_TOKENS", "4096"),
            ("DATABASE", "postgres://db/app"),
            ("MODE", "production"),
            ("DB_PASSWORD", ""),
        ] {
            assert_eq!(is_secret(name, value), None, "{name}={value}");
        }
        let by_reference = json!({"name": "DB_PASSWORD", "valueFrom": {"secretKeyRef": {"name": "db", "key": "p"}}});
        let found = examine_spec(json!({"containers": [{"name": "a", "env": [by_reference]}]}));
        assert!(with_id(&found, "security/secret-in-env").is_empty());
    }
}
