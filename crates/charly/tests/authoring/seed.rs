//! The examples of the seed's documents, in the shapes in which they stand there, and the rules about whole projects.

use crate::world::World;
use pintle_core::{Code, Outcome};
use serde_json::json;

/// The five declarative examples.
const EXAMPLES: &str = r#"
jupyter-mcp-ping:
    check: the notebook server answers
    mcp: ping
    context: [deploy]
    timeout: 10s

jupyter-mcp-list-tools:
    check: the server has the tools that are needed
    mcp: list-tools
    context: [deploy]
    stdout:
        - contains: insert_cell
        - contains: execute_cell

jupyter-mcp-call-list-notebooks:
    check: listing notebooks works
    mcp: call
    context: [deploy]
    tool: list_notebooks
    input: "{}"
    exit_status: 0

jupyter-mcp-call-get-notebook:
    check: a notebook has cells
    mcp: call
    context: [deploy]
    tool: get_notebook
    input: '{"path":"getting-started.ipynb"}'
    stdout:
        - contains: cells

jupyter-mcp-read-prompt:
    check: a resource is not empty
    mcp: read
    context: [deploy]
    uri: file:///workspace/prompt.txt
    stdout:
        - matches: "."
"#;

/// The short ones, one per method.
const SHORT: &str = r#"
jupyter-ping:
    check: it answers
    mcp: ping
    context: [deploy]
    stdout:
        equals: ok
jupyter-servers:
    check: the image names its server
    mcp: servers
    context: [deploy]
    stdout:
        contains: jupyter        # name, address, transport
jupyter-list-resources:
    check: it has resources
    mcp: list-resources
jupyter-list-prompts:
    check: it has prompts
    mcp: list-prompts
jupyter-call:
    check: a tool can be called
    mcp: call
    context: [deploy]
    tool: list_notebooks          # needed
    input: "{}"                   # optional
    exit_status: 0
jupyter-read:
    check: a resource can be read
    mcp: read
    context: [deploy]
    uri: file:///workspace/data.txt   # needed
    stdout:
        - matches: "."
jupyter-second-ping:
    check: the other server answers
    mcp: ping
    mcp_name: chrome-devtools
    context: [deploy]
"#;

const JUPYTER: &str = "jupyter:\n    candy:\n        version: 2026.100.0000\n        description: notebooks\n        rpm: {packages: [jupyter]}\n";

/// A candy in flat nodes, with fields in both spellings.
const FLAT: &str = r#"
charly-mcp:
    candy:
        version: 2026.100.0000
        description: serves tools over HTTP on :18765
charly-mcp-candy:
    candy:
        - jupyter
charly-mcp-port:
    port:
        - 18765
charly-mcp-mcp_provide:
    mcp_provide:
        - name: charly
          url: "http://{{.ContainerName}}:18765/mcp"
          transport: http
charly-mcp-volumes:
    volumes:
        - name: project        # bound later
          path: /workspace
charly-mcp-env:
    env:
        CHARLY_PROJECT_DIR: "/workspace"
charly-mcp-service:
    service:
        - name: charly-mcp
          exec: /usr/local/bin/charly mcp serve --listen :18765
          restart: always
          enable: true
          scope: system
charly-mcp-ping:
    check: it answers
    mcp: ping
    mcp_name: charly
"#;

async fn errors(world: &World) -> Vec<String> {
    let reply = world.call("box.validate", json!({})).await;
    let failure = reply.failure.map(|failure| failure.problems).unwrap_or_default();
    failure.iter().map(ToString::to_string).collect()
}

/// The errors of a project whose one candy file is `text`.
async fn of_candy(text: &str) -> Vec<String> {
    let world = World::of("version: 2026.100.0000\n");
    world.put("candy/x/charly.yml", text);
    errors(&world).await
}

#[tokio::test]
async fn ch_010_ch_012_ch_014_ch_015_the_examples_of_checks_validate_unchanged() {
    for examples in [EXAMPLES, SHORT] {
        assert_eq!(of_candy(&format!("{JUPYTER}{examples}")).await, [""; 0]);
        let one_by_one: Vec<_> = examples.split("\njupyter-").filter(|part| !part.trim().is_empty()).collect();
        for part in one_by_one {
            let example = format!("{JUPYTER}jupyter-{}\n", part.trim_start_matches("jupyter-").trim());
            assert_eq!(of_candy(&example).await, [""; 0], "each is the check that a candy must have: {example}");
        }
    }
    assert_eq!(of_candy(JUPYTER).await, ["candy/x/charly.yml:1:1: the candy `jupyter` has no check"]);
}

#[tokio::test]
async fn v22_v23_flat_nodes_and_both_spellings_are_read() {
    let world = World::of("version: 2026.100.0000\ndesk:\n  box: {base: scratch, candy: [charly-mcp]}\n");
    world.put("candy/jupyter/charly.yml", format!("{JUPYTER}{SHORT}"));
    world.put("candy/charly-mcp/charly.yml", FLAT);
    assert_eq!(errors(&world).await, [""; 0]);
    let desk = world.ok("box.inspect", json!({"box": "desk"})).await;
    assert_eq!(desk["candy"], json!(["jupyter", "charly-mcp"]));
    assert_eq!(desk["volume"], json!([{"name": "project", "path": "/workspace"}]));
    assert_eq!(desk["port"], json!([18765]));
    assert_eq!(desk["mcp_provide"][0]["url"], "http://{{.ContainerName}}:18765/mcp");
    let moved = FLAT.trim_start().replace("\ncharly-mcp-", "\n    charly-mcp-");
    let nested = moved.lines().enumerate().map(|(n, line)| {
        // Everything below the nested names moves in with them.
        if n > 3 && !line.starts_with("    charly-mcp-") { format!("    {line}\n") } else { format!("{line}\n") }
    });
    world.put("candy/charly-mcp/charly.yml", nested.collect::<String>());
    assert_eq!(errors(&world).await, [""; 0], "{}", world.text("candy/charly-mcp/charly.yml"));
    assert_eq!(world.ok("box.inspect", json!({"box": "desk"})).await, desk, "nested nodes mean the same");
}

#[tokio::test]
async fn v23_a_flat_node_goes_to_the_longest_fitting_name_or_is_refused() {
    let world = World::of(
        "a:\n  box: {base: scratch}\na-b:\n  box: {base: scratch}\na-b-port:\n  port: [1]\na-env:\n  env: [A=1]\n",
    );
    assert_eq!(world.ok("box.inspect", json!({"box": "a-b"})).await["port"], json!([1]));
    assert_eq!(world.ok("box.inspect", json!({"box": "a"})).await["env"], json!({"A": "1"}));
    world.put("charly.yml", "a:\n  box: {base: scratch}\nb:\n  box: {base: scratch}\nport:\n  port: [1]\n");
    let failure = world.refused("box.validate", json!({})).await;
    assert_eq!(failure.problems[0].to_string(), "charly.yml:5:1: `port` belongs to no box or candy of this file");
    assert_eq!(failure.problems[0].hint.as_deref(), Some("name it `a-…` or `b-…`"));
}

#[tokio::test]
async fn ch_011_a_plan_key_is_refused_with_what_to_do_instead() {
    for text in [
        "web:\n  box: {base: scratch}\nplan: []\n",
        "web:\n  box: {base: scratch}\n  plan: []\n",
        "web:\n  box:\n    base: scratch\n    plan: []\n",
    ] {
        let failure = World::of(text).refused("box.validate", json!({})).await;
        assert_eq!(failure.problems.len(), 1, "{text}: {failure:?}");
        assert!(failure.problems[0].message.contains("`plan` is no key"), "{text}");
        assert!(failure.problems[0].hint.as_deref().unwrap().contains("a node of its own"), "{text}");
    }
}

#[tokio::test]
async fn ch_094_all_errors_come_in_one_run_with_file_line_and_column() {
    let world =
        World::of("version: 2026.100.0000\ndefauls: {tag: x}\nweb:\n  box:\n    bas: scratch\n    candy: [non]\n");
    world.put(
        "candy/one/charly.yml",
        "one:\n  candy: {description: x}\n  one-step:\n    check: p\n    mcp: call\n    context: [build]\n",
    );
    world.put("candy/two/charly.yml", "two: [\n");
    let reply = world.call("image.validate", json!({})).await;
    assert_eq!((reply.outcome, reply.is_error, reply.exit().code()), (Outcome::Failed, true, 1));
    let failure = reply.failure.unwrap();
    assert_eq!(failure.code, Code::Invalid);
    let told: Vec<_> = failure.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        told[..7],
        [
            "candy/one/charly.yml:1:1: the candy `one` has no `version`",
            "candy/one/charly.yml:5:10: mcp: call requires modifier \"tool\"",
            "candy/one/charly.yml:6:14: mcp: verb requires context:\"deploy\"",
            "candy/two/charly.yml:2:1: expected a value",
            "charly.yml:2:1: `defauls` is no directive, and as a node it would need the name of a box or candy",
            "charly.yml:3:1: the box `web` has no `base`",
            "charly.yml:5:5: unknown key `bas` in the box `web`",
        ]
    );
    let text = reply.view.plain();
    assert!(
        text.contains("charly.yml:6:13: unknown candy `non` in the box `web`") && text.contains("did you mean `base`?"),
        "{text}"
    );
}

#[tokio::test]
async fn rules_about_whole_projects() {
    for (text, told) in [
        ("a:\n  box: {base: b}\nb:\n  box: {base: a}\n", "charly.yml:2:15: the box is based on itself: a → b → a"),
        (
            "a:\n  box: {base: scratch}\n  port: [1]\n",
            "charly.yml:3:3: `port` stands beside `box`; a node holds one of them",
        ),
        (
            "a:\n  box: {base: scratch}\n  check: x\n",
            "charly.yml:3:3: `a` is a `box` and a `check`; a node is one thing",
        ),
        ("a: [1]\n", "charly.yml:1:1: `a` is a list; a node is a map that says what it is"),
        ("- 1\n", "charly.yml:1:1: the file is a list, not a map of nodes"),
        (
            "A:\n  box: {base: scratch}\n",
            "charly.yml:1:1: `A` is no name for a box or candy: lower-case letters, digits, and `-`, `_`, `.` between them",
        ),
        ("a:\n  box: {base: scratch, env: [PATH=/x]}\n", "charly.yml:2:30: `PATH` must not be set"),
        ("defaults: {tga: x}\n", "charly.yml:1:12: unknown key `tga` in `defaults`"),
        ("discover: [{path: ../x}]\n", "charly.yml:1:19: `discover`: `../x` holds `..`"),
        (
            "import: [{a: b, c: d}]\n",
            "charly.yml:1:10: an import is `NAME: '@host/owner/repo:ref'` or a file of the project",
        ),
        ("import: ['../x.yml']\n", "charly.yml:1:10: `import`: `../x.yml` holds `..`"),
        ("import: [none.yml]\n", "none.yml:1:1: the imported file `none.yml` is not there"),
        ("a-rpm:\n  rpm: {}\n", "charly.yml:1:1: `a-rpm` belongs to no box or candy of this file"),
    ] {
        let told_all = errors(&World::of(text)).await;
        assert!(told_all.contains(&told.to_owned()), "{text}: {told_all:?}");
    }
    let candy = |name: &str, more: &str| {
        format!(
            "{name}:\n  candy: {{version: 2026.100.0000, description: d{more}}}\n{name}-ok:\n  check: ok\n  file: /a\n"
        )
    };
    let world = World::of("version: 2026.100.0000\n");
    world.put("candy/a/charly.yml", candy("a", ", require: [b]"));
    world.put("candy/b/charly.yml", candy("b", ", candy: [a]"));
    world.put("candy/c/charly.yml", candy("a", ", env_require: [{name: X}], env_accept: [{name: X}]"));
    let told = errors(&world).await;
    for part in [
        "candy/a/charly.yml:1:1: the candy needs itself: a → b → a",
        "candy/c/charly.yml:1:1: the candy `a` is there twice, also at candy/a/charly.yml:1:1",
        "`X` is required and accepted, also at candy/c/charly.yml:2:",
    ] {
        assert!(told.iter().any(|line| line.contains(part)), "{part}: {told:?}");
    }
}

#[tokio::test]
async fn a_candy_with_a_base_is_a_box_and_a_pod_is_a_deployment() {
    let world = World::of(
        "version: 2026.100.0000\nweb:\n  candy:\n    base: scratch\n    candy: []\nfront:\n  pod:\n    image: web\nfront-port:\n  port:\n    - 5900:5900\n    - 9224:9224   # added\n",
    );
    assert_eq!(errors(&world).await, [""; 0]);
    assert_eq!(world.shown("box.list.boxes", json!({})).await, "web [testing]");
    world.ok("box.set", json!({"path": "boxes.web.base", "value": "debian:13"})).await;
    assert!(world.text("charly.yml").contains("  candy:\n    base: debian:13\n"));
}

#[tokio::test]
async fn many_boxes_come_in_pages() {
    let boxes: String = (0..600).map(|n| format!("box-{n:03}:\n  box: {{base: quay.io/fedora/fedora:43}}\n")).collect();
    let world = World::of(&boxes);
    let (mut names, mut cursor) = (Vec::new(), None);
    loop {
        let arguments = cursor.map_or(json!({}), |cursor: String| json!({"cursor": cursor}));
        let reply = world.call("box.list.boxes", arguments).await;
        assert!(reply.view.plain().len() < 26_000);
        let answer = reply.answer.unwrap();
        names.extend(answer["boxes"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap().to_owned()));
        cursor = reply.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(names, (0..600).map(|n| format!("box-{n:03}")).collect::<Vec<_>>());
}
