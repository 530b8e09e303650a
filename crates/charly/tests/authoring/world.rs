//! A server's folder with nothing else in it, and a catalogue that acts on it.

use pintle_charly::Host;
use pintle_core::{Caller, Code, Door, Failure, Notice, Outcome, Reply};
use pintle_dispatch::{Catalog, Events, Request, Settings};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};
use tempfile::TempDir;

/// The project of the contract: it validates.
pub const PROJECT: &str = "\
version: 2026.100.0000
defaults: {registry: localhost/lab, tag: auto, build: [rpm]}
web:
  box:
    base: quay.io/fedora/fedora:43
    candy: [web-svc]
";

/// Its candy.
pub const CANDY: &str = "\
web-svc:
  candy:
    version: 2026.100.0000
    description: a small web service
    rpm:
      packages: [nginx]
web-svc-config:
  check: the configuration is there
  file: /etc/nginx/nginx.conf
  exists: true
";

pub struct World {
    _temp: TempDir,
    pub root: PathBuf,
    pub host: Arc<Host>,
    pub catalog: Catalog,
    pub notices: Arc<Heard>,
}

/// What a door would have passed on.
#[derive(Default)]
pub struct Heard(Mutex<Vec<Notice>>);

impl Events for Heard {
    fn notice(&self, notice: Notice) {
        self.0.lock().unwrap().push(notice);
    }
}

impl Heard {
    pub fn take(&self) -> Vec<Notice> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl World {
    /// A server in an empty folder.
    pub fn empty() -> Self {
        Self::with_root(false)
    }

    /// The same, with its folder as the project root.
    pub fn confined() -> Self {
        Self::with_root(true)
    }

    fn with_root(confined: bool) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(temp.path()).unwrap().join("server");
        fs::create_dir(&root).unwrap();
        let host = Host::new(&root, confined.then_some(root.as_path()), &temp.path().join("state")).unwrap();
        let host = Arc::new(host);
        let toolsets = vec![pintle_charly::toolset(Arc::clone(&host)), pintle_charly::extra(Arc::clone(&host))];
        let catalog = Catalog::new(toolsets, Settings::default()).unwrap();
        Self { _temp: temp, root, host, catalog, notices: Arc::default() }
    }

    /// A server in the project of the contract.
    pub fn project() -> Self {
        let world = Self::empty();
        world.put("charly.yml", PROJECT);
        world.put("candy/web-svc/charly.yml", CANDY);
        world
    }

    /// A server in a project of one file.
    pub fn of(text: &str) -> Self {
        let world = Self::empty();
        world.put("charly.yml", text);
        world
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.root.join(file)
    }

    pub fn put(&self, file: &str, text: impl AsRef<[u8]>) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn text(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    /// Every file with its bytes, to show that nothing has changed.
    pub fn everything(&self) -> Vec<(PathBuf, Vec<u8>)> {
        fn walk(folder: &Path, all: &mut Vec<(PathBuf, Vec<u8>)>) {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let path = entry.path();
                if entry.file_type().unwrap().is_dir() {
                    all.push((path.clone(), Vec::new()));
                    walk(&path, all);
                } else {
                    all.push((path.clone(), fs::read(&path).unwrap_or_default()));
                }
            }
        }
        let mut all = Vec::new();
        walk(&self.root, &mut all);
        all.sort();
        all
    }

    pub async fn call(&self, tool: &str, arguments: Value) -> Reply {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let caller = Caller { door: Door::Agents, principal: "test".to_owned() };
        let mut request = Request::new(tool, arguments, caller);
        request.events = Arc::clone(&self.notices) as _;
        self.catalog.call(request).await
    }

    /// The answer of a call that succeeds.
    pub async fn ok(&self, tool: &str, arguments: Value) -> Value {
        let reply = self.call(tool, arguments.clone()).await;
        assert!(!reply.is_error, "{tool} {arguments}: {}", reply.view.plain());
        assert_eq!(reply.outcome, Outcome::Ok, "{tool} {arguments}");
        reply.answer.unwrap_or_else(|| panic!("{tool} has an answer"))
    }

    /// The text of a call that succeeds.
    pub async fn shown(&self, tool: &str, arguments: Value) -> String {
        let reply = self.call(tool, arguments.clone()).await;
        assert!(!reply.is_error, "{tool} {arguments}: {}", reply.view.plain());
        reply.view.plain()
    }

    /// The failure of a call that fails and changes no file.
    pub async fn refused(&self, tool: &str, arguments: Value) -> Failure {
        let before = self.everything();
        let reply = self.call(tool, arguments.clone()).await;
        assert!(reply.is_error, "{tool} {arguments} went through: {}", reply.view.plain());
        assert_eq!(self.everything(), before, "{tool} {arguments} changed a file");
        reply.failure.unwrap_or_else(|| panic!("{tool} {arguments} has a failure"))
    }

    /// Asserts a refusal by its code and a part of its whole text; gives that text.
    pub async fn refused_with(&self, tool: &str, arguments: Value, code: Code, part: &str) -> String {
        let failure = self.refused(tool, arguments.clone()).await;
        let text = failure.text();
        assert_eq!(failure.code, code, "{tool} {arguments}: {text}");
        assert!(text.contains(part), "{tool} {arguments}: `{part}` is not in {text}");
        text
    }

    pub async fn assert_valid(&self) {
        let reply = self.call("box.validate", serde_json::json!({})).await;
        assert!(!reply.is_error, "{}", reply.view.plain());
    }
}
