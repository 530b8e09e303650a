//! A catalogue whose jobs run in this process, and what can be meddled with.

use pintle_core::{BoxFuture, Caller, Confirm, Door, Failure, InputRequest, InputResponse, LogLevel, Reply, Stop};
use pintle_dispatch::{
    Catalog, Events, JobStarter, JobState, JobStatus, Jobs, LocalJobs, Request, Settings, StateFolder,
};
use pintle_testkit::flights_toolset;
use serde_json::{Map, Value};
use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

/// Nothing takes that long; whoever waits longer hangs.
pub const HANGS: Duration = Duration::from_secs(60);

pub struct Bench {
    pub temp: tempfile::TempDir,
    pub catalog: Catalog,
    pub state: StateFolder,
}

/// What is done to the folder of a job before it begins.
pub type Meddling = Box<dyn Fn(&Path) + Send + Sync>;

struct Meddled {
    jobs: LocalJobs,
    meddling: Meddling,
}

impl JobStarter for Meddled {
    fn setup(&self) -> Value {
        Value::Null
    }
    fn start<'a>(&'a self, id: &'a str, state: &'a StateFolder) -> BoxFuture<'a, Result<(), Failure>> {
        (self.meddling)(&state.path().join("jobs").join(id));
        self.jobs.start(id, state)
    }
    fn cancel(&self, id: &str) -> bool {
        self.jobs.cancel(id)
    }
}

impl Bench {
    pub fn new() -> Self {
        Self::with(Confirm::Nothing, Box::new(|_| {}))
    }

    pub fn with(confirm: Confirm, meddling: Meddling) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let state = StateFolder::at(temp.path().join("state"));
        let jobs = LocalJobs::new(Settings::default(), move || vec![flights_toolset(confirm)]);
        let settings = Settings {
            state: Some(state.clone()),
            jobs: Some(Arc::new(Meddled { jobs, meddling })),
            ..Settings::default()
        };
        let catalog = Catalog::new(vec![flights_toolset(confirm)], settings).unwrap();
        Self { temp, catalog, state }
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    pub fn lines(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.file(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// A request for a tool on that file, with these arguments on top.
    pub fn request(&self, tool: &str, file: &str, more: Value) -> Request {
        let mut arguments = Map::new();
        arguments.insert("file".to_owned(), self.file(file).display().to_string().into());
        arguments.extend(more.as_object().unwrap().clone());
        Request::new(tool, arguments, agent())
    }

    pub async fn call(&self, tool: &str, file: &str, more: Value) -> Reply {
        self.ends(self.request(tool, file, more)).await
    }

    pub async fn ends(&self, request: Request) -> Reply {
        tokio::time::timeout(HANGS, self.catalog.call(request)).await.expect("an answer")
    }

    pub fn jobs(&self) -> &Jobs {
        self.catalog.jobs().unwrap()
    }

    pub fn folder(&self, id: &str) -> PathBuf {
        self.state.path().join("jobs").join(id)
    }

    /// Waits until the job stands there.
    pub async fn until(&self, id: &str, state: JobState) -> JobStatus {
        tokio::time::timeout(HANGS, async {
            loop {
                let status = self.jobs().status(id, &agent()).unwrap();
                if status.state == state {
                    return status;
                }
                assert!(!status.state.is_final(), "{status:?}");
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await
        .expect("that state")
    }

    /// Waits until the file has so many lines.
    pub async fn until_lines(&self, file: &str, count: usize) {
        tokio::time::timeout(HANGS, async {
            while self.lines(file).len() < count {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await
        .expect("these lines");
    }
}

pub fn agent() -> Caller {
    Caller { door: Door::Agents, principal: "tester".to_owned() }
}

pub fn person() -> Caller {
    Caller { door: Door::People, principal: "user:1".to_owned() }
}

/// Hears everything, and answers every question with that name.
#[derive(Default)]
pub struct Ear {
    pub heard: Mutex<Vec<String>>,
    pub name: Option<String>,
    /// Whether questions end the call, as in the newer era, until there is an answer.
    pub ends_calls: bool,
}

impl Events for Ear {
    fn progress(&self, done: f64, total: Option<f64>, message: &str) {
        self.heard.lock().unwrap().push(format!("{done}/{} {message}", total.unwrap_or_default()));
    }
    fn log(&self, _: LogLevel, logger: &str, data: Value) {
        self.heard.lock().unwrap().push(format!("{logger}: {data}"));
    }
    fn ask(&self, requests: Vec<InputRequest>) -> BoxFuture<'_, Result<Vec<InputResponse>, Stop>> {
        Box::pin(async move {
            let Some(name) = &self.name else {
                let nobody = Failure::new(pintle_core::Code::NeedsInput, "nobody is there");
                return Err(if self.ends_calls { Stop::Asked(requests) } else { nobody.into() });
            };
            let value = serde_json::json!({"action": "accept", "content": {"name": name}});
            Ok(requests.into_iter().map(|asked| InputResponse { key: asked.key, value: value.clone() }).collect())
        })
    }
}
