//! The product as a client meets it: a project made by its own commands, a server over stdio or HTTP.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use tempfile::TempDir;

use crate::tools::{Grouped, clean, run};

/// The program under test.
pub fn pintle() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_pintle"))
}

/// A home with nothing in it but a project with one box, `hello`.
pub struct Home {
    folder: TempDir,
}

impl Home {
    pub fn new() -> Self {
        let home = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        let project = home.project();
        run(clean(&pintle(), home.path()).args(["charly", "box", "new", "project"]).arg(&project)).good();
        run(clean(&pintle(), home.path())
            .args(["charly", "box", "new", "box", "hello", "--base", "quay.io/fedora/fedora:43"])
            .current_dir(&project))
        .good();
        home
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn project(&self) -> PathBuf {
        self.path().join("project")
    }

    /// Writes a configuration file of a client, with its folders.
    pub fn write(&self, file: &str, text: &str) {
        let path = self.path().join(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder is made");
        std::fs::write(path, text).expect("the file is written");
    }

    /// A client program that runs in the project.
    pub fn client(&self, program: &Path) -> Command {
        let mut command = clean(program, self.path());
        command.current_dir(self.project());
        command
    }

    /// The words that start a stdio server, as a client's configuration holds them.
    pub fn stdio(&self) -> Vec<String> {
        let mut words = vec![pintle().display().to_string()];
        words.extend(["mcp", "serve", "--stdio", "--toolset", "charly"].map(str::to_owned));
        words
    }

    /// A server over HTTP on a free port of loopback, in the project.
    pub fn listening(&self) -> Listening {
        let mut command = clean(&pintle(), self.path());
        command.args(["mcp", "serve", "--listen", "127.0.0.1:0", "--toolset", "charly"]);
        Listening::start(command.current_dir(self.project()))
    }
}

/// A server that listens until this value goes.
pub struct Listening {
    pub url: String,
    _server: Grouped,
}

impl Listening {
    /// Starts the command and waits for its line `… at http://HOST:PORT/PATH` on stderr.
    pub fn start(command: &mut Command) -> Self {
        let mut server = Grouped::start(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()));
        let stderr = server.0.stderr.take().expect("stderr is piped");
        let (sender, lines) = mpsc::channel();
        // reads to the end, so that the server never waits for its stderr to be read
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let mut seen = String::new();
        loop {
            match lines.recv_timeout(Duration::from_secs(20)) {
                Ok(line) => {
                    if let Some(start) = line.find("http://") {
                        let url = line[start..].split_whitespace().next().unwrap_or_default().to_owned();
                        return Self { url, _server: server };
                    }
                    seen.push_str(&line);
                    seen.push('\n');
                }
                Err(why) => panic!("{command:?} does not say where it listens ({why}): {seen}"),
            }
        }
    }
}
