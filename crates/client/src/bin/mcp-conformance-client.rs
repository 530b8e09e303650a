//! The client that the official conformance suite drives: this crate, and nothing else, against the scenario's
//! server. The suite appends the URL as last argument and sets `MCP_CONFORMANCE_*`.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use pintle_client::{
    Browser, CallOptions, Endpoint, Error, Grant, Handler, Http, OAuth, OAuthSettings, Options, RpcError,
    ServerRequest, Session, Transport, connect,
};
use serde_json::{Map, Value, json};

/// Describes this client to authorization servers that take a URL as client ID.
const CLIENT_METADATA: &str = "https://conformance-test.local/client-metadata.json";
const REDIRECT_URI: &str = "http://localhost:3000/callback";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "the suite shows what a failed client says")]
            {
                eprintln!("mcp-conformance-client: {error}");
            }
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Error> {
    let url = std::env::args().next_back().unwrap_or_default();
    let context: Value = std::env::var("MCP_CONFORMANCE_CONTEXT")
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or(Value::Null);
    let mut http = Http::new(&url)?;
    http.transport = Transport::Http;
    let text = |name: &str| context.get(name).and_then(Value::as_str).map(str::to_owned);
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let settings = OAuthSettings {
        grant: if scenario.starts_with("auth/client-credentials") { Grant::ClientCredentials } else { Grant::Consent },
        redirect_uri: REDIRECT_URI.into(),
        client_name: "pintle".into(),
        client_id: text("client_id"),
        client_secret: text("client_secret"),
        client_metadata_url: Some(CLIENT_METADATA.into()),
        ..OAuthSettings::default()
    };
    let options = Options {
        // No scenario's server is silent, but on a busy machine many are slow.
        probe_limit: Duration::from_secs(15),
        handler: Arc::new(Agreeable),
        authorizer: Some(Arc::new(OAuth::new(settings, Arc::new(Headless))?)),
        ..Options::default()
    };
    let session = connect(&Endpoint::Url(http), options).await?;
    let outcome = exercise(&session, &context).await;
    let closed = session.close().await;
    outcome?;
    closed.map(drop)
}

/// Does with a server what its scenario may want to see: lists everything, calls every tool (or what the
/// scenario names), reads and gets what there is.
async fn exercise(session: &Session, context: &Value) -> Result<(), Error> {
    let options = CallOptions::default();
    let offers = |what: &str| session.server().capabilities.get(what).is_some();
    // Some scenarios' servers answer without declaring that they have tools.
    let tools = match session.list_tools(&options).await {
        Err(error) if !offers("tools") && error.rpc().is_none() => {
            let result = session.request("tools/list", None, &options).await?;
            result.get("tools").and_then(Value::as_array).cloned().unwrap_or_default()
        }
        listed => listed?,
    };
    let named = context.get("toolCalls").and_then(Value::as_array);
    let calls: Vec<(String, Value)> = match named {
        Some(named) => {
            named.iter().map(|call| (name_of(call), call.get("arguments").cloned().unwrap_or(json!({})))).collect()
        }
        None => tools.iter().map(|tool| (name_of(tool), with_schema(arguments(tool), &tools))).collect(),
    };
    for (tool, arguments) in calls {
        match session.call_tool(&tool, Some(arguments), &options).await {
            // What a tool does not like about made-up arguments is its own affair.
            Err(error) if error.rpc().is_none() => return Err(error),
            _ => {}
        }
    }
    if offers("resources") {
        for resource in session.list_resources(&options).await? {
            if let Some(uri) = resource.get("uri").and_then(Value::as_str) {
                session.read_resource(uri, &options).await?;
            }
        }
    }
    if offers("prompts") {
        for prompt in session.list_prompts(&options).await? {
            session.get_prompt(&name_of(&prompt), None, &options).await?;
        }
    }
    Ok(())
}

fn name_of(item: &Value) -> String {
    item.get("name").and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Hands the schema of the first tool, as it came, to a tool that wants one.
fn with_schema(mut arguments: Value, tools: &[Value]) -> Value {
    if let Some(schema) = arguments.get_mut("schema") {
        *schema = tools.first().and_then(|tool| tool.get("inputSchema")).cloned().unwrap_or(json!({}));
    }
    arguments
}

/// Arguments that satisfy the types of what a tool requires.
fn arguments(tool: &Value) -> Value {
    let schema = tool.get("inputSchema").unwrap_or(&Value::Null);
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut arguments = Map::new();
    for name in required.iter().filter_map(Value::as_str) {
        let kind = schema.pointer(&format!("/properties/{name}/type")).and_then(Value::as_str);
        let value = match kind {
            Some("number" | "integer") => json!(1),
            Some("boolean") => json!(true),
            Some("array") => json!([]),
            Some("object") => json!({}),
            _ => json!("test"),
        };
        arguments.insert(name.to_owned(), value);
    }
    Value::Object(arguments)
}

/// Consents by following the link and reading where it leads.
struct Headless;

impl Browser for Headless {
    fn visit(&self, url: &str) -> BoxFuture<'_, Result<String, String>> {
        let url = url.to_owned();
        Box::pin(async move {
            let tls = rustls::ClientConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
                .with_safe_default_protocol_versions()
                .map_err(|error| error.to_string())?
                .with_root_certificates(rustls::RootCertStore::empty())
                .with_no_client_auth();
            let client = reqwest::Client::builder()
                .redirect(reqwest::redirect::Policy::none())
                .tls_backend_preconfigured(tls)
                .build()
                .map_err(|error| error.to_string())?;
            let response = client.get(url).send().await.map_err(|error| error.to_string())?;
            response
                .headers()
                .get("location")
                .and_then(|location| location.to_str().ok())
                .map(str::to_owned)
                .ok_or_else(|| format!("no redirect, but HTTP status {}", response.status().as_u16()))
        })
    }
}

/// Accepts every form with its defaults, has no roots, and answers for a model.
struct Agreeable;

impl Handler for Agreeable {
    fn capabilities(&self) -> Value {
        json!({"elicitation": {"form": {}}, "sampling": {}, "roots": {}})
    }

    fn answer(&self, request: ServerRequest) -> BoxFuture<'_, Result<Value, RpcError>> {
        Box::pin(async move {
            match request.method.as_str() {
                "elicitation/create" => Ok(json!({"action": "accept", "content": defaults(&request.params)})),
                "roots/list" => Ok(json!({"roots": []})),
                "sampling/createMessage" => Ok(json!({"role": "assistant", "model": "none",
                    "content": {"type": "text", "text": "no model is connected"}, "stopReason": "endTurn"})),
                other => Err(RpcError::method_not_found(other)),
            }
        })
    }
}

/// The defaults of a form; what is required and has none gets a value of its type.
fn defaults(params: &Value) -> Value {
    let schema = params.get("requestedSchema").unwrap_or(&Value::Null);
    let mut content = match arguments(&json!({"inputSchema": schema})) {
        Value::Object(content) => content,
        _ => Map::new(),
    };
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        if let Some(default) = property.get("default") {
            content.insert(name.clone(), default.clone());
        }
    }
    Value::Object(content)
}
