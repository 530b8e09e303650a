//! Whatever a caller writes arrives as one element of the argument vector, or nothing runs.

use std::sync::LazyLock;

use pintle_packfile::{BUILTIN, Kind, OptionDef, Pack, Spelling, Verb};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::whole;

/// The built-in packs, read once.
static PACKS: LazyLock<Vec<Pack>> = LazyLock::new(|| BUILTIN.iter().map(|(name, _)| whole(name)).collect());
/// The pack of eggs without extras.
static EGGS: LazyLock<Pack> = LazyLock::new(|| whole("eggs").essential());

const CRAFTED: [&str; 40] = [
    "; id",
    "a;id",
    "a && id",
    "a || id",
    "a | sh",
    "`id`",
    "$(id)",
    "${IFS}",
    "a\nid",
    "a\r\nid",
    "a\0b",
    "\0",
    "@/etc/passwd",
    "@file",
    "-",
    "--",
    "-x",
    "--help",
    "--debug",
    "-rf /",
    "--path=/etc",
    "'",
    "\"",
    "\\",
    "a'b",
    "a\"b",
    "*",
    "?",
    "[a-z]",
    "~root",
    "../..",
    "../../etc/passwd",
    "/etc/passwd",
    "\u{202e}x",
    "é",
    "a\tb",
    " ",
    "%s%n",
    "{a,b}",
    "<(id)",
];

/// Arguments that satisfy every requirement of the verb but for the one option.
fn around(verb: &Verb, hostile: &OptionDef) -> Map<String, Value> {
    let plain = |option: &OptionDef| match (option.allowed.first(), option.kind) {
        (Some(first), _) => json!(first),
        (None, Kind::Strings) => json!(["/x"]),
        (None, _) if option.pattern.as_ref().is_some_and(|pattern| !pattern.is_match("/x")) => json!("x"),
        (None, _) => json!("/x"),
    };
    let needed = verb.options.values().filter(|option| option.required && option.name != hostile.name);
    needed.map(|option| (option.name.clone(), plain(option))).collect()
}

/// Checks that the text arrives as one element, or is refused.
fn arrives_or_is_refused(verb: &Verb, option: &OptionDef, text: &str) {
    let mut given = around(verb, option);
    let value = if option.kind == Kind::Strings { json!([text]) } else { json!(text) };
    given.insert(option.name.clone(), value);
    let Ok(checked) = verb.check(&given) else { return };
    let argv = verb.argv(&checked);
    assert!(matches!(option.kind, Kind::String | Kind::Strings), "{} {} takes {text:?}", verb.name, option.name);
    let (element, value_alone) = match &option.spelling {
        Spelling::Flag { flag, join: pintle_packfile::Join::Equals, .. } => (format!("{flag}={text}"), false),
        Spelling::Flag { .. } | Spelling::Position(_) => (text.to_owned(), true),
    };
    let found: Vec<usize> = (0..argv.len()).filter(|index| argv[*index] == element).collect();
    assert!(!found.is_empty(), "{} {}: {text:?} became {argv:?}", verb.name, option.name);
    assert!(argv.iter().all(|element| !element.contains('\0') && element.len() < 128 * 1024));
    if value_alone && text.starts_with('-') {
        let dashes = argv.iter().position(|element| element == "--");
        assert!(dashes.is_some_and(|dashes| found.iter().any(|index| *index > dashes)), "{argv:?}");
    }
    // Nothing else changed: the same call with a harmless value has as many elements.
    let harmless = verb.argv(&verb.check(&around(verb, option)).unwrap_or_default());
    assert!(argv.len() <= harmless.len() + 3, "{argv:?} against {harmless:?}");
}

fn each_option(pack: &Pack, mut look: impl FnMut(&Verb, &OptionDef)) {
    let mut looked = 0;
    for verb in pack.verbs.values() {
        for option in verb.options.values() {
            look(verb, option);
            looked += 1;
        }
    }
    assert!(looked > 5);
}

#[test]
fn s_06_crafted_values_arrive_whole_or_are_refused() {
    for pack in PACKS.iter() {
        each_option(pack, |verb, option| {
            for text in CRAFTED {
                arrives_or_is_refused(verb, option, text);
            }
            for length in [4096, 128 * 1024 - 1, 128 * 1024, 1 << 20] {
                arrives_or_is_refused(verb, option, &"x".repeat(length));
                arrives_or_is_refused(verb, option, &format!("/{}", "x".repeat(length)));
            }
        });
    }
}

#[test]
fn s_06_root_never_gets_a_shell_character() {
    // eggs joins some of its arguments into lines for a shell itself: what runs as root takes no such character at all.
    let pack = whole("eggs");
    for verb in pack.elevated() {
        for option in verb.options.values().filter(|option| matches!(option.kind, Kind::String | Kind::Strings)) {
            for text in
                CRAFTED.iter().filter(|text| text.contains(|c: char| ";&|`$(){}<>'\"\\*?[~\n\r\0 #!".contains(c)))
            {
                let mut given = around(verb, option);
                given.insert(option.name.clone(), json!(text));
                assert!(verb.check(&given).is_err(), "{} {} takes {text:?}", verb.name, option.name);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn s_06_any_text_arrives_whole_or_is_refused(text in "\\PC{0,40}|[;&|`$()<>'\"\\\\\n\t \0@=-]{1,12}") {
        for pack in PACKS.iter() {
            each_option(pack, |verb, option| arrives_or_is_refused(verb, option, &text));
        }
    }

    /// Whatever the command line is, what runs is a verb of the list with its own words first, and each further element
    /// is an option of it or a value that passed.
    #[test]
    fn s_07_any_command_is_a_listed_verb_or_refused(
        words in prop::collection::vec(
            prop_oneof![
                "(remaster|wardrobe|tools|export|sysinstall|destroy|kill|version|ell|mcp|list|get|show|wear|krill|iso|pkg|log|clean|grub40|skel|build|repo|add)",
                "(--debug|--clone|--compression|--compression=xz|--write|-w|-v|--user|-u|--unattended|--|--path|--stop-after=xorriso)",
                "\\PC{0,8}",
                "[;&|`$()a-z/.-]{1,6}",
            ],
            0..6,
        ),
    ) {
        let pack = &*EGGS;
        let tool = pack.tool("eggs_exec").unwrap();
        for command in [json!(words), json!(words.join(" "))] {
            let given = Map::from_iter([("command".to_owned(), command)]);
            let Ok(pintle_packfile::Asked::Verb(verb, arguments)) = tool.resolve(pack, &given) else { continue };
            prop_assert!(!verb.extra && pack.verbs.contains_key(&verb.name));
            let argv = verb.argv(&arguments);
            prop_assert!(argv.starts_with(&verb.words));
            for element in &argv[verb.words.len()..] {
                let own = verb.options.values().any(|option| match &option.spelling {
                    Spelling::Flag { flag, .. } => element == flag || element.starts_with(&format!("{flag}=")),
                    Spelling::Position(_) => arguments.text(&option.name).as_ref() == Some(element),
                });
                prop_assert!(own, "{element:?} of {argv:?}");
            }
            // What a server checked, the helper checks again: the same arguments give the same vector.
            let again = verb.check(&arguments.to_map()).unwrap();
            prop_assert_eq!(verb.argv(&again), argv);
        }
    }
}
