//! Which kinds there are: in one piece (v2), and in the older many.

use super::{
    objects::Objects,
    resource::{Address, Resource},
    serve::Answer,
    status,
};
use serde_json::{Map, Value, json};
use std::sync::{Arc, PoisonError};

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

fn aggregated(accept: &str) -> bool {
    accept.split(',').any(|clause| {
        let has = |word: &str| clause.split(';').any(|part| part.trim() == word);
        has("as=APIGroupDiscoveryList") && has("v=v2") && has("g=apidiscovery.k8s.io")
    })
}

/// `/api`.
pub(crate) fn core(objects: &Objects, accept: &str) -> Answer {
    if aggregated(accept) {
        return in_one_piece(objects, "api", |resource| resource.group.is_empty());
    }
    let told = json!({
        "kind": "APIVersions", "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443"}]
    });
    Answer::json(200, told.to_string())
}

/// `/apis`.
pub(crate) fn groups(objects: &Objects, accept: &str) -> Answer {
    if aggregated(accept) {
        return in_one_piece(objects, "apis", |resource| !resource.group.is_empty());
    }
    let groups: Vec<Value> =
        names(objects).into_iter().filter(|name| !name.is_empty()).map(|name| group_of(objects, &name)).collect();
    Answer::json(200, json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}).to_string())
}

/// `/apis/GROUP`.
pub(crate) fn group(objects: &Objects, name: &str) -> Answer {
    if !objects.resources.iter().any(|resource| resource.group == name) {
        return status::no_such_path();
    }
    let mut told = Map::new();
    told.insert("kind".to_owned(), json!("APIGroup"));
    told.insert("apiVersion".to_owned(), json!("v1"));
    if let Value::Object(group) = group_of(objects, name) {
        told.extend(group);
    }
    Answer::json(200, Value::Object(told).to_string())
}

/// `/api/v1`, `/apis/GROUP/VERSION`.
pub(crate) fn resources(objects: &Objects, group: &str, version: &str) -> Answer {
    let mine: Vec<&Arc<Resource>> =
        objects.resources.iter().filter(|r| r.group == group && r.version == version).collect();
    if mine.is_empty() {
        return status::no_such_path();
    }
    let mut told = Vec::new();
    for resource in mine {
        let mut one = json!({
            "name": resource.plural, "singularName": resource.singular(), "namespaced": resource.namespaced,
            "kind": resource.kind, "verbs": resource.verbs
        });
        if !resource.short.is_empty() {
            one["shortNames"] = json!(resource.short);
        }
        if !resource.categories.is_empty() {
            one["categories"] = json!(resource.categories);
        }
        told.push(one);
        told.extend(resource.subresources.iter().map(|name| {
            json!({
                "name": format!("{}/{name}", resource.plural), "singularName": "", "namespaced": resource.namespaced,
                "kind": resource.kind, "verbs": ["get"]
            })
        }));
    }
    let group_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    let list = json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": told});
    Answer::json(200, list.to_string())
}

/// Names of the groups, in the order in which they were defined.
fn names(objects: &Objects) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for resource in &objects.resources {
        if !names.contains(&resource.group) {
            names.push(resource.group.clone());
        }
    }
    names
}

fn versions<'a>(objects: &'a Objects, group: &str) -> Vec<&'a str> {
    let mut versions: Vec<&str> = Vec::new();
    for resource in objects.resources.iter().filter(|resource| resource.group == group) {
        if !versions.contains(&resource.version.as_str()) {
            versions.push(&resource.version);
        }
    }
    versions
}

fn group_of(objects: &Objects, name: &str) -> Value {
    let told: Vec<Value> = versions(objects, name)
        .into_iter()
        .map(|version| json!({"groupVersion": format!("{name}/{version}"), "version": version}))
        .collect();
    json!({"name": name, "preferredVersion": told.first(), "versions": told})
}

fn in_one_piece(objects: &Objects, part: &str, mine: impl Fn(&Resource) -> bool) -> Answer {
    let mut pages = objects.pages.lock().unwrap_or_else(PoisonError::into_inner);
    let body = pages.entry(format!("discovery of {part}")).or_insert_with(|| {
        let items: Vec<Value> = names(objects)
            .into_iter()
            .filter_map(|name| {
                let inside: Vec<&Resource> =
                    objects.resources.iter().map(Arc::as_ref).filter(|r| r.group == name && mine(r)).collect();
                (!inside.is_empty()).then(|| whole_group(objects, &name, &inside))
            })
            .collect();
        json!({
            "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items
        })
        .to_string()
        .into()
    });
    Answer::new(200, AGGREGATED, body.clone())
}

fn whole_group(objects: &Objects, name: &str, inside: &[&Resource]) -> Value {
    let versions: Vec<Value> = versions(objects, name)
        .into_iter()
        .map(|version| {
            let resources: Vec<Value> =
                inside.iter().filter(|resource| resource.version == version).map(|resource| whole(resource)).collect();
            json!({"version": version, "resources": resources, "freshness": "Current"})
        })
        .collect();
    let metadata = if name.is_empty() { json!({}) } else { json!({"name": name}) };
    json!({"metadata": metadata, "versions": versions})
}

fn whole(resource: &Resource) -> Value {
    let (group, version, _): Address = resource.address();
    let kind = json!({"group": group, "version": version, "kind": resource.kind});
    let mut told = json!({
        "resource": resource.plural, "responseKind": kind,
        "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": resource.singular(), "verbs": resource.verbs
    });
    if !resource.short.is_empty() {
        told["shortNames"] = json!(resource.short);
    }
    if !resource.categories.is_empty() {
        told["categories"] = json!(resource.categories);
    }
    if !resource.subresources.is_empty() {
        let one = |name: &String| json!({"subresource": name, "responseKind": kind, "verbs": ["get"]});
        told["subresources"] = resource.subresources.iter().map(one).collect();
    }
    told
}
