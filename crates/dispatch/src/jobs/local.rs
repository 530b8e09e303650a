//! Jobs inside of this process, for tests and fixtures: nothing of it survives the process.

use super::JobStarter;
use crate::{Catalog, Settings, StateFolder};
use pintle_core::{BoxFuture, Failure, Toolset};
use serde_json::Value;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};
use tokio_util::sync::CancellationToken;

/// Runs each job as a task over a catalogue of its own, which `build` makes.
pub struct LocalJobs {
    build: Box<dyn Fn() -> Vec<Toolset> + Send + Sync>,
    settings: Settings,
    running: Arc<Mutex<HashMap<String, CancellationToken>>>,
}

impl LocalJobs {
    /// `settings` are those of the jobs, without a starter; the state folder is that of whoever starts them.
    #[must_use]
    pub fn new(settings: Settings, build: impl Fn() -> Vec<Toolset> + Send + Sync + 'static) -> Self {
        Self { build: Box::new(build), settings, running: Arc::default() }
    }
}

impl JobStarter for LocalJobs {
    fn setup(&self) -> Value {
        Value::Null
    }

    fn start<'a>(&'a self, id: &'a str, state: &'a StateFolder) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let settings = Settings { state: Some(state.clone()), jobs: None, ..self.settings.clone() };
            let catalog = Catalog::new((self.build)(), settings)?;
            let token = CancellationToken::new();
            let running = Arc::clone(&self.running);
            running.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned(), token.clone());
            let (id, jobs) = (id.to_owned(), catalog.jobs().cloned());
            tokio::spawn(async move {
                if let (Err(failure), Some(jobs)) = (catalog.run_job(&id, token).await, jobs) {
                    // As a process of its own does: where not even that can be written, nobody is left to tell.
                    let _ = jobs.fail(&id, failure);
                }
                running.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
            });
            Ok(())
        })
    }

    fn cancel(&self, id: &str) -> bool {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.get(id).inspect(|token| token.cancel()).is_some()
    }
}
