//! Three real clusters under real clients: all answer, one is stopped in the middle of the session, and the others go on
//! being told; a person sees the same.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc;

use pintle_testkit::cluster::{Clusters, HOSTILE, private};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::served::pintle;
use crate::tools::{Grouped, LIMIT, clean, folder, need, run};

/// The official Python SDK: for each line of arguments one call, and its answer as a line.
const PYTHON: &str = r#"
import asyncio, json, sys
from mcp import Client, StdioServerParameters

async def main():
    words = sys.argv[1:]
    async with Client(StdioServerParameters(command=words[0], args=words[1:]), mode="auto") as client:
        tools = await client.list_tools()
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            answer = await client.call_tool("find_pod_issues", json.loads(line))
            print(json.dumps({
                "tools": len(tools.tools),
                "text": answer.content[0].text,
                "structured": answer.structured_content,
                "is_error": answer.is_error,
            }), flush=True)

asyncio.run(main())
"#;

/// The same by the official TypeScript SDK, which also holds each answer against the schema of its tool.
const NODE: &str = r#"
import readline from "node:readline";
const [sdk, command, ...args] = process.argv.slice(1);
const { Client } = await import(`${sdk}/client/index.js`);
const { StdioClientTransport } = await import(`${sdk}/client/stdio.js`);
const client = new Client({ name: "show", version: "1" });
await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
const { tools } = await client.listTools();
for await (const line of readline.createInterface({ input: process.stdin })) {
  const answer = await client.callTool({ name: "find_pod_issues", arguments: JSON.parse(line) });
  console.log(JSON.stringify({
    tools: tools.length,
    text: answer.content[0].text,
    structured: answer.structuredContent,
    is_error: answer.isError ?? false,
  }));
}
await client.close();
"#;

/// A client that has its server running.
struct Client {
    input: ChildStdin,
    answers: mpsc::Receiver<String>,
    _program: Grouped,
}

impl Client {
    fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut program = Grouped::start(command);
        let input = program.0.stdin.take().expect("a piped stdin");
        let output = BufReader::new(program.0.stdout.take().expect("a piped stdout"));
        let (sender, answers) = mpsc::channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                // nobody listens any more when the test is over
                let _ = sender.send(line);
            }
        });
        Self { input, answers, _program: program }
    }

    fn ask(&mut self) -> Value {
        writeln!(self.input, "{}", json!({"clusters": ["all"]})).expect("the client reads");
        let line = self.answers.recv_timeout(LIMIT).expect("the client answers");
        serde_json::from_str(&line).unwrap_or_else(|why| panic!("{why} in {line}"))
    }
}

/// The clients that are installed; of those that are not, a skip is told.
fn clients(home: &Path, server: &[String]) -> Vec<(&'static str, Client)> {
    let mut clients = Vec::new();
    if let Some(python) = need("python") {
        clients.push(("python", Client::start(clean(&python, home).args(["-c", PYTHON]).args(server))));
    }
    if let Some(node) = need("node") {
        let sdk = folder().join("node_modules/@modelcontextprotocol/sdk/dist/esm");
        let words = ["--input-type=module", "-e", NODE];
        clients.push(("node", Client::start(clean(&node, home).args(words).arg(sdk).args(server))));
    }
    clients
}

/// Which clusters have a finding about a pod, and what stopped the others.
fn told(answer: &Value) -> (Vec<&str>, Vec<(&str, &str)>) {
    let answer = &answer["structured"]["answer"];
    let rows = answer["rows"].as_array().expect("rows").iter();
    let mut live: Vec<&str> =
        rows.filter(|row| row["id"] == "pod/crash-loop").filter_map(|row| row["cluster"].as_str()).collect();
    live.sort_unstable();
    let sections = answer["clusters"].as_array().expect("a section for each cluster").iter();
    let dead = sections.filter_map(|section| Some((section["cluster"].as_str()?, section["error"]["code"].as_str()?)));
    (live, dead.collect())
}

fn linked(home: &Path) -> PathBuf {
    let program = home.join("kubestellar-ops");
    std::os::unix::fs::symlink(pintle(), &program).expect("a link can be made");
    program
}

fn crashing(clusters: &Clusters) -> Vec<pintle_testkit::cluster::Namespace<'_>> {
    let space = |context: &&str| {
        let namespace = clusters.namespace(context, "show");
        namespace.apply(
            "apiVersion: v1\nkind: Pod\nmetadata: {name: broken, labels: {app: broken}}\n\
             spec: {containers: [{name: main, image: 'registry.example/main:1'}]}\n",
        );
        namespace.pods("app=broken", "Running", 1);
        namespace.make_wait("broken", "main", "CrashLoopBackOff", 7);
        namespace
    };
    HOSTILE.iter().map(space).collect()
}

#[test]
fn kt_find_pod_issues_kw_50_kw_57_of_three_real_clusters_one_stops_and_the_others_are_told() {
    let Some(clusters) = private(&HOSTILE) else { return };
    let spaces = crashing(&clusters);
    let home = tempfile::tempdir().expect("a temporary folder");
    let kubeconfig = clusters.kubeconfig().display().to_string();
    let mut server = vec![linked(home.path()).display().to_string()];
    server.extend(["--kubeconfig", &kubeconfig, "--request-timeout", "5s", "--mcp-server"].map(str::to_owned));
    let mut clients = clients(home.path(), &server);
    let mut all: Vec<&str> = HOSTILE.to_vec();
    all.sort_unstable();
    for (client, asked) in &mut clients {
        let answer = asked.ask();
        assert_eq!(told(&answer), (all.clone(), Vec::new()), "{client}");
        assert_eq!((&answer["tools"], &answer["structured"]["outcome"]), (&json!(17), &json!("findings")), "{client}");
    }

    // one hangs: its connection stays, and nothing comes over it
    let stopped = HOSTILE[1];
    let live: Vec<&str> = all.iter().copied().filter(|context| *context != stopped).collect();
    let partial = |client: &str, answer: &Value, code: &str| {
        assert_eq!(told(answer), (live.clone(), vec![(stopped, code)]), "{client}");
        assert_eq!(answer["structured"]["outcome"], "partial", "{client}");
        assert_eq!(answer["is_error"], false, "{client}: what answered is worth reading");
        let text = answer["text"].as_str().expect("a text");
        assert!(all.iter().all(|context| text.contains(context)), "{client}: {text}");
    };
    clusters.set().signal_apiserver(stopped, Signal::STOP).expect("it can be stopped");
    for (client, asked) in &mut clients {
        partial(client, &asked.ask(), "timed_out");
    }
    // and then is gone
    clusters.set().signal_apiserver(stopped, Signal::KILL).expect("it can be killed");
    for (client, asked) in &mut clients {
        partial(client, &asked.ask(), "refused");
    }

    let words = ["ops", "--kubeconfig", &kubeconfig, "find-pod-issues", "--clusters", "*"];
    let person = run(clean(&pintle(), home.path()).args(words));
    assert_eq!(person.code, Some(3), "{}{}", person.stdout, person.stderr);
    let shown = format!("{}{}", person.stdout, person.stderr);
    for context in &live {
        let row = person.stdout.lines().find(|line| line.contains(context) && line.contains("broken"));
        assert!(row.is_some(), "{context}: {shown}");
    }
    let dead = shown.lines().find(|line| line.contains(stopped) && line.contains("refuses connections"));
    assert!(dead.is_some(), "{shown}");
    drop(clients);
    drop(spaces);
    clusters.stop();
}
