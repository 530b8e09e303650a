//! Short ways to run a plan.

use std::path::Path;
use std::sync::Arc;

use pintle_check::{Registry, RunError, RunOptions, RunOutcome, Server, Status, StepOutcome, load_bytes, run};
use tokio_util::sync::CancellationToken;

/// Functions for scripts that are servers: `ok ID RESULT`, `err ID CODE MESSAGE`, `say TEXT`; `serve` answers the
/// handshake of 2025-11-25 and lets `on METHOD ID LINE` answer the rest.
const PRELUDE: &str = r#"
say() { printf '%s\n' "$1"; }
ok() { say '{"jsonrpc":"2.0","id":'"$1"',"result":'"$2"'}'; }
err() { say '{"jsonrpc":"2.0","id":'"$1"',"error":{"code":'"$2"',"message":"'"$3"'"}}'; }
caps='{"tools":{},"resources":{},"prompts":{},"completions":{}}'
serve() {
  while IFS= read -r line; do
    id=${line#*\"id\":}; id=${id%%[,\}]*}
    method=${line#*\"method\":\"}; method=${method%%\"*}
    case "$method" in
      server/discover) err "$id" -32601 'unknown method' ;;
      initialize) ok "$id" '{"protocolVersion":"2025-11-25","capabilities":'"$caps"',"serverInfo":{"name":"script","version":"1"}}' ;;
      notifications/*) ;;
      *) on "$method" "$id" "$line" ;;
    esac
  done
}
"#;

/// A server that is a script; `body` defines `on`.
pub fn script(body: &str) -> Server {
    Server::stdio("script", vec!["/bin/sh".into(), "-c".into(), format!("{PRELUDE}\n{body}\nserve")])
}

/// A server that is a script and does all by itself.
pub fn bare_script(body: &str) -> Server {
    Server::stdio("script", vec!["/bin/sh".into(), "-c".into(), format!("{PRELUDE}\n{body}")])
}

pub fn with(server: Server) -> RunOptions {
    RunOptions { server: Some(server), ..RunOptions::default() }
}

pub async fn try_plan(plan: &str, options: RunOptions) -> Result<RunOutcome, RunError> {
    plan_in(plan, Path::new(""), options, CancellationToken::new()).await
}

pub async fn plan_in(
    plan: &str,
    directory: &Path,
    options: RunOptions,
    cancel: CancellationToken,
) -> Result<RunOutcome, RunError> {
    let set = match load_bytes("plan.yml", plan.as_bytes(), directory, &options.registry) {
        Ok(set) => set,
        Err(error) => panic!("{error}\n{plan}"),
    };
    run(set, options, Arc::new(|_| ()), cancel).await
}

pub async fn plan(plan: &str, options: RunOptions) -> RunOutcome {
    try_plan(plan, options).await.unwrap()
}

/// The one step of a plan.
pub async fn step(text: &str, options: RunOptions) -> StepOutcome {
    let outcome = plan(text, options).await;
    let mut steps: Vec<_> = outcome.plans.into_iter().flat_map(|plan| plan.steps).collect();
    assert_eq!(steps.len(), 1, "{steps:?}");
    steps.remove(0)
}

/// The one step must pass; what it saw on standard output.
pub async fn passes(text: &str, options: RunOptions) -> StepOutcome {
    let step = step(text, options).await;
    assert_eq!(step.status, Status::Passed, "{text}\n{}\n{step:?}", step.message);
    step
}

/// The one step must fail; its message.
pub async fn fails(text: &str, options: RunOptions) -> String {
    let step = step(text, options).await;
    assert_eq!(step.status, Status::Failed, "{text}\n{step:?}");
    assert!(!step.message.is_empty(), "{step:?}");
    step.message
}

pub fn statuses(outcome: &RunOutcome) -> Vec<(&str, Status)> {
    outcome.steps().map(|step| (step.id.as_str(), step.status)).collect()
}

pub fn registry() -> Registry {
    Registry::new()
}
