//! What a program of others costs as tools: a call beside the program itself, much output, pings during a flight, the start
//! of a job; and what it costs to register with every client.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::start::{ms, repeat};
use crate::bench::stdio::{Session, clean, highest, resident};
use crate::bench::{Bench, Line, Samples};
use crate::{Trouble, run};

const RUNS: usize = 40;
const PINGS: usize = 300;
/// What the stand-in prints when it is told to print much, in MiB.
const MUCH: u64 = 20;

/// The stand-in laid out as `eggs`, with a system of its own around it.
struct StandIn {
    folder: PathBuf,
}

impl StandIn {
    fn lay_out(bench: &Bench<'_>, name: &str) -> Result<Self, Trouble> {
        let folder = bench.scratch.path().join(name);
        for part in ["root/home/eggs", "root/etc/penguins-eggs.d", "root/home/artisan/.oa-wardrobe/costumes"] {
            let part = folder.join(part);
            std::fs::create_dir_all(&part).map_err(Trouble::file("make", &part))?;
        }
        let program = folder.join("eggs");
        std::fs::copy(bench.place.release("stand-in-eggs"), &program).map_err(Trouble::file("copy", &program))?;
        let stand_in = Self { folder };
        stand_in.order(&json!({"euid": 0}))?;
        Ok(stand_in)
    }

    fn order(&self, orders: &Value) -> Result<(), Trouble> {
        let path = self.folder.join("orders.json");
        std::fs::write(&path, orders.to_string()).map_err(Trouble::file("write", &path))
    }

    fn program(&self) -> PathBuf {
        self.folder.join("eggs")
    }

    fn server(&self, bench: &Bench<'_>) -> Command {
        let mut command = clean(&bench.pintle(), bench.home());
        command.args(["mcp", "serve", "--stdio", "--toolset", "eggs"]);
        command.env("PINTLE_EGGS_PATH", self.program()).env("PINTLE_EGGS_ROOT", self.folder.join("root"));
        command.env("XDG_STATE_HOME", self.folder.join("state"));
        command
    }

    fn session(&self, bench: &Bench<'_>) -> Result<Session, Trouble> {
        let mut session = Session::start(&mut self.server(bench))?;
        session.initialize()?;
        Ok(session)
    }
}

/// A short call as a tool, beside the same program started by hand; and much output.
pub fn calls(bench: &Bench<'_>) -> Result<Vec<Line>, Trouble> {
    let stand_in = StandIn::lay_out(bench, "calls")?;
    let list = || json!({"action": "list"});
    let mut session = stand_in.session(bench)?;
    session.tool("eggs_wardrobe", list())?;
    let before = resident(session.pid())?;
    let (mut called, mut alone) = (Vec::new(), Vec::new());
    // One beside the other, so that both meet the same machine.
    for _ in 0..RUNS {
        called.push(session.tool("eggs_wardrobe", list())?.0);
        let mut program = clean(&stand_in.program(), bench.home());
        let start = Instant::now();
        run::taken(program.args(["wardrobe", "list"]))?;
        alone.push(ms(start.elapsed()));
    }
    let (called, alone) = (Samples::new(called)?, Samples::new(alone)?);
    let grown = resident(session.pid())? - before;

    stand_in.order(&json!({"euid": 0, "faults": {"wardrobe list": {"print_mib": MUCH}}}))?;
    let mut session = stand_in.session(bench)?;
    session.request("tools/list", json!({}))?;
    let before = highest(session.pid())?;
    let (_, answer) = session.tool("eggs_wardrobe", list())?;
    let whole =
        answer["content"].as_array().into_iter().flatten().filter_map(|part| part["size"].as_u64()).sum::<u64>();
    if whole < MUCH << 20 {
        return Err(Trouble::Other(format!("of {MUCH} MiB only {whole} bytes were kept")));
    }
    let much = highest(session.pid())? - before;
    Ok(vec![
        Line::of("a call of a pack's tool", "ms", &called),
        Line::of("the same program by itself", "ms", &alone),
        Line::new("what the call adds to the program", "ms", called.median() - alone.median()).budget(3.0),
        Line::new("what the calls add to the memory", "MB", grown).budget(4.0),
        Line::new("20 MiB of output, memory added", "MB", much).budget(8.0),
    ])
}

/// Starts a remaster that goes on as a job: first the plan, then the same call with its token.
fn fly(session: &mut Session, wait: bool) -> Result<(u64, Instant), Trouble> {
    let (_, plan) = session.tool("eggs_remaster", json!({}))?;
    let token = &plan["structuredContent"]["plan"]["token"];
    let start = Instant::now();
    let arguments = json!({"plan_token": token, "wait": wait});
    Ok((session.send("tools/call", json!({"name": "eggs_remaster", "arguments": arguments}))?, start))
}

/// The start of a job until the call has its id, and pings while one is waited for.
pub fn jobs(bench: &Bench<'_>) -> Result<Vec<Line>, Trouble> {
    let stand_in = StandIn::lay_out(bench, "jobs")?;
    let started = repeat(7, || {
        let mut session = stand_in.session(bench)?;
        let (id, start) = fly(&mut session, false)?;
        let (at, answer) = session.answer(id)?;
        if answer["structuredContent"]["outcome"] != "started" {
            return Err(Trouble::Other(format!("no job: {:.300}", answer["structuredContent"].to_string())));
        }
        wait_for(&mut session, &answer["structuredContent"]["job"])?;
        Ok(ms(at - start))
    })?;
    stand_in.order(&json!({"euid": 0, "step_ms": 200}))?;
    let mut session = stand_in.session(bench)?;
    let (id, _) = fly(&mut session, true)?;
    std::thread::sleep(Duration::from_millis(300));
    let mut pings = Vec::with_capacity(PINGS);
    for _ in 0..PINGS {
        let start = Instant::now();
        let (at, _) = session.request("ping", json!({}))?;
        pings.push(ms(at - start));
    }
    if session.answers_within(id, Duration::from_millis(1)) {
        return Err(Trouble::Other("the flight was over before the pings were".into()));
    }
    Ok(vec![
        Line::of("start of a job", "ms", &started).budget(50.0),
        Line::new("ping during a flight, p99", "ms", Samples::new(pings)?.p99()).budget(5.0),
    ])
}

/// Until the job of that id has ended.
fn wait_for(session: &mut Session, job: &Value) -> Result<(), Trouble> {
    let uri = format!("job://{}", job.as_str().unwrap_or_default());
    let end = Instant::now() + Duration::from_secs(30);
    while Instant::now() < end {
        let (_, read) = session.request("resources/read", json!({"uri": uri}))?;
        let text = read["contents"][0]["text"].as_str().unwrap_or_default();
        let state: Value = serde_json::from_str(text).unwrap_or_default();
        if !["working", "input_required"].contains(&state["state"].as_str().unwrap_or_default()) {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Err(Trouble::Other(format!("{uri} does not end")))
}

/// Our entry into the file of every client that we know, without the handshakes.
pub fn register(bench: &Bench<'_>) -> Result<Vec<Line>, Trouble> {
    let listed = run::taken(clean(&bench.pintle(), bench.home()).args(["clients", "--output", "json"]))?;
    let listed: Value = serde_json::from_slice(&listed).map_err(|why| Trouble::Other(why.to_string()))?;
    let paths: Vec<PathBuf> =
        listed.as_array().into_iter().flatten().filter_map(|row| row["path"].as_str()).map(PathBuf::from).collect();
    if paths.is_empty() {
        return Err(Trouble::Other(format!("no clients in {:.200}", listed.to_string())));
    }
    let (mut times, mut written) = (Vec::new(), 0_usize);
    for turn in 0..9 {
        let home = bench.scratch.path().join(format!("clients-{turn}"));
        for folder in paths.iter().filter_map(|path| inside(path, bench.home())?.parent().map(Path::to_path_buf)) {
            let folder = home.join(folder);
            std::fs::create_dir_all(&folder).map_err(Trouble::file("make", &folder))?;
        }
        let mut command = clean(&bench.pintle(), &home);
        let start = Instant::now();
        run::taken(command.args(["register", "--toolset", "charly", "--no-verify", "--yes"]))?;
        times.push(ms(start.elapsed()));
        written = paths
            .iter()
            .filter_map(|path| Some(home.join(inside(path, bench.home())?)))
            .filter(|p| p.is_file())
            .count();
    }
    Ok(vec![
        Line::of("register with all clients, no handshakes", "ms", &Samples::new(times)?).budget(300.0),
        Line::new("clients in that run", "files", f64::from(u32::try_from(written).unwrap_or(u32::MAX))).at_least(15.0),
    ])
}

/// A path of that home as it is below it.
fn inside(path: &Path, home: &Path) -> Option<PathBuf> {
    let text = path.to_string_lossy();
    let rest = text.strip_prefix("~/").map(PathBuf::from);
    rest.or_else(|| path.strip_prefix(home).ok().map(Path::to_path_buf))
}
