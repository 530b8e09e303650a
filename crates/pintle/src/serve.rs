//! `mcp serve`: the agents' door of this program.

mod flags;
mod tools;

use crate::{
    Ended,
    job::Setup,
    probe,
    servers::{self, Registration},
    shelf, surroundings,
};
use clap::{Command, error::ErrorKind};
use flags::{Flags, Transport};
use pintle_cli::{Console, Options, refusal_of};
use pintle_core::{Code, Exit, Failure};
use pintle_dispatch::{Catalog, Settings};
use pintle_mcp::{HttpOptions, ServerOptions, serve_http, serve_stdio};

/// Set where the surroundings are known to be isolated: a box whose port is published on loopback only.
const ISOLATED: &str = "CHARLY_MCP_INSECURE";

/// The group `mcp`. `personality` is the toolset that is served when nobody says which.
pub(crate) fn mcp(program: &str, personality: Option<&str>, words: &[String]) -> Ended {
    let console = Console::of_process(&Options::default());
    let command = match personality {
        None => group(program).subcommands(probe::commands()),
        Some(_) => group(program),
    };
    match words.first().map(String::as_str) {
        Some("serve") => serve(&format!("{program} serve"), personality, &words[1..]),
        // A toolset's own command only serves: which server is meant there is never said by whoever calls.
        Some(word) if personality.is_none() && probe::WORDS.contains(&word) => probe::run(word, &words[1..]),
        Some("-h" | "--help" | "help") => {
            console.out(&command.clone().render_help().to_string());
            Ok(Exit::Ok.code())
        }
        None => {
            console.err(&command.clone().render_help().to_string());
            Ok(Exit::Usage.code())
        }
        Some(word) => Err(Failure::new(Code::UnknownTool, format!("unknown command `{program} {word}`"))
            .did_you_mean(word, ["serve"].into_iter().chain(probe::WORDS.into_iter().filter(|_| personality.is_none())))
            .hint(format!("`{program} --help` lists the commands"))),
    }
}

/// The group with its commands, for help, completions and manual pages.
pub(crate) fn group(program: &str) -> Command {
    Command::new("mcp")
        .bin_name(program.to_owned())
        .about("Speak the Model Context Protocol")
        .disable_help_subcommand(true)
        .subcommand(flags::command())
}

/// The command `serve`, for toolsets that have one of their own.
pub(crate) fn command() -> Command {
    flags::command()
}

fn serve(path: &str, personality: Option<&str>, words: &[String]) -> Ended {
    run(command(), path, personality, words)
}

/// Serves as `command`, which has the flags of `serve` and perhaps more, says.
pub(crate) fn start(command: Command, path: &str, personality: &str, words: &[String]) -> Ended {
    run(command, path, Some(personality), words)
}

fn run(command: Command, path: &str, personality: Option<&str>, words: &[String]) -> Ended {
    let command = command.bin_name(path.to_owned()).no_binary_name(true);
    let matches = match command.try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            Console::of_process(&Options::default()).out(&error.render().to_string());
            return Ok(Exit::Ok.code());
        }
        Err(error) => return Err(refusal_of(&error, path)),
    };
    let flags = Flags::of(&matches)?;
    let server = Server::new(flags, personality)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Failure::io("starting the server", &error))?;
    let ended = runtime.block_on(server.run());
    // Whatever still blocks a thread keeps nobody from leaving.
    runtime.shutdown_background();
    ended.map(|()| Exit::Ok.code())
}

/// A server of which nobody can see that it runs serves all the same.
fn unseen(error: &std::io::Error) {
    let failure = Failure::io("writing down that this server runs", error);
    let console = Console::of_process(&Options::default());
    console.err(&format!("pintle: {}; `pintle eggs mcp status` and `stop` do not see it\n", failure.message));
}

/// How a job of this server is set up.
fn setup(names: &[String], flags: &Flags) -> Setup {
    Setup {
        toolsets: names.to_vec(),
        project: flags.project.clone(),
        clusters: flags.clusters.clone(),
        policy: flags.policy.clone(),
        audit: flags.audit.clone(),
        allow_secrets: flags.allow_secrets,
    }
}

/// A server that is ready to start.
struct Server {
    catalog: Catalog,
    options: ServerOptions,
    transport: Transport,
    /// What the start-up line tells besides the address.
    told: String,
    /// What it serves, as it was asked for.
    names: Vec<String>,
}

impl Server {
    fn new(flags: Flags, personality: Option<&str>) -> Result<Self, Failure> {
        let names = match flags.toolsets.as_slice() {
            [] => personality.map_or_else(shelf::usual, |name| vec![name.to_owned()]),
            named => named.to_vec(),
        };
        let settings = Settings {
            policy: surroundings::policy(flags.policy.as_deref())?,
            read_only: flags.read_only,
            tools: flags.tools.as_deref().map(tools::globs).transpose()?,
            name_style: flags.name_style,
            allow_secrets: flags.allow_secrets,
            state: surroundings::state(),
            audit: flags.audit.clone(),
            jobs: setup(&names, &flags).starter(),
            lanes: surroundings::lanes(),
        };
        let hosts = shelf::Hosts::of(&flags.project, &flags.clusters, &surroundings::state_path()?)?;
        flags.project.demand(&hosts.boxes)?;
        let toolsets = shelf::toolsets(&names, &hosts)?;
        let missing = shelf::missing_leaves(&toolsets);
        if let Some(wanted) = &flags.tools {
            tools::check(wanted, &toolsets)?;
        }
        let version = match toolsets.as_slice() {
            [only] if only.name == "charly" => pintle_charly::version(),
            _ => env!("CARGO_PKG_VERSION"),
        };
        let audited = settings.audit.is_some();
        let catalog = Catalog::new(toolsets, settings).map_err(|failure| match failure.code {
            Code::Io if audited => failure.hint("--audit names a file that can be written, in a folder that is there"),
            _ => failure,
        })?;
        let mut options = ServerOptions::new(version);
        options.output_schemas = flags.output_schemas;
        let told = missing
            .filter(|count| *count > 0)
            .map(|count| format!(" ({count} of charly's 190 leaves are missing yet)"))
            .unwrap_or_default();
        Ok(Self { catalog, options, transport: flags.transport, told, names })
    }

    async fn run(mut self) -> Result<(), Failure> {
        let console = Console::of_process(&Options::default());
        let transport = match &self.transport {
            Transport::Stdio => servers::Transport::Stdio,
            Transport::Http(_) => servers::Transport::Http,
        };
        // Until the end of this.
        let registered = Registration::new(&self.names, transport, unseen);
        self.options.newcomers = Some(registered.newcomers());
        let count = self.catalog.names().count();
        let told = self.told;
        let started = |place: &str| console.err(&format!("pintle: {count} tools {place}{told}\n"));
        match self.transport {
            Transport::Stdio => serve_stdio(self.catalog, self.options, || started("on stdio")).await,
            Transport::Http(http) => {
                let http = HttpOptions { insecure: std::env::var_os(ISOLATED).is_some_and(|v| v == "1"), ..http };
                serve_http(self.catalog, self.options, http, |bound| started(&format!("at {}", bound.url))).await
            }
        }
    }
}
