//! How jobs end before their time.

use crate::bench::{Bench, HANGS, agent};
use pintle_core::{Code, Confirm, Outcome};
use pintle_dispatch::JobState;
use serde_json::{Value, json};
use std::{fs, os::unix::fs::symlink};

const LONG: u64 = 600_000;

#[tokio::test]
async fn eg_017_a_cancelled_call_ends_its_job() {
    let bench = Bench::new();
    let request = bench.request("trial.flight", "log", json!({"steps": 1_000_000, "step_ms": 1}));
    let cancel = request.cancel.clone();
    let catalog = bench.catalog.clone();
    let call = tokio::spawn(async move { catalog.call(request).await });
    bench.until_lines("log", 2).await;
    cancel.cancel();
    let reply = tokio::time::timeout(HANGS, call).await.unwrap().unwrap();
    let failure = reply.failure.unwrap();
    assert_eq!(failure.code, Code::Cancelled);
    assert!(failure.message.contains("turned back at step"), "its own words: {}", failure.message);
    assert_eq!(bench.lines("log").last().unwrap(), "cancelled");
    assert_eq!(bench.jobs().list(&agent()).unwrap()[0].state, JobState::Cancelled);
}

#[tokio::test]
async fn s_28_a_client_that_is_gone_leaves_its_job_or_takes_it_along_as_the_tool_says() {
    for (tool, goes_on) in [("trial.flight", true), ("trial.errand", false)] {
        let bench = Bench::new();
        let request = bench.request(tool, "log", json!({"steps": 40, "step_ms": 20}));
        let (cancel, gone) = (request.cancel.clone(), request.gone.clone());
        let catalog = bench.catalog.clone();
        let call = tokio::spawn(async move { catalog.call(request).await });
        bench.until_lines("log", 1).await;
        // As a door does at the end of its input.
        gone.cancel();
        cancel.cancel();
        let reply = tokio::time::timeout(HANGS, call).await.unwrap().unwrap();
        assert_eq!(reply.outcome, Outcome::Started);
        let id = reply.job.unwrap();
        let status = tokio::time::timeout(HANGS, bench.jobs().wait(&id, &agent(), None)).await.unwrap().unwrap();
        assert_eq!(status.state, if goes_on { JobState::Completed } else { JobState::Cancelled }, "{tool}");
        assert_eq!(bench.lines("log").last().unwrap() == "cancelled", !goes_on, "{tool}");
    }
}

#[tokio::test]
async fn s_28_a_door_that_drops_its_call_takes_along_what_must_not_stay() {
    let bench = Bench::new();
    let request = bench.request("trial.errand", "log", json!({"step_ms": LONG}));
    let catalog = bench.catalog.clone();
    let call = tokio::spawn(async move { catalog.call(request).await });
    let id = loop {
        match bench.jobs().list(&agent()).unwrap().pop() {
            Some(status) if status.pid.is_some() => break status.id,
            _ => tokio::time::sleep(std::time::Duration::from_millis(5)).await,
        }
    };
    call.abort();
    bench.until(&id, JobState::Cancelled).await;
}

fn pretend(bench: &Bench, id: &str, change: impl FnOnce(&mut Value)) {
    let path = bench.folder(id).join("process.json");
    let mut process: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut process);
    fs::write(&path, process.to_string()).unwrap();
}

#[tokio::test]
async fn s_28_after_a_reboot_or_a_kill_a_job_is_told_as_lost_with_its_log() {
    let bench = Bench::new();
    let id = bench.call("trial.flight", "log", json!({"steps": 1000, "step_ms": 30, "wait": false})).await.job.unwrap();
    bench.until_lines("log", 2).await;
    let whole = fs::read(bench.folder(&id).join("process.json")).unwrap();
    // Another process that has its number by now.
    pretend(&bench, &id, |process| process["start_time"] = json!(1));
    let status = bench.jobs().status(&id, &agent()).unwrap();
    assert_eq!((status.state, status.pid), (JobState::Lost, None));
    assert!(status.message.unwrap().contains("gone without an answer"));
    pretend(&bench, &id, |process| process["boot_id"] = json!("another boot"));
    let status = bench.jobs().status(&id, &agent()).unwrap();
    assert_eq!(status.state, JobState::Lost);
    assert!(status.message.unwrap().contains("the machine went down"));
    let reply = bench.jobs().result(&id, &agent()).unwrap().unwrap();
    assert_eq!((reply.outcome, reply.failure.as_ref().unwrap().code), (Outcome::Failed, Code::Unavailable));
    assert!(reply.failure.unwrap().hints[0].contains("jobs log"));
    assert!(bench.jobs().log(&id, &agent(), 0, usize::MAX).unwrap().text.contains("step 1"), "its log is there");
    fs::write(bench.folder(&id).join("process.json"), whole).unwrap();
    assert_eq!(bench.jobs().status(&id, &agent()).unwrap().state, JobState::Working);
    bench.jobs().cancel(&id, &agent()).await.unwrap();
}

#[tokio::test]
async fn a_process_that_never_began_is_told_as_lost_after_a_while() {
    let bench = Bench::with(Confirm::Nothing, Box::new(|folder| fs::remove_file(folder.join("grant")).unwrap()));
    let id = bench.call("trial.flight", "log", json!({"wait": false})).await.job.unwrap();
    let folder = bench.folder(&id);
    bench.until(&id, JobState::Failed).await;
    fs::remove_file(folder.join("answer.json")).unwrap();
    assert_eq!(bench.jobs().status(&id, &agent()).unwrap().state, JobState::Working, "it may be about to begin");
    let mut request: Value = serde_json::from_slice(&fs::read(folder.join("request.json")).unwrap()).unwrap();
    request["created_at"] = json!(1);
    fs::write(folder.join("request.json"), request.to_string()).unwrap();
    let status = bench.jobs().status(&id, &agent()).unwrap();
    assert_eq!((status.state, status.message.as_deref()), (JobState::Lost, Some("its process never began")));
}

#[tokio::test]
async fn a_job_goes_on_when_the_disk_is_full_and_says_so() {
    let full = |folder: &std::path::Path| symlink("/dev/full", folder.join("events.0")).unwrap();
    let bench = Bench::with(Confirm::Nothing, Box::new(full));
    let reply = bench.call("trial.flight", "log", json!({"steps": 2})).await;
    assert_eq!(reply.outcome, Outcome::Ok, "{:?}", reply.failure);
    assert_eq!(bench.lines("log"), ["step 1", "step 2"], "the work was done");
    assert!(
        reply.view.plain().contains("lines of its log are missing: writing the log: no space left"),
        "{:?}",
        reply.view
    );
    let status = bench.jobs().list(&agent()).unwrap().remove(0);
    assert!(status.note.unwrap().contains("no space left on device"));
}

#[tokio::test]
async fn a_job_that_cannot_be_written_down_does_not_start() {
    let bench = Bench::new();
    fs::create_dir_all(bench.state.path()).unwrap();
    fs::write(bench.state.path().join("jobs"), "in the way").unwrap();
    let reply = bench.call("trial.flight", "log", json!({"wait": false})).await;
    let failure = reply.failure.unwrap();
    assert_eq!((failure.code, reply.job), (Code::Io, None));
    assert!(bench.lines("log").is_empty(), "nothing was done");
}
