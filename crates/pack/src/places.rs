//! What the placeholders of a pack stand for in one call.

use crate::{
    files::{Root, setting},
    load::Loaded,
    mounts::Mounts,
    surroundings::Surroundings,
};
use pintle_core::{Code, Failure};
use pintle_packfile::{Arguments, Template};
use std::{collections::BTreeMap, path::PathBuf};

/// What the placeholders of a pack stand for in one call.
pub(crate) struct Places<'a> {
    loaded: &'a Loaded,
    arguments: &'a Arguments,
    root: Root,
    home: Option<String>,
}

impl<'a> Places<'a> {
    pub(crate) fn new(loaded: &'a Loaded, arguments: &'a Arguments, surroundings: &Surroundings) -> Self {
        let root = surroundings.root_of(&loaded.pack.program);
        Self { loaded, arguments, root, home: surroundings.home() }
    }

    /// The text with everything filled in; none where an option is absent.
    ///
    /// # Errors
    /// Code `invalid` when the program's configuration has a value that fits nowhere.
    pub(crate) fn fill(&self, template: &Template) -> Result<Option<String>, Failure> {
        let mut values = BTreeMap::new();
        for name in template.names() {
            if let Some(value) = self.value(name)? {
                values.insert(name, value);
            }
        }
        Ok(template.fill(|name| values.get(name).cloned()))
    }

    fn value(&self, name: &str) -> Result<Option<String>, Failure> {
        let Some(source) = self.loaded.pack.values.get(name) else {
            let home = || self.home.clone().filter(|_| name == "home");
            return Ok(self.arguments.text(name).or_else(home));
        };
        let Some((value, file)) = setting(&self.root, &source.files, &source.key) else {
            return Ok(Some(source.default.clone()));
        };
        let refused = |why: String| {
            Err(Failure::new(Code::Invalid, format!("`{file}`: {why}"))
                .hint(format!("what was meant by `{}` cannot be told, so nothing is done", source.key)))
        };
        match value.as_str() {
            None => refused(format!("the value at `{}` is not a text", source.key)),
            Some(text) if source.pattern.as_ref().is_some_and(|pattern| !pattern.is_match(text)) => {
                refused(format!("`{text}` is no value for `{}`", source.key))
            }
            Some(text) => Ok(Some(text.to_owned())),
        }
    }

    /// A path as that system names it, and where it lies here. The home is that of whoever runs this: it is never
    /// another system's.
    ///
    /// # Errors
    /// As [`fill`](Self::fill); also for a path that is not absolute, or goes up.
    pub(crate) fn path(&self, template: &Template) -> Result<Option<(String, PathBuf)>, Failure> {
        let Some(text) = self.fill(template)? else { return Ok(None) };
        if !crate::files::is_plain_folder(&text) {
            return Err(Failure::new(
                Code::Invalid,
                format!("`{text}`, which `{template}` means here, is no plain path"),
            ));
        }
        let real =
            if template.names().any(|name| name == "home") { text.clone().into() } else { self.root.real(&text) };
        Ok(Some((text, real)))
    }

    /// What is mounted at a folder or below.
    ///
    /// # Errors
    /// As [`path`](Self::path), and when the kernel's table cannot be read.
    pub(crate) fn mounts(&self, folder: &Template) -> Result<Mounts, Failure> {
        let Some((text, _)) = self.path(folder)? else { return Ok(Mounts::default()) };
        let all = Mounts::read(self.root.folder()).map_err(|error| Failure::io("reading what is mounted", &error))?;
        Ok(all.below(&self.root.names_of(text)))
    }

    /// Where the system of the pack begins.
    pub(crate) fn root(&self) -> &Root {
        &self.root
    }
}
