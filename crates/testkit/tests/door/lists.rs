//! The list of tools, and how names and arguments are taken.

use crate::peer::{Peer, text};
use globset::{Glob, GlobSetBuilder};
use pintle_dispatch::{NameStyle, ReadOnly, Settings, Validator};
use pintle_mcp::ServerOptions;
use pintle_testkit::{World, trial_toolset};
use serde_json::{Value, json};
use std::sync::Arc;

async fn listed(peer: &mut Peer) -> Vec<Value> {
    peer.modern("tools/list", json!({})).await["result"]["tools"].as_array().unwrap().clone()
}

fn trial(settings: Settings) -> Peer {
    Peer::trial(&Arc::new(World::default()), settings)
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn eg_014_kw_53_cw_12_an_6_04_an_6_05_every_tool_has_schemas_and_all_four_hints() {
    fn lint(schema: &Value, at: &str) {
        let Some(map) = schema.as_object() else { return };
        if map.get("type") == Some(&json!("array")) {
            assert!(map.contains_key("items"), "{at}: an array says what it holds");
        }
        for known in map.keys() {
            assert!(!known.starts_with("x-"), "{at}: `{known}` is no keyword");
        }
        for (name, inner) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
            lint(inner, &format!("{at}/{name}"));
        }
        for keyword in ["items", "additionalProperties"] {
            if let Some(inner) = map.get(keyword) {
                lint(inner, &format!("{at}/{keyword}"));
            }
        }
    }
    let mut peer = trial(Settings::default());
    for tool in listed(&mut peer).await {
        let name = tool["name"].as_str().unwrap();
        assert!(!tool["description"].as_str().unwrap().is_empty(), "{name}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{name}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{name}");
        assert!(tool["inputSchema"]["properties"].is_object(), "{name}");
        lint(&tool["inputSchema"], name);
        assert_eq!(tool["outputSchema"]["required"], json!(["outcome"]), "{name}");
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{name}: {hint}");
        }
    }
    let tools = listed(&mut peer).await;
    let hints = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap()["annotations"].clone();
    let pure = json!({"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false});
    assert_eq!(hints("trial.echo"), pure);
    let write =
        json!({"readOnlyHint": false, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false});
    assert_eq!(hints("trial.write"), write);
    assert_eq!(hints("trial.disclose")["readOnlyHint"], false, "a secret leaves");
}

#[tokio::test]
async fn cw_05_every_answer_is_as_its_output_schema_says_failures_too() {
    let mut peer = trial(Settings::default());
    for tool in listed(&mut peer).await {
        let name = tool["name"].as_str().unwrap();
        if ["trial.hang", "trial.ask", "trial.noisy"].contains(&name) {
            continue;
        }
        let validator = Validator::new(tool["outputSchema"].clone());
        for arguments in [json!({}), json!({"value": "x"}), json!({"no such": 1})] {
            let called = peer.modern("tools/call", json!({"name": name, "arguments": arguments})).await;
            let told = &called["result"]["structuredContent"];
            assert!(told["outcome"].is_string(), "{name}: {called}");
            validator.check(name, told).unwrap_or_else(|failure| panic!("{}: {told}", failure.text()));
        }
    }
}

#[tokio::test]
async fn cw_15_cw_16_values_arrive_as_they_were_sent() {
    let mut peer = trial(Settings::default());
    let odd = json!(["a,b", "--flag", "$(id)", "two words", ""]);
    let answer = peer.modern("tools/call", json!({"name": "trial.fan-out", "arguments": {"targets": odd}})).await;
    let targets = answer["result"]["structuredContent"]["answer"]["targets"].as_array().unwrap();
    let names: Vec<&Value> = targets.iter().map(|target| &target["name"]).collect();
    assert_eq!(names, odd.as_array().unwrap().iter().collect::<Vec<_>>());
}

/// A tool.
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Before {
    /// Its name.
    name: String,
}

/// The same tool, one field later.
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct After {
    /// Its name.
    name: String,
    /// How many.
    #[serde(default = "three")]
    limit: u32,
    #[serde(default)]
    share: f64,
    #[serde(default)]
    force: bool,
    /// Which kind.
    kind: Option<Kind>,
    #[serde(default)]
    add_candy: Vec<String>,
    #[serde(default)]
    env: std::collections::BTreeMap<String, String>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Round,
    Flat,
}

fn three() -> u32 {
    3
}

macro_rules! answers_nothing {
    ($tool:ident) => {
        impl pintle_core::Query for $tool {
            type Host = World;
            type Answer = pintle_core::Exact;
            const NAME: &str = "shape.tool";
            async fn run(self, _: &World, _: &pintle_core::Call) -> Result<pintle_core::Exact, pintle_core::Stop> {
                Ok(pintle_core::Exact(String::new()))
            }
        }
    };
}
answers_nothing!(Before);
answers_nothing!(After);

#[tokio::test]
async fn ch_098_ch_113_ch_114_ch_116_ch_117_ch_118_ch_119_a_new_field_is_all_that_a_schema_needs() {
    async fn schema(tool: Arc<dyn pintle_core::Tool>) -> Value {
        let mut toolset = trial_toolset(&Arc::default(), 0);
        toolset.tools = vec![tool];
        let mut peer = Peer::serving(vec![toolset], Settings::default(), ServerOptions::new("1"));
        listed(&mut peer).await[0]["inputSchema"].clone()
    }
    let world = Arc::new(World::default());
    let before = schema(pintle_core::query::<Before>(&world)).await;
    assert_eq!(before["properties"], json!({"name": {"type": "string", "description": "Its name."}}));
    let after = schema(pintle_core::query::<After>(&world)).await;
    assert_eq!((&after["type"], &after["additionalProperties"]), (&json!("object"), &json!(false)));
    assert_eq!(after["required"], json!(["name"]));
    let is = |name: &str, wanted: Value| assert_eq!(after["properties"][name], wanted, "{name}");
    is("limit", json!({"description": "How many.", "type": "integer", "minimum": 0, "default": 3}));
    is("share", json!({"type": "number", "default": 0.0}));
    is("force", json!({"type": "boolean", "default": false}));
    is("kind", json!({"description": "Which kind.", "type": "string", "enum": ["round", "flat"]}));
    is("add_candy", json!({"type": "array", "items": {"type": "string"}}));
    is("env", json!({"type": "object", "additionalProperties": {"type": "string"}}));
}

#[tokio::test]
async fn ch_103_ch_129_cw_09_read_only_servers_do_not_even_list_writers() {
    let mut peer = trial(Settings { read_only: ReadOnly::Strict, ..Settings::default() });
    let tools = listed(&mut peer).await;
    assert!(tools.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true));
    assert!(names(&tools).contains(&"trial.echo"), "what only looks stays");
    assert!(!names(&tools).contains(&"trial.write") && !names(&tools).contains(&"trial.disclose"));
    let dropped = peer.modern("tools/call", json!({"name": "trial.write", "arguments": {"value": "x"}})).await;
    assert_eq!(dropped["error"]["code"], -32602);
    assert!(dropped["error"]["message"].as_str().unwrap().starts_with("unknown tool `trial.write`"));
}

#[tokio::test]
async fn cw_14_names_are_shown_in_one_style_and_taken_in_both() {
    let mut peer = trial(Settings { name_style: NameStyle::Underscore, ..Settings::default() });
    let tools = listed(&mut peer).await;
    assert!(names(&tools).iter().all(|name| !name.contains(['.', '-'])));
    for name in ["trial_fan_out", "trial.fan-out"] {
        let answer = peer.modern("tools/call", json!({"name": name})).await;
        assert_eq!(answer["result"]["structuredContent"]["outcome"], "partial", "{name}");
    }
    let near = peer.modern("tools/call", json!({"name": "trial_fan_uot"})).await;
    assert!(near["error"]["message"].as_str().unwrap().contains("did you mean `trial_fan_out`?"));
}

#[tokio::test]
async fn cw_13_a_server_shows_only_the_tools_it_was_told_to() {
    let globs = GlobSetBuilder::new().add(Glob::new("trial.e*").unwrap()).build().unwrap();
    let mut peer = trial(Settings { tools: Some(globs), ..Settings::default() });
    assert_eq!(names(&listed(&mut peer).await), ["trial.echo"]);
}

#[tokio::test]
async fn the_order_is_stable_pages_are_whole_and_caches_get_their_hints() {
    let serving = |page_size| {
        let mut options = ServerOptions::new("1");
        options.page_size = page_size;
        options.output_schemas = false;
        Peer::serving(vec![trial_toolset(&Arc::new(World::default()), 30)], Settings::default(), options)
    };
    let whole = serving(None).modern("tools/list", json!({})).await["result"].clone();
    assert!(whole["ttlMs"].as_u64().unwrap() > 0 && whole["cacheScope"] == "public");
    assert!(whole.get("nextCursor").is_none() && whole["tools"][0].get("outputSchema").is_none());
    let mut peer = serving(Some(7));
    let (mut all, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        let page = peer.modern("tools/list", params).await["result"].clone();
        all.extend(page["tools"].as_array().unwrap().clone());
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(Value::Array(all), whole["tools"]);
    assert_eq!(peer.modern("tools/list", json!({"cursor": "elsewhere"})).await["error"]["code"], -32602);
}

#[tokio::test]
async fn ch_120_ch_121_ch_141_ch_143_cw_17_bad_arguments_are_the_tools_answer_and_name_every_fault() {
    let mut peer = trial(Settings::default());
    let wrong = json!({"name": "trial.write", "arguments": {"valu": 3}});
    let answer = peer.modern("tools/call", wrong).await;
    let result = &answer["result"];
    assert_eq!(
        (&result["isError"], &result["structuredContent"]["failure"]["code"]),
        (&json!(true), &json!("invalid_argument"))
    );
    let told = text(result);
    assert!(told.contains("argument `value` is missing") && told.contains("did you mean `value`?"), "{told}");
    let pointers: Vec<&Value> =
        result["structuredContent"]["failure"]["problems"].as_array().unwrap().iter().map(|p| &p["pointer"]).collect();
    assert!(pointers.contains(&&json!("/value")) && pointers.contains(&&json!("/valu")), "{pointers:?}");
    let none = peer.modern("tools/call", json!({"name": "trial.stream"})).await;
    assert_eq!(none["result"]["structuredContent"]["answer"]["counted"], 3, "absent arguments are none");
    let malformed = peer.modern("tools/call", json!({"arguments": {}})).await;
    assert_eq!(malformed["error"]["code"], -32602, "a call without a name is a fault of the protocol");
}
