//! `pintle jobs …` and `jobs.*`: looking at what runs in processes of its own.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use pintle_core::{Caller, Confirm, Door};
use pintle_dispatch::{Catalog, JobState, Jobs, Request, Settings, SpawnedJobs, StateFolder};
use pintle_testkit::flights_toolset;
use serde_json::{Map, Value, json};
use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::Arc,
    time::Duration,
};

/// Nothing takes that long; whoever waits longer hangs.
const HANGS: Duration = Duration::from_secs(60);

struct World {
    home: tempfile::TempDir,
    catalog: Catalog,
}

fn pintle() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_pintle"))
}

/// A program of another package, built into the same folder.
fn neighbour(name: &str) -> PathBuf {
    let path = pintle().with_file_name(name);
    assert!(path.is_file(), "{} is not built", path.display());
    path
}

impl World {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let state = StateFolder::at(home.path().join(".local/state/pintle"));
        let words = ["run".into(), state.path().to_owned()];
        let jobs = SpawnedJobs::new(neighbour("job-fixture"), words, Value::Null);
        let settings = Settings { state: Some(state), jobs: Some(Arc::new(jobs)), ..Settings::default() };
        Self { catalog: Catalog::new(vec![flights_toolset(Confirm::Nothing)], settings).unwrap(), home }
    }

    fn jobs(&self) -> &Jobs {
        self.catalog.jobs().unwrap()
    }

    /// Starts one, as an agent of this user does.
    async fn start(&self, file: &str, more: Value) -> String {
        let mut arguments = Map::new();
        arguments.insert("file".to_owned(), json!(self.home.path().join(file)));
        arguments.extend(more.as_object().unwrap().clone());
        let principal = format!("stdio:{}", rustix::process::getuid().as_raw());
        let mut request = Request::new("trial.flight", arguments, Caller { door: Door::Agents, principal });
        request.wait = Some(false);
        let reply = self.catalog.call(request).await;
        reply.job.unwrap_or_else(|| panic!("{:?}", reply.failure))
    }

    async fn until(&self, id: &str, is: impl Fn(&pintle_dispatch::JobStatus) -> bool) {
        let person = Caller { door: Door::People, principal: "test".to_owned() };
        let reached = async {
            while !is(&self.jobs().status(id, &person).unwrap()) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(HANGS, reached).await.unwrap();
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(pintle());
        command.args(words).env_clear().env("HOME", self.home.path()).env("PATH", "/usr/bin:/bin");
        command.current_dir(self.home.path()).stdin(Stdio::null());
        command
    }

    #[track_caller]
    fn run(&self, code: i32, words: &[&str]) -> String {
        let Output { status, stdout, stderr } = self.command(words).output().unwrap();
        let (out, err) = (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
        assert_eq!(status.code(), Some(code), "{words:?}: {out}\n{err}");
        if code == 0 { out } else { err }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn eg_017_people_list_show_wait_for_and_end_jobs() {
    let world = World::new();
    assert_eq!(world.run(0, &["jobs"]), "there are no jobs\n");
    let short = world.start("short", json!({"steps": 3, "step_ms": 100})).await;
    assert!(world.run(0, &["jobs", "wait", &short]).contains("3 steps"));
    let long = world.start("long", json!({"steps": 1000, "step_ms": 100})).await;
    world.until(&long, |status| status.progress.is_some()).await;
    let listed = world.run(0, &["jobs", "list"]);
    let lines: Vec<&str> = listed.lines().collect();
    assert!(lines[1].contains(&long) && lines[1].contains("working"), "{listed}");
    assert!(lines[2].contains(&short) && lines[2].contains("completed"), "{listed}");
    let open = world.run(0, &["jobs", "list", "--open"]);
    assert!(open.contains(&long) && !open.contains(&short), "{open}");
    let shown: Value = serde_json::from_str(&world.run(0, &["jobs", "show", &short, "--output", "json"])).unwrap();
    assert_eq!((&shown["state"], &shown["result"]["answer"]["steps"]), (&json!("completed"), &json!(3)), "{shown}");
    assert!(world.run(0, &["jobs", "log", &short[..6]]).contains("step 3 of 3"), "the beginning of its id will do");
    assert!(world.run(0, &["jobs", "wait", &long, "--seconds", "1"]).contains("working"));
    assert!(world.run(0, &["jobs", "cancel", &long]).contains("cancelled"));
    assert!(world.run(130, &["jobs", "wait", &long]).contains("turned back"), "it ends as the job did");
    assert!(world.run(0, &["jobs", "cancel", &long]).contains("cancelled"), "once more changes nothing");
    assert!(world.run(1, &["jobs", "show", "aaaaaaaa"]).contains("no job `aaaaaaaa`"));
}

#[tokio::test(flavor = "multi_thread")]
async fn eg_017_agents_have_tools_for_jobs_on_request_and_can_read_them_always() {
    let world = World::new();
    let id = world.start("file", json!({})).await;
    world.until(&id, |status| status.state == JobState::Completed).await;
    for (toolsets, has) in [("charly,extra", false), ("eggs", false), ("eggs,extra", true), ("extra", true)] {
        let mut command = world.command(&["mcp", "serve", "--stdio", "--toolset", toolsets]);
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (mut input, output) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
        let mut lines = BufReader::new(output).lines();
        let mut ask = |id: i64, method: &str, params: Value| -> Value {
            writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).unwrap();
            loop {
                let message: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
                if message["id"] == id {
                    return message["result"].clone();
                }
            }
        };
        ask(
            0,
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"}}),
        );
        let tools = ask(1, "tools/list", json!({}))["tools"].to_string();
        for name in ["jobs.list", "jobs.show", "jobs.log", "jobs.wait", "jobs.cancel"] {
            assert_eq!(tools.contains(&format!("\"{name}\"")), has, "{toolsets}: {name}");
        }
        assert!(!tools.contains("\"approve\""), "what is for people stays so");
        let listed = ask(2, "resources/list", json!({})).to_string();
        assert!(listed.contains(&format!("job://{id}")), "{listed}");
        let read = ask(3, "resources/read", json!({"uri": format!("job://{id}")}));
        assert!(read["contents"][0]["text"].as_str().unwrap().contains("\"completed\""), "{read}");
        if has {
            let waited = ask(4, "tools/call", json!({"name": "jobs.wait", "arguments": {"id": id}}));
            assert_eq!(waited["structuredContent"]["answer"]["state"], "completed", "{waited}");
        }
        drop(input);
        server.wait().unwrap();
    }
}

#[test]
fn the_command_that_runs_jobs_is_for_nobody_else() {
    let world = World::new();
    assert!(world.run(64, &["job"]).contains("pintle jobs"));
    assert!(world.run(1, &["job", "run", "aaaaaaaaaaaaaaaa"]).contains("no job"));
    assert!(!world.run(0, &["--help"]).contains("\n  job "), "it is not listed");
}

#[test]
fn people_are_told_that_they_need_not_wait() {
    let world = World::new();
    assert!(world.run(0, &["eggs", "remaster", "--help"]).contains("--no-wait"));
    assert!(!world.run(0, &["eggs", "version", "--help"]).contains("--no-wait"), "it never becomes a job");
}
