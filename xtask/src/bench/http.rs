//! Just enough HTTP/1.1 to time calls on a kept connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use super::stdio::{MODERN, modern};
use crate::{Trouble, run::Grouped};

const PATIENCE: Duration = Duration::from_secs(20);

/// A server that listens, ended with this value.
pub struct Server {
    /// Held so that it ends with this value.
    _child: Grouped,
    /// `HOST:PORT`.
    pub address: String,
    /// `/mcp`.
    pub path: String,
}

impl Server {
    /// Starts the command and reads where it listens from its line `… at http://HOST:PORT/PATH` on stderr.
    pub fn start(command: &mut Command) -> Result<Self, Trouble> {
        let mut child = Grouped::start(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()))?;
        let stderr = child.0.stderr.take().ok_or_else(|| Trouble::Other("the server has no stderr".into()))?;
        let (sender, lines) = mpsc::channel();
        // reads on after the line, so that the server never blocks on its stderr
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        loop {
            let line = lines
                .recv_timeout(PATIENCE)
                .map_err(|_| Trouble::Other("the server does not say where it listens".into()))?;
            let Some((_, url)) = line.split_once("http://") else { continue };
            let url = url.split_whitespace().next().unwrap_or_default();
            let (address, path) = url.split_once('/').unwrap_or((url, ""));
            return Ok(Self { _child: child, address: address.to_owned(), path: format!("/{path}") });
        }
    }
}

/// One kept connection.
pub struct Connection {
    stream: BufReader<TcpStream>,
    address: String,
    path: String,
    next: u64,
}

impl Connection {
    pub fn open(server: &Server) -> Result<Self, Trouble> {
        let failed = |why| Trouble::Other(format!("cannot connect to {}: {why}", server.address));
        let stream = TcpStream::connect(&server.address).map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
        Ok(Self { stream: BufReader::new(stream), address: server.address.clone(), path: server.path.clone(), next: 1 })
    }

    /// Calls a tool in the stateless revision and gives the result.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, Trouble> {
        let id = self.next;
        self.next += 1;
        let params = modern(json!({"name": tool, "arguments": arguments}));
        let body = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string();
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {MODERN}\r\n\
             Mcp-Method: tools/call\r\nMcp-Name: {tool}\r\nContent-Length: {length}\r\n\r\n{body}",
            path = self.path,
            host = self.address,
            length = body.len(),
        );
        let text = self.exchange(&request).map_err(|why| Trouble::Other(format!("the connection broke: {why}")))?;
        // an event stream has the answer in its last data line
        let answer = text.lines().rev().find_map(|line| line.strip_prefix("data:")).unwrap_or(&text);
        let answer: Value = serde_json::from_str(answer.trim())
            .map_err(|_| Trouble::Other(format!("the server answers `{text:.200}`")))?;
        match answer.get("result") {
            Some(result) if result["isError"] != json!(true) => Ok(result.clone()),
            _ => Err(Trouble::Other(format!("the call of {tool} failed: {answer}"))),
        }
    }

    /// Sends a request and reads one response body, by length or in chunks.
    fn exchange(&mut self, request: &str) -> std::io::Result<String> {
        self.stream.get_mut().write_all(request.as_bytes())?;
        let mut length = None;
        let mut chunked = false;
        let mut line = String::new();
        loop {
            line.clear();
            if self.stream.read_line(&mut line)? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            let header = line.trim_end().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse::<usize>().ok();
            }
            chunked |= header.starts_with("transfer-encoding:") && header.ends_with("chunked");
        }
        let mut body = Vec::new();
        if chunked {
            while let size @ 1.. = self.chunk_size(&mut line)? {
                self.take(&mut body, size)?;
                self.stream.read_line(&mut line)?;
            }
            self.stream.read_line(&mut line)?;
        } else {
            self.take(&mut body, length.unwrap_or(0))?;
        }
        Ok(String::from_utf8_lossy(&body).into_owned())
    }

    fn chunk_size(&mut self, line: &mut String) -> std::io::Result<usize> {
        line.clear();
        self.stream.read_line(line)?;
        let digits = line.trim().split(';').next().unwrap_or_default();
        usize::from_str_radix(digits, 16).map_err(|_| std::io::ErrorKind::InvalidData.into())
    }

    fn take(&mut self, body: &mut Vec<u8>, size: usize) -> std::io::Result<()> {
        let start = body.len();
        body.resize(start + size, 0);
        self.stream.read_exact(&mut body[start..])
    }
}

/// The size of a file in MB (10^6 bytes).
pub fn megabytes(path: &Path) -> Result<f64, Trouble> {
    let size = std::fs::metadata(path).map_err(Trouble::file("read", path))?.len();
    // a binary is far below 2^52 bytes, where the conversion is exact
    Ok(size as f64 / 1e6)
}
