//! Flights that outlive their call, their client and their server.

use crate::{
    client::{Client, HANGS, bad, good},
    engine::alive,
    world::World,
};
use pintle_testkit::eggs::Orders;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::{
    thread,
    time::{Duration, Instant},
};

/// A world whose flights hang at the step where most of the time goes.
fn hanging() -> World {
    World::ordered(Orders { hang_at: Some("mksquashfs".into()), ..Orders::default() })
}

fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < HANGS, "{what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Starts a flight as a job and gives its id, once eggs runs.
fn started(world: &World, client: &mut Client) -> (String, u32) {
    let mut arguments = client.planned("eggs_remaster", &json!({"wait": false}));
    arguments["wait"] = json!(false);
    let result = client.call("eggs_remaster", arguments);
    assert_eq!(result["structuredContent"]["outcome"], "started", "{result}");
    let job = result["structuredContent"]["job"].as_str().unwrap().to_owned();
    let pid = wait_for("eggs runs", || world.calls().first().map(|call| call.pid));
    (job, pid)
}

fn job(client: &mut Client, id: &str) -> Value {
    serde_json::from_str(&client.read(&format!("job://{id}")).unwrap()).unwrap()
}

/// Ends a flight that hangs.
fn end(pid: u32) {
    // it may have ended by itself
    let _ = kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::KILL);
}

#[test]
fn eg_017_a_flight_that_nobody_waits_for_is_a_job_to_be_read() {
    let world = World::ordered(Orders { step_ms: 20, ..Orders::default() });
    let mut client = world.client();
    let (id, _) = started(&world, &mut client);
    let done = wait_for("the job ends", || {
        let job = job(&mut client, &id);
        (job["state"] != "working").then_some(job)
    });
    assert_eq!(done["state"], "completed", "{done}");
    assert_eq!((&done["tool"], &done["result"]["outcome"]), (&json!("eggs_remaster"), &json!("ok")));
    assert_eq!(done["result"]["answer"]["made"]["bytes"], 236 * 1024 * 1024, "{done}");
    assert!(done["log"].as_str().unwrap().contains("Task Execution: cleanup"), "{done}");
    assert_eq!(world.only_call(), ["remaster"]);
}

#[test]
fn s_50_s_29_a_second_flight_is_told_of_the_first_and_not_started() {
    let world = hanging();
    let mut client = world.client();
    let (id, pid) = started(&world, &mut client);
    let mut other = world.client();
    for client in [&mut client, &mut other] {
        let busy = client.call("eggs_remaster", json!({"clone": true}));
        assert_eq!(bad(&busy, "busy")["details"]["job"], id, "{busy}");
        let destroy = client.call("eggs_destroy", json!({}));
        assert_eq!(bad(&destroy, "busy")["details"]["job"], id, "{destroy}");
        // What only looks goes on meanwhile.
        assert_eq!(good(&client.call("eggs_remaster", json!({"debug": true})))["exit_code"], 0);
    }
    let flights = world.calls().into_iter().filter(|call| call.arguments() == ["remaster"]).count();
    assert_eq!((flights, world.calls().len()), (1, 3), "of another server, too");
    end(pid);
    wait_for("the first flight ends", || (job(&mut client, &id)["state"] == "failed").then_some(()));
    world.order(Orders::default());
    let free = client.confirmed("eggs_remaster", json!({"clone": true}));
    assert_eq!(free["structuredContent"]["outcome"], "ok", "its turn came: {free}");
}

#[test]
fn s_28_a_flight_goes_on_when_its_server_is_killed_and_another_server_tells_of_it() {
    let world = World::ordered(Orders { step_ms: 150, ..Orders::default() });
    let mut client = world.client();
    let (id, pid) = started(&world, &mut client);
    client.kill();
    assert!(alive(pid), "the flight goes on");
    let mut next = world.client();
    let seen = job(&mut next, &id);
    assert_eq!(seen["tool"], "eggs_remaster", "{seen}");
    let done = wait_for("the job ends", || {
        let job = job(&mut next, &id);
        (job["state"] != "working").then_some(job)
    });
    assert_eq!(done["state"], "completed", "{done}");
    assert_eq!(world.root().images().unwrap().len(), 1);
    let listed = world.command(["jobs", "list", "--output", "json"]).output().unwrap();
    assert!(String::from_utf8_lossy(&listed.stdout).contains(&id), "{listed:?}");
}

#[test]
fn s_28_a_flight_that_is_waited_for_goes_on_when_the_client_leaves() {
    let world = World::ordered(Orders { step_ms: 150, ..Orders::default() });
    let mut client = world.client();
    let arguments = client.planned("eggs_remaster", &json!({}));
    client.begin_call("eggs_remaster", &arguments);
    wait_for("eggs runs", || world.calls().first().map(|call| call.pid));
    assert!(client.end().success());
    wait_for("the image is made", || world.root().images().unwrap().pop());
}

#[test]
fn s_28_a_person_ends_a_flight_that_an_agent_started() {
    let world = hanging();
    let mut client = world.client();
    let (id, pid) = started(&world, &mut client);
    let ended = world.command(["jobs", "cancel", &id, "--yes"]).output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    wait_for("eggs is ended", || (!alive(pid)).then_some(()));
    let job = wait_for("the job has ended", || {
        let job = job(&mut client, &id);
        (job["state"] == "cancelled").then_some(job)
    });
    assert!(job["log"].as_str().unwrap().contains("Task Execution: mksquashfs"), "{job}");
}

#[test]
fn s_28_a_flight_whose_job_was_killed_is_lost_and_not_done() {
    let world = hanging();
    let mut client = world.client();
    let (id, pid) = started(&world, &mut client);
    let runs = job(&mut client, &id)["pid"].as_u64().unwrap();
    end(u32::try_from(runs).unwrap());
    let job = wait_for("the job has ended", || {
        let job = job(&mut client, &id);
        (job["state"] != "working").then_some(job)
    });
    assert_eq!(job["state"], "lost", "{job}");
    // Without its job the program may go on or not; it is this test's to end.
    end(pid);
}

#[test]
fn s_28_s_29_a_cancelled_flight_is_ended_and_what_it_left_is_told() {
    let world = hanging();
    let mut client = world.client();
    let arguments = client.planned("eggs_remaster", &json!({}));
    let call = client.begin_call("eggs_remaster", &arguments);
    let pid = wait_for("eggs runs", || world.calls().first().map(|call| call.pid));
    wait_for("it is at its step", || (world.root().mounts().unwrap().len() > 1).then_some(()));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}}));
    wait_for("eggs is ended", || (!alive(pid)).then_some(()));
    let listed = client.request("resources/list", json!({}));
    let uri = wait_for("the job is listed", || {
        let jobs = listed["result"]["resources"].as_array().unwrap().iter().map(|job| job["uri"].as_str().unwrap());
        jobs.into_iter().find(|uri| uri.starts_with("job://")).map(str::to_owned)
    });
    let job = wait_for("the job has ended", || {
        let job: Value = serde_json::from_str(&client.read(&uri).unwrap()).unwrap();
        (job["state"] == "cancelled").then_some(job)
    });
    assert!(job.to_string().contains("liveroot"), "what stayed mounted is told: {job}");
    assert_eq!(client.request("ping", json!({}))["result"], json!({}));
}
