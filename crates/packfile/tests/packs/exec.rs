//! Commands given as text.

use pintle_packfile::{Confirm, Effects, Pack};
use serde_json::{Value, json};

use super::{argv, ask, refusals, whole};

fn eggs() -> Pack {
    whole("eggs").essential()
}

#[test]
fn eg_030_a_command_is_read_by_the_words_and_options_of_the_pack() {
    let pack = eggs();
    for (command, wanted) in [
        (json!("version"), &["version"][..]),
        (json!("  tools \t clean  -v"), &["tools", "clean", "--verbose"]),
        (json!(["wardrobe", "show", "colibri"]), &["wardrobe", "show", "colibri"]),
        (json!("remaster --debug --compression xz"), &["remaster", "--compression=xz", "--debug"]),
        (json!("remaster --compression=xz --clone=false"), &["remaster", "--compression=xz"]),
        (json!("wardrobe wear x --no-firm"), &["wardrobe", "wear", "--no-firm", "x"]),
        (json!("kill"), &["destroy"]),
        (json!("sysinstall --unattended"), &["sysinstall", "--unattended"]),
        (json!("sysinstall krill --fstype btrfs"), &["sysinstall", "krill", "--fstype=btrfs"]),
        (json!("export log -u me -i=10.0.0.1"), &["export", "log", "--user=me", "--ip=10.0.0.1"]),
        (json!("tools grub40 -- /a.iso"), &["tools", "grub40", "/a.iso"]),
    ] {
        assert_eq!(argv(&pack, "eggs_exec", json!({"command": command})), wanted, "{command}");
    }
}

#[test]
fn eg_030_s_07_whatever_the_pack_does_not_list_never_runs() {
    let pack = eggs();
    for command in [
        "ell",
        "_gen_docs",
        "_gen_docs --target /etc",
        "mcp disable",
        "mcp start",
        "mcp",
        "wizard",
        "config",
        "adapt",
        "completion bash",
        "help",
        "--help",
        "--version",
        "-v",
        "tools",
        "tools repo add",
        "export",
        "wardrobe",
        "wardrobe burn",
        "remaster --wizard",
        "remaster -w",
        "remaster --interactive",
        "remaster --cryptedclone",
        "remaster extra",
        "version; id",
        "version && id",
        "version | sh",
        "destroy --yes",
        "tools clean -vv",
        "tools clean --verbose=maybe",
        "remaster --debug --debug",
        "remaster --compression",
        "$(id)",
        "`id`",
        "/bin/sh",
        "eggs version",
        "--debug remaster",
        "wardrobe show ../x",
        "tools grub40 -w",
        "tools grub40 a.iso",
        "tools skel -u root;id",
        "remaster --path /srv",
        "remaster --crypted",
        "sysinstall calamares --unattended",
    ] {
        let told = refusals(&pack, "eggs_exec", json!({"command": command}));
        assert!(told.iter().all(|told| told.starts_with("/command: ")), "{command}: {told:?}");
        let words: Vec<_> = command.split_whitespace().collect();
        refusals(&pack, "eggs_exec", json!({"command": words}));
    }
    for command in [json!(""), json!([]), json!("  "), json!([""]), json!(null)] {
        refusals(&pack, "eggs_exec", json!({"command": command}));
    }
    for command in [json!(1), json!(["version", 1]), json!({"a": 1})] {
        assert_eq!(
            refusals(&pack, "eggs_exec", json!({"command": command})),
            ["/command: must be a string or a list of strings"]
        );
    }
}

#[test]
fn messages_name_what_was_meant() {
    let pack = eggs();
    let told = |command: Value| {
        let refusals = ask(&pack, "eggs_exec", json!({"command": command})).unwrap_err();
        let refusal = &refusals[0];
        (refusal.reason.to_string(), refusal.hint.clone().unwrap_or_default())
    };
    let pair = |reason: &str, hint: &str| (reason.to_owned(), hint.to_owned());
    assert_eq!(told(json!("verison")), pair("no such command here: `verison`", "did you mean `version`?"));
    assert_eq!(told(json!("tools claen")), pair("no such command here: `tools claen`", "did you mean `tools clean`?"));
    assert_eq!(
        told(json!("remaster --comprssion xz")),
        pair("`remaster` has no option `--comprssion`", "did you mean `--compression`?")
    );
    assert_eq!(
        told(json!("--debug remaster")),
        pair("no such command here: `--debug`", "options follow the words of the command")
    );
    assert_eq!(told(json!("version 'x'")).1, "give an array of strings, one for each word, to pass any character");
    assert!(told(json!("ell")).1.starts_with("known: remaster, wardrobe list, "));
    assert_eq!(
        told(json!("remaster --compression zst")),
        pair("`compression` must be one of zstd, xz, lz4 or gzip", "did you mean `zstd`?")
    );
}

#[test]
fn eg_030_what_changes_asks_for_a_plan_at_least_and_what_reads_for_nothing() {
    let pack = eggs();
    let tool = pack.tool("eggs_exec").unwrap();
    let confirm = |command: &str| {
        let (verb, arguments) = ask(&pack, "eggs_exec", json!({"command": command})).unwrap();
        tool.rules(verb, &arguments).confirm
    };
    for command in ["version", "wardrobe list", "wardrobe show x", "remaster --debug", "tools grub40 /a.iso"] {
        assert_eq!(confirm(command), Confirm::Nothing, "{command}");
    }
    for command in [
        "remaster",
        "wardrobe wear x",
        "wardrobe get",
        "export iso",
        "export pkg",
        "export log",
        "tools clean",
        "tools skel",
        "tools build",
        "tools grub40 -w /a.iso",
    ] {
        assert_eq!(confirm(command), Confirm::Plan, "{command}");
    }
    for command in ["destroy", "kill", "sysinstall", "sysinstall krill", "sysinstall calamares"] {
        assert_eq!(confirm(command), Confirm::Human, "{command}");
    }
    let own = |tool: &str, given: Value| {
        let (verb, arguments) = ask(&pack, tool, given).unwrap();
        pack.tool(tool).unwrap().rules(verb, &arguments).confirm
    };
    for (tool, given) in [
        ("eggs_export", json!({"target": "iso"})),
        ("eggs_tools", json!({"tool": "clean"})),
        ("eggs_wardrobe", json!({"action": "get"})),
    ] {
        assert_eq!(own(tool, given), Confirm::Nothing, "{tool} runs");
    }
    let worst: Effects = tool.worst(&pack);
    assert!(worst.changes() && worst.open_world && !worst.idempotent);
}
