//! The flags of `mcp serve`.

use crate::{clusters, project, surroundings};
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, builder::PossibleValuesParser};
use pintle_core::{Code, Failure};
use pintle_dispatch::{NameStyle, ReadOnly};
use pintle_mcp::HttpOptions;
use std::path::PathBuf;

/// What was said.
pub(crate) struct Flags {
    pub(crate) toolsets: Vec<String>,
    pub(crate) transport: Transport,
    pub(crate) read_only: ReadOnly,
    pub(crate) tools: Option<Vec<String>>,
    pub(crate) name_style: NameStyle,
    pub(crate) output_schemas: bool,
    pub(crate) allow_secrets: bool,
    pub(crate) policy: Option<PathBuf>,
    pub(crate) audit: Option<PathBuf>,
    pub(crate) project: project::Project,
    pub(crate) clusters: clusters::Said,
}

/// How clients reach the server.
pub(crate) enum Transport {
    Stdio,
    Http(HttpOptions),
}

/// The flags that make sense over HTTP alone.
const HTTP_ONLY: [&str; 5] = ["listen", "path", "token-file", "allowed-host", "allowed-origin"];

/// The command, for parsing, help, completions and manual pages.
pub(crate) fn command() -> Command {
    Command::new("serve")
        .about("Serve tools to MCP clients")
        .long_about(
            "Serves tools to MCP clients, over Streamable HTTP or, with --stdio, over standard input and output. The \
             address reaches this machine only; a wider one needs --token-file. One line on standard error tells when \
             clients can come.",
        )
        .args(what())
        .args(transport())
        .args(limits())
        .args(project::flags())
        .args(clusters::flags(false))
}

fn value(id: &'static str, name: &'static str, help: impl Into<String>) -> Arg {
    Arg::new(id).long(id).value_name(name).action(ArgAction::Set).help(help.into())
}

fn switch(id: &'static str, help: &'static str) -> Arg {
    Arg::new(id).long(id).action(ArgAction::SetTrue).help(help)
}

fn list(id: &'static str, name: &'static str, help: &'static str) -> Arg {
    value(id, name, help).action(ArgAction::Append)
}

fn what() -> Vec<Arg> {
    vec![
        list("toolset", "LIST", "Toolsets, such as `charly,extra`; all that can work here when it is left out"),
        list("tools", "GLOB,…", "Only tools whose names match, such as `box.*,version`"),
        value("name-style", "STYLE", "Names `dotted` as they are, or `underscore` for clients that refuse dots")
            .value_parser(PossibleValuesParser::new(["dotted", "underscore"]))
            .hide_possible_values(true),
        switch("no-output-schemas", "List tools without the schemas of their answers"),
    ]
}

fn transport() -> Vec<Arg> {
    let http = |arg: Arg| arg.help_heading("Over HTTP");
    let default = HttpOptions::default();
    vec![
        switch("stdio", "Speak on standard input and output, and end with the input").conflicts_with_all(HTTP_ONLY),
        http(value(
            "listen",
            "ADDR",
            format!("HOST:PORT, or :PORT for every interface; port 0 is any free one [default: {}]", default.listen),
        )),
        http(value("path", "PATH", format!("Path of the endpoint [default: {}]", default.path))),
        http(
            value("token-file", "FILE", "Bearer tokens, one a line; nobody but its owner may read it")
                .value_hint(ValueHint::FilePath),
        ),
        http(list(
            "allowed-host",
            "HOST",
            "Another name by which clients may call this server: HOST, HOST:PORT or HOST:*",
        )),
        http(list("allowed-origin", "ORIGIN", "An origin whose web pages may call, such as https://example.org")),
    ]
}

fn limits() -> Vec<Arg> {
    let limits = |arg: Arg| arg.help_heading("Limits");
    vec![
        limits(switch("read-only", "Leave out the tools that their toolset counts as mutating")),
        limits(switch("strict-read-only", "Leave out every tool that does more than look").conflicts_with("read-only")),
        limits(switch("allow-secrets", "Let tools that show secrets serve agents")),
        limits(
            value(
                "policy",
                "FILE",
                format!(
                    "Rules of the operator; {} where it is there, which only the operator should own",
                    surroundings::POLICY
                ),
            )
            .value_hint(ValueHint::FilePath),
        ),
        limits(
            value("audit", "FILE", "Write every call there, instead of into the folder for state")
                .value_hint(ValueHint::FilePath),
        ),
    ]
}

impl Flags {
    /// From what clap found.
    pub(crate) fn of(matches: &ArgMatches) -> Result<Self, Failure> {
        let word = |id: &str| matches.get_one::<String>(id).cloned();
        let words = |id: &str| matches.get_many::<String>(id).map(|values| values.cloned().collect::<Vec<_>>());
        Ok(Self {
            toolsets: words("toolset").map(|lists| elements("toolset", &lists)).transpose()?.unwrap_or_default(),
            transport: if matches.get_flag("stdio") { Transport::Stdio } else { Transport::Http(http(matches)) },
            read_only: match (matches.get_flag("read-only"), matches.get_flag("strict-read-only")) {
                (_, true) => ReadOnly::Strict,
                (true, false) => ReadOnly::Listed,
                (false, false) => ReadOnly::No,
            },
            tools: words("tools").map(|lists| elements("tools", &lists)).transpose()?,
            name_style: match word("name-style").as_deref() {
                Some("underscore") => NameStyle::Underscore,
                _ => NameStyle::Dotted,
            },
            output_schemas: !matches.get_flag("no-output-schemas"),
            allow_secrets: matches.get_flag("allow-secrets"),
            policy: word("policy").map(PathBuf::from),
            audit: word("audit").map(PathBuf::from),
            project: project::Project::matched(matches),
            clusters: clusters::Said::matched(matches),
        })
    }
}

fn http(matches: &ArgMatches) -> HttpOptions {
    let word = |id: &str| matches.get_one::<String>(id).cloned();
    let words = |id: &str| matches.get_many::<String>(id).into_iter().flatten().cloned().collect::<Vec<_>>();
    let usual = HttpOptions::default();
    HttpOptions {
        listen: word("listen").unwrap_or(usual.listen),
        path: word("path").unwrap_or(usual.path),
        token_file: word("token-file").map(PathBuf::from),
        allowed_hosts: words("allowed-host"),
        allowed_origins: words("allowed-origin"),
        ..HttpOptions::default()
    }
}

/// The elements of lists that are written with commas.
fn elements(flag: &str, lists: &[String]) -> Result<Vec<String>, Failure> {
    let all: Vec<String> = lists.iter().flat_map(|list| list.split(',')).map(|word| word.trim().to_owned()).collect();
    if all.iter().any(String::is_empty) {
        return Err(Failure::new(Code::InvalidArgument, format!("`--{flag}` has an empty element"))
            .hint("write it as `a,b`, without blanks"));
    }
    Ok(all)
}
