//! A home of its own, with a folder for what runs that nobody else sees.

use serde_json::Value;
use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

pub struct Stage(TempDir);

/// What a command did.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    #[track_caller]
    pub fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.out, self.err);
        self
    }

    #[track_caller]
    pub fn json(self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|why| panic!("{why}: {}\n{}", self.out, self.err))
    }
}

pub fn pintle() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_pintle"))
}

impl Stage {
    /// None, told as skipped, where root has no mount namespace to hide in.
    pub fn new() -> Option<Self> {
        let stage = Self(tempfile::tempdir().unwrap());
        let run = stage.path().join("run");
        fs::create_dir(&run).unwrap();
        fs::set_permissions(&run, fs::Permissions::from_mode(0o700)).unwrap();
        let tried = stage.command(Path::new("/bin/true")).output().unwrap();
        if !tried.status.success() {
            pintle_testkit::skip("this place has no mount namespaces of its own");
            return None;
        }
        Some(stage)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn write(&self, file: &str, text: &str) -> PathBuf {
        let path = self.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub fn program(&self, file: &str, text: &str) -> PathBuf {
        let path = self.write(file, text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// Where a server of this stage writes down that it runs.
    pub fn records(&self) -> Vec<PathBuf> {
        let folder = self.path().join("run/pintle/servers");
        let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
        let paths = entries.map(|entry| entry.unwrap().path());
        // What is being written has another name until it is whole.
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect()
    }

    /// A command that sees the stage's `run` as the system's, so that no other server is seen or hit.
    pub fn command(&self, program: &Path) -> Command {
        let run = self.path().join("run");
        let mut command = if rustix::process::geteuid().is_root() {
            let script = format!("mount --bind {} /run && exec \"$0\" \"$@\"", run.display());
            let mut command = Command::new("unshare");
            command.args(["--mount", "sh", "-c", &script]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.current_dir(self.path()).env_clear().env("HOME", self.path()).env("PATH", "/usr/bin:/bin");
        command.env("XDG_RUNTIME_DIR", run).stdin(Stdio::null());
        command
    }

    pub fn run(&self, words: &[&str]) -> Ran {
        ran(self.command(pintle()).args(words))
    }

    /// What `status` tells of servers.
    pub fn servers(&self) -> Vec<Value> {
        self.run(&["eggs", "mcp", "status", "--output", "json"]).ends(0).json()["servers"].as_array().unwrap().clone()
    }

    /// `pintle` with these words as a server on pipes.
    pub fn server(&self, words: &[&str]) -> Server {
        let mut command = self.command(pintle());
        let mut child =
            command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Server { child, input, output }
    }
}

pub fn ran(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

pub struct Server {
    pub child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Server {
    pub fn pid(&self) -> i32 {
        self.child.id().try_into().unwrap()
    }

    /// One request, and its answer.
    pub fn ask(&mut self, request: &str) -> Value {
        writeln!(self.input.as_mut().unwrap(), "{request}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    pub fn initialize(&mut self, client: &str) {
        let request = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"2025-06-18","capabilities":{{}},"clientInfo":{{"name":"{client}","version":"1"}}}}}}"#
        );
        assert_eq!(self.ask(&request)["id"], 1);
    }

    /// Ends its input, and waits.
    pub fn leave(mut self) {
        self.input = None;
        assert!(self.child.wait().unwrap().success());
    }

    /// Whether it has ended by now or does so shortly.
    pub fn has_ended(&mut self) -> bool {
        eventually(|| self.child.try_wait().unwrap().is_some())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that has ended needs no more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether it becomes true.
pub fn eventually(mut is_true: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + Duration::from_secs(20);
    while Instant::now() < deadline {
        if is_true() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}
