//! A raw JSON-RPC session over a child's stdin and stdout, with the moment at which each line came.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{Trouble, run::Grouped};

/// No answer by then is a failure of the measure.
const PATIENCE: Duration = Duration::from_secs(20);

/// The revision that begins with `initialize`, as most clients speak it.
pub const LEGACY: &str = "2025-11-25";
/// The stateless revision.
pub const MODERN: &str = "2026-07-28";

/// A server as a child.
pub struct Session {
    child: Grouped,
    stdin: Option<ChildStdin>,
    lines: mpsc::Receiver<(Instant, String)>,
    /// Answers that came while another was waited for.
    early: HashMap<u64, (Instant, Value)>,
    next: u64,
    /// When the child was about to be started.
    pub born: Instant,
}

/// A command with an empty environment but a path and a home.
pub fn clean(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.env_clear().env("PATH", path).env("HOME", home).current_dir(home);
    command
}

impl Session {
    pub fn start(command: &mut Command) -> Result<Self, Trouble> {
        let born = Instant::now();
        let mut child = Grouped::start(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()))?;
        let stdin = child.0.stdin.take();
        let stdout = child.0.stdout.take().ok_or_else(|| Trouble::Other("the child has no stdout".into()))?;
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send((Instant::now(), line)).is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, stdin, lines, early: HashMap::new(), next: 1, born })
    }

    pub fn pid(&self) -> u32 {
        self.child.0.id()
    }

    fn write(&mut self, message: &Value) -> Result<(), Trouble> {
        let gone = |why| Trouble::Other(format!("the server does not read: {why}"));
        let stdin = self.stdin.as_mut().ok_or_else(|| Trouble::Other("stdin is closed".into()))?;
        let mut line = message.to_string();
        line.push('\n');
        stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()).map_err(gone)
    }

    pub fn notify(&mut self, method: &str, params: Value) -> Result<(), Trouble> {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    /// Sends a request and gives its id.
    pub fn send(&mut self, method: &str, params: Value) -> Result<u64, Trouble> {
        let id = self.next;
        self.next += 1;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        Ok(id)
    }

    /// Waits for the answer to a request and gives its result with the moment at which it came.
    pub fn answer(&mut self, id: u64) -> Result<(Instant, Value), Trouble> {
        let (at, message) = match self.early.remove(&id) {
            Some(early) => early,
            None => self.wait(id)?,
        };
        match message.get("result") {
            Some(result) => Ok((at, result.clone())),
            None => Err(Trouble::Other(format!("the server answers {}", message["error"]))),
        }
    }

    fn wait(&mut self, id: u64) -> Result<(Instant, Value), Trouble> {
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let (at, line) = self
                .lines
                .recv_timeout(left)
                .map_err(|why| Trouble::Other(format!("no answer to request {id}: {why}")))?;
            let Ok(message) = serde_json::from_str::<Value>(&line) else {
                return Err(Trouble::Other(format!("the server prints what is not JSON: {line:.100}")));
            };
            match message["id"].as_u64() {
                Some(found) if message.get("method").is_none() && found == id => return Ok((at, message)),
                Some(found) if message.get("method").is_none() => {
                    self.early.insert(found, (at, message));
                }
                _ => {}
            }
        }
    }

    /// Whether an answer to this request comes within the given time.
    pub fn answers_within(&mut self, id: u64, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        while let Ok((at, line)) = self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
            if let Ok(message) = serde_json::from_str::<Value>(&line)
                && let Some(found) = message["id"].as_u64()
            {
                self.early.insert(found, (at, message));
            }
            if self.early.contains_key(&id) {
                return true;
            }
        }
        self.early.contains_key(&id)
    }

    pub fn request(&mut self, method: &str, params: Value) -> Result<(Instant, Value), Trouble> {
        let id = self.send(method, params)?;
        self.answer(id)
    }

    /// Calls a tool: milliseconds from the request to the answer, and the answer, which is no error.
    pub fn tool(&mut self, tool: &str, arguments: Value) -> Result<(f64, Value), Trouble> {
        let start = Instant::now();
        let (at, answer) = self.request("tools/call", json!({"name": tool, "arguments": arguments}))?;
        if answer["isError"] == true {
            return Err(Trouble::Other(format!("{tool} failed: {:.300}", answer["content"].to_string())));
        }
        Ok(((at - start).as_secs_f64() * 1e3, answer))
    }

    /// The handshake of the older revisions; gives the moment of the answer.
    pub fn initialize(&mut self) -> Result<Instant, Trouble> {
        let (at, _) = self.request(
            "initialize",
            json!({
                "protocolVersion": LEGACY,
                "capabilities": {},
                "clientInfo": {"name": "bench", "version": "1"},
            }),
        )?;
        self.notify("notifications/initialized", json!({}))?;
        Ok(at)
    }

    /// Closes stdin and gives the time until the child ended.
    pub fn close(mut self) -> Result<Duration, Trouble> {
        let start = Instant::now();
        self.stdin = None;
        while start.elapsed() < PATIENCE {
            match self.child.0.try_wait() {
                Ok(Some(_)) => return Ok(start.elapsed()),
                Ok(None) => std::thread::sleep(Duration::from_micros(200)),
                Err(why) => return Err(Trouble::Other(format!("cannot wait for the server: {why}"))),
            }
        }
        Err(Trouble::Other(format!("the server still runs {} s after its stdin closed", PATIENCE.as_secs())))
    }
}

/// Parameters of the stateless revision: every request carries who asks and in which revision.
pub fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    });
    params
}

/// Resident memory of a process in MB (10^6 bytes).
pub fn resident(pid: u32) -> Result<f64, Trouble> {
    memory(pid, "VmRSS:")
}

/// The most that it ever was.
pub fn highest(pid: u32) -> Result<f64, Trouble> {
    memory(pid, "VmHWM:")
}

fn memory(pid: u32, field: &str) -> Result<f64, Trouble> {
    let path = format!("/proc/{pid}/status");
    let status = std::fs::read_to_string(&path).map_err(Trouble::file("read", Path::new(&path)))?;
    status
        .lines()
        .find_map(|line| line.strip_prefix(field))
        .and_then(|rest| rest.trim().strip_suffix("kB"))
        .and_then(|number| number.trim().parse::<f64>().ok())
        .map(|kilobytes| kilobytes * 1024.0 / 1e6)
        .ok_or_else(|| Trouble::Other(format!("`{path}` tells no memory")))
}
