//! The pack of eggs: exact argument vectors, and what holds for each call.

use std::time::Duration;

use pintle_packfile::{Act, Confirm, Elevate, Fact, Folder, HostProbe, OnEof, Pack, Rules, Source};
use serde_json::{Value, json};

use super::{argv, ask, refusals, whole};

fn eggs() -> Pack {
    whole("eggs").essential()
}

fn rules(pack: &Pack, tool: &str, arguments: Value) -> Rules {
    let (verb, checked) = ask(pack, tool, arguments).unwrap();
    pack.tool(tool).unwrap().rules(verb, &checked)
}

#[test]
fn eg_021_eg_018_exactly_eight_tools_and_four_resources() {
    let pack = eggs();
    let tools: Vec<_> = pack.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(
        tools,
        [
            "eggs_remaster",
            "eggs_wardrobe",
            "eggs_sysinstall",
            "eggs_export",
            "eggs_tools",
            "eggs_destroy",
            "eggs_version",
            "eggs_exec",
        ]
    );
    let resources: Vec<_> =
        pack.resources.iter().map(|resource| (resource.uri.as_str(), resource.mime.as_str())).collect();
    assert_eq!(
        resources,
        [
            ("eggs://config", "text/plain"),
            ("eggs://exclude-list", "text/plain"),
            ("eggs://version", "text/plain"),
            ("eggs://status", "text/plain"),
        ]
    );
    let whole = whole("eggs");
    assert_eq!((whole.tools.len(), whole.resources.len()), (9, 5), "more only when asked for");
}

#[test]
fn eg_023_remaster_has_one_flag_for_each_parameter() {
    let pack = eggs();
    let flags = |given| argv(&pack, "eggs_remaster", given)[1..].join(" ");
    for (given, wanted) in [
        (json!({}), ""),
        (json!({"clone": true}), "--clone"),
        (json!({"compression": "zstd"}), "--compression=zstd"),
        (json!({"path": "/home/eggs"}), "--path=/home/eggs"),
        (json!({"stop_after": "mksquashfs"}), "--stop-after=mksquashfs"),
        (json!({"debug": true}), "--debug"),
        (json!({"clone": false, "crypted": false, "debug": false, "compression": null}), ""),
        (
            json!({"debug": true, "stop_after": "xorriso", "path": "/home/eggs", "compression": "xz", "clone": true}),
            "--clone --compression=xz --path=/home/eggs --stop-after=xorriso --debug",
        ),
    ] {
        assert_eq!(flags(given.clone()), wanted, "{given}");
    }
    assert_eq!(argv(&pack, "eggs_remaster", json!({}))[0], "remaster");
    assert_eq!(
        refusals(&pack, "eggs_remaster", json!({"compression": "zst"})),
        ["/compression: must be one of zstd, xz, lz4 or gzip"]
    );
    assert!(refusals(&pack, "eggs_remaster", json!({"stop_after": "coa-initrd"}))[0].contains("must be one of"));
    assert_eq!(refusals(&pack, "eggs_remaster", json!({"fdt": "/x"})), ["/fdt: no such parameter: `fdt`"]);
    assert_eq!(argv(&whole("eggs"), "eggs_remaster", json!({"fdt": "/x"})), ["remaster", "--fdt=/x"]);
}

#[test]
fn s_05_another_work_folder_is_refused_with_the_reason() {
    let pack = eggs();
    for path in ["/home/eggs/", "/home/eggs; id", "/srv/eggs", "/home/eggs/../x", "home/eggs", "", "$(id)"] {
        let told = refusals(&pack, "eggs_remaster", json!({"path": path}));
        assert!(told[0].starts_with("/path: only `/home/eggs` is taken: with any other work folder"), "{told:?}");
    }
}

#[test]
fn s_34_an_encrypted_image_is_refused_before_anything_runs() {
    let pack = eggs();
    let told = refusals(&pack, "eggs_remaster", json!({"crypted": true}));
    assert!(told[0].starts_with("/crypted: refused: without a terminal"), "{told:?}");
    let told = refusals(&pack, "eggs_remaster", json!({"crypted": true, "clone": true}));
    assert!(told[0].contains("`clone` and `crypted` exclude one another"), "{told:?}");
    assert!(told[1].contains("refused: without a terminal"), "{told:?}");
}

#[test]
fn eg_031_remaster_runs_as_root_and_the_plan_too_unless_least_privilege_is_asked() {
    let pack = eggs();
    let flight = rules(&pack, "eggs_remaster", json!({"clone": true}));
    assert_eq!((flight.elevate, flight.confirm), (Elevate::Always, Confirm::Plan));
    assert_eq!((flight.deadline, flight.grace), (Duration::from_secs(4 * 3600), Duration::from_secs(10)));
    assert_eq!((flight.lane.as_deref(), flight.job), (Some("flight"), Some(OnEof::Detach)));
    let made = flight.success.made.unwrap();
    let folder = made.folder.fill(|name| (name == "work_dir").then(|| "/w".to_owned()));
    assert_eq!((folder.as_deref(), made.glob.as_str()), (Some("/w"), "*.iso"));
    assert!(made.min_bytes > 500_000, "an image without a system has 0.4 MiB");
    assert!(flight.success.mounts_below.is_some());

    let plan = rules(&pack, "eggs_remaster", json!({"debug": true, "stop_after": "xorriso"}));
    assert!(plan.effects.is_read());
    assert_eq!((plan.elevate, plan.confirm), (Elevate::Always, Confirm::Nothing));
    assert_eq!((plan.deadline, plan.lane, plan.job), (Duration::from_secs(60), None, None));
    assert_eq!((plan.success.made, plan.success.mounts_below), (None, None));

    let short = rules(&pack, "eggs_remaster", json!({"stop_after": "identity"}));
    assert!(short.success.made.is_none() && short.success.mounts_below.is_some(), "it ends before an image is made");

    let least = pack.with_least_privilege();
    assert_eq!(rules(&least, "eggs_remaster", json!({"debug": true})).elevate, Elevate::Never);
    assert_eq!(rules(&least, "eggs_remaster", json!({})).elevate, Elevate::Always);
}

#[test]
fn eg_024_wardrobe_takes_a_costume_where_it_needs_one() {
    let pack = eggs();
    assert_eq!(argv(&pack, "eggs_wardrobe", json!({})), ["wardrobe", "list"]);
    assert_eq!(argv(&pack, "eggs_wardrobe", json!({"action": "get"})), ["wardrobe", "get"]);
    assert_eq!(
        argv(&pack, "eggs_wardrobe", json!({"action": "show", "costume": "colibri"})),
        ["wardrobe", "show", "colibri"]
    );
    assert_eq!(
        argv(&pack, "eggs_wardrobe", json!({"action": "wear", "costume": "a.b-c", "no_acc": true, "no_firm": true})),
        ["wardrobe", "wear", "--no-acc", "--no-firm", "a.b-c"]
    );
    for action in ["show", "wear"] {
        assert_eq!(refusals(&pack, "eggs_wardrobe", json!({"action": action})), ["/costume: `costume` is required"]);
    }
    assert_eq!(
        refusals(&pack, "eggs_wardrobe", json!({"costume": "colibri"})),
        ["/costume: goes with show or wear only, not with list"]
    );
    assert_eq!(
        refusals(&pack, "eggs_wardrobe", json!({"action": "burn"})),
        ["/action: must be one of list, get, show or wear"]
    );
}

#[test]
fn s_04_the_name_of_a_costume_leads_nowhere_else() {
    let pack = eggs();
    for costume in ["../x", "..", ".x", "a/b", "a b", "-x", "a;b", "ä", "a\n"] {
        for action in ["show", "wear"] {
            let told = refusals(&pack, "eggs_wardrobe", json!({"action": action, "costume": costume}));
            assert!(told[0].starts_with("/costume: "), "{told:?}");
        }
    }
    let wear = rules(&pack, "eggs_wardrobe", json!({"action": "wear", "costume": "colibri"}));
    assert_eq!((wear.confirm, wear.elevate), (Confirm::Plan, Elevate::Always));
    assert_eq!(wear.preview.run.as_deref(), Some("wardrobe-show"), "the plan shows the commands");
}

#[test]
fn only_wear_of_the_wardrobe_runs_as_root() {
    let pack = eggs();
    for (action, elevate, seconds) in [
        ("list", Elevate::Never, 30),
        ("get", Elevate::Never, 600),
        ("show", Elevate::Never, 30),
        ("wear", Elevate::Always, 7200),
    ] {
        let costume = matches!(action, "show" | "wear").then_some("x");
        let rules = rules(&pack, "eggs_wardrobe", json!({"action": action, "costume": costume}));
        assert_eq!((rules.elevate, rules.deadline.as_secs()), (elevate, seconds), "{action}");
    }
}

#[test]
fn eg_025_unattended_goes_with_krill_only() {
    let pack = eggs();
    assert_eq!(argv(&pack, "eggs_sysinstall", json!({})), ["sysinstall", "krill"]);
    assert_eq!(argv(&pack, "eggs_sysinstall", json!({"installer": "calamares"})), ["sysinstall", "calamares"]);
    assert_eq!(
        argv(&pack, "eggs_sysinstall", json!({"unattended": true, "fstype": "btrfs"})),
        ["sysinstall", "krill", "--unattended", "--fstype=btrfs"]
    );
    assert_eq!(
        refusals(&pack, "eggs_sysinstall", json!({"installer": "calamares", "unattended": true})),
        ["/unattended: goes with krill only, not with calamares"]
    );
    for installer in ["krill", "calamares"] {
        let rules = rules(&pack, "eggs_sysinstall", json!({"installer": installer}));
        assert_eq!((rules.elevate, rules.confirm, rules.job), (Elevate::Always, Confirm::Human, Some(OnEof::Detach)));
        assert!(rules.effects.acts.contains(&Act::Destroy));
    }
}

#[test]
fn eg_026_export_runs_as_the_person_who_asks() {
    let pack = eggs();
    assert_eq!(argv(&pack, "eggs_export", json!({"target": "iso", "clean": true})), ["export", "iso", "--clean"]);
    assert_eq!(argv(&pack, "eggs_export", json!({"target": "pkg"})), ["export", "pkg"]);
    assert_eq!(
        argv(&pack, "eggs_export", json!({"target": "log", "dir": "/d", "ip": "fe80::1", "user": "u", "clean": true})),
        ["export", "log", "--user=u", "--ip=fe80::1", "--dir=/d", "--clean"]
    );
    assert_eq!(refusals(&pack, "eggs_export", json!({})), ["/target: `target` is required"]);
    assert_eq!(
        refusals(&pack, "eggs_export", json!({"target": "iso", "user": "u"})),
        ["/user: goes with log only, not with iso"]
    );
    for ip in ["-oProxyCommand=id", "a b", "$(id)"] {
        assert!(refusals(&pack, "eggs_export", json!({"target": "log", "ip": ip}))[0].starts_with("/ip: must match"));
    }
    for target in ["iso", "pkg", "log"] {
        let (verb, _) = ask(&pack, "eggs_export", json!({"target": target})).unwrap();
        assert_eq!((verb.rules.elevate, verb.folder), (Elevate::Never, Folder::Caller));
        assert_eq!(verb.rules.deadline, Duration::from_secs(7200));
    }
}

#[test]
fn eg_027_tools_are_four_and_repo_only_when_asked_for() {
    let pack = eggs();
    for (given, wanted) in [
        (json!({"tool": "clean"}), &["tools", "clean"][..]),
        (json!({"tool": "clean", "verbose": true}), &["tools", "clean", "--verbose"]),
        (json!({"tool": "clean", "args": "--verbose"}), &["tools", "clean", "--verbose"]),
        (json!({"tool": "grub40", "iso": "/a.iso"}), &["tools", "grub40", "/a.iso"]),
        (json!({"tool": "grub40", "iso": "/a.iso", "write": true}), &["tools", "grub40", "--write", "/a.iso"]),
        (json!({"tool": "grub40", "args": "-w /a.iso"}), &["tools", "grub40", "--write", "/a.iso"]),
        (json!({"tool": "grub40", "args": ["/a.iso"], "write": true}), &["tools", "grub40", "--write", "/a.iso"]),
        (json!({"tool": "skel", "user": "artisan"}), &["tools", "skel", "--user=artisan"]),
        (json!({"tool": "skel", "args": "--user artisan"}), &["tools", "skel", "--user=artisan"]),
        (json!({"tool": "build", "args": ""}), &["tools", "build"]),
    ] {
        assert_eq!(argv(&pack, "eggs_tools", given.clone()), wanted, "{given}");
    }
    for (given, told) in [
        (json!({"tool": "repo"}), "/tool: must be one of clean, grub40, skel or build"),
        (json!({}), "/tool: `tool` is required"),
        (json!({"tool": "grub40"}), "/iso: `iso` is required"),
        (json!({"tool": "clean", "args": "x"}), "/args: `tools clean` takes no further word: `x`"),
        (json!({"tool": "clean", "args": "; id"}), "/args: `tools clean` takes no further word: `;`"),
        (json!({"tool": "skel", "user": "a;id"}), "/user: must match ^[a-z_][a-z0-9_-]{0,31}$"),
        (
            json!({"tool": "skel", "args": "-u 'a'"}),
            "/args: quotes and backslashes are not read here, and control characters neither",
        ),
        (json!({"tool": "grub40", "iso": "/a.iso", "args": "/b.iso"}), "/args: `iso` is given twice"),
        (json!({"tool": "clean", "iso": "/a.iso"}), "/iso: goes with grub40 only, not with clean"),
    ] {
        assert_eq!(refusals(&pack, "eggs_tools", given), [told]);
    }
    let extra = json!({"tool": "repo", "action": "remove"});
    assert_eq!(argv(&whole("eggs"), "eggs_tools", extra), ["tools", "repo", "remove"]);
}

#[test]
fn eg_034_clean_grub40_and_skel_run_as_root_and_build_never_does() {
    let pack = eggs();
    let elevate = |pack: &Pack, given: Value| rules(pack, "eggs_tools", given).elevate;
    assert_eq!(elevate(&pack, json!({"tool": "clean"})), Elevate::Always);
    assert_eq!(elevate(&pack, json!({"tool": "skel"})), Elevate::Always);
    assert_eq!(elevate(&pack, json!({"tool": "grub40", "iso": "/a.iso"})), Elevate::Always);
    assert_eq!(elevate(&pack, json!({"tool": "build"})), Elevate::RefuseRoot);
    let spaced = ask(&pack, "eggs_exec", json!({"command": " tools   build "})).unwrap();
    assert_eq!(spaced.0.rules.elevate, Elevate::RefuseRoot, "what is parsed decides, not the text");
    let shown = rules(&pack, "eggs_tools", json!({"tool": "grub40", "iso": "/a.iso"}));
    let written = rules(&pack, "eggs_tools", json!({"tool": "grub40", "iso": "/a.iso", "write": true}));
    assert!(shown.effects.is_read() && written.effects.changes());
    let least = pack.with_least_privilege();
    assert_eq!(elevate(&least, json!({"tool": "grub40", "iso": "/a.iso"})), Elevate::Never);
    assert_eq!(elevate(&least, json!({"tool": "grub40", "iso": "/a.iso", "write": true})), Elevate::Always);
    let seconds = |tool: &str| rules(&least, "eggs_tools", json!({"tool": tool})).deadline.as_secs();
    assert_eq!(
        (seconds("clean"), seconds("skel"), seconds("build"), shown.deadline.as_secs()),
        (1800, 1800, 3600, 120)
    );
}

#[test]
fn destroy_runs_as_root_and_asks_a_person() {
    let pack = eggs();
    assert_eq!(argv(&pack, "eggs_destroy", json!({})), ["destroy"]);
    let rules = rules(&pack, "eggs_destroy", json!({}));
    assert_eq!((rules.elevate, rules.confirm, rules.deadline.as_secs()), (Elevate::Always, Confirm::Human, 600));
    assert_eq!(rules.lane.as_deref(), Some("flight"), "not under a running flight");
    assert_eq!(rules.preview.list[0].to_string(), "{work_dir}/*.iso");
    assert!(rules.preview.mounts_below.is_some() && rules.preview.note.is_some());
}

#[test]
fn version_is_taken_from_the_line_that_eggs_prints() {
    let pack = eggs();
    assert_eq!(argv(&pack, "eggs_version", json!({})), ["version"]);
    let verb = pack.verb("version").unwrap();
    assert_eq!(verb.extract.facts, [Fact::Arch, Fact::BinaryPath, Fact::Sha256]);
    let [version, commit] = verb.extract.patterns.as_slice() else { panic!() };
    for (line, wanted) in [
        ("[coa] coa 26.8.22", Some("26.8.22")),
        ("[coa] coa development", Some("development")),
        ("[coa] eggs version v1", Some("v1")),
        ("penguins-eggs/10 linux-x64", None),
    ] {
        assert_eq!(version.group("version", line), wanted, "{line}");
    }
    assert_eq!(commit.group("commit", "commit: 8b32f457"), Some("8b32f457"));
    assert!(commit.has_group("commit"));
}

#[test]
fn the_program_is_looked_for_where_eggs_looks() {
    let program = eggs().program;
    assert_eq!(program.candidates, ["/usr/bin/eggs", "/usr/local/bin/eggs", "/usr/bin/coa", "/usr/local/bin/coa"]);
    assert_eq!(program.path_variable.as_deref(), Some("PINTLE_EGGS_PATH"));
    assert_eq!(program.root_variable.as_deref(), Some("PINTLE_EGGS_ROOT"));
    let probe = program.probe.unwrap();
    let line = probe.first_line.unwrap();
    assert_eq!((probe.args, probe.timeout), (vec!["version".to_owned()], Duration::from_secs(5)));
    assert!(line.is_match("[coa] coa development") && !line.is_match("penguins-eggs/10.0.0 linux-x64 node-v20.1.0"));
    assert_eq!(program.guard, ["/tmp/coa"]);
}

#[test]
fn resources_say_where_they_come_from() {
    let pack = whole("eggs");
    let source = |uri: &str| &pack.resources.iter().find(|resource| resource.uri == uri).unwrap().source;
    let Source::Files(files) = source("eggs://config") else { panic!() };
    assert_eq!(files[0], "/etc/penguins-eggs.conf");
    let others: Vec<_> = ["yaml", "yml", "json", "toml"].map(|end| format!("/etc/penguins-eggs.d/custom.{end}")).into();
    assert_eq!(files[1..], others);
    let list = pack.resources.iter().find(|resource| resource.uri == "eggs://exclude-list").unwrap();
    assert_eq!(list.source, Source::Files(vec!["/etc/penguins-eggs.d/custom.exclude.list".into()]));
    assert!(!list.mask, "byte for byte");
    assert_eq!(*source("eggs://version"), Source::Verb("version".into()));
    assert_eq!(*source("eggs://status"), Source::Probe(HostProbe::Distribution));
    assert_eq!(*source("eggs://status.json"), Source::Probe(HostProbe::Distribution));
    assert_eq!(pack.values["work_dir"].default, "/home/eggs");
}

#[test]
fn exit_code_zero_with_an_error_line_is_no_success() {
    let pack = whole("eggs");
    for verb in pack.verbs.values() {
        for rules in verb.all_rules() {
            let told = |line: &str| rules.success.never.iter().any(|pattern| pattern.is_match(line));
            assert!(told("[ERROR] it failed") && !told("[coa] done"), "{}", verb.name);
        }
    }
    let progress = pack.verb("remaster").unwrap().rules.progress.clone().unwrap();
    assert_eq!(progress.total.unwrap().group("total", "22 tasks to execute"), Some("22"));
    assert_eq!(progress.step.unwrap().group("message", "Task Execution: mksquashfs"), Some("mksquashfs"));
    assert_eq!(progress.percent.unwrap().group("percent", "xorriso : UPDATE :  75.00% done"), Some("75.00"));
}

#[test]
fn s_39_passwords_of_a_plan_are_masked() {
    let mask = eggs().mask;
    for text in [
        "\"password\": \"hush\"",
        "\"luks_passphrase\": \"hush\"",
        "make-user live --password hush",
        "make-user live --password=hush",
        "echo 'live:hush' | chpasswd",
        "useradd -m -p 'hush' live",
        "root:$6$hush$abcdefghijklmnop:19000",
    ] {
        assert!(!mask.text(text).contains("hush"), "{}", mask.text(text));
    }
    assert_eq!(mask.text("[coa] live, 236.0 MiB, 54 s"), "[coa] live, 236.0 MiB, 54 s");
}

#[test]
fn what_an_operator_grants_is_a_closed_list() {
    let pack = eggs();
    let elevated: Vec<_> = pack.elevated().map(|verb| verb.name.as_str()).collect();
    assert_eq!(
        elevated,
        [
            "remaster",
            "wardrobe-wear",
            "sysinstall",
            "sysinstall-krill",
            "sysinstall-calamares",
            "tools-clean",
            "tools-grub40",
            "tools-skel",
            "destroy",
        ]
    );
}
