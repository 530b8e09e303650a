//! A server whose tools run as jobs, and what runs them.
//!
//! `job-fixture serve STATE` serves on standard input and output, `job-fixture run STATE ID` runs one job.

use pintle_core::{Code, Confirm, Failure};
use pintle_dispatch::{Catalog, Settings, SpawnedJobs, StateFolder};
use pintle_mcp::{ServerOptions, serve_stdio, until_terminated};
use pintle_testkit::flights_toolset;
use std::{process::ExitCode, sync::Arc};

fn main() -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return told(&Failure::io("starting", &error)),
    };
    let words: Vec<String> = std::env::args().skip(1).collect();
    let ended = runtime.block_on(start(&words));
    runtime.shutdown_background();
    ended.map_or_else(|failure| told(&failure), |()| ExitCode::SUCCESS)
}

#[expect(clippy::print_stderr, reason = "where a server speaks to its operator")]
fn told(failure: &Failure) -> ExitCode {
    eprintln!("job-fixture: {}", failure.text());
    ExitCode::from(failure.code.exit().code())
}

async fn start(words: &[String]) -> Result<(), Failure> {
    match words {
        [serve, state] if serve == "serve" => {
            let program = std::env::current_exe().map_err(|error| Failure::io("finding this program", &error))?;
            let jobs = SpawnedJobs::new(program, ["run", state], serde_json::Value::Null);
            serve_stdio(catalog(state, Some(jobs))?, ServerOptions::new("1"), || {}).await
        }
        [run, state, id] if run == "run" => {
            let cancel = until_terminated()?;
            catalog(state, None)?.run_job(id, cancel).await
        }
        _ => Err(Failure::new(Code::InvalidArgument, "job-fixture serve STATE, or job-fixture run STATE ID")),
    }
}

fn catalog(state: &str, jobs: Option<SpawnedJobs>) -> Result<Catalog, Failure> {
    let settings = Settings {
        state: Some(StateFolder::at(state)),
        jobs: jobs.map(|jobs| Arc::new(jobs) as _),
        ..Settings::default()
    };
    Catalog::new(vec![flights_toolset(Confirm::Nothing)], settings)
}
