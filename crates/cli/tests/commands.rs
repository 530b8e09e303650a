//! From words to commands: names, groups, help, refusals.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod trial;

use pintle_cli::{Color, Commands, Form, Invocation, Parsed};
use pintle_core::{Door, Failure};
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
