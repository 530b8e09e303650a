//! A stand-in for eggs with its own system, the pack over it, and callers.

use pintle_core::{BoxFuture, Caller, Door, Plan, Reply};
use pintle_dispatch::{Catalog, Events, Request, Settings, StateFolder};
use pintle_pack::{Host, Surroundings, toolset};
use pintle_testkit::eggs::{Call, Installed, Orders};
use serde_json::{Map, Value, json};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

/// A program of another package, built into the same folder as ours.
pub fn neighbour(program: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let path = own.parent().unwrap().parent().unwrap().join(program);
    assert!(path.is_file(), "{} is missing: `cargo build --workspace --bins` makes it", path.display());
    path
}

/// The stand-in with the pack over it.
pub struct Stage {
    pub installed: Installed,
    pub state: tempfile::TempDir,
    pub host: Arc<Host>,
    pub catalog: Catalog,
}

/// What a caller hears while a call goes on.
#[derive(Default)]
pub struct Heard {
    pub progress: Mutex<Vec<(f64, Option<f64>, String)>>,
    pub rows: Mutex<Vec<Value>>,
    pub plans: Mutex<Vec<Plan>>,
}

impl Events for Heard {
    fn progress(&self, done: f64, total: Option<f64>, message: &str) {
        self.progress.lock().unwrap().push((done, total, message.to_owned()));
    }
    fn row(&self, row: Value) {
        self.rows.lock().unwrap().push(row);
    }
    fn confirm<'a>(&'a self, plan: &'a Plan) -> BoxFuture<'a, Option<bool>> {
        self.plans.lock().unwrap().push(plan.clone());
        Box::pin(async { Some(true) })
    }
}

/// Nothing that this machine has in its environment or its folders.
pub fn surroundings(installed: &Installed, state: &Path) -> Surroundings {
    let mut all = Surroundings::of_process(Some(StateFolder::at(state)));
    all.is_root = false;
    all.user = None;
    all.system.clear();
    let set = |name: &str, value: &Path| (OsString::from(name), value.as_os_str().to_owned());
    all.variables = [
        set("PATH", Path::new("/usr/bin:/bin")),
        set("HOME", &installed.root().at("/home/artisan")),
        set("LD_PRELOAD", Path::new("/nowhere.so")),
        set("PINTLE_EGGS_PATH", &installed.eggs()),
        set("PINTLE_EGGS_ROOT", installed.root().path()),
    ]
    .into();
    all
}

impl Stage {
    /// As on a machine where all goes well; the stand-in plays root, since nothing is elevated here.
    pub fn new() -> Self {
        Self::ordered(&Orders { euid: Some(0), ..Orders::default() })
    }

    pub fn ordered(orders: &Orders) -> Self {
        Self::with(orders, |_, _| {})
    }

    /// With other surroundings.
    pub fn with(orders: &Orders, change: impl FnOnce(&mut Surroundings, &Installed)) -> Self {
        let installed = Installed::new(&neighbour("stand-in-eggs")).unwrap();
        installed.order(orders).unwrap();
        installed.root().costume("plain", "nothing special", &[]).unwrap();
        let state = tempfile::tempdir().unwrap();
        let mut all = surroundings(&installed, state.path());
        change(&mut all, &installed);
        let host = Arc::new(Host::new(all));
        let settings = Settings { state: Some(StateFolder::at(state.path())), ..Settings::default() };
        let catalog = Catalog::new(vec![toolset(&host, "eggs", false).unwrap()], settings).unwrap();
        Self { installed, state, host, catalog }
    }

    /// The same tools under other settings.
    pub fn renewed(&self, settings: Settings) -> Catalog {
        Catalog::new(vec![toolset(&self.host, "eggs", false).unwrap()], settings).unwrap()
    }

    pub fn request(tool: &str, arguments: Value, door: Door) -> Request {
        let arguments = match arguments {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        Request::new(tool, arguments, Caller { door, principal: "tester".to_owned() })
    }

    /// As an agent calls.
    pub async fn call(&self, tool: &str, arguments: Value) -> Reply {
        self.catalog.call(Self::request(tool, arguments, Door::Agents)).await
    }

    /// As a person calls who says yes to everything, and what that person heard.
    pub async fn person(&self, tool: &str, arguments: Value) -> (Reply, Arc<Heard>) {
        let heard = Arc::new(Heard::default());
        let mut request = Self::request(tool, arguments, Door::People);
        request.events = Arc::clone(&heard) as _;
        (self.catalog.call(request).await, heard)
    }

    /// As an agent calls that carries a plan out; fails where the call needs no plan.
    pub async fn planned(&self, tool: &str, arguments: Value) -> Reply {
        let plan = self.plan(tool, arguments.clone()).await;
        let token = plan.token.unwrap_or_else(|| panic!("a plan without a token"));
        let mut again = arguments;
        again["plan_token"] = json!(token);
        self.call(tool, again).await
    }

    pub async fn plan(&self, tool: &str, arguments: Value) -> Plan {
        let reply = self.call(tool, arguments).await;
        reply.plan.unwrap_or_else(|| panic!("no plan: {:?} {:?}", reply.outcome, reply.failure))
    }

    /// The arguments of the last call that was not for the version, the program's name left out.
    pub fn last(&self) -> Vec<String> {
        self.last_call().argv[1..].to_vec()
    }

    pub fn last_call(&self) -> Call {
        self.installed.work().unwrap().pop().unwrap_or_else(|| panic!("nothing was run"))
    }

    /// How many calls there were that were not for the version.
    pub fn runs(&self) -> usize {
        self.installed.work().unwrap().len()
    }
}

/// The answer of a call that went well.
pub fn good(reply: &Reply) -> &Value {
    assert!(reply.failure.is_none(), "{:?}", reply.failure);
    reply.answer.as_ref().unwrap_or_else(|| panic!("no answer: {:?}", reply.outcome))
}

/// Code and text of a call that failed.
pub fn failed(reply: &Reply) -> (&'static str, String) {
    let failure = reply.failure.as_ref().unwrap_or_else(|| panic!("no failure: {:?}", reply.answer));
    (failure.code.as_str(), failure.text())
}
