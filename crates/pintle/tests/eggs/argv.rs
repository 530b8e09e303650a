//! Which arguments eggs gets, word by word.

use crate::{
    client::{good, text},
    world::World,
};
use pintle_testkit::eggs::Stdin;
use serde_json::{Value, json};

/// Calls that ask nobody, and the words they become.
fn unasked() -> Vec<(&'static str, Value, Vec<&'static str>)> {
    vec![
        ("eggs_remaster", json!({"debug": true}), vec!["remaster", "--debug"]),
        ("eggs_remaster", json!({"debug": true, "clone": true}), vec!["remaster", "--clone", "--debug"]),
        ("eggs_remaster", json!({"debug": true, "clone": false}), vec!["remaster", "--debug"]),
        (
            "eggs_remaster",
            json!({"debug": true, "compression": "zstd"}),
            vec!["remaster", "--compression=zstd", "--debug"],
        ),
        (
            "eggs_remaster",
            json!({"debug": true, "path": "/home/eggs"}),
            vec!["remaster", "--path=/home/eggs", "--debug"],
        ),
        (
            "eggs_remaster",
            json!({"debug": true, "stop_after": "generate-efi.img"}),
            vec!["remaster", "--stop-after=generate-efi.img", "--debug"],
        ),
        ("eggs_wardrobe", json!({}), vec!["wardrobe", "list"]),
        ("eggs_wardrobe", json!({"action": "list"}), vec!["wardrobe", "list"]),
        ("eggs_wardrobe", json!({"action": "show", "costume": "colibri"}), vec!["wardrobe", "show", "colibri"]),
        ("eggs_version", json!({}), vec!["version"]),
        ("eggs_exec", json!({"command": "version"}), vec!["version"]),
        ("eggs_exec", json!({"command": "remaster  --debug"}), vec!["remaster", "--debug"]),
        ("eggs_exec", json!({"command": ["wardrobe", "show", "colibri"]}), vec!["wardrobe", "show", "colibri"]),
    ]
}

/// Changes: once the policy asks for nothing, these words.
fn changes() -> Vec<(&'static str, Value, Vec<&'static str>)> {
    vec![
        ("eggs_remaster", json!({}), vec!["remaster"]),
        ("eggs_remaster", json!({"clone": true}), vec!["remaster", "--clone"]),
        ("eggs_remaster", json!({"compression": "lz4"}), vec!["remaster", "--compression=lz4"]),
        ("eggs_remaster", json!({"path": "/home/eggs"}), vec!["remaster", "--path=/home/eggs"]),
        ("eggs_remaster", json!({"stop_after": "identity"}), vec!["remaster", "--stop-after=identity"]),
        ("eggs_wardrobe", json!({"action": "get"}), vec!["wardrobe", "get"]),
        ("eggs_wardrobe", json!({"action": "wear", "costume": "colibri"}), vec!["wardrobe", "wear", "colibri"]),
        (
            "eggs_wardrobe",
            json!({"action": "wear", "costume": "colibri", "no_acc": true}),
            vec!["wardrobe", "wear", "colibri", "--no-acc"],
        ),
        (
            "eggs_wardrobe",
            json!({"action": "wear", "costume": "colibri", "no_acc": true, "no_firm": true}),
            vec!["wardrobe", "wear", "colibri", "--no-acc", "--no-firm"],
        ),
        (
            "eggs_exec",
            json!({"command": "wardrobe wear --no-firm colibri --no-acc"}),
            vec!["wardrobe", "wear", "colibri", "--no-acc", "--no-firm"],
        ),
        ("eggs_export", json!({"target": "iso"}), vec!["export", "iso"]),
        ("eggs_export", json!({"target": "iso", "clean": true}), vec!["export", "iso", "--clean"]),
        (
            "eggs_export",
            json!({"target": "log", "user": "eva", "ip": "10.0.0.7", "dir": "/srv"}),
            vec!["export", "log", "--user=eva", "--ip=10.0.0.7", "--dir=/srv"],
        ),
        ("eggs_tools", json!({"tool": "clean"}), vec!["tools", "clean"]),
        ("eggs_tools", json!({"tool": "clean", "verbose": true}), vec!["tools", "clean", "--verbose"]),
        ("eggs_tools", json!({"tool": "clean", "args": "-v"}), vec!["tools", "clean", "--verbose"]),
        ("eggs_tools", json!({"tool": "skel", "user": "eva"}), vec!["tools", "skel", "--user=eva"]),
        ("eggs_tools", json!({"tool": "skel", "args": "-u eva"}), vec!["tools", "skel", "--user=eva"]),
        ("eggs_sysinstall", json!({}), vec!["sysinstall", "krill"]),
        (
            "eggs_sysinstall",
            json!({"installer": "krill", "unattended": true}),
            vec!["sysinstall", "krill", "--unattended"],
        ),
        (
            "eggs_sysinstall",
            json!({"installer": "krill", "fstype": "btrfs"}),
            vec!["sysinstall", "krill", "--fstype=btrfs"],
        ),
        ("eggs_sysinstall", json!({"installer": "calamares"}), vec!["sysinstall", "calamares"]),
        ("eggs_destroy", json!({}), vec!["destroy"]),
        ("eggs_exec", json!({"command": "kill"}), vec!["destroy"]),
        ("eggs_exec", json!({"command": ["tools", "skel", "--user", "eva"]}), vec!["tools", "skel", "--user=eva"]),
    ]
}

#[test]
fn eg_027_eg_034_a_boot_entry_is_shown_unasked_and_written_when_asked_for() {
    let world = World::new();
    let image = world.root().write("/home/eggs/a.iso", "").unwrap().display().to_string();
    let mut client = world.client();
    for arguments in [json!({"tool": "grub40", "iso": image}), json!({"tool": "grub40", "args": [image]})] {
        let shown = client.call("eggs_tools", arguments);
        assert!(good(&shown)["stdout"].as_str().unwrap().contains("boot=live"), "{shown}");
        assert_eq!(world.only_call(), ["tools", "grub40", &image]);
    }
    assert!(!world.root().at("/etc/grub.d/40_custom").exists());
    for arguments in [
        json!({"tool": "grub40", "iso": image, "write": true}),
        json!({"tool": "grub40", "args": format!("{image} -w")}),
    ] {
        let written = client.call("eggs_tools", arguments);
        assert_eq!(good(&written)["exit_code"], 0, "{written}");
        assert_eq!(sorted(world.only_call()), sorted(owned(&["tools", "grub40", "--write", &image])));
    }
    assert!(world.root().at("/etc/grub.d/40_custom").exists());
}

/// Words that do not depend on the order of flags and positions.
fn sorted(mut words: Vec<String>) -> Vec<String> {
    let head = words.iter().take_while(|word| !word.starts_with('-')).count();
    let head = head.min(2);
    words[head..].sort();
    words
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// A policy that asks for nothing.
pub fn unguarded(world: &World) -> String {
    let file = world.eggs.folder().join("policy.toml");
    std::fs::write(&file, "[[rule]]\nallow = true\n").unwrap();
    file.display().to_string()
}

#[test]
fn eg_023_eg_024_eg_030_each_argument_of_what_only_looks_is_one_word() {
    let world = World::new();
    world.root().costume("colibri", "light", &[]).unwrap();
    let mut client = world.client();
    for (tool, arguments, words) in unasked() {
        world.eggs.forget().unwrap();
        let result = client.call(tool, arguments.clone());
        assert_eq!(good(&result)["exit_code"], 0, "{tool} {arguments}: {result}");
        let mut calls = world.eggs.calls().unwrap();
        if words == ["version"] {
            // The question who it is, asked once, is the same.
            calls.truncate(1);
        } else {
            calls.retain(|call| call.arguments() != ["version"]);
        }
        assert_eq!(calls.len(), 1, "{tool} {arguments}");
        assert_eq!(calls[0].arguments(), words, "{tool} {arguments}");
        let argv = result["structuredContent"]["answer"]["argv"].as_array().unwrap();
        let told: Vec<&str> = argv[1..].iter().map(|word| word.as_str().unwrap()).collect();
        assert_eq!(told, words, "eg_009: what ran is told");
    }
}

#[test]
fn eg_023_eg_026_eg_027_eg_025_each_argument_of_a_change_is_one_word() {
    let world = World::new();
    world.root().costume("colibri", "light", &[]).unwrap();
    let policy = unguarded(&world);
    let mut client = world.client_with(&["--policy", &policy]);
    for (tool, arguments, words) in changes() {
        world.eggs.forget().unwrap();
        let result = client.call(tool, arguments.clone());
        let calls: Vec<Vec<String>> = world.calls().into_iter().map(|mut call| call.argv.split_off(1)).collect();
        let acts: Vec<_> =
            calls.into_iter().filter(|words| words[..2.min(words.len())] != ["wardrobe", "show"]).collect();
        assert_eq!(acts.len(), 1, "{tool} {arguments}: {acts:?} {result}");
        assert_eq!(sorted(acts[0].clone()), sorted(owned(&words)), "{tool} {arguments}");
    }
}

#[test]
fn eg_008_s_30_s_43_a_child_gets_a_plain_environment_and_nothing_to_read() {
    let world = World::new();
    let mut command = world.command(["eggs", "mcp", "start"]);
    command
        .env("SECRET_TOKEN", "hunter2")
        .env("LD_PRELOAD", "")
        .env("SSH_AUTH_SOCK", "/run/agent")
        .env("BASH_ENV", "/x");
    let mut client = crate::client::Client::of(&mut command);
    client.initialize("2025-06-18");
    for (tool, arguments) in [("eggs_remaster", json!({"debug": true})), ("eggs_wardrobe", json!({"action": "list"}))] {
        client.call(tool, arguments);
    }
    for call in world.calls() {
        assert_eq!(call.colour, [Some("1".to_owned()), Some("dumb".to_owned())]);
        assert_eq!(call.stdin, Stdin::Empty);
        assert_eq!(call.group, call.pid, "a process group of its own");
        for kept_back in ["SECRET_TOKEN", "LD_PRELOAD", "SSH_AUTH_SOCK", "BASH_ENV"] {
            assert!(!call.environment.contains(&kept_back.to_owned()), "{kept_back}: {:?}", call.environment);
        }
    }
}

#[test]
fn eg_032_what_reads_the_wardrobe_runs_as_whoever_calls() {
    let world = World::new();
    world.root().costume("colibri", "light", &[]).unwrap();
    let mut client = world.client();
    for arguments in [json!({"action": "list"}), json!({"action": "show", "costume": "colibri"})] {
        let result = client.call("eggs_wardrobe", arguments);
        assert_eq!(good(&result)["elevated"], false);
        assert!(text(&result).contains("colibri"), "{result}");
    }
    let me = rustix::process::geteuid().as_raw();
    assert!(world.calls().iter().all(|call| call.euid == me && call.ruid == me && call.sudo_user.is_none()));
}
