//! A home with nothing in it, and the program run there.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use tempfile::TempDir;

/// The program under test.
pub fn pintle() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_pintle"))
}

/// A temporary home; commands run in its folder `work`.
pub struct Home {
    folder: TempDir,
}

/// What a command did.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// The standard output of a command that must succeed.
    #[track_caller]
    pub fn good(self) -> String {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        self.out
    }

    #[track_caller]
    pub fn json(self) -> serde_json::Value {
        let text = self.good();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }
}

impl Home {
    pub fn new() -> Self {
        let home = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(home.work()).unwrap();
        home
    }

    /// With a project in `work` that has one box, `web`.
    pub fn with_project() -> Self {
        let home = Self::new();
        home.run(["charly", "box", "new", "project", "."]).good();
        home.run(["charly", "box", "new", "box", "web", "--base", "quay.io/fedora/fedora:43"]).good();
        home
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn work(&self) -> PathBuf {
        self.path().join("work")
    }

    pub fn write(&self, file: &str, text: &str) -> PathBuf {
        let path = self.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// A command with a clean environment.
    pub fn command<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Command {
        self.command_of(pintle(), words)
    }

    pub fn command_of<S: AsRef<OsStr>>(&self, program: &Path, words: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(program);
        command.args(words).env_clear().env("HOME", self.path()).env("PATH", "/usr/bin:/bin");
        command.current_dir(self.work()).stdin(Stdio::null());
        command
    }

    pub fn run<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Ran {
        done(&mut self.command(words))
    }

    /// With something on its standard input, which then ends.
    pub fn fed<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>, input: &str) -> Ran {
        fed_to(&mut self.command(words), input)
    }

    /// Every file below the home with what it holds, state left out.
    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut all = BTreeMap::new();
        collect(&self.work(), &mut all);
        all
    }

    /// The text with the places of this run taken out.
    pub fn plain(&self, text: &str) -> String {
        let real = fs::canonicalize(self.path()).unwrap();
        let version = self.run(["charly", "version"]).good();
        text.replace(&real.display().to_string(), "HOME")
            .replace(&self.path().display().to_string(), "HOME")
            .replace(version.trim(), "VERSION")
    }
}

/// With something on its standard input, which then ends.
pub fn fed_to(command: &mut Command, input: &str) -> Ran {
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || {
        // A server that refuses to start reads nothing.
        let _ = stdin.write_all(input.as_bytes());
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    ran(&output)
}

pub fn done(command: &mut Command) -> Ran {
    ran(&command.output().unwrap())
}

fn ran(output: &std::process::Output) -> Ran {
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout.clone()).unwrap(),
        err: String::from_utf8(output.stderr.clone()).unwrap(),
    }
}

fn collect(folder: &Path, all: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() && !path.is_symlink() {
            all.insert(path.clone(), Vec::new());
            collect(&path, all);
        } else {
            all.insert(path.clone(), fs::read(&path).unwrap_or_default());
        }
    }
}
