//! What is refused before anything is started.

use crate::{
    client::{bad, text},
    world::World,
};
use pintle_testkit::eggs::Orders;
use serde_json::{Value, json};

/// Calls of a tool that must end so, with nothing started at all.
#[track_caller]
fn refused(calls: &[(&str, Value, &str)]) {
    let world = World::new();
    world.root().costume("colibri", "light", &[]).unwrap();
    // Where a policy asks for nothing, nothing but the refusal stands in the way.
    let policy = crate::argv::unguarded(&world);
    let mut client = world.client_with(&["--policy", &policy]);
    for (tool, arguments, why) in calls {
        let result = client.call(tool, arguments.clone());
        bad(&result, "invalid_argument");
        let said = result.to_string();
        assert!(said.contains(why), "{tool} {arguments} says {why:?}: {said}");
        assert_eq!(world.calls(), [], "{tool} {arguments}");
    }
}

#[test]
fn s_33_a_value_of_another_type_is_an_error_and_not_absent() {
    refused(&[
        ("eggs_remaster", json!({"debug": "true"}), "debug"),
        ("eggs_remaster", json!({"debug": 1}), "debug"),
        ("eggs_remaster", json!({"clone": "yes"}), "clone"),
        ("eggs_remaster", json!({"clone": []}), "clone"),
        ("eggs_remaster", json!({"compression": true}), "compression"),
        ("eggs_remaster", json!({"stop_after": ["identity"]}), "stop_after"),
        ("eggs_remaster", json!({"path": {}}), "path"),
        ("eggs_wardrobe", json!({"action": 1}), "action"),
        ("eggs_wardrobe", json!({"action": "show", "costume": 7}), "costume"),
        ("eggs_wardrobe", json!({"action": "wear", "costume": "colibri", "no_acc": "true"}), "no_acc"),
        ("eggs_sysinstall", json!({"unattended": "true"}), "unattended"),
        ("eggs_sysinstall", json!({"installer": false}), "installer"),
        ("eggs_export", json!({"target": "iso", "clean": 0}), "clean"),
        ("eggs_tools", json!({"tool": "clean", "verbose": "v"}), "verbose"),
        ("eggs_tools", json!({"tool": "grub40", "iso": "/a.iso", "write": "w"}), "write"),
        ("eggs_tools", json!({"tool": "skel", "args": 9}), "args"),
        ("eggs_exec", json!({"command": true}), "command"),
        ("eggs_exec", json!({"command": ["version", 1]}), "command"),
        ("eggs_exec", json!({}), "command"),
        ("eggs_export", json!({}), "target"),
        ("eggs_destroy", json!({"force": true}), "force"),
        ("eggs_version", json!({"all": true}), "all"),
        ("eggs_remaster", json!({"Debug": true}), "Debug"),
    ]);
}

#[test]
fn eg_024_s_04_show_and_wear_need_the_plain_name_of_a_costume() {
    let names = ["", ".", "..", "../../etc", "a/b", "-x", "--no-acc", "a b", "a;b", "$(id)", "\u{e9}", "a\nb", "\u{0}"];
    let mut calls = vec![
        ("eggs_wardrobe", json!({"action": "show"}), "costume"),
        ("eggs_wardrobe", json!({"action": "wear"}), "costume"),
        ("eggs_wardrobe", json!({"action": "wear", "no_acc": true}), "costume"),
        ("eggs_wardrobe", json!({"action": "burn"}), "action"),
        ("eggs_wardrobe", json!({"action": "list", "costume": "colibri"}), "costume"),
        ("eggs_wardrobe", json!({"action": "show", "costume": "colibri", "no_acc": true}), "no_acc"),
    ];
    for name in names {
        calls.push(("eggs_wardrobe", json!({"action": "show", "costume": name}), "costume"));
        calls.push(("eggs_wardrobe", json!({"action": "wear", "costume": name}), "costume"));
    }
    refused(&calls);
}

#[test]
fn eg_025_eg_027_what_belongs_to_another_choice_is_refused_with_a_word_about_it() {
    refused(&[
        ("eggs_sysinstall", json!({"installer": "calamares", "unattended": true}), "krill"),
        ("eggs_sysinstall", json!({"installer": "calamares", "fstype": "ext4"}), "krill"),
        ("eggs_sysinstall", json!({"installer": "krill", "fstype": "xfs"}), "btrfs"),
        ("eggs_sysinstall", json!({"installer": "debian"}), "krill"),
        ("eggs_export", json!({"target": "iso", "user": "eva"}), "log"),
        ("eggs_export", json!({"target": "all"}), "iso"),
        ("eggs_tools", json!({"tool": "repo"}), "skel or build"),
        ("eggs_tools", json!({"tool": "repo", "args": "add"}), "skel or build"),
        ("eggs_tools", json!({"tool": "clean", "user": "eva"}), "skel"),
        ("eggs_tools", json!({"tool": "skel", "args": "--write"}), "--write"),
        ("eggs_tools", json!({"tool": "skel", "args": "-u 'eva'"}), "quote"),
        ("eggs_tools", json!({"tool": "grub40"}), "iso"),
        ("eggs_tools", json!({"tool": "grub40", "args": "a.iso b.iso"}), "iso"),
    ]);
}

#[test]
fn s_05_s_34_s_35_no_other_work_folder_and_no_passphrase_that_everybody_knows() {
    let paths = ["/srv/nest", "/home/eggs/", "/home/eggs/../x", "home/eggs", "/home/eggs; reboot", "/", ""];
    let mut calls: Vec<_> = paths.iter().map(|path| ("eggs_remaster", json!({"path": path}), "path")).collect();
    calls.extend([
        ("eggs_remaster", json!({"path": "/srv/nest", "debug": true}), "mounts"),
        ("eggs_remaster", json!({"crypted": true}), "passphrase"),
        ("eggs_remaster", json!({"crypted": true, "debug": true}), "passphrase"),
        ("eggs_remaster", json!({"crypted": true, "clone": true}), "crypted"),
        ("eggs_remaster", json!({"compression": "brotli"}), "zstd"),
        ("eggs_remaster", json!({"stop_after": "coa-initrd"}), "stop_after"),
        ("eggs_remaster", json!({"stop_after": "indentity"}), "identity"),
        ("eggs_remaster", json!({"fdt": "/boot/x.dtb"}), "fdt"),
        ("eggs_exec", json!({"command": "remaster --path /srv/nest"}), "mounts"),
        ("eggs_exec", json!({"command": "remaster --crypted"}), "passphrase"),
        ("eggs_exec", json!({"command": "remaster --cryptedclone"}), "--cryptedclone"),
    ]);
    refused(&calls);
}

#[test]
fn eg_030_s_07_only_listed_commands_with_their_listed_flags_and_never_a_hidden_one() {
    refused(&[
        ("eggs_exec", json!({"command": ""}), "command"),
        ("eggs_exec", json!({"command": "   "}), "command"),
        ("eggs_exec", json!({"command": []}), "command"),
        ("eggs_exec", json!({"command": "ell"}), "ell"),
        ("eggs_exec", json!({"command": "_gen_docs --target /etc"}), "_gen_docs"),
        ("eggs_exec", json!({"command": "mcp disable"}), "mcp"),
        ("eggs_exec", json!({"command": "mcp enable"}), "mcp"),
        ("eggs_exec", json!({"command": "completion bash"}), "completion"),
        ("eggs_exec", json!({"command": "wizard"}), "wizard"),
        ("eggs_exec", json!({"command": "config"}), "config"),
        ("eggs_exec", json!({"command": "wardrobe burn"}), "wardrobe"),
        ("eggs_exec", json!({"command": "export"}), "export"),
        ("eggs_exec", json!({"command": "tools"}), "tools"),
        ("eggs_exec", json!({"command": "remaster --wizard"}), "--wizard"),
        ("eggs_exec", json!({"command": "remaster -i"}), "-i"),
        ("eggs_exec", json!({"command": "remaster extra"}), "extra"),
        ("eggs_exec", json!({"command": "remaster --debug=perhaps"}), "debug"),
        ("eggs_exec", json!({"command": "--help"}), "--help"),
        ("eggs_exec", json!({"command": "version; reboot"}), "version;"),
        ("eggs_exec", json!({"command": "version && reboot"}), "&&"),
        ("eggs_exec", json!({"command": "'version'"}), "quote"),
        ("eggs_exec", json!({"command": ["version", "--", "x"]}), "x"),
        ("eggs_exec", json!({"command": ["tools skel"]}), "tools skel"),
        ("eggs_exec", json!({"command": ["tools", "skel", "--user"]}), "--user"),
        ("eggs_exec", json!({"command": ["tools", "skel", "--user", "$(id)"]}), "user"),
        ("eggs_exec", json!({"command": ["/bin/sh", "-c", "id"]}), "/bin/sh"),
    ]);
}

#[test]
fn an_unknown_tool_is_an_error_of_the_protocol() {
    let world = World::new();
    let mut client = world.client();
    let answer = client.request("tools/call", json!({"name": "eggs_wizard", "arguments": {}}));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert_eq!(world.calls(), []);
}

#[test]
fn s_36_a_refusal_of_eggs_itself_is_a_failure() {
    let world = World::ordered(Orders { euid: Some(1000), ..Orders::default() });
    let policy = crate::argv::unguarded(&world);
    let mut client = world.client_with(&["--policy", &policy]);
    for (tool, arguments) in
        [("eggs_remaster", json!({})), ("eggs_destroy", json!({})), ("eggs_tools", json!({"tool": "clean"}))]
    {
        let result = client.call(tool, arguments);
        bad(&result, "remote");
        assert!(text(&result).contains("only root may do this"), "{tool}: what eggs says is told: {result}");
    }
}
