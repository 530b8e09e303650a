//! `pack.show`

use crate::host::Host;
use pintle_core::{Answer, Call, Doors, Query, Stop, View};
use pintle_packfile::{Confirm, Effects, Elevate, Join, Kind, OptionDef, Rules, Spelling, Verb};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many choices are shown by name.
const FEW: usize = 3;

/// Show what a pack may run
///
/// Lists its commands as they are started, as whom they run, what they do, and what they need first. Without a name, lists the
/// packs.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct ShowPack {
    /// Name of the pack
    #[schemars(extend("x-cli" = {"positional": 1}))]
    name: Option<String>,
}

/// What there is.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ShownPacks {
    /// The packs.
    packs: Vec<ShownPack>,
}

/// One pack.
#[derive(Debug, Serialize, JsonSchema)]
struct ShownPack {
    /// Its name.
    name: String,
    /// What it is for.
    summary: String,
    /// Where it comes from.
    origin: String,
    /// Where its program is looked for.
    candidates: Vec<String>,
    /// The program that is used, or why none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<String>,
    /// Its verbs; left out in the list of all packs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    verbs: Vec<ShownVerb>,
    /// Its tools.
    tools: Vec<String>,
    /// Its resources.
    resources: Vec<String>,
}

/// One command, under one condition.
#[derive(Debug, Serialize, JsonSchema)]
struct ShownVerb {
    /// Its name in the pack.
    name: String,
    /// When this holds; always, if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    when: Option<String>,
    /// The arguments of the program, what may be left out in brackets.
    argv: String,
    /// `always`, `never` or `refuse-root`.
    elevate: &'static str,
    /// What it does.
    effects: Vec<String>,
    /// What it needs first: `nothing`, `plan` or `human`.
    confirm: &'static str,
    /// How long it may take, in seconds.
    deadline_s: u64,
}

impl Query for ShowPack {
    type Host = Host;
    type Answer = ShownPacks;
    const NAME: &'static str = "pack.show";
    const DOORS: Doors = Doors::People;

    async fn run(self, host: &Host, _: &Call) -> Result<ShownPacks, Stop> {
        let names = match self.name {
            Some(name) => vec![host.pack(&name)?.pack.name.clone()],
            None => {
                let packs = host.packs().iter().map(|loaded| shown(loaded, None)).collect();
                return Ok(ShownPacks { packs });
            }
        };
        let mut packs = Vec::new();
        for name in names {
            let loaded = host.pack(&name)?;
            let program = match host.finder().find(loaded, host.surroundings(), false).await {
                Ok(found) => found.path.display().to_string(),
                Err(failure) => failure.message,
            };
            packs.push(shown(loaded, Some(program)));
        }
        Ok(ShownPacks { packs })
    }
}

fn shown(loaded: &crate::load::Loaded, program: Option<String>) -> ShownPack {
    let pack = &loaded.pack;
    let verbs = if program.is_some() { pack.verbs.values().flat_map(cases).collect() } else { Vec::new() };
    ShownPack {
        name: pack.name.clone(),
        summary: pack.summary.clone(),
        origin: loaded.origin.to_string(),
        candidates: pack.program.candidates.clone(),
        program,
        verbs,
        tools: pack.tools.iter().map(|tool| tool.name.clone()).collect(),
        resources: pack.resources.iter().map(|resource| resource.uri.clone()).collect(),
    }
}

/// A verb as it usually is, and as it is under each of its conditions.
fn cases(verb: &Verb) -> Vec<ShownVerb> {
    let conditions = std::iter::once(None).chain(verb.when.iter().map(|case| Some(condition(&case.on))));
    verb.all_rules().zip(conditions).map(|(rules, when)| case(verb, &rules, when)).collect()
}

fn case(verb: &Verb, rules: &Rules, when: Option<String>) -> ShownVerb {
    ShownVerb {
        name: verb.name.clone(),
        when,
        argv: template(verb),
        elevate: match rules.elevate {
            Elevate::Always => "always",
            Elevate::Never => "never",
            Elevate::RefuseRoot => "refuse-root",
        },
        effects: effects(&rules.effects),
        confirm: match rules.confirm {
            Confirm::Nothing => "nothing",
            Confirm::Plan => "plan",
            Confirm::Human => "human",
        },
        deadline_s: rules.deadline.as_secs(),
    }
}

fn condition(on: &pintle_packfile::Condition) -> String {
    let all = |map: &indexmap::IndexMap<String, serde_json::Value>| {
        map.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(" and ")
    };
    let any = on.any.iter().map(all).collect::<Vec<_>>().join(" or ");
    let given = on.given.iter().map(|name| format!("{name} given"));
    std::iter::once(any).filter(|any| !any.is_empty()).chain(given).collect::<Vec<_>>().join(" and ")
}

fn effects(effects: &Effects) -> Vec<String> {
    crate::order::effect_of(effects).names().into_iter().map(str::to_owned).collect()
}

/// The arguments with placeholders.
fn template(verb: &Verb) -> String {
    let flags = verb.options.values().filter(|option| matches!(option.spelling, Spelling::Flag { .. }));
    let words = verb.words.iter().cloned();
    words.chain(flags.map(element)).chain(verb.positions().into_iter().map(element)).collect::<Vec<_>>().join(" ")
}

fn element(option: &OptionDef) -> String {
    let value = match &option.only {
        Some(only) => only.value.clone(),
        // A few words can be read where they stand.
        None if (1..=FEW).contains(&option.allowed.len()) => option.allowed.join("|"),
        None => option.name.to_uppercase(),
    };
    let many = if option.kind == Kind::Strings { "…" } else { "" };
    let text = match &option.spelling {
        Spelling::Position(_) => format!("{value}{many}"),
        Spelling::Flag { flag, .. } if matches!(option.kind, Kind::Boolean | Kind::Count) => flag.clone(),
        Spelling::Flag { flag, join: Join::Equals, .. } => format!("{flag}={value}{many}"),
        Spelling::Flag { flag, join: Join::Space, .. } => format!("{flag} {value}{many}"),
    };
    if option.required { text } else { format!("[{text}]") }
}

impl Answer for ShownPacks {
    fn view(&self) -> View {
        let [only] = self.packs.as_slice() else { return self.list() };
        let Some(program) = &only.program else { return self.list() };
        let head = format!(
            "{}: {}\nfrom: {}\nprogram: {program}\nlooked for at: {}\ntools: {}\nresources: {}\n",
            only.name,
            only.summary,
            only.origin,
            only.candidates.join(", "),
            only.tools.join(", "),
            only.resources.join(", ")
        );
        let row = |verb: &ShownVerb| {
            vec![
                verb.name.clone(),
                verb.argv.clone(),
                verb.when.clone().unwrap_or_default(),
                verb.elevate.to_owned(),
                verb.effects.join("+"),
                verb.confirm.to_owned(),
                format!("{} s", verb.deadline_s),
            ]
        };
        View::text(head)
            .and_table(["VERB", "ARGUMENTS", "WHEN", "ROOT", "EFFECTS", "NEEDS", "LIMIT"], only.verbs.iter().map(row))
    }
}

impl ShownPacks {
    fn list(&self) -> View {
        let row = |pack: &ShownPack| vec![pack.name.clone(), pack.summary.clone(), pack.origin.clone()];
        View::table(["NAME", "SUMMARY", "FROM"], self.packs.iter().map(row))
    }
}
