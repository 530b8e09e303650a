//! Where things lie: the workspace, its target folder, the tools.

use std::path::{Path, PathBuf};

use crate::Trouble;

/// The folders that every command needs.
pub struct Place {
    /// The workspace root, where `Cargo.lock` is.
    pub root: PathBuf,
    /// Where cargo builds: `CARGO_TARGET_DIR`, else `target` in the root.
    pub target: PathBuf,
    /// Where the tools of the tests are installed: `PINTLE_TOOLS`, else `target/tools` in the root.
    pub tools: PathBuf,
}

impl Place {
    /// Finds the workspace from this program's own manifest, so that the current folder does not matter.
    pub fn find() -> Result<Self, Trouble> {
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = manifest
            .parent()
            .map(Path::to_path_buf)
            .ok_or_else(|| Trouble::Other("the xtask manifest has no parent folder".into()))?;
        if !root.join("Cargo.lock").is_file() {
            return Err(Trouble::Other(format!("`{}` is no workspace root: it has no Cargo.lock", root.display())));
        }
        let absolute = |path: PathBuf| if path.is_absolute() { path } else { root.join(path) };
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| root.join("target"), |dir| absolute(PathBuf::from(dir)));
        let tools = std::env::var_os("PINTLE_TOOLS")
            .map_or_else(|| root.join("target/tools"), |dir| absolute(PathBuf::from(dir)));
        Ok(Self { root, target, tools })
    }

    /// The folder of our own results: `target/xtask`.
    pub fn own(&self) -> PathBuf {
        self.target.join("xtask")
    }

    /// A program of the optimised profile.
    pub fn release(&self, program: &str) -> PathBuf {
        self.target.join("release").join(program)
    }
}
