//! Finding the installed programs, and running one with a bound.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// No client needs that long; past it the test fails.
pub const LIMIT: Duration = Duration::from_secs(240);

/// The folder that `cargo xtask tools` fills.
pub fn folder() -> PathBuf {
    std::env::var_os("PINTLE_TOOLS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools"), PathBuf::from)
}

/// An installed program; none after telling the runner that this test is skipped.
pub fn need(program: &str) -> Option<PathBuf> {
    let path = folder().join("bin").join(program);
    if path.exists() {
        return Some(path);
    }
    pintle_testkit::skip(&format!("`{program}` is not installed: run `cargo xtask tools`"));
    None
}

/// A command that sees nothing of the real user: an empty environment, the installed programs first on the path, a
/// home of its own, and no wish to call anywhere.
pub fn clean(program: &Path, home: &Path) -> Command {
    let mut path = OsString::from(folder().join("bin"));
    path.push(":/usr/local/bin:/usr/bin:/bin");
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", path)
        .env("HOME", home)
        .env("LANG", "C.UTF-8")
        .env("NO_COLOR", "1")
        // whatever a client would like to fetch or tell elsewhere ends at a closed port
        .env("HTTP_PROXY", "http://127.0.0.1:1")
        .env("HTTPS_PROXY", "http://127.0.0.1:1")
        .env("NO_PROXY", "127.0.0.1,localhost")
        .current_dir(home);
    command
}

/// What a program printed and how it ended.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// Stdout of a program that ended well.
    pub fn good(self) -> String {
        assert_eq!(self.code, Some(0), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self.stdout
    }

    /// Stdout of a program that ended well, as JSON.
    pub fn json(self) -> serde_json::Value {
        let text = self.good();
        serde_json::from_str(&text).unwrap_or_else(|why| panic!("{why} in {text}"))
    }
}

/// A child with its whole process group, killed when this value goes.
pub struct Grouped(pub Child);

impl Grouped {
    pub fn start(command: &mut Command) -> Self {
        Self(command.process_group(0).spawn().unwrap_or_else(|why| panic!("cannot start {command:?}: {why}")))
    }
}

impl Drop for Grouped {
    fn drop(&mut self) {
        if let Some(group) = i32::try_from(self.0.id()).ok().and_then(rustix::process::Pid::from_raw) {
            // fails only when all of the group is gone already
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.0.wait();
    }
}

/// Runs to the end; a program that does not end in time is killed with all it started, and the test fails.
pub fn run(command: &mut Command) -> Ran {
    let mut child = Grouped::start(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()));
    let stdout = taken(child.0.stdout.take());
    let stderr = taken(child.0.stderr.take());
    let end = Instant::now() + LIMIT;
    let code = loop {
        match child.0.try_wait().expect("the program can be waited for") {
            Some(status) => break status.code(),
            None if Instant::now() > end => {
                drop(child);
                panic!(
                    "{command:?} did not end in {} s\nstdout: {}\nstderr: {}",
                    LIMIT.as_secs(),
                    text(&stdout),
                    text(&stderr)
                );
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    // what it left running would hold the pipes open
    drop(child);
    Ran { code, stdout: text(&stdout), stderr: text(&stderr) }
}

fn taken(stream: Option<impl std::io::Read + Send + 'static>) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    let mut stream = stream.expect("a piped stream");
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // a broken pipe ends the text there
        let _ = stream.read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    receiver
}

fn text(bytes: &mpsc::Receiver<Vec<u8>>) -> String {
    String::from_utf8_lossy(&bytes.recv_timeout(Duration::from_secs(5)).unwrap_or_default()).into_owned()
}
