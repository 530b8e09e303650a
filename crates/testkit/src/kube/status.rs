//! Answers that are not objects: a `Status` with the code, reason and words that the real server has for it.

use super::{access::Access, resource::Resource, serve::Answer};
use serde_json::{Map, Value, json};

/// A `Status` of kind `Failure`.
pub(crate) fn failure(
    code: u16,
    reason: &str,
    message: &str,
    details: impl Into<Option<Map<String, Value>>>,
) -> Answer {
    let mut status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason
    });
    if let Some(details) = details.into() {
        status["details"] = Value::Object(details);
    }
    status["code"] = json!(code);
    Answer::json(code, status.to_string())
}

/// The same without details.
pub(crate) fn plain(code: u16, reason: &str, message: &str) -> Answer {
    failure(code, reason, message, None)
}

fn details(resource: &Resource, name: &str) -> Map<String, Value> {
    let mut details = Map::new();
    if !name.is_empty() {
        details.insert("name".to_owned(), json!(name));
    }
    if !resource.group.is_empty() {
        details.insert("group".to_owned(), json!(resource.group));
    }
    details.insert("kind".to_owned(), json!(resource.plural));
    details
}

/// An object that is not there.
pub(crate) fn not_found(resource: &Resource, name: &str) -> Answer {
    let message = format!("{} \"{name}\" not found", resource.qualified());
    failure(404, "NotFound", &message, details(resource, name))
}

/// A resource type or subresource that is not there.
pub(crate) fn no_such_resource() -> Answer {
    failure(404, "NotFound", "the server could not find the requested resource", Map::new())
}

/// A path that nobody serves.
pub(crate) fn no_such_path() -> Answer {
    Answer::text(404, "404 page not found\n")
}

pub(crate) fn bad_request(message: &str) -> Answer {
    plain(400, "BadRequest", message)
}

pub(crate) fn unauthorized() -> Answer {
    plain(401, "Unauthorized", "Unauthorized")
}

/// A continue token or revision that is too old.
pub(crate) fn expired() -> Answer {
    plain(410, "Expired", "the provided continue parameter is too old to display a consistent list result")
}

pub(crate) fn too_many(retry_after: u64) -> Answer {
    let mut details = Map::new();
    details.insert("retryAfterSeconds".to_owned(), json!(retry_after));
    let answer = failure(429, "TooManyRequests", "too many requests, please try again later", details);
    answer.header("retry-after", retry_after.to_string())
}

/// Who asked may not do that; the path may be of no object at all.
pub(crate) fn forbidden(access: &Access, user: &str) -> Answer {
    let Some(resource) = access.resource.as_deref() else {
        let message = format!("forbidden: User \"{user}\" cannot {} path \"{}\"", access.verb, access.path);
        return plain(403, "Forbidden", &message);
    };
    let plural = match &access.subresource {
        Some(subresource) => format!("{}/{subresource}", resource.plural),
        None => resource.plural.clone(),
    };
    let subject = match &access.name {
        Some(name) => format!("{} \"{name}\"", resource.qualified()),
        None => resource.qualified(),
    };
    let place = match &access.namespace {
        Some(namespace) => format!("in the namespace \"{namespace}\""),
        None => "at the cluster scope".to_owned(),
    };
    let message = format!(
        "{subject} is forbidden: User \"{user}\" cannot {} resource \"{plural}\" in API group \"{}\" {place}",
        access.verb, resource.group
    );
    failure(403, "Forbidden", &message, details(resource, access.name.as_deref().unwrap_or_default()))
}

/// Writes are not served.
pub(crate) fn read_only() -> Answer {
    plain(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
}
