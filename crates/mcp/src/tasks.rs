//! The tasks extension: a job, as clients that declare the extension see it.
//!
//! A task is nothing of its own: its id is that of the job, and whatever is asked of it is looked up in the job's folder. So
//! a task outlives the server that made it, and any later server answers for it.

use crate::{
    content, input,
    server::{DOOR, Server},
    session::{is_modern, principal},
};
use pintle_core::{Caller, Code, Failure, InputResponse, Reply};
use pintle_dispatch::{Catalog, JobState, JobStatus, Jobs};
use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolResponse, CancelTaskParams, ClientCapabilities, CreateTaskResult, DetailedTask, ErrorCode,
        GetTaskParams, GetTaskResult, JsonObject, Task, TaskPayload, TaskStatus, UpdateTaskParams,
    },
    service::RequestContext,
};
use serde_json::Value;
use std::time::Duration;

/// How often a client should look.
const POLL: Duration = Duration::from_secs(1);
/// How long a task can be asked for, from each look on; ended jobs are kept for longer.
const KEPT: Duration = Duration::from_secs(24 * 3600);

/// Whether the answer to a call of that tool may be a task.
pub(crate) fn can_be(server: &Server, tool: &str, context: &RequestContext<RoleServer>) -> bool {
    let makes_jobs = server.catalog.find(tool, DOOR).is_some_and(|spec| spec.job.is_some());
    makes_jobs && jobs(&server.catalog).is_some() && is_modern(context) && declared(context)
}

/// Refuses a call of a tool whose answer only comes as a task, from a client that takes none.
///
/// # Errors
/// `-32021`, with the extension that the client would have to declare.
pub(crate) fn refuse_undeclared(
    server: &Server,
    tool: &str,
    context: &RequestContext<RoleServer>,
) -> Result<(), ErrorData> {
    let only = server.options.only_as_tasks.iter().any(|name| name == tool);
    match only && !declared(context) {
        true => {
            Err(ErrorData::missing_required_client_capability(ClientCapabilities::builder().enable_tasks().build()))
        }
        false => Ok(()),
    }
}

/// The answer to a call that goes on as that job.
///
/// # Errors
/// When the job cannot be found again.
pub(crate) fn created(server: &Server, id: &str, who: String) -> Result<CallToolResponse, ErrorData> {
    let status = find(server)?.status(id, &caller(who)).map_err(|failure| content::fault(&failure))?;
    Ok(CreateTaskResult::new(task(&status)).into())
}

/// Answers `tasks/get`.
///
/// # Errors
/// `-32602` for an id that is not known here.
pub(crate) fn get(
    server: &Server,
    request: GetTaskParams,
    context: &RequestContext<RoleServer>,
) -> Result<GetTaskResult, ErrorData> {
    let (jobs, caller) = (find(server)?, caller(principal(server, context)));
    let fault = |failure: Failure| content::fault(&failure);
    let status = jobs.status(&request.task_id, &caller).map_err(fault)?;
    let payload = match status.state {
        JobState::Working => TaskPayload::Working,
        JobState::InputRequired => TaskPayload::InputRequired { input_requests: input::requests(&status.questions)? },
        JobState::Cancelled => TaskPayload::Cancelled,
        JobState::Completed | JobState::Failed | JobState::Lost => {
            match jobs.result(&request.task_id, &caller).map_err(fault)? {
                Some(reply) => ended(reply)?,
                None => TaskPayload::Working,
            }
        }
    };
    Ok(GetTaskResult::new(DetailedTask::new(task(&status), payload)))
}

/// Answers `tasks/update`: answers to what the task asks; some may stay open.
///
/// # Errors
/// `-32602` for an id that is not known here.
pub(crate) fn update(
    server: &Server,
    request: UpdateTaskParams,
    context: &RequestContext<RoleServer>,
) -> Result<(), ErrorData> {
    let (jobs, caller) = (find(server)?, caller(principal(server, context)));
    let status = jobs.status(&request.task_id, &caller).map_err(|failure| content::fault(&failure))?;
    // What is not asked, or was answered before, is ignored, as in calls that are sent again.
    let wanted = |key: &String| status.questions.iter().any(|question| question.key == *key);
    let given = request.input_responses.into_iter().filter(|(key, value)| wanted(key) && value.is_object());
    let given: Vec<InputResponse> = given.map(|(key, value)| InputResponse { key, value }).collect();
    if given.is_empty() {
        return Ok(());
    }
    jobs.answer(&request.task_id, given, &caller).map(drop).map_err(|failure| content::fault(&failure))
}

/// Answers `tasks/cancel`: the word is passed on; `tasks/get` tells what became of it.
///
/// # Errors
/// `-32602` for an id that is not known here.
pub(crate) fn cancel(
    server: &Server,
    request: CancelTaskParams,
    context: &RequestContext<RoleServer>,
) -> Result<(), ErrorData> {
    let caller = caller(principal(server, context));
    find(server)?.request_cancel(&request.task_id, &caller).map_err(|failure| content::fault(&failure))
}

/// The jobs of this catalogue, if it can start any.
pub(crate) fn jobs(catalog: &Catalog) -> Option<&Jobs> {
    catalog.jobs().filter(|jobs| jobs.starts())
}

fn find(server: &Server) -> Result<&Jobs, ErrorData> {
    jobs(&server.catalog).ok_or_else(|| ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "no tasks here", None))
}

fn caller(principal: String) -> Caller {
    Caller { door: DOOR, principal }
}

fn declared(context: &RequestContext<RoleServer>) -> bool {
    context.client_capabilities().is_some_and(|capabilities| capabilities.supports_tasks())
}

fn task(status: &JobStatus) -> Task {
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let state = match status.state {
        JobState::Working => TaskStatus::Working,
        JobState::InputRequired => TaskStatus::InputRequired,
        JobState::Completed => TaskStatus::Completed,
        JobState::Cancelled => TaskStatus::Cancelled,
        JobState::Failed | JobState::Lost => TaskStatus::Failed,
    };
    let task = Task::new(&status.id, state, &status.created, &status.updated)
        .with_ttl_ms(millis(age(&status.created) + KEPT))
        .with_poll_interval_ms(millis(POLL));
    match &status.message {
        Some(message) => task.with_status_message(message),
        None => task,
    }
}

/// How long ago that was; nothing for a time that cannot be read or is yet to come.
fn age(created: &str) -> Duration {
    let since = created.parse::<jiff::Timestamp>().map(|created| jiff::Timestamp::now().duration_since(created));
    since.ok().and_then(|since| Duration::try_from(since).ok()).unwrap_or_default()
}

/// A tool that has run is completed, whatever it says of itself; only where none could run to its end the task has failed.
fn ended(reply: Reply) -> Result<TaskPayload, ErrorData> {
    let broken =
        |failure: &&Failure| matches!(failure.code, Code::Internal | Code::Unavailable) && reply.answer.is_none();
    if let Some(failure) = reply.failure.as_ref().filter(broken) {
        let mut error = content::fault(failure);
        error.code = ErrorCode::INTERNAL_ERROR;
        return Ok(TaskPayload::Failed { error: object(&error)? });
    }
    Ok(TaskPayload::Completed { result: object(&content::result(reply))? })
}

fn object<T: serde::Serialize>(value: &T) -> Result<JsonObject, ErrorData> {
    match serde_json::to_value(value) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(ErrorData::internal_error("an answer that is no object", None)),
        Err(why) => Err(ErrorData::internal_error(format!("an answer that cannot be written: {why}"), None)),
    }
}
