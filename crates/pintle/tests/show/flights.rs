//! Flights of root's: how they end, that there is only one, and that they outlive their server.

use crate::{
    client::{Client, bad, good},
    world::{PROGRAM, World, alive, images, said, wait_for},
};
use pintle_testkit::{
    eggs::Orders,
    machine::{ALICE, MALLORY},
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

/// Starts a flight as a job; gives the job and the process of eggs, which is root's.
fn started(world: &World, client: &mut Client) -> (String, u32) {
    let mut arguments = client.planned("eggs_remaster", &json!({"wait": false}));
    arguments["wait"] = json!(false);
    let result = client.call("eggs_remaster", arguments);
    assert_eq!(result["structuredContent"]["outcome"], "started", "{result}");
    let job = result["structuredContent"]["job"].as_str().unwrap().to_owned();
    (job, world.flying())
}

#[track_caller]
fn gone(pid: u32) {
    wait_for("eggs is gone", || (!alive(pid)).then_some(()));
}

#[test]
fn s_28_s_29_a_job_that_is_cancelled_takes_roots_program_with_it_and_the_next_flight_may_begin() {
    let Some(world) = World::enabled() else { return };
    world.order_to_hang();
    let mut client = world.client();
    let (job, pid) = started(&world, &mut client);
    let unable = world.machine.as_user(ALICE, "/bin/kill").arg(pid.to_string()).output();
    assert!(!unable.unwrap().status.success() && alive(pid), "the user may not end it");
    let cancelled = world.user(&["jobs", "cancel", &job, "--yes"]);
    assert!(cancelled.status.success(), "{}", said(&cancelled));
    gone(pid);
    wait_for("the job has ended", || (world.job(&job)["state"] == "cancelled").then_some(()));

    // The agent's own way of cancelling.
    let arguments = client.planned("eggs_remaster", &json!({}));
    let call = client.begin_call("eggs_remaster", &arguments);
    let pid = world.flying();
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}}));
    gone(pid);
    world.order(Orders::default());
    let next = wait_for("the lane is free", || {
        let plan = client.call("eggs_remaster", json!({}));
        plan["structuredContent"]["plan"]["token"].as_str().map(str::to_owned)
    });
    assert!(good(&client.call("eggs_remaster", json!({"plan_token": next})))["made"].is_object());
}

#[test]
fn s_29_s_50_a_second_flight_is_busy_with_the_job_of_the_first_whichever_server_is_asked() {
    let Some(world) = World::enabled() else { return };
    world.order_to_hang();
    let mut client = world.client();
    let (job, pid) = started(&world, &mut client);
    let mut other = world.client();
    for client in [&mut client, &mut other] {
        for (tool, arguments) in [
            ("eggs_remaster", json!({"clone": true})),
            ("eggs_wardrobe", json!({"action": "wear", "costume": "colibri"})),
            ("eggs_exec", json!({"command": "remaster"})),
            ("eggs_destroy", json!({})),
        ] {
            let busy = client.call(tool, arguments);
            assert_eq!(bad(&busy, "busy")["details"]["job"], job, "{tool}: {busy}");
        }
        assert_eq!(client.request("ping", json!({}))["result"], json!({}));
    }
    assert!(alive(pid) && !world.calls().iter().any(|call| call.euid == 0), "nothing else ran as root");
    assert!(world.user(&["jobs", "cancel", &job, "--yes"]).status.success());
    gone(pid);
}

#[test]
fn s_28_the_flight_of_a_server_that_is_killed_goes_on_and_a_new_server_waits_for_it() {
    let Some(world) = World::enabled() else { return };
    world.order(Orders { step_ms: 60, ..Orders::default() });
    let mut client = world.client();
    let (job, pid) = started(&world, &mut client);
    client.kill();
    assert!(alive(pid) && images() == 0, "it flies on");
    let mut next = world.client();
    // Another flight is refused with the job to wait for, which is there to be read.
    let busy = next.call("eggs_remaster", json!({"clone": true}));
    assert_eq!(bad(&busy, "busy")["details"]["job"], job, "{busy}");
    let done = wait_for("the job ends", || {
        let job: serde_json::Value = serde_json::from_str(&next.read(&format!("job://{job}")).unwrap()).unwrap();
        (job["state"] != "working").then_some(job)
    });
    assert_eq!((&done["state"], &done["result"]["outcome"]), (&json!("completed"), &json!("ok")), "{done}");
    assert_eq!(images(), 1);
    let waited = world.user(&["jobs", "wait", &job]);
    assert_eq!(waited.status.code(), Some(0), "it ends as the job did: {}", said(&waited));
    assert!(world.calls().is_empty(), "there was one flight");
}

#[test]
fn s_28_the_job_itself_killed_ends_roots_program_and_is_lost() {
    let Some(world) = World::enabled() else { return };
    world.order_to_hang();
    let mut client = world.client();
    let (job, pid) = started(&world, &mut client);
    let runs = world.job(&job)["pid"].as_i64().unwrap();
    kill_process(Pid::from_raw(runs.try_into().unwrap()).unwrap(), Signal::KILL).unwrap();
    gone(pid);
    wait_for("the job is lost", || (world.job(&job)["state"] == "lost").then_some(()));
}

#[test]
fn s_50_the_flight_of_another_user_is_told_busy_and_does_not_begin() {
    let Some(world) = World::enabled() else { return };
    // Who has no client is told so; the rule is there.
    let enabled = world.root(&["eggs", "mcp", "enable", "--user", MALLORY.0]);
    assert_eq!(enabled.status.code(), Some(3), "{}", said(&enabled));
    world.order_to_hang();
    let mut client = world.client();
    let (job, pid) = started(&world, &mut client);
    let mut other = Client::of(world.machine.as_user(MALLORY, PROGRAM).args(["eggs", "mcp", "start"]));
    other.initialize("2025-06-18");
    let busy = other.confirmed("eggs_remaster", json!({"clone": true}));
    bad(&busy, "busy");
    assert!(alive(pid) && world.calls().iter().all(|call| call.euid != 0), "nothing else ran as root");
    assert!(world.user(&["jobs", "cancel", &job, "--yes"]).status.success());
    gone(pid);
    world.order(Orders::default());
    let next = wait_for("the lane is free", || {
        let result = other.confirmed("eggs_remaster", json!({"clone": true}));
        (result["structuredContent"]["failure"]["code"] != "busy").then_some(result)
    });
    assert!(good(&next)["made"].is_object());
}
