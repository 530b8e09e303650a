//! The examples of the seed's document, unchanged.

use std::path::Path;

use pintle_check::{Registry, load_bytes, read_step, refuse_step_list};
use pintle_yaml::{Document, Limits};

use crate::fixture::{Fixture, Manner};
use crate::support::{plan, with};

const EXAMPLES: [&str; 9] = [
    "jupyter-mcp-list-tools:
    check: jupyter exposes its core notebook mcp tools
    mcp: list-tools
    context: [deploy]
    stdout:
        - contains: insert_cell
        - contains: execute_cell
",
    "jupyter-mcp-ping:
    check: the jupyter mcp server responds to ping
    mcp: ping
    context: [deploy]
    stdout:
        equals: ok
",
    "jupyter-mcp-servers:
    check: the image advertises the jupyter mcp server
    mcp: servers
    context: [deploy]
    stdout:
        contains: jupyter        # emits \"<name>\\t<url>\\t<transport>\" per server
",
    "jupyter-mcp-list-tools:
    check: the jupyter mcp server exposes its notebook tools
    mcp: list-tools
    context: [deploy]
    stdout:
        - contains: list_notebooks   # \"list_notebooks\\tList all notebooks accessible in the workspace.\"
        - contains: execute_cell
",
    "jupyter-mcp-call-list-notebooks:
    check: list_notebooks returns successfully
    mcp: call
    context: [deploy]
    tool: list_notebooks          # required
    input: \"{}\"                   # optional JSON arg blob; omit for zero-arg tools
    exit_status: 0                # assert no IsError
",
    "mcp-read-resource:
    check: reading a resource returns a non-empty body
    mcp: read
    context: [deploy]
    uri: file:///workspace/data.txt   # required
    stdout:
        - matches: \".\"                # non-empty body
",
    "chrome-devtools-mcp-ping:
    check: the chrome-devtools mcp server responds to ping
    mcp: ping
    mcp_name: chrome-devtools
    context: [deploy]
",
    "# Liveness check
jupyter-mcp-ping:
    check: the jupyter mcp server responds to ping
    mcp: ping
    context: [deploy]
    timeout: 10s

# Catalog assertion
jupyter-mcp-list-tools:
    check: the jupyter mcp server exposes the expected tools
    mcp: list-tools
    context: [deploy]
    stdout:
        - contains: insert_cell
        - contains: execute_cell

# Real tool invocation
jupyter-mcp-call-list-notebooks:
    check: list_notebooks returns successfully
    mcp: call
    context: [deploy]
    tool: list_notebooks
    input: \"{}\"
    exit_status: 0
",
    "# Tool with arguments
jupyter-mcp-call-get-notebook:
    check: get_notebook returns a notebook with cells
    mcp: call
    context: [deploy]
    tool: get_notebook
    input: '{\"path\":\"getting-started.ipynb\"}'
    stdout:
        - contains: cells

# Resource read
jupyter-mcp-read-prompt:
    check: a prompt resource reads back non-empty
    mcp: read
    context: [deploy]
    uri: file:///workspace/prompt.txt
    stdout:
        - matches: \".\"
",
];

#[test]
fn ch_010_ch_012_ch_014_ch_016_examples_are_valid_in_both_places() {
    for text in EXAMPLES {
        let set = load_bytes("plan.yml", text.as_bytes(), Path::new(""), &Registry::new());
        assert!(set.is_ok(), "{text}\n{set:?}");
        let document = Document::parse(text, Limits::default()).unwrap();
        for (name, body) in document.root().entries() {
            let step = read_step(name, body, Path::new(""), &Registry::new());
            assert!(step.is_ok(), "{text}\n{step:?}");
            assert_eq!(step.unwrap().verb, "mcp");
            assert!(refuse_step_list(name, body).is_none());
        }
    }
}

#[tokio::test]
async fn ch_014_examples_pass_against_a_notebook_server() {
    let fixture = Fixture::start(Manner::default()).await;
    for text in &EXAMPLES[..6] {
        let outcome = plan(text, with(fixture.server())).await;
        let step = outcome.steps().next().unwrap();
        assert_eq!(step.message, "", "{text}");
    }
}

#[test]
fn a_thousand_steps_are_read() {
    let mut text = String::new();
    for n in 0..1000 {
        text.push_str(&format!(
            "step-{n}:\n  check: tool {n} answers\n  mcp: call\n  tool: tool_{n}\n  input: {{path: \"a/{n}\", deep: {{n: {n}}}}}\n  \
             timeout: 10s\n  stdout:\n    - contains: ok\n    - matches: \"^[a-z]+ {n}\"\n  json: [{{at: /content/0/text, equals: hi}}]\n"
        ));
    }
    let set = load_bytes("plan.yml", text.as_bytes(), Path::new(""), &Registry::new()).unwrap();
    assert_eq!(set.steps().count(), 1000);
}
