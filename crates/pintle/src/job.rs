//! `pintle job run ID`: the process of one job. Nobody types it; whoever has the job's yes starts it.

use crate::{Ended, clusters::Said, project::Project, registry, shelf, surroundings};
use pintle_core::{Code, Exit, Failure};
use pintle_dispatch::{Catalog, JobStarter, Jobs, Settings, SpawnedJobs};
use pintle_mcp::until_terminated;
use serde::{Deserialize, Serialize};
use std::{path::PathBuf, sync::Arc};

/// How the catalogue was built, so that the process of a job can build the same.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Setup {
    pub(crate) toolsets: Vec<String>,
    pub(crate) project: Project,
    pub(crate) clusters: Said,
    pub(crate) policy: Option<PathBuf>,
    pub(crate) audit: Option<PathBuf>,
    pub(crate) allow_secrets: bool,
}

impl Setup {
    /// Of those toolsets, and nothing else said.
    pub(crate) fn of(toolsets: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { toolsets: toolsets.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// What starts jobs that are set up like this. None where a secret would have to be written down for them: then
    /// tools run where they are asked.
    pub(crate) fn starter(self) -> Option<Arc<dyn JobStarter>> {
        if self.clusters.holds_secret() {
            return None;
        }
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        let setup = Self { policy: self.policy.map(absolute), audit: self.audit.map(absolute), ..self };
        let setup = serde_json::to_value(setup).ok()?;
        Some(Arc::new(SpawnedJobs::new(registry::running_program(), ["job", "run"], setup)))
    }

    fn catalog(&self, settings: Settings) -> Result<Catalog, Failure> {
        let hosts = shelf::Hosts::of(&self.project, &self.clusters, &surroundings::state_path()?)?;
        let settings = Settings {
            policy: surroundings::policy(self.policy.as_deref())?,
            allow_secrets: self.allow_secrets,
            audit: self.audit.clone(),
            ..settings
        };
        Catalog::new(shelf::toolsets(&self.toolsets, &hosts)?, settings)
    }
}

/// The group `job`.
pub(crate) fn command(words: &[String]) -> Ended {
    let [run, id] = words else { return Err(unknown()) };
    if run != "run" {
        return Err(unknown());
    }
    let settings = surroundings::settings()?;
    let state = settings.state.clone().ok_or_else(unknown)?;
    let jobs = Jobs::at(state);
    let ended = go(&jobs, id, settings);
    if let Err(failure) = &ended {
        // Whoever started it looks there; at standard error nobody does. Where there is no such job, nobody started it.
        let _ = jobs.fail(id, failure.clone());
    }
    ended.map(|()| Exit::Ok.code())
}

fn unknown() -> Failure {
    Failure::new(Code::InvalidArgument, "`pintle job run ID` is for the jobs of this program alone")
        .hint("`pintle jobs` shows them")
}

fn go(jobs: &Jobs, id: &str, settings: Settings) -> Result<(), Failure> {
    let setup: Setup = serde_json::from_value(jobs.setup(id)?)
        .map_err(|error| Failure::new(Code::Invalid, format!("how job {id} is set up: {error}")))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Failure::io("starting the job", &error))?;
    let ended = runtime.block_on(async {
        // Listened for before anything takes time: an early word to end is heard.
        let cancel = until_terminated()?;
        setup.catalog(settings)?.run_job(id, cancel).await
    });
    // Whatever still blocks a thread keeps nobody from leaving.
    runtime.shutdown_background();
    ended
}
