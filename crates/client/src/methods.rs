//! The requests a client makes, by name.

use std::collections::HashSet;
use std::sync::PoisonError;

use serde_json::{Map, Value, json};

use crate::era::Era;
use crate::error::{Error, Fault};
use crate::handler::ServerRequest;
use crate::headers;
use crate::message::brief;
use crate::options::CallOptions;
use crate::session::{Deadline, Session, object};

/// All pages of a list together may be this many times as large as one answer.
const LIST_FACTOR: usize = 4;
/// The error for headers that do not say what the body says.
const HEADER_MISMATCH: i64 = -32020;

/// What can be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// `tools/list`
    Tools,
    /// `resources/list`
    Resources,
    /// `resources/templates/list`
    ResourceTemplates,
    /// `prompts/list`
    Prompts,
}

impl List {
    /// The method.
    pub fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Resources => "resources/list",
            Self::ResourceTemplates => "resources/templates/list",
            Self::Prompts => "prompts/list",
        }
    }

    /// The member of the result that holds the items.
    fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::ResourceTemplates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }

    fn capability(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources | Self::ResourceTemplates => "resources",
            Self::Prompts => "prompts",
        }
    }
}

impl Session {
    /// Asks for a sign of life: `ping`, or `server/discover` in the era without it.
    ///
    /// # Errors
    /// Stage `request METHOD`.
    pub async fn ping(&self, options: &CallOptions) -> Result<(), Error> {
        let method = match self.era {
            Era::Modern => "server/discover",
            _ => "ping",
        };
        self.request(method, None, options).await.map(drop)
    }

    /// All tools, as the server describes them.
    ///
    /// # Errors
    /// As [`list`](Self::list).
    pub async fn list_tools(&self, options: &CallOptions) -> Result<Vec<Value>, Error> {
        self.list(List::Tools, options).await
    }

    /// All resources.
    ///
    /// # Errors
    /// As [`list`](Self::list).
    pub async fn list_resources(&self, options: &CallOptions) -> Result<Vec<Value>, Error> {
        self.list(List::Resources, options).await
    }

    /// All resource templates.
    ///
    /// # Errors
    /// As [`list`](Self::list).
    pub async fn list_templates(&self, options: &CallOptions) -> Result<Vec<Value>, Error> {
        self.list(List::ResourceTemplates, options).await
    }

    /// All prompts.
    ///
    /// # Errors
    /// As [`list`](Self::list).
    pub async fn list_prompts(&self, options: &CallOptions) -> Result<Vec<Value>, Error> {
        self.list(List::Prompts, options).await
    }

    /// Follows a list through all its pages.
    ///
    /// # Errors
    /// Stage `request METHOD`: among others [`Fault::Capability`] if the server does not offer it,
    /// [`Fault::RepeatedCursor`], and [`Fault::TooLarge`] if all pages together exceed four times
    /// [`crate::Options::answer_limit`].
    pub async fn list(&self, list: List, options: &CallOptions) -> Result<Vec<Value>, Error> {
        let method = list.method();
        let failed = |fault| Error::request(method, fault);
        self.need(list.capability()).map_err(failed)?;
        let deadline = self.deadline(options);
        let mut items = Vec::new();
        let mut seen = HashSet::new();
        let mut bytes = 0;
        let mut params = Map::new();
        loop {
            let mut answer = self.ask(method, params.clone(), options, deadline).await.map_err(failed)?;
            bytes += answer.bytes;
            let limit = self.options.answer_limit.saturating_mul(LIST_FACTOR);
            if bytes > limit {
                return Err(failed(Fault::TooLarge { limit }));
            }
            match answer.result.get_mut(list.member()).map(Value::take) {
                Some(Value::Array(page)) => items.extend(page),
                other => {
                    return Err(failed(Fault::BadAnswer(format!(
                        "{} is {} instead of a list",
                        list.member(),
                        brief(&other.unwrap_or(Value::Null))
                    ))));
                }
            }
            match answer.result.get("nextCursor") {
                None | Some(Value::Null) => break,
                Some(Value::String(cursor)) => {
                    if !seen.insert(cursor.clone()) {
                        return Err(failed(Fault::RepeatedCursor { cursor: cursor.clone(), pages: seen.len() + 1 }));
                    }
                    params.insert("cursor".into(), json!(cursor));
                }
                Some(other) => {
                    return Err(failed(Fault::BadAnswer(format!("nextCursor is {} instead of a text", brief(other)))));
                }
            }
        }
        if list == List::Tools {
            self.learn_headers(&mut items);
        }
        Ok(items)
    }

    /// Remembers which arguments of which tool travel as headers. Tools that describe that wrongly must not
    /// be used over HTTP: they are taken out.
    fn learn_headers(&self, tools: &mut Vec<Value>) {
        if self.era != Era::Modern || !self.wire.has_headers() {
            return;
        }
        let mut known = self.parameters.lock().unwrap_or_else(PoisonError::into_inner);
        tools.retain(|tool| {
            let schema = tool.get("inputSchema").unwrap_or(&Value::Null);
            match headers::parameters(schema) {
                Ok(parameters) => {
                    if let Some(name) = tool.get("name").and_then(Value::as_str) {
                        known.insert(name.to_owned(), parameters);
                    }
                    true
                }
                Err(why) => {
                    self.router.odd(crate::router::Oddity::Malformed(format!(
                        "a tool that must not be used over HTTP ({}: {why})",
                        brief(tool.get("name").unwrap_or(&Value::Null))
                    )));
                    false
                }
            }
        });
    }

    /// Calls a tool. A server that asks for input gets it from the handler. The result is as it came; a tool
    /// that failed has `isError` in it and is no error here.
    ///
    /// # Errors
    /// Stage `request tools/call`.
    pub async fn call_tool(&self, name: &str, arguments: Option<Value>, options: &CallOptions) -> Result<Value, Error> {
        let method = "tools/call";
        let mut params = Map::new();
        params.insert("name".into(), json!(name));
        if let Some(arguments) = arguments {
            params.insert("arguments".into(), arguments);
        }
        let outcome = self.converse(method, params.clone(), options).await;
        // Which arguments travel as headers is only known once the tools have been listed.
        if let Err(error) = &outcome
            && error.rpc().is_some_and(|error| error.code == HEADER_MISMATCH)
            && !self.knows_headers(name)
        {
            self.list_tools(options).await?;
            return self.converse(method, params, options).await;
        }
        outcome
    }

    fn knows_headers(&self, tool: &str) -> bool {
        self.parameters.lock().unwrap_or_else(PoisonError::into_inner).contains_key(tool)
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// Stage `request resources/read`.
    pub async fn read_resource(&self, uri: &str, options: &CallOptions) -> Result<Value, Error> {
        let method = "resources/read";
        self.need("resources").map_err(|fault| Error::request(method, fault))?;
        let params = object(method, Some(json!({"uri": uri})))?;
        self.converse(method, params, options).await
    }

    /// Gets a prompt. Arguments are texts.
    ///
    /// # Errors
    /// Stage `request prompts/get`.
    pub async fn get_prompt(
        &self,
        name: &str,
        arguments: Option<Value>,
        options: &CallOptions,
    ) -> Result<Value, Error> {
        let method = "prompts/get";
        self.need("prompts").map_err(|fault| Error::request(method, fault))?;
        let mut params = object(method, Some(json!({"name": name})))?;
        if let Some(arguments) = arguments {
            params.insert("arguments".into(), arguments);
        }
        self.converse(method, params, options).await
    }

    /// Asks for completions. `reference` is `{"type": "ref/prompt", "name": …}` or `{"type": "ref/resource",
    /// "uri": …}`, `argument` is `{"name": …, "value": …}`; `context` holds arguments already resolved.
    ///
    /// # Errors
    /// Stage `request completion/complete`.
    pub async fn complete(
        &self,
        reference: Value,
        argument: Value,
        context: Option<Value>,
        options: &CallOptions,
    ) -> Result<Value, Error> {
        let method = "completion/complete";
        self.need("completions").map_err(|fault| Error::request(method, fault))?;
        let mut params = json!({"ref": reference, "argument": argument});
        if let Some(arguments) = context {
            params["context"] = json!({"arguments": arguments});
        }
        self.request(method, Some(params), options).await
    }

    /// Refuses what the server did not declare. Completions have a capability only since 2025-03-26.
    fn need(&self, capability: &'static str) -> Result<(), Fault> {
        let old = matches!(&self.era, Era::Legacy(version) if version == "2024-11-05");
        if self.era == Era::Bare || (old && capability == "completions") {
            return Ok(());
        }
        match self.server.capabilities.get(capability) {
            None | Some(Value::Null) => Err(Fault::Capability(capability)),
            Some(_) => Ok(()),
        }
    }

    /// A request that the server may answer by asking for input: the handler gives it, and the request is
    /// sent again with it.
    async fn converse(
        &self,
        method: &str,
        mut params: Map<String, Value>,
        options: &CallOptions,
    ) -> Result<Value, Error> {
        let deadline = self.deadline(options);
        let failed = |fault| Error::request(method, fault);
        for _ in 0..=self.options.input_rounds {
            let answer = self.ask(method, params.clone(), options, deadline).await.map_err(failed)?;
            if answer.result.get("resultType").and_then(Value::as_str) != Some("input_required") {
                return Ok(answer.result);
            }
            let responses = self.input(&answer.result, options, deadline).await.map_err(failed)?;
            params.remove("inputResponses");
            params.remove("requestState");
            if !responses.is_empty() {
                params.insert("inputResponses".into(), Value::Object(responses));
            }
            // Opaque to us: it goes back as it came.
            if let Some(state) = answer.result.get("requestState") {
                params.insert("requestState".into(), state.clone());
            }
        }
        Err(failed(Fault::BadAnswer(format!(
            "the server asked for input more than {} times",
            self.options.input_rounds
        ))))
    }

    /// Lets the handler answer everything that a result asks for.
    async fn input(
        &self,
        result: &Value,
        options: &CallOptions,
        deadline: Deadline,
    ) -> Result<Map<String, Value>, Fault> {
        let mut responses = Map::new();
        let requests = result.get("inputRequests").and_then(Value::as_object);
        for (key, request) in requests.into_iter().flatten() {
            let method = request
                .get("method")
                .and_then(Value::as_str)
                .ok_or_else(|| Fault::BadAnswer(format!("an input request without method: {}", brief(request))))?
                .to_owned();
            let question =
                ServerRequest { method: method.clone(), params: request.get("params").cloned().unwrap_or(Value::Null) };
            let limit = deadline.limit;
            let answer = tokio::select! {
                answer = self.router.handler().answer(question) => answer,
                () = options.cancelled() => return Err(Fault::Cancelled),
                () = tokio::time::sleep_until(deadline.at) => {
                    return Err(Fault::Timeout { limit, odd: None });
                }
            };
            let response = answer.map_err(|error| Fault::Input { method, error: Box::new(error) })?;
            responses.insert(key.clone(), response);
        }
        Ok(responses)
    }
}
