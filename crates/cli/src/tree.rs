//! From words to a tool: `box.add-candy` is `box add-candy`, `find_pod_issues` is `find-pod-issues`.

use pintle_core::{Spec, nearest, schema::FOR_PEOPLE};
use std::collections::BTreeMap;

/// The words of a tool's command: its own wish, else its name cut at the dots, with dashes for underscores.
pub(crate) fn words_of(spec: &Spec) -> Vec<String> {
    match spec.input[FOR_PEOPLE]["command"].as_str() {
        Some(words) => words.split_whitespace().map(str::to_owned).collect(),
        None => words_of_name(&spec.name),
    }
}

fn words_of_name(name: &str) -> Vec<String> {
    name.split('.').filter(|word| !word.is_empty()).map(|word| word.replace('_', "-")).collect()
}

/// Tools by the words of their commands.
#[derive(Debug, Default)]
pub(crate) struct Node {
    pub(crate) children: BTreeMap<String, Node>,
    /// Index of the tool that these words name.
    pub(crate) tool: Option<usize>,
    /// Index of the tool that is meant when no child is named.
    pub(crate) default: Option<usize>,
    /// Reached by an older name only, and so not listed.
    pub(crate) old: bool,
}

impl Node {
    /// The tree of these tools.
    pub(crate) fn of(specs: &[&Spec]) -> Self {
        let mut root = Self::default();
        for (index, spec) in specs.iter().enumerate() {
            let node = root.path(&words_of(spec));
            node.tool = Some(index);
            if spec.input[FOR_PEOPLE]["default"] == true
                && let Some((_, above)) = words_of(spec).split_last()
            {
                root.path(above).default = Some(index);
            }
        }
        for (index, spec) in specs.iter().enumerate() {
            // A tool whose command is called otherwise answers to its name, too.
            root.old_path(&words_of_name(&spec.name), index);
            for alias in spec.aliases {
                root.old_path(&words_of_name(alias), index);
            }
        }
        root
    }

    fn path(&mut self, words: &[String]) -> &mut Self {
        words.iter().fold(self, |node, word| node.children.entry(word.clone()).or_default())
    }

    fn old_path(&mut self, words: &[String], tool: usize) {
        let mut node = self;
        for word in words {
            node = node.children.entry(word.clone()).or_insert_with(|| Self { old: true, ..Self::default() });
        }
        if node.tool.is_none() {
            node.tool = Some(tool);
        }
    }

    /// The child of that word, underscores and dashes being the same.
    pub(crate) fn child(&self, word: &str) -> Option<(&str, &Self)> {
        self.children
            .get_key_value(word)
            .or_else(|| self.children.get_key_value(&word.replace('_', "-")))
            .map(|(name, node)| (name.as_str(), node))
    }

    /// The child that was probably meant.
    pub(crate) fn near(&self, word: &str) -> Option<&str> {
        nearest(word, self.listed().map(|(name, _)| name))
    }

    /// The children that are listed.
    pub(crate) fn listed(&self) -> impl Iterator<Item = (&str, &Self)> {
        self.children.iter().filter(|(_, node)| !node.old).map(|(name, node)| (name.as_str(), node))
    }
}
