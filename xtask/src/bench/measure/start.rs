//! What a server costs before it does anything: time to the first answer, memory, what it lists, its end.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::bench::http::megabytes;
use crate::bench::stdio::{Session, clean, modern, resident};
use crate::bench::{Bench, Line, Samples};
use crate::run;
use crate::{Trouble, dist};

const RUNS: usize = 15;
/// A rival that starts slowly is started less often.
const RIVAL_RUNS: usize = 5;

/// Milliseconds as a number with fractions.
pub fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// From before the start of the process to the first answer.
pub fn first_answer(bench: &Bench<'_>) -> Result<Vec<Line>, Trouble> {
    let initialize = |command: &mut Command| {
        let mut session = Session::start(command)?;
        let at = session.initialize()?;
        Ok(ms(at - session.born))
    };
    let discover = |command: &mut Command| {
        let mut session = Session::start(command)?;
        let (at, _) = session.request("server/discover", modern(json!({})))?;
        Ok(ms(at - session.born))
    };
    let mut legacy = Line::of("first answer, initialize", "ms", &repeat(RUNS, || initialize(&mut bench.ours()?))?);
    for rival in bench.rivals()? {
        let samples = repeat(RIVAL_RUNS, || initialize(&mut rival.command(bench.home())))?;
        legacy = legacy.rival(rival.name, Some(samples.median()));
    }
    let modern = Line::of("first answer, discover", "ms", &repeat(RUNS, || discover(&mut bench.ours()?))?);
    Ok(vec![legacy.budget(10.0), modern.budget(10.0)])
}

/// Measures several times.
pub fn repeat(runs: usize, mut once: impl FnMut() -> Result<f64, Trouble>) -> Result<Samples, Trouble> {
    Samples::new((0..runs).map(|_| once()).collect::<Result<_, _>>()?)
}

/// Resident memory after the handshake and one list.
pub fn memory(bench: &Bench<'_>) -> Result<Vec<Line>, Trouble> {
    let idle = |command: &mut Command| {
        let mut session = Session::start(command)?;
        session.initialize()?;
        session.request("tools/list", json!({}))?;
        std::thread::sleep(Duration::from_millis(300));
        resident(session.pid())
    };
    let mut line = Line::of("memory idle", "MB", &repeat(5, || idle(&mut bench.ours()?))?);
    for rival in bench.rivals()? {
        let samples = repeat(3, || idle(&mut rival.command(bench.home())))?;
        line = line.rival(rival.name, Some(samples.median()));
    }
    Ok(vec![line.budget(20.0)])
}

/// What a model sees of a tool: name, description, input schema, hints.
pub fn tools_list(bench: &Bench<'_>) -> Result<Vec<Line>, Trouble> {
    let mean = |command: &mut Command| {
        let mut session = Session::start(command)?;
        session.initialize()?;
        let (_, list) = session.request("tools/list", json!({}))?;
        let tools = list["tools"].as_array().cloned().unwrap_or_default();
        let bytes: usize = tools.iter().map(visible_bytes).sum();
        if tools.is_empty() {
            return Err(Trouble::Other("the server lists no tool".into()));
        }
        Ok((bytes as f64 / tools.len() as f64, tools.len()))
    };
    let (ours, count) = mean(&mut bench.ours()?)?;
    let mut line = Line::new(format!("tools/list, mean of {count} tools, what a model sees"), "bytes", ours);
    for rival in bench.rivals()? {
        line = line.rival(rival.name, Some(mean(&mut rival.command(bench.home()))?.0));
    }
    Ok(vec![line.budget(520.0)])
}

fn visible_bytes(tool: &Value) -> usize {
    let seen: serde_json::Map<String, Value> = ["name", "description", "inputSchema", "annotations"]
        .iter()
        .filter_map(|key| tool.get(*key).map(|value| ((*key).to_owned(), value.clone())))
        .collect();
    Value::Object(seen).to_string().len()
}

/// From the close of stdin to the end of the process.
pub fn exit(bench: &Bench<'_>) -> Result<Vec<Line>, Trouble> {
    let idle = repeat(RUNS, || {
        let mut session = Session::start(&mut bench.ours()?)?;
        session.initialize()?;
        session.close().map(ms)
    })?;
    let busy = repeat(5, || {
        let mut session = Session::start(&mut bench.trial(&[]))?;
        session.initialize()?;
        session.send("tools/call", super::load::hanging_call())?;
        std::thread::sleep(Duration::from_millis(100));
        session.close().map(ms)
    })?;
    Ok(vec![
        Line::of("exit after stdin closed, idle", "ms", &idle).budget(1000.0),
        Line::of("exit after stdin closed, a call hangs", "ms", &busy).budget(1000.0),
    ])
}

pub fn binary(bench: &Bench<'_>) -> Result<Vec<Line>, Trouble> {
    let dist = dist::program(bench.place);
    let mut line = if dist.is_file() {
        Line::new("binary, static", "MB", megabytes(&dist)?).budget(25.0)
    } else {
        // minutes of linking are not worth every run of the benchmark
        println!("binary, static: `cargo xtask dist` has not built it");
        Line::new("binary, profile release", "MB", megabytes(&bench.pintle())?)
    };
    if let Some(program) = bench.rival("kubernetes-mcp-server") {
        let program = std::fs::canonicalize(&program).map_err(Trouble::file("find", &program))?;
        line = line.rival("kubernetes-mcp-server", Some(megabytes(&program)?));
    }
    Ok(vec![line])
}

pub fn quickstart(bench: &Bench<'_>) -> Result<Vec<Line>, Trouble> {
    let samples = repeat(5, || {
        let mut command = clean(&bench.pintle(), bench.home());
        let start = Instant::now();
        let ended = run::bounded(command.arg("quickstart"), Duration::from_secs(60), None)?;
        let took = start.elapsed();
        if !ended.status.is_some_and(|status| status.success()) {
            return Err(Trouble::Other(format!("it failed: {}", String::from_utf8_lossy(&ended.output))));
        }
        Ok(ms(took))
    })?;
    Ok(vec![Line::of("quickstart", "ms", &samples).budget(2000.0)])
}
