//! Pages of objects.

use super::{
    cluster::Inner,
    objects::{Key, Objects, Stored, head},
    resource::Resource,
    route::Form,
    selector::{Field, Labels, fields, selectable},
    serve::Answer,
    status, table,
};
use axum::body::Bytes;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Map, Value, json};
use std::sync::{Arc, PoisonError};

/// What one request wants.
pub(crate) struct Page<'a> {
    pub resource: &'a Arc<Resource>,
    pub namespace: Option<&'a str>,
    /// As it was written.
    pub query: &'a str,
    pub given: &'a [(String, String)],
    pub form: Form,
}

impl Page<'_> {
    fn parameter(&self, name: &str) -> Option<&str> {
        given(self.given, name)
    }
}

/// A parameter that is there and not empty.
pub(crate) fn given<'a>(parameters: &'a [(String, String)], name: &str) -> Option<&'a str> {
    parameters.iter().find(|(key, value)| key == name && !value.is_empty()).map(|(_, value)| value.as_str())
}

/// Which objects are meant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selection {
    namespace: Option<String>,
    labels: Labels,
    fields: Vec<Field>,
}

impl Selection {
    pub(crate) fn of(
        resource: &Resource,
        namespace: Option<&str>,
        parameters: &[(String, String)],
    ) -> Result<Self, Answer> {
        let labels = given(parameters, "labelSelector").unwrap_or_default();
        let labels = Labels::parse(labels).map_err(|message| status::bad_request(&message))?;
        let mut conditions = Vec::new();
        for (_, text) in parameters.iter().filter(|(key, _)| key == "fieldSelector") {
            conditions.extend(fields(text).map_err(|message| status::bad_request(&message))?);
        }
        for condition in &conditions {
            if !selectable(&resource.group, &resource.plural, &condition.path) {
                return Err(status::bad_request(&format!("field label not supported: {}", condition.path)));
            }
        }
        Ok(Self { namespace: namespace.map(str::to_owned), labels, fields: conditions })
    }

    fn is_plain(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    pub(crate) fn takes(&self, key: &Key, stored: &Stored) -> bool {
        if self.namespace.as_ref().is_some_and(|namespace| *namespace != key.0) || !self.labels.matches(&stored.labels)
        {
            return false;
        }
        let mut parsed = None;
        self.fields.iter().all(|condition| {
            let found = match condition.path.as_str() {
                "metadata.name" => key.1.clone(),
                "metadata.namespace" => key.0.clone(),
                path => text_at(parsed.get_or_insert_with(|| stored.value()), path),
            };
            (found == condition.value) != condition.not
        })
    }
}

/// The field as selectors compare it: absent is empty, or false where it is a flag.
fn text_at(value: &Value, path: &str) -> String {
    // Events are selected by the component that reported them under this name.
    let path = if path == "source" { "source.component" } else { path };
    match path.split('.').try_fold(value, |value, step| value.get(step)) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None if matches!(path, "spec.unschedulable" | "spec.hostNetwork") => "false".to_owned(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}

/// A list, or the page of it that is asked for.
pub(crate) fn answer(inner: &Inner, objects: &Arc<Objects>, page: &Page<'_>) -> Answer {
    let key = format!("{:?} {:?} {} {:?}", page.resource.address(), page.namespace, page.query, page.form);
    let kept = |objects: &Objects| {
        let pages = objects.pages.lock().unwrap_or_else(PoisonError::into_inner);
        pages.get(&key).cloned()
    };
    let token = match page.parameter("continue").map(Token::parse).transpose() {
        Ok(token) => token,
        Err(()) => return status::bad_request("continue key is not valid"),
    };
    let objects = match &token {
        None => Arc::clone(objects),
        Some(token) => match inner.at(token.revision) {
            Some(objects) => objects,
            None => return status::expired(),
        },
    };
    if let Some(body) = kept(&objects) {
        return Answer::json(200, body);
    }
    let limit = match page.parameter("limit").map(str::parse::<usize>).transpose() {
        Ok(limit) => limit.filter(|limit| *limit > 0).unwrap_or(usize::MAX),
        Err(_) => return status::bad_request("limit: must be a number"),
    };
    let selection = match Selection::of(page.resource, page.namespace, page.given) {
        Ok(selection) => selection,
        Err(answer) => return answer,
    };
    let body: Bytes = build(&objects, page, &selection, token.as_ref().map(|token| &token.start), limit).into();
    let mut pages = objects.pages.lock().unwrap_or_else(PoisonError::into_inner);
    if pages.len() >= PAGES {
        pages.clear();
    }
    pages.insert(key, body.clone());
    Answer::json(200, body)
}

/// Pages that are kept.
const PAGES: usize = 256;

fn build(objects: &Objects, page: &Page<'_>, selection: &Selection, after: Option<&Key>, limit: usize) -> Vec<u8> {
    let from = match (after, page.namespace) {
        (Some(after), _) => (after.0.clone(), format!("{}\0", after.1)),
        (None, Some(namespace)) => (namespace.to_owned(), String::new()),
        (None, None) => Key::default(),
    };
    let collection = objects.collection(page.resource);
    let all = collection.into_iter().flat_map(|collection| collection.range(from.clone()..));
    let mut meant = all.filter(|(key, stored)| selection.takes(key, stored));
    let taken: Vec<(&Key, &Arc<Stored>)> = meant.by_ref().take(limit).collect();
    let left = meant.count();
    let mut metadata = Map::new();
    metadata.insert("resourceVersion".to_owned(), json!(objects.revision.to_string()));
    if let Some((last, _)) = taken.last().filter(|_| left > 0) {
        let token = Token { revision: objects.revision, start: (*last).clone() };
        metadata.insert("continue".to_owned(), json!(token.text()));
        if selection.is_plain() {
            metadata.insert("remainingItemCount".to_owned(), json!(left));
        }
    }
    let metadata = Value::Object(metadata).to_string();
    match page.form {
        Form::Table => table::list(page.resource, &metadata, &taken, given(page.given, "includeObject")),
        // Of this form the real server's empty list is null.
        Form::Metadata if taken.is_empty() => {
            let head = head("PartialObjectMetadataList", "meta.k8s.io/v1");
            format!("{head}\"metadata\":{metadata},\"items\":null}}").into_bytes()
        }
        Form::Metadata => {
            let mut out = head("PartialObjectMetadataList", "meta.k8s.io/v1").into_bytes();
            write_list(&mut out, &metadata, &taken, |out, stored| {
                out.extend_from_slice(head("PartialObjectMetadata", "meta.k8s.io/v1").as_bytes());
                out.extend_from_slice(b"\"metadata\":");
                out.extend_from_slice(stored.metadata());
                out.push(b'}');
            });
            out
        }
        Form::Object => {
            let size: usize = taken.iter().map(|(_, stored)| stored.json.len() + 80).sum();
            let kind = format!("{}List", page.resource.kind);
            let mut out = Vec::with_capacity(size + 512);
            out.extend_from_slice(head(&kind, &page.resource.api_version()).as_bytes());
            write_list(&mut out, &metadata, &taken, |out, stored| {
                if page.resource.custom {
                    out.extend_from_slice(&stored.typed(page.resource));
                } else {
                    out.extend_from_slice(&stored.json);
                }
            });
            out
        }
    }
}

fn write_list(
    out: &mut Vec<u8>,
    metadata: &str,
    taken: &[(&Key, &Arc<Stored>)],
    mut each: impl FnMut(&mut Vec<u8>, &Stored),
) {
    out.extend_from_slice(b"\"metadata\":");
    out.extend_from_slice(metadata.as_bytes());
    out.extend_from_slice(b",\"items\":[");
    for (index, (_, stored)) in taken.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        each(out, stored);
    }
    out.extend_from_slice(b"]}");
}

/// One object in the form that is asked for.
pub(crate) fn one(resource: &Resource, stored: &Arc<Stored>, form: Form) -> Answer {
    let body = match form {
        Form::Object => stored.typed(resource),
        Form::Metadata => {
            let head = head("PartialObjectMetadata", "meta.k8s.io/v1");
            [head.as_bytes(), b"\"metadata\":", stored.metadata(), b"}"].concat().into()
        }
        Form::Table => {
            let metadata = json!({"resourceVersion": stored.revision.to_string()}).to_string();
            table::list(resource, &metadata, &[(&Key::default(), stored)], None).into()
        }
    };
    Answer::json(200, body)
}

/// What a continue token says.
struct Token {
    revision: u64,
    /// The last key that was given out.
    start: Key,
}

impl Token {
    fn text(&self) -> String {
        URL_SAFE_NO_PAD.encode(json!({"rv": self.revision, "start": [self.start.0, self.start.1]}).to_string())
    }

    fn parse(text: &str) -> Result<Self, ()> {
        let told: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).map_err(|_| ())?).map_err(|_| ())?;
        let part = |index: usize| told["start"][index].as_str().map(str::to_owned).ok_or(());
        Ok(Self { revision: told["rv"].as_u64().ok_or(())?, start: (part(0)?, part(1)?) })
    }
}
