//! What a path and method ask for.

use super::{objects::Objects, resource::Resource};
use std::sync::Arc;

/// A request in the server's own terms.
#[derive(Clone, Debug, Default)]
pub(crate) struct Access {
    pub path: String,
    /// `get`, `list`, `watch`, or the method in lower case.
    pub verb: String,
    /// Group and version of an API path.
    pub api: Option<(String, String)>,
    pub resource: Option<Arc<Resource>>,
    pub namespace: Option<String>,
    pub name: Option<String>,
    pub subresource: Option<String>,
}

impl Access {
    pub(crate) fn of(method: &str, path: &str, watch: bool, objects: &Objects) -> Self {
        let mut access = Self { path: path.to_owned(), verb: method.to_lowercase(), ..Self::default() };
        let segments: Vec<String> = path.split('/').filter(|s| !s.is_empty()).map(decoded).collect();
        let (api, rest) = match segments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["api", version, ..] => ((String::new(), version.to_owned()), &segments[2..]),
            ["apis", group, version, ..] => ((group.to_owned(), version.to_owned()), &segments[3..]),
            _ => return access,
        };
        let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
        let (namespace, rest) = match rest[..] {
            // `namespaces/x/status` and `namespaces/x/finalize` are about the namespace itself.
            ["namespaces", namespace, inner, ..] if !matches!(inner, "status" | "finalize") => {
                (Some(namespace.to_owned()), &rest[2..])
            }
            _ => (None, &rest[..]),
        };
        access.namespace = namespace;
        if let Some(plural) = rest.first() {
            access.resource = objects.resource(&api.0, &api.1, plural);
        }
        access.name = rest.get(1).map(|&name| name.to_owned());
        access.subresource = (rest.len() > 2).then(|| rest[2..].join("/"));
        if method == "GET" {
            access.verb = match (watch, &access.name) {
                (true, _) => "watch",
                (false, None) if !rest.is_empty() => "list",
                _ => "get",
            }
            .to_owned();
        } else if let Some(verb) = verb_of(method, access.name.is_some()) {
            verb.clone_into(&mut access.verb);
        }
        access.api = Some(api);
        access
    }
}

fn verb_of(method: &str, named: bool) -> Option<&'static str> {
    Some(match (method, named) {
        ("POST", _) => "create",
        ("PUT", _) => "update",
        ("PATCH", _) => "patch",
        ("DELETE", true) => "delete",
        ("DELETE", false) => "deletecollection",
        _ => return None,
    })
}

/// A path segment with its escapes undone.
pub(crate) fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escape = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match escape.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The pairs of a query, escapes undone.
pub(crate) fn parameters(query: &str) -> Vec<(String, String)> {
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(&key.replace('+', " ")), decoded(&value.replace('+', " ")))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_apart_as_the_real_server_does() {
        let objects = Objects::new();
        let told = |method: &str, path: &str| {
            let access = Access::of(method, path, false, &objects);
            let kind = access.resource.as_ref().map_or_else(String::new, |resource| resource.qualified());
            let empty = String::new;
            format!(
                "{} {kind} {} {} {}",
                access.verb,
                access.namespace.unwrap_or_else(empty),
                access.name.unwrap_or_else(empty),
                access.subresource.unwrap_or_else(empty)
            )
        };
        assert_eq!(told("GET", "/api/v1/pods"), "list pods   ");
        assert_eq!(told("GET", "/api/v1/namespaces"), "list namespaces   ");
        assert_eq!(told("GET", "/api/v1/namespaces/a"), "get namespaces  a ");
        assert_eq!(told("PUT", "/api/v1/namespaces/a/finalize"), "update namespaces  a finalize");
        assert_eq!(told("GET", "/api/v1/namespaces/a/pods"), "list pods a  ");
        assert_eq!(told("GET", "/api/v1/namespaces/a/pods/p%2Fq/log"), "get pods a p/q log");
        assert_eq!(told("PATCH", "/apis/apps/v1/namespaces/a/deployments/d"), "patch deployments.apps a d ");
        assert_eq!(told("GET", "/version"), "get    ");
        assert_eq!(told("GET", "/apis/apps/v1"), "get    ");
        assert_eq!(
            parameters("labelSelector=a%20in+%28b%29&watch"),
            [("labelSelector".to_owned(), "a in (b)".to_owned()), ("watch".to_owned(), String::new())]
        );
    }
}
