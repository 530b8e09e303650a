//! Programs that carry out verbs: named for a run, or this program as one.

use crate::Ended;
use clap::{Arg, ArgAction, ArgMatches};
use pintle_check::{OutOfProcess, Registry};
use pintle_core::{Code, Exit, Failure};
use pintle_process::Environment;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// `--provider VERB=CMD`
pub(super) fn flag() -> Arg {
    Arg::new("provider")
        .long("provider")
        .value_name("VERB=CMD")
        .action(ArgAction::Append)
        .help("Let this program carry out a verb: one step as a line of JSON in, one verdict out")
}

/// Who carries out which verb.
///
/// # Errors
/// Code `invalid_argument`: a flag that is not VERB=CMD.
pub(super) fn registry(matches: &ArgMatches) -> Result<Registry, Failure> {
    let mut registry = Registry::new();
    for text in matches.get_many::<String>("provider").into_iter().flatten() {
        let (verb, command) = text.split_once('=').filter(|(verb, _)| is_word(verb)).ok_or_else(|| {
            Failure::new(Code::InvalidArgument, format!("`--provider` must be VERB=CMD, and `{text}` is not"))
        })?;
        let argv = super::server::argv(&format!("--provider {verb}"), command)?;
        let provider = OutOfProcess::new(argv).with_environment(Environment::clean());
        registry = registry.provide(verb, Arc::new(provider));
    }
    Ok(registry)
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

/// `check-provider`: this program as the provider of its own verbs. Not for people.
pub(crate) fn serve(words: &[String]) -> Ended {
    if let Some(word) = words.first() {
        return Err(Failure::new(Code::InvalidArgument, format!("`pintle check-provider` does not take `{word}`"))
            .hint("it is started by `pintle check run --provider`, and reads steps from standard input"));
    }
    let runtime = super::run::runtime()?;
    let ended = runtime.block_on(async {
        let input = tokio::io::BufReader::new(tokio::io::stdin());
        pintle_check::serve(input, tokio::io::stdout(), CancellationToken::new()).await
    });
    runtime.shutdown_background();
    ended.map(|()| Exit::Ok.code()).map_err(|error| Failure::io("serving steps", &error))
}
