//! What reading clusters costs: 5,000 pods of one, their diagnosis, discovery, many calls, twenty clusters with three
//! dead, a start beside a dead one.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;

use serde_json::{Value, json};

use super::start::{ms, repeat};
use crate::Trouble;
use crate::bench::stdio::{Session, clean, highest, resident};
use crate::bench::{Bench, Line, Samples};
use crate::run::Grouped;

const PODS: &str = "5000";
/// The time in which a connection must stand; what dead clusters may cost.
const CONNECT_MS: f64 = 5_000.0;

/// Fake API servers, stopped when dropped.
struct Clusters {
    servers: Grouped,
    /// What they say until they end.
    rest: JoinHandle<String>,
    kubeconfig: PathBuf,
}

impl Clusters {
    fn start(bench: &Bench<'_>, name: &str, words: &[&str]) -> Result<Self, Trouble> {
        let kubeconfig = bench.scratch.path().join(format!("{name}.kubeconfig"));
        let mut command = clean(&bench.place.release("fake-kube"), bench.home());
        command.arg("--kubeconfig").arg(&kubeconfig).args(words).stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut servers = Grouped::start(&mut command)?;
        let mut line = String::new();
        let stderr = servers.0.stderr.take().ok_or_else(|| Trouble::Other("fake-kube has no stderr".into()))?;
        let mut told = BufReader::new(stderr);
        told.read_line(&mut line).map_err(Trouble::file("read", Path::new("stderr of fake-kube")))?;
        // whoever prints later must not meet a closed pipe
        let rest = std::thread::spawn(move || {
            let mut rest = String::new();
            told.read_to_string(&mut rest).map(|_| rest).unwrap_or_default()
        });
        if !line.contains("KUBECONFIG=") {
            return Err(Trouble::Other(format!("fake-kube does not start: {}", line.trim())));
        }
        Ok(Self { servers, rest, kubeconfig })
    }

    /// Stops them; gives how many requests came.
    fn stop(mut self) -> Result<f64, Trouble> {
        drop(self.servers.0.stdin.take());
        let rest = self.rest.join().unwrap_or_default();
        let count = rest.lines().find_map(|line| line.strip_prefix("fake-kube: ")?.strip_suffix(" requests"));
        count
            .and_then(|count| count.parse().ok())
            .ok_or_else(|| Trouble::Other(format!("fake-kube ends with `{rest}`")))
    }

    fn ours(&self, bench: &Bench<'_>) -> Command {
        let mut command = clean(&bench.pintle(), bench.home());
        command.args(["mcp", "serve", "--stdio", "--toolset", "ops,extra"]).env("KUBECONFIG", &self.kubeconfig);
        command
    }

    /// A rival that reads clusters, where it is installed.
    fn rival(&self, bench: &Bench<'_>) -> Option<Command> {
        let mut command = clean(&bench.rival(RIVAL)?, bench.home());
        command.arg("--kubeconfig").arg(&self.kubeconfig);
        Some(command)
    }
}

const RIVAL: &str = "kubernetes-mcp-server";

/// Calls in sessions of their own, so that each meets a cold connection, and the highest memory of any of them.
fn cold(mut start: impl FnMut() -> Command, tool: &str, runs: usize) -> Result<(Samples, f64, Value), Trouble> {
    let (mut times, mut most, mut last) = (Vec::new(), 0.0_f64, Value::Null);
    for _ in 0..runs {
        let mut session = Session::start(&mut start())?;
        session.initialize()?;
        let (time, answer) = session.tool(tool, json!({}))?;
        times.push(time);
        most = most.max(highest(session.pid())?);
        last = answer;
    }
    Ok((Samples::new(times)?, most, last))
}

/// 5,000 pods listed, and looked through for what is wrong with them.
pub fn pods(bench: &Bench<'_>) -> Result<Vec<Line>, Trouble> {
    let clusters = Clusters::start(bench, "pods", &["--pods", PODS])?;
    let (times, memory, answer) = cold(|| clusters.ours(bench), "get_pods", 9)?;
    let listed = answer["structuredContent"]["answer"]["totals"]["rows"].as_u64();
    if listed.map(|rows| rows.to_string()).as_deref() != Some(PODS) {
        return Err(Trouble::Other(format!("get_pods tells {listed:?} pods")));
    }
    let mut time = Line::of("list 5,000 pods over MCP, cold connection", "ms", &times);
    let mut most = Line::new("list 5,000 pods, highest memory", "MB", memory);
    if clusters.rival(bench).is_some() {
        let start = || clusters.rival(bench).unwrap_or_else(|| Command::new(RIVAL));
        let (times, memory, answer) = cold(start, "pods_list", 3)?;
        // 5,000 lines are hundreds of thousands of bytes; whoever answers less has not listed them
        if answer["content"].to_string().len() > 100_000 {
            (time, most) = (time.rival(RIVAL, Some(times.median())), most.rival(RIVAL, Some(memory)));
        } else {
            println!("{RIVAL} finds no pods in the fake API server: not compared");
        }
    }
    let (diagnosed, memory, _) = cold(|| clusters.ours(bench), "find_pod_issues", 9)?;
    Ok(vec![
        time.budget(150.0),
        most.budget(40.0),
        Line::of("find_pod_issues over 5,000 pods", "ms", &diagnosed).budget(400.0),
        Line::new("find_pod_issues over 5,000 pods, highest memory", "MB", memory).budget(40.0),
    ])
}

/// The first list of a kind where three hundred are defined, and how many requests its discovery took.
pub fn discovery(bench: &Bench<'_>) -> Result<Vec<Line>, Trouble> {
    const RUNS: usize = 9;
    let clusters = Clusters::start(bench, "defined", &["--definitions", "300"])?;
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let mut session = Session::start(&mut clusters.ours(bench))?;
        session.initialize()?;
        times.push(session.tool("list_resources", json!({"kind": "widget123s"}))?.0);
    }
    // one of them is the list itself
    let each = clusters.stop()? / RUNS as f64 - 1.0;
    Ok(vec![
        Line::of("first list of one of 300 defined kinds", "ms", &Samples::new(times)?),
        Line::new("discovery of 300 defined kinds", "requests", each).budget(2.0),
    ])
}

/// Resident memory gained by 10,000 reads, after a thousand that fill the caches.
pub fn growth(bench: &Bench<'_>) -> Result<Vec<Line>, Trouble> {
    let clusters = Clusters::start(bench, "growth", &["--pods", "20"])?;
    let mut session = Session::start(&mut clusters.ours(bench))?;
    session.initialize()?;
    let mut calls = |count: usize| {
        let mut times = Vec::with_capacity(count);
        for round in 0..count {
            let tool = ["get_pods", "find_pod_issues"][round % 2];
            times.push(session.tool(tool, json!({}))?.0);
        }
        let now = resident(session.pid())?;
        Ok::<_, Trouble>((now, Samples::new(times)?))
    };
    let (before, _) = calls(1_000)?;
    let (after, times) = calls(10_000)?;
    Ok(vec![
        Line::new("memory gained by 10,000 reads of a cluster", "MB", after - before).budget(2.0),
        Line::of("read of a cluster on a kept connection", "ms", &times),
    ])
}

/// Twenty contexts of which three never answer.
pub fn dead(bench: &Bench<'_>) -> Result<Vec<Line>, Trouble> {
    let clusters = Clusters::start(bench, "twenty", &["--servers", "20", "--pods", "20", "--black-hole", "3"])?;
    let mut ok = 0.0;
    let samples = repeat(3, || {
        let mut session = Session::start(&mut clusters.ours(bench))?;
        session.initialize()?;
        let (time, answer) = session.tool("get_pods", json!({"clusters": ["all"]}))?;
        ok = answer["structuredContent"]["answer"]["totals"]["ok"].as_f64().unwrap_or_default();
        Ok(time)
    })?;
    let first = repeat(15, || {
        let mut command = clean(&bench.pintle(), bench.home());
        let dead = clusters.kubeconfig.with_file_name("dead.kubeconfig");
        if !dead.exists() {
            let text = std::fs::read_to_string(&clusters.kubeconfig).map_err(Trouble::file("read", &dead))?;
            std::fs::write(&dead, text.replace("current-context: fake-00", "current-context: fake-19"))
                .map_err(Trouble::file("write", &dead))?;
        }
        command.args(["mcp", "serve", "--stdio", "--toolset", "ops"]).env("KUBECONFIG", &dead);
        let mut session = Session::start(&mut command)?;
        let at = session.initialize()?;
        Ok(ms(at - session.born))
    })?;
    Ok(vec![
        Line::of("20 contexts, 3 dead: all that answer", "ms", &samples).budget(CONNECT_MS + 200.0),
        Line::new("20 contexts, 3 dead: clusters in the answer", "results", ok).at_least(17.0),
        Line::of("first answer, a dead cluster configured", "ms", &first).budget(10.0),
    ])
}
