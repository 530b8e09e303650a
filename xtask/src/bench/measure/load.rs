//! What a server does under work: pings beside a hanging call, cancelling, calls over HTTP, growth, many tools.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::start::{ms, repeat};
use crate::Trouble;
use crate::bench::http::{Connection, Server};
use crate::bench::stdio::{Session, modern, resident};
use crate::bench::{Bench, Line, Samples};
use crate::run;

/// A call of the fixture's trial operation that ends only by a cancel.
pub fn hanging_call() -> Value {
    json!({"name": "trial.hang", "arguments": {}})
}

const PINGS: usize = 300;

/// Pings while a call hangs, in both eras.
pub fn ping(bench: &Bench<'_>) -> Result<Vec<Line>, Trouble> {
    let beside = |command: &mut Command, hanging: Value, method: &str, params: Value| {
        let mut session = Session::start(command)?;
        if method == "ping" {
            session.initialize()?;
        }
        session.send("tools/call", hanging)?;
        std::thread::sleep(Duration::from_millis(50));
        let mut samples = Vec::with_capacity(PINGS);
        for _ in 0..PINGS {
            let start = Instant::now();
            let (at, _) = session.request(method, params.clone())?;
            samples.push(ms(at - start));
        }
        Samples::new(samples)
    };
    let legacy = beside(&mut bench.trial(&[]), hanging_call(), "ping", json!({}))?;
    let discover = modern(json!({}));
    let stateless = beside(&mut bench.trial(&[]), modern(hanging_call()), "server/discover", discover)?;
    let mut line = Line::new("ping beside a hanging call, p99", "ms", legacy.p99()).budget(5.0);
    if let Some(rival) = bench.rivals()?.into_iter().find(|rival| rival.name == "server-everything") {
        let long = json!({"name": "trigger-long-running-operation", "arguments": {"duration": 30, "steps": 2}});
        let samples = beside(&mut rival.command(bench.home()), long, "ping", json!({}))?;
        line = line.rival(rival.name, Some(samples.p99()));
    }
    Ok(vec![line, Line::new("discover beside a hanging call, p99", "ms", stateless.p99()).budget(5.0)])
}

/// From the cancel to the moment at which the operation has learnt of it, as another call sees; and that no answer
/// comes.
pub fn cancel(bench: &Bench<'_>) -> Result<Vec<Line>, Trouble> {
    let mut told = Vec::new();
    for _ in 0..15 {
        let mut session = Session::start(&mut bench.trial(&[]))?;
        session.initialize()?;
        let id = session.send("tools/call", hanging_call())?;
        until_counted(&mut session, "hanging")?;
        let start = Instant::now();
        session.notify("notifications/cancelled", json!({"requestId": id, "reason": "bench"}))?;
        until_counted(&mut session, "cancelled")?;
        told.push(ms(start.elapsed()));
        if session.answers_within(id, Duration::from_millis(200)) {
            return Err(Trouble::Other("a cancelled call was answered".into()));
        }
    }
    Ok(vec![Line::of("cancel until the operation ends, no answer", "ms", &Samples::new(told)?).budget(100.0)])
}

/// Waits until one call is counted under this word.
fn until_counted(session: &mut Session, word: &str) -> Result<(), Trouble> {
    let end = Instant::now() + Duration::from_secs(10);
    while Instant::now() < end {
        let (_, counts) = session.request("tools/call", json!({"name": "trial.counts", "arguments": {}}))?;
        if counts.pointer(&format!("/structuredContent/answer/{word}")) == Some(&json!(1)) {
            return Ok(());
        }
    }
    Err(Trouble::Other(format!("no call is counted as {word} after 10 s")))
}

/// Calls on one kept connection, then on eight at once.
pub fn http(bench: &Bench<'_>) -> Result<Vec<Line>, Trouble> {
    let server = Server::start(&mut bench.ours_listening()?)?;
    let calls = |count: usize| {
        let mut connection = Connection::open(&server)?;
        let mut samples = Vec::with_capacity(count);
        for _ in 0..count {
            let start = Instant::now();
            connection.call("version", &json!({}))?;
            samples.push(ms(start.elapsed()));
        }
        Samples::new(samples)
    };
    // the first calls of a process are not what a kept connection costs
    calls(200)?;
    let one = calls(3000)?;
    const AT_ONCE: usize = 8;
    const EACH: usize = 2000;
    let start = Instant::now();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(|| calls(EACH))).collect();
        for worker in workers {
            worker.join().map_err(|_| Trouble::Other("a client panicked".into()))??;
        }
        Ok::<_, Trouble>(())
    })?;
    let rate = (AT_ONCE * EACH) as f64 / start.elapsed().as_secs_f64();
    Ok(vec![
        Line::new("HTTP call on a kept connection, p50", "ms", one.median()),
        Line::new("HTTP call on a kept connection, p99", "ms", one.p99()).budget(2.0),
        Line::new("HTTP calls of 8 clients at once", "/s", rate).at_least(2000.0),
    ])
}

/// Resident memory gained by 10,000 calls, after a thousand that fill the caches.
pub fn growth(bench: &Bench<'_>) -> Result<Vec<Line>, Trouble> {
    let mut session = Session::start(&mut bench.ours()?)?;
    session.initialize()?;
    let call = json!({"name": "version", "arguments": {}});
    for _ in 0..1000 {
        session.request("tools/call", call.clone())?;
    }
    let before = resident(session.pid())?;
    let mut samples = Vec::with_capacity(10_000);
    for _ in 0..10_000 {
        let start = Instant::now();
        let (at, _) = session.request("tools/call", call.clone())?;
        samples.push(ms(at - start));
    }
    let gained = resident(session.pid())? - before;
    Ok(vec![
        Line::new("memory gained by 10,000 calls", "MB", gained).budget(2.0),
        Line::of("stdio call", "ms", &Samples::new(samples)?),
    ])
}

/// The same call with 20 and with 200 tools: nothing but `tools/list` may be slower.
pub fn many_tools(bench: &Bench<'_>) -> Result<Vec<Line>, Trouble> {
    let with = |extra: &str| {
        let arguments = ["--tools", extra];
        let first = repeat(9, || {
            let mut session = Session::start(&mut bench.trial(&arguments))?;
            Ok(ms(session.initialize()? - session.born))
        })?;
        let mut session = Session::start(&mut bench.trial(&arguments))?;
        session.initialize()?;
        let call = json!({"name": "test_simple_text", "arguments": {}});
        let calls = repeat(2000, || {
            let start = Instant::now();
            let (at, _) = session.request("tools/call", call.clone())?;
            Ok(ms(at - start))
        })?;
        Ok::<_, Trouble>((first, calls))
    };
    let (first_few, few) = with("20")?;
    let (first_many, many) = with("200")?;
    Ok(vec![
        Line::of("call beside 20 extra tools", "ms", &few),
        Line::of("call beside 200 extra tools", "ms", &many),
        Line::of("first answer with 20 extra tools", "ms", &first_few),
        Line::of("first answer with 200 extra tools", "ms", &first_many),
    ])
}

/// The time of one validation of a typical call, measured inside one process with the schema that the product lists.
pub fn validation(bench: &Bench<'_>) -> Result<Vec<Line>, Trouble> {
    let mut session = Session::start(&mut bench.ours()?)?;
    session.initialize()?;
    let (_, list) = session.request("tools/list", json!({}))?;
    let tool = "box.new.box";
    let listed = list["tools"].as_array().and_then(|tools| tools.iter().find(|listed| listed["name"] == tool));
    let schema = listed.ok_or_else(|| Trouble::Other(format!("`{tool}` is not listed")))?["inputSchema"].clone();
    let arguments = json!({"name": "web", "base": "quay.io/fedora/fedora:43", "candies": ["one", "two"]});
    let question = json!({"tool": tool, "schema": schema, "arguments": arguments}).to_string();
    let file = bench.scratch.path().join("validation.json");
    std::fs::write(&file, question).map_err(Trouble::file("write", &file))?;
    let input = std::fs::File::open(&file).map_err(Trouble::file("read", &file))?;
    let output = run::fed(&mut Command::new(bench.place.release("time-validation")), input)?;
    let text = String::from_utf8_lossy(&output);
    let microseconds: f64 =
        text.trim().parse().map_err(|_| Trouble::Other(format!("`{}` is no number of microseconds", text.trim())))?;
    Ok(vec![Line::new("validation of a typical call", "µs", microseconds).budget(50.0)])
}
