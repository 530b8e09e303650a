//! What checks cost: a plan of calls over both transports beside other checkers, validation, the probe of a silent
//! server, and memory while answers are cut. Times are of whole processes, from start to end.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::start::{ms, repeat};
use crate::Trouble;
use crate::bench::http::Server;
use crate::bench::stdio::clean;
use crate::bench::{Bench, Line, Samples};
use crate::run;

/// Calls in a plan.
const CALLS: usize = 100;
const RUNS: usize = 15;
/// Processes of a checker that does one call in each; its time for all calls is reckoned from these.
const SINGLE: usize = 5;
/// The tool that is called, and a part of what it answers.
const TOOL: (&str, &str) = ("test_simple_text", "simple text");
const PATIENCE: Duration = Duration::from_secs(60);

/// The plan of 100 calls over stdio in one session.
pub fn calls_in_one_session(bench: &Bench<'_>) -> Result<Vec<Line>, Trouble> {
    let folder = folder(bench, "calls-stdio")?;
    let plan = calls(&folder)?;
    let fixture = format!("{} --stdio", bench.fixture().display());
    let line = beside(
        bench,
        &folder,
        "check run, 100 calls over stdio in one session",
        || checked(bench, &plan, &["--stdio", &fixture, "--reuse-sessions"]),
        &Suite { address: Address::Stdio(bench.fixture()), flags: &["--reuse-server"] },
    )?;
    Ok(vec![line.budget(500.0)])
}

/// The same plan over HTTP with a session for each call.
pub fn calls_over_http(bench: &Bench<'_>) -> Result<Vec<Line>, Trouble> {
    let folder = folder(bench, "calls-http")?;
    let plan = calls(&folder)?;
    let mut listening = clean(&bench.fixture(), &folder);
    let server = Server::start(listening.args(["--listen", "127.0.0.1:0"]))?;
    let url = format!("http://{}{}", server.address, server.path);
    let line = beside(
        bench,
        &folder,
        "check run, 100 calls over HTTP, a session each",
        || checked(bench, &plan, &["--url", &url]),
        &Suite { address: Address::Url(url.clone()), flags: &[] },
    )?;
    Ok(vec![line.budget(2000.0)])
}

enum Address {
    Stdio(PathBuf),
    Url(String),
}

/// How the other checkers get to the same server.
struct Suite<'a> {
    address: Address,
    flags: &'a [&'a str],
}

/// Runs ours and the others by turns, so that a busy moment of the machine meets all of them.
fn beside(
    bench: &Bench<'_>,
    folder: &Path,
    name: &str,
    ours: impl Fn() -> Command,
    suite: &Suite<'_>,
) -> Result<Line, Trouble> {
    let other = mcp_assert(bench).map(|program| suite.assertions(&program, folder)).transpose()?;
    let (mut own, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        own.push(timed(&mut ours())?);
        if let Some(other) = &other {
            theirs.push(timed(&mut other())?);
        }
    }
    let mut line = Line::of(name, "ms", &Samples::new(own)?);
    if other.is_some() {
        line = line.rival("mcp-assert", Some(Samples::new(theirs)?.median()));
    }
    if let Some(inspector) = bench.rival("mcp-inspector") {
        let one = repeat(SINGLE, || timed(&mut suite.inspector(bench, &inspector, folder)))?;
        line = line.rival("mcp-inspector (one call a process, reckoned)", Some(one.median() * CALLS as f64));
    }
    Ok(line)
}

impl Suite<'_> {
    /// The same calls for `mcp-assert`: a file each.
    fn assertions(&self, program: &Path, folder: &Path) -> Result<impl Fn() -> Command + use<>, Trouble> {
        let suite = folder.join("suite");
        fs::create_dir_all(&suite).map_err(Trouble::file("make", &suite))?;
        let server = match &self.address {
            Address::Stdio(fixture) => format!("  command: '{}'\n  args: ['--stdio']\n", fixture.display()),
            Address::Url(url) => format!("  transport: http\n  url: '{url}'\n"),
        };
        let (tool, answer) = TOOL;
        for number in 0..CALLS {
            let file = suite.join(format!("call-{number:03}.yaml"));
            let text = format!(
                "name: call {number}\nserver:\n{server}assert:\n  tool: {tool}\n  args: {{}}\n  expect:\n    \
                 not_error: true\n    contains: ['{answer}']\n"
            );
            fs::write(&file, text).map_err(Trouble::file("write", &file))?;
        }
        let (program, home, flags) = (program.to_owned(), folder.to_owned(), self.flags.join(" "));
        Ok(move || {
            let mut command = clean(&program, &home);
            command.args(["run", "--suite"]).arg(&suite).args(flags.split_whitespace());
            command
        })
    }

    /// One of the calls by the command line of the MCP Inspector.
    fn inspector(&self, bench: &Bench<'_>, program: &Path, folder: &Path) -> Command {
        let node = bench.rival("node").unwrap_or_else(|| PathBuf::from("node"));
        let mut command = clean(&node, folder);
        command.arg(program).arg("--cli");
        match &self.address {
            Address::Stdio(fixture) => command.arg(fixture).arg("--stdio"),
            Address::Url(url) => command.arg(url).args(["--transport", "http"]),
        };
        command.args(["--method", "tools/call", "--tool-name", TOOL.0]);
        command
    }
}

/// The Go program in its Python package: the script beside it would add the start of Python.
fn mcp_assert(bench: &Bench<'_>) -> Option<PathBuf> {
    let versions = fs::read_dir(bench.place.tools.join("venv/lib")).ok()?;
    let program = |version: fs::DirEntry| version.path().join("site-packages/mcp_assert/bin/mcp-assert");
    versions.filter_map(Result::ok).map(program).find(|path| path.is_file())
}

fn checked(bench: &Bench<'_>, plan: &Path, words: &[&str]) -> Command {
    let mut command = clean(&bench.pintle(), plan.parent().unwrap_or(Path::new("/")));
    command.args(["check", "run"]).arg(plan).args(words);
    command
}

/// Milliseconds of a process that must succeed; what it prints is not looked at.
fn timed(command: &mut Command) -> Result<f64, Trouble> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status =
        command.status().map_err(|why| Trouble::Other(format!("{} does not start: {why}", run::shown(command))))?;
    let took = start.elapsed();
    if status.success() {
        Ok(ms(took))
    } else {
        Err(Trouble::Other(format!("{} ended with {status}", run::shown(command))))
    }
}

fn folder(bench: &Bench<'_>, name: &str) -> Result<PathBuf, Trouble> {
    let folder = bench.scratch.path().join(name);
    fs::create_dir_all(&folder).map_err(Trouble::file("make", &folder))?;
    Ok(folder)
}

fn calls(folder: &Path) -> Result<PathBuf, Trouble> {
    let (tool, answer) = TOOL;
    let step = |number| {
        format!(
            "call-{number}:\n  check: the tool answers\n  mcp: call\n  tool: {tool}\n  tool_error: false\n  stdout: \
             {{contains: {answer}}}\n\n"
        )
    };
    written(folder.join("calls.yml"), (0..CALLS).map(step).collect())
}

fn written(file: PathBuf, text: String) -> Result<PathBuf, Trouble> {
    fs::write(&file, text).map_err(Trouble::file("write", &file))?;
    Ok(file)
}

/// A plan of 1,000 steps, each with matchers, an expression and a look into structure.
pub fn validate(bench: &Bench<'_>) -> Result<Vec<Line>, Trouble> {
    let step = |number| {
        format!(
            "step-{number}:\n  check: call {number} answers as it should\n  mcp: call\n  tool: {}\n  input: {{}}\n  \
             stdout:\n    - contains: simple text\n    - matches: 'simple \\w+'\n  json:\n    - {{at: \
             /content/0/type, equals: text}}\n  timeout: 10s\n\n",
            TOOL.0
        )
    };
    let plan = written(folder(bench, "validate")?.join("plan.yml"), (0..1000).map(step).collect())?;
    let samples = repeat(RUNS, || {
        let mut command = clean(&bench.pintle(), bench.home());
        timed(command.args(["check", "validate"]).arg(&plan))
    })?;
    Ok(vec![Line::of("check validate, 1,000 steps", "ms", &samples).budget(50.0)])
}

/// A server of the old era that ignores what it does not know: the first question gets no answer.
const SILENT: &str = r#"while IFS= read -r line; do
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  case "$line" in
    *'"initialize"'*)
      printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"old","version":"1"}}}\n' "$id" ;;
    *'"ping"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{}}\n' "$id" ;;
  esac
done"#;

pub fn silent(bench: &Bench<'_>) -> Result<Vec<Line>, Trouble> {
    let script = written(folder(bench, "silent")?.join("server.sh"), SILENT.to_owned())?;
    let server = format!("sh {}", script.display());
    let samples = repeat(3, || {
        let mut command = clean(&bench.pintle(), bench.home());
        timed(command.args(["mcp", "probe", "--stdio", &server]))
    })?;
    Ok(vec![Line::of("mcp probe of a silent server of the old era", "ms", &samples).budget(2500.0)])
}

/// A server whose tool answers with 20 MB.
const LARGE: &str = r#"while IFS= read -r line; do
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  case "$line" in
    *'"server/discover"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}\n' "$id" ;;
    *'"initialize"'*)
      printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"large","version":"1"}}}\n' "$id" ;;
    *'"tools/call"'*)
      printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"' "$id"
      head -c 20000000 /dev/zero | tr '\0' x; printf '"}]}}\n' ;;
  esac
done"#;

/// The most memory that a run had whose ten answers were cut. Its last step, a child, reads it from the run's own entry
/// in the system's table.
pub fn memory(bench: &Bench<'_>) -> Result<Vec<Line>, Trouble> {
    let folder = folder(bench, "memory")?;
    let script = written(folder.join("server.sh"), LARGE.to_owned())?;
    let mut plan: String = (0..10)
        .map(|number| {
            format!(
                "large-{number}:\n  check: the answer is cut\n  mcp: call\n  tool: large\n  exit_status: 1\n  stderr: \
                 {{contains: was cut while reading}}\n\n"
            )
        })
        .collect();
    plan.push_str("most:\n  check: the memory of its parent\n  command: [sh, -c, 'grep VmHWM: /proc/$PPID/status']\n");
    let plan = written(folder.join("plan.yml"), plan)?;
    let server = format!("sh {}", script.display());
    let samples = repeat(3, || {
        let ended =
            run::bounded(&mut checked(bench, &plan, &["--stdio", &server, "--report", "json"]), PATIENCE, None)?;
        let text = String::from_utf8_lossy(&ended.output);
        let rest = text.split("VmHWM:").nth(1).unwrap_or_default().trim_start_matches(|c: char| !c.is_ascii_digit());
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        match digits.parse::<f64>().ok() {
            Some(kilobytes) if ended.status.is_some_and(|status| status.success()) => Ok(kilobytes * 1024.0 / 1e6),
            _ => Err(Trouble::Other(format!("the plan does not hold: {text:.2000}"))),
        }
    })?;
    Ok(vec![Line::of("check run, memory while answers of 20 MB are cut", "MB", &samples).budget(40.0)])
}
