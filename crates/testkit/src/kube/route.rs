//! From a request to its right answer.

use super::{
    access::{Access, parameters},
    cluster::Inner,
    discovery, health, list, logs,
    record::Recorded,
    serve::Answer,
    status, watch,
};
use std::sync::Arc;

/// In which form objects are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    Object,
    /// Columns as a person sees them.
    Table,
    /// Names and labels only.
    Metadata,
}

impl Form {
    fn of(accept: &str) -> Self {
        let wanted = |clause: &str| {
            let has = |word: &str| clause.split(';').any(|part| part.trim() == word);
            if has("as=Table") {
                Some(Self::Table)
            } else if has("as=PartialObjectMetadataList") || has("as=PartialObjectMetadata") {
                Some(Self::Metadata)
            } else {
                None
            }
        };
        accept.split(',').find_map(wanted).unwrap_or(Self::Object)
    }
}

pub(crate) fn watches(request: &Recorded) -> bool {
    matches!(request.parameter("watch").as_deref(), Some("true" | "1"))
}

/// The answer when nothing goes wrong.
pub(crate) fn answer(inner: &Arc<Inner>, request: &Recorded) -> Answer {
    let objects = inner.objects();
    let segments: Vec<&str> = request.path.split('/').filter(|segment| !segment.is_empty()).collect();
    let accept = request.header("accept").unwrap_or_default();
    let given = parameters(&request.query);
    let has = |name: &str| given.iter().any(|(key, _)| key == name);
    if let [endpoint @ ("readyz" | "livez" | "healthz"), check @ ..] = segments.as_slice() {
        let check = (!check.is_empty()).then(|| check.join("/"));
        return health::health(endpoint, check.as_deref(), has("verbose"), &objects)
            .unwrap_or_else(status::no_such_path);
    }
    match segments.as_slice() {
        ["version"] => return health::version(&objects),
        ["api"] => return discovery::core(&objects, accept),
        ["apis"] => return discovery::groups(&objects, accept),
        ["apis", group] => return discovery::group(&objects, group),
        ["api", version] => return discovery::resources(&objects, "", version),
        ["apis", group, version] => return discovery::resources(&objects, group, version),
        _ => {}
    }
    let access = Access::of(&request.method, &request.path, watches(request), &objects);
    let Some((group, version)) = &access.api else { return status::no_such_path() };
    let Some(resource) = &access.resource else {
        let known = objects.resources.iter().any(|r| r.group == *group && r.version == *version);
        return if known { status::no_such_resource() } else { status::no_such_path() };
    };
    if request.method != "GET" {
        return status::read_only();
    }
    if !resource.verbs.contains(&access.verb) {
        return status::read_only();
    }
    let form = Form::of(accept);
    let namespace = access.namespace.as_deref();
    let Some(name) = &access.name else {
        return if access.verb == "watch" {
            watch::answer(inner, resource, namespace, &given)
        } else {
            let page = list::Page { resource, namespace, query: &request.query, given: &given, form };
            list::answer(inner, &objects, &page)
        };
    };
    if access.verb == "watch" {
        let mut given = given;
        given.push(("fieldSelector".to_owned(), format!("metadata.name={name}")));
        return watch::answer(inner, resource, namespace, &given);
    }
    let key = (namespace.unwrap_or_default().to_owned(), name.clone());
    let stored = objects.collection(resource).and_then(|collection| collection.get(&key));
    let Some(stored) = stored else { return status::not_found(resource, name) };
    match access.subresource.as_deref() {
        None | Some("status") => list::one(resource, stored, form),
        Some("log") if resource.plural == "pods" => logs::answer(&objects, &key.0, name, stored, &given),
        Some(_) => status::no_such_resource(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_form_that_is_known_counts() {
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
        assert_eq!(Form::of(table), Form::Table);
        assert_eq!(Form::of("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"), Form::Metadata);
        assert_eq!(Form::of("application/vnd.kubernetes.protobuf, application/json"), Form::Object);
    }
}
