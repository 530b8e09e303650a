//! `check run`: plans, run against a server or this host, with reports.

use super::{plans, provider, server, signals::Signals};
use crate::{Ended, document::parsed};
use clap::{Arg, ArgAction, ArgMatches, Command, builder::PossibleValuesParser};
use pintle_check::report::{self, Format, Records, Reports};
use pintle_check::{Events, PlanSet, RunError, RunOptions, RunOutcome, progress_bar};
use pintle_cli::{Color, Console, Options, duration};
use pintle_core::{Code, Exit, Failure, Redactor};
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

/// Steps at once, at most.
const MOST_JOBS: u64 = 256;

pub(super) fn flags() -> Command {
    let list = |id: &'static str, name: &'static str, help: &'static str| {
        Arg::new(id).long(id).value_name(name).action(ArgAction::Append).help(help)
    };
    let switch = |id: &'static str, help: &'static str| Arg::new(id).long(id).action(ArgAction::SetTrue).help(help);
    let number =
        |id: &'static str, help: &'static str| Arg::new(id).long(id).value_name("N").action(ArgAction::Set).help(help);
    let value = |id: &'static str, name: &'static str, help: &'static str| {
        Arg::new(id).long(id).value_name(name).action(ArgAction::Set).help(help)
    };
    Command::new("run")
        .about("Run plans and report what holds")
        .after_help(
            "Exit code: 0 all passed, 2 a step failed, 1 something could not be judged, 64 a plan or flag is wrong \
             (nothing was run), 130 interrupted.",
        )
        .arg(plans::argument())
        .arg(list("filter", "WORD", "Only steps of this verb, or whose id fits this glob"))
        .arg(value("section", "NAME", "Only steps of this part of a box: candy, box or deploy"))
        .arg(list(
            "report",
            "FORMAT[=FILE]",
            "A report: text, json, tap, junit, markdown or html, to standard output or a file [default: text]",
        ))
        .arg(
            number("jobs", "Steps at once where none waits for another [default: 1]")
                .value_parser(clap::value_parser!(u64).range(1..=MOST_JOBS)),
        )
        .arg(list("var", "NAME=VALUE", "Another value for a variable of the plans"))
        .arg(switch("reuse-sessions", "Share a session per server between steps"))
        .arg(deadline_flag("End the whole run after this long, such as 30s or 5m"))
        .arg(
            value("record", "FOLDER", "Keep a record of the run, and a page of the runs so far [default: .check]")
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value(".check"),
        )
        .arg(switch("update-snapshots", "Write snapshots instead of comparing them"))
        .arg(switch("fail-on-skip", "A skipped step fails the run"))
        .arg(
            number("require", "Fewer passed steps than this fail the run")
                .value_parser(clap::value_parser!(u64).range(0..=1_000_000)),
        )
        .arg(provider::flag())
        .arg(switch("quiet", "No progress, no notes"))
        .arg(
            value("color", "WHEN", "Colours: auto, always or never")
                .value_parser(PossibleValuesParser::new(["auto", "always", "never"]))
                .hide_possible_values(true),
        )
        .args(server::flags())
}

pub(super) fn command(words: &[String]) -> Ended {
    let Some(matches) = parsed(flags(), "pintle check run", words)? else { return Ok(Exit::Ok.code()) };
    let texts = |id: &str| matches.get_many::<String>(id).into_iter().flatten().map(String::as_str);
    let console = Console::of_process(&Options {
        quiet: matches.get_flag("quiet"),
        color: match texts("color").next() {
            Some("always") => Color::Always,
            Some("never") => Color::Never,
            _ => Color::Auto,
        },
        ..Options::default()
    });
    let reports = Reports::parse(texts("report"))?;
    let registry = Arc::new(provider::registry(&matches)?);
    let count = |id: &str| matches.get_one::<u64>(id).map(|count| usize::try_from(*count).unwrap_or(usize::MAX));
    let options = RunOptions {
        server: server::named(&matches)?,
        filter: texts("filter").map(str::to_owned).collect(),
        section: texts("section").next().map(str::to_owned),
        jobs: count("jobs").unwrap_or(1),
        reuse_sessions: matches.get_flag("reuse-sessions"),
        deadline: deadline(&matches)?,
        vars: variables(&matches)?,
        update_snapshots: matches.get_flag("update-snapshots"),
        fail_on_skip: matches.get_flag("fail-on-skip"),
        require: count("require").unwrap_or_default(),
        registry: Arc::clone(&registry),
        ..RunOptions::default()
    };
    let set = pintle_check::load(&plans::paths(&matches), &registry).map_err(|error| plans::refused(&error))?;
    known(&options.vars, &set)?;
    reports.probe()?;
    let records = texts("record").next().map(Records::in_folder);
    if let Some(records) = &records {
        records.probe()?;
    }
    let events: Events = if matches.get_flag("quiet") { Arc::new(|_| {}) } else { progress_bar() };
    let Some(outcome) = carry_out(set, options.clone(), events, &console)? else {
        return Ok(Exit::Interrupted.code());
    };
    // A report that cannot be written must not cost the record, nor the other way round.
    let shown = show(&outcome, &reports, &console);
    if let Some(records) = &records {
        // The engine has masked every secret in the outcome.
        let kept = records.keep(&outcome, &Redactor::new())?;
        if !matches.get_flag("quiet") {
            console.err(&format!("recorded; {} shows the last runs\n", kept.page.display()));
        }
    }
    shown?;
    Ok(options.exit(&outcome).code())
}

/// Runs; none when it was interrupted twice, and then nothing is waited for.
pub(crate) fn carry_out(
    set: PlanSet,
    options: RunOptions,
    events: Events,
    console: &Console,
) -> Result<Option<RunOutcome>, Failure> {
    let runtime = if options.jobs > 1 { threads()? } else { runtime()? };
    let cancel = CancellationToken::new();
    let ended = runtime.block_on(async {
        let signals = Signals::listen()?;
        let told = || console.err("interrupted; what runs is ended, once more to wait for nothing\n");
        tokio::select! {
            outcome = pintle_check::run(set, options, events, cancel.clone()) => outcome.map(Some).map_err(refused),
            () = signals.twice(cancel.clone(), told) => Ok(None),
        }
    });
    runtime.shutdown_background();
    ended
}

/// What a run and its servers need. One thread: a step waits for its server, and handing each line of an answer from
/// one thread to the next would cost more than all that is done with it.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    started(&mut tokio::runtime::Builder::new_current_thread())
}

/// The same for steps that run at once.
fn threads() -> Result<tokio::runtime::Runtime, Failure> {
    started(tokio::runtime::Builder::new_multi_thread().worker_threads(2))
}

fn started(builder: &mut tokio::runtime::Builder) -> Result<tokio::runtime::Runtime, Failure> {
    builder.enable_all().build().map_err(|error| Failure::io("starting", &error))
}

fn refused(error: RunError) -> Failure {
    let code = match error {
        RunError::Usage { .. } => Code::InvalidArgument,
        RunError::NothingFits(_) => Code::NotFound,
    };
    Failure::new(code, error.to_string()).hint(error.hint())
}

/// Brings every report to its place.
fn show(outcome: &RunOutcome, reports: &Reports, console: &Console) -> Result<(), Failure> {
    let options = report::Options { color: console.colors_out(), width: console.terminal().width };
    let mut printed = Vec::new();
    // The engine has masked every secret in the outcome.
    let written = reports.write(outcome, &Redactor::new(), options, &mut printed);
    console.out(&String::from_utf8_lossy(&printed));
    let on_github = std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true");
    if on_github && reports.on_stdout() == Some(Format::Text) {
        console.out(&report::annotations(outcome));
    }
    written?;
    console.failure().map_or(Ok(()), Err)
}

pub(crate) fn deadline_flag(help: &'static str) -> Arg {
    Arg::new("deadline").long("deadline").value_name("TIME").action(ArgAction::Set).help(help)
}

/// The time that `--deadline` gives.
///
/// # Errors
/// Code `invalid_argument` for a time without unit.
pub(crate) fn deadline(matches: &ArgMatches) -> Result<Option<Duration>, Failure> {
    let wrong = |why: String| {
        Failure::new(Code::InvalidArgument, format!("`--deadline` {why}")).hint("write it like 500ms, 30s, 1m30s or 2h")
    };
    matches.get_one::<String>("deadline").map(|text| duration(text).map_err(wrong)).transpose()
}

fn variables(matches: &ArgMatches) -> Result<BTreeMap<String, String>, Failure> {
    let mut all = BTreeMap::new();
    for text in matches.get_many::<String>("var").into_iter().flatten() {
        let (name, value) = text.split_once('=').ok_or_else(|| {
            Failure::new(Code::InvalidArgument, format!("`--var` must be NAME=VALUE, and `{text}` is not"))
        })?;
        if all.insert(name.to_owned(), value.to_owned()).is_some() {
            return Err(Failure::new(Code::InvalidArgument, format!("`--var` names `{name}` twice")));
        }
    }
    Ok(all)
}

/// A variable that no plan has would change nothing.
fn known(vars: &BTreeMap<String, String>, set: &PlanSet) -> Result<(), Failure> {
    let names = || set.plans.iter().flat_map(|plan| &plan.vars).map(|(name, _)| name.as_str());
    match vars.keys().find(|name| !names().any(|known| known == *name)) {
        Some(name) => Err(Failure::new(Code::InvalidArgument, format!("`--var {name}`: no plan has that variable"))
            .did_you_mean(name, names())
            .hint("a plan declares its variables under `vars:`")),
        None => Ok(()),
    }
}
