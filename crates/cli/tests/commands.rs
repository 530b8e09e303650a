//! From words to commands: names, groups, help, refusals.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod trial;

use clap::{Arg, ArgAction};
use pintle_cli::{Color, Commands, Form, Invocation, Parsed};
use pintle_core::{Door, Effect, Failure, Spec};
use serde_json::{Value, json};
use std::time::Duration;

fn parse(words: &[&str]) -> Result<Parsed, Failure> {
    let catalog = trial::catalog();
    let things = trial::things();
    let specs = catalog.specs(Door::People).map(|(_, spec)| spec).chain([&things]);
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    Commands::new("pintle trial", "things for tests", specs).parse(&words)
}

fn call(words: &[&str]) -> Invocation {
    match parse(words) {
        Ok(Parsed::Call(call)) => *call,
        other => panic!("{other:?}"),
    }
}

fn help(words: &[&str]) -> String {
    match parse(words) {
        Ok(Parsed::Help(help)) => help,
        other => panic!("{other:?}"),
    }
}

fn refused(words: &[&str]) -> String {
    parse(words).unwrap_err().text()
}

#[test]
fn ch_110_ch_111_cw_14_a_tool_is_found_by_its_words_and_by_its_name_in_either_style() {
    for words in [&["list", "boxes"][..], &["list.boxes"], &["list_boxes"]] {
        assert_eq!(call(words).tool, "list.boxes");
    }
    for words in [&["ask-all"][..], &["ask_all"]] {
        assert_eq!(call(words).tool, "ask_all");
    }
    assert_eq!(call(&["list", "boxes"]).command, "pintle trial list boxes");
}

#[test]
fn flags_of_every_command_stand_before_and_behind_it() {
    let behind = call(&["say", "text", "hi", "--output", "json", "--quiet", "--yes", "--deadline", "1m30s"]);
    let before = call(&["--output=json", "--quiet", "say", "--yes", "--deadline", "1m30s", "text", "hi"]);
    assert_eq!(behind, before);
    assert_eq!(behind.options.form, Form::Json);
    assert_eq!(behind.options.deadline, Some(Duration::from_secs(90)));
    assert!(behind.options.quiet && behind.options.yes);
    let more = call(&["find", "issues", "--color", "always", "--fail-on", "findings"]).options;
    assert_eq!((more.color, more.fail_on_findings), (Color::Always, true));
}

#[test]
fn groups_list_their_commands_and_help_tells_what_they_take() {
    let top = help(&["--help"]);
    assert!(
        top.contains("things for tests") && top.contains("say ") && top.contains("make-things  Makes things"),
        "{top}"
    );
    let group = help(&["say", "--help"]);
    assert!(group.contains("exact  Says exact bytes") && !group.contains("make-things"), "{group}");
    let leaf = help(&["make-things", "--help"]);
    for part in
        ["<NAME> [NAME]...", "--limit <LIMIT>", "--no-cache", "[possible values: round, flat]", "Effects: write"]
    {
        assert!(leaf.contains(part), "{part}: {leaf}");
    }
    assert!(!leaf.contains("--no-all") && !leaf.contains("  --cache"), "{leaf}");
    assert_eq!(help(&["help", "make-things"]), leaf);
    assert_eq!(help(&["help", "say"]), group);
    assert!(matches!(parse(&["say"]), Ok(Parsed::Incomplete(_))));
    assert!(matches!(parse(&[]), Ok(Parsed::Incomplete(_))));
}

#[test]
fn refusals_name_the_thing_and_a_remedy() {
    let all = [
        refused(&["say", "txt"]),
        refused(&["vlidate"]),
        refused(&["zzz"]),
        refused(&["say", "text", "--txt", "x"]),
        refused(&["make-things"]),
        refused(&["make-things", "a", "--form", "rond"]),
        refused(&["make-things", "a", "--limit"]),
        refused(&["make-things", "a", "--limit", "x", "--port", "-1x"]),
        refused(&["make-things", "a", "--limit", "x", "--port", "y"]),
        refused(&["make-things", "-x"]),
        refused(&["make-things", "a", "--limit", "1", "--limit", "2"]),
        refused(&["say", "text", "a", "b"]),
        refused(&["say", "text", "--deadline", "5"]),
        refused(&["--outptu", "json", "say", "text"]),
        refused(&["say", "text", "--output", "xml"]),
        refused(&["say", "text", "--cursor", "x"]),
        refused(&["say", "text", "--eyes"]),
    ]
    .join("\n---\n");
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/refusals.txt");
    if std::env::var_os("PINTLE_BLESS").is_some() {
        std::fs::write(&path, format!("{all}\n")).unwrap();
    }
    let known = std::fs::read_to_string(path).unwrap();
    assert_eq!(all, known.trim_end(), "PINTLE_BLESS=1 writes the file anew");
}

#[test]
fn usage_is_one_line() {
    assert_eq!(pintle_cli::usage_of(&trial::things(), "charly"), "charly make-things NAME [NAME...]");
}

#[test]
fn completions_and_pages_know_every_command() {
    let catalog = trial::catalog();
    let specs = catalog.specs(Door::People).map(|(_, spec)| spec);
    let mut tree = Commands::new("pintle trial", "things for tests", specs).tree("trial");
    tree.clone().debug_assert();
    for shell in ["bash", "zsh", "fish"] {
        let script = String::from_utf8(pintle_cli::completions(&mut tree, shell).unwrap()).unwrap();
        assert!(script.contains("boxes") && script.contains("fail-on"), "{shell}");
    }
    assert!(pintle_cli::completions(&mut tree, "tcsh").is_err());
    let temp = std::env::temp_dir().join(format!("pintle-pages-{}", std::process::id()));
    assert!(pintle_cli::man_pages(&tree, &temp).unwrap() > 11);
    let page = std::fs::read_to_string(temp.join("trial-list-boxes.1")).unwrap();
    std::fs::remove_dir_all(&temp).unwrap();
    assert!(page.contains("Lists boxes") && page.contains("trial\\-list\\-boxes"), "{page}");
}

#[test]
fn ch_123_a_tools_own_argument_wins_over_a_flag_of_every_command() {
    let own = |names: &[&str]| {
        let properties: serde_json::Map<String, Value> =
            names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
        let input = json!({"type": "object", "properties": properties, "additionalProperties": false});
        Spec::new("take", "Takes", input, Effect::READ)
    };
    let given = |spec: &Spec, words: &[&str]| {
        let dir = Arg::new("project dir").long("dir").short('C').action(ArgAction::Set);
        let root = Arg::new("project root").long("root").action(ArgAction::Set);
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let commands = Commands::new("pintle trial", "things for tests", [spec]).with_extras(vec![dir, root]);
        match commands.parse(&words) {
            Ok(Parsed::Call(call)) => *call,
            other => panic!("{words:?}: {other:?}"),
        }
    };
    let words = ["take", "--dir", "a", "--root", "b", "--output", "c", "--yes", "d", "--deadline", "e"];
    let taken = given(&own(&["dir", "root", "output", "yes", "deadline"]), &words);
    let wanted = json!({"dir": "a", "root": "b", "output": "c", "yes": "d", "deadline": "e"});
    assert_eq!(Value::Object(taken.arguments), wanted);
    assert_eq!((taken.options, taken.extras.len()), (Default::default(), 0), "none of them is a flag of every command");

    let free = given(&own(&[]), &["take", "--dir", "a", "--root", "b", "--output", "json", "--yes"]);
    assert!(free.arguments.is_empty() && free.options.yes && free.options.form == Form::Json);
    assert_eq!(
        (&free.extras["project dir"][..], &free.extras["project root"][..]),
        (&["a".into()][..], &["b".into()][..])
    );

    let short = given(&own(&["dir"]), &["take", "--dir", "a", "-C", "b"]);
    assert_eq!(Value::Object(short.arguments), json!({"dir": "a"}));
    assert_eq!(short.extras["project dir"], ["b"], "the letter still means the flag of every command");
}

/// Argument, value, what stands before it in the word, and what is known already.
fn typing(words: &[&str]) -> Option<(String, String, String, Value)> {
    let catalog = trial::catalog();
    let things = trial::things();
    let specs = catalog.specs(Door::People).map(|(_, spec)| spec).chain([&things]);
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let typing = Commands::new("pintle trial", "", specs).typing(&words)?;
    Some((typing.argument, typing.value, typing.before, Value::Object(typing.others)))
}

#[test]
fn the_word_that_is_being_typed_is_a_value_of_an_argument() {
    let of = |argument: &str, value: &str, before: &str, others: Value| {
        Some((argument.to_owned(), value.to_owned(), before.to_owned(), others))
    };
    assert_eq!(typing(&["say", "text", "he"]), of("text", "he", "", json!({})));
    assert_eq!(typing(&["say", "--output", "json", "text", ""]), of("text", "", "", json!({})));
    assert_eq!(typing(&["say.text", "--wait", "--deadline", "1s", "x"]), of("text", "x", "", json!({})));
    assert_eq!(typing(&["make-things", "--namespace", "w"]), of("namespace", "w", "", json!({})));
    assert_eq!(typing(&["make-things", "--namespace=w"]), of("namespace", "w", "--namespace=", json!({})));
    assert_eq!(
        typing(&["make-things", "web", "--command", "a", "--command=b", "-fround", "--command", ""]),
        of("command", "", "", json!({"name": "web", "command": ["a", "b"], "form": "round"}))
    );
    assert_eq!(typing(&["make-things", "a", "b", "c"]), of("more", "c", "", json!({"name": "a", "more": ["b"]})));
    assert_eq!(typing(&["say", "text", "--", "-"]), of("text", "-", "", json!({})));
    for nothing in [
        &["say"][..],
        &["say", "te"],
        &["say", "text", "--wa"],
        &["say", "text", "--output", ""],
        &["say", "text", "hi", "x"],
        &["nonsense", "x"],
        &["say", "text", "--wait=t"],
        &[],
    ] {
        assert_eq!(typing(nothing), None, "{nothing:?}");
    }
}
