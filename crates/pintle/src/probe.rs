//! `mcp probe`, `tools`, `call`, `read`, `prompts`: one question to any MCP server, outside of plans.

mod arguments;
mod ask;
mod facts;

use crate::check::{server, signals::Signals};
use crate::{Ended, document::parsed};
use clap::{Arg, ArgAction, ArgMatches, Command, builder::PossibleValuesParser};
use pintle_check::{Address, Server};
use pintle_cli::{Console, Options, show_failure};
use pintle_client::{CallOptions, Closed, EndedBy, Error, Fault, Session, Stage};
use pintle_core::{Exit, Failure, Foreign, Redactor};
use serde_json::Value;
use std::{
    path::Path,
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

/// How long the whole question may take.
const LIMIT: Duration = Duration::from_secs(30);

/// The words of these commands.
pub(crate) const WORDS: [&str; 5] = ["probe", "tools", "call", "read", "prompts"];

/// The commands, for parsing, help, completions and manual pages.
pub(crate) fn commands() -> Vec<Command> {
    vec![
        command("probe", "Look at any MCP server: era, name, capabilities, what it lists, how fast"),
        command("tools", "List the tools of any MCP server: name, description"),
        command("call", "Call a tool of any MCP server")
            .arg(Arg::new("name").value_name("NAME").required(true).help("The tool's name"))
            .args(arguments::flags()),
        command("read", "Read a resource of any MCP server")
            .arg(Arg::new("uri").value_name("URI").required(true).help("The resource's URI")),
        command("prompts", "List the prompts of any MCP server, or get one")
            .arg(Arg::new("name").value_name("NAME").help("The prompt's name; all are listed without it"))
            .args(arguments::flags()),
    ]
}

fn command(name: &'static str, about: &'static str) -> Command {
    Command::new(name)
        .about(about)
        .after_help("Exit code: 0, 2 the server or tool failed, 1 nothing could be started, 64 wrong usage.")
        .arg(
            Arg::new("output")
                .long("output")
                .value_name("FORM")
                .action(ArgAction::Set)
                .value_parser(PossibleValuesParser::new(["text", "json"]))
                .hide_possible_values(true)
                .help("text, as the `mcp` verb of a plan prints it, or json, the whole result [default: text]"),
        )
        .arg(crate::check::deadline_flag("Give up after this long [default: 30s]"))
        .args(server::flags())
}

/// One of [`WORDS`] with what stands behind it.
pub(crate) fn run(word: &str, words: &[String]) -> Ended {
    let Some(flags) = commands().into_iter().find(|command| command.get_name() == word) else {
        return Ok(Exit::Usage.code());
    };
    let Some(matches) = parsed(flags, &format!("pintle mcp {word}"), words)? else { return Ok(Exit::Ok.code()) };
    let question = Question::of(word, &matches)?;
    let runtime = crate::check::runtime()?;
    let ended = runtime.block_on(question.asked());
    runtime.shutdown_background();
    ended
}

/// What is asked, of whom, and how the answer is shown.
struct Question {
    ask: ask::Ask,
    server: Server,
    redactor: Redactor,
    limit: Duration,
    json: bool,
    console: Console,
}

/// What came of it.
struct Answer {
    text: String,
    value: Value,
    /// Why the answer is one of failure.
    failure: Option<Failure>,
}

impl Question {
    fn of(word: &str, matches: &ArgMatches) -> Result<Self, Failure> {
        let ask = ask::Ask::of(word, matches)?;
        let (server, redactor) = server::resolved(&server::demanded(matches)?)?;
        Ok(Self {
            ask,
            server,
            redactor,
            limit: crate::check::deadline(matches)?.unwrap_or(LIMIT),
            json: matches.get_one::<String>("output").is_some_and(|form| form == "json"),
            console: Console::of_process(&Options::default()),
        })
    }

    async fn asked(self) -> Ended {
        let cancel = CancellationToken::new();
        let signals = Signals::listen()?;
        let answer = tokio::select! {
            answer = self.answer(&cancel) => answer,
            () = signals.twice(cancel.clone(), || {}) => return Ok(Exit::Interrupted.code()),
        };
        match answer {
            Ok(answer) => self.show(answer),
            Err(Unanswered::Refused(failure)) => Err(failure),
            Err(Unanswered::Failed { error, hint }) => {
                let (failure, exit) = server::failed(&error, &self.redactor);
                show_failure(&self.console, &hint.into_iter().fold(failure, Failure::hint));
                Ok(exit)
            }
        }
    }

    async fn answer(&self, cancel: &CancellationToken) -> Result<Answer, Unanswered> {
        let begun = Instant::now();
        let session = tokio::select! {
            session = self.connect() => session?,
            () = cancel.cancelled() => return Err(self.cancelled().into()),
        };
        let connected = begun.elapsed();
        let options = CallOptions {
            timeout: Some(self.limit.saturating_sub(connected).max(Duration::from_millis(1))),
            cancel: Some(cancel.clone()),
            ..CallOptions::default()
        };
        let answered = match &self.ask {
            ask::Ask::Probe => facts::look(&session, &options, connected).await.map_err(Unanswered::from),
            ask => ask.put(&session, &options).await,
        };
        let closing = Instant::now();
        let closed = session.close().await;
        let mut answer = answered?;
        match closed {
            Ok(closed) if matches!(self.ask, ask::Ask::Probe) => {
                facts::end(&mut answer, &closed, closing.elapsed());
            }
            Ok(Closed::Child { by: EndedBy::Kill, .. }) => {
                self.console.err("note: the server ended neither with its input nor on TERM and was killed\n");
            }
            Ok(_) => {}
            Err(error) => self.console.err(&format!("note: {}\n", self.masked(&error.to_string()))),
        }
        Ok(answer)
    }

    async fn connect(&self) -> Result<Session, Error> {
        let endpoint = pintle_check::endpoint(&self.server, Path::new(""))?;
        let options = pintle_client::Options {
            connect_timeout: self.limit,
            request_timeout: self.limit,
            // A server that is silent to the probe must still have time to shake hands.
            probe_limit: Duration::from_secs(2).min(self.limit / 2),
            ..pintle_client::Options::default()
        };
        pintle_client::connect(&endpoint, options).await
    }

    fn cancelled(&self) -> Error {
        let stage = match self.server.address {
            Address::Stdio(_) => Stage::Handshake,
            Address::Url(_) => Stage::Connect,
        };
        Error { stage, fault: Fault::Cancelled }
    }

    fn masked(&self, text: &str) -> String {
        self.redactor.text(&Foreign::new(text).text).into_owned()
    }

    fn show(&self, mut answer: Answer) -> Ended {
        if self.json {
            self.redactor.value(&mut answer.value);
            let text = serde_json::to_string_pretty(&answer.value).unwrap_or_else(|_| answer.value.to_string());
            self.console.out(&format!("{text}\n"));
        } else {
            self.console.out(&self.masked(&answer.text));
        }
        if let Some(failure) = self.console.failure() {
            return Err(failure);
        }
        match answer.failure {
            Some(failure) => {
                show_failure(&self.console, &failure);
                Ok(Exit::Checks.code())
            }
            None => Ok(Exit::Ok.code()),
        }
    }
}

/// Why there is no answer.
enum Unanswered {
    /// What was asked for makes no sense to this server.
    Refused(Failure),
    /// The client or the server failed.
    Failed { error: Error, hint: Option<String> },
}

impl From<Error> for Unanswered {
    fn from(error: Error) -> Self {
        Self::Failed { error, hint: None }
    }
}
