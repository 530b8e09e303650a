//! The list of tools, and pages of lists.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use pintle_dispatch::{Catalog, Listed};
use rmcp::{
    ErrorData,
    model::{JsonObject, Tool, ToolAnnotations},
};
use serde_json::Value;
use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

/// The tools as the protocol shows them; each made once, when it is first looked at, the same for every session.
pub(crate) struct Tools {
    output_schemas: bool,
    names: Vec<String>,
    made: HashMap<String, OnceLock<Tool>>,
}

impl Tools {
    pub(crate) fn new(catalog: &Catalog, output_schemas: bool) -> Self {
        let names: Vec<String> = catalog.names().collect();
        let made = names.iter().map(|name| (name.clone(), OnceLock::new())).collect();
        Self { output_schemas, names, made }
    }

    pub(crate) fn all(&self, catalog: &Catalog) -> Vec<Tool> {
        self.names.iter().filter_map(|name| self.get(catalog, name)).cloned().collect()
    }

    pub(crate) fn get(&self, catalog: &Catalog, name: &str) -> Option<&Tool> {
        let made = self.made.get(name)?;
        if let Some(tool) = made.get() {
            return Some(tool);
        }
        let tool = shown(catalog.listed_as(name)?, self.output_schemas);
        Some(made.get_or_init(|| tool))
    }
}

fn shown(listed: &Listed, output_schemas: bool) -> Tool {
    let object = |schema: &Value| -> Arc<JsonObject> { Arc::new(schema.as_object().cloned().unwrap_or_default()) };
    let hints = ToolAnnotations::new()
        .read_only(listed.hints.read_only_hint)
        .destructive(listed.hints.destructive_hint)
        .idempotent(listed.hints.idempotent_hint)
        .open_world(listed.hints.open_world_hint);
    let tool =
        Tool::new(listed.name.clone(), listed.description.clone(), object(&listed.input)).with_annotations(hints);
    if output_schemas { tool.with_raw_output_schema(object(&listed.output)) } else { tool }
}

/// One page of a list, and the cursor of the next.
///
/// # Errors
/// `-32602` when the cursor is not one of this list's.
pub(crate) fn page<T: Clone>(
    kind: &str,
    all: &[T],
    cursor: Option<&str>,
    size: Option<usize>,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    // Clients that fill every field send an empty cursor for the first page.
    let from = match cursor {
        None | Some("") => 0,
        Some(cursor) => opened(kind, cursor).filter(|from| *from <= all.len()).ok_or_else(|| {
            ErrorData::invalid_params(format!("`cursor` is not one of {kind}; list again without it"), None)
        })?,
    };
    let to = size.map_or(all.len(), |size| (from + size.max(1)).min(all.len()));
    let next = (to < all.len()).then(|| URL_SAFE_NO_PAD.encode(format!("{kind} {to}")));
    Ok((all[from..to].to_vec(), next))
}

fn opened(kind: &str, cursor: &str) -> Option<usize> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
    std::str::from_utf8(&bytes).ok()?.strip_prefix(kind)?.strip_prefix(' ')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_follow_each_other_and_foreign_cursors_are_refused() {
        let all = [1, 2, 3, 4, 5];
        let (first, next) = page("tools/list", &all, None, Some(2)).unwrap();
        assert_eq!(first, [1, 2]);
        let (second, next) = page("tools/list", &all, next.as_deref(), Some(2)).unwrap();
        assert_eq!(second, [3, 4]);
        let cursor = next.unwrap();
        assert_eq!(page("tools/list", &all, Some(&cursor), Some(2)).unwrap(), (vec![5], None));
        assert_eq!(page("prompts/list", &all, Some(&cursor), None).unwrap_err().code.0, -32602);
        assert_eq!(page("tools/list", &all, Some("x"), None).unwrap_err().code.0, -32602);
        assert_eq!(page("tools/list", &all, Some(""), None).unwrap(), (all.to_vec(), None), "one page by default");
    }
}
