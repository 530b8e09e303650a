//! The people's door of this program: which tools a command is looked up in, and who calls.

use crate::{
    Ended, clusters, document, house,
    job::Setup,
    personality::Personality,
    project::Project,
    registry, serve,
    shelf::{self, Hosts},
    surroundings,
};
use pintle_cli::{Commands, Console, Invocation, Options, Parsed, Terminal, leading_flags, parse_call, run};
use pintle_core::{Code, Doors, Exit, Failure, Spec, Toolset, nearest};
use pintle_dispatch::{Catalog, NameStyle, Settings, StateFolder};
use std::{path::Path, sync::Arc};

/// Words behind `pintle` that are neither a toolset nor an operation of the house.
const OWN_WORDS: [&str; 7] = ["mcp", "check", "quickstart", "call", "completions", "man", "help"];

/// The commands of the box toolset.
pub(crate) fn charly(program: &str, words: &[String]) -> Ended {
    let flags = crate::project::flags();
    let (before, rest) = words.split_at(leading_flags(words, &flags));
    match rest.first().map(String::as_str) {
        Some("mcp") => {
            let words: Vec<String> = rest[1..].iter().chain(before).cloned().collect();
            return serve::mcp(&format!("{program} mcp"), Some("charly"), &words);
        }
        Some("--version" | "-V") if rest.len() == 1 => return charly(program, &["version".to_owned()]),
        Some("completions") => return document::completions("charly", &rest[1..]),
        Some("man") => return document::man("charly", &rest[1..]),
        _ => {}
    }
    let known = Known::new(shelf::boxes)?;
    let parsed = commands(&known.toolsets, program, Personality::Charly.summary()).with_extras(flags).parse(words)?;
    finish(parsed, |call| known.catalog(call))
}

/// The tools for boxes, and the words behind flags of the project; none where those mean another folder than this one.
pub(crate) fn typed(words: &[String]) -> Option<(Vec<Toolset>, &[String])> {
    let elsewhere = |word: &String| word.starts_with("-C") || word.starts_with("--dir");
    if words.iter().any(elsewhere) {
        return None;
    }
    let hosts = Hosts::of(&Project::default(), &clusters::Said::default(), &surroundings::state_path().ok()?).ok()?;
    Some((shelf::boxes(&hosts), &words[leading_flags(words, &crate::project::flags())..]))
}

/// The commands of the toolset for clusters; `said` stood before them.
pub(crate) fn ops(program: &str, words: &[String], said: &clusters::Said) -> Ended {
    let state = surroundings::state_path();
    // Help and refusals need no state.
    let hosts = Hosts::of(&nowhere(), said, state.as_deref().unwrap_or("/".as_ref()))?;
    let toolsets = shelf::clusters(&hosts);
    let commands = commands(&toolsets, program, Personality::Ops.summary()).with_leading(clusters::flags(true));
    let mut parsed = commands.parse(words)?;
    if let Parsed::Call(call) = &mut parsed {
        let specs = toolsets.iter().flat_map(|toolset| &toolset.tools).map(|tool| tool.spec());
        said.fill_in(call, specs);
    }
    finish(parsed, |_| Catalog::new(toolsets, surroundings::settings()?))
}

/// The commands of the pack of eggs, and those that manage what serves it to agents.
pub(crate) fn eggs(program: &str, words: &[String]) -> Ended {
    let state = surroundings::state();
    let folder = state.as_ref().map_or(Path::new("/"), StateFolder::path);
    let hosts = Hosts::of(&nowhere(), &clusters::Said::default(), folder)?;
    let toolsets = vec![shelf::eggs(&hosts)?, crate::eggs::toolset(state.as_ref())];
    let parsed = commands(&toolsets, program, Personality::Eggs.summary()).parse(words)?;
    let jobs = Setup::of([Personality::Eggs.toolset(), "extra"]).starter();
    finish(parsed, |_| Catalog::new(toolsets, Settings { jobs, ..surroundings::settings()? }))
}

/// The commands of the pack of that name, if there is one; its name is not among the words.
fn pack(name: &str, words: &[String]) -> Option<Ended> {
    let state = surroundings::state();
    let host = Arc::new(pintle_pack::Host::new(pintle_pack::Surroundings::of_process(state)));
    let toolset = match pintle_pack::toolset(&host, name, true) {
        Ok(toolset) => toolset,
        Err(failure) if failure.code == Code::NotFound => return None,
        Err(failure) => return Some(Err(failure)),
    };
    let jobs = Setup::of([name, "extra"]).starter();
    let about = toolset.summary;
    let toolsets = vec![toolset];
    let parsed = commands(&toolsets, &format!("pintle {name}"), about).parse(words);
    Some(
        parsed.and_then(|parsed| {
            finish(parsed, |_| Catalog::new(toolsets, Settings { jobs, ..surroundings::settings()? }))
        }),
    )
}

/// The tools as they are looked up. What is called may need to act somewhere else.
struct Known {
    make: fn(&Hosts) -> Vec<Toolset>,
    toolsets: Vec<Toolset>,
    /// Whether they act where a call without flags of the project means.
    here: bool,
}

impl Known {
    fn new(make: fn(&Hosts) -> Vec<Toolset>) -> Result<Self, Failure> {
        // Help and refusals need no project, no state and no policy.
        let said = clusters::Said::default();
        match Hosts::of(&Project::default(), &said, &surroundings::state_path().unwrap_or_default()) {
            Ok(hosts) => Ok(Self { make, toolsets: make(&hosts), here: surroundings::state().is_some() }),
            Err(_) => Ok(Self { make, toolsets: make(&nobodys()?), here: false }),
        }
    }

    fn catalog(self, call: &Invocation) -> Result<Catalog, Failure> {
        let project = Project::of(&call.extras);
        let toolsets = if self.here && project == Project::default() {
            self.toolsets
        } else {
            (self.make)(&Hosts::of(&project, &clusters::Said::default(), &surroundings::state_path()?)?)
        };
        let jobs = Setup { project, ..Setup::of(shelf::NAMES.into_iter().filter(|name| *name != "deploy")) }.starter();
        Catalog::new(toolsets, Settings { jobs, ..surroundings::settings()? })
    }

    fn find(&self, name: &str) -> Option<&Spec> {
        let same = |known: &str| known == name || NameStyle::Underscore.show(known) == name;
        specs(&self.toolsets).find(|spec| same(&spec.name) || spec.aliases.iter().any(|alias| same(alias)))
    }
}

pub(crate) fn specs(toolsets: &[Toolset]) -> impl Iterator<Item = &Spec> {
    let all = toolsets.iter().flat_map(|toolset| &toolset.tools).map(|tool| tool.spec());
    all.filter(|spec| spec.doors != Doors::Agents)
}

/// The operations of the house: approvals, doctor, link and so on.
pub(crate) fn house(words: &[String]) -> Ended {
    if let Some(ended) = registry::as_users(words) {
        return ended;
    }
    let toolsets = registry::toolsets(surroundings::state());
    let rest = &words[leading_flags(words, &[])..];
    if let Some(first) = rest.first()
        && !first.starts_with('-')
        && first != "help"
        && !specs(&toolsets).any(|spec| spec.name.split('.').next() == Some(first))
    {
        let (before, behind) = (&words[..words.len() - rest.len()], &rest[1..]);
        return pack(first, &[before, behind].concat()).unwrap_or_else(|| Err(unknown(first, &toolsets)));
    }
    let parsed = commands(&toolsets, "pintle", house::SUMMARY).parse(words)?;
    finish(parsed, |_| Catalog::new(toolsets, surroundings::settings()?))
}

fn unknown(word: &str, house: &[Toolset]) -> Failure {
    let toolsets = Personality::ALL.map(Personality::toolset);
    let operations = specs(house).map(|spec| spec.name.as_str());
    let near = nearest(word, operations.chain(OWN_WORDS).chain(toolsets)).map(|near| format!("pintle {near}"));
    let failure = Failure::new(Code::UnknownTool, format!("unknown command `pintle {word}`"));
    let failure = match near.or_else(|| near_tool(word)) {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure,
    };
    failure.hint("`pintle --help` lists the commands, `pintle tools` the tools")
}

/// A tool's name typed where a toolset belongs: `pintle box.validate`, `pintle box validate`.
fn near_tool(word: &str) -> Option<String> {
    let named = |spec: &Spec| {
        let shown = NameStyle::Underscore.show(&spec.name);
        [&*spec.name, &*shown, &*shown.replace('_', "-")].contains(&word) || spec.aliases.contains(&word)
    };
    let fits = |spec: &Spec| named(spec) || spec.name.split('.').next() == Some(word);
    let toolsets = listed().ok()?;
    let toolset = toolsets.iter().find(|toolset| toolset.tools.iter().any(|tool| fits(tool.spec())))?;
    Some(format!("pintle {} {word}", shelf::word_of(toolset)))
}

/// `pintle call NAME …`: any tool of any toolset.
pub(crate) fn call(words: &[String]) -> Ended {
    let house = registry::toolsets(surroundings::state());
    let known = Known::new(shelf::all)?;
    let find = |name: &str| known.find(name).or_else(|| specs(&house).find(|spec| spec.name == name));
    let parsed = parse_call(words, "pintle call", &crate::project::flags(), find)?;
    finish(parsed, |call| {
        if known.find(&call.tool).is_none() && specs(&house).any(|spec| spec.name == call.tool) {
            return Catalog::new(house, surroundings::settings()?);
        }
        known.catalog(call)
    })
}

fn commands<'a>(toolsets: &'a [Toolset], program: &str, about: &str) -> Commands<'a> {
    let terminal = Terminal::of_process();
    let colored = terminal.output && terminal.error && terminal.colors;
    Commands::new(program, about, specs(toolsets)).colored(colored)
}

fn finish(parsed: Parsed, catalog: impl FnOnce(&Invocation) -> Result<Catalog, Failure>) -> Ended {
    match parsed {
        Parsed::Help(text) => told(&Console::of_process(&Options::default()), &text),
        Parsed::Incomplete(text) => {
            Console::of_process(&Options::default()).err(&text);
            Ok(Exit::Usage.code())
        }
        Parsed::Call(call) => {
            let console = Arc::new(Console::of_process(&call.options));
            let catalog = catalog(&call)?;
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(|error| Failure::io("starting", &error))?;
            let code = runtime.block_on(run(&catalog, &call, &console, surroundings::caller()));
            // A thread that still waits for a disk or a person keeps nobody from leaving.
            runtime.shutdown_background();
            Ok(code)
        }
    }
}

/// The top of everything: asked for, or for want of a command.
pub(crate) fn root_help(asked: bool) -> Ended {
    let mut command = document::root_listing()?;
    let console = Console::of_process(&Options::default());
    let text = command.render_help();
    let text = if console.colors_out() { text.ansi().to_string() } else { text.to_string() };
    if asked {
        return told(&console, &text);
    }
    console.err(&text);
    Ok(Exit::Usage.code())
}

/// Writes help that was asked for; on a full disk that is a failure.
fn told(console: &Console, text: &str) -> Ended {
    console.out(text);
    console.failure().map_or(Ok(Exit::Ok.code()), Err)
}

/// Every toolset with its tools, for listings; nothing in them is ever called.
pub(crate) fn listed() -> Result<Vec<Toolset>, Failure> {
    Ok(shelf::all(&nobodys()?))
}

/// Hosts of tools that are only looked at.
pub(crate) fn nobodys() -> Result<Hosts, Failure> {
    Hosts::of(&nowhere(), &clusters::Said::default(), "/".as_ref())
}

/// A project that nothing is done in.
pub(crate) fn nowhere() -> Project {
    Project { dir: Some("/".into()), ..Project::default() }
}
