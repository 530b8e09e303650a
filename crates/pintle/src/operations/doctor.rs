//! `doctor`

use crate::{clusters, house::House, personality::Personality, registry, surroundings};
use pintle_core::{Answer, Call, Doors, Failure, Foreign, Outcome, Query, Stop, View};
use pintle_pack::Health;
use pintle_process::{Environment, Run, Spawn, find_program};
use pintle_register::health;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{ffi::OsStr, path::Path, time::Duration};

/// Tell what is installed here, which toolsets can work, and what to do otherwise.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Doctor {
    /// Also look into the files of MCP clients, and start what our entries there start
    #[serde(default)]
    clients: bool,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Findings {
    /// Programs that tools use.
    programs: Vec<Program>,
    /// Toolsets of this program.
    toolsets: Vec<ToolsetState>,
    /// The folder for state, and whether it can be written.
    state: StateFound,
    /// The operator's policy file, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<&'static str>,
    /// The files of MCP clients, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    clients: Option<Vec<pintle_register::Health>>,
}

/// One program.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Program {
    name: &'static str,
    /// Where it is; absent when it is not installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// What it says of its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// What it is needed for.
    needed_for: &'static str,
}

/// One toolset.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ToolsetState {
    name: &'static str,
    /// Whether its tools can be called here.
    works: bool,
    /// What to do, or what to know.
    note: String,
}

/// Where state is kept.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StateFound {
    /// The folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// Why it cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// Name, arguments that ask for the version, purpose.
const PROGRAMS: [(&str, &[&str], &str); 8] = [
    ("podman", &["--version"], "building and running boxes"),
    ("docker", &["--version"], "building and running boxes, in place of podman"),
    ("kubectl", &["version", "--client"], "kustomize sources"),
    ("kustomize", &["version"], "kustomize sources, in place of kubectl"),
    ("helm", &["version", "--short"], "writing Helm releases"),
    ("git", &["--version"], "the history of a project; no tool needs it"),
    ("eggs", &["version"], "system remasters"),
    ("sudo", &["--version"], "system remasters"),
];

/// How long a program may take to tell its version.
const PATIENCE: Duration = Duration::from_secs(3);

impl Answer for Findings {
    fn view(&self) -> View {
        let programs = self.programs.iter().map(|program| {
            let found = program.path.as_deref().unwrap_or("not installed");
            let version = program.version.clone().unwrap_or_default();
            vec![program.name.to_owned(), found.to_owned(), version, program.needed_for.to_owned()]
        });
        let toolsets = self.toolsets.iter().map(|toolset| {
            let works = if toolset.works { "works" } else { "cannot work" };
            vec![toolset.name.to_owned(), works.to_owned(), toolset.note.clone()]
        });
        let state = match (&self.state.path, &self.state.problem) {
            (Some(path), None) => format!("state is kept in {path}"),
            (path, problem) => format!(
                "state cannot be kept{}: {}",
                path.as_ref().map(|path| format!(" in {path}")).unwrap_or_default(),
                problem.as_deref().unwrap_or("no folder")
            ),
        };
        let policy = match self.policy {
            Some(path) => format!("policy: {path}"),
            None => format!("policy: none ({} is not there)", surroundings::POLICY),
        };
        let view = View::table(["PROGRAM", "WHERE", "VERSION", "NEEDED FOR"], programs.collect::<Vec<_>>())
            .and_text("\n")
            .and_table(["TOOLSET", "HERE", "NOTE"], toolsets.collect::<Vec<_>>())
            .and_text("\n")
            .and_text(state)
            .and_text(policy);
        let Some(clients) = &self.clients else { return view };
        if clients.is_empty() {
            let none = "no client was found here: `pintle clients` tells where they are looked for";
            return view.and_text("\n").and_text(none);
        }
        let rows = clients.iter().map(|health| {
            let well = if health.works { "" } else { "wrong: " };
            vec![health.client.to_owned(), format!("{well}{}", health.note), health.path.clone()]
        });
        view.and_text("\n").and_table(["CLIENT", "ENTRY", "FILE"], rows.collect::<Vec<_>>())
    }

    fn outcome(&self) -> Outcome {
        let clients = self.clients.iter().flatten().all(|health| health.works);
        let all_well = self.toolsets.iter().all(|toolset| toolset.works) && self.state.problem.is_none() && clients;
        if all_well { Outcome::Ok } else { Outcome::Findings }
    }
}

impl Query for Doctor {
    type Host = House;
    type Answer = Findings;
    const NAME: &'static str = "doctor";
    const DOORS: Doors = Doors::People;

    async fn run(self, house: &House, _: &Call) -> Result<Findings, Stop> {
        let path = std::env::var_os("PATH");
        let looks = PROGRAMS.map(|(name, ask, needed_for)| look(name, ask, needed_for, path.as_deref()));
        let programs = futures::future::join_all(looks).await;
        let clusters = clusters().await;
        let eggs = eggs(house).await;
        let toolsets = Personality::ALL.map(|personality| verdict(personality, &programs, &clusters, &eggs)).into();
        let policy = Path::new(surroundings::POLICY).exists().then_some(surroundings::POLICY);
        let clients = match self.clients {
            true => Some(health(&registry::host(house.state.as_ref())).await?),
            false => None,
        };
        Ok(Findings { programs, toolsets, state: state(house), policy, clients })
    }
}

async fn look(name: &'static str, ask: &[&str], needed_for: &'static str, path: Option<&OsStr>) -> Program {
    let Ok(found) = find_program(Path::new(name), path, Path::new("")) else {
        return Program { name, path: None, version: None, needed_for };
    };
    let spawn = Spawn::new(&found).args(ask.to_vec()).environment(Environment::clean().plain_output());
    let run = Run { timeout: Some(PATIENCE), limit: 4096, ..Run::default() };
    // A program that cannot tell its version is still there: the version is left out.
    let version = spawn.run(run).await.ok().and_then(|captured| {
        let text = captured.stdout.text().text;
        text.lines().map(Foreign::one_line).find(|line| !line.is_empty())
    });
    Program { name, path: Some(found.display().to_string()), version, needed_for }
}

/// How many clusters the kubeconfig names; none is contacted.
async fn clusters() -> Result<usize, Failure> {
    let host = clusters::Said::default().host()?;
    Ok(host.fleet().kubeconfig().await?.names().count())
}

/// What stands in the way of the pack of eggs.
async fn eggs(house: &House) -> Result<Health, Failure> {
    let surroundings = pintle_pack::Surroundings::of_process(house.state.clone());
    pintle_pack::health(&pintle_pack::Host::new(surroundings), Personality::Eggs.toolset()).await
}

fn verdict(
    personality: Personality,
    programs: &[Program],
    clusters: &Result<usize, Failure>,
    eggs: &Result<Health, Failure>,
) -> ToolsetState {
    let has = |name: &str| programs.iter().any(|program| program.name == name && program.path.is_some());
    let works = match personality {
        Personality::Ops => matches!(clusters, Ok(1..)),
        Personality::Eggs => eggs.as_ref().is_ok_and(|health| health.program.is_some()),
        other => other.works(),
    };
    let note = match personality {
        Personality::Charly if has("podman") || has("docker") => "authoring and validation".to_owned(),
        Personality::Charly => {
            "authoring and validation; boxes are built and run where podman or docker is installed".to_owned()
        }
        Personality::Ops => match clusters {
            Ok(0) => {
                "no kubeconfig names a cluster: set KUBECONFIG, or write `--kubeconfig FILE` before the command".into()
            }
            Ok(1) => "reading and diagnosing the one cluster of the kubeconfig".to_owned(),
            Ok(count) => format!("reading and diagnosing the {count} clusters of the kubeconfig"),
            Err(failure) => format!("the kubeconfig cannot be used: {}", failure.message),
        },
        Personality::Eggs => match eggs {
            Ok(health) => health.notes.join("; "),
            Err(failure) => failure.text(),
        },
        Personality::Deploy => format!("`{}` has no operations in this build", personality.program()),
    };
    ToolsetState { name: personality.toolset(), works, note }
}

fn state(house: &House) -> StateFound {
    let Some(state) = &house.state else {
        let problem = Some("set HOME or XDG_STATE_HOME".to_owned());
        return StateFound { path: None, problem };
    };
    let path = Some(state.path().display().to_string());
    let made = state.folder("").map(|folder| tempfile::tempfile_in(folder).map(drop));
    let problem = match made {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(pintle_core::Failure::io("it cannot be written", &error).message),
        Err(failure) => Some(failure.message),
    };
    StateFound { path, problem }
}
