//! A home with nothing in it but what a test puts there.

use pintle_core::{Caller, Confirm, Door, Reply};
use pintle_dispatch::{Catalog, Request, Settings, StateFolder};
use pintle_register::{Host, Offered, Owner, toolset};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};
use tempfile::TempDir;

/// Every client with its folder, relative to the home, and its file in that folder.
pub const CLIENTS: [(&str, &str, &str); 21] = [
    ("claude-code", ".claude", "../.claude.json"),
    ("claude-desktop", ".config/Claude", "claude_desktop_config.json"),
    ("cursor", ".cursor", "mcp.json"),
    ("zed", ".config/zed", "settings.json"),
    ("vscode", ".config/Code/User", "mcp.json"),
    ("vscode-insiders", ".config/Code - Insiders/User", "mcp.json"),
    ("vscode-server", ".vscode-server", "data/User/mcp.json"),
    ("codex", ".codex", "config.toml"),
    ("gemini", ".gemini", "settings.json"),
    ("opencode", ".config/opencode", "opencode.jsonc"),
    ("copilot-cli", ".copilot", "mcp-config.json"),
    ("antigravity", ".gemini/config", "mcp_config.json"),
    ("roo", ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline", "settings/mcp_settings.json"),
    ("cline", ".config/Code/User/globalStorage/saoudrizwan.claude-dev", "settings/cline_mcp_settings.json"),
    ("windsurf", ".codeium/windsurf", "mcp_config.json"),
    ("goose", ".config/goose", "config.yaml"),
    ("continue", ".continue", "config.yaml"),
    ("lm-studio", ".lmstudio", "mcp.json"),
    ("kiro", ".kiro", "settings/mcp.json"),
    ("amp", ".config/amp", "settings.json"),
    ("junie", ".junie", "mcp/mcp.json"),
];

pub struct World {
    temp: TempDir,
    pub home: PathBuf,
    pub host: Arc<Host>,
    catalog: Catalog,
}

impl World {
    /// A home in which the program of the entries starts and ends at once.
    pub fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(temp.path()).unwrap().join("home");
        fs::create_dir(&home).unwrap();
        fs::write(temp.path().join("pintle"), "#!/bin/sh\nexit 0\n").unwrap();
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(temp.path().join("pintle"), executable).unwrap();
        Self::sharing(temp, home, "state")
    }

    fn sharing(temp: TempDir, home: PathBuf, state: &str) -> Self {
        let (host, catalog) = actor(temp.path(), &home, state);
        Self { temp, home, host, catalog }
    }

    /// Another process with the same home and that state folder.
    pub fn actor(&self, state: &str) -> Catalog {
        actor(self.temp.path(), &self.home, state).1
    }

    /// A home in which every client has its folder.
    pub fn with_all() -> Self {
        let world = Self::new();
        for (_, folder, _) in CLIENTS {
            fs::create_dir_all(world.home.join(folder)).unwrap();
        }
        world
    }

    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.home.join(path)).unwrap()
    }

    pub fn there(&self, path: &str) -> bool {
        self.home.join(path).exists()
    }

    /// Every file of the home with its bytes.
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        walk(&self.home, &mut files);
        files
    }

    pub fn call(&self, tool: &str, arguments: Value) -> Reply {
        call(&self.catalog, tool, arguments)
    }

    /// Registers without the handshake.
    pub fn register(&self, mut arguments: Value) -> Reply {
        arguments["no_verify"] = true.into();
        self.call("register", arguments)
    }
}

fn actor(root: &Path, home: &Path, state: &str) -> (Arc<Host>, Catalog) {
    let state = root.join(state);
    let offered = |name, works| Offered { name, works, usual: name != "extra" };
    let host = Arc::new(Host {
        program: root.join("pintle"),
        toolsets: vec![
            offered("charly", true),
            offered("ops", true),
            offered("deploy", false),
            offered("eggs", true),
            offered("extra", true),
        ],
        owner: Ok(Owner::of_record(home.to_owned(), None)),
        passwd: String::new(),
        state: Some(state.clone()),
        writer: pintle_register::Writer::default(),
    });
    let settings = Settings { state: Some(StateFolder::at(state)), ..Settings::default() };
    let catalog = Catalog::new(vec![toolset(&host, Confirm::Nothing)], settings).unwrap();
    (host, catalog)
}

pub fn call(catalog: &Catalog, tool: &str, arguments: Value) -> Reply {
    let caller = Caller { door: Door::People, principal: "user:test".to_owned() };
    let request = Request::new(tool, arguments.as_object().unwrap().clone(), caller);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(catalog.call(request))
}

fn walk(folder: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            walk(&path, files);
            files.push((path, Vec::new()));
        } else {
            files.push((path.clone(), fs::read(path).unwrap()));
        }
    }
}
