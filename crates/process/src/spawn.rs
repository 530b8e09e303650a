//! How a child is to be started.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::Signal;

use crate::child::{Child, Exit, reap_later};
use crate::environment::Environment;
use crate::fork::{self, Bond};

/// The kernel's limit for one argument (`MAX_ARG_STRLEN`), in bytes with its final NUL.
const ARGUMENT_LIMIT: usize = 128 * 1024;

/// The signal a child gets from the kernel when pintle ends without having stopped it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeathSignal {
    /// TERM: the child may end what it started itself.
    #[default]
    Term,
    /// KILL: the child ends for certain; what it started is left to notice the end of its input.
    Kill,
}

impl DeathSignal {
    fn raw(self) -> Signal {
        match self {
            Self::Term => Signal::TERM,
            Self::Kill => Signal::KILL,
        }
    }
}

/// Why a child did not start.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The program does not exist.
    #[error("program {} not found{}", program.display(), searched(.path))]
    Missing {
        /// As it was asked for.
        program: PathBuf,
        /// The `PATH` that was searched; none for a program given as a path.
        path: Option<OsString>,
    },
    /// The program exists but cannot be executed.
    #[error("program {} is not executable", program.display())]
    NotExecutable {
        /// The file in question.
        program: PathBuf,
    },
    /// The program is neither a binary nor names its interpreter. The C library would give it to a shell;
    /// we do not.
    #[error("program {} is neither an ELF binary nor a script that begins with #!", program.display())]
    NoProgram {
        /// The file in question.
        program: PathBuf,
    },
    /// An argument that cannot be passed.
    #[error("argument {index} of {} {why}", program.display())]
    Argument {
        /// The program it was meant for.
        program: PathBuf,
        /// Position, from 1.
        index: usize,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The working directory does not exist or is no directory.
    #[error("working directory {} is not a directory", .0.display())]
    Directory(PathBuf),
    /// Everything else that the system reports.
    #[error("could not start {}: {source}", program.display())]
    System {
        /// The program.
        program: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

fn searched(path: &Option<OsString>) -> String {
    match path {
        Some(path) => format!(" in PATH {}", path.display()),
        None => String::new(),
    }
}

/// A program, its arguments and its surroundings. Ends in [`run`](Self::run),
/// [`piped`](Self::piped), [`attached`](Self::attached) or [`detached`](Self::detached).
///
/// The environment is [`Environment::clean`] unless [`environment`](Self::environment) sets another.
#[derive(Debug, Clone)]
pub struct Spawn {
    program: PathBuf,
    arguments: Vec<OsString>,
    environment: Environment,
    directory: Option<PathBuf>,
    death: DeathSignal,
}

impl Spawn {
    /// A program: a path (with a `/`; relative ones from the child's working directory) or a name looked up
    /// in the child's `PATH`.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            environment: Environment::clean(),
            directory: None,
            death: DeathSignal::default(),
        }
    }

    /// Adds one argument.
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds several arguments.
    pub fn args<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Replaces the whole environment.
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// Sets the working directory; ours if not set.
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Sets the signal the child gets when pintle ends first; [`DeathSignal::Term`] if not set.
    pub fn death_signal(mut self, signal: DeathSignal) -> Self {
        self.death = signal;
        self
    }

    /// The program as it was asked for.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Starts the child with pipes at its output, and at its input if asked for (`/dev/null` otherwise).
    pub(crate) async fn start(&self, input: bool) -> Result<Child, SpawnError> {
        let mut command = self.command()?;
        command.stdin(if input { Stdio::piped() } else { Stdio::null() }).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = fork::fork(command, Bond::Own(self.death.raw())).await.map_err(self.system())?;
        Child::supervise(child).map_err(self.system())
    }

    /// Runs the child at our terminal: its standard streams are ours, and so is its session, so that keys like
    /// Ctrl-C reach it. For programs that people operate.
    ///
    /// # Errors
    /// [`SpawnError`] if it did not start or cannot be waited for. Dropping the future kills the child.
    pub async fn attached(self) -> Result<Exit, SpawnError> {
        let child = fork::fork(self.command()?, Bond::Ours(self.death.raw())).await.map_err(self.system())?;
        let mut child = Child::supervise_alone(child).map_err(self.system())?;
        child.wait().await.map_err(self.system())
    }

    /// Starts a child that may outlive us, in a session of its own, with `/dev/null` at its standard streams.
    /// It is reaped if it ends first. Returns its process ID.
    ///
    /// # Errors
    /// [`SpawnError`] if it did not start.
    pub async fn detached(self) -> Result<u32, SpawnError> {
        let mut command = self.command()?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = fork::fork(command, Bond::None).await.map_err(self.system())?;
        let id = child.id();
        reap_later(&child);
        Ok(id)
    }

    /// Everything but the standard streams.
    fn command(&self) -> Result<Command, SpawnError> {
        let program = self.resolve()?;
        self.check_arguments(&program)?;
        let mut command = Command::new(&program);
        command.args(&self.arguments).env_clear().envs(self.environment.iter());
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        Ok(command)
    }

    pub(crate) fn system(&self) -> impl Fn(io::Error) -> SpawnError {
        let program = self.program.clone();
        move |source| SpawnError::System { program: program.clone(), source }
    }

    fn resolve(&self) -> Result<PathBuf, SpawnError> {
        if let Some(directory) = &self.directory
            && !directory.is_dir()
        {
            return Err(SpawnError::Directory(directory.clone()));
        }
        let base = match &self.directory {
            Some(directory) => directory.clone(),
            None => PathBuf::new(),
        };
        let program = find_program(&self.program, self.environment.get("PATH"), &base)?;
        if would_go_to_a_shell(&program) {
            return Err(SpawnError::NoProgram { program });
        }
        Ok(program)
    }

    fn check_arguments(&self, program: &Path) -> Result<(), SpawnError> {
        for (index, argument) in self.arguments.iter().enumerate() {
            let bytes = argument.as_bytes();
            let why = if bytes.contains(&0) {
                "holds a NUL byte"
            } else if bytes.len() >= ARGUMENT_LIMIT {
                "is 128 KiB or longer"
            } else {
                continue;
            };
            return Err(SpawnError::Argument { program: program.to_owned(), index: index + 1, why });
        }
        Ok(())
    }
}

/// Finds the file that a program name or path means. `base` is where relative paths start; empty for our
/// working directory. The answer is absolute unless `base` and the program are both relative.
///
/// # Errors
/// [`SpawnError::Missing`] and [`SpawnError::NotExecutable`].
pub fn find_program(program: &Path, path: Option<&OsStr>, base: &Path) -> Result<PathBuf, SpawnError> {
    if program.as_os_str().as_bytes().contains(&b'/') {
        let file = if program.is_absolute() {
            program.to_owned()
        } else {
            // Made absolute, because the child changes directory before it executes.
            std::path::absolute(base.join(program)).unwrap_or_else(|_| base.join(program))
        };
        return match executable(&file) {
            Some(true) => Ok(file),
            Some(false) => Err(SpawnError::NotExecutable { program: file }),
            None => Err(SpawnError::Missing { program: program.to_owned(), path: None }),
        };
    }
    let mut refused = None;
    for directory in std::env::split_paths(path.unwrap_or_default()) {
        // An empty or relative entry would mean the working directory: never search there.
        if !directory.is_absolute() || program.as_os_str().is_empty() {
            continue;
        }
        let file = directory.join(program);
        match executable(&file) {
            Some(true) => return Ok(file),
            Some(false) => {
                refused.get_or_insert(file);
            }
            None => {}
        }
    }
    Err(match refused {
        Some(program) => SpawnError::NotExecutable { program },
        None => SpawnError::Missing { program: program.to_owned(), path: Some(path.unwrap_or_default().to_owned()) },
    })
}

/// Whether a file can be executed; none if there is no such file.
fn executable(file: &Path) -> Option<bool> {
    let metadata = std::fs::metadata(file).ok()?;
    Some(metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Whether exec would refuse the file's format. A file we may execute but not read is left to the kernel.
fn would_go_to_a_shell(program: &Path) -> bool {
    let mut start = [0; 4];
    let Ok(read) = std::fs::File::open(program).and_then(|mut file| file.read(&mut start)) else {
        return false;
    };
    let start = &start[..read];
    !start.starts_with(b"#!") && start != b"\x7fELF"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(directory: &Path, name: &str, mode: u32) -> PathBuf {
        let file = directory.join(name);
        std::fs::write(&file, "").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        file
    }

    #[test]
    fn a_name_is_found_in_the_given_path_only() {
        let folder = tempfile::tempdir().unwrap();
        let file = program(folder.path(), "tool", 0o755);
        let found = find_program(Path::new("tool"), Some(folder.path().as_os_str()), Path::new(""));
        assert_eq!(found.unwrap(), file);
        let missing = find_program(Path::new("tool"), Some(OsStr::new("/nowhere")), Path::new(""));
        assert_eq!(missing.unwrap_err().to_string(), "program tool not found in PATH /nowhere");
    }

    #[test]
    fn relative_path_entries_are_never_searched() {
        let folder = tempfile::tempdir().unwrap();
        program(folder.path(), "tool", 0o755);
        let found = find_program(Path::new("tool"), Some(OsStr::new(":.")), folder.path());
        assert!(matches!(found, Err(SpawnError::Missing { .. })));
    }

    #[test]
    fn a_relative_path_starts_at_the_base() {
        let folder = tempfile::tempdir().unwrap();
        let file = program(folder.path(), "tool", 0o755);
        assert_eq!(
            find_program(Path::new("./tool"), None, folder.path()).unwrap().canonicalize().unwrap(),
            file.canonicalize().unwrap()
        );
    }

    #[test]
    fn a_file_without_execute_bit_is_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let file = program(folder.path(), "tool", 0o644);
        let refused = find_program(&file, None, Path::new("")).unwrap_err();
        assert!(matches!(refused, SpawnError::NotExecutable { .. }));
        let by_name = find_program(Path::new("tool"), Some(folder.path().as_os_str()), Path::new(""));
        assert!(matches!(by_name, Err(SpawnError::NotExecutable { .. })));
    }

    #[tokio::test]
    async fn an_3_2_arguments_that_the_kernel_refuses_are_named_before_start() {
        let long = Spawn::new("/bin/sh").arg("-c").arg("x".repeat(ARGUMENT_LIMIT));
        let error = long.start(false).await.unwrap_err();
        assert_eq!(error.to_string(), "argument 2 of /bin/sh is 128 KiB or longer");
        let nul = Spawn::new("/bin/sh").arg("a\0b");
        let error = nul.start(false).await.unwrap_err();
        assert_eq!(error.to_string(), "argument 1 of /bin/sh holds a NUL byte");
    }
}
