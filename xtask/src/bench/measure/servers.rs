//! The servers that are measured, each started the same way: clean environment, own home, own folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Trouble;
use crate::bench::{Bench, stdio::clean};

/// A server to measure beside ours.
pub struct Rival {
    pub name: &'static str,
    pub program: PathBuf,
    pub arguments: Vec<String>,
}

impl Bench<'_> {
    /// `pintle mcp serve --stdio` in a project of its own.
    pub fn ours(&self) -> Result<Command, Trouble> {
        let mut command = clean(&self.pintle(), &self.project()?);
        command.args(["mcp", "serve", "--stdio", "--toolset", "charly"]);
        Ok(command)
    }

    /// The same over HTTP on a free port.
    pub fn ours_listening(&self) -> Result<Command, Trouble> {
        let mut command = clean(&self.pintle(), &self.project()?);
        command.args(["mcp", "serve", "--listen", "127.0.0.1:0", "--toolset", "charly"]);
        Ok(command)
    }

    /// The fixture over stdio, with its trial operations.
    pub fn trial(&self, arguments: &[&str]) -> Command {
        let mut command = clean(&self.fixture(), self.scratch.path());
        command.args(["--stdio", "--trial"]).args(arguments);
        command
    }

    /// A folder with a project that our own program made.
    pub fn project(&self) -> Result<PathBuf, Trouble> {
        let project = self.scratch.path().join("project");
        if !project.join("charly.yml").exists() {
            let mut command = clean(&self.pintle(), self.scratch.path());
            command.args(["charly", "box", "new", "project"]).arg(&project);
            crate::run::taken(&mut command)?;
        }
        Ok(project)
    }

    /// Servers that do what ours does, as far as they run on this machine.
    pub fn rivals(&self) -> Result<Vec<Rival>, Trouble> {
        let mut rivals = Vec::new();
        if let Some(program) = self.rival("kubernetes-mcp-server") {
            let arguments = vec!["--kubeconfig".into(), self.dead_kubeconfig()?.display().to_string()];
            rivals.push(Rival { name: "kubernetes-mcp-server", program, arguments });
        }
        if let (Some(node), Some(script)) = (self.rival("node"), self.rival("mcp-server-everything")) {
            let arguments = vec![script.display().to_string()];
            rivals.push(Rival { name: "server-everything", program: node, arguments });
        }
        Ok(rivals)
    }

    /// A kubeconfig whose only cluster refuses connections.
    fn dead_kubeconfig(&self) -> Result<PathBuf, Trouble> {
        let path = self.scratch.path().join("kubeconfig");
        let text = "\
apiVersion: v1
kind: Config
clusters: [{name: dead, cluster: {server: 'http://127.0.0.1:1'}}]
users: [{name: nobody, user: {}}]
contexts: [{name: dead, context: {cluster: dead, user: nobody}}]
current-context: dead
";
        std::fs::write(&path, text).map_err(Trouble::file("write", &path))?;
        Ok(path)
    }

    pub fn home(&self) -> &Path {
        self.scratch.path()
    }
}

impl Rival {
    pub fn command(&self, home: &Path) -> Command {
        let mut command = clean(&self.program, home);
        command.args(&self.arguments);
        command
    }
}
