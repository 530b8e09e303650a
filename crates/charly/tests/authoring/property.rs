//! Whatever the tools are asked to do, a project that validates goes on validating.

use crate::world::World;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Names, few enough to meet again.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec!["web", "api", "db", "tools", "web-svc", "a.b", "x1"]).prop_map(str::to_owned),
        1 => "[a-zA-Z0-9._ -]{0,6}",
    ]
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop::sample::select(vec![
            "scratch", "[]", "{}", "null", "true", "8080", "[web, db]", "{packages: [a]}", "working", "'quoted # text'",
            "[{name: data, path: /data}]", "2026.100.0000", "[A=1, B=2]", "two\nlines\n", "'*a'", "- x\n- y",
        ]).prop_map(str::to_owned),
        1 => "[ -~]{0,12}",
    ]
}

fn path() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        6 => prop::sample::select(vec![
            "defaults", "tag", "build", "box", "boxes", "images", "layers", "candy", "base", "env", "version", "rpm",
            "packages", "description", "volume", "status", "service", "discover",
        ]).prop_map(str::to_owned),
        2 => name().prop_map(|name| format!("\"{name}\"")),
    ];
    let tail = prop::sample::select(vec!["", "", "", "[0]", "[+]", "[name=data]"]);
    (prop::collection::vec(word, 1..4), tail).prop_map(|(words, tail)| format!("{}{tail}", words.join(".")))
}

/// A value to set or, one time in four, nothing.
fn change() -> impl Strategy<Value = Option<String>> {
    prop::option::weighted(0.75, value())
}

/// What people would really set or, without a value, delete.
fn usual(of_candy: bool) -> impl Strategy<Value = (String, Option<String>)> {
    let project: &[(&str, Option<&str>)] = &[
        ("defaults.tag", Some("v1")),
        ("defaults.tag", None),
        ("defaults", None),
        ("web.box.env", Some("[A=1]")),
        ("web.box.env[+]", Some("B=2")),
        ("web.box.env", None),
        ("web.box.base", Some("api")),
        ("api.box.base", Some("web")),
        ("boxes.web.layers[+]", Some("tools")),
        ("boxes.web.layers", Some("[web-svc]")),
        ("boxes.api.candy", None),
        ("web", None),
        ("web.box.volumes", Some("[{name: data, path: /data}]")),
        ("web.box.volume[name=data].path", Some("/other")),
        ("discover", Some("[{path: candy}, {path: box}]")),
    ];
    let candy: &[(&str, Option<&str>)] = &[
        ("description", Some("of another kind")),
        ("description", Some("two\nlines\n")),
        ("rpm.packages[+]", Some("nginx")),
        ("rpm", None),
        ("deb.packages", Some("[curl, nginx]")),
        ("env.A", Some("'1'")),
        ("env", None),
        ("service[+]", Some("{name: a, exec: /bin/a}")),
        ("require", Some("[web-svc]")),
        ("layers[+]", Some("db")),
        ("status", Some("working")),
        ("version", None),
    ];
    let pairs: Vec<_> = if of_candy { candy } else { project }
        .iter()
        .map(|(path, value)| ((*path).to_owned(), value.map(str::to_owned)))
        .collect();
    prop::sample::select(pairs)
}

fn call() -> impl Strategy<Value = (&'static str, Value)> {
    let set = |path: String, value: Option<String>| match value {
        Some(value) => json!({"path": path, "value": value}),
        None => json!({"path": path, "delete": true}),
    };
    prop_oneof![
        (name(), name(), any::<bool>())
            .prop_map(|(name, base, split)| ("box.new.box", json!({"name": name, "base": base, "split": split}))),
        name().prop_map(|name| ("box.new.candy", json!({"name": name}))),
        (path(), change()).prop_map(move |(path, value)| ("box.set", set(path, value))),
        usual(false).prop_map(move |(path, value)| ("box.set", set(path, value))),
        (name(), prop_oneof![usual(true), (path(), change())]).prop_map(move |(name, (path, value))| {
            let mut arguments = set(path, value);
            arguments["name"] = name.into();
            ("candy.set", arguments)
        }),
        (name(), name()).prop_map(|(owner, candy)| ("box.add-candy", json!({"box": owner, "candy": candy}))),
        (name(), name()).prop_map(|(owner, candy)| ("box.rm-candy", json!({"box": owner, "candy": candy}))),
        (
            prop::sample::select(vec!["candy.add-rpm", "candy.add-deb", "candy.add-pac", "candy.add-aur"]),
            name(),
            prop::collection::vec(name(), 1..3)
        )
            .prop_map(|(tool, name, packages)| (tool, json!({"name": name, "packages": packages}))),
    ]
}

/// Few cases, since each is a story of many calls; `PROPTEST_CASES` asks for more.
fn config() -> ProptestConfig {
    let usual = ProptestConfig { max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_some() { usual } else { ProptestConfig { cases: 32, ..usual } }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn cw_29_v16_any_sequence_of_authoring_calls_leaves_a_project_that_validates(calls in prop::collection::vec(call(), 1..12)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let world = World::project();
            for (tool, arguments) in calls {
                let before = world.everything();
                let reply = world.call(tool, arguments.clone()).await;
                let code = reply.failure.as_ref().map(|failure| failure.code);
                assert_ne!(code, Some(pintle_core::Code::Internal), "{tool} {arguments}: {}", reply.view.plain());
                if reply.is_error {
                    assert_eq!(world.everything(), before, "{tool} {arguments} failed and changed a file");
                }
                let valid = world.call("box.validate", json!({})).await;
                assert!(!valid.is_error, "after {tool} {arguments}: {}", valid.view.plain());
            }
        });
    }
}

#[tokio::test]
async fn the_calls_of_the_property_change_a_project_often_enough_to_mean_something() {
    use proptest::{strategy::ValueTree as _, test_runner::TestRunner};
    let mut runner = TestRunner::deterministic();
    let world = World::project();
    let mut changed = std::collections::BTreeMap::new();
    for _ in 0..300 {
        let (tool, arguments) = call().new_tree(&mut runner).unwrap().current();
        let reply = world.call(tool, arguments).await;
        if reply.answer.is_some_and(|answer| answer["changed"] == true) {
            *changed.entry(tool).or_insert(0) += 1;
        }
    }
    assert_eq!(changed.len(), 10, "every tool: {changed:?}");
}
