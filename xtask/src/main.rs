//! The workspace's own commands: `cargo xtask test|docs|coverage|bench|dist|cluster|tools`.
//!
//! Each command is a module; what they share is the place of things (`place`), running a program
//! (`run`) and the results of the last test run (`results`).
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line program talks on its streams")]

mod bench;
mod cluster;
mod coverage;
mod dist;
mod docs;
mod kubectl;
mod libtest;
mod place;
mod results;
mod run;
mod skips;
mod test;
mod tools;

use std::process::ExitCode;

use place::Place;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test [FILTER…]       install what tests need, build, run every test; with FILTER only those that match
  docs [--check]       write docs/tools from the operations; --check only tells whether they drifted
  coverage [PREFIX…]   list the rows of spec/rows.toml without a passing test that names them
  bench [--json FILE]  measure and print the budgets; [--only WORD] takes lines whose name has WORD
  dist                 build the static program that is given away, and look at it
  cluster up [N] [--nodes K]
                       start N real Kubernetes control planes (one if not said) and print KUBECONFIG=…
  cluster down         stop them and leave nothing behind
  tools                install the tools of the tests and nothing else
";

/// What a command ends with: done, or an honest no that was already told on the way.
enum End {
    Good,
    Bad,
}

/// Why a command could not do its work; told on stderr by `main`.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error("{0}\n\n{USAGE}")]
    Usage(String),
    #[error("cannot {what} `{path}`: {source}")]
    File { what: &'static str, path: String, source: std::io::Error },
    #[error("cannot start `{program}`: {source}")]
    Start { program: String, source: std::io::Error },
    #[error("`{command}` failed ({status}){detail}")]
    Failed { command: String, status: String, detail: String },
    #[error("{0}")]
    Missing(String),
    #[error("{0}")]
    Other(String),
}

impl Trouble {
    fn file(what: &'static str, path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.display().to_string();
        move |source| Self::File { what, path, source }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match command(&arguments) {
        Ok(End::Good) => ExitCode::SUCCESS,
        Ok(End::Bad) => ExitCode::from(1),
        Err(trouble @ Trouble::Usage(_)) => {
            eprintln!("xtask: {trouble}");
            ExitCode::from(64)
        }
        Err(trouble) => {
            eprintln!("xtask: {trouble}");
            ExitCode::from(1)
        }
    }
}

fn command(arguments: &[String]) -> Result<End, Trouble> {
    let Some((name, rest)) = arguments.split_first() else {
        return Err(Trouble::Usage("no command given".into()));
    };
    let place = Place::find()?;
    match name.as_str() {
        "test" => test::command(&place, rest),
        "docs" => docs::command(&place, rest),
        "coverage" => coverage::command(&place, rest),
        "bench" => bench::command(&place, rest),
        "cluster" => cluster::command(&place, rest),
        "dist" => {
            nothing_more(name, rest)?;
            dist::command(&place)
        }
        "tools" => {
            nothing_more(name, rest)?;
            tools::install(&place)?;
            Ok(End::Good)
        }
        "help" | "--help" | "-h" => {
            print!("{USAGE}");
            Ok(End::Good)
        }
        other => Err(Trouble::Usage(format!("unknown command `{other}`"))),
    }
}

fn nothing_more(name: &str, rest: &[String]) -> Result<(), Trouble> {
    match rest.first() {
        Some(extra) => Err(Trouble::Usage(format!("`{name}` takes no argument, got `{extra}`"))),
        None => Ok(()),
    }
}
