//! A tool with an argument of every shape, and a catalogue with one tool of every kind of answer.
#![allow(dead_code, reason = "each test file uses its own part")]

use pintle_core::{
    Attach, BoxFuture, Call, Code, Digest, Effect, Failure, Foreign, Gate, LogLevel, Outcome, Output, Part, Problem,
    Spec, Spellings, Stop, Tool, Toolset, View, schema,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};

/// Makes things. Of any kind.
#[derive(Deserialize, JsonSchema)]
struct MakeThings {
    /// Whose things
    #[schemars(extend("x-cli" = {"positional": 1}))]
    name: String,
    /// How many
    limit: Option<i64>,
    /// How much of each
    #[serde(default)]
    ratio: Option<f64>,
    /// All of them
    #[serde(default)]
    all: bool,
    /// Keep what was made
    #[serde(default = "yes")]
    cache: bool,
    /// Tags
    #[serde(default)]
    tag: Vec<String>,
    /// Ports
    #[serde(default)]
    port: Vec<u16>,
    /// Labels
    #[serde(default)]
    label: BTreeMap<String, String>,
    /// Where
    namespace: Option<String>,
    /// Which form
    #[schemars(extend("x-cli" = {"short": "f"}))]
    form: Option<Form>,
    /// In detail
    spec: Option<Detail>,
    /// More names
    #[serde(default)]
    #[schemars(extend("x-cli" = {"positional": 2, "value": "NAME"}))]
    more: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Form {
    Round,
    Flat,
}

#[derive(Deserialize, JsonSchema)]
struct Detail {
    size: u32,
}

fn yes() -> bool {
    true
}

/// The tool of every shape.
pub fn things() -> Spec {
    let (description, mut input) = schema::arguments_of::<MakeThings>();
    let properties = input["properties"].as_object_mut().unwrap();
    properties.insert(
        "command".into(),
        json!({"anyOf": [
        {"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
    );
    let mut spec = Spec::new("make_things", description, input, Effect::WRITE.idempotent());
    spec.spellings = Spellings { renames: &[("item", "name")], ..Spellings::NONE };
    spec
}

type Body = fn(&Value, &Call) -> Result<Output, Stop>;

struct Trial {
    spec: Spec,
    plans: bool,
    body: Body,
}

impl Tool for Trial {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn call<'a>(&'a self, arguments: Value, gate: &'a dyn Gate, call: &'a Call) -> BoxFuture<'a, Result<Output, Stop>> {
        Box::pin(async move {
            let effect = if self.plans { Effect::WRITE } else { Effect::READ };
            let seen = Digest::of("");
            gate.admit(pintle_core::Ask { effect, preview: "- old\n+ new\n", ..pintle_core::Ask::read(&seen) }).await?;
            if arguments["wait"] == true {
                call.emit(&"waiting");
                call.cancelled().await;
                call.check()?;
            }
            if self.spec.name == "stubborn" {
                call.emit(&"waiting");
                std::future::pending::<()>().await;
            }
            (self.body)(&arguments, call)
        })
    }
}

fn tool(name: &str, description: &str, plans: bool, body: Body) -> Arc<dyn Tool> {
    let input = json!({"type": "object", "properties": {
        "text": {"type": "string", "description": "what is said", "x-cli": {"positional": 1}},
        "wait": {"type": "boolean", "description": "until it is cancelled"}}, "additionalProperties": false});
    let spec = Spec::new(name, description, input, if plans { Effect::WRITE } else { Effect::READ });
    Arc::new(Trial { spec, plans, body })
}

fn answer(value: Value, view: View) -> Output {
    Output { answer: Some(value), view, ..Output::default() }
}

/// One tool for every kind of answer.
pub fn catalog() -> pintle_dispatch::Catalog {
    let tools = vec![
        tool("say.text", "Says a text.", false, |arguments, _| {
            Ok(answer(json!({"said": arguments["text"]}), View::text(arguments["text"].as_str().unwrap_or("nothing"))))
        }),
        tool("say.exact", "Says exact bytes.", false, |_, _| Ok(answer(json!("a\r\nb"), View::exact("a\r\nb")))),
        tool("list.boxes", "Lists boxes.", false, |_, _| {
            let rows = [vec!["web".to_owned(), "up".to_owned()], vec!["db".to_owned(), "down".to_owned()]];
            Ok(answer(json!([{"name": "web"}, {"name": "db"}]), View::table(["NAME", "STATE"], rows)))
        }),
        tool("find.issues", "Finds issues.", false, |_, _| {
            Ok(Output { outcome: Outcome::Findings, ..answer(json!(["one"]), View::text("one issue")) })
        }),
        tool("ask_all", "Asks all.", false, |_, _| {
            let failure = Failure::new(Code::Unreachable, "1 of 2 clusters did not answer").hint("try again");
            Ok(Output {
                outcome: Outcome::Partial,
                failure: Some(failure),
                ..answer(json!({"good": 1}), View::text("one answered"))
            })
        }),
        tool("validate", "Validates.", false, |_, _| {
            let failure = Failure::new(Code::Invalid, "charly.yml has 2 errors")
                .problem(Problem::new("no base").at("charly.yml", 3, 5))
                .problem(Problem::new("no name").at("charly.yml", 4, 1));
            Err(failure.into())
        }),
        tool("change", "Changes something.", true, |_, _| Ok(answer(json!({"changed": true}), View::text("changed")))),
        tool("follow", "Streams.", false, |_, call| {
            call.progress(1.0, Some(2.0), "half");
            call.emit(&json!("first"));
            call.emit(&json!({"line": "second"}));
            call.log(LogLevel::Warning, "trial", json!("mind the gap"));
            call.log(LogLevel::Debug, "trial", json!("unseen"));
            let view = View::text("2 lines").and_table(["LINE"], [vec!["first".into()], vec!["second".into()]]);
            Ok(answer(json!(["first", "second"]), view))
        }),
        tool("stubborn", "Never ends.", false, |_, _| Ok(Output::default())),
        tool("attach", "Needs a terminal.", false, |_, _| {
            Err(Stop::Attach(Attach { argv: vec!["true".into()], instead: "use `say.text`".into() }))
        }),
        tool("picture", "Shows a picture.", false, |_, _| {
            let image = Part::Image { mime: "image/png".into(), data: "AAAA".into() };
            Ok(Output { parts: vec![image], ..answer(json!(null), View::text("a picture")) })
        }),
        tool("foreign", "Says what others say.", false, |_, _| {
            let foreign = Foreign::new("\u{1b}[31mred\u{1b}[0m");
            Ok(answer(json!(foreign.text), View::text(foreign.text)))
        }),
    ];
    let toolset = Toolset {
        name: "trial",
        server_name: "trial",
        summary: "things for tests",
        instructions: "",
        confirm: pintle_core::Confirm::Plan,
        tools,
        resources: None,
        prompts: Vec::new(),
        completions: None,
    };
    pintle_dispatch::Catalog::new(vec![toolset], pintle_dispatch::Settings::default()).unwrap()
}
