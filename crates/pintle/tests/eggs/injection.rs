//! Whatever a text holds, it is one word of eggs, or nothing is started.

use crate::world::World;
use pintle_testkit::eggs::Call;
use serde_json::{Value, json};

/// What means something to a shell, to a terminal, to C, or to eggs itself.
const PAYLOADS: [&str; 32] = [
    "; touch TRACE",
    "$(touch TRACE)",
    "`touch TRACE`",
    "| touch TRACE",
    "&& touch TRACE",
    "\ntouch TRACE\n",
    "\r\n",
    "> TRACE",
    "zstd > TRACE",
    "'",
    "\"",
    "\\",
    "'; touch TRACE; '",
    "\"; touch TRACE; \"",
    "${IFS}",
    "$HOME",
    "~root",
    "*",
    "?",
    "[a-z]",
    "{a,b}",
    "!!",
    "#",
    "-",
    "--",
    "--debug",
    "-x",
    "a b",
    "\t",
    "a\u{0}b",
    "%s%n",
    "\u{1b}]0;x\u{7}",
];

/// Every parameter that is a text, in a call that is otherwise good; `null` stands for the text.
fn places() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("eggs_remaster", json!({"compression": null}), "/compression"),
        ("eggs_remaster", json!({"compression": null, "debug": true}), "/compression"),
        ("eggs_remaster", json!({"path": null}), "/path"),
        ("eggs_remaster", json!({"stop_after": null}), "/stop_after"),
        ("eggs_wardrobe", json!({"action": null}), "/action"),
        ("eggs_wardrobe", json!({"action": "show", "costume": null}), "/costume"),
        ("eggs_wardrobe", json!({"action": "wear", "costume": null}), "/costume"),
        ("eggs_sysinstall", json!({"installer": null}), "/installer"),
        ("eggs_sysinstall", json!({"installer": "krill", "fstype": null}), "/fstype"),
        ("eggs_export", json!({"target": null}), "/target"),
        ("eggs_export", json!({"target": "log", "user": null}), "/user"),
        ("eggs_export", json!({"target": "log", "ip": null}), "/ip"),
        ("eggs_export", json!({"target": "log", "dir": null}), "/dir"),
        ("eggs_tools", json!({"tool": null}), "/tool"),
        ("eggs_tools", json!({"tool": "grub40", "iso": null}), "/iso"),
        ("eggs_tools", json!({"tool": "skel", "user": null}), "/user"),
        ("eggs_tools", json!({"tool": "skel", "args": null}), "/args"),
        ("eggs_tools", json!({"tool": "skel", "args": ["--user", null]}), "/args/1"),
        ("eggs_tools", json!({"tool": "clean", "args": [null]}), "/args/0"),
        ("eggs_exec", json!({"command": null}), "/command"),
        ("eggs_exec", json!({"command": ["version", null]}), "/command/1"),
        ("eggs_exec", json!({"command": ["remaster", "--debug", "--compression", null]}), "/command/3"),
        ("eggs_exec", json!({"command": ["wardrobe", "show", null]}), "/command/2"),
        ("eggs_exec", json!({"command": [null, "list"]}), "/command/0"),
    ]
}

/// Whether every word is one that the tool could have, or holds the text whole.
fn is_one_word(call: &Call, text: &str) -> bool {
    let known = |word: &str| {
        let plain = |part: &str| part.chars().all(|c| c.is_ascii_lowercase() || "-0123456789./".contains(c));
        plain(word) || word.split_once('=').is_some_and(|(flag, value)| plain(flag) && plain(value))
    };
    call.arguments().iter().all(|word| known(word) || *word == text || word.ends_with(&format!("={text}")))
}

#[test]
fn s_06_s_07_every_text_of_every_parameter_is_one_word_or_nothing_is_started() {
    let world = World::new();
    world.root().costume("colibri", "light", &[]).unwrap();
    // Nothing but the checks of the arguments stands in the way.
    let policy = crate::argv::unguarded(&world);
    let mut client = world.client_with(&["--policy", &policy]);
    let mut refused = 0;
    for (tool, form, place) in places() {
        for payload in PAYLOADS.iter().flat_map(|payload| [(*payload).to_owned(), format!("zstd{payload}")]) {
            let mut arguments = form.clone();
            *arguments.pointer_mut(place).unwrap() = json!(payload);
            let result = client.call(tool, arguments.clone());
            let calls = world.calls();
            assert!(calls.iter().all(|call| is_one_word(call, &payload)), "{tool} {arguments}: {calls:?}");
            if calls.is_empty() {
                // All that was started is the question for the version, which is not counted.
                let ran = result["structuredContent"]["answer"]["argv"].as_array();
                let version = ran.is_some_and(|argv| argv[1..] == [json!("version")]);
                assert!(result["isError"] == true || version, "{tool} {arguments}: {result}");
                refused += u32::from(!version);
            }
            world.eggs.forget().unwrap();
        }
    }
    assert!(refused > 1000, "{refused}");
    let files = World::files_below(world.eggs.folder());
    let trace = files.iter().find(|path| path.file_name().is_some_and(|name| name == "TRACE"));
    assert_eq!(trace, None, "nothing of it was run");
    assert!(!std::path::Path::new("/TRACE").exists());
}
