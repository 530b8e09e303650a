//! One call from its words to its exit code.

use crate::{
    commands::Invocation,
    console::Console,
    events::Told,
    options::{Form, Options},
    render,
    wording::Wording,
    yaml,
};
use pintle_core::{Attach, Block, Caller, Code, Exit, Failure, Outcome, Reply, View};
use pintle_dispatch::{Catalog, Request};
use serde_json::Value;
use std::{os::unix::process::ExitStatusExt, sync::Arc};
use tokio_util::sync::CancellationToken;

/// Calls the tool, shows what comes of it, and gives the exit code.
///
/// The first Ctrl-C cancels the call; the second one waits for nothing more.
pub async fn run(catalog: &Catalog, call: &Invocation, console: &Arc<Console>, caller: Caller) -> u8 {
    let told = Arc::new(Told::new(Arc::clone(console), &call.command, &call.options));
    let cancel = CancellationToken::new();
    let mut request = Request::new(call.tool.clone(), call.arguments.clone(), caller);
    request.cancel = cancel.clone();
    request.events = Arc::clone(&told) as _;
    request.deadline = call.options.deadline;
    let reply = tokio::select! {
        reply = catalog.call(request) => reply,
        () = interrupted_twice(&cancel, console) => {
            console.end_progress();
            return Exit::Interrupted.code();
        }
    };
    console.end_progress();
    if let Some(attach) = &reply.attach {
        return attached(attach, console);
    }
    let reply = worded(reply, &Wording::of(catalog, call));
    show(&reply, call, console, told.streamed());
    if let Some(failure) = console.failure() {
        show_failure(console, &failure);
        return Exit::Failed.code();
    }
    if reply.outcome == Outcome::Findings && call.options.fail_on_findings {
        return Exit::Checks.code();
    }
    reply.exit().code()
}

/// The reply in the words of people; what is exact stays as it is, and so does JSON.
fn worded(mut reply: Reply, wording: &Wording<'_>) -> Reply {
    let mut view = std::mem::take(&mut reply.view);
    drop_failure(&mut view, &reply);
    for block in &mut view.blocks {
        match block {
            Block::Text(text) if !text.trim_start().starts_with(['{', '[']) => *text = wording.commands(text),
            Block::Table(table) => {
                table.rows.iter_mut().flatten().for_each(|cell| *cell = wording.commands(cell));
            }
            Block::Text(_) | Block::Exact(_) => {}
        }
    }
    if let Some(failure) = &mut reply.failure {
        failure.hints.iter_mut().for_each(|hint| *hint = wording.hint(hint));
        let hints = failure.problems.iter_mut().filter_map(|problem| problem.hint.as_mut());
        hints.for_each(|hint| *hint = wording.hint(hint));
    }
    reply.view = view;
    reply
}

async fn interrupted_twice(cancel: &CancellationToken, console: &Console) {
    // Where signals cannot be received, the system's own way of ending a program is left.
    if tokio::signal::ctrl_c().await.is_err() {
        return std::future::pending().await;
    }
    cancel.cancel();
    if !console.quiet() {
        console.err("cancelling; once more to wait for nothing\n");
    }
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// A failure on standard error.
pub fn show_failure(console: &Console, failure: &Failure) {
    console.err(&render::failure(failure, console.colors_err()));
}

fn show(reply: &Reply, call: &Invocation, console: &Console, streamed: bool) {
    match call.options.form {
        Form::Text => show_text(reply, console, streamed),
        Form::Json | Form::Yaml => console.out(&value_text(reply, &call.options)),
    }
    let failure = match (&reply.failure, reply.outcome) {
        (Some(failure), _) => Some(with_help(failure.clone(), call)),
        (None, Outcome::Planned) => Some(not_confirmed(reply)),
        (None, Outcome::Failed) => {
            Some(Failure::new(Code::Internal, format!("`{}` failed without a word", call.command)))
        }
        (None, _) => None,
    };
    if let Some(failure) = failure {
        show_failure(console, &failure);
    }
    if let Some(cursor) = &reply.next_cursor {
        console.err(&format!("more rows: the same command with `--cursor {cursor}`\n"));
    }
}

/// The answer alone where there is one to use; the whole envelope where there is something to decide.
fn value_text(reply: &Reply, options: &Options) -> String {
    let value = match reply.outcome {
        Outcome::Ok | Outcome::Findings | Outcome::Partial => reply.answer.clone().unwrap_or(Value::Null),
        Outcome::Failed | Outcome::Planned | Outcome::Started => reply.envelope(),
    };
    if options.form == Form::Yaml {
        return yaml::text_of(&value);
    }
    let mut text = serde_json::to_string_pretty(&value).unwrap_or_else(|_| value.to_string());
    text.push('\n');
    text
}

fn show_text(reply: &Reply, console: &Console, streamed: bool) {
    let mut view = reply.view.clone();
    if streamed {
        // The rows were read as they came.
        view.blocks.retain(|block| matches!(block, Block::Text(_)));
    }
    if reply.outcome == Outcome::Planned {
        view.blocks.truncate(2);
    }
    for line in render::parts(&reply.parts) {
        view = view.and_text(line);
    }
    if let Some(job) = &reply.job {
        view = view.and_text(format!("job {job}"));
    }
    console.out(&render::view(&view, console.terminal().width, console.colors_out()));
}

/// The view ends with the failure, for doors that have one way out only.
fn drop_failure(view: &mut View, reply: &Reply) {
    let Some(failure) = &reply.failure else { return };
    if view.blocks.last() == Some(&Block::Text(failure.text())) {
        view.blocks.pop();
    }
}

fn with_help(failure: Failure, call: &Invocation) -> Failure {
    match failure.code {
        Code::InvalidArgument => {
            let help = match call.command.split_once(" call ") {
                Some((program, name)) => format!("{program} call {name} --help"),
                None => format!("{} --help", call.command),
            };
            failure.hint(format!("`{help}` tells what it takes"))
        }
        _ => failure,
    }
}

fn not_confirmed(reply: &Reply) -> Failure {
    if !reply.asked.is_empty() {
        return Failure::new(Code::NeedsInput, "answers are needed first").hint("run it on a terminal");
    }
    let failure = Failure::new(Code::NotConfirmed, "nothing was changed: this needs a yes first");
    match reply.plan.as_ref().and_then(|plan| plan.approval.as_ref()) {
        Some(id) => failure.hint(format!("`pintle approve {id}`, then the same command again")),
        None => failure.hint("run it on a terminal, or with --yes"),
    }
}

/// Runs a program on the terminal of this process, which waits for it.
fn attached(attach: &Attach, console: &Console) -> u8 {
    if !console.terminal().input || !console.terminal().output {
        let failure = Failure::new(Code::NeedsTerminal, "this needs a terminal, and there is none");
        show_failure(console, &failure.hint(attach.instead.clone()));
        return Exit::Unavailable.code();
    }
    let Some((program, arguments)) = attach.argv.split_first() else {
        show_failure(console, &Failure::new(Code::Internal, "there is no program to run on the terminal"));
        return Exit::Failed.code();
    };
    match std::process::Command::new(program).args(arguments).status() {
        Ok(status) => {
            let signal = status.signal().map_or(1, |signal| 128 + signal);
            u8::try_from(status.code().unwrap_or(signal)).unwrap_or(1)
        }
        Err(error) => {
            let failure = Failure::io(format!("running `{program}`"), &error);
            let code = if error.kind() == std::io::ErrorKind::NotFound { Exit::Unavailable } else { Exit::Failed };
            show_failure(console, &failure.hint(format!("is `{program}` installed?")));
            code.code()
        }
    }
}
