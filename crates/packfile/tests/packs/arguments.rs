//! Checking arguments and making argument vectors.

use pintle_packfile::Pack;
use serde_json::{Value, json};

use super::{argv, refusals, small};

fn all_kinds() -> Pack {
    small(
        r#"
        words = ["run"]
        options.quiet = { flag = "--quiet", type = "boolean" }
        options.color = { flag = "--color", negative = "--no-color", type = "boolean", default = true }
        options.size = { flag = "--size", type = "integer", minimum = -5, maximum = 9007199254740993 }
        options.serial = { flag = "--serial", type = "integer" }
        options.verbose = { flag = "--verbose", short = "-v", type = "count", maximum = 3 }
        options.name = { flag = "--name", type = "string" }
        options.level = { flag = "-l", join = " ", type = "string", enum = ["low", "high"] }
        options.word = { flag = "--word", join = " ", type = "string" }
        options.skip = { flag = "--skip", type = "strings", maximum = 2 }
        options.from = { position = 1, type = "string" }
        options.to = { position = 2, type = "strings" }
        "#,
    )
}

#[test]
fn options_come_in_declared_order_and_positions_last() {
    let given = json!({
        "to": ["x", "y"], "from": "a b", "skip": ["1", "-2"], "word": "w", "level": "low", "name": "-n; id",
        "verbose": 2, "serial": 18446744073709551615_u64, "size": 9007199254740993_i64, "color": false, "quiet": true,
    });
    assert_eq!(
        argv(&all_kinds(), "do", given),
        [
            "run",
            "--quiet",
            "--no-color",
            "--size=9007199254740993",
            "--serial=18446744073709551615",
            "--verbose",
            "--verbose",
            "--name=-n; id",
            "-l",
            "low",
            "--word",
            "w",
            "--skip=1",
            "--skip=-2",
            "a b",
            "x",
            "y",
        ]
    );
}

#[test]
fn booleans_are_written_only_when_they_differ_from_the_default() {
    let pack = all_kinds();
    for (given, wanted) in [
        (json!({}), &["run"][..]),
        (json!({"quiet": false, "color": true}), &["run"]),
        (json!({"color": false}), &["run", "--no-color"]),
        (json!({"quiet": true, "color": null}), &["run", "--quiet"]),
        (json!({"verbose": 0}), &["run"]),
    ] {
        assert_eq!(argv(&pack, "do", given.clone()), wanted, "{given}");
    }
}

#[test]
fn s_33_wrong_types_are_refused_and_never_ignored() {
    let pack = all_kinds();
    let cases: [(Value, &str); 18] = [
        (json!({"quiet": "true"}), "/quiet: must be true or false"),
        (json!({"quiet": 1}), "/quiet: must be true or false"),
        (json!({"size": "3"}), "/size: must be a whole number"),
        (json!({"size": 3.0}), "/size: must be a whole number"),
        (json!({"size": 1e30}), "/size: must be a whole number"),
        (json!({"size": -6}), "/size: must be at least -5"),
        (json!({"size": 9007199254740994_i64}), "/size: must be at most 9007199254740993"),
        (json!({"size": u64::MAX}), "/size: must be at most 9007199254740993"),
        (json!({"verbose": -1}), "/verbose: must be at least 0"),
        (json!({"verbose": 4}), "/verbose: must be at most 3"),
        (json!({"name": ["x"]}), "/name: must be a string"),
        (json!({"name": ""}), "/name: must not be empty"),
        (json!({"level": "lower"}), "/level: must be one of low or high"),
        (json!({"word": "-x"}), "/word: must not begin with a dash: the program would take it for an option"),
        (json!({"from": "-x"}), "/from: must not begin with a dash: the program would take it for an option"),
        (json!({"skip": ["a", "b", "c"]}), "/skip: must be at most 2"),
        (json!({"skip": ["a", 1]}), "/skip/1: must be a string"),
        (json!({"skip": "a"}), "/skip: must be a list of strings"),
    ];
    for (given, wanted) in cases {
        assert_eq!(refusals(&pack, "do", given), [wanted]);
    }
    assert_eq!(refusals(&pack, "do", json!({"to": ["x"]})), ["/to: `to` is given, but `from` before it is not"]);
    let all = refusals(&pack, "do", json!({"quite": true, "size": "x", "level": 1}));
    assert_eq!(
        all,
        ["/quite: no such parameter: `quite`"],
        "a name that nobody knows is told before what it would have meant"
    );
}

#[test]
fn hints_name_what_was_meant() {
    let pack = all_kinds();
    let hint = |given: Value| {
        let refusals = pack.tools[0].resolve(&pack, given.as_object().unwrap()).unwrap_err();
        refusals[0].hint.clone().unwrap_or_default()
    };
    assert_eq!(hint(json!({"quite": true})), "did you mean `quiet`?");
    assert_eq!(hint(json!({"level": "hihg"})), "did you mean `high`?");
}

#[test]
fn an_argument_and_a_vector_have_a_longest_length() {
    let pack = all_kinds();
    let long = |length| "x".repeat(length);
    let limit = 128 * 1024 - 1 - "--name=".len();
    assert_eq!(
        refusals(&pack, "do", json!({"name": long(limit + 1)})),
        ["/name: is too long: one argument has at most 131071 bytes"]
    );
    assert_eq!(
        refusals(&pack, "do", json!({"name": long(limit)})),
        [": the arguments are too long: all together have at most 131071 bytes"],
        "one that just fits leaves no room for the rest"
    );
    let half = long(60 * 1024);
    assert_eq!(argv(&pack, "do", json!({"name": half, "skip": [half]})).len(), 3);
    assert_eq!(
        refusals(&pack, "do", json!({"name": half, "skip": [half, half]})),
        [": the arguments are too long: all together have at most 131071 bytes"]
    );
}

#[test]
fn dashdash_lets_positions_begin_with_a_dash() {
    let pack = small("words = [\"rm\"]\ndashdash = true\noptions.path = { position = 1, type = \"strings\" }");
    assert_eq!(argv(&pack, "do", json!({"path": ["-rf", "--"]})), ["rm", "--", "-rf", "--"]);
    assert_eq!(argv(&pack, "do", json!({"path": []})), ["rm"]);
}

#[test]
fn what_excludes_one_another_or_is_refused_is_told_with_the_reason() {
    let pack = small(
        r#"
        exclusive = [["a", "b", "c"]]
        options.a = { flag = "--a", type = "boolean" }
        options.b = { flag = "--b", type = "boolean" }
        options.c = { flag = "--c", type = "string" }
        options.d = { flag = "--d", type = "integer" }
        options.e = { flag = "--e", type = "string", only = "x", because = "y breaks" }
        refuse = [
            { match = [{ d = 1 }, { d = 2, a = true }], because = "d is odd", hint = "take 3" },
            { given = ["c", "d"], because = "both" },
        ]
        "#,
    );
    assert_eq!(argv(&pack, "do", json!({"a": true, "b": false, "d": 2, "a": false})), ["--d=2"]);
    assert_eq!(refusals(&pack, "do", json!({"a": true, "c": "x"})), ["/a: `a` and `c` exclude one another"]);
    assert_eq!(refusals(&pack, "do", json!({"d": 1})), ["/d: refused: d is odd"]);
    assert_eq!(refusals(&pack, "do", json!({"d": 2, "a": true})), ["/d: refused: d is odd"]);
    assert_eq!(refusals(&pack, "do", json!({"d": 3, "c": "x"})), ["/c: refused: both"]);
    assert_eq!(refusals(&pack, "do", json!({"e": "y"})), ["/e: only `x` is taken: y breaks"]);
    let refusal = &pack.tools[0].resolve(&pack, json!({"d": 1}).as_object().unwrap()).unwrap_err()[0];
    assert_eq!(refusal.hint.as_deref(), Some("take 3"));
}
