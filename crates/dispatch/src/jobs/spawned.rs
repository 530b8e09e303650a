//! Jobs in processes of their own.

use super::JobStarter;
use crate::StateFolder;
use pintle_core::{BoxFuture, Code, Failure};
use pintle_process::{Environment, Spawn};
use serde_json::Value;
use std::{ffi::OsString, path::PathBuf};

/// Starts `PROGRAM ARGUMENTS… ID`: a session of its own, our environment and folder, nothing at its standard streams.
#[derive(Clone, Debug)]
pub struct SpawnedJobs {
    program: PathBuf,
    arguments: Vec<OsString>,
    setup: Value,
}

impl SpawnedJobs {
    /// With that program, which must build the catalogue as `setup` says and call
    /// [`Catalog::run_job`](crate::Catalog::run_job). `setup` is kept with the job: no secrets.
    #[must_use]
    pub fn new(
        program: impl Into<PathBuf>,
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
        setup: Value,
    ) -> Self {
        Self { program: program.into(), arguments: arguments.into_iter().map(Into::into).collect(), setup }
    }
}

impl JobStarter for SpawnedJobs {
    fn setup(&self) -> Value {
        self.setup.clone()
    }

    fn start<'a>(&'a self, id: &'a str, _: &'a StateFolder) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            // It is this very program: what we know and where we are is what it is to know.
            let environment =
                std::env::vars_os().fold(Environment::empty(), |known, (name, value)| known.set(name, value));
            let spawn = Spawn::new(&self.program).args(self.arguments.clone()).arg(id).environment(environment);
            spawn
                .detached()
                .await
                .map(drop)
                .map_err(|error| Failure::new(Code::Io, format!("starting the process of a job: {error}")))
        })
    }
}
