//! Finding the program of a pack, and knowing it for what it is.
//!
//! Another program may have the same name: an older one of the same makers, or a shim of ours. So a candidate is asked
//! who it is before it is used, once for each state of its file.

use crate::{
    load::Loaded,
    surroundings::{PROBED, Surroundings, identity},
};
use pintle_core::{Code, Failure, Foreign, Problem};
use pintle_packfile::{Pack, Probe};
use pintle_process::{Ended, Environment, Run, Spawn};
use sha2::{Digest as _, Sha256};
use std::{
    collections::HashMap,
    fs,
    io::Read,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// Bytes of an answer to the question who a program is.
const ANSWER: usize = 64 * 1024;

/// A program that is what its pack is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Where it was found.
    pub(crate) path: PathBuf,
    /// Whether the operator named it: then it runs as the caller and never as root through the helper.
    pub(crate) by_operator: bool,
    stamp: Stamp,
}

/// One state of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

impl Stamp {
    fn of(about: &fs::Metadata) -> Self {
        Self {
            device: about.dev(),
            inode: about.ino(),
            size: about.size(),
            modified: (about.mtime(), about.mtime_nsec()),
        }
    }
}

impl Found {
    /// What changes whenever the program does.
    pub(crate) fn state(&self) -> String {
        format!("{} {:?}", self.path.display(), self.stamp)
    }

    /// SHA-256 of its file in hexadecimal digits.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) async fn sha256(&self) -> Result<String, Failure> {
        let path = self.path.clone();
        let digest =
            move || sha256(&path).map_err(|error| Failure::io(format!("reading `{}`", path.display()), &error));
        // A program may have a hundred megabytes; others are answered meanwhile.
        let done = tokio::task::spawn_blocking(digest).await;
        done.unwrap_or_else(|error| Err(Failure::new(Code::Internal, error.to_string())))
    }
}

fn sha256(path: &Path) -> std::io::Result<String> {
    let mut file = fs::File::open(path)?;
    let mut hash = Sha256::new();
    let mut chunk = vec![0; 64 * 1024];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            read => hash.update(&chunk[..read]),
        }
    }
}

/// Finds programs, and remembers which of them said who they are.
#[derive(Debug, Default)]
pub(crate) struct Finder {
    known: Mutex<HashMap<(PathBuf, String), Stamp>>,
}

impl Finder {
    /// The program of a pack. `as_root`: it is going to have root's rights, so nobody else may be able to change it.
    ///
    /// # Errors
    /// Code `unavailable` with every path that was tried and what is wrong with it.
    pub(crate) async fn find(
        &self,
        loaded: &Loaded,
        surroundings: &Surroundings,
        as_root: bool,
    ) -> Result<Found, Failure> {
        let pack = &loaded.pack;
        let named = surroundings.operators_program(&pack.program);
        let by_operator = named.is_some();
        let paths = match &named {
            Some((path, _)) => vec![path.clone()],
            None => pack.program.candidates.iter().map(|path| surroundings.trusted.place(path)).collect(),
        };
        let guarded = !by_operator && (as_root || surroundings.is_root);
        let mut tried = Vec::new();
        for path in paths {
            match self.judge(pack, surroundings, &path, guarded).await {
                Ok(stamp) => return Ok(Found { path, by_operator, stamp }),
                Err(why) => tried.push((path, why)),
            }
        }
        Err(absent(pack, named.map(|(_, by)| by), &tried))
    }

    async fn judge(
        &self,
        pack: &Pack,
        surroundings: &Surroundings,
        path: &Path,
        guarded: bool,
    ) -> Result<Stamp, String> {
        if !path.is_absolute() {
            return Err("is not an absolute path".to_owned());
        }
        let about = fs::metadata(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => "is not there".to_owned(),
            _ => Failure::io("cannot be looked at", &error).message,
        })?;
        if !about.is_file() || about.permissions().mode() & 0o111 == 0 {
            return Err("is not a program that can be run".to_owned());
        }
        if is_ours(path, surroundings) {
            return Err("is this program itself".to_owned());
        }
        if guarded {
            trusted(path, surroundings)?;
        }
        let stamp = Stamp::of(&about);
        let Some(probe) = &pack.program.probe else { return Ok(stamp) };
        let key = (path.to_owned(), pack.name.clone());
        if self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key) == Some(&stamp) {
            return Ok(stamp);
        }
        ask(probe, path, surroundings).await?;
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(key, stamp);
        Ok(stamp)
    }
}

/// Whether nobody but root can change the program that this path leads to.
fn trusted(path: &Path, surroundings: &Surroundings) -> Result<(), String> {
    let root = surroundings.trusted.place("/");
    let below = path.strip_prefix(&root).unwrap_or(path);
    match surroundings.trusted.file(Path::new("/").join(below)) {
        Ok(_) => Ok(()),
        Err(why) => Err(format!("must not run as root: {why}")),
    }
}

/// Whether a path leads to this program, or to a script that calls it.
fn is_ours(path: &Path, surroundings: &Surroundings) -> bool {
    if surroundings.own.is_some() && identity(path) == surroundings.own {
        return true;
    }
    let mut start = Vec::new();
    // A program that we may run and not read is asked who it is, like every other.
    let read = fs::File::open(path).and_then(|file| file.take(1024).read_to_end(&mut start));
    read.is_ok() && start.starts_with(b"#!") && start.windows(6).any(|word| word == b"pintle")
}

/// Asks a program who it is.
async fn ask(probe: &Probe, path: &Path, surroundings: &Surroundings) -> Result<(), String> {
    if surroundings.variable(PROBED).is_some() {
        return Err("was not asked who it is: this program is itself being asked".to_owned());
    }
    let environment = if surroundings.is_root { Environment::fixed() } else { Environment::clean() };
    let run = Run { limit: ANSWER, timeout: Some(probe.timeout), ..Run::default() };
    let spawn =
        Spawn::new(path).args(&probe.args).environment(environment.plain_output().set(PROBED, "1")).directory("/");
    let said = spawn.run(run).await.map_err(|error| format!("did not start: {error}"))?;
    let asked = probe.args.join(" ");
    if let Ended::TimedOut { limit, .. } = said.ended {
        return Err(format!("did not answer `{asked}` within {} s", limit.as_secs_f32()));
    }
    if !said.exit.success() {
        return Err(format!("answered `{asked}` with {}", said.exit.status));
    }
    let text = Foreign::new(&said.stdout.text().text).text;
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match &probe.first_line {
        Some(wanted) if !wanted.is_match(first) => {
            let shown: String = first.chars().take(100).collect();
            Err(format!("is another program: it answered `{asked}` with `{shown}`"))
        }
        _ => Ok(()),
    }
}

fn absent(pack: &Pack, named_by: Option<String>, tried: &[(PathBuf, String)]) -> Failure {
    let told = match tried {
        [(path, why)] => format!("no {} to run: `{}` {why}", pack.name, path.display()),
        several => {
            let paths: Vec<String> = several.iter().map(|(path, _)| path.display().to_string()).collect();
            format!("no {} to run at {}", pack.name, paths.join(", "))
        }
    };
    let problems =
        tried.iter().map(|(path, why)| Problem { file: Some(path.display().to_string()), ..Problem::new(why.clone()) });
    let failure = Failure::new(Code::Unavailable, told).problems(problems);
    match named_by {
        Some(by) => failure.hint(format!("{by} names it; without that the usual places are tried")),
        None if pack.program.hint.is_empty() => failure,
        None => failure.hint(pack.program.hint.clone()),
    }
}
