//! A run with one of everything that a report may meet, hostile text included.

use pintle_check::{Mismatch, PlanOutcome, RunOutcome, Status, StepOutcome};
use serde_json::json;

const WEB: &str = "\
greets:
  check: the server answers
  mcp: ping
tools:
  check: the tool list is complete
  mcp: list-tools
  json:
    - {at: '$.tools[*].name', contains: echo, count: 3}
echo:
  check: echo gives back what it was given
  mcp: call
  tool: echo
  input: {text: grüße}
  stdout: {equals: grüße}
report:
  check: the report has the agreed shape
  mcp: call
  tool: report
  json:
    - at: /structuredContent
      equals: {name: web, ports: [80, 443], labels: {tier: front, owner: ops}}
later:
  check: deletes what echo made
  mcp: call
  depends_on: [echo]
slow:
  run: waits until the index is built
  command: ./index --wait
";

const HOSTILE: &str = "\
<script>alert(1)</script>:
  check: \"]]> --> <img src=x onerror=alert(1)> # | `*` \\\"\"
\t漢字: {stdout: {equals: x}}
missing:
  check: needs a program
  command: no-such-program
";

/// Text that tries to leave every format it is put into.
pub const EVIL: &str = "</pre></script><script>window.hacked = 1</script><img src=x onerror=\"window.hacked = 1\">]]>\
                        &amp;&lt;\u{1b}[31mred\u{1b}]0;title\u{7}\u{0}\u{8}\r\n...\nok 99 - forged\n::error::forged\n\
                        ``````\n| a | b |\u{202e}txt\u{ffff}";

pub fn step(name: &str, status: Status) -> StepOutcome {
    StepOutcome {
        id: name.to_owned(),
        name: name.to_owned(),
        prose: String::new(),
        keyword: "check".to_owned(),
        plan: "plans/web.yml".to_owned(),
        line: 1,
        verb: "mcp".to_owned(),
        method: Some("call".to_owned()),
        status,
        message: String::new(),
        mismatches: Vec::new(),
        stdout: String::new(),
        stderr: String::new(),
        warnings: Vec::new(),
        attempts: 1,
        elapsed_ms: 0,
        target: "stdio ./web-server --quiet".to_owned(),
        endpoint: None,
    }
}

fn web() -> PlanOutcome {
    let ping = StepOutcome {
        prose: "the server answers".to_owned(),
        method: Some("ping".to_owned()),
        stdout: "ok\n".to_owned(),
        elapsed_ms: 12,
        endpoint: Some("http://127.0.0.1:8080/mcp".to_owned()),
        ..step("greets", Status::Passed)
    };
    let tools = StepOutcome {
        prose: "the tool list is complete".to_owned(),
        line: 4,
        method: Some("list-tools".to_owned()),
        stdout: "echo\tgives back\nadd\tadds\n".to_owned(),
        warnings: vec!["2 lines on standard output are not JSON-RPC".to_owned()],
        message: "request tools/list: 1 of 2 assertions does not hold".to_owned(),
        mismatches: vec![Mismatch {
            line: 8,
            column: 47,
            subject: "$.tools[*].name".to_owned(),
            operator: "count".to_owned(),
            expected: json!(3),
            actual: Some(json!(2)),
        }],
        elapsed_ms: 41,
        ..step("tools", Status::Failed)
    };
    let echo = StepOutcome {
        prose: "echo gives back what it was given".to_owned(),
        line: 9,
        message: "request tools/call: 1 assertion does not hold".to_owned(),
        mismatches: vec![Mismatch {
            line: 14,
            column: 12,
            subject: "stdout".to_owned(),
            operator: "equals".to_owned(),
            expected: json!("grüße"),
            actual: None,
        }],
        stderr: (1..=60).map(|n| format!("{n:>3} trace: connection 漢字 retried\n")).collect(),
        attempts: 3,
        elapsed_ms: 3_250,
        ..step("echo", Status::Failed)
    };
    let report = StepOutcome {
        prose: "the report has the agreed shape".to_owned(),
        line: 15,
        message: "request tools/call: 1 assertion does not hold".to_owned(),
        mismatches: vec![Mismatch {
            line: 21,
            column: 7,
            subject: "/structuredContent".to_owned(),
            operator: "equals".to_owned(),
            expected: json!({"name": "web", "ports": [80, 443], "labels": {"tier": "front", "owner": "ops"}}),
            actual: Some(json!({"labels": {"owner": "ops", "tier": "back"}, "ports": [80], "name": "web"})),
        }],
        elapsed_ms: 95,
        ..step("report", Status::Failed)
    };
    let later = StepOutcome {
        prose: "deletes what echo made".to_owned(),
        line: 22,
        message: "depends on echo, which failed".to_owned(),
        attempts: 0,
        ..step("later", Status::Skipped)
    };
    let slow = StepOutcome {
        prose: "waits until the index is built".to_owned(),
        keyword: "run".to_owned(),
        line: 26,
        verb: "command".to_owned(),
        method: None,
        attempts: 9,
        elapsed_ms: 72_400,
        ..step("slow", Status::Passed)
    };
    PlanOutcome {
        file: "plans/web.yml".to_owned(),
        source: WEB.to_owned(),
        steps: vec![ping, tools, echo, report, later, slow],
    }
}

fn hostile() -> PlanOutcome {
    let file = "plans/<hostile> & \"co\".yml";
    let evil = StepOutcome {
        prose: "]]> --> <img src=x onerror=alert(1)> # | `*` \"\\".to_owned(),
        plan: file.to_owned(),
        method: Some("<b>".to_owned()),
        message: EVIL.to_owned(),
        mismatches: vec![
            Mismatch {
                line: 3,
                column: 14,
                subject: EVIL.to_owned(),
                operator: "equals".to_owned(),
                expected: json!("x"),
                actual: Some(json!(EVIL)),
            },
            Mismatch {
                line: 3,
                column: 14,
                subject: "stdout".to_owned(),
                operator: "matches".to_owned(),
                expected: json!("^y"),
                actual: Some(json!("z".repeat(5_000))),
            },
        ],
        stdout: EVIL.to_owned(),
        stderr: format!("  indented first\n{EVIL}\n{}", "w".repeat(2_000)),
        warnings: vec![EVIL.to_owned()],
        attempts: 2,
        elapsed_ms: 7,
        target: EVIL.to_owned(),
        endpoint: Some(EVIL.to_owned()),
        ..step("<script>alert(1)</script>", Status::Failed)
    };
    let missing = StepOutcome {
        prose: "needs a program".to_owned(),
        plan: file.to_owned(),
        line: 4,
        verb: "command".to_owned(),
        method: None,
        message: "spawn: no-such-program: not found in PATH".to_owned(),
        attempts: 1,
        elapsed_ms: 1,
        ..step("missing", Status::Error)
    };
    PlanOutcome { file: file.to_owned(), source: HOSTILE.to_owned(), steps: vec![evil, missing] }
}

/// Two plans, eight steps, every status.
pub fn run() -> RunOutcome {
    RunOutcome {
        version: "0.1.0".to_owned(),
        target: "stdio ./web-server --quiet".to_owned(),
        began: "2026-03-04T05:06:07Z".to_owned(),
        elapsed_ms: 75_900,
        interrupted: false,
        plans: vec![web(), hostile()],
    }
}

/// Only the first plan's steps that passed.
pub fn good_run() -> RunOutcome {
    let mut run = run();
    run.plans.truncate(1);
    run.plans[0].steps.retain(|step| step.status == Status::Passed);
    run.elapsed_ms = 72_412;
    run
}
