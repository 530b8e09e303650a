//! A server that listens, until this value goes.

use crate::home::Home;
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Stdio},
};

pub struct Listening {
    child: Child,
    /// The start-up line.
    pub line: String,
    /// `HOST:PORT`
    pub address: String,
}

impl Listening {
    /// Starts it and waits for its line.
    pub fn start(home: &Home, words: &[&str], variable: Option<(&str, &str)>) -> Self {
        let mut command = home.command([&["mcp", "serve"], words].concat());
        command.envs(variable).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.split("http://").nth(1).unwrap_or_else(|| panic!("{words:?}: {line}"));
        let address = url.split('/').next().unwrap().to_owned();
        Self { child, line, address }
    }

    /// Posts a message; gives the status and everything that comes back.
    pub fn post(&self, path: &str, headers: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let host = if headers.to_lowercase().contains("host:") {
            String::new()
        } else {
            format!("Host: {}\r\n", self.address)
        };
        write!(
            stream,
            "POST {path} HTTP/1.1\r\n{host}{headers}Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status =
            answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_else(|| panic!("{answer}"));
        (status, answer)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
