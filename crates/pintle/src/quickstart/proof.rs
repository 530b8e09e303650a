//! The end of the worked example: a plan of checks, run against the same server in a session of its own.

use super::story::{PROJECT, Story};
use pintle_check::report::{Options, text};
use pintle_check::{Registry, RunOptions, Server, Status};
use pintle_core::{Code, Failure};
use std::{path::Path, sync::Arc};

/// What must hold once the story is told.
const PLAN: &str = "\
server-answers:     {check: the server answers, mcp: ping}
server-can-judge:   {check: it offers a tool that judges projects, mcp: list-tools, stdout: {contains: box.validate}}
project-holds:      {check: the project holds together, mcp: call, tool: box.validate, stdout: {matches: ^valid}}
box-has-its-package:
  check: the box installs what the candy asks for
  mcp: call
  tool: box.inspect
  input: {box: hello}
  json:
    - {at: /structuredContent/answer/packages/rpm, contains: openssh-server}
";

/// Shows the plan, runs it, shows the report.
pub(super) fn hold(story: &Story<'_>) -> Result<(), Failure> {
    let console = story.console;
    console.out("\n# a plan of checks, for that server in a session of its own: `pintle check run` does the same\n");
    console.out(&indented(PLAN));
    let registry = Arc::new(Registry::new());
    let set = pintle_check::load_bytes("plan.yml", PLAN.as_bytes(), Path::new(""), &registry)
        .map_err(|error| Failure::new(Code::Internal, error.to_string()))?;
    let options = RunOptions { server: Some(server(story)?), reuse_sessions: true, registry, ..RunOptions::default() };
    let ended = crate::check::carry_out(set, options, Arc::new(|_| {}), console)?;
    let Some(outcome) = ended.filter(|outcome| !outcome.interrupted) else {
        return Err(Failure::new(Code::Cancelled, "interrupted"));
    };
    let options = Options { color: console.colors_out(), ..Options::default() };
    console.out(&format!("\n{}", indented(&text(&outcome, options))));
    match outcome.steps().find(|step| step.status != Status::Passed) {
        Some(step) => Err(Failure::new(Code::Remote, format!("check `{}`: {}", step.id, step.message))
            .hint("`pintle doctor` looks for what is wrong here")),
        None => Ok(()),
    }
}

/// The server of the story, in the project that it made.
fn server(story: &Story<'_>) -> Result<Server, Failure> {
    let program = std::env::current_exe().map_err(|error| Failure::io("finding this program's own path", &error))?;
    let words = ["mcp", "serve", "--stdio", "--toolset", "charly", "--dir"].map(str::to_owned);
    let program = program.display().to_string();
    let project = story.place.join(PROJECT).display().to_string();
    let mut server = Server::stdio("charly", [program].into_iter().chain(words).chain([project]).collect());
    server.env.insert("XDG_STATE_HOME".to_owned(), story.state.display().to_string());
    Ok(server)
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}").trim_end().to_owned() + "\n").collect()
}
