//! The seed's command tree: which of its 190 leaves exist, and which of them are marked as mutating.

use pintle_core::{BoxFuture, Call, Gate, Output, Spec, Stop, Tool, Toolset};
use serde_json::Value;
use std::sync::Arc;

/// One leaf of the seed's command tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Its name, such as `box.add-candy`.
    pub name: &'static str,
    /// Whether the seed marks it as mutating.
    pub mutating: bool,
    /// What it really does, in the letters that `leaves.txt` explains.
    pub effect: &'static str,
    /// What it needs, from 1 (nothing) to 4.
    pub tier: u8,
}

/// The golden list, sorted by name.
pub fn all() -> impl Iterator<Item = Leaf> {
    include_str!("../leaves.txt").lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut words = line.split_whitespace();
        let (name, mutating, effect) = (words.next()?, words.next()? == "D", words.next()?);
        Some(Leaf { name, mutating, effect, tier: words.next()?.parse().ok()? })
    })
}

/// Leaves of the golden list that `toolset` does not have yet.
#[must_use]
pub fn missing(toolset: &Toolset) -> Vec<&'static str> {
    let has = |name: &str| toolset.tools.iter().any(|tool| tool.spec().name == name);
    all().map(|leaf| leaf.name).filter(|name| !has(name)).collect()
}

/// The 63 leaves that a server with `--read-only` leaves out, and that carry the destructive hint elsewhere.
pub const MUTATING: [&str; 63] = [
    "alias.add",
    "alias.install",
    "alias.remove",
    "alias.uninstall",
    "box.add-candy",
    "box.build",
    "box.merge",
    "box.new.box",
    "box.new.candy",
    "box.new.project",
    "box.refresh",
    "box.rm-candy",
    "box.set",
    "box.write",
    "candy.add-aur",
    "candy.add-deb",
    "candy.add-pac",
    "candy.add-rpm",
    "candy.set",
    "cmd",
    "config.mount",
    "config.passwd",
    "config.remove",
    "config.setup",
    "config.unmount",
    "deploy.import",
    "deploy.reset",
    "record.cmd",
    "record.start",
    "record.stop",
    "remove",
    "secrets.delete",
    "secrets.gpg.add-recipient",
    "secrets.gpg.edit",
    "secrets.gpg.encrypt",
    "secrets.gpg.import-key",
    "secrets.gpg.set",
    "secrets.gpg.setup",
    "secrets.gpg.unset",
    "secrets.import",
    "secrets.init",
    "secrets.set",
    "service.restart",
    "service.start",
    "service.stop",
    "settings.migrate-secrets",
    "settings.reset",
    "settings.set",
    "shell",
    "start",
    "stop",
    "tmux.cmd",
    "tmux.kill",
    "tmux.run",
    "tmux.send",
    "udev.install",
    "udev.remove",
    "update",
    "vm.build",
    "vm.create",
    "vm.destroy",
    "vm.start",
    "vm.stop",
];

/// A tool with its mark.
pub(crate) fn marked(tool: Arc<dyn Tool>) -> Arc<dyn Tool> {
    let mut spec = tool.spec().clone();
    spec.mutating = Some(MUTATING.contains(&spec.name.as_str()));
    Arc::new(Marked { spec, tool })
}

struct Marked {
    spec: Spec,
    tool: Arc<dyn Tool>,
}

impl Tool for Marked {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn call<'a>(&'a self, arguments: Value, gate: &'a dyn Gate, call: &'a Call) -> BoxFuture<'a, Result<Output, Stop>> {
        self.tool.call(arguments, gate, call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn ch_127_ch_132_cw_11_every_leaf_is_classified_and_no_mark_is_stale() {
        let leaves: Vec<_> = all().collect();
        assert_eq!(leaves.len(), 190);
        assert!(leaves.is_sorted_by(|a, b| a.name < b.name), "sorted, each once");
        let marked: Vec<_> = leaves.iter().filter(|leaf| leaf.mutating).map(|leaf| leaf.name).collect();
        assert_eq!(marked, MUTATING);
        assert_eq!(leaves.len() - marked.len(), 127);
        for leaf in &leaves {
            assert!(leaf.effect.chars().all(|c| "RwWuXSI".contains(c)), "{leaf:?}");
            assert!((1..=4).contains(&leaf.tier), "{leaf:?}");
            assert!(!(leaf.mutating && leaf.effect == "R"), "{} is marked but changes nothing", leaf.name);
        }
        assert_eq!(leaves.iter().filter(|leaf| leaf.effect == "R").count(), 62);
        let tiers = leaves.iter().fold(BTreeMap::new(), |mut tiers, leaf| {
            *tiers.entry(leaf.tier).or_insert(0) += 1;
            tiers
        });
        assert_eq!(tiers.into_values().collect::<Vec<_>>(), [57, 19, 83, 31]);
    }

    #[test]
    fn ch_128_the_marks_are_the_families_of_the_seed() {
        let families: [(&str, &[&str]); 13] = [
            (
                "",
                &[
                    "remove",
                    "stop",
                    "start",
                    "update",
                    "cmd",
                    "shell",
                    "service.start",
                    "service.stop",
                    "service.restart",
                ],
            ),
            ("config.", &["setup", "mount", "unmount", "passwd", "remove"]),
            ("secrets.", &["set", "delete", "import", "init"]),
            ("secrets.gpg.", &["setup", "set", "unset", "edit", "encrypt", "add-recipient", "import-key"]),
            ("deploy.", &["import", "reset"]),
            (
                "box.",
                &[
                    "build",
                    "merge",
                    "new.candy",
                    "new.project",
                    "new.box",
                    "set",
                    "add-candy",
                    "rm-candy",
                    "refresh",
                    "write",
                ],
            ),
            ("candy.", &["set", "add-rpm", "add-deb", "add-pac", "add-aur"]),
            ("vm.", &["create", "destroy", "start", "stop", "build"]),
            ("udev.", &["install", "remove"]),
            ("alias.", &["install", "uninstall", "add", "remove"]),
            ("record.", &["start", "stop", "cmd"]),
            ("tmux.", &["kill", "run", "send", "cmd"]),
            ("settings.", &["set", "reset", "migrate-secrets"]),
        ];
        let mut named: Vec<String> = families
            .iter()
            .flat_map(|(prefix, leaves)| leaves.iter().map(move |leaf| format!("{prefix}{leaf}")))
            .collect();
        named.sort();
        assert_eq!(named, MUTATING);
    }
}
