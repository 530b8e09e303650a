//! The tools over a kubeconfig, called on the one path that both doors take.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pintle_core::{Caller, Door, Outcome, Reply};
use pintle_dispatch::{Catalog, Request, Settings, StateFolder};
use pintle_fleet::FleetOptions;
use pintle_ops::Host;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A catalogue with our tools.
pub struct Asked {
    runtime: Runtime,
    catalog: Catalog,
    _folder: TempDir,
}

impl Asked {
    pub fn of(kubeconfig: PathBuf) -> Self {
        Self::by(kubeconfig, |host| host)
    }

    /// By a clock that stands still, so much ahead of ours.
    pub fn later(kubeconfig: PathBuf, ahead: Duration) -> Self {
        Self::by(kubeconfig, |host| {
            let then = host.now() + ahead;
            host.at(then)
        })
    }

    fn by(kubeconfig: PathBuf, clock: impl FnOnce(Host) -> Host) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let deadline = Duration::from_secs(5);
        let options =
            FleetOptions { kubeconfig: Some(kubeconfig), connect_deadline: deadline, ..FleetOptions::default() };
        let state = Some(StateFolder::at(folder.path().join("state")));
        let host = Arc::new(clock(Host::new(options)));
        let tools = vec![pintle_ops::toolset(Arc::clone(&host)), pintle_ops::extra(&host)];
        let catalog = Catalog::new(tools, Settings { state, ..Settings::default() }).unwrap();
        Self { runtime: Runtime::new().unwrap(), catalog, _folder: folder }
    }

    /// As a person calls, for whom nothing is cut.
    pub fn call(&self, tool: &str, arguments: Value) -> Reply {
        self.call_as(Door::People, tool, arguments)
    }

    pub fn call_as(&self, door: Door, tool: &str, arguments: Value) -> Reply {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let caller = Caller { door, principal: "test".to_owned() };
        self.runtime.block_on(self.catalog.call(Request::new(tool, arguments, caller)))
    }

    /// What a call that goes well answers.
    pub fn answer(&self, tool: &str, arguments: Value) -> Value {
        let reply = self.call(tool, arguments);
        assert!(matches!(reply.outcome, Outcome::Ok | Outcome::Findings), "{tool}: {reply:?}");
        reply.answer.unwrap()
    }

    /// The value of the one cluster that was asked.
    pub fn value(&self, tool: &str, arguments: Value) -> Value {
        self.answer(tool, arguments)["clusters"][0]["value"].take()
    }

    /// The rows of a read of one namespace in one cluster.
    pub fn rows(&self, tool: &str, context: &str, namespace: &str) -> Vec<Value> {
        rows(&self.answer(tool, json!({"clusters": [context], "namespace": namespace})))
    }
}

/// The rows of an answer.
pub fn rows(answer: &Value) -> Vec<Value> {
    answer["rows"].as_array().unwrap().clone()
}

/// Ids of the findings of that owner.
pub fn found<'a>(rows: &'a [Value], owner: &str) -> Vec<&'a str> {
    let mine = rows.iter().filter(|row| row["owner"]["name"] == owner);
    mine.filter_map(|row| row["id"].as_str()).collect()
}

/// Cells of a table of kubectl, of which columns are at least two blanks apart.
pub fn cells(table: &str) -> Vec<Vec<String>> {
    let line =
        |line: &str| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect();
    table.lines().map(line).collect()
}

/// Text of a field.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The items of a list as kubectl gets it.
pub fn items(list: &Value) -> &[Value] {
    list["items"].as_array().unwrap()
}

/// A kubeconfig of one's own to change.
pub fn written(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("config");
    std::fs::write(&path, text).unwrap();
    path
}
