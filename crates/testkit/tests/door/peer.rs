//! A client that speaks JSON-RPC line by line and believes nothing it does not see.

use pintle_core::Toolset;
use pintle_dispatch::{Catalog, Settings};
use pintle_mcp::{ServerOptions, serve_streams};
use pintle_testkit::{World, fixture_toolset, trial_toolset};
use serde_json::{Value, json};
use std::{collections::VecDeque, sync::Arc, time::Duration};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, Lines};

/// Nothing takes that long; whoever waits longer hangs.
pub const HANGS: Duration = Duration::from_secs(60);
pub const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

pub struct Peer {
    lines: Lines<BufReader<Box<dyn AsyncRead + Send + Unpin>>>,
    output: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    next_id: i64,
    /// What came while something else was waited for.
    pub told: VecDeque<Value>,
    /// Sent with every request of the newer era.
    pub meta: Value,
}

impl Peer {
    pub fn over(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let input: Box<dyn AsyncRead + Send + Unpin> = Box::new(input);
        Self {
            lines: BufReader::new(input).lines(),
            output: Some(Box::new(output)),
            next_id: 0,
            told: VecDeque::new(),
            meta: json!({}),
        }
    }

    /// A server in this process over these toolsets.
    pub fn serving(toolsets: Vec<Toolset>, settings: Settings, options: ServerOptions) -> Self {
        let catalog = Catalog::new(toolsets, settings).unwrap();
        let (ours, theirs) = tokio::io::duplex(1024 * 1024);
        let (read, write) = tokio::io::split(theirs);
        tokio::spawn(serve_streams(catalog, options, read, write));
        let (read, write) = tokio::io::split(ours);
        Self::over(read, write)
    }

    /// A server in this process over the trial operations.
    pub fn trial(world: &Arc<World>, settings: Settings) -> Self {
        Self::serving(vec![trial_toolset(world, 0)], settings, ServerOptions::new("1"))
    }

    /// A server in this process over what the conformance suite wants.
    pub fn fixture() -> Self {
        Self::serving(vec![fixture_toolset()], Settings::default(), ServerOptions::new("1"))
    }

    pub async fn send_bytes(&mut self, bytes: &[u8]) {
        let output = self.output.as_mut().unwrap();
        output.write_all(bytes).await.unwrap();
        output.flush().await.unwrap();
    }

    pub async fn send(&mut self, message: Value) {
        self.send_bytes(format!("{message}\n").as_bytes()).await;
    }

    /// Says that nothing more will come.
    pub async fn hang_up(&mut self) {
        if let Some(mut output) = self.output.take() {
            output.shutdown().await.unwrap();
        }
    }

    /// The next message; `None` at the end. Whatever is not JSON-RPC fails the test.
    pub async fn next(&mut self) -> Option<Value> {
        let line = tokio::time::timeout(HANGS, self.lines.next_line()).await.expect("a message").unwrap()?;
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line:?}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        Some(message)
    }

    /// The next message that is so; the others are kept aside.
    pub async fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.told.iter().position(&wanted) {
            return self.told.remove(at).unwrap();
        }
        loop {
            let message = self.next().await.expect("a message before the end");
            if wanted(&message) {
                return message;
            }
            self.told.push_back(message);
        }
    }

    pub async fn answer(&mut self, id: impl Into<Value>) -> Value {
        let id = id.into();
        self.until(|message| message.get("method").is_none() && message["id"] == id).await
    }

    /// Sends a request and gives its id.
    pub async fn begin(&mut self, method: &str, params: Value) -> i64 {
        self.next_id += 1;
        let id = self.next_id;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    /// Sends a request and waits for its answer.
    pub async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        self.answer(id).await
    }

    /// Like `request`, with what every request of the newer era carries.
    pub async fn modern(&mut self, method: &str, params: Value) -> Value {
        let params = self.with_meta(params);
        self.request(method, params).await
    }

    pub fn with_meta(&self, mut params: Value) -> Value {
        let mut meta = json!({VERSION: "2026-07-28", CAPABILITIES: {}});
        for extra in [&self.meta, &params["_meta"].clone()] {
            meta.as_object_mut().unwrap().extend(extra.as_object().cloned().unwrap_or_default());
        }
        params["_meta"] = meta;
        params
    }

    /// Opens a session of the older era and gives what the server says of itself.
    pub async fn initialize(&mut self, version: &str, capabilities: Value) -> Value {
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": version, "capabilities": capabilities, "clientInfo": client});
        let answer = self.request("initialize", params).await;
        self.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        answer["result"].clone()
    }

    /// Calls a tool in the older era and gives the result.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments})).await;
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }
}

/// The text of a result.
pub fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("a text in {result}"))
}
