//! Reading the files of a project.

use super::{Inside, PROJECT_FILE, Project, folder::Stored};
use crate::model::{
    Source,
    layout::{Place, finds, local_imports, places},
};
use pintle_core::{Code, Failure, Problem};
use std::{collections::BTreeSet, fs, io};

/// Most files of one project.
const FILES: usize = 5000;
/// Deepest folder that is looked into.
const DEPTH: usize = 8;

impl Project {
    /// Reads a file of the project; `None` when it is not there.
    ///
    /// # Errors
    /// When a link leads out, or it cannot be read.
    pub fn read(&self, inside: &Inside) -> Result<Option<Stored>, Failure> {
        self.folder.read(&self.folder.locate(inside)?)
    }

    /// Files in the folder where `inside` would be, for a hint.
    pub(crate) fn beside(&self, inside: &Inside) -> Vec<String> {
        let (folder, _) = inside.as_str().rsplit_once('/').unwrap_or(("", inside.as_str()));
        // A hint is worth no failure of its own.
        let entries = fs::read_dir(self.path().join(folder)).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.map(|name| if folder.is_empty() { name } else { format!("{folder}/{name}") }).collect()
    }

    /// Every YAML file that the project is made of, `charly.yml` first.
    ///
    /// # Errors
    /// When `charly.yml` or a folder cannot be read. What is wrong with another file is told with that file.
    pub fn sources(&self) -> Result<Vec<Source>, Failure> {
        self.sources_with(None)
    }

    /// The same as it would be if a file held other bytes.
    ///
    /// # Errors
    /// As [`sources`](Self::sources).
    pub fn sources_with(&self, changed: Option<(&str, &[u8])>) -> Result<Vec<Source>, Failure> {
        let bytes = |file: &str| changed.and_then(|(path, bytes)| (path == file).then_some(bytes));
        let main = match bytes(PROJECT_FILE) {
            Some(bytes) => Source::new(PROJECT_FILE, bytes),
            None => {
                let stored = self.read(&Inside::of(PROJECT_FILE))?;
                Source::new(PROJECT_FILE, &stored.map(|stored| stored.bytes).unwrap_or_default())
            }
        };
        let mut files = BTreeSet::new();
        let empty = Source::new(PROJECT_FILE, b"");
        // A file that does not parse names no folders, so the usual ones count.
        let Ok(tree) = main.tree.as_ref().or(empty.tree.as_ref()) else { return Ok(vec![main]) };
        let places = places(tree.root());
        for place in &places {
            self.find(place, &mut files)?;
        }
        let imports = local_imports(tree.root());
        files.extend(imports.iter().filter_map(|file| Some(Inside::parse("import", file).ok()?.as_str().to_owned())));
        files.extend(changed.map(|(file, _)| file.to_owned()).filter(|file| finds(&places, file)));
        files.remove(PROJECT_FILE);
        let others: Vec<_> = files
            .iter()
            .map(|file| match bytes(file) {
                Some(bytes) => Source::new(file, bytes),
                None => self.source(file),
            })
            .collect();
        Ok(std::iter::once(main).chain(others).collect())
    }

    fn source(&self, file: &str) -> Source {
        let unreadable = |message: String| {
            let problem = Problem::new(message).at(file, 1, 1);
            Source { file: file.to_owned(), tree: Err(vec![problem]) }
        };
        match self.read(&Inside::of(file)) {
            Ok(Some(stored)) => Source::new(file, &stored.bytes),
            Ok(None) => unreadable(format!("the imported file `{file}` is not there")),
            Err(failure) => unreadable(failure.message),
        }
    }

    fn find(&self, place: &Place, files: &mut BTreeSet<String>) -> Result<(), Failure> {
        let Ok(inside) = Inside::parse("discover", &place.path) else { return Ok(()) };
        let top = self.path().join(inside.as_str());
        let mut folders = vec![(top, inside.as_str().to_owned(), 0)];
        while let Some((folder, relative, depth)) = folders.pop() {
            let told = |error: &io::Error| Failure::io(format!("reading the folder `{relative}`"), error);
            let entries = match fs::read_dir(&folder) {
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                    continue;
                }
                entries => entries.map_err(|error| told(&error))?,
            };
            for entry in entries {
                let entry = entry.map_err(|error| told(&error))?;
                let Ok(name) = entry.file_name().into_string() else { continue };
                if name.starts_with('.') {
                    continue;
                }
                let path = entry.path();
                let below = format!("{relative}/{name}");
                let file = format!("{below}/{PROJECT_FILE}");
                // Links are followed when the file is read, as far as they stay within the project.
                if finds(std::slice::from_ref(place), &file) && path.join(PROJECT_FILE).symlink_metadata().is_ok() {
                    files.insert(file);
                }
                if files.len() > FILES {
                    return Err(Failure::new(Code::TooLarge, format!("the project has more than {FILES} files"))
                        .hint("narrow `discover` in charly.yml"));
                }
                if place.recursive && depth < DEPTH && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push((path, below, depth + 1));
                }
            }
        }
        Ok(())
    }
}
