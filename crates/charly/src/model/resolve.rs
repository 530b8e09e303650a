//! What a box comes to when its candies and theirs are put together.

use super::{
    fields::FORMATS,
    names,
    nodes::{Entity, EntityKind, Model},
    shapes::STATUSES,
};
use pintle_yaml::Node;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// The names in the list of candies of an entity, under `candy` or `require`, with their nodes.
pub fn listed<'a>(entity: &Entity<'a>, field: &str) -> Vec<(Node<'a>, &'a str)> {
    let lists = entity.places(field);
    lists.iter().flat_map(|found| found.value.items()).filter_map(|item| Some((item, item.source_text()?))).collect()
}

/// What a candy needs before itself: requirements, then what it is composed of.
fn needed<'a>(candy: &Entity<'a>) -> Vec<&'a str> {
    let all = listed(candy, "require").into_iter().chain(listed(candy, "candy"));
    all.map(|(_, name)| name).collect()
}

/// The candies of a box in the order in which they are installed: each once, what it needs before it. Candies of other
/// repositories stand under their reference.
#[must_use]
pub fn order<'a>(model: &Model<'a>, owner: &Entity<'a>) -> Vec<&'a str> {
    let mut order = Vec::new();
    let mut seen = HashSet::new();
    for (_, name) in listed(owner, "candy") {
        visit(model, name, &mut seen, &mut order);
    }
    order
}

fn visit<'a>(model: &Model<'a>, name: &'a str, seen: &mut HashSet<&'a str>, order: &mut Vec<&'a str>) {
    if !seen.insert(name) {
        return;
    }
    if let Some(candy) = model.get(EntityKind::Candy, name) {
        for need in needed(candy) {
            visit(model, need, seen, order);
        }
    }
    order.push(name);
}

/// A way from a candy back to itself, if there is one: the names on it.
#[must_use]
pub fn candy_cycle<'a>(model: &Model<'a>, start: &Entity<'a>) -> Option<Vec<&'a str>> {
    let next = |name: &str| model.get(EntityKind::Candy, name).map(needed).unwrap_or_default();
    cycle(start.name, next)
}

/// A way from a box back to itself over `base`, if there is one.
#[must_use]
pub fn base_cycle<'a>(model: &Model<'a>, start: &Entity<'a>) -> Option<Vec<&'a str>> {
    let next = |name: &str| {
        let base = model.get(EntityKind::Box, name).and_then(|owner| owner.field("base")?.source_text());
        base.into_iter().collect()
    };
    cycle(start.name, next)
}

fn cycle<'a>(start: &'a str, next: impl Fn(&str) -> Vec<&'a str>) -> Option<Vec<&'a str>> {
    let mut ways = vec![vec![start]];
    let mut seen = HashSet::new();
    while let Some(way) = ways.pop() {
        for name in next(way.last().copied().unwrap_or(start)) {
            let longer: Vec<_> = way.iter().copied().chain([name]).collect();
            if name == start {
                return Some(longer);
            }
            if seen.insert(name) {
                ways.push(longer);
            }
        }
    }
    None
}

/// The status of a box: the worst of its own and its candies'; testing when none is known.
#[must_use]
pub fn status(model: &Model<'_>, owner: &Entity<'_>) -> &'static str {
    let of = |entity: &Entity<'_>| {
        let text = entity.field("status").and_then(Node::source_text);
        text.map_or(Some(1), |text| STATUSES.iter().position(|status| *status == text))
    };
    let own = owner.field("status").and_then(|_| of(owner));
    let candies = order(model, owner);
    let candies = candies.iter().filter_map(|name| model.get(EntityKind::Candy, name)).filter_map(of);
    candies.chain(own).max().map_or("testing", |rung| STATUSES[rung])
}

/// The resolved box as one JSON object: what it is built from, and its fields with those of its candies merged in.
#[must_use]
pub fn inspect(model: &Model<'_>, owner: &Entity<'_>, defaults: Option<Node<'_>>) -> Map<String, Value> {
    let order = order(model, owner);
    let candies: Vec<&Entity<'_>> = order.iter().filter_map(|name| model.get(EntityKind::Candy, name)).collect();
    let text = |field: &str| owner.field(field).and_then(Node::source_text).map(|text| Value::from(text.trim()));
    let default = |field: &str| owner.field(field).or_else(|| defaults?.get(field)).map(Node::to_json);
    let mut box_ = Map::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value.filter(|value| !is_empty(value)) {
            box_.insert(key.to_owned(), value);
        }
    };
    put("name", Some(owner.name.into()));
    put("base", text("base"));
    put("from", text("from"));
    box_.insert("candy".to_owned(), order.iter().copied().map(Value::from).collect());
    box_.insert("packages".to_owned(), Value::Object(packages(&candies)));
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value.filter(|value| !is_empty(value)) {
            box_.insert(key.to_owned(), value);
        }
    };
    put("description", text("description"));
    put("version", text("version"));
    put("status", Some(status(model, owner).into()));
    put("file", Some(owner.file.into()));
    for field in ["registry", "tag", "platform", "build"] {
        put(field, default(field));
    }
    for field in ["distro", "user", "uid", "gid", "network", "init", "enabled", "alias", "merge", "security"] {
        put(field, owner.field(field).map(Node::to_json));
    }
    let with_own: Vec<&Entity<'_>> = candies.iter().copied().chain([owner]).collect();
    for field in ["env", "env_provide"] {
        put(field, Some(Value::Object(environment(&with_own, field))));
    }
    for field in ["path_append", "port", "volume", "service", "mcp_provide", "mcp_require", "mcp_accept"] {
        put(field, Some(Value::Array(merged(&with_own, field))));
    }
    for field in ["env_require", "env_accept", "secret_require", "secret_accept"] {
        put(field, Some(Value::Array(merged(&with_own, field))));
    }
    let steps: usize = with_own.iter().map(|entity| entity.steps().count()).sum();
    put("steps", Some(steps.into()));
    box_
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

/// Packages by format, in the order of the candies, each once.
fn packages(candies: &[&Entity<'_>]) -> Map<String, Value> {
    let mut all = Map::new();
    for format in FORMATS {
        let mut names: Vec<Value> = Vec::new();
        for candy in candies {
            let sections = candy.places(format);
            let lists =
                sections.iter().filter_map(|found| found.value.get("packages").or_else(|| found.value.get("package")));
            let own = lists.flat_map(Node::items).chain(of_distro(candy, format));
            for name in own.filter_map(Node::source_text) {
                if !names.iter().any(|known| known == name) {
                    names.push(name.into());
                }
            }
        }
        if !names.is_empty() {
            all.insert(format.to_owned(), names.into());
        }
    }
    all
}

/// Packages that a candy lists by distribution instead of by format.
fn of_distro<'a>(candy: &Entity<'a>, format: &str) -> Vec<Node<'a>> {
    let mut found = Vec::new();
    for place in candy.places("distro") {
        for (tag, value) in place.value.entries() {
            let tags = tag.key_text();
            let list = if format == "aur" { value.get("aur").filter(|_| is_of(tags, "aur")) } else { Some(value) };
            let Some(list) = list.filter(|_| is_of(tags, format)) else { continue };
            let names =
                if list.is_sequence() { Some(list) } else { list.get("package").or_else(|| list.get("packages")) };
            found.extend(names.into_iter().flat_map(Node::items));
        }
    }
    found
}

/// Whether a tag of a `distro` map, which may name several distributions, uses a package format.
#[must_use]
pub fn is_of(tags: &str, format: &str) -> bool {
    let families: &[&str] = match format {
        "rpm" => &["fedora", "rhel", "centos", "rocky", "alma", "opensuse"],
        "deb" => &["debian", "ubuntu"],
        _ => &["arch", "archlinux", "manjaro"],
    };
    tags.split(',')
        .map(str::trim)
        .any(|tag| families.iter().any(|family| tag == *family || tag.starts_with(&format!("{family}:"))))
}

/// Variables, later entities over earlier ones.
fn environment(entities: &[&Entity<'_>], field: &str) -> Map<String, Value> {
    let mut all = Map::new();
    for entity in entities {
        for found in entity.places(field) {
            for (key, value) in found.value.entries() {
                all.insert(key.key_text().to_owned(), value.source_text().unwrap_or_default().into());
            }
            for line in found.value.items().filter_map(Node::source_text) {
                let (key, value) = line.split_once('=').unwrap_or((line, ""));
                all.insert(key.to_owned(), value.into());
            }
        }
    }
    all
}

/// Items of lists, in the order of the entities, each once.
fn merged(entities: &[&Entity<'_>], field: &str) -> Vec<Value> {
    let mut all = Vec::new();
    for entity in entities {
        for found in entity.places(field) {
            let items: Vec<Value> = if found.value.is_sequence() {
                found.value.items().map(Node::to_json).collect()
            } else {
                vec![found.value.to_json()]
            };
            for item in items.into_iter().filter(|item| !item.is_null()) {
                if !all.contains(&item) {
                    all.push(item);
                }
            }
        }
    }
    all
}

/// Whether a name in a list of candies is known: a candy of the project, or one of another repository.
#[must_use]
pub fn is_known(model: &Model<'_>, name: &str) -> bool {
    names::is_remote(name) || model.get(EntityKind::Candy, name).is_some()
}
