//! The calls of the worked example, and how they are shown.

use pintle_cli::Console;
use pintle_client::{CallOptions, Closed, Endpoint, Options, Session, Stdio, connect};
use pintle_core::{Code, Failure, Foreign};
use serde_json::{Value, json};
use std::{path::Path, time::Instant};

/// Name of the project's folder.
pub(crate) const PROJECT: &str = "hello";
/// Lines of one answer that are shown.
const LINES: usize = 16;

/// The example in one folder.
pub(crate) struct Story<'a> {
    pub(crate) console: &'a Console,
    /// Where the project is made.
    pub(crate) place: &'a Path,
    /// Where the server keeps its state, so that the user's own is left alone.
    pub(crate) state: &'a Path,
}

/// One call: the tool, its arguments, and whether its answer is shown.
struct Step {
    why: &'static str,
    tool: &'static str,
    arguments: Value,
    shown: Shown,
}

/// How much of an answer is worth reading.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// The first line.
    Line,
    /// The text as it is.
    Text,
    /// Lines that a diff adds.
    Added,
    /// JSON in one line.
    Json,
}

fn steps() -> Vec<Step> {
    let step = |why, tool, arguments, shown| Step { why, tool, arguments, shown };
    vec![
        step("a project", "box.new.project", json!({"dir": PROJECT}), Shown::Line),
        step(
            "a box on a base image",
            "box.new.box",
            json!({"name": "hello", "base": "quay.io/fedora/fedora:43"}),
            Shown::Added,
        ),
        step("a candy, which is a layer", "box.new.candy", json!({"name": "hello-svc"}), Shown::Line),
        step(
            "with a package",
            "candy.add-rpm",
            json!({"name": "hello-svc", "packages": ["openssh-server"]}),
            Shown::Added,
        ),
        step(
            "into the box, by the older names of arguments",
            "box.add-candy",
            json!({"image": "hello", "layer": "hello-svc"}),
            Shown::Added,
        ),
        step("does it hold together? by the tool's older name", "image.validate", json!({}), Shown::Line),
        step("read back what was written", "box.cat", json!({"path": "charly.yml"}), Shown::Text),
        step("and the candy", "box.cat", json!({"path": "candy/hello-svc/charly.yml"}), Shown::Text),
        step("the box, resolved", "box.inspect", json!({"image": "hello"}), Shown::Json),
    ]
}

impl Story<'_> {
    /// Tells it, from the start of the server to its end.
    pub(crate) async fn tell(&self) -> Result<(), Failure> {
        let begun = Instant::now();
        let session = self.start().await?;
        let result = self.calls(&session).await;
        let closed = session.close().await;
        let count = result?;
        ended(closed)?;
        let ms = begun.elapsed().as_millis();
        self.console.out(&format!("{count} calls over MCP in {ms} ms, the start of the server included\n"));
        Ok(())
    }

    async fn start(&self) -> Result<Session, Failure> {
        let program =
            std::env::current_exe().map_err(|error| Failure::io("finding this program's own path", &error))?;
        let words = ["mcp", "serve", "--stdio", "--toolset", "charly"];
        self.console.out(&format!("starting `pintle {}` and calling it as an MCP client does\n\n", words.join(" ")));
        let mut server = Stdio::new([program.into_os_string()].into_iter().chain(words.map(Into::into)));
        server.environment = server.environment.set("XDG_STATE_HOME", self.state);
        server.directory = Some(self.place.to_owned());
        connect(&Endpoint::Stdio(server), Options::default())
            .await
            .map_err(|error| failed("starting the server", &error))
    }

    async fn calls(&self, session: &Session) -> Result<usize, Failure> {
        let steps = steps();
        for step in &steps {
            self.console.out(&format!("# {}\n> {} {}\n", step.why, step.tool, step.arguments));
            let result = session
                .call_tool(step.tool, Some(step.arguments.clone()), &CallOptions::default())
                .await
                .map_err(|error| failed(step.tool, &error))?;
            let text = text_of(&result);
            if result["isError"] == true {
                return Err(Failure::new(Code::Remote, format!("{}: {text}", step.tool)));
            }
            self.console.out(&shown(&text, step.shown));
        }
        Ok(steps.len())
    }
}

fn text_of(result: &Value) -> String {
    let texts = result["content"].as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
    Foreign::new(&texts.collect::<Vec<_>>().join("\n")).text
}

fn shown(text: &str, how: Shown) -> String {
    let added = |line: &&str| line.starts_with('+') && !line.starts_with("+++");
    let lines: Vec<&str> = match how {
        Shown::Line => text.lines().take(1).collect(),
        Shown::Text => text.lines().collect(),
        Shown::Added => text.lines().filter(added).collect(),
        Shown::Json => {
            let line = serde_json::from_str::<Value>(text).map_or_else(|_| text.to_owned(), |value| value.to_string());
            return format!("  {line}\n\n");
        }
    };
    let mut out: String = lines.iter().take(LINES).map(|line| format!("  {line}\n")).collect();
    if lines.len() > LINES {
        out.push_str("  …\n");
    }
    out.push('\n');
    out
}

fn failed(what: &str, error: &pintle_client::Error) -> Failure {
    Failure::new(Code::Remote, format!("{what}: {error}")).hint("`pintle doctor` looks for what is wrong here")
}

fn ended(closed: Result<Closed, pintle_client::Error>) -> Result<(), Failure> {
    closed.map(drop).map_err(|error| failed("ending the server", &error))
}
