//! One call of a tool, from the protocol's request to the protocol's answer.

use crate::{
    content,
    events::{Asking, CallEvents, Client},
    input::{self, Round},
    levels,
    server::{DOOR, Server},
    session::{Session, is_modern, principal},
    sessions::StreamHandle,
    tasks,
};
use pintle_core::{Caller, Code, Foreign};
use pintle_dispatch::{Events, Request};
use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolRequestParams, CallToolResponse, JsonObject},
    service::RequestContext,
};
use std::sync::Arc;

/// Most characters of a client's name and version that are kept.
const LONGEST_NAME: usize = 120;

/// Answers a `tools/call`.
///
/// # Errors
/// Only for faults of the request: an unknown tool, a state that is not ours, a client that cannot be asked.
pub(crate) async fn call_tool(
    session: &Session,
    request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let server = session.server();
    tasks::refuse_undeclared(server, &request.name, &context)?;
    let as_task = tasks::can_be(server, &request.name, &context);
    let who = principal(server, &context);
    let binding = input::binding(&who, "tools/call", &request.name, request.arguments.as_ref());
    let round =
        Round::open(&server.states, &binding, request.request_state.as_deref(), request.input_responses.clone())?;
    let modern = is_modern(&context);
    let (events, pump) = CallEvents::new(Arc::clone(server), client(session, &context, modern, round));
    let arguments = request.arguments.unwrap_or_default();
    let mut call = call_request(server, &request.name, arguments, who.clone(), &context, &events);
    if as_task {
        call.wait = Some(false);
    }
    let work = async {
        let _running = server.running();
        let reply = server.catalog.call(call).await;
        events.close();
        reply
    };
    let reply = tokio::select! {
        (reply, ()) = async { tokio::join!(work, pump.run()) } => reply,
        never = events.heartbeat(server.options.heartbeat) => match never {},
    };
    if let Some(failure) = reply.failure.as_ref().filter(|failure| failure.code == Code::UnknownTool) {
        return Err(content::fault(failure));
    }
    if !reply.asked.is_empty() {
        let round = events.round().cloned().unwrap_or_default();
        return Ok(CallToolResponse::InputRequired(round.ask(&server.states, &binding, &reply.asked)?));
    }
    if let Some(job) = reply.job.as_deref().filter(|_| as_task) {
        return tasks::created(server, job, who);
    }
    match events.missing() {
        Some(needed) if modern && reply.failure.as_ref().is_some_and(|f| f.code == Code::NeedsInput) => {
            Err(input::missing(&needed, &request.name))
        }
        _ => Ok(content::result(reply).into()),
    }
}

fn call_request(
    server: &Server,
    tool: &str,
    arguments: JsonObject,
    who: String,
    context: &RequestContext<RoleServer>,
    events: &Arc<CallEvents>,
) -> Request {
    let mut request = Request::new(tool, arguments, Caller { door: DOOR, principal: who });
    request.cancel = context.ct.clone();
    request.gone = server.stopped().clone();
    request.events = Arc::clone(events) as Arc<dyn Events>;
    request.budget = server.options.budget;
    request.client = client_name(context);
    request
}

/// What the client calls itself, as one short line.
pub(crate) fn client_name(context: &RequestContext<RoleServer>) -> Option<String> {
    let client = context.client_info()?;
    let name = format!("{} {}", client.name, client.version);
    Some(Foreign::one_line(&name.chars().take(LONGEST_NAME).collect::<String>()))
}

/// What is known of the client behind a request.
pub(crate) fn client(session: &Session, context: &RequestContext<RoleServer>, modern: bool, round: Round) -> Client {
    let level = levels::asked(&context.meta);
    Client {
        peer: context.peer.clone(),
        token: context.meta.get_progress_token(),
        level: if modern { level } else { Some(session.level()) },
        asking: if modern { Asking::Rounds(round) } else { Asking::Legacy },
        capabilities: context.client_capabilities().unwrap_or_default(),
        stream: context.extensions.get::<StreamHandle>().cloned(),
    }
}
