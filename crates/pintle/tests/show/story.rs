//! The whole of it, from the entry to the last byte taken back.

use crate::{
    client::{Client, good, text},
    system::Snapshot,
    world::{HELPER, RULE, World, images, said},
};
use pintle_testkit::{
    eggs::{CALLS_FILE, Call, ORDERS_FILE, Orders},
    machine::ALICE,
};
use serde_json::{Value, json};
use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

/// A remaster by plan and token, whose progress is seen while its job runs.
fn remaster(world: &World, client: &mut Client) {
    world.order(Orders { step_ms: 20, ..Orders::default() });
    let plan = client.call("eggs_remaster", json!({"compression": "zstd"}));
    assert_eq!(plan["structuredContent"]["outcome"], "planned", "{plan}");
    assert!(world.calls().is_empty() && images() == 0, "a plan changes nothing");
    let token = plan["structuredContent"]["plan"]["token"].clone();
    let call = client.begin_call("eggs_remaster", &json!({"compression": "zstd", "plan_token": token}));
    let flown = client.result(call);
    assert!(good(&flown)["made"]["bytes"].as_u64().unwrap() > 1_000_000, "{flown}");
    assert_eq!(world.roots_call(), ["remaster", "--compression=zstd"]);
    assert_eq!(images(), 1);
    let told: Vec<&str> = client
        .notifications("notifications/progress")
        .into_iter()
        .filter(|told| told["params"]["progressToken"] == call)
        .filter_map(|told| told["params"]["message"].as_str())
        .collect();
    assert!(told.len() > 3 && told.iter().any(|step| step.contains("mksquashfs")), "{told:?}");
    let listed = world.user(&["jobs", "list", "--output", "json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert!(listed.to_string().contains("eggs_remaster") && listed.to_string().contains("completed"), "{listed}");
}

/// A costume, of which the plan shows the commands: read as the user, worn as root.
fn wear(world: &World, client: &mut Client) {
    let worn = client.confirmed("eggs_wardrobe", json!({"action": "wear", "costume": "colibri"}));
    assert_eq!(good(&worn)["exit_code"], 0, "{worn}");
    let calls = world.calls();
    let (wearing, reading): (Vec<&Call>, Vec<&Call>) = calls.iter().partition(|call| call.arguments()[1] == "wear");
    assert!(!reading.is_empty() && reading.iter().all(|call| call.euid == ALICE.1), "{reading:?}");
    assert_eq!(wearing.len(), 1, "{wearing:?}");
    world.is_roots(wearing[0]);
    assert_eq!(wearing[0].arguments(), ["wardrobe", "wear", "colibri"]);
}

/// An export, which runs with the user's own keys.
fn export(world: &World, client: &mut Client) {
    let sent = client.call("eggs_export", json!({"target": "iso"}));
    assert_eq!(good(&sent)["exit_code"], 0, "{sent}");
    let calls = world.calls();
    assert_eq!((calls.len(), calls[0].euid, calls[0].arguments()), (1, ALICE.1, vec!["export", "iso"]), "{calls:?}");
    let sent = fs::read_dir(world.home().join("exported")).unwrap().next().unwrap().unwrap();
    assert_eq!(sent.metadata().unwrap().uid(), ALICE.1);
}

/// The clean-up, which a person is asked about.
fn destroy(world: &World, client: &mut Client) {
    let asked = client.call("eggs_destroy", json!({}));
    let plan = &asked["structuredContent"]["plan"];
    assert!(plan["preview"].as_str().unwrap().contains(".iso") && plan.get("token").is_none(), "{asked}");
    let id = plan["approval"].as_str().unwrap().to_owned();
    assert!(text(&asked).contains(&format!("pintle approve {id}")), "{asked}");
    for arguments in [json!({}), json!({"plan_token": id}), json!({"approval": id}), json!({"yes": true})] {
        let again = client.call("eggs_destroy", arguments.clone());
        assert_ne!(again["structuredContent"]["outcome"], "ok", "{arguments}: {again}");
    }
    let through_exec = client.call("eggs_exec", json!({"command": "destroy"}));
    assert_eq!(through_exec["structuredContent"]["outcome"], "planned", "{through_exec}");
    assert!(world.calls().is_empty() && images() == 1, "nothing before a person said yes");
    let approved = world.user(&["approve", &id]);
    assert!(approved.status.success(), "{}", said(&approved));
    let destroyed = client.call("eggs_destroy", json!({}));
    assert_eq!(good(&destroyed)["exit_code"], 0, "{destroyed}");
    assert_eq!(world.roots_call(), ["destroy"]);
    assert_eq!(images(), 0);
    let again = client.call("eggs_destroy", json!({}));
    assert_eq!(again["structuredContent"]["outcome"], "planned", "a yes is for once: {again}");
}

#[test]
fn eg_016_eg_017_eg_026_eg_031_eg_032_eg_035_eg_046_eg_048_eg_056_eg_057_s_22_s_32_an_agent_works_and_no_trace_stays() {
    let Some(world) = World::enabled() else { return };
    let mut client = world.client();
    remaster(&world, &mut client);
    wear(&world, &mut client);
    export(&world, &mut client);
    destroy(&world, &mut client);
    assert!(client.end().success());

    // What eggs itself did, and what the programs of the user and of root remember of it.
    let home = world.home();
    let of_eggs = [Path::new("/usr/bin").join(CALLS_FILE), Path::new("/usr/bin").join(ORDERS_FILE), "/tmp/coa".into()];
    let but = [&of_eggs[..], &[home.join("exported"), home.join(".local"), "/run/root/.local".into()]].concat();
    let differing = || Snapshot::take().differences(&world.before, &but);
    let enabled = differing();
    for written in [Path::new(RULE), Path::new(HELPER), &home.join(".config/zed/settings.json")] {
        assert!(enabled.iter().any(|path| path == written), "{}: {enabled:?}", written.display());
    }
    let disabled = world.root(&["eggs", "mcp", "disable"]);
    assert_eq!(disabled.status.code(), Some(0), "{}", said(&disabled));
    assert_eq!(differing(), Vec::<PathBuf>::new());
    for (folder, only) in [(".local", "state"), (".local/state", "pintle")] {
        let there: Vec<_> = fs::read_dir(home.join(folder)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(there, [only], "state of the user's program, and nothing else");
    }

    assert!(!fs::exists(RULE).unwrap() && !fs::exists(HELPER).unwrap());
    for words in [&["-l"][..], &["--", HELPER, "run", "eggs.remaster"], &["--", HELPER, "run", "eggs.destroy"]] {
        assert_eq!(world.sudo(words).status.code(), Some(1), "{words:?}");
    }
}
