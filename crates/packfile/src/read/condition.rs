//! `match` and `given`: when a rule holds.

use indexmap::IndexMap;
use serde_json::Value;

use super::fields::{Fields, Node, bare, plain};
use crate::{Condition, Kind, OptionDef, suggest::did_you_mean};

/// Reads `match` (a table, or a list of tables of which one must hold) and `given`.
pub(super) fn read(fields: &Fields, options: &IndexMap<String, OptionDef>) -> Condition {
    let tables = match fields.take("match") {
        Some(node) if matches!(node.value, toml::de::DeValue::Array(_)) => fields.tables("match"),
        Some(node) => fields.as_table(node, "match").into_iter().collect(),
        None => Vec::new(),
    };
    let any = tables.iter().map(|table| equalities(table, options)).collect();
    let given = fields.texts("given").unwrap_or_default();
    for name in given.iter().filter(|name| !options.contains_key(&name.value)) {
        let hint = did_you_mean(&name.value, options.keys().map(String::as_str));
        fields.report.add(name.at, format!("no option `{}`", name.value), hint);
    }
    let condition = Condition { any, given: bare(given) };
    if condition.options().next().is_none() {
        fields.report.add(fields.at(), "the condition asks nothing", Some("give `match` or `given`".into()));
    }
    condition
}

fn equalities(table: &Fields, options: &IndexMap<String, OptionDef>) -> IndexMap<String, Value> {
    let mut all = IndexMap::new();
    for (name, node) in table.named() {
        let Some(option) = options.get(name.value) else {
            let hint = did_you_mean(name.value, options.keys().map(String::as_str));
            table.report.add(name.at, format!("no option `{}`", name.value), hint);
            all.insert(name.value.to_owned(), Value::Null);
            continue;
        };
        all.insert(name.value.to_owned(), fitting(table, node, option).unwrap_or_default());
    }
    all
}

/// A value that the option could have.
pub(super) fn fitting(fields: &Fields, node: Node, option: &OptionDef) -> Option<Value> {
    let value = plain(node);
    let fits = match (&value, option.kind) {
        (Some(Value::Bool(_)), Kind::Boolean) | (Some(Value::Number(_)), Kind::Integer | Kind::Count) => true,
        (Some(Value::String(text)), Kind::String) => option.allowed.is_empty() || option.allowed.contains(text),
        (Some(Value::Array(_)), Kind::Strings) => true,
        _ => false,
    };
    if !fits {
        fields.report.add(node.at, format!("option `{}` cannot have this value", option.name), None);
    }
    value.filter(|_| fits)
}
