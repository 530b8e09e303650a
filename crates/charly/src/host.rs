//! What the operations act on: the server's folder, the projects reached from it, and the state kept about them.

mod folder;
mod journal;
mod path;
mod sources;
mod writer;

pub use folder::{Folder, Stored, Target};
pub use journal::{Entry, Journal, Kept};
pub use path::Inside;
pub use pintle_files::{Fault, Step};
pub use writer::{Granted, Write, Writer, scope};

pub(crate) use folder::{FILE_LIMIT, too_large};
pub(crate) use path::{from_caller, shown};

use pintle_core::{Code, Failure};
use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

/// The file that makes a folder a project.
pub const PROJECT_FILE: &str = "charly.yml";

/// What every charly operation acts on. A clone is the same host.
#[derive(Clone, Debug)]
pub struct Host(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    directory: PathBuf,
    project_root: Option<PathBuf>,
    journal: Journal,
    writer: Writer,
    /// Projects that this server has made, oldest first.
    made: Mutex<Vec<PathBuf>>,
}

/// A project: a folder with a `charly.yml`.
#[derive(Debug)]
pub struct Project {
    folder: Folder,
}

impl Project {
    /// Its folder.
    #[must_use]
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Its real path.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Its real path as answers show it.
    #[must_use]
    pub fn shown(&self) -> String {
        shown(self.path())
    }
}

impl Host {
    /// A host for a server that was started in `directory` and keeps its state below `state`.
    ///
    /// `project_root`, if given, is where every project must lie.
    ///
    /// # Errors
    /// When one of the folders cannot be opened.
    pub fn new(directory: &Path, project_root: Option<&Path>, state: &Path) -> Result<Self, Failure> {
        let folder = |what: &str, path: &Path| {
            let failed =
                |error: std::io::Error| Failure::io(format!("opening the {what} `{}`", path.display()), &error);
            let real = fs::canonicalize(path).map_err(failed)?;
            // A file would be taken, and then hold no project.
            if real.is_dir() { Ok(real) } else { Err(failed(std::io::ErrorKind::NotADirectory.into())) }
        };
        Ok(Self(Arc::new(Inner {
            directory: folder("folder", directory)?,
            project_root: project_root.map(|path| folder("project root", path)).transpose()?,
            journal: Journal::new(state),
            writer: Writer::default(),
            made: Mutex::default(),
        })))
    }

    /// The server's folder, from which relative paths are taken.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.0.directory
    }

    /// The one writer.
    #[must_use]
    pub fn writer(&self) -> &Writer {
        &self.0.writer
    }

    /// What files held before.
    #[must_use]
    pub fn journal(&self) -> &Journal {
        &self.0.journal
    }

    /// Whether a call without `project` finds one.
    #[must_use]
    pub fn has_project(&self) -> bool {
        self.project(None).is_ok()
    }

    /// The project that a call means: the one it names, else the server's folder, else the one this server has made.
    ///
    /// # Errors
    /// Code `no_project` when there is none or more than one, `outside_project` when it lies outside the project root.
    pub fn project(&self, named: Option<&str>) -> Result<Project, Failure> {
        if let Some(named) = named {
            let path = from_caller("project", named, &self.0.directory)?;
            return self.open(&path, named);
        }
        if fs::symlink_metadata(self.0.directory.join(PROJECT_FILE)).is_ok() {
            return self.open(&self.0.directory, &shown(&self.0.directory));
        }
        match self.made().as_slice() {
            [] => Err(Failure::new(
                Code::NoProject,
                format!("`{}` has no {PROJECT_FILE}, and no project was made yet", shown(&self.0.directory)),
            )
            .hint("make one with `box.new.project`")
            .hint("or name one with the argument `project`")
            .hint("or start the server in a project; `--project-root` says where projects may lie")),
            [only] => self.open(only, &shown(only)),
            several => {
                let names: Vec<_> = several.iter().map(|path| format!("`{}`", shown(path))).collect();
                Err(Failure::new(Code::NoProject, format!("there are several projects: {}", names.join(", ")))
                    .hint("name one of them with the argument `project`"))
            }
        }
    }

    fn open(&self, path: &Path, named: &str) -> Result<Project, Failure> {
        let absent = |why: &str| {
            Failure::new(Code::NoProject, format!("project `{named}`: {why}"))
                .hint("`box.new.project` makes one there")
                .hint(format!("relative paths are taken from `{}`", shown(&self.0.directory)))
        };
        let folder = Folder::open(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => absent("no such folder"),
            io::ErrorKind::NotADirectory => absent("not a folder"),
            _ => Failure::io(format!("opening the project `{named}`"), &error),
        })?;
        self.check_root(folder.path(), named)?;
        if fs::symlink_metadata(folder.path().join(PROJECT_FILE)).is_err() {
            return Err(absent(&format!("has no {PROJECT_FILE}")));
        }
        Ok(Project { folder })
    }

    fn check_root(&self, path: &Path, named: &str) -> Result<(), Failure> {
        match &self.0.project_root {
            Some(root) if !path.starts_with(root) => Err(Failure::new(
                Code::OutsideProject,
                format!("project `{named}` lies outside the project root `{}`", shown(root)),
            )
            .hint("choose a folder beneath it; `--project-root` of the server sets it")),
            _ => Ok(()),
        }
    }

    /// Where a new project would be made: the deepest folder that is there already, opened, and the path from it.
    ///
    /// # Errors
    /// Code `outside_project` when it would lie outside the project root, `io` when the way there cannot be passed.
    pub fn place_for_project(&self, dir: &str) -> Result<(Folder, PathBuf), Failure> {
        let whole = from_caller("dir", dir, &self.0.directory)?;
        let mut existing = whole.as_path();
        let mut missing = Vec::new();
        let folder = loop {
            match Folder::open(existing) {
                Ok(folder) => break folder,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Failure::io(format!("opening `{}`", shown(existing)), &error)),
            }
            let (Some(above), Some(name)) = (existing.parent(), existing.file_name()) else {
                return Err(Failure::invalid_argument(
                    "dir",
                    format!("`{dir}` goes up from a folder that is not there"),
                ));
            };
            if fs::symlink_metadata(existing).is_ok() {
                return Err(Failure::new(Code::NotFound, format!("`{}` is a link to nothing", shown(existing))));
            }
            missing.push(name);
            existing = above;
        };
        let below: PathBuf = missing.iter().rev().collect();
        self.check_root(&folder.path().join(&below), dir)?;
        Ok((folder, below))
    }

    /// Remembers a project that this server has made. True when calls without `project` mean it from now on.
    pub fn adopt(&self, path: &Path) -> bool {
        let mut made = self.0.made.lock().unwrap_or_else(PoisonError::into_inner);
        if !made.iter().any(|known| known == path) {
            made.push(path.to_owned());
        }
        drop(made);
        self.project(None).is_ok_and(|project| project.path() == path)
    }

    fn made(&self) -> Vec<PathBuf> {
        self.0.made.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Runs work that waits for the disk on a thread of its own; a panic there is a panic here.
pub(crate) async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is shutting down and nobody waits for the answer any more.
            Err(_) => std::future::pending().await,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(path: &Path) {
        fs::create_dir_all(path).unwrap();
        fs::write(path.join(PROJECT_FILE), "version: 2026.100.0000\n").unwrap();
    }

    #[test]
    fn cw_24_ch_197_a_call_means_the_project_it_names_or_the_only_one_there_is() {
        let temp = tempfile::tempdir().unwrap();
        let here = temp.path().join("here");
        fs::create_dir_all(&here).unwrap();
        let host = Host::new(&here, None, temp.path()).unwrap();
        let none = host.project(None).unwrap_err();
        assert_eq!(none.code, Code::NoProject);
        for word in ["box.new.project", "`project`", "--project-root"] {
            assert!(none.hints.iter().any(|hint| hint.contains(word)), "{word}");
        }
        let (a, b) = (temp.path().join("a"), temp.path().join("b"));
        project(&a);
        project(&b);
        assert!(host.adopt(&fs::canonicalize(&a).unwrap()));
        assert!(host.project(None).unwrap().path().ends_with("a"));
        assert!(!host.adopt(&fs::canonicalize(&b).unwrap()));
        let several = host.project(None).unwrap_err().message;
        assert!(several.contains("/a`") && several.contains("/b`"), "{several}");
        assert!(host.project(Some("../b")).unwrap().path().ends_with("b"));
        project(&here);
        assert!(host.project(None).unwrap().path().ends_with("here"), "the server's own folder comes first");
    }

    #[test]
    fn cw_24_nothing_outside_the_project_root_is_a_project() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("root");
        project(&root.join("in"));
        project(&temp.path().join("out"));
        std::os::unix::fs::symlink(temp.path().join("out"), root.join("link")).unwrap();
        let file = root.join("in").join(PROJECT_FILE);
        assert_eq!(Host::new(&root, Some(&file), temp.path()).err().map(|failure| failure.code), Some(Code::Io));
        assert_eq!(Host::new(&file, None, temp.path()).err().map(|failure| failure.code), Some(Code::Io));
        let host = Host::new(&root, Some(&root), temp.path()).unwrap();
        assert!(host.project(Some("in")).is_ok());
        for (named, code) in [
            ("../out", Code::OutsideProject),
            ("link", Code::OutsideProject),
            ("none", Code::NoProject),
            ("in/charly.yml", Code::NoProject),
            ("a\0b", Code::InvalidArgument),
            ("", Code::InvalidArgument),
        ] {
            assert_eq!(host.project(Some(named)).unwrap_err().code, code, "{named:?}");
        }
        assert!(host.place_for_project("new/deep").is_ok());
        for dir in ["../new", "link/new", "/tmp/new", "none/../../new"] {
            let code = host.place_for_project(dir).unwrap_err().code;
            assert!(matches!(code, Code::OutsideProject | Code::InvalidArgument), "{dir}: {code:?}");
        }
    }
}
