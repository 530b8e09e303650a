//! The catalogue as it is served: its lists, schemas and hints, and that both doors open to the same operations.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "shared with the tests of the command line")]
#[path = "cli/home.rs"]
mod home;
#[allow(dead_code, reason = "shared with the tests of the command line")]
#[path = "cli/listening.rs"]
mod listening;

use home::{Home, pintle};
use listening::Listening;
use pintle_charly::leaves;
use pintle_client::{CallOptions, Endpoint, EraChoice, Http, Options, Session, Stdio, connect};
use pintle_dispatch::Validator;
use pintle_process::Environment;
use serde_json::{Map, Value, json};
use std::{collections::BTreeSet, fs};

const HINTS: [&str; 4] = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

/// A server over stdio, in the home's folder `work`.
fn stdio(home: &Home, flags: &[&str]) -> Endpoint {
    let words = [&[pintle().to_str().unwrap(), "mcp", "serve", "--stdio"], flags].concat();
    let mut server = Stdio::new(words);
    server.environment = Environment::empty().set("HOME", home.path()).set("PATH", "/usr/bin:/bin");
    server.directory = Some(home.work());
    Endpoint::Stdio(server)
}

async fn session(endpoint: &Endpoint, era: EraChoice) -> Session {
    let options = Options { era, ..Options::default() };
    connect(endpoint, options).await.unwrap_or_else(|error| panic!("{endpoint:?}: {error}"))
}

async fn call(session: &Session, tool: &str, arguments: Value) -> Value {
    let result = session.call_tool(tool, Some(arguments.clone()), &CallOptions::default()).await.unwrap();
    assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
    result
}

/// The tools as an agent sees them.
async fn listed(flags: &[&str]) -> Vec<Value> {
    let home = Home::new();
    let session = session(&stdio(&home, flags), EraChoice::Auto).await;
    let tools = session.list_tools(&CallOptions::default()).await.unwrap();
    session.close().await.unwrap();
    tools
}

fn name(tool: &Value) -> &str {
    tool["name"].as_str().unwrap()
}

fn names(tools: &[Value]) -> BTreeSet<&str> {
    tools.iter().map(name).collect()
}

fn properties(tool: &Value) -> &Map<String, Value> {
    tool["inputSchema"]["properties"].as_object().unwrap()
}

#[tokio::test]
async fn ch_107_our_own_client_and_the_mcp_check_work_against_our_server_over_both_transports() {
    let home = Home::with_project();
    let server = Listening::start(&home, &["--listen", "127.0.0.1:0"], None);
    let url = format!("http://{}/mcp", server.address);
    let default = CallOptions::default();
    for endpoint in [stdio(&home, &[]), Endpoint::Url(Http::new(&url).unwrap())] {
        for era in [EraChoice::Auto, EraChoice::Modern, EraChoice::Legacy(None)] {
            let session = session(&endpoint, era).await;
            session.ping(&default).await.unwrap();
            let tools = session.list_tools(&default).await.unwrap();
            assert!(names(&tools).contains("box.list.boxes"), "{tools:?}");
            let called = call(&session, "box.list.boxes", json!({})).await;
            assert_eq!(called["structuredContent"]["answer"]["boxes"][0]["name"], "web");
            let resources = session.list_resources(&default).await.unwrap();
            let project = resources.iter().find(|resource| resource["name"] == "charly.yml");
            let uri = project.unwrap_or_else(|| panic!("{resources:?}"))["uri"].as_str().unwrap();
            let read = session.read_resource(uri, &default).await.unwrap();
            assert_eq!(read["contents"][0]["text"], fs::read_to_string(home.work().join("charly.yml")).unwrap());
            assert!(session.oddities().is_empty(), "{:?}", session.oddities());
            session.close().await.unwrap();
        }
    }
    home.write(
        "work/ours.yml",
        "answers:\n  check: it answers\n  mcp: ping\n  stdout: ok\n\
         tools:\n  check: it lists\n  mcp: list-tools\n  stdout: {contains: box.inspect}\n\
         boxes:\n  check: it is called\n  mcp: call\n  tool: box.list.boxes\n  stdout: {contains: web}\n",
    );
    let command = format!("{} mcp serve --stdio", pintle().display());
    for server in [["--url", &url], ["--stdio", &command]] {
        let report = home.run([&["check", "run", "ours.yml", "--report", "json"][..], &server].concat()).json();
        assert_eq!(report["summary"]["passed"], 3, "{report}");
    }
}

/// The commands that a help text lists.
fn commands_in(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let named = lines.filter(|line| line.starts_with("  ") && !line[2..].starts_with(' '));
    named.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// Goes down the tree of commands by what `--help` lists; gives the paths of the leaves with their help.
fn walk(home: &Home, path: &[String], leaves: &mut Vec<(Vec<String>, String)>) {
    let mut words = vec!["charly".to_owned()];
    words.extend_from_slice(path);
    words.push("--help".to_owned());
    let help = home.run(&words).good();
    let inner = commands_in(&help);
    for word in &inner {
        walk(home, &[path, std::slice::from_ref(word)].concat(), leaves);
    }
    if inner.is_empty() {
        leaves.push((path.to_vec(), help));
    }
}

#[tokio::test]
async fn ch_108_ch_110_ch_111_ch_112_ch_178_the_leaves_of_the_command_tree_are_the_tools_with_their_help() {
    let home = Home::new();
    let mut found = Vec::new();
    walk(&home, &[], &mut found);
    let both = listed(&["--toolset", "charly,extra"]).await;
    let paths: BTreeSet<String> = found.iter().map(|(path, _)| path.join(".")).collect();
    assert_eq!(paths.iter().map(String::as_str).collect::<BTreeSet<_>>(), names(&both));
    assert!(paths.contains("box.add-candy") && paths.contains("box.new.project"), "{paths:?}");
    let of_seed = listed(&["--toolset", "charly"]).await;
    let ours: Vec<&str> = names(&both).difference(&names(&of_seed)).copied().collect();
    assert_eq!(ours, ["box.undo"], "what the seed does not have is listed on request only");

    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    for (path, help) in found {
        let tool = both.iter().find(|tool| name(tool) == path.join(".")).unwrap();
        let description = tool["description"].as_str().unwrap();
        let (told, note) = description.split_once(" [").unwrap_or((description, ""));
        assert!(!told.trim().is_empty(), "{path:?} says nothing");
        assert!(words(&help).starts_with(&words(told)), "{path:?}: `{told}` is not how its help begins: {help}");
        if leaves::MUTATING.contains(&name(tool)) {
            assert!(note.starts_with("destructive: ") && note.ends_with(']'), "{path:?}: {description}");
        } else {
            assert_eq!(note, "", "{path:?}: {description}");
        }
    }
}

#[tokio::test]
async fn ch_122_help_hidden_spellings_and_flags_of_every_command_are_in_no_schema() {
    let home = Home::new();
    let help = home.run(["charly", "box", "list", "boxes", "--help"]).good();
    let (own, every) = help.split_once("-h, --help").unwrap();
    let flags = |text: &str| -> BTreeSet<String> {
        let words = text.split_whitespace().filter_map(|word| word.strip_prefix("--"));
        words.map(|word| word.trim_end_matches(',').replace('-', "_")).collect()
    };
    assert!(flags(own).contains("project"), "{help}");
    let mut global = flags(every);
    for known in ["dir", "project_root", "no_default_repo", "output", "quiet", "yes", "deadline", "color", "fail_on"] {
        assert!(global.contains(known), "{known}: {global:?}");
    }
    // Agents page too.
    assert!(global.remove("cursor"));
    global.extend(["help".to_owned(), "version".to_owned()]);
    for tool in listed(&["--toolset", "charly,extra"]).await {
        for property in properties(&tool).keys() {
            // A tool's own positional may have the name of a flag.
            let own = name(&tool) == "box.new.project" && property == "dir";
            assert!(own || !global.contains(property), "{}: {property}", name(&tool));
            // Older spellings are taken, and never shown.
            assert!(
                !["image", "images", "layer", "layers"].contains(&property.as_str()),
                "{}: {property}",
                name(&tool)
            );
        }
        assert!(!tool["inputSchema"].to_string().contains("x-cli"), "{}: a hint for people", name(&tool));
    }
    let home = Home::with_project();
    home.run(["charly", "box", "new", "candy", "svc"]).good();
    let session = session(&stdio(&home, &[]), EraChoice::Auto).await;
    call(&session, "box.add-candy", json!({"image": "web", "layer": "svc"})).await;
    for unknown in ["help", "output", "yes"] {
        let arguments = json!({"box": "web", "candy": "svc", unknown: true});
        let refused = session.call_tool("box.add-candy", Some(arguments), &CallOptions::default()).await.unwrap();
        let problem = &refused["structuredContent"]["failure"]["problems"][0];
        assert_eq!(problem["pointer"], format!("/{unknown}"), "{refused}");
    }
    session.close().await.unwrap();
}

/// What JSON Schema 2020-12 says and clients understand.
const KEYWORDS: [&str; 19] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "description",
    "default",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "pattern",
    "uniqueItems",
];

/// What some client or other stumbles over.
fn lint(schema: &Value, place: &str, closed: bool) {
    if schema.is_boolean() {
        return;
    }
    let map = schema.as_object().unwrap_or_else(|| panic!("{place}: {schema} is no schema"));
    for keyword in map.keys() {
        assert!(KEYWORDS.contains(&keyword.as_str()), "{place}: clients do not know `{keyword}`");
    }
    let kind = map.get("type");
    assert!(kind.is_none_or(Value::is_string), "{place}: {kind:?} is not one type");
    if kind == Some(&json!("array")) {
        assert!(map.contains_key("items"), "{place}: an array says what it holds");
    }
    if closed && kind == Some(&json!("object")) {
        let says = map.contains_key("properties") || map.contains_key("additionalProperties");
        assert!(says, "{place}: an object says what it holds");
    }
    for (name, inner) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
        lint(inner, &format!("{place}/properties/{name}"), closed);
    }
    for keyword in ["items", "additionalProperties"] {
        if let Some(inner) = map.get(keyword) {
            lint(inner, &format!("{place}/{keyword}"), closed);
        }
    }
    for keyword in ["anyOf", "oneOf"] {
        for (index, inner) in map.get(keyword).and_then(Value::as_array).into_iter().flatten().enumerate() {
            lint(inner, &format!("{place}/{keyword}/{index}"), closed);
        }
    }
}

#[tokio::test]
async fn ch_124_an_6_04_an_6_05_every_schema_of_every_tool_is_json_schema_2020_12_in_the_form_all_clients_take() {
    let meta = Validator::new(json!({"$ref": "https://json-schema.org/draft/2020-12/schema"}));
    for broken in [json!({"type": "objekt"}), json!({"properties": {"a": {"minLength": -1}}}), json!({"required": "a"})]
    {
        assert!(meta.check("broken", &broken).is_err(), "{broken}");
    }
    let mut tools = listed(&["--toolset", "charly,extra"]).await;
    tools.extend(listed(&["--toolset", "charly", "--name-style", "underscore", "--read-only"]).await);
    for tool in &tools {
        for (kind, closed) in [("inputSchema", true), ("outputSchema", false)] {
            let place = format!("{} {kind}", name(tool));
            let schema = &tool[kind];
            meta.check(&place, schema).unwrap_or_else(|failure| panic!("{}", failure.text()));
            assert_eq!(schema["type"], "object", "{place}");
            assert!(schema["properties"].is_object(), "{place}");
            lint(schema, &place, closed);
        }
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{}", name(tool));
    }
}

#[tokio::test]
async fn ch_125_ch_126_ch_131_cw_12_hints_are_true_and_mutating_tools_are_offered_and_marked() {
    let tools = listed(&["--toolset", "charly"]).await;
    let known: Vec<_> = leaves::all().filter(|leaf| names(&tools).contains(leaf.name)).collect();
    assert_eq!(known.len(), tools.len(), "every tool is a leaf of the golden list");
    for leaf in &known {
        let tool = tools.iter().find(|tool| name(tool) == leaf.name).unwrap();
        let hints = tool["annotations"].as_object().unwrap();
        for hint in HINTS {
            assert!(hints[hint].is_boolean(), "{}: {hint} is always said", leaf.name);
        }
        assert_eq!(hints["destructiveHint"], leaf.mutating, "{}", leaf.name);
        // Only what looks and does nothing else: not every tool without the mark.
        assert_eq!(hints["readOnlyHint"], leaf.effect == "R", "{}", leaf.name);
    }
    let mutating: BTreeSet<&str> = known.iter().filter(|leaf| leaf.mutating).map(|leaf| leaf.name).collect();
    assert!(mutating.contains("box.write") && mutating.contains("candy.set"), "{mutating:?}");
    let extra = listed(&["--toolset", "extra"]).await;
    assert_eq!(extra[0]["annotations"]["readOnlyHint"], false, "undo writes");

    // The mark withholds nothing: acting on it is the client's part.
    let home = Home::with_project();
    let session = session(&stdio(&home, &[]), EraChoice::Auto).await;
    call(&session, "box.write", json!({"path": "notes", "content": "here"})).await;
    assert_eq!(fs::read_to_string(home.work().join("notes")).unwrap(), "here");
    session.close().await.unwrap();
}

#[tokio::test]
async fn ch_096_ch_129_the_start_up_line_and_the_lists_add_up_to_the_golden_190_and_127() {
    let home = Home::new();
    let line = |flags: &[&str]| {
        let ran = home.fed([&["mcp", "serve", "--stdio", "--toolset", "charly"], flags].concat(), "");
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
        ran.err
    };
    let numbers = |line: &str| -> Vec<usize> {
        let digits = |word: &str| word.trim_matches(|c: char| !c.is_ascii_digit()).parse().ok();
        line.split_whitespace().filter_map(digits).collect()
    };
    let golden: BTreeSet<&str> = leaves::all().map(|leaf| leaf.name).collect();
    let marked: BTreeSet<&str> = leaves::MUTATING.into();
    let charly = ["--toolset", "charly", "--read-only"];
    let (all, read_only) = (listed(&charly[..2]).await, listed(&charly).await);
    assert!(names(&all).is_subset(&golden));
    let missing = golden.len() - all.len();
    let told = line(&[]);
    match missing {
        0 => assert_eq!(numbers(&told), [190], "{told}"),
        missing => assert_eq!(numbers(&told), [all.len(), missing, 190], "{told}"),
    }
    assert_eq!(all.len() + missing, 190);
    let told = line(&["--read-only"]);
    assert_eq!(numbers(&told)[0], read_only.len(), "{told}");
    let left: BTreeSet<&str> = names(&all).difference(&marked).copied().collect();
    assert_eq!(names(&read_only), left, "what is marked, and nothing else, is left out");
    let missing_unmarked = golden.difference(&names(&all)).filter(|name| !marked.contains(**name)).count();
    assert_eq!(read_only.len() + missing_unmarked, 127);

    let session = session(&stdio(&home, &charly), EraChoice::Auto).await;
    for dropped in marked.intersection(&names(&all)) {
        let error = session.call_tool(dropped, Some(json!({})), &CallOptions::default()).await.unwrap_err();
        let answer = error.rpc().unwrap_or_else(|| panic!("{dropped}: {error}"));
        assert_eq!(answer.code, -32602, "{dropped}");
        assert!(answer.message.starts_with(&format!("unknown tool `{dropped}`")), "{dropped}: {}", answer.message);
    }
    session.close().await.unwrap();
}

#[tokio::test]
async fn ch_188_ch_190_v19_v20_over_mcp_each_format_lands_in_its_own_section_or_distribution() {
    let home = Home::with_project();
    let session = session(&stdio(&home, &[]), EraChoice::Auto).await;
    call(&session, "box.new.candy", json!({"name": "svc"})).await;
    home.write(
        "work/candy/maps/charly.yml",
        "maps:\n  candy:\n    version: 2026.100.0000\n    description: by distribution\n    distro:\n      fedora:\n        package: [base]\nmaps-ok:\n  check: ok\n  file: /a\n",
    );
    for format in ["rpm", "deb", "pac", "aur"] {
        for candy in ["svc", "maps"] {
            let arguments = json!({"name": candy, "packages": [format!("of-{format}")]});
            call(&session, &format!("candy.add-{format}"), arguments).await;
        }
    }
    call(&session, "box.validate", json!({})).await;
    for candy in ["svc", "maps"] {
        call(&session, "box.set", json!({"path": "web.box.candy", "value": format!("[{candy}]")})).await;
        let inspected = call(&session, "box.inspect", json!({"box": "web"})).await;
        let packages = &inspected["structuredContent"]["answer"]["packages"];
        let rpm = if candy == "svc" { json!(["of-rpm"]) } else { json!(["base", "of-rpm"]) };
        assert_eq!(*packages, json!({"rpm": rpm, "deb": ["of-deb"], "pac": ["of-pac"], "aur": ["of-aur"]}), "{candy}");
    }
    session.close().await.unwrap();
    let text = |candy: &str| fs::read_to_string(home.work().join(format!("candy/{candy}/charly.yml"))).unwrap();
    for format in ["rpm", "deb", "pac", "aur"] {
        assert!(text("svc").contains(&format!("    {format}:\n")), "{}", text("svc"));
        assert!(!text("maps").contains(&format!("    {format}:\n      packages")), "{}", text("maps"));
    }
}

#[test]
fn ch_180_v21_by_command_too_a_box_is_appended_or_has_a_file_of_its_own() {
    let home = Home::with_project();
    let file = home.work().join("charly.yml");
    let before = fs::read_to_string(&file).unwrap();
    home.run(["charly", "box", "new", "box", "apart", "--base", "scratch", "--split"]).good();
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    assert_eq!(
        fs::read_to_string(home.work().join("box/apart/charly.yml")).unwrap(),
        "apart:\n  box:\n    base: scratch\n"
    );
    home.run(["charly", "box", "new", "box", "within", "--base", "apart"]).good();
    assert_eq!(fs::read_to_string(&file).unwrap(), format!("{before}within:\n  box:\n    base: apart\n"));
    let boxes = home.run(["charly", "box", "list", "boxes"]).good();
    assert_eq!(boxes.lines().count(), 3, "{boxes}");
    home.run(["charly", "box", "validate"]).good();
}

#[test]
fn ch_144_an_6_01_whatever_is_logged_standard_output_holds_only_the_protocol() {
    let home = Home::with_project();
    let requests = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"box.validate","arguments":{}}}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"no.such","arguments":{}}}"#,
        "not JSON",
    ];
    home.write("requests", &format!("{}\n", requests.join("\n")));
    for level in ["off", "error", "info", "debug", "trace"] {
        let mut command = home.command(["mcp", "serve", "--stdio"]);
        command.env("RUST_LOG", level).env("RUST_BACKTRACE", "full");
        let ran = home::done(command.stdin(fs::File::open(home.path().join("requests")).unwrap()));
        assert_eq!(ran.code, 0, "{}", ran.err);
        let messages: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(messages.len(), requests.len(), "{level}: {}", ran.out);
        assert!(messages.iter().all(|message| message["jsonrpc"] == "2.0"), "{level}: {}", ran.out);
    }
    for wrong in [&["mcp", "serve", "--stdio", "--halp"][..], &["mcp", "serve", "--stdoi"], &["mcp", "srve", "--stdio"]]
    {
        let ran = home.run(wrong);
        assert_eq!((ran.code, ran.out.as_str()), (64, ""), "{wrong:?}");
    }
}
