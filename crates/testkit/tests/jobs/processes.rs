//! Jobs as they are: `job-fixture` serves, and each job is a process of its own.

use crate::bench::HANGS;
use pintle_core::{Caller, Door};
use pintle_dispatch::{JobState, JobStatus, Jobs, StateFolder};
use rustix::process::{Pid, Signal, getsid, kill_process};
use serde_json::{Value, json};
use std::{path::PathBuf, process::Stdio, time::Duration};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

struct World {
    temp: tempfile::TempDir,
}

struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
}

impl World {
    fn new() -> Self {
        Self { temp: tempfile::tempdir().unwrap() }
    }

    fn state(&self) -> PathBuf {
        self.temp.path().join("state")
    }

    fn jobs(&self) -> Jobs {
        Jobs::at(StateFolder::at(self.state()))
    }

    fn lines(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.temp.path().join("log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    async fn serve(&self) -> Server {
        let mut child = Command::new(env!("CARGO_BIN_EXE_job-fixture"))
            .args(["serve".as_ref(), self.state().as_os_str()])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.temp.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut server = Server { input: child.stdin.take(), child, output };
        server
            .send(json!({"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
            "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}))
            .await;
        server.answer(0).await;
        server.send(json!({"method": "notifications/initialized"})).await;
        server
    }

    async fn fly(&self, server: &mut Server, id: u32, tool: &str, more: Value) {
        let mut arguments = json!({"file": self.temp.path().join("log")});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": id}});
        server.send(json!({"id": id, "method": "tools/call", "params": params})).await;
    }

    async fn until(&self, is: impl Fn(&JobStatus) -> bool) -> JobStatus {
        tokio::time::timeout(HANGS, async {
            loop {
                if let Some(status) = self.jobs().list(&person()).unwrap().into_iter().find(&is) {
                    return status;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        })
        .await
        .unwrap_or_else(|_| panic!("{:?}", self.jobs().list(&person())))
    }
}

impl Server {
    async fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        input.flush().await.unwrap();
    }

    async fn next(&mut self) -> Value {
        let line = tokio::time::timeout(HANGS, self.output.next_line()).await.expect("a line").unwrap();
        serde_json::from_str(&line.expect("a line")).unwrap()
    }

    /// The answer to that request, with the progress that came before it.
    async fn answer(&mut self, id: u32) -> (Value, Vec<Value>) {
        let mut told = Vec::new();
        loop {
            let message = self.next().await;
            if message["id"] == id {
                return (message["result"].clone(), told);
            }
            told.push(message);
        }
    }

    async fn killed(mut self) {
        self.child.kill().await.unwrap();
    }

    async fn hangs_up(mut self) {
        self.input.take();
        tokio::time::timeout(HANGS, self.child.wait()).await.expect("an end").unwrap();
    }
}

fn person() -> Caller {
    Caller { door: Door::People, principal: "user".to_owned() }
}

fn pid(status: &JobStatus) -> Pid {
    Pid::from_raw(status.pid.expect("it runs")).unwrap()
}

#[tokio::test]
async fn s_28_eg_017_a_killed_server_leaves_its_job_and_the_next_one_gets_the_answer() {
    let world = World::new();
    let mut first = world.serve().await;
    world.fly(&mut first, 1, "trial.flight", json!({"steps": 30, "step_ms": 50})).await;
    let status = world.until(|status| status.progress.is_some()).await;
    let process = pid(&status);
    assert_ne!(process.as_raw_nonzero().get().unsigned_abs(), first.child.id().unwrap());
    assert_eq!(getsid(Some(process)).unwrap(), process, "a session of its own");
    first.killed().await;
    let mut second = world.serve().await;
    second.send(json!({"id": 2, "method": "resources/read", "params": {"uri": format!("job://{}", status.id)}})).await;
    let (read, _) = second.answer(2).await;
    let text = read["contents"][0]["text"].as_str().unwrap();
    assert!(text.contains("\"working\""), "{text}");
    let ended = world.jobs().wait(&status.id, &person(), Some(HANGS)).await.unwrap();
    assert_eq!(ended.state, JobState::Completed);
    assert_eq!(world.lines().len(), 30);
    second.send(json!({"id": 3, "method": "resources/read", "params": {"uri": format!("job://{}", status.id)}})).await;
    let (read, _) = second.answer(3).await;
    let shown: Value = serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(shown["result"]["answer"]["steps"], 30, "{shown}");
    assert_eq!(shown["result"]["answer"]["pid"], json!(process.as_raw_nonzero().get()));
}

#[tokio::test]
async fn eg_017_a_call_waits_for_its_process_and_hears_how_far_it_is() {
    let world = World::new();
    let mut server = world.serve().await;
    world.fly(&mut server, 1, "trial.flight", json!({"steps": 3, "step_ms": 150})).await;
    let (result, told) = server.answer(1).await;
    assert_eq!(result["structuredContent"]["answer"]["steps"], 3, "{result}");
    let progress: Vec<_> = told.iter().filter(|m| m["method"] == "notifications/progress").collect();
    assert!(progress.iter().any(|m| m["params"]["total"] == 3.0 || m["params"]["total"] == 3), "{progress:?}");
}

#[tokio::test]
async fn s_28_the_end_of_input_takes_an_errand_along_and_leaves_a_flight() {
    let world = World::new();
    let mut server = world.serve().await;
    world.fly(&mut server, 1, "trial.errand", json!({"steps": 1000, "step_ms": 50})).await;
    let errand = world.until(|status| status.progress.is_some()).await;
    server.hangs_up().await;
    world.until(|status| status.id == errand.id && status.state == JobState::Cancelled).await;
    assert_eq!(world.lines().last().unwrap(), "cancelled");
    let mut server = world.serve().await;
    world.fly(&mut server, 1, "trial.flight", json!({"steps": 40, "step_ms": 50})).await;
    let flight = world.until(|status| status.tool == "trial.flight" && status.progress.is_some()).await;
    server.hangs_up().await;
    world.until(|status| status.id == flight.id && status.state == JobState::Completed).await;
}

#[tokio::test]
async fn s_28_an_errand_sees_for_itself_that_its_server_was_killed() {
    let world = World::new();
    let mut server = world.serve().await;
    world.fly(&mut server, 1, "trial.errand", json!({"steps": 1000, "step_ms": 50, "wait": false})).await;
    server.answer(1).await;
    let errand = world.until(|status| status.progress.is_some()).await;
    server.killed().await;
    world.until(|status| status.id == errand.id && status.state == JobState::Cancelled).await;
}

#[tokio::test]
async fn eg_017_s_50_cancelling_the_request_ends_the_process_and_frees_the_lane() {
    let world = World::new();
    let mut server = world.serve().await;
    world.fly(&mut server, 1, "trial.flight", json!({"steps": 1000, "step_ms": 50})).await;
    let status = world.until(|status| status.progress.is_some()).await;
    let mut other = world.serve().await;
    world.fly(&mut other, 1, "trial.flight", json!({})).await;
    let (busy, _) = other.answer(1).await;
    assert_eq!(busy["structuredContent"]["failure"]["code"], "busy", "{busy}");
    assert!(busy.to_string().contains(&status.id), "{busy}");
    server.send(json!({"method": "notifications/cancelled", "params": {"requestId": 1}})).await;
    let ended = world.until(|status| status.state.is_final()).await;
    assert_eq!(ended.state, JobState::Cancelled);
    world.fly(&mut other, 2, "trial.flight", json!({})).await;
    let (free, _) = other.answer(2).await;
    assert_eq!(free["structuredContent"]["outcome"], "ok", "{free}");
}

#[tokio::test]
async fn s_28_a_killed_job_is_told_as_lost() {
    let world = World::new();
    let mut server = world.serve().await;
    world.fly(&mut server, 1, "trial.flight", json!({"steps": 1000, "step_ms": 50})).await;
    let status = world.until(|status| status.progress.is_some()).await;
    kill_process(pid(&status), Signal::KILL).unwrap();
    let (result, _) = server.answer(1).await;
    assert_eq!(result["structuredContent"]["failure"]["code"], "unavailable", "{result}");
    assert_eq!(result["isError"], true);
    let lost = world.jobs().status(&status.id, &person()).unwrap();
    assert_eq!(lost.state, JobState::Lost);
    assert!(world.jobs().log_tail(&status.id, &person(), 1000).unwrap().contains("step 1"));
}
