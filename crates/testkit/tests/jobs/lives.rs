//! From the call to the answer.

use crate::bench::{Bench, Ear, HANGS, agent, person};
use pintle_core::{Caller, Code, Door, InputResponse, Outcome};
use pintle_dispatch::{Catalog, JobState, Jobs, Settings};
use serde_json::json;
use std::{fs, os::unix::fs::PermissionsExt, sync::Arc};

#[tokio::test]
async fn eg_017_a_call_that_waits_gets_the_answer_of_its_job_and_hears_it_work() {
    let bench = Bench::new();
    let ear = Arc::new(Ear::default());
    let mut request = bench.request("trial.flight", "log", json!({"steps": 3, "step_ms": 120}));
    request.events = Arc::clone(&ear) as _;
    let reply = bench.ends(request).await;
    assert_eq!((reply.outcome, reply.job.as_deref()), (Outcome::Ok, None), "{:?}", reply.failure);
    assert_eq!(reply.answer.as_ref().unwrap()["steps"], 3);
    assert_eq!(reply.view.plain(), "3 steps");
    assert_eq!(bench.lines("log"), ["step 1", "step 2", "step 3"]);
    let heard = ear.heard.lock().unwrap().join("\n");
    assert!(heard.contains("3/3 step 3 of 3") && heard.contains("flight: \"step 1, and nothing"), "{heard}");
    let all = bench.jobs().list(&agent()).unwrap();
    assert_eq!((all.len(), all[0].state), (1, JobState::Completed));
}

#[tokio::test]
async fn eg_017_a_call_that_does_not_wait_leaves_a_job_that_any_other_server_finds() {
    let bench = Bench::new();
    let started = bench.call("trial.flight", "log", json!({"steps": 4, "step_ms": 50, "wait": false})).await;
    assert_eq!(started.outcome, Outcome::Started);
    assert!(!started.is_error);
    let id = started.job.unwrap();
    assert!(bench.jobs().result(&id, &agent()).unwrap().is_none(), "it goes on");
    // Another server of the same user knows nothing but the folder.
    let other = Jobs::at(bench.state.clone());
    let status = tokio::time::timeout(HANGS, other.wait(&id, &agent(), None)).await.unwrap().unwrap();
    assert_eq!(status.state, JobState::Completed);
    let progress = status.progress.unwrap();
    assert_eq!((progress.done, progress.total), (4.0, Some(4.0)));
    let reply = other.result(&id, &agent()).unwrap().unwrap();
    assert_eq!(reply.answer.unwrap()["steps"], 4);
    let log = other.log(&id, &agent(), 0, usize::MAX).unwrap();
    assert!(log.text.contains("flight: step 1, ") && log.text.contains("[4/4] step 4 of 4"), "{}", log.text);
    assert_eq!(other.log(&id, &agent(), log.next, usize::MAX).unwrap().text, "");
}

#[tokio::test]
async fn eg_017_a_job_can_be_read_in_every_toolset() {
    let bench = Bench::new();
    let id = bench.call("trial.flight", "log", json!({"wait": false})).await.job.unwrap();
    bench.until(&id, JobState::Completed).await;
    let plain = Catalog::new(Vec::new(), Settings { state: Some(bench.state.clone()), ..Settings::default() }).unwrap();
    let reading = Catalog::reading(agent(), Arc::new(Ear::default()));
    let listed = plain.resources(&reading).await.unwrap();
    assert!(listed.iter().any(|resource| resource.uri == format!("job://{id}")), "{listed:?}");
    let read = plain.read(&format!("job://{id}"), &reading).await.unwrap();
    let shown: serde_json::Value = serde_json::from_str(read[0].text.as_deref().unwrap()).unwrap();
    assert_eq!((&shown["state"], &shown["result"]["outcome"]), (&json!("completed"), &json!("ok")), "{shown}");
    assert!(shown["log"].as_str().unwrap().contains("step 1"));
    let log = plain.read(&format!("job://{id}/log"), &reading).await.unwrap();
    assert!(log[0].text.as_deref().unwrap().contains("step 1"));
    let unknown = plain.read("job://../../etc/passwd", &reading).await.unwrap_err();
    assert_eq!(unknown.code, Code::NotFound);
    assert!(bench.catalog.resource_templates().iter().any(|template| template.template == "job://{id}"));
}

#[tokio::test]
async fn eg_017_reads_of_such_a_tool_run_where_they_are_asked() {
    let bench = Bench::new();
    let reply = bench.call("trial.flight", "log", json!({"dry_run": true, "wait": false})).await;
    assert_eq!((reply.outcome, reply.job), (Outcome::Ok, None));
    assert!(bench.jobs().list(&agent()).unwrap().is_empty());
    let odd = bench.call("trial.flight", "log", json!({"wait": "perhaps"})).await;
    assert_eq!(odd.failure.unwrap().code, Code::InvalidArgument);
    let listed = bench.catalog.listed_as("trial.flight").unwrap();
    assert_eq!(listed.input["properties"]["wait"]["type"], "boolean");
}

#[tokio::test]
async fn s_50_whoever_comes_second_is_told_at_once_which_job_flies() {
    let bench = Bench::new();
    let first = bench.call("trial.flight", "log", json!({"steps": 1, "step_ms": 600_000, "wait": false})).await;
    let id = first.job.unwrap();
    // Its process may not have taken the lane yet: it is taken all the same.
    for wait in [false, true] {
        let second = bench.call("trial.flight", "log", json!({"wait": wait})).await;
        let failure = second.failure.unwrap();
        assert_eq!((failure.code, second.outcome), (Code::Busy, Outcome::Failed));
        assert_eq!(failure.details.unwrap()["job"], json!(id));
        assert!(failure.message.contains(&id), "{}", failure.message);
    }
    assert_eq!(bench.jobs().list(&agent()).unwrap().len(), 1, "what could not start never was");
    let elsewhere = bench.call("trial.flight", "other", json!({})).await;
    assert_eq!(elsewhere.outcome, Outcome::Ok, "another lane is free");
    bench.jobs().cancel(&id, &agent()).await.unwrap();
    assert_eq!(bench.call("trial.flight", "log", json!({})).await.outcome, Outcome::Ok, "the lane is free again");
}

#[tokio::test]
async fn eg_017_a_job_asks_through_its_folder() {
    let bench = Bench::new();
    let arguments = json!({"ask": true, "steps": 2});
    let mut request = bench.request("trial.flight", "a", arguments.clone());
    request.wait = Some(false);
    let id = bench.ends(request).await.job.unwrap();
    let status = bench.until(&id, JobState::InputRequired).await;
    assert_eq!(status.questions[0].key, "name");
    assert!(status.message.unwrap().contains("who flies?"));
    let answer = |key: &str| {
        vec![InputResponse { key: key.to_owned(), value: json!({"action": "accept", "content": {"name": "Ada"}}) }]
    };
    let stray = bench.jobs().answer(&id, answer("colour"), &agent()).unwrap_err();
    assert_eq!(stray.code, Code::InvalidArgument);
    bench.jobs().answer(&id, answer("name"), &agent()).unwrap();
    bench.until(&id, JobState::Completed).await;
    assert_eq!(bench.jobs().result(&id, &agent()).unwrap().unwrap().answer.unwrap()["name"], "Ada");
    assert!(!bench.folder(&id).join("answers.json").exists(), "answers do not stay");

    // A client that can be asked within the call.
    let mut asked = bench.request("trial.flight", "b", arguments.clone());
    asked.events = Arc::new(Ear { name: Some("Grace".to_owned()), ..Ear::default() });
    assert_eq!(bench.ends(asked).await.answer.unwrap()["name"], "Grace");

    // One whose call ends with the question and comes again with the answer.
    let mut first = bench.request("trial.flight", "c", arguments.clone());
    first.events = Arc::new(Ear { ends_calls: true, ..Ear::default() });
    let reply = bench.ends(first).await;
    assert_eq!((reply.outcome, reply.asked.len()), (Outcome::Planned, 1));
    let mut second = bench.request("trial.flight", "c", arguments.clone());
    second.events = Arc::new(Ear { name: Some("Mary".to_owned()), ends_calls: true, ..Ear::default() });
    assert_eq!(bench.ends(second).await.answer.unwrap()["name"], "Mary");
    assert_eq!(bench.lines("c"), ["step 1", "step 2"], "it flew once");

    // And nobody.
    let nobody = bench.call("trial.flight", "d", arguments).await;
    assert_eq!(nobody.failure.unwrap().code, Code::NeedsInput);
}

#[tokio::test]
async fn agents_see_their_own_jobs_and_people_all_of_them() {
    let bench = Bench::new();
    let id = bench.call("trial.flight", "log", json!({"wait": false})).await.job.unwrap();
    bench.until(&id, JobState::Completed).await;
    let stranger = Caller { door: Door::Agents, principal: "stranger".to_owned() };
    assert!(bench.jobs().list(&stranger).unwrap().is_empty());
    assert_eq!(bench.jobs().status(&id, &stranger).unwrap_err().code, Code::NotFound);
    assert_eq!(bench.jobs().result(&id, &stranger).unwrap_err().code, Code::NotFound);
    assert_eq!(bench.jobs().cancel(&id, &stranger).await.unwrap_err().code, Code::NotFound);
    assert_eq!(bench.jobs().status(&id[..6], &person()).unwrap().id, id, "people may type its beginning");
    assert_eq!(bench.jobs().status(&id[..6], &agent()).unwrap_err().code, Code::NotFound);
}

#[tokio::test]
async fn what_a_job_leaves_on_the_disk_is_private_and_holds_no_secret() {
    let bench = Bench::new();
    let secret = "hunter2-canary";
    let id =
        bench.call("trial.flight", "log", json!({"password": secret, "steps": 2, "wait": false})).await.job.unwrap();
    bench.until(&id, JobState::Completed).await;
    let folder = bench.folder(&id);
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    let mut count = 0;
    for entry in fs::read_dir(&folder).unwrap().flatten() {
        let text = fs::read_to_string(entry.path()).unwrap();
        assert!(!text.contains(secret), "{}: {text}", entry.path().display());
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{}", entry.path().display());
        count += 1;
    }
    assert!(count >= 5, "{count}");
    let log = bench.jobs().log(&id, &agent(), 0, usize::MAX).unwrap().text;
    assert!(log.contains("‹secret password›"), "{log}");
}
