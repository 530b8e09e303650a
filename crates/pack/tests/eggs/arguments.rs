//! What the tools take, and the argument vectors it becomes.

use crate::stage::{Stage, failed, good};
use pintle_core::Door;
use pintle_testkit::eggs::{Orders, TOOLS};
use serde_json::{Value, json};

#[tokio::test]
async fn eg_021_eg_014_there_are_eight_tools_each_closed_and_with_true_hints() {
    let stage = Stage::new();
    assert_eq!(stage.catalog.names().collect::<Vec<_>>(), TOOLS);
    assert_eq!(stage.catalog.server_name(), "penguins-eggs");
    for listed in stage.catalog.listed() {
        assert_eq!(listed.input["additionalProperties"], false, "{}", listed.name);
        assert!(listed.input.get("x-cli").is_none() && !listed.description.is_empty(), "{}", listed.name);
    }
    let hints = |name: &str| {
        let hints = stage.catalog.listed().find(|listed| listed.name == name).unwrap().hints;
        (hints.read_only_hint, hints.destructive_hint)
    };
    assert_eq!(hints("eggs_version"), (true, false));
    assert_eq!(hints("eggs_remaster"), (false, false));
    assert_eq!(hints("eggs_destroy"), (false, true));
    assert_eq!(hints("eggs_exec"), (false, true));
    let remaster = &stage.catalog.listed().next().unwrap().input["properties"];
    assert_eq!(remaster["compression"]["enum"], json!(["zstd", "xz", "lz4", "gzip"]));
    assert!(remaster["plan_token"].is_object());
}

#[tokio::test]
async fn eg_023_s_06_each_flag_of_a_remaster_is_one_element_of_its_vector() {
    let stage = Stage::new();
    for (arguments, vector) in [
        (json!({}), vec!["remaster"]),
        (json!({"clone": true}), vec!["remaster", "--clone"]),
        (json!({"clone": false, "crypted": false}), vec!["remaster"]),
        (json!({"compression": "xz"}), vec!["remaster", "--compression=xz"]),
        (json!({"path": "/home/eggs"}), vec!["remaster", "--path=/home/eggs"]),
        (json!({"stop_after": "identity"}), vec!["remaster", "--stop-after=identity"]),
        (
            json!({"stop_after": "identity", "compression": "zstd", "clone": true}),
            vec!["remaster", "--clone", "--compression=zstd", "--stop-after=identity"],
        ),
    ] {
        let reply = stage.planned("eggs_remaster", arguments.clone()).await;
        let answer = good(&reply);
        assert_eq!(stage.last(), vector, "{arguments}");
        assert_eq!(answer["argv"].as_array().unwrap()[1..], vector.iter().map(|word| json!(word)).collect::<Vec<_>>());
    }
    let debug = stage.call("eggs_remaster", json!({"debug": true})).await;
    good(&debug);
    assert_eq!(stage.last(), ["remaster", "--debug"], "a plan of eggs needs no plan of ours");
}

#[tokio::test]
async fn s_05_s_33_s_34_what_would_go_wrong_is_refused_before_anything_is_started() {
    let stage = Stage::new();
    for (tool, arguments, why) in [
        ("eggs_remaster", json!({"debug": "true"}), "`debug`"),
        ("eggs_remaster", json!({"crypted": true}), "passphrase"),
        ("eggs_remaster", json!({"clone": true, "crypted": true}), "clone"),
        ("eggs_remaster", json!({"path": "x; touch /tmp/y"}), "/home/eggs"),
        ("eggs_remaster", json!({"compression": "$(id)"}), "compression"),
        ("eggs_remaster", json!({"stop_after": "coa-initrd"}), "stop_after"),
        ("eggs_remaster", json!({"verbose": true}), "verbose"),
        ("eggs_wardrobe", json!({"action": "show"}), "costume"),
        ("eggs_wardrobe", json!({"action": "wear"}), "costume"),
        ("eggs_wardrobe", json!({"action": "burn"}), "action"),
        ("eggs_wardrobe", json!({"action": "wear", "costume": "../../etc"}), "costume"),
        ("eggs_wardrobe", json!({"action": "wear", "costume": "--help"}), "costume"),
        ("eggs_sysinstall", json!({"installer": "calamares", "unattended": true}), "krill"),
        ("eggs_export", json!({}), "target"),
        ("eggs_export", json!({"target": "iso", "ip": "10.0.0.1"}), "log"),
        ("eggs_tools", json!({"tool": "repo"}), "tool"),
        ("eggs_tools", json!({"tool": "skel", "args": "--user x;id"}), "user"),
        ("eggs_tools", json!({"tool": "clean", "args": "; reboot"}), "args"),
        ("eggs_tools", json!({"tool": "grub40", "args": "'/a b.iso'"}), "quotes"),
        ("eggs_exec", json!({"command": "ell"}), "ell"),
        ("eggs_exec", json!({"command": ""}), "command"),
        ("eggs_exec", json!({"command": "mcp disable"}), "mcp"),
        ("eggs_exec", json!({"command": "remaster --cryptedclone"}), "--cryptedclone"),
        ("eggs_exec", json!({"command": "version; id"}), "version;"),
        ("eggs_exec", json!({"command": "version\nremaster"}), "control"),
        ("eggs_exec", json!({"command": ["remaster", "--path", "/srv"]}), "/home/eggs"),
        ("eggs_exec", json!({"command": "export"}), "export"),
    ] {
        let reply = stage.call(tool, arguments.clone()).await;
        let (code, text) = failed(&reply);
        assert_eq!(code, "invalid_argument", "{tool} {arguments}: {text}");
        assert!(text.contains(why), "{tool} {arguments}: {text}");
    }
    assert_eq!(stage.runs(), 0, "{:?}", stage.installed.work());
}

#[tokio::test]
async fn eg_024_eg_026_eg_027_each_choice_is_its_own_vector() {
    let stage = Stage::new();
    stage.installed.root().costume("mage", "a costume", &["echo hello"]).unwrap();
    stage.installed.root().write("/tmp/x.iso", "x").unwrap();
    for (tool, arguments, vector) in [
        ("eggs_wardrobe", json!({}), vec!["wardrobe", "list"]),
        ("eggs_wardrobe", json!({"action": "show", "costume": "mage"}), vec!["wardrobe", "show", "mage"]),
        ("eggs_wardrobe", json!({"action": "get"}), vec!["wardrobe", "get"]),
        (
            "eggs_export",
            json!({"target": "log", "user": "bob", "ip": "10.0.0.7", "dir": "/srv"}),
            vec!["export", "log", "--user=bob", "--ip=10.0.0.7", "--dir=/srv"],
        ),
        ("eggs_export", json!({"target": "pkg", "clean": true}), vec!["export", "pkg", "--clean"]),
        ("eggs_tools", json!({"tool": "clean", "args": "-v"}), vec!["tools", "clean", "--verbose"]),
        ("eggs_tools", json!({"tool": "grub40", "iso": "/tmp/x.iso"}), vec!["tools", "grub40", "/tmp/x.iso"]),
        (
            "eggs_tools",
            json!({"tool": "grub40", "args": ["--write", "/tmp/x.iso"]}),
            vec!["tools", "grub40", "--write", "/tmp/x.iso"],
        ),
        ("eggs_tools", json!({"tool": "skel", "user": "artisan"}), vec!["tools", "skel", "--user=artisan"]),
    ] {
        let reply = stage.call(tool, arguments.clone()).await;
        assert!(reply.plan.is_none(), "{tool} {arguments} needs no plan");
        assert_eq!(stage.last(), vector, "{tool} {arguments}: {:?}", reply.failure);
    }
}

#[tokio::test]
async fn eg_030_s_07_exec_runs_what_is_on_its_list_and_asks_for_what_the_typed_tool_asks() {
    let stage = Stage::new();
    let read = stage.call("eggs_exec", json!({"command": "  wardrobe   list "})).await;
    good(&read);
    assert_eq!(stage.last(), ["wardrobe", "list"]);
    let plan = stage.plan("eggs_exec", json!({"command": "remaster --clone"})).await;
    assert!(plan.token.is_some() && plan.preview.contains("remaster --clone"), "{plan:?}");
    let done = stage.planned("eggs_exec", json!({"command": ["remaster", "--clone"]})).await;
    good(&done);
    assert_eq!(stage.last(), ["remaster", "--clone"]);
    // What a person must allow, a token does not.
    for command in ["destroy", "kill", "sysinstall krill --unattended"] {
        let plan = stage.plan("eggs_exec", json!({"command": command})).await;
        assert!(plan.token.is_none() && plan.approval.is_some(), "{command}: {plan:?}");
    }
    let clean = stage.plan("eggs_exec", json!({"command": "tools clean"})).await;
    assert!(clean.token.is_some(), "through exec every change is planned");
    assert_eq!(stage.runs(), 2);
}

#[tokio::test]
async fn eg_036_eg_037_what_is_built_is_never_roots_however_it_is_asked_for() {
    let stage = Stage::with(&Orders { euid: Some(0), ..Orders::default() }, |all, _| all.is_root = true);
    let typed = stage.call("eggs_tools", json!({"tool": "build"})).await;
    let by_text = stage.call("eggs_exec", json!({"command": "tools  build"})).await;
    for reply in [&typed, &by_text] {
        let (code, text) = failed(reply);
        assert_eq!(code, "denied");
        assert!(text.contains("must not run as root"), "{text}");
    }
    assert_eq!(stage.runs(), 0);
    let user = Stage::ordered(&Orders { euid: Some(1000), ..Orders::default() });
    user.call("eggs_tools", json!({"tool": "build"})).await;
    assert_eq!(user.last(), ["tools", "build"]);
}

#[tokio::test]
async fn eg_022_people_have_the_same_tools_by_their_own_words() {
    let stage = Stage::new();
    let words: Vec<String> = stage
        .catalog
        .specs(Door::People)
        .map(|(_, spec)| spec.input["x-cli"]["command"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(words, ["remaster", "wardrobe", "sysinstall", "export", "tools", "destroy", "version", "exec"]);
    let (reply, heard) = stage.person("eggs_version", Value::Null).await;
    good(&reply);
    let seen: Vec<String> = heard.rows.lock().unwrap().iter().map(|row| row.as_str().unwrap().to_owned()).collect();
    assert_eq!(
        seen.join("\n") + "\n",
        reply.answer.unwrap()["stdout"].as_str().unwrap(),
        "lines are seen as they come"
    );
}
