//! Drives headless Chromium over its debugging pipe: real keys, real media settings, every error it reports.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The browser answers in moments; past this something hangs and the test fails.
const LIMIT: Duration = Duration::from_secs(120);

/// Chromium in PATH; none after telling the runner that this test is skipped. In CI it must be there.
pub fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    if let Some(found) = std::env::split_paths(&path).map(|folder| folder.join("chromium")).find(|file| file.is_file())
    {
        return Some(found);
    }
    let reason = "`chromium` is not in PATH";
    assert!(std::env::var_os("CI").is_none(), "{reason}, and CI must have it");
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("a test without name");
    eprintln!("skipped {name}: {reason}");
    if let Some(file) = std::env::var_os("PINTLE_SKIPS") {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file).unwrap();
        file.write_all(format!("{name}\t{reason}\n").as_bytes()).unwrap();
    }
    None
}

pub struct Browser {
    child: Child,
    orders: ChildStdin,
    answers: Receiver<Value>,
    session: Option<String>,
    last: u64,
    /// What the page threw, logged or tried to load against its policy.
    pub troubles: Vec<Value>,
    _home: tempfile::TempDir,
}

impl Browser {
    /// Starts it with an empty profile and opens the file.
    pub fn open(program: &Path, file: &Path) -> Self {
        let home = tempfile::tempdir().unwrap();
        // The pipe is at descriptors 3 and 4, which only a shell can put there without unsafe code.
        let mut child = Command::new("/bin/sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "sh"])
            .arg(program)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"])
            .args(["--disable-component-update", "--disable-sync", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", home.path().display()))
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", home.path())
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let orders = child.stdin.take().unwrap();
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        let (send, answers) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while reader.read_until(0, &mut message).is_ok_and(|read| read > 0) {
                message.pop();
                let Ok(value) = serde_json::from_slice(&message) else { break };
                if send.send(value).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let mut browser = Self { child, orders, answers, session: None, last: 0, troubles: Vec::new(), _home: home };
        let target = browser.ask("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let session = browser.ask("Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        browser.go(file);
        browser
    }

    /// Loads the file anew.
    pub fn go(&mut self, file: &Path) {
        let url = format!("file://{}", file.display());
        self.ask("Page.navigate", json!({"url": url}));
        self.eval(
            "new Promise(done => document.readyState === 'complete' ? done() : addEventListener('load', () => done()))",
        );
    }

    /// Sends a command and waits for its answer; events on the way are looked through for troubles.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let mut order = json!({"id": self.last, "method": method, "params": params});
        if let Some(session) = &self.session {
            order["sessionId"] = json!(session);
        }
        self.orders.write_all(format!("{order}\0").as_bytes()).unwrap();
        self.orders.flush().unwrap();
        loop {
            let message = self.answers.recv_timeout(LIMIT).unwrap_or_else(|why| panic!("{method}: {why}"));
            if message["id"] == json!(self.last) {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.notice(message);
        }
    }

    fn notice(&mut self, event: Value) {
        let loads = event["params"]["request"]["url"].as_str().is_some_and(|url| !url.starts_with("file:"));
        match event["method"].as_str() {
            Some("Runtime.exceptionThrown" | "Log.entryAdded" | "Runtime.consoleAPICalled") => {
                self.troubles.push(event)
            }
            Some("Network.requestWillBeSent") if loads => self.troubles.push(event),
            _ => {}
        }
    }

    /// The value of an expression in the page, promises awaited.
    pub fn eval(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.ask("Runtime.evaluate", params);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Presses and lets go a key, as a person would.
    pub fn key(&mut self, key: &str) {
        let (code, text) = match key {
            "Enter" => (13, "\r"),
            "Tab" => (9, ""),
            "Escape" => (27, ""),
            "ArrowUp" => (38, ""),
            "ArrowDown" => (40, ""),
            " " => (32, " "),
            "/" => (191, "/"),
            _ => panic!("unknown key {key}"),
        };
        let mut press = json!({"type": if text.is_empty() { "rawKeyDown" } else { "keyDown" }, "key": key,
            "windowsVirtualKeyCode": code});
        if !text.is_empty() {
            press["text"] = json!(text);
        }
        self.ask("Input.dispatchKeyEvent", press);
        self.ask("Input.dispatchKeyEvent", json!({"type": "keyUp", "key": key, "windowsVirtualKeyCode": code}));
    }

    /// Types text where the focus is.
    pub fn write(&mut self, text: &str) {
        self.ask("Input.insertText", json!({"text": text}));
    }

    /// Colour scheme and size of the window.
    pub fn look(&mut self, scheme: &str, width: u32, height: u32) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.ask("Emulation.setEmulatedMedia", json!({"features": features}));
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500});
        self.ask("Emulation.setDeviceMetricsOverride", size);
    }

    /// A picture of what the window shows, as PNG.
    pub fn picture(&mut self) -> Vec<u8> {
        use base64::Engine as _;
        let answer = self.ask("Page.captureScreenshot", json!({"format": "png"}));
        base64::engine::general_purpose::STANDARD.decode(answer["data"].as_str().unwrap()).unwrap()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.session = None;
        let close = json!({"id": self.last + 1, "method": "Browser.close"});
        let asked = self.orders.write_all(format!("{close}\0").as_bytes()).and_then(|()| self.orders.flush());
        // The pipe ends with the browser; one that does not close is killed.
        let closed = asked.is_ok()
            && loop {
                match self.answers.recv_timeout(Duration::from_secs(10)) {
                    Ok(_) => {}
                    Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break true,
                    Err(std::sync::mpsc::RecvTimeoutError::Timeout) => break false,
                }
            };
        if !closed {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}
