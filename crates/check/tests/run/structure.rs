//! Assertions on structure, errors, latency and captures, as they are seen from a plan.

use std::collections::BTreeMap;

use pintle_check::{RunOptions, Status};

use crate::fixture::{Fixture, Manner};
use crate::support::{fails, passes, plan, script, statuses, step, with};

#[tokio::test]
async fn cw_46_json_looks_into_the_result() {
    let fixture = Fixture::start(Manner::default()).await;
    let text = "
a:
  check: x
  mcp: call
  tool: list_notebooks
  json:
    - {at: /content/0/text, equals: a.ipynb}
    - {at: '$.structuredContent.notebooks[*]', contains: b.ipynb, count: 2}
    - {at: /structuredContent/count, between: [1, 3], type: integer}
    - {at: /isError, absent: true}
    - at: /structuredContent
      schema: {type: object, required: [notebooks], properties: {count: {minimum: 2}}}
";
    passes(text, with(fixture.server())).await;
    let wrong = step(&text.replace("equals: a.ipynb", "equals: z.ipynb"), with(fixture.server())).await;
    assert_eq!(wrong.message, "/content/0/text is \"a.ipynb\", not \"z.ipynb\"");
    let mismatch = &wrong.mismatches[0];
    assert_eq!((mismatch.line, mismatch.column), (7, 29));
    assert_eq!((mismatch.operator.as_str(), mismatch.subject.as_str()), ("equals", "/content/0/text"));
    let message = fails(&text.replace("minimum: 2", "minimum: 5"), with(fixture.server())).await;
    assert!(message.starts_with("/structuredContent does not fit the schema: \"/count: "), "{message}");
}

#[tokio::test]
async fn cw_46_the_schema_of_a_tool_may_lie_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("schema.json"), r#"{"required": ["properties"], "minProperties": 2}"#).unwrap();
    let fixture = Fixture::start(Manner::default()).await;
    let text = "a: {check: x, mcp: list-tools, json: [{at: /tools/1/inputSchema, schema: schema.json}]}";
    let outcome =
        crate::support::plan_in(text, folder.path(), with(fixture.server()), Default::default()).await.unwrap();
    assert_eq!(statuses(&outcome), [("a", Status::Passed)]);
}

#[tokio::test]
async fn tool_errors_and_protocol_errors_are_told_apart() {
    let fixture = Fixture::start(Manner::default()).await;
    let tool = "a: {check: x, mcp: call, tool: insert_cell, ";
    let protocol = "a: {check: x, mcp: call, tool: nope, ";
    for text in [
        format!("{tool}tool_error: true}}"),
        format!("{tool}tool_error: {{contains: missing}}}}"),
        format!("{protocol}error: true}}"),
        format!("{protocol}error: {{code: -32602, message: {{contains: unknown}}}}}}"),
        format!("{protocol}error: {{data: {{at: /hint, equals: none}}}}}}"),
        "a: {check: x, mcp: call, tool: list_notebooks, tool_error: false}".to_owned(),
    ] {
        passes(&text, with(fixture.server())).await;
    }
    for (text, wanted) in [
        (format!("{tool}error: true}}"), "request tools/call: tool \"insert_cell\" failed: path is missing"),
        (format!("{protocol}tool_error: true}}"), "request tools/call: tool \"nope\": error -32602: unknown tool"),
        (format!("{protocol}error: {{code: -32601}}}}"), "error code is \"-32602\", not -32601"),
        ("a: {check: x, mcp: call, tool: list_notebooks, error: true}".to_owned(), "error is not there"),
        ("a: {check: x, mcp: call, tool: list_notebooks, tool_error: true}".to_owned(), "tool_error is not there"),
    ] {
        let message = fails(&text, with(fixture.server())).await;
        assert!(message.starts_with(wanted), "{text}\n{message}");
    }
}

#[tokio::test]
async fn cw_46_an_answer_may_take_only_so_long() {
    let server = || script("on() { sleep 0.3; ok \"$2\" '{}'; }");
    let message = fails("a: {check: x, mcp: ping, within: 100ms}", with(server())).await;
    assert!(message.starts_with("the answer took ") && message.ends_with(", more than 100ms"), "{message}");
    passes("a: {check: x, mcp: ping, within: 20s}", with(server())).await;
}

#[tokio::test]
async fn ch_083_captures_feed_later_steps() {
    let fixture = Fixture::start(Manner::default()).await;
    let text = "
use: {check: x, command: [echo, '${FIRST} of ${COUNT}'], stdout: a.ipynb of 2}
first:
  check: x
  mcp: call
  tool: list_notebooks
  capture: {FIRST: /content/0/text, COUNT: $.structuredContent.count}
insert:
  check: x
  mcp: call
  tool: insert_cell
  input: '{\"path\": \"${FIRST}\"}'
  stdout: inserted into ${FIRST}
  capture: WHERE
tell: {check: x, command: [echo, '${WHERE}'], stdout: inserted into a.ipynb}
";
    let outcome = plan(text, with(fixture.server())).await;
    for step in outcome.steps() {
        assert_eq!(step.status, Status::Passed, "{}: {}", step.id, step.message);
    }
    let message =
        fails("a: {check: x, mcp: call, tool: list_notebooks, capture: {A: /nowhere}}", with(fixture.server())).await;
    assert_eq!(message, "capture `A`: there is nothing at /nowhere");
}

#[tokio::test]
async fn a_quote_in_a_captured_value_stays_a_quote() {
    let fixture = Fixture::start(Manner::default()).await;
    let options = RunOptions {
        vars: BTreeMap::from([("ODD".to_owned(), "a \"b\" \\ ${c}".to_owned())]),
        ..with(fixture.server())
    };
    let text = r#"a: {check: x, mcp: call, tool: insert_cell, input: '{"path": "say ${TEXT}"}', stdout: {contains: say hi "you"}}"#;
    let options = RunOptions { vars: BTreeMap::from([("TEXT".to_owned(), "hi \"you\"".to_owned())]), ..options };
    let with_vars = format!("vars: {{TEXT: none}}\n{text}");
    passes(&with_vars, options).await;
}

#[tokio::test]
async fn secrets_reach_the_server_and_no_report() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("token"), "hush-hush-hush\n").unwrap();
    let fixture = Fixture::start(Manner::default()).await;
    let text = format!(
        "
servers:
  a: {{url: 'http://{}/mcp', headers: {{x-token: '${{file:token}}'}}}}
shown: {{check: x, mcp: ping, stdout: {{contains: '${{file:token}}'}}}}
said:
  check: x
  command: [echo, 'so ${{file:token}} and PIN 1234']
  mask: ['PIN \\d+']
  stdout: {{contains: [hush-hush-hush, nope]}}
",
        fixture.address
    );
    let outcome =
        crate::support::plan_in(&text, folder.path(), RunOptions::default(), Default::default()).await.unwrap();
    assert!(fixture.count("x-token hush-hush-hush") > 0);
    let told = serde_json::to_string(&outcome).unwrap();
    assert!(!told.contains("hush-hush"), "{told}");
    assert!(told.contains("‹secret token›"), "{told}");
    let said = outcome.steps().nth(1).unwrap();
    assert_eq!(said.stdout, "so ‹secret token› and ‹masked›\n");
    assert_eq!(said.mismatches[0].expected, serde_json::json!("nope"));
    // The step was read again with its variables replaced, but its places are those of the plan.
    assert_eq!((said.mismatches[0].line, said.mismatches[0].column), (9, 12));
}

#[tokio::test]
async fn a_secret_that_is_not_there_could_not_be_judged() {
    let text = "a: {check: x, command: [echo, '${env:PINTLE_NO_SUCH_VARIABLE}']}";
    let step = step(text, RunOptions::default()).await;
    assert_eq!(step.status, Status::Error);
    assert_eq!(step.message, "the environment variable `PINTLE_NO_SUCH_VARIABLE` is not set");
}
