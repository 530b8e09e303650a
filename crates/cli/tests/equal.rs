//! The command line and JSON give equal values.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod trial;

use pintle_cli::{Commands, Invocation, Parsed};
use pintle_core::{Code, Failure, Spec};
use proptest::prelude::*;
use serde_json::{Value, json};
use trial::things;

fn parse(words: &[&str]) -> Result<Invocation, Failure> {
    let spec = things();
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    match Commands::new("trial", "things for tests", [&spec]).parse(&words)? {
        Parsed::Call(call) => Ok(*call),
        Parsed::Help(help) | Parsed::Incomplete(help) => panic!("{help}"),
    }
}

fn arguments(words: &[&str]) -> Value {
    Value::Object(parse(words).unwrap().arguments)
}

#[test]
fn ch_133_booleans_are_bare_flags_and_no_where_yes_is_the_default() {
    assert_eq!(arguments(&["make-things", "a"]), json!({"name": "a"}));
    assert_eq!(arguments(&["make-things", "a", "--all"]), json!({"name": "a", "all": true}));
    assert_eq!(arguments(&["make-things", "a", "--no-cache"]), json!({"name": "a", "cache": false}));
    assert_eq!(arguments(&["make-things", "a", "--no-cache", "--cache"]), json!({"name": "a", "cache": true}));
    assert_eq!(arguments(&["make-things", "a", "--all", "--no-all"]), json!({"name": "a", "all": false}));
    assert_eq!(parse(&["make-things", "a", "--all=false"]).unwrap_err().message, "`--all` takes no value `false`");
}

#[test]
fn ch_134_cw_16_lists_repeat_and_are_never_split() {
    assert_eq!(
        arguments(&["make-things", "a", "--tag", "x,y", "--tag=--z", "--tag", ""]),
        json!({"name": "a", "tag": ["x,y", "--z", ""]})
    );
    assert_eq!(
        arguments(&["make-things", "a", "--port", "80", "--port", "443"]),
        json!({"name": "a", "port": [80, 443]})
    );
    assert_eq!(
        arguments(&["make-things", "a", "--label", "k=v=w", "--label", "l="]),
        json!({"name": "a", "label": {"k": "v=w", "l": ""}})
    );
    let twice = parse(&["make-things", "a", "--label", "k=1", "--label", "k=2"]).unwrap_err();
    assert_eq!(twice.message, "`--label` names `k` twice");
    assert_eq!(parse(&["make-things", "a", "--label", "k"]).unwrap_err().code, Code::InvalidArgument);
}

#[test]
fn ch_135_positionals_stand_in_their_order_and_lists_expand() {
    assert_eq!(
        arguments(&["make-things", "a", "one", "--all", "two"]),
        json!({"name": "a", "more": ["one", "two"], "all": true})
    );
}

#[test]
fn ch_136_whole_numbers_stay_whole() {
    assert_eq!(arguments(&["make-things", "a", "--limit", "10"]).to_string(), r#"{"name":"a","limit":10}"#);
    assert_eq!(arguments(&["make-things", "a", "--limit", "-3"]), json!({"name": "a", "limit": -3}));
    let wrong = parse(&["make-things", "a", "--limit", "1.5"]).unwrap_err();
    assert_eq!(wrong.message, "`--limit` must be an integer, not `1.5`");
    assert_eq!(wrong.problems[0].pointer.as_deref(), Some("/limit"));
    assert!(parse(&["make-things", "a", "--ratio", "1e400"]).unwrap_err().message.ends_with("is out of range"));
}

#[test]
fn ch_137_the_value_does_not_depend_on_the_order_of_flags() {
    let one = parse(&["make-things", "a", "--all", "--limit", "1", "--tag", "x"]).unwrap().arguments;
    let other = parse(&["make-things", "--tag", "x", "--limit=1", "a", "--all"]).unwrap().arguments;
    assert_eq!(serde_json::to_string(&one).unwrap(), serde_json::to_string(&other).unwrap());
}

#[test]
fn ch_138_cw_15_behind_the_end_of_options_everything_is_a_value() {
    assert_eq!(
        arguments(&["make-things", "--all", "--", "--limit", "--output=json"]),
        json!({"name": "--limit", "more": ["--output=json"], "all": true})
    );
}

#[test]
fn nested_values_are_json() {
    assert_eq!(
        arguments(&["make-things", "a", "--spec", r#"{"size": 1}"#, "-f", "round"]),
        json!({"name": "a", "spec": {"size": 1}, "form": "round"})
    );
    let wrong = parse(&["make-things", "a", "--spec", "{"]).unwrap_err();
    assert!(wrong.message.starts_with("`--spec` is not JSON: EOF while parsing an object at line 1 column 1"));
    assert_eq!(arguments(&["make-things", "a", "--command", "ls"]), json!({"name": "a", "command": "ls"}));
    assert_eq!(
        arguments(&["make-things", "a", "--command", "ls", "--command=-l"]),
        json!({"name": "a", "command": ["ls", "-l"]})
    );
}

#[test]
fn call_takes_the_same_values_by_name() {
    let spec = things();
    let call = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        match pintle_cli::parse_call(&words, "pintle call", &[], |name| Some(&spec).filter(|s: &&Spec| s.name == name))
        {
            Ok(Parsed::Call(call)) => Ok(Value::Object(call.arguments)),
            Ok(other) => panic!("{other:?}"),
            Err(failure) => Err(failure.message),
        }
    };
    assert_eq!(
        call(&[
            "make_things",
            "name=--a",
            "tag=x,y",
            "tag=z",
            "limit=3",
            "all=true",
            "label=k=v",
            "spec={\"size\": 1}"
        ]),
        Ok(
            json!({"name": "--a", "tag": ["x,y", "z"], "limit": 3, "all": true, "label": {"k": "v"}, "spec": {"size": 1}})
        )
    );
    assert_eq!(call(&["make_things", "--json", r#"{"name": "a", "limit": 3}"#]), Ok(json!({"name": "a", "limit": 3})));
    assert_eq!(call(&["make_things", "limits=3"]), Ok(json!({"limits": "3"})), "the catalogue refuses what is unknown");
    assert_eq!(call(&["make_things", "item=3"]), Ok(json!({"item": "3"})), "an older spelling is the catalogue's too");
    assert_eq!(call(&["make_things", "limit=x"]), Err("argument `limit` must be an integer, not `x`".into()));
    assert_eq!(call(&["make_things", "name=a", "name=b"]), Err("argument `name` was given twice".into()));
    assert_eq!(call(&["make_things", "name"]), Err("`name` is not KEY=VALUE".into()));
    assert_eq!(call(&["make_things", "--json", "[]"]), Err("`--json` must be a JSON object".into()));
    let deep = format!("{{\"name\": {}{}}}", "[".repeat(1000), "]".repeat(1000));
    assert!(call(&["make_things", "--json", &deep]).unwrap_err().contains("nested deeper than 127 levels"));
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "-{0,3}[a-z=,]{0,6}", "@[a-z/]{0,5}", "[{\\[\"':= ]{0,5}"]
        .prop_filter("no command line holds a NUL", |text| !text.contains('\0'))
}

proptest! {
    #[test]
    fn ch_138_cw_15_any_text_arrives_as_one_element(name in text(), more in prop::collection::vec(text(), 0..4)) {
        let mut words = vec!["make-things", "--", &name];
        words.extend(more.iter().map(String::as_str));
        let mut expected = json!({"name": name});
        if !more.is_empty() {
            expected["more"] = json!(more);
        }
        prop_assert_eq!(arguments(&words), expected);
    }

    #[test]
    fn ch_134_cw_16_any_text_arrives_behind_its_flag(tags in prop::collection::vec(text(), 1..4), value in text()) {
        let mut words = vec!["make-things".to_owned(), "a".to_owned()];
        words.extend(tags.iter().map(|tag| format!("--tag={tag}")));
        words.push(format!("--label=k={value}"));
        words.push(format!("--namespace={value}"));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        prop_assert_eq!(
            arguments(&words),
            json!({"name": "a", "tag": tags, "namespace": value, "label": {"k": value}})
        );
    }

    #[test]
    fn ch_136_any_number_arrives(limit in any::<i64>(), ratio in any::<f64>().prop_filter("finite", |f| f.is_finite())) {
        let words = [&format!("--limit={limit}"), &format!("--ratio={ratio}")];
        let got = arguments(&["make-things", "a", words[0], words[1]]);
        prop_assert_eq!(got["limit"].as_i64(), Some(limit));
        prop_assert_eq!(got["ratio"].as_f64(), Some(ratio));
    }
}
