//! Remasters: what they tell, how they are judged, and that there is one at a time.

use crate::stage::{Heard, Stage, failed, good};
use pintle_core::Door;
use pintle_testkit::eggs::{Fault, Orders, Variant};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

fn root() -> Orders {
    Orders { euid: Some(0), ..Orders::default() }
}

#[tokio::test]
async fn eg_017_a_flight_tells_each_of_its_steps_and_what_it_made() {
    let stage = Stage::new();
    let (reply, heard) = stage.person("eggs_remaster", json!({})).await;
    let answer = good(&reply);
    let made = answer["made"]["file"].as_str().unwrap();
    assert!(made.ends_with(".iso") && answer["made"]["bytes"].as_u64().unwrap() > 200_000_000, "{answer}");
    assert_eq!(stage.installed.root().images().unwrap().len(), 1);
    let progress = heard.progress.lock().unwrap();
    assert!(progress.len() >= 22, "{progress:?}");
    assert!(progress.windows(2).all(|pair| pair[0].0 <= pair[1].0), "it only grows");
    assert!(progress.iter().all(|(done, total, _)| *total == Some(22.0) && *done <= 22.0), "{progress:?}");
    assert!(progress.iter().any(|(.., message)| message.starts_with("mksquashfs")));
    let plan = &heard.plans.lock().unwrap()[0];
    assert!(plan.preview.contains("remaster") && plan.preview.contains("mounts below /home/eggs: none"), "{plan:?}");
}

#[tokio::test]
async fn s_36_s_35_success_is_proved_and_not_believed() {
    let said = Orders { ..root() }.fault("remaster", Fault { says_error: true, ..Fault::default() });
    for (orders, why, leftovers) in [
        (said, "says that it failed: [ERROR]", false),
        (Orders { variant: Variant::Husk, ..root() }, "too small", false),
        (Orders { variant: Variant::Nothing, ..root() }, "made no file `*.iso` in /home/eggs", false),
        (Orders { variant: Variant::MountsLeft, ..root() }, "left things mounted", true),
        (Orders { fail_at: Some("mksquashfs".into()), ..root() }, "exit status 1", false),
        (root().fault("remaster", Fault { exit_code: Some(7), ..Fault::default() }), "exit status 7", false),
    ] {
        let stage = Stage::ordered(&orders);
        let reply = stage.planned("eggs_remaster", json!({})).await;
        let (code, text) = failed(&reply);
        assert_eq!(code, "remote", "{text}");
        assert!(text.contains(why), "{text}");
        assert!(reply.is_error && !text.contains("rm -rf") && !reply.view.plain().contains("rm -rf"));
        let answer = reply.answer.as_ref().unwrap();
        assert_eq!(answer["leftovers"].is_array(), leftovers, "{answer}");
        if leftovers {
            assert!(text.contains("unmount each") && text.contains("/home/eggs/"), "{text}");
        }
        let details = reply.failure.as_ref().unwrap().details.as_ref().unwrap();
        assert!(details["last_lines"].is_array() && details.get("exit_code").is_some(), "{details}");
    }
}

#[tokio::test]
async fn s_36_what_the_real_one_only_logs_is_a_failure_here() {
    let logs = root().fault("tools skel", Fault { says_error: true, ..Fault::default() });
    for (orders, tool, arguments) in [
        (logs, "eggs_tools", json!({"tool": "skel"})),
        (Orders { transfer_fails: true, ..root() }, "eggs_export", json!({"target": "iso"})),
    ] {
        let stage = Stage::ordered(&orders);
        stage.installed.root().write("/home/eggs/egg-of-debian-bookworm-host-amd64-1.iso", "x").unwrap();
        let reply = stage.call(tool, arguments).await;
        let (code, text) = failed(&reply);
        assert_eq!(code, "remote", "{tool}: {text}");
        assert!(text.contains("[ERROR]"), "{text}");
        assert_eq!(reply.answer.as_ref().unwrap()["exit_code"], 0, "although it ended with 0");
    }
}

#[tokio::test]
async fn s_35_mounts_that_were_there_before_are_nobodys_fault() {
    let stage = Stage::new();
    stage.installed.root().mount("/home/eggs/kept").unwrap();
    let reply = stage.planned("eggs_remaster", json!({})).await;
    assert!(good(&reply).get("leftovers").is_none());
}

#[tokio::test]
async fn eg_023_a_flight_that_is_to_end_early_need_not_leave_an_image() {
    let stage = Stage::new();
    let reply = stage.planned("eggs_remaster", json!({"stop_after": "mksquashfs"})).await;
    assert!(good(&reply).get("made").is_none());
}

async fn until(what: impl Fn() -> bool) {
    for _ in 0..2000 {
        if what() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("it did not come to that");
}

#[tokio::test]
async fn s_50_s_29_a_second_flight_is_busy_reads_go_on_and_a_cancel_ends_the_first() {
    let stage = Stage::ordered(&Orders { hang_at: Some("mksquashfs".into()), ..root() });
    let heard = Arc::new(Heard::default());
    let mut request = Stage::request("eggs_remaster", json!({}), Door::People);
    request.events = Arc::clone(&heard) as _;
    let cancel = request.cancel.clone();
    let catalog = stage.catalog.clone();
    let flight = tokio::spawn(async move { catalog.call(request).await });
    until(|| heard.progress.lock().unwrap().iter().any(|(.., message)| message == "mksquashfs")).await;
    for (tool, arguments) in [("eggs_remaster", json!({})), ("eggs_destroy", json!({}))] {
        let (busy, _) = stage.person(tool, arguments).await;
        assert_eq!(failed(&busy).0, "busy", "{tool}");
    }
    good(&stage.call("eggs_version", json!({})).await);
    cancel.cancel();
    let reply = flight.await.unwrap();
    let (code, text) = failed(&reply);
    assert_eq!(code, "cancelled", "{text}");
    let pid = stage.last_call().pid;
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "nothing of it goes on");
    assert_eq!(stage.runs(), 1);
    stage.installed.order(&root()).unwrap();
    let (next, _) = stage.person("eggs_remaster", json!({})).await;
    good(&next);
}

#[tokio::test]
async fn s_29_what_does_not_heed_and_what_it_left_behind_is_ended_too() {
    let fault = Fault { hang: true, ignore_term: true, grandchild_secs: Some(600), ..Fault::default() };
    let stage = Stage::ordered(&root().fault("wardrobe list", fault));
    let mut request = Stage::request("eggs_exec", json!({"command": "wardrobe list"}), Door::Agents);
    request.deadline = Some(Duration::from_millis(300));
    let reply = stage.catalog.call(request).await;
    let (code, _) = failed(&reply);
    assert_eq!(code, "timed_out");
    let group = stage.last_call().group;
    until(|| {
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let stat = |entry: std::fs::DirEntry| std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let of_group = |text: String| {
            text.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(2).map(|g| g == group.to_string()))
        };
        !all.map(stat).filter_map(of_group).any(|same| same)
    })
    .await;
}

#[tokio::test]
async fn eg_019_a_flight_in_another_work_folder_is_looked_for_where_the_configuration_says() {
    let stage = Stage::new();
    stage.installed.root().write("/etc/penguins-eggs.d/custom.yaml", "remaster:\n  work_dir: /srv/nest\n").unwrap();
    let plan = stage.plan("eggs_remaster", json!({})).await;
    assert!(plan.preview.contains("/srv/nest/*.iso: none"), "{}", plan.preview);
    stage.installed.root().write("/etc/penguins-eggs.d/custom.yaml", "remaster:\n  work_dir: ../x; id\n").unwrap();
    let reply = stage.call("eggs_remaster", json!({})).await;
    let (code, text) = failed(&reply);
    assert_eq!(code, "invalid", "{text}");
    assert!(text.contains("custom.yaml"), "{text}");
    let _: Value = good(&stage.call("eggs_version", json!({})).await).clone();
}
