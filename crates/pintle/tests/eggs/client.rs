//! A client that speaks JSON-RPC line by line, keeps every byte that it was sent, and believes nothing it does not see.

use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

/// Nothing takes that long; whoever waits longer hangs.
pub const HANGS: Duration = Duration::from_secs(90);

pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: mpsc::Receiver<Vec<u8>>,
    stderr: Arc<Mutex<Vec<u8>>>,
    next_id: i64,
    /// Everything that came, byte by byte.
    pub heard: Vec<u8>,
    /// What came while something else was waited for.
    told: Vec<Value>,
}

impl Client {
    pub fn of(command: &mut Command) -> Self {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.unwrap();
        let (sender, lines) = mpsc::channel();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            loop {
                let mut line = Vec::new();
                match output.read_until(b'\n', &mut line) {
                    Ok(0) | Err(_) => return,
                    Ok(_) => drop(sender.send(line)),
                }
            }
        });
        let stderr = Arc::new(Mutex::new(Vec::new()));
        let (mut errors, kept) = (child.stderr.take().unwrap(), Arc::clone(&stderr));
        thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(count @ 1..) = errors.read(&mut chunk) {
                kept.lock().unwrap().extend_from_slice(&chunk[..count]);
            }
        });
        let input = child.stdin.take();
        Self { child, input, lines, stderr, next_id: 0, heard: Vec::new(), told: Vec::new() }
    }

    /// What the server said to whoever started it.
    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.stderr.lock().unwrap()).into_owned()
    }

    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    pub fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes());
    }

    /// The next message; none at the end. Whatever is not a line of JSON-RPC fails the test.
    #[track_caller]
    pub fn next(&mut self) -> Option<Value> {
        let line = match self.lines.recv_timeout(HANGS) {
            Ok(line) => line,
            Err(mpsc::RecvTimeoutError::Disconnected) => return None,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("no message: {}", self.stderr()),
        };
        self.heard.extend_from_slice(&line);
        let text = String::from_utf8_lossy(&line);
        assert!(text.ends_with('\n') && !text.contains(['\u{1b}', '\0']), "no line of the protocol: {text:?}");
        let message: Value = serde_json::from_slice(&line).unwrap_or_else(|error| panic!("{error} in {text:?}"));
        assert_eq!(message["jsonrpc"], "2.0", "{text}");
        Some(message)
    }

    /// The next message that is so; the others are kept aside.
    #[track_caller]
    pub fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.told.iter().position(&wanted) {
            return self.told.remove(at);
        }
        loop {
            let Some(message) = self.next() else { panic!("the server ended: {}", self.stderr()) };
            if wanted(&message) {
                return message;
            }
            self.told.push(message);
        }
    }

    /// The notifications of that kind that came so far.
    pub fn notifications(&self, method: &str) -> Vec<&Value> {
        self.told.iter().filter(|message| message["method"] == method).collect()
    }

    /// Sends a request and gives its id.
    pub fn begin(&mut self, method: &str, params: Value) -> i64 {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The answer to a request; a request or forged answer of that id does not count twice.
    #[track_caller]
    pub fn answer(&mut self, id: i64) -> Value {
        self.until(|message| message.get("method").is_none() && message["id"] == id)
    }

    #[track_caller]
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.answer(id)
    }

    /// Opens a session and gives what the server says of itself.
    #[track_caller]
    pub fn initialize(&mut self, version: &str) -> Value {
        let client = json!({"name": "scripted", "version": "1"});
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
        let answer = self.request("initialize", params);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer["result"].clone()
    }

    /// Starts the call of a tool; its progress is told under the id.
    pub fn begin_call(&mut self, tool: &str, arguments: &Value) -> i64 {
        let token = self.next_id + 1;
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": token}});
        self.begin("tools/call", params)
    }

    /// The result of a call.
    #[track_caller]
    pub fn result(&mut self, id: i64) -> Value {
        let answer = self.answer(id);
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    /// Calls a tool and gives the result.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.begin_call(tool, &arguments);
        self.result(id)
    }

    /// The arguments with the plan's token, which a first call gives.
    #[track_caller]
    pub fn planned(&mut self, tool: &str, arguments: &Value) -> Value {
        let plan = self.call(tool, arguments.clone());
        let token = plan["structuredContent"]["plan"]["token"].clone();
        assert!(token.is_string(), "{plan}");
        let mut arguments = arguments.clone();
        arguments["plan_token"] = token;
        arguments
    }

    /// Calls a tool, and calls it again with the plan's token.
    #[track_caller]
    pub fn confirmed(&mut self, tool: &str, arguments: Value) -> Value {
        let arguments = self.planned(tool, &arguments);
        self.call(tool, arguments)
    }

    /// The text of a resource, or the error.
    #[track_caller]
    pub fn read(&mut self, uri: &str) -> Result<String, Value> {
        let answer = self.request("resources/read", json!({"uri": uri}));
        match answer.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(answer["result"]["contents"][0]["text"].as_str().unwrap().to_owned()),
        }
    }

    /// Says that nothing more will come.
    pub fn hang_up(&mut self) {
        self.input = None;
    }

    /// Hears everything to the end.
    pub fn end(&mut self) -> ExitStatus {
        self.hang_up();
        while let Some(message) = self.next() {
            self.told.push(message);
        }
        self.child.wait().unwrap()
    }

    /// Ends the server as the kernel would.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.hang_up();
        if thread::panicking() {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// The text of a result.
pub fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("a text in {result}"))
}

/// The answer of a result that went well.
#[track_caller]
pub fn good(result: &Value) -> &Value {
    assert!(result["isError"] != true && result["structuredContent"]["outcome"] == "ok", "{result}");
    &result["structuredContent"]["answer"]
}

/// The failure of a result that did not, by its code.
#[track_caller]
pub fn bad<'a>(result: &'a Value, code: &str) -> &'a Value {
    let said = &result["structuredContent"];
    assert!(result["isError"] == true && said["outcome"] == "failed", "{result}");
    assert_eq!(said["failure"]["code"], code, "{result}");
    &said["failure"]
}
