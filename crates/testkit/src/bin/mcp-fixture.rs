//! The server that the conformance suite is run against; with `--trial`, also what other tests are run against.

use pintle_core::{Code, Failure};
use pintle_dispatch::{Catalog, LocalJobs, NameStyle, Policy, Settings, StateFolder};
use pintle_mcp::{HttpOptions, ServerOptions, serve_http, serve_stdio};
use pintle_testkit::{ONLY_AS_TASKS, World, fixture_toolset, trial_toolset};
use std::{path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

const USAGE: &str = "mcp-fixture --listen ADDR | --stdio [--path P] [--trial] [--tools N] [--state DIR] [--policy FILE] \
[--token-file FILE] [--allowed-host H] [--allowed-origin O] [--insecure] [--underscore] [--no-output-schemas] \
[--page-size N] [--heartbeat-ms N] [--sessions N] [--allow-secrets] [--tasks]";

#[derive(Default)]
struct Arguments {
    stdio: bool,
    trial: bool,
    dummies: usize,
    http: HttpOptions,
    settings: Settings,
    page_size: Option<usize>,
    heartbeat: Option<Duration>,
    no_output_schemas: bool,
    tasks: bool,
}

fn main() -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return told(&Failure::io("starting", &error)),
    };
    let ended = runtime.block_on(run());
    // Work that does not end by itself is not waited for.
    runtime.shutdown_background();
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => told(&failure),
    }
}

#[expect(clippy::print_stderr, reason = "where a server speaks to its operator")]
fn told(failure: &Failure) -> ExitCode {
    eprintln!("mcp-fixture: {}", failure.text());
    ExitCode::from(failure.code.exit().code())
}

#[expect(clippy::print_stderr, reason = "the start-up line")]
async fn run() -> Result<(), Failure> {
    let mut arguments = parse(std::env::args().skip(1))?;
    // Jobs of this server end with it, and so does what they leave, unless a folder was given.
    let folder = tempfile::tempdir().map_err(|error| Failure::io("making a state folder", &error))?;
    if arguments.tasks {
        let settings = &mut arguments.settings;
        settings.state.get_or_insert_with(|| StateFolder::at(folder.path()));
        settings.jobs = Some(Arc::new(LocalJobs::new(settings.clone(), || vec![fixture_toolset()])));
    }
    let mut toolsets = vec![fixture_toolset()];
    if arguments.trial || arguments.dummies > 0 {
        toolsets.push(trial_toolset(&Arc::new(World::default()), arguments.dummies));
    }
    let catalog = Catalog::new(toolsets, arguments.settings)?;
    let tools = catalog.names().count();
    let mut options = ServerOptions::new(env!("CARGO_PKG_VERSION"));
    options.output_schemas = !arguments.no_output_schemas;
    options.page_size = arguments.page_size;
    options.only_as_tasks = ONLY_AS_TASKS.into_iter().filter(|_| arguments.tasks).map(str::to_owned).collect();
    options.heartbeat = arguments.heartbeat.unwrap_or(options.heartbeat);
    if arguments.stdio {
        serve_stdio(catalog, options, || eprintln!("mcp-fixture: {tools} tools on stdio")).await
    } else {
        let bound = |bound: &pintle_mcp::Bound| eprintln!("mcp-fixture: {tools} tools at {}", bound.url);
        serve_http(catalog, options, arguments.http, bound).await
    }
}

fn parse(mut given: impl Iterator<Item = String>) -> Result<Arguments, Failure> {
    let mut arguments = Arguments::default();
    let mut chosen = false;
    while let Some(flag) = given.next() {
        let mut value = || {
            given
                .next()
                .ok_or_else(|| Failure::new(Code::InvalidArgument, format!("{flag}: needs a value")).hint(USAGE))
        };
        match flag.as_str() {
            "--stdio" => (arguments.stdio, chosen) = (true, true),
            "--listen" => (arguments.http.listen, chosen) = (value()?, true),
            "--path" => arguments.http.path = value()?,
            "--trial" => arguments.trial = true,
            "--tasks" => arguments.tasks = true,
            "--tools" => arguments.dummies = number(&flag, &value()?)?,
            "--state" => arguments.settings.state = Some(StateFolder::at(value()?)),
            "--policy" => arguments.settings.policy = policy(&PathBuf::from(value()?))?,
            "--token-file" => arguments.http.token_file = Some(value()?.into()),
            "--allowed-host" => arguments.http.allowed_hosts.push(value()?),
            "--allowed-origin" => arguments.http.allowed_origins.push(value()?),
            "--insecure" => arguments.http.insecure = true,
            "--underscore" => arguments.settings.name_style = NameStyle::Underscore,
            "--no-output-schemas" => arguments.no_output_schemas = true,
            "--allow-secrets" => arguments.settings.allow_secrets = true,
            "--page-size" => arguments.page_size = Some(number(&flag, &value()?)?),
            "--sessions" => arguments.http.sessions = number(&flag, &value()?)?,
            "--heartbeat-ms" => {
                arguments.heartbeat = Some(Duration::from_millis(number(&flag, &value()?)? as u64));
            }
            _ => return Err(Failure::new(Code::InvalidArgument, format!("unknown option `{flag}`")).hint(USAGE)),
        }
    }
    if chosen {
        return Ok(arguments);
    }
    Err(Failure::new(Code::InvalidArgument, "neither --stdio nor --listen was given").hint(USAGE))
}

fn number(flag: &str, text: &str) -> Result<usize, Failure> {
    text.parse().map_err(|_| Failure::new(Code::InvalidArgument, format!("{flag} `{text}`: is not a number")))
}

fn policy(path: &std::path::Path) -> Result<Policy, Failure> {
    let text =
        std::fs::read_to_string(path).map_err(|error| Failure::io(format!("reading `{}`", path.display()), &error))?;
    Policy::parse(&text, path).map_err(|error| Failure::new(Code::InvalidArgument, error.to_string()))
}
