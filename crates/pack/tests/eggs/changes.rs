//! What changes the machine: what is shown first, and who must say yes.

use crate::stage::{Stage, failed, good};
use pintle_core::Outcome;
use pintle_dispatch::{Approvals, Decision, Policy, Settings, StateFolder};
use pintle_testkit::eggs::Orders;
use serde_json::json;

#[tokio::test]
async fn eg_028_s_32_destroying_shows_images_mounts_and_sizes_and_needs_a_person() {
    let stage = Stage::new();
    let root = stage.installed.root();
    root.write("/home/eggs/egg-of-debian-bookworm-host-amd64-1.iso", vec![0; 3 << 20]).unwrap();
    root.write("/home/eggs/notes.txt", "kept by nobody").unwrap();
    root.mount("/home/eggs/mnt").unwrap();
    let reply = stage.call("eggs_destroy", json!({})).await;
    assert_eq!(reply.outcome, Outcome::Planned);
    let plan = reply.plan.unwrap();
    for shown in ["3.0 MiB", "egg-of-debian-bookworm-host-amd64-1.iso", "/home/eggs/mnt", "destroy", "move elsewhere"] {
        assert!(plan.preview.contains(shown), "{shown}: {}", plan.preview);
    }
    assert!(!plan.preview.contains("notes.txt"));
    assert_eq!(plan.effects, ["destroy"]);
    assert!(plan.token.is_none());
    let id = plan.approval.unwrap();
    assert_eq!(stage.runs(), 0);
    let approvals = Approvals::new(StateFolder::at(stage.state.path()));
    approvals.decide(&id, Decision::Approved).unwrap();
    // What was approved is what was shown: another image makes it another question.
    root.write("/home/eggs/second.iso", "x").unwrap();
    let again = stage.call("eggs_destroy", json!({})).await;
    assert_eq!(again.outcome, Outcome::Planned);
    assert_eq!(stage.runs(), 0);
    approvals.decide(&again.plan.unwrap().approval.unwrap(), Decision::Approved).unwrap();
    good(&stage.call("eggs_destroy", json!({})).await);
    assert_eq!(stage.last(), ["destroy"]);
    assert!(root.images().unwrap().is_empty());
}

#[tokio::test]
async fn s_32_a_plan_holds_for_what_it_showed_and_once() {
    let stage = Stage::new();
    let plan = stage.plan("eggs_remaster", json!({"clone": true})).await;
    let token = plan.token.unwrap();
    let other = stage.call("eggs_remaster", json!({"plan_token": token})).await;
    assert_eq!(failed(&other).0, "bad_token", "another vector");
    stage.installed.root().write("/home/eggs/new.iso", "x").unwrap();
    let moved = stage.call("eggs_remaster", json!({"clone": true, "plan_token": token})).await;
    assert_eq!(failed(&moved).0, "moved");
    let plan = stage.plan("eggs_remaster", json!({"clone": true})).await;
    let token = plan.token.unwrap();
    good(&stage.call("eggs_remaster", json!({"clone": true, "plan_token": token})).await);
    let twice = stage.call("eggs_remaster", json!({"clone": true, "plan_token": token})).await;
    assert_ne!(failed(&twice).0, "ok");
    assert_eq!(stage.runs(), 1);
}

#[tokio::test]
async fn s_32_what_the_operators_file_forbids_nobody_can_allow() {
    let stage = Stage::new();
    let rules = "[[rule]]\ntool = \"eggs_exec\"\neffect = \"destroy\"\nallow = false\n\n\
                 [[rule]]\npath = \"/home/eggs\"\neffect = \"destroy\"\nallow = false\n\n\
                 [[rule]]\ntool = \"eggs_remaster\"\nconfirm = \"human\"\n";
    let policy = Policy::parse(rules, "policy.toml".as_ref()).unwrap();
    let settings = Settings { policy, state: Some(StateFolder::at(stage.state.path())), ..Settings::default() };
    let stage = Stage { catalog: stage.renewed(settings), ..stage };
    for (tool, arguments) in [("eggs_destroy", json!({})), ("eggs_exec", json!({"command": "sysinstall"}))] {
        let (reply, _) = stage.person(tool, arguments).await;
        assert_eq!(failed(&reply).0, "denied", "{tool}");
    }
    let plan = stage.plan("eggs_remaster", json!({})).await;
    assert!(plan.token.is_none() && plan.approval.is_some());
    assert_eq!(stage.runs(), 0);
}

#[tokio::test]
async fn s_04_s_45_wearing_shows_the_commands_of_the_costume_first() {
    let stage = Stage::new();
    stage.installed.root().costume("mage", "\u{1b}[31ma red one", &["systemctl enable magic", "reboot"]).unwrap();
    let plan = stage.plan("eggs_wardrobe", json!({"action": "wear", "costume": "mage", "no_acc": true})).await;
    for shown in ["wardrobe wear --no-acc mage", "systemctl enable magic", "reboot", "index.yaml", "as root"] {
        assert!(plan.preview.contains(shown), "{shown}: {}", plan.preview);
    }
    assert!(!plan.preview.contains('\u{1b}'));
    assert_eq!(plan.effects, ["write", "execute"]);
    good(&stage.planned("eggs_wardrobe", json!({"action": "wear", "costume": "mage"})).await);
    assert_eq!(stage.last(), ["wardrobe", "wear", "mage"]);
    let none = stage.call("eggs_wardrobe", json!({"action": "wear", "costume": "nobodys"})).await;
    assert_eq!(failed(&none).0, "remote", "what cannot be shown is not planned");
    // Another costume under that name is another plan.
    let token = stage.plan("eggs_wardrobe", json!({"action": "wear", "costume": "mage"})).await.token.unwrap();
    stage.installed.root().costume("mage", "a red one", &["curl evil"]).unwrap();
    let moved = stage.call("eggs_wardrobe", json!({"action": "wear", "costume": "mage", "plan_token": token})).await;
    assert_eq!(failed(&moved).0, "moved");
}

#[tokio::test]
async fn eg_025_eg_033_installing_needs_a_person_however_it_is_asked_for() {
    let stage = Stage::ordered(&Orders { euid: Some(0), ..Orders::default() });
    for (tool, arguments) in [
        ("eggs_sysinstall", json!({})),
        ("eggs_sysinstall", json!({"installer": "calamares"})),
        ("eggs_sysinstall", json!({"unattended": true, "fstype": "btrfs"})),
        ("eggs_exec", json!({"command": "sysinstall"})),
    ] {
        let plan = stage.plan(tool, arguments.clone()).await;
        assert!(plan.approval.is_some() && plan.token.is_none(), "{tool} {arguments}");
        assert!(plan.preview.contains("erases"), "{}", plan.preview);
    }
    assert_eq!(stage.runs(), 0);
    let (reply, _) = stage.person("eggs_sysinstall", json!({"unattended": true, "fstype": "btrfs"})).await;
    assert_eq!(failed(&reply).0, "remote", "this is no live system");
    assert_eq!(stage.last(), ["sysinstall", "krill", "--unattended", "--fstype=btrfs"]);
}

#[tokio::test]
async fn s_42_an_export_runs_as_the_caller_asks_nobody_and_says_where_it_goes() {
    let stage = Stage::new();
    stage.installed.root().write("/home/eggs/egg-of-debian-bookworm-host-amd64-1.iso", "x").unwrap();
    let plan = stage.plan("eggs_exec", json!({"command": "export iso"})).await;
    assert!(plan.preview.contains("as this user") && plan.preview.contains("Proxmox host"), "{}", plan.preview);
    let plan = stage.plan("eggs_exec", json!({"command": "export log --ip 10.0.0.7 -u bob"})).await;
    assert!(plan.preview.contains("--user=bob --ip=10.0.0.7"), "{}", plan.preview);
    good(&stage.call("eggs_export", json!({"target": "iso"})).await);
    let call = stage.last_call();
    assert_eq!(call.ruid, rustix::process::getuid().as_raw());
    assert!(call.environment.contains(&"SSH_ASKPASS_REQUIRE".to_owned()) && call.sudo_user.is_none());
}
