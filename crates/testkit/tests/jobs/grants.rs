//! A job does what was granted, once, and nothing else.

use crate::bench::{Bench, agent};
use pintle_core::{Code, Confirm, Outcome};
use pintle_dispatch::{Catalog, JobState, Settings};
use pintle_testkit::flights_toolset;
use serde_json::{Value, json};
use std::{fs, path::Path};
use tokio_util::sync::CancellationToken;

/// Plans and goes through with it.
async fn planned(bench: &Bench) -> (JobState, Option<pintle_core::Failure>) {
    let reply = bench.call("trial.flight", "log", json!({})).await;
    let token = reply.plan.expect("a plan").token.unwrap();
    let started = bench.call("trial.flight", "log", json!({"plan_token": token, "wait": false})).await;
    let id = started.job.unwrap_or_else(|| panic!("{:?}", started.failure));
    let status = bench.jobs().wait(&id, &agent(), Some(crate::bench::HANGS)).await.unwrap();
    (status.state, bench.jobs().result(&id, &agent()).unwrap().unwrap().failure)
}

fn edit(path: &Path, change: impl FnOnce(&mut Value)) {
    let mut value: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    change(&mut value);
    fs::write(path, serde_json::to_vec(&value).unwrap()).unwrap();
}

#[tokio::test]
async fn a_confirmed_job_runs_and_needs_no_second_yes() {
    let bench = Bench::with(Confirm::Plan, Box::new(|_| {}));
    assert_eq!(planned(&bench).await, (JobState::Completed, None));
    assert_eq!(bench.lines("log"), ["step 1"]);
}

#[tokio::test]
async fn what_was_changed_in_the_folder_is_refused() {
    type Forgery = (&'static str, fn(&Path));
    let forgeries: [Forgery; 4] = [
        ("the tool", |folder| edit(&folder.join("request.json"), |r| r["tool"] = json!("trial.errand"))),
        ("the setup", |folder| edit(&folder.join("request.json"), |r| r["setup"] = json!({"policy": "none"}))),
        ("the arguments", |folder| edit(&folder.join("input.json"), |i| i["arguments"]["steps"] = json!(9))),
        ("the grant", |folder| {
            let sealed = fs::read_to_string(folder.join("grant")).unwrap();
            fs::write(folder.join("grant"), sealed.replacen(&sealed[..4], "AAAA", 1)).unwrap();
        }),
    ];
    for (what, forge) in forgeries {
        let bench = Bench::with(Confirm::Plan, Box::new(forge));
        let (state, failure) = planned(&bench).await;
        assert_eq!((state, failure.unwrap().code), (JobState::Failed, Code::BadToken), "{what}");
        assert!(bench.lines("log").is_empty(), "{what}: nothing was done");
    }
}

#[tokio::test]
async fn what_moved_between_the_yes_and_the_job_is_refused() {
    let bench = Bench::with(
        Confirm::Plan,
        Box::new(|folder| {
            let log = folder.ancestors().nth(3).unwrap().join("log");
            fs::write(log, "somebody was here\n").unwrap();
        }),
    );
    let (state, failure) = planned(&bench).await;
    assert_eq!((state, failure.unwrap().code), (JobState::Failed, Code::Moved));
    assert_eq!(bench.lines("log"), ["somebody was here"]);
}

#[tokio::test]
async fn a_job_runs_once() {
    let bench = Bench::new();
    let id = bench.call("trial.flight", "log", json!({"wait": false})).await.job.unwrap();
    bench.until(&id, JobState::Completed).await;
    let settings = Settings { state: Some(bench.state.clone()), ..Settings::default() };
    let other = Catalog::new(vec![flights_toolset(Confirm::Nothing)], settings).unwrap();
    let again = other.run_job(&id, CancellationToken::new()).await.unwrap_err();
    assert_eq!(again.code, Code::BadToken, "{again}");
    other.jobs().unwrap().fail(&id, again).unwrap();
    assert_eq!(bench.jobs().status(&id, &agent()).unwrap().state, JobState::Completed, "its answer stays");
    assert_eq!(bench.lines("log"), ["step 1"]);
    assert_eq!(other.run_job("aaaaaaaaaaaaaaaa", CancellationToken::new()).await.unwrap_err().code, Code::NotFound);
}

#[tokio::test]
async fn without_a_starter_the_call_runs_where_it_is() {
    let bench = Bench::new();
    let settings = Settings { state: Some(bench.state.clone()), ..Settings::default() };
    let plain = Catalog::new(vec![flights_toolset(Confirm::Nothing)], settings).unwrap();
    let reply = plain.call(bench.request("trial.flight", "log", json!({}))).await;
    assert_eq!((reply.outcome, reply.job), (Outcome::Ok, None));
    let reply = plain.call(bench.request("trial.flight", "log", json!({"wait": false}))).await;
    assert_eq!(reply.failure.unwrap().code, Code::Unavailable);
}
