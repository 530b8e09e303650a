//! Providers in processes of their own. The child is this very test binary, run again.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use pintle_check::{Invocation, OutOfProcess, Provider, Registry, RunOptions, Status, Verdict, VerdictStatus};
use pintle_process::Environment;
use tokio_util::sync::CancellationToken;

use crate::fixture::{Fixture, Manner};
use crate::support::{plan, statuses, step, with};

/// Not a test on its own: with the variable set it is the child of the tests below.
#[tokio::test]
async fn child() {
    if std::env::var_os("PINTLE_PROVIDER_CHILD").is_none() {
        return;
    }
    assert_eq!(std::env::var("PATH").as_deref(), Ok(""));
    let input = tokio::io::BufReader::new(tokio::io::stdin());
    let mut output = tokio::io::stdout();
    // The harness has begun a line.
    tokio::io::AsyncWriteExt::write_all(&mut output, b"\n").await.unwrap();
    pintle_check::serve(input, output, CancellationToken::new()).await.unwrap();
}

fn ours() -> OutOfProcess {
    let own = std::env::current_exe().unwrap();
    let argv = [own.as_os_str(), "--exact".as_ref(), "provider::child".as_ref(), "--nocapture".as_ref()];
    OutOfProcess::new(argv).with_environment(Environment::empty().set("PATH", "").set("PINTLE_PROVIDER_CHILD", "1"))
}

fn shell(script: &str) -> OutOfProcess {
    OutOfProcess::new(["/bin/sh", "-c", script])
}

fn provided(word: &str, provider: impl Provider + 'static, options: RunOptions) -> RunOptions {
    RunOptions { registry: Arc::new(Registry::new().provide(word, Arc::new(provider))), ..options }
}

#[tokio::test]
async fn ch_006_ch_007_ch_049_our_own_verbs_in_a_process_with_an_empty_path() {
    let fixture = Fixture::start(Manner::default()).await;
    let text = "
a: {check: x, mcp: list-tools, stdout: [{contains: insert_cell}]}
b:
  check: x
  mcp: call
  tool: list_notebooks
  stdout:
    - contains: a.ipynb
    - contains: z.ipynb
c: {check: x, mcp: servers, stdout: {contains: jupyter}}
d: {check: x, mcp: call, tool: list_notebooks, capture: {FIRST: /content/0/text}}
e: {check: x, command: [echo, '${FIRST}'], stdout: a.ipynb}
";
    let outcome = plan(text, provided("mcp", ours(), with(fixture.server()))).await;
    let steps: Vec<_> = outcome.steps().collect();
    for index in [0, 2, 3, 4] {
        assert_eq!(steps[index].status, Status::Passed, "{}: {}", steps[index].id, steps[index].message);
    }
    assert_eq!(steps[1].message, "stdout does not contain \"z.ipynb\": \"a.ipynb b.ipynb\"");
    // The child knows where the assertion stands in the plan.
    assert_eq!((steps[1].mismatches[0].line, steps[1].mismatches[0].column), (9, 7));
}

#[tokio::test]
async fn ch_006_a_crash_fails_its_step_and_nothing_else() {
    for (script, wanted) in [
        ("echo oh no >&2; exit 7", "provider of `mcp` ended without a verdict, exit status 7: oh no"),
        ("kill -SEGV $$", "provider of `mcp` ended without a verdict, signal SEGV"),
        ("echo '{\"status\": \"fine\"}'", "provider of `mcp` ended without a verdict, exit status 0"),
    ] {
        let text = "
a: {check: x, mcp: ping}
b: {check: x, command: 'true'}
";
        let options = with(pintle_check::Server::url("a", "http://127.0.0.1:9/"));
        let outcome = plan(text, provided("mcp", shell(script), options)).await;
        assert_eq!(statuses(&outcome), [("a", Status::Failed), ("b", Status::Passed)]);
        assert_eq!(outcome.steps().next().unwrap().message, wanted);
    }
}

#[tokio::test]
async fn cw_38_a_missing_provider_could_not_be_judged() {
    let options =
        provided("mcp", OutOfProcess::new(["/nowhere/provider"]), with(pintle_check::Server::url("a", "http://x/")));
    let outcome = plan("a: {check: x, mcp: ping}", options.clone()).await;
    let step = outcome.steps().next().unwrap();
    assert_eq!((step.status, step.message.as_str()), (Status::Error, "provider: program /nowhere/provider not found"));
    assert_eq!(options.exit(&outcome).code(), 1);
}

#[tokio::test]
async fn ch_005_a_word_that_only_a_provider_knows() {
    let script = r#"read -r line; case "$line" in
        *'"verb":"weather"'*'"city":"Oslo"'*) echo '{"status":"pass","message":"","stdout":"rain"}' ;;
        *) echo '{"status":"fail","message":"what?"}' ;;
    esac"#;
    let options = || provided("weather", shell(script), RunOptions::default());
    let told = step("a: {check: x, weather: today, city: Oslo}", options()).await;
    assert_eq!((told.status, told.stdout.as_str()), (Status::Passed, "rain"));
    let told = step("a: {check: x, weather: today, city: Rome}", options()).await;
    assert_eq!((told.status, told.message.as_str()), (Status::Failed, "what?"));
}

/// Writes down what it is given.
struct Witness(Arc<std::sync::Mutex<Vec<serde_json::Value>>>);

impl Provider for Witness {
    fn invoke<'a>(&'a self, call: Invocation<'a>) -> BoxFuture<'a, Verdict> {
        async move {
            self.0.lock().unwrap().push(serde_json::json!({
                "fields": call.step.fields, "environment": call.snapshot,
            }));
            Verdict::new(VerdictStatus::Skip, "not here")
        }
        .boxed()
    }
}

#[tokio::test]
async fn ch_005_ch_008_ch_049_cw_39_a_provider_gets_everything_and_may_skip() {
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let text = "
servers:
  one: {url: 'http://localhost:1/mcp'}
  two: {url: 'http://localhost:2/sse', transport: sse}
vars: {TOOL: run}
a: {check: x, mcp: call, mcp_name: two, tool: '${TOOL}', eventually: 60s, stdout: {contains: y}}
";
    let outcome = plan(text, provided("mcp", Witness(seen.clone()), RunOptions::default())).await;
    let step = outcome.steps().next().unwrap();
    // A skip ends the retries at once.
    assert_eq!((step.status, step.message.as_str(), step.attempts), (Status::Skipped, "not here", 1));
    let seen = seen.lock().unwrap();
    assert_eq!(seen[0]["fields"]["tool"], "run");
    assert_eq!(seen[0]["fields"]["stdout"]["contains"], "y");
    let environment = &seen[0]["environment"];
    assert_eq!(environment["servers"].as_array().unwrap().len(), 2);
    assert_eq!(environment["endpoint"]["name"], "two");
    assert_eq!(environment["endpoint"]["transport"], "sse");
    assert_eq!(environment["endpoint"]["address"]["url"], "http://localhost:2/sse");
}
