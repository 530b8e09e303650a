//! Which files a project is made of.

use pintle_yaml::Node;

/// A folder in which files of the project are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Path relative to the project.
    pub path: String,
    /// Whether files at any depth are found; otherwise those of its direct folders.
    pub recursive: bool,
}

/// The folders that a `charly.yml` names under `discover`; `box` and `candy` when it names none.
#[must_use]
pub fn places(root: Node<'_>) -> Vec<Place> {
    let Some(discover) = root.get("discover").filter(|node| node.is_sequence()) else {
        return ["box", "candy"].map(|path| Place { path: path.to_owned(), recursive: false }).into();
    };
    let items = discover.items().filter_map(|item| {
        let path = item.get("path").unwrap_or(item).source_text()?.trim_matches('/').to_owned();
        let recursive = item.get("recursive").and_then(Node::as_bool).unwrap_or(false);
        Some(Place { path, recursive })
    });
    items.collect()
}

/// The files of the project that a `charly.yml` imports; imports from elsewhere begin with `@`.
#[must_use]
pub fn local_imports(root: Node<'_>) -> Vec<String> {
    let Some(imports) = root.get("import") else { return Vec::new() };
    let sources = imports.items().flat_map(|item| {
        let named = item.entries().filter_map(|(_, source)| source.source_text());
        named.chain(item.source_text()).collect::<Vec<_>>()
    });
    sources.filter(|source| !source.starts_with('@') && !source.is_empty()).map(str::to_owned).collect()
}

/// Whether a file of that path is found below one of these folders.
#[must_use]
pub fn finds(places: &[Place], file: &str) -> bool {
    places.iter().any(|place| {
        let below = file.strip_prefix(&place.path).and_then(|rest| rest.strip_prefix('/'));
        below.is_some_and(|rest| {
            let depth = rest.split('/').count();
            rest.ends_with("/charly.yml") && (depth == 2 || place.recursive && depth >= 2)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pintle_yaml::{Document, Limits};

    #[test]
    fn folders_and_imports_are_read_from_the_top_file() {
        let document = |text: &str| Document::parse(text, Limits::default()).unwrap();
        let plain = document("version: 2026.100.0000\n");
        assert!(finds(&places(plain.root()), "candy/web/charly.yml"));
        assert!(!finds(&places(plain.root()), "candy/deep/web/charly.yml"));
        let named = document(
            "discover: [{path: layers/, recursive: true}, extra]\nimport: [lib: '@x/y:v1', own: lib.yml, more.yml]\n",
        );
        let found = places(named.root());
        assert!(finds(&found, "layers/deep/web/charly.yml") && finds(&found, "extra/web/charly.yml"));
        assert!(!finds(&found, "candy/web/charly.yml") && !finds(&found, "layers/charly.yml"));
        assert_eq!(local_imports(named.root()), ["lib.yml", "more.yml"]);
    }
}
