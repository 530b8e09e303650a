//! The methods of `mcp`, each against the notebook server.

use pintle_check::{RunOptions, Status};

use crate::fixture::{Fixture, Manner};
use crate::support::{fails, passes, plan, plan_in, script, step, with};

const MANNERS: [Manner; 3] = [
    Manner { stream: false, modern: false },
    Manner { stream: true, modern: false },
    Manner { stream: false, modern: true },
];

#[tokio::test]
async fn ch_018_ch_071_ch_214_ping_answers_ok_in_every_manner() {
    for manner in MANNERS {
        let fixture = Fixture::start(manner).await;
        let step = passes("a: {check: x, mcp: ping, stdout: {equals: ok}}", with(fixture.server())).await;
        assert_eq!(step.stdout, "ok\n");
        let method = if manner.modern { "server/discover" } else { "ping" };
        assert_eq!(fixture.log().last().map(String::as_str), Some(if manner.modern { method } else { "DELETE" }));
        assert!(fixture.count(method) >= 1);
    }
}

#[tokio::test]
async fn ch_018_ping_fails_where_nobody_listens() {
    let server = pintle_check::Server::url("gone", "http://127.0.0.1:9/mcp");
    let message = fails("a: {check: x, mcp: ping}", with(server)).await;
    assert!(message.starts_with("connect: "), "{message}");
}

#[tokio::test]
async fn ch_019_ch_020_ch_054_servers_lists_without_a_dial() {
    let text = "
servers:
  jupyter: {url: 'http://localhost:8888/mcp'}
  old: {url: 'http://localhost:1/sse', transport: sse}
  own: {stdio: './none such'}
a: {check: x, mcp: servers}
";
    let step = passes(text, RunOptions::default()).await;
    assert_eq!(
        step.stdout,
        "jupyter\thttp://localhost:8888/mcp\thttp\nold\thttp://localhost:1/sse\tsse\nown\t./none such\tstdio\n"
    );
    assert_eq!(step.endpoint, None);
}

#[tokio::test]
async fn ch_021_ch_032_list_tools_follows_all_pages() {
    for manner in MANNERS {
        let fixture = Fixture::start(manner).await;
        let step = passes("a: {check: x, mcp: list-tools, count: 3}", with(fixture.server())).await;
        let wanted =
            "list_notebooks\tList all notebooks.\ninsert_cell\tInsert a cell.\nexecute_cell\tExecute a cell.\n";
        assert_eq!(step.stdout, wanted);
        assert_eq!(fixture.count("tools/list"), 3);
    }
}

#[tokio::test]
async fn ch_022_ch_023_resources_and_prompts_are_listed() {
    let fixture = Fixture::start(Manner::default()).await;
    let step = passes("a: {check: x, mcp: list-resources}", with(fixture.server())).await;
    let wanted = "file:///workspace/data.txt\tdata\ttext/plain\nfile:///workspace/empty.txt\tempty\t\n";
    assert_eq!(step.stdout, wanted);
    let step = passes("a: {check: x, mcp: list-prompts}", with(fixture.server())).await;
    assert_eq!(step.stdout, "review\tReviews.\n");
}

#[tokio::test]
async fn ch_024_ch_025_ch_072_call_with_and_without_input() {
    let fixture = Fixture::start(Manner::default()).await;
    let step = passes("a: {check: x, mcp: call, tool: list_notebooks}", with(fixture.server())).await;
    assert_eq!(step.stdout, "a.ipynb\nb.ipynb\n");
    for input in ["'{\"path\": \"c.ipynb\"}'", "{path: c.ipynb}"] {
        let text = format!("a: {{check: x, mcp: call, tool: insert_cell, input: {input}}}");
        assert_eq!(passes(&text, with(fixture.server())).await.stdout, "inserted into c.ipynb\n");
    }
}

#[tokio::test]
async fn ch_024_bad_json_after_expansion_fails_before_any_dial() {
    let fixture = Fixture::start(Manner::default()).await;
    let text = "
vars: {BODY: '{oops'}
a: {check: x, mcp: call, tool: insert_cell, input: '${BODY}'}
";
    let message = fails(text, with(fixture.server())).await;
    assert!(message.starts_with("input is not a JSON object: "), "{message}");
    assert!(fixture.log().is_empty(), "{:?}", fixture.log());
}

#[tokio::test]
async fn ch_026_ch_027_blocks_that_are_no_text() {
    let fixture = Fixture::start(Manner::default()).await;
    let step = passes("a: {check: x, mcp: call, tool: execute_cell}", with(fixture.server())).await;
    let wanted = "[image content: image/png, 4 bytes]\n[audio content: audio/wav, 3 bytes]\n\
                  [resource link: file:///workspace/out.png]\n";
    assert_eq!(step.stdout, wanted);
}

#[tokio::test]
async fn ch_028_cw_45_a_tool_that_fails_is_told_with_its_text() {
    let fixture = Fixture::start(Manner::default()).await;
    let call = "a: {check: x, mcp: call, tool: insert_cell";
    let message = fails(&format!("{call}}}"), with(fixture.server())).await;
    assert_eq!(message, "request tools/call: tool \"insert_cell\" failed: path is missing");
    for expected in ["exit_status: 1", "exit_status: 1, stderr: {contains: missing}", "tool_error: true"] {
        passes(&format!("{call}, {expected}}}"), with(fixture.server())).await;
    }
    fails(&format!("{call}, exit_status: 0}}"), with(fixture.server())).await;
    let message =
        fails(&format!("{call}, exit_status: 1, stderr: {{contains: other}}}}"), with(fixture.server())).await;
    assert!(message.contains("does not contain \"other\""), "{message}");
}

#[tokio::test]
async fn ch_029_a_protocol_error_names_the_tool() {
    let fixture = Fixture::start(Manner::default()).await;
    let message = fails("a: {check: x, mcp: call, tool: nope}", with(fixture.server())).await;
    assert_eq!(message, "request tools/call: tool \"nope\": error -32602: unknown tool");
}

#[tokio::test]
async fn ch_030_ch_031_resources_are_read() {
    let fixture = Fixture::start(Manner::default()).await;
    let read = |name: &str, more: &str| {
        format!("a: {{check: x, mcp: read, uri: 'file:///workspace/{name}.txt', stdout: {more}}}")
    };
    let step = passes(&read("data", "[{matches: .}]"), with(fixture.server())).await;
    assert_eq!(step.stdout, "alpha\n[binary resource: file:///workspace/data.txt, application/zip, 4 bytes]\n");
    let message = fails(&read("empty", "[{matches: .}]"), with(fixture.server())).await;
    assert_eq!(message, "stdout does not match \".\": \"\"");
    let message = fails(&read("none", "[{matches: .}]"), with(fixture.server())).await;
    assert!(message.starts_with("request resources/read: resource \"file:///workspace/none.txt\": error -32002"));
}

#[tokio::test]
async fn ch_034_a_missing_capability_names_the_method() {
    let server = || script("caps='{\"tools\":{}}'\non() { ok \"$2\" '{}'; }");
    for (method, wanted) in [
        ("list-resources", "request resources/list: the server does not offer resources"),
        ("list-prompts", "request prompts/list: the server does not offer prompts"),
        ("read, uri: x", "request resources/read: resource \"x\": the server does not offer resources"),
    ] {
        let message = fails(&format!("a: {{check: x, mcp: {method}}}"), with(server())).await;
        assert_eq!(message, wanted);
    }
}

#[tokio::test]
async fn cw_47_prompts_templates_and_completions() {
    let fixture = Fixture::start(Manner::default()).await;
    for (text, wanted) in [
        ("mcp: get-prompt, prompt: review, input: {path: a}", "user\treview a\n"),
        ("mcp: list-templates", "file:///{path}\tany\ttext/plain\n"),
        ("mcp: complete, prompt: review, argument: {name: path, value: al}", "alpha.ipynb\nalpine.ipynb\n"),
        ("mcp: complete, uri: 'file:///{path}', argument: {name: path, value: b}", "beta.ipynb\n"),
    ] {
        let step = passes(&format!("a: {{check: x, {text}}}"), with(fixture.server())).await;
        assert_eq!(step.stdout, wanted, "{text}");
    }
}

#[tokio::test]
async fn cw_46_tools_that_must_not_be_there() {
    let fixture = Fixture::start(Manner::default()).await;
    passes("a: {check: x, mcp: list-tools, not_tools: [rm_rf]}", with(fixture.server())).await;
    let message = fails("a: {check: x, mcp: list-tools, not_tools: [insert_cell]}", with(fixture.server())).await;
    assert_eq!(message, "tools contains \"insert_cell\": \"insert_cell\"");
    let message = fails("a: {check: x, mcp: list-tools, count: {gt: 3}}", with(fixture.server())).await;
    assert_eq!(message, "count is \"3\", not above 3");
}

#[tokio::test]
async fn cw_48_a_snapshot_is_written_compared_and_differs() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = Fixture::start(Manner::default()).await;
    let text = "a: {check: x, mcp: snapshot, snapshot: catalogue.json}";
    let run = async |options: RunOptions| {
        let outcome = plan_in(text, folder.path(), options, Default::default()).await.unwrap();
        outcome.plans[0].steps[0].clone()
    };
    let missing = run(with(fixture.server())).await;
    assert_eq!(missing.status, Status::Failed);
    assert!(missing.message.contains("is not there yet"), "{}", missing.message);
    let written = run(RunOptions { update_snapshots: true, ..with(fixture.server()) }).await;
    assert_eq!(written.status, Status::Passed);
    assert_eq!(run(with(fixture.server())).await.status, Status::Passed);
    let other = script(
        r#"on() { case "$1" in
          tools/list) ok "$2" '{"tools":[{"name":"insert_cell","description":"Insert two cells."}]}' ;;
          resources/list) ok "$2" '{"resources":[]}' ;;
          prompts/list) ok "$2" '{"prompts":[]}' ;;
          *) err "$2" -32601 'unknown method' ;;
        esac; }"#,
    );
    let differs = run(with(other)).await;
    assert_eq!(differs.status, Status::Failed);
    assert!(differs.stdout.contains("-      \"description\": \"Insert a cell.\""), "{}", differs.stdout);
    assert!(differs.stdout.contains("+      \"description\": \"Insert two cells.\""), "{}", differs.stdout);
}

#[tokio::test]
async fn raw_bytes_and_messages_over_stdio() {
    let server = || {
        script(
            r#"on() { case "$3" in
              *nonsense*) say '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"bad"}}' ;;
              *) say '{"jsonrpc":"2.0","method":"notifications/message","params":{"n":1}}'
                 say '{"jsonrpc":"2.0","method":"notifications/done"}'
                 ok "$2" '{"fine":true,"more":1}' ;;
            esac; }"#,
        )
    };
    let text = "
a:
  check: x
  mcp: raw
  send:
    - 'nonsense\"method\":\"x\"'
    - {jsonrpc: '2.0', id: 77, method: ping}
  receive:
    - {error: {code: -32700}}
    - {id: 77, result: {fine: true}}
  notifications: [notifications/message, notifications/done]
  json: {at: '/notifications/0/params/n', equals: 1}
";
    passes(text, with(server())).await;
    let message = fails(&text.replace("fine: true", "fine: false"), with(server())).await;
    assert!(message.starts_with("receive 2 does not contain"), "{message}");
    let message = fails(&text.replace("[notifications/message, notifications/done]", "[other]"), with(server())).await;
    assert!(message.starts_with("notifications is"), "{message}");
    passes(
        &text.replace("[notifications/message, notifications/done]", "{notifications/message: 1, never: {lt: 1}}"),
        with(server()),
    )
    .await;
}

#[tokio::test]
async fn raw_messages_over_http() {
    let fixture = Fixture::start(Manner::default()).await;
    let text = "a: {check: x, mcp: raw, send: {jsonrpc: '2.0', id: 5, method: nope}, receive: {error: {code: -32601}}}";
    passes(text, with(fixture.server())).await;
}

#[tokio::test]
async fn ch_048_ch_050_each_step_has_a_session_that_is_closed() {
    let fixture = Fixture::start(Manner::default()).await;
    let text = "
a: {check: x, mcp: ping}
b: {check: x, mcp: call, tool: nope}
c: {check: x, mcp: list-tools, timeout: 5s}
";
    plan(text, with(fixture.server())).await;
    assert_eq!(fixture.count("initialize"), 3);
    assert_eq!(fixture.count("DELETE"), 3);
}

#[tokio::test]
async fn cw_40_sessions_are_shared_on_request() {
    let fixture = Fixture::start(Manner::default()).await;
    let text = "
a: {check: x, mcp: ping}
b: {check: x, mcp: call, tool: nope}
c: {check: x, mcp: list-tools}
";
    let outcome = plan(text, RunOptions { reuse_sessions: true, jobs: 3, ..with(fixture.server()) }).await;
    assert_eq!(fixture.count("initialize"), 1);
    assert_eq!(fixture.count("DELETE"), 1);
    let ids: Vec<_> = outcome.steps().map(|step| step.id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "c"]);
}

#[tokio::test]
async fn a_shared_session_that_died_is_opened_anew() {
    let server = script("on() { case \"$1\" in tools/call) exit 3 ;; *) ok \"$2\" '{}' ;; esac; }");
    let text = "
a: {check: x, mcp: call, tool: die}
b: {check: x, mcp: ping}
";
    let outcome = plan(text, RunOptions { reuse_sessions: true, ..with(server) }).await;
    let statuses: Vec<_> = outcome.steps().map(|step| step.status).collect();
    assert_eq!(statuses, [Status::Failed, Status::Passed]);
}

#[tokio::test]
async fn a_missing_program_could_not_be_judged() {
    let server = pintle_check::Server::stdio("none", vec!["/nowhere/server".into()]);
    let options = with(server);
    let outcome = plan("a: {check: x, mcp: ping}", options.clone()).await;
    let step = outcome.steps().next().unwrap();
    assert_eq!(step.status, Status::Error);
    assert_eq!(step.message, "spawn: program /nowhere/server not found");
    assert_eq!(options.exit(&outcome).code(), 1);
}

#[tokio::test]
async fn noise_is_a_warning_unless_purity_is_asserted() {
    let server = || script("on() { say 'debug: hello'; ok \"$2\" '{}'; }");
    let seen = passes("a: {check: x, mcp: ping}", with(server())).await;
    assert_eq!(seen.warnings, ["1 lines on the server's standard output are no messages, first: debug: hello"]);
    let impure = step("a: {check: x, mcp: ping, stdout_pure: true}", with(server())).await;
    assert_eq!(impure.status, Status::Failed);
    assert_eq!(impure.message, "stdout_pure is \"debug: hello\", not true");
    assert_eq!((impure.mismatches[0].line, impure.mismatches[0].column), (1, 26));
}

#[tokio::test]
async fn a_first_plan_of_a_server_passes_against_it() {
    let fixture = Fixture::start(Manner::default()).await;
    let limit = std::time::Duration::from_secs(20);
    let text = pintle_check::init(&fixture.server(), &fixture.server(), limit, &Default::default()).await.unwrap();
    assert_eq!(fixture.count("tools/call"), 0);
    let outcome = plan(&text, RunOptions::default()).await;
    for step in outcome.steps() {
        assert_eq!(step.status, Status::Passed, "{}: {}\n{text}", step.id, step.message);
    }
    assert!(outcome.steps().count() >= 8, "{text}");
    assert_eq!(pintle_check::format(&text).unwrap(), text);
}
