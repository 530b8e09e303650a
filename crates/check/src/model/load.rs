//! From paths to a set of plans, with every problem of every file.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use pintle_core::{Exit, Problem};
use pintle_yaml::{Document, Limits};

use super::Dialect;
use super::check;
use super::plan::{self, Plan, PlanSet, Read};
use super::sink::Sink;
use crate::registry::Registry;

/// Larger plans are refused, in bytes.
const LARGEST: u64 = 4 * 1024 * 1024;
/// Files below folders, at most.
const MOST_FILES: usize = 10_000;

/// Why plans cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// Files or folders that cannot be read.
    #[error("{}", listed(.0))]
    Unreadable(Vec<Problem>),
    /// Plans that are wrong.
    #[error("{}", listed(.0))]
    Bad(Vec<Problem>),
}

impl LoadError {
    /// What is wrong, in the order of files and lines.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::Unreadable(problems) | Self::Bad(problems) => problems,
        }
    }

    /// 64 for bad plans, 1 for unreadable ones.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Unreadable(_) => Exit::Failed,
            Self::Bad(_) => Exit::Usage,
        }
    }
}

fn listed(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Reads plans from files, and from every `.yml` and `.yaml` below folders. All files are parsed before anything is
/// said; nothing is run.
///
/// # Errors
/// Every problem of every file, with places.
pub fn load(paths: &[PathBuf], registry: &Registry) -> Result<PlanSet, LoadError> {
    let mut loader = Loader::new(registry);
    for path in paths {
        loader.argument(path);
    }
    loader.finish()
}

/// Reads one plan from bytes; `file` is its name in messages, `directory` where its relative files start.
///
/// # Errors
/// As [`load`].
pub fn load_bytes(file: &str, bytes: &[u8], directory: &Path, registry: &Registry) -> Result<PlanSet, LoadError> {
    let mut loader = Loader::new(registry);
    loader.parse(file.to_owned(), directory, bytes, &mut Vec::new());
    loader.finish()
}

/// How a plan came into a run.
#[derive(Clone, Copy, PartialEq)]
enum Named {
    /// As an argument.
    Itself,
    /// By the folder that it lies in: it may be there for others to include.
    ByFolder,
}

struct Loader<'r> {
    registry: &'r Registry,
    set: PlanSet,
    /// Index in the set by canonical path.
    done: HashMap<PathBuf, usize>,
    /// Plans that stand on their own: not only included.
    roots: Vec<(usize, Named)>,
    /// Plans that each plan includes, directly or not.
    included: Vec<HashSet<usize>>,
    unreadable: Vec<Problem>,
    bad: Vec<Problem>,
}

impl<'r> Loader<'r> {
    fn new(registry: &'r Registry) -> Self {
        Self {
            registry,
            set: PlanSet::default(),
            done: HashMap::new(),
            roots: Vec::new(),
            included: Vec::new(),
            unreadable: Vec::new(),
            bad: Vec::new(),
        }
    }

    fn argument(&mut self, path: &Path) {
        let shown = path.display().to_string();
        if path.is_dir() {
            let mut found = false;
            let walk = walkdir::WalkDir::new(path).sort_by_file_name().into_iter();
            let visible =
                |entry: &walkdir::DirEntry| entry.depth() == 0 || !entry.file_name().to_string_lossy().starts_with('.');
            for entry in walk.filter_entry(visible).take(MOST_FILES) {
                match entry {
                    Ok(entry) if entry.file_type().is_file() && is_plan(entry.path()) => {
                        found = true;
                        self.root(entry.path(), Named::ByFolder);
                    }
                    Ok(_) => {}
                    Err(error) => self.unreadable.push(problem(&shown, error.to_string())),
                }
            }
            if !found {
                self.unreadable.push(problem(&shown, "the folder holds no `.yml` or `.yaml` file"));
            }
            return;
        }
        self.root(path, Named::Itself);
    }

    fn root(&mut self, path: &Path, named: Named) {
        let shown = path.display().to_string();
        if let Some(index) = self.file(shown, path, &mut Vec::new()) {
            self.roots.push((index, named));
        }
    }

    /// Reads a file once. `open` holds the files that are including it.
    fn file(&mut self, shown: String, path: &Path, open: &mut Vec<PathBuf>) -> Option<usize> {
        let canonical = match path.canonicalize() {
            Ok(canonical) => canonical,
            Err(error) => {
                self.unreadable.push(problem(&shown, format!("cannot be read: {}", reason(&error))));
                return None;
            }
        };
        if let Some(index) = self.done.get(&canonical) {
            return Some(*index);
        }
        let bytes = match read_bounded(&canonical) {
            Ok(bytes) => bytes,
            Err(ReadError::Io(error)) => {
                self.unreadable.push(problem(&shown, format!("cannot be read: {}", reason(&error))));
                return None;
            }
            Err(ReadError::TooLarge(size)) => {
                let message = format!("the plan has {size} bytes, more than {LARGEST} are refused");
                self.bad.push(problem(&shown, message).at(&shown, 1, 1).hint("split it"));
                return None;
            }
        };
        let directory = path.parent().map(Path::to_owned).unwrap_or_default();
        open.push(canonical.clone());
        let index = self.parse(shown, &directory, &bytes, open);
        open.pop();
        if let Some(index) = index {
            self.done.insert(canonical, index);
        }
        index
    }

    fn parse(&mut self, file: String, directory: &Path, bytes: &[u8], open: &mut Vec<PathBuf>) -> Option<usize> {
        #[expect(clippy::cast_possible_truncation, reason = "a constant")]
        let limits = Limits::default().with_bytes(LARGEST as usize);
        let document = match Document::parse_bytes(bytes, limits) {
            Ok(document) => document,
            Err(problems) => {
                self.bad.extend(problems.into_iter().map(|found| in_file(&file, found)));
                return None;
            }
        };
        let plan = Plan {
            file,
            directory: directory.to_owned(),
            source: document.text().to_owned(),
            dialect: Dialect::Plan,
            servers: Vec::new(),
            vars: Vec::new(),
            timeout: None,
            steps: Vec::new(),
        };
        let file = plan.file.clone();
        let mut sink = Sink::new(Dialect::Plan, directory);
        let Read { mut plan, include } = plan::read(document.root(), plan, self.registry, &mut sink);
        self.bad.extend(sink.finish().into_iter().map(|found| in_file(&file, found)));
        let included = self.include(&mut plan, include, open);
        let index = self.set.plans.len();
        self.set.plans.push(plan);
        self.included.push(included);
        if open.is_empty() {
            self.roots.push((index, Named::Itself));
        }
        Some(index)
    }

    /// Reads included files, and takes over their servers and variables where the plan has none of that name.
    fn include(
        &mut self,
        plan: &mut Plan,
        include: Vec<(String, pintle_yaml::Place)>,
        open: &mut Vec<PathBuf>,
    ) -> HashSet<usize> {
        let mut all = HashSet::new();
        let folder = folder(&plan.directory);
        for (name, place) in include {
            let mut wrong = |message: String| {
                self.bad.push(Problem::new(message).at(&plan.file, place.line, place.column));
            };
            let path = plan.directory.join(&name);
            let canonical = match path.canonicalize() {
                Ok(canonical) => canonical,
                Err(error) => {
                    wrong(format!("included file `{name}` cannot be read: {}", reason(&error)));
                    continue;
                }
            };
            if !folder.as_ref().is_some_and(|folder| canonical.starts_with(folder)) {
                wrong(format!("included file `{name}` lies outside the folder of the plan"));
                continue;
            }
            if open.contains(&canonical) {
                wrong(format!("included file `{name}` includes this one"));
                continue;
            }
            let Some(index) = self.file(path.display().to_string(), &path, open) else { continue };
            all.insert(index);
            all.extend(self.included[index].iter().copied());
            let other = &self.set.plans[index];
            for server in &other.servers {
                if !plan.servers.iter().any(|own| own.name == server.name) {
                    plan.servers.push(server.clone());
                }
            }
            for (name, value) in &other.vars {
                if !plan.vars.iter().any(|(own, _)| own == name) {
                    plan.vars.push((name.clone(), value.clone()));
                }
            }
        }
        all
    }

    fn finish(mut self) -> Result<PlanSet, LoadError> {
        if !self.unreadable.is_empty() {
            self.unreadable.extend(self.bad);
            return Err(LoadError::Unreadable(self.unreadable));
        }
        self.bad.extend(check::between_steps(&self.set));
        if self.bad.is_empty() {
            for (root, named) in &self.roots {
                let is_part = self.included.iter().any(|included| included.contains(root));
                if *named == Named::ByFolder && is_part {
                    continue;
                }
                let with_included = self.included[*root].iter().chain([root]);
                let plans: Vec<_> = with_included.map(|index| &self.set.plans[*index]).collect();
                self.bad.extend(check::asserts(&self.set.plans[*root], &plans));
            }
        }
        if self.bad.is_empty() {
            return Ok(self.set);
        }
        let order = |problem: &Problem| {
            let file = self.set.plans.iter().position(|plan| Some(&plan.file) == problem.file.as_ref());
            (file, problem.line, problem.column)
        };
        self.bad.sort_by_key(order);
        Err(LoadError::Bad(self.bad))
    }
}

enum ReadError {
    Io(std::io::Error),
    TooLarge(u64),
}

/// Reads a file unless it is too large; what grows while it is read is cut off, too.
fn read_bounded(path: &Path) -> Result<Vec<u8>, ReadError> {
    use std::io::Read as _;
    let file = std::fs::File::open(path).map_err(ReadError::Io)?;
    let size = file.metadata().map_err(ReadError::Io)?.len();
    if size > LARGEST {
        return Err(ReadError::TooLarge(size));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(ReadError::Io)?;
    if bytes.len() as u64 > LARGEST {
        return Err(ReadError::TooLarge(bytes.len() as u64));
    }
    Ok(bytes)
}

fn is_plan(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yml" || extension == "yaml")
}

/// The canonical folder; an empty path is the working directory.
fn folder(directory: &Path) -> Option<PathBuf> {
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    directory.canonicalize().ok()
}

fn problem(file: &str, message: impl Into<String>) -> Problem {
    Problem { file: Some(file.to_owned()), ..Problem::new(message) }
}

fn in_file(file: &str, found: pintle_yaml::Problem) -> Problem {
    Problem {
        file: Some(file.to_owned()),
        line: Some(found.line),
        column: Some(found.column),
        pointer: None,
        message: found.message,
        hint: found.hint,
    }
}

/// The system's reason without its number.
fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".into(),
        std::io::ErrorKind::PermissionDenied => "permission denied".into(),
        std::io::ErrorKind::IsADirectory => "it is a folder".into(),
        _ => error.to_string(),
    }
}
