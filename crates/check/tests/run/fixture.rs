//! A small MCP server over Streamable HTTP, of the kind that notebooks have: `list_notebooks`, `insert_cell`,
//! `execute_cell`. It writes down everything that it is asked.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use pintle_check::Server;
use serde_json::{Value, json};

/// How the fixture answers.
#[derive(Clone, Copy, Default)]
pub struct Manner {
    /// As an event stream instead of plain JSON.
    pub stream: bool,
    /// 2026-07-28: no handshake.
    pub modern: bool,
}

pub struct Fixture {
    pub address: String,
    log: Arc<Mutex<Vec<String>>>,
}

#[derive(Clone)]
struct Shared {
    manner: Manner,
    log: Arc<Mutex<Vec<String>>>,
}

impl Fixture {
    pub async fn start(manner: Manner) -> Self {
        let log = Arc::new(Mutex::new(Vec::new()));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let router = router(manner, log.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, log }
    }

    pub fn server(&self) -> Server {
        Server::url("jupyter", format!("http://{}/mcp", self.address))
    }

    /// Methods in the order in which they came; `DELETE` for the end of a session.
    pub fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    pub fn count(&self, method: &str) -> usize {
        self.log().iter().filter(|known| *known == method).count()
    }
}

/// The fixture's answers, for any listener.
pub fn router(manner: Manner, log: Arc<Mutex<Vec<String>>>) -> Router {
    Router::new().route("/mcp", any(answer)).with_state(Shared { manner, log })
}

async fn answer(State(shared): State<Shared>, method: axum::http::Method, headers: HeaderMap, body: Bytes) -> Response {
    let note = |text: &str| shared.log.lock().unwrap().push(text.to_owned());
    if method == "DELETE" {
        note("DELETE");
        return StatusCode::NO_CONTENT.into_response();
    }
    if method != "POST" {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let message: Value = serde_json::from_slice(&body).unwrap();
    let name = message["method"].as_str().unwrap_or_default().to_owned();
    note(&name);
    if let Some(token) = headers.get("x-token") {
        note(&format!("x-token {}", token.to_str().unwrap()));
    }
    let Some(id) = message.get("id") else { return StatusCode::ACCEPTED.into_response() };
    let mut reply = match result(&name, &message["params"], shared.manner.modern) {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err((code, text)) => {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text, "data": {"hint": "none"}}})
        }
    };
    if shared.manner.modern && reply.get("result").is_some() {
        reply["result"]["resultType"] = json!("complete");
    }
    let mut response = if shared.manner.stream {
        ([(header::CONTENT_TYPE, "text/event-stream")], format!("event: message\ndata: {reply}\n\n")).into_response()
    } else {
        ([(header::CONTENT_TYPE, "application/json")], reply.to_string()).into_response()
    };
    if name == "initialize" {
        response.headers_mut().insert("mcp-session-id", "s1".parse().unwrap());
    }
    response
}

fn result(method: &str, params: &Value, modern: bool) -> Result<Value, (i64, &'static str)> {
    let capabilities = json!({"tools": {}, "resources": {}, "prompts": {}, "completions": {}});
    let info = json!({"name": "notebooks", "version": "1"});
    Ok(match method {
        "server/discover" if modern => json!({
            "supportedVersions": ["2026-07-28"], "capabilities": capabilities, "ttlMs": 0, "cacheScope": "private",
            "_meta": {"io.modelcontextprotocol/serverInfo": info},
        }),
        "server/discover" => return Err((-32601, "unknown method")),
        "initialize" => {
            json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info})
        }
        "ping" => json!({}),
        "tools/list" => tools(params["cursor"].as_str()),
        "tools/call" => return call(params),
        "resources/list" => json!({"resources": [
            {"uri": "file:///workspace/data.txt", "name": "data", "mimeType": "text/plain"},
            {"uri": "file:///workspace/empty.txt", "name": "empty"},
        ]}),
        "resources/templates/list" => {
            json!({"resourceTemplates": [{"uriTemplate": "file:///{path}", "name": "any", "mimeType": "text/plain"}]})
        }
        "resources/read" => match params["uri"].as_str().unwrap_or_default() {
            "file:///workspace/data.txt" => json!({"contents": [
                {"uri": params["uri"], "text": "alpha"},
                {"uri": params["uri"], "mimeType": "application/zip", "blob": "AAECAw=="},
            ]}),
            "file:///workspace/empty.txt" => json!({"contents": [{"uri": params["uri"], "text": ""}]}),
            _ => return Err((-32002, "no such resource")),
        },
        "prompts/list" => json!({"prompts": [{"name": "review", "description": "Reviews.\nWell."}]}),
        "prompts/get" => json!({"messages": [{"role": "user", "content": {
            "type": "text", "text": format!("review {}", params["arguments"]["path"].as_str().unwrap_or("all"))}}]}),
        "completion/complete" => {
            let start = params["argument"]["value"].as_str().unwrap_or_default();
            let all = ["alpha.ipynb", "alpine.ipynb", "beta.ipynb"];
            json!({"completion": {"values": all.iter().filter(|name| name.starts_with(start)).collect::<Vec<_>>()}})
        }
        _ => return Err((-32601, "unknown method")),
    })
}

/// Three pages.
fn tools(cursor: Option<&str>) -> Value {
    let tool = |name: &str, description: &str| {
        let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
        json!({"name": name, "description": description, "inputSchema": schema})
    };
    match cursor {
        None => json!({"tools": [tool("list_notebooks", "\n  List all notebooks.  \nSlowly.")], "nextCursor": "2"}),
        Some("2") => json!({"tools": [tool("insert_cell", "Insert a cell.")], "nextCursor": "3"}),
        _ => json!({"tools": [tool("execute_cell", "Execute a cell.")]}),
    }
}

fn call(params: &Value) -> Result<Value, (i64, &'static str)> {
    let text = |text: String| json!({"content": [{"type": "text", "text": text}]});
    let path = params["arguments"]["path"].as_str();
    Ok(match (params["name"].as_str().unwrap_or_default(), path) {
        ("list_notebooks", _) => json!({
            "content": [{"type": "text", "text": "a.ipynb"}, {"type": "text", "text": "b.ipynb"}],
            "structuredContent": {"notebooks": ["a.ipynb", "b.ipynb"], "count": 2},
        }),
        ("insert_cell", Some(path)) => text(format!("inserted into {path}")),
        ("insert_cell", None) => {
            json!({"content": [{"type": "text", "text": "path is missing"}], "isError": true})
        }
        ("execute_cell", _) => json!({"content": [
            {"type": "image", "mimeType": "image/png", "data": "AAAAAA=="},
            {"type": "audio", "mimeType": "audio/wav", "data": "AAAA"},
            {"type": "resource_link", "uri": "file:///workspace/out.png", "name": "out"},
        ]}),
        _ => return Err((-32602, "unknown tool")),
    })
}
