//! May I? Clients ask a `SelfSubjectAccessReview` before they list, and list less where the answer is no.

use super::{cluster::Inner, record::Recorded, resource::Resource, serve::Answer, status};
use serde_json::{Map, Value, json};

const PATH: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
/// Most bytes of a question.
pub(crate) const MOST: usize = 64 * 1024;

/// Whether this request is such a question.
pub(crate) fn is_one(request: &Recorded) -> bool {
    request.method == "POST" && request.path == PATH
}

/// Yes, unless a request of that kind is planned to be forbidden.
pub(crate) fn answer(inner: &Inner, body: &[u8]) -> Answer {
    // Clients written in Go ask in protobuf, even those that want JSON back.
    let spec = match body.strip_prefix(b"k8s\0") {
        Some(message) => spec_of(message),
        None => serde_json::from_slice::<Value>(body).ok().and_then(|review| review["spec"].as_object().cloned()),
    };
    let Some(spec) = spec else { return status::bad_request("the object provided is unrecognized") };
    let mut told = json!({"allowed": true});
    if inner.forbids(&path(inner, &spec)) {
        told = json!({"allowed": false, "reason": "planned to be forbidden"});
    }
    let review = json!({
        "kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "metadata": {},
        "spec": spec, "status": told
    });
    Answer::json(201, review.to_string())
}

/// Where the request would go that is asked about.
fn path(inner: &Inner, spec: &Map<String, Value>) -> String {
    let objects = inner.objects();
    let text =
        |part: &str, name: &str| spec.get(part).and_then(|part| part[name].as_str()).unwrap_or_default().to_owned();
    let of = |name: &str| text("resourceAttributes", name);
    if !spec.contains_key("resourceAttributes") {
        return text("nonResourceAttributes", "path");
    }
    let is_meant = |resource: &&std::sync::Arc<Resource>| {
        resource.group == of("group")
            && resource.plural == of("resource")
            && ["", "*", &resource.version].contains(&of("version").as_str())
    };
    let version =
        objects.resources.iter().find(is_meant).map_or_else(|| of("version"), |resource| resource.version.clone());
    let root =
        if of("group").is_empty() { format!("/api/{version}") } else { format!("/apis/{}/{version}", of("group")) };
    let place = if of("namespace").is_empty() { String::new() } else { format!("/namespaces/{}", of("namespace")) };
    let end: String =
        [of("name"), of("subresource")].iter().filter(|part| !part.is_empty()).map(|part| format!("/{part}")).collect();
    format!("{root}{place}/{}{end}", of("resource"))
}

/// The question inside of the envelope that Kubernetes puts around protobuf: its second member is the review, whose
/// second member is the question.
fn spec_of(message: &[u8]) -> Option<Map<String, Value>> {
    const RESOURCE: [&str; 7] = ["namespace", "verb", "group", "version", "resource", "subresource", "name"];
    const OTHER: [&str; 2] = ["path", "verb"];
    let inner =
        |message, number| members(message)?.into_iter().find(|(found, _)| *found == number).map(|(_, inner)| inner);
    let mut spec = Map::new();
    for (number, content) in members(inner(inner(message, 2)?, 2)?)? {
        let (part, names): (_, &[&str]) = match number {
            1 => ("resourceAttributes", &RESOURCE),
            2 => ("nonResourceAttributes", &OTHER),
            _ => continue,
        };
        let mut told = Map::new();
        for (number, text) in members(content)? {
            let name = usize::try_from(number).ok().and_then(|number| names.get(number.checked_sub(1)?));
            if let (Some(name), false) = (name, text.is_empty()) {
                told.insert((*name).to_owned(), json!(std::str::from_utf8(text).ok()?));
            }
        }
        spec.insert(part.to_owned(), Value::Object(told));
    }
    Some(spec)
}

/// The members of a protobuf message that have a length; the question has no others that matter.
fn members(mut message: &[u8]) -> Option<Vec<(u64, &[u8])>> {
    let mut found = Vec::new();
    while !message.is_empty() {
        let (tag, rest) = number(message)?;
        let (value, rest) = number(rest)?;
        message = rest;
        match tag & 7 {
            0 => {}
            2 => {
                let (content, rest) = message.split_at_checked(usize::try_from(value).ok()?)?;
                found.push((tag >> 3, content));
                message = rest;
            }
            _ => return None,
        }
    }
    Some(found)
}

fn number(message: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (index, byte) in message.iter().enumerate().take(9) {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((value, &message[index + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_of_a_client_in_go_is_read() {
        let attributes = b"\n\x00\x12\x04list\x1a\x00\"\x02v1*\x04pods2\x00:\x00";
        let wrap = |tag: u8, inner: &[u8]| [&[tag, u8::try_from(inner.len()).unwrap_or(u8::MAX)], inner].concat();
        // Only lengths below 128 are written so.
        assert!(attributes.len() < 100);
        let spec = wrap(0x12, &wrap(0x0a, attributes));
        let message = [&b"\n\x04\n\x00\x12\x00"[..], &wrap(0x12, &spec), b"\x1a\x04\x08\x00\x12\x00"].concat();
        let wanted = json!({"resourceAttributes": {"verb": "list", "version": "v1", "resource": "pods"}});
        assert_eq!(spec_of(&message).map(Value::Object), Some(wanted));
        assert_eq!(spec_of(&message[..20]), None, "one that breaks off is none");
        assert_eq!(spec_of(b"\xff\xff\xff"), None);
    }
}
