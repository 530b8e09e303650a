//! The protocol's requests, answered from the catalogue.

use crate::{
    call::{call_tool, client, client_name},
    content,
    events::CallEvents,
    input::{self, Round},
    levels, listing,
    notices::Watched,
    server::{DOOR, Server},
    tasks,
    token::Principal,
};
use pintle_core::{Caller, Code, Failure, InputRequest, LogLevel, Reference, Stop};
use pintle_dispatch::{Catalog, Events, Request};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams, CompleteResult,
        CompletionInfo, CustomRequest, CustomResult, DiscoverResult, ErrorCode, GetPromptRequestParams,
        GetPromptResponse, GetPromptResult, GetTaskParams, GetTaskResult, InitializeRequestParams, InitializeResult,
        ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        Prompt, PromptArgument, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
        Reference as WireReference, ResourceTemplate, ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool,
        UnsubscribeRequestParams, UpdateTaskParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, PoisonError};

/// One session of the older protocol, or one request of the newer one.
pub(crate) struct Session {
    server: Arc<Server>,
    watched: Arc<Watched>,
    level: Mutex<LogLevel>,
}

impl Session {
    pub(crate) fn new(server: Arc<Server>) -> Self {
        Self { server, watched: Arc::default(), level: Mutex::new(LogLevel::Info) }
    }

    pub(crate) fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// Least severe level that a client of the older protocol wants to hear.
    pub(crate) fn level(&self) -> LogLevel {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells of the client behind a request of the newer era, where each says it anew.
    fn met(&self, context: &RequestContext<RoleServer>) {
        if let Some(newcomers) = &self.server.options.newcomers
            && is_modern(context)
            && let Some(client) = context.client_info()
        {
            newcomers.tell(&client.name);
        }
    }

    fn reading(&self, context: &RequestContext<RoleServer>) -> Request {
        let caller = Caller { door: DOOR, principal: principal(&self.server, context) };
        let modern = is_modern(context);
        // Reading tells no progress, so nothing of this client is needed but its log level.
        let (events, _) = CallEvents::new(Arc::clone(&self.server), client(self, context, modern, Round::default()));
        let mut request = Catalog::reading(caller, events);
        request.cancel = context.ct.clone();
        request.budget = self.server.options.budget;
        request.client = client_name(context);
        request
    }

    fn page<T: Clone>(
        &self,
        kind: &str,
        all: &[T],
        request: Option<PaginatedRequestParams>,
    ) -> Result<(Vec<T>, Option<String>), ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        listing::page(kind, all, cursor.as_deref(), self.server.options.page_size)
    }

    async fn prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let server = &self.server;
        let who = principal(server, &context);
        let binding = input::binding(&who, "prompts/get", &request.name, request.arguments.as_ref());
        let modern = is_modern(&context);
        let round = Round::open(&server.states, &binding, request.request_state.as_deref(), request.input_responses)?;
        let arguments = request.arguments.unwrap_or_default();
        let (events, pump) = CallEvents::new(Arc::clone(server), client(self, &context, modern, round));
        let work = async {
            let rendered = self.rendered(&request.name, &arguments, &events).await;
            events.close();
            rendered
        };
        match tokio::join!(work, pump.run()).0 {
            Ok(result) => Ok(result.into()),
            Err(Stop::Asked(asked)) => {
                let round = events.round().cloned().unwrap_or_default();
                Ok(GetPromptResponse::InputRequired(round.ask(&server.states, &binding, &asked)?))
            }
            Err(Stop::Failed(failure)) => match events.missing() {
                Some(needed) if modern => Err(input::missing(&needed, &request.name)),
                _ => Err(content::fault(&failure)),
            },
            Err(Stop::Planned(_) | Stop::Started(_) | Stop::Attach(_)) => {
                Err(content::fault(&Failure::new(Code::Internal, "a prompt only gives messages")))
            }
        }
    }

    /// Renders a prompt, asking as often as it has questions.
    async fn rendered(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        events: &CallEvents,
    ) -> Result<GetPromptResult, Stop> {
        let mut answers = Map::new();
        loop {
            let asked: Vec<InputRequest> = match self.server.catalog.prompt(name, arguments, &answers) {
                Ok((prompt, messages)) => {
                    let messages = messages.into_iter().map(content::message).collect();
                    return Ok(GetPromptResult::new(messages).with_description(prompt.description.clone()));
                }
                Err(Stop::Asked(asked)) => asked,
                Err(stop) => return Err(stop),
            };
            let known = answers.len();
            for answer in events.ask(asked).await? {
                answers.insert(answer.key, answer.value);
            }
            if answers.len() == known {
                return Err(Failure::new(Code::Internal, format!("prompt `{name}` asks the same again")).into());
            }
        }
    }
}

#[expect(deprecated, reason = "the older protocol has methods that the newer one dropped")]
impl ServerHandler for Session {
    fn get_info(&self) -> ServerConfig {
        self.server.config()
    }

    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let result = self.negotiate_initialize(&request)?;
        if let Some(newcomers) = &self.server.options.newcomers {
            newcomers.tell(&request.client_info.name);
        }
        request.protocol_version = result.protocol_version.clone();
        context.peer.set_peer_info(request);
        Ok(result)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.server.notices.join(&self.watched, context.peer);
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        self.met(&context);
        let (fresh, scope) = self.server.list_cache();
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info()).with_ttl_ms(fresh).with_cache_scope(scope))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.met(&context);
        let (page, next) = self.page("tools/list", &self.server.tools.all(&self.server.catalog), request)?;
        let (fresh, scope) = self.server.list_cache();
        let mut result = ListToolsResult::with_all_items(page).with_ttl_ms(fresh).with_cache_scope(scope);
        result.next_cursor = next;
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.server.tools.get(&self.server.catalog, name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.met(&context);
        call_tool(self, request, context).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        tasks::get(&self.server, request, &context)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        tasks::update(&self.server, request, &context)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        tasks::cancel(&self.server, request, &context)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let all = self.server.catalog.resources(&self.reading(&context)).await.map_err(|f| content::fault(&f))?;
        let all: Vec<_> = all.into_iter().map(content::link).collect();
        let (page, next) = self.page("resources/list", &all, request)?;
        // What can be read changes with projects and jobs: no promise how long the list holds.
        let (_, scope) = self.server.list_cache();
        let mut result = ListResourcesResult::with_all_items(page).with_ttl_ms(0).with_cache_scope(scope);
        result.next_cursor = next;
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let shown = |template: pintle_core::ResourceTemplate| {
            let mut shown = ResourceTemplate::new(template.template, template.name);
            if let Some(description) = template.description {
                shown = shown.with_description(description);
            }
            if let Some(mime) = template.mime {
                shown = shown.with_mime_type(mime);
            }
            shown
        };
        let all: Vec<_> = self.server.catalog.resource_templates().into_iter().map(shown).collect();
        let (page, next) = self.page("resources/templates/list", &all, request)?;
        let (fresh, scope) = self.server.list_cache();
        let mut result = ListResourceTemplatesResult::with_all_items(page).with_ttl_ms(fresh).with_cache_scope(scope);
        result.next_cursor = next;
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let reading = self.reading(&context);
        let read = tokio::select! {
            read = self.server.catalog.read(&request.uri, &reading) => read,
            () = context.ct.cancelled() => Err(Failure::new(Code::Cancelled, "cancelled by the caller")),
        };
        let contents = read.map_err(|failure| content::unread(&failure, &request.uri))?;
        let contents = contents.into_iter().map(content::contents).collect();
        let result = ReadResourceResult::new(contents).with_ttl_ms(0);
        Ok(result.with_cache_scope(rmcp::model::CacheScope::Private).into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.watched.add(request.uri);
        self.server.notices.join(&self.watched, context.peer);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.watched.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.server.notices.stream(context, self.server.stopped()).await;
        Ok(())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let shown = |prompt: &pintle_core::Prompt| {
            let argument = |a: &pintle_core::PromptArgument| {
                PromptArgument::new(a.name.clone()).with_description(a.description.clone()).with_required(a.required)
            };
            let arguments: Vec<_> = prompt.arguments.iter().map(argument).collect();
            let arguments = Some(arguments).filter(|arguments| !arguments.is_empty());
            Prompt::new(prompt.name.clone(), Some(prompt.description.clone()), arguments)
        };
        let all: Vec<_> = self.server.catalog.prompts().map(shown).collect();
        let (page, next) = self.page("prompts/list", &all, request)?;
        let (fresh, scope) = self.server.list_cache();
        let mut result = ListPromptsResult::with_all_items(page).with_ttl_ms(fresh).with_cache_scope(scope);
        result.next_cursor = next;
        Ok(result)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.prompt(request, context).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let reference = match request.r#ref {
            WireReference::Prompt(prompt) => Reference::Prompt(prompt.name),
            WireReference::Resource(resource) => Reference::Resource(resource.uri),
            _ => return Err(ErrorData::invalid_params("`ref` must be ref/prompt or ref/resource", None)),
        };
        let known = request.context.and_then(|context| context.arguments).unwrap_or_default();
        let known: Map<String, Value> = known.into_iter().map(|(name, value)| (name, value.into())).collect();
        let argument = request.argument;
        let typing = self.reading(&context);
        let catalog = &self.server.catalog;
        let mut values = catalog.complete(&reference, &argument.name, &argument.value, &known, &typing).await;
        let total = u32::try_from(values.len()).unwrap_or(u32::MAX);
        values.truncate(CompletionInfo::MAX_VALUES);
        let more = values.len() < total as usize;
        let info = CompletionInfo::with_pagination(values, Some(total), more);
        Ok(CompleteResult::new(info.map_err(|why| ErrorData::internal_error(why, None))?))
    }

    async fn set_level(
        &self,
        request: rmcp::model::SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if is_modern(&context) {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "logging/setLevel", None));
        }
        *self.level.lock().unwrap_or_else(PoisonError::into_inner) = levels::set(&request);
        Ok(())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // A method that we have comes here only when its parameters could not be read.
        let method = request.method.as_str();
        let tasks = TASKS.contains(&method) && tasks::jobs(&self.server.catalog).is_some();
        if KNOWN.contains(&method) || tasks || (KNOWN_BEFORE.contains(&method) && !is_modern(&context)) {
            let message = format!("the parameters of `{}` are not as the protocol wants them", request.method);
            return Err(ErrorData::invalid_params(message, None));
        }
        let message = format!("unknown method `{}`", request.method);
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
    }
}

/// Methods of both eras.
const KNOWN: [&str; 10] = [
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "subscriptions/listen",
    "prompts/list",
    "prompts/get",
    "completion/complete",
];
/// Methods that the newer era dropped.
const KNOWN_BEFORE: [&str; 4] = ["initialize", "resources/subscribe", "resources/unsubscribe", "logging/setLevel"];

/// Methods of the tasks extension.
const TASKS: [&str; 3] = ["tasks/get", "tasks/update", "tasks/cancel"];

/// Whether a request belongs to the era in which each request stands for itself.
pub(crate) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// Who sent a request, as far as the transport can tell.
pub(crate) fn principal(server: &Server, context: &RequestContext<RoleServer>) -> String {
    let parts = context.extensions.get::<::http::request::Parts>();
    match parts.and_then(|parts| parts.extensions.get::<Principal>()) {
        Some(principal) => principal.0.clone(),
        None => server.principal().to_owned(),
    }
}
