//! The stand-in laid out in a temporary folder.

use super::{CALLS_FILE, Call, ORDERS_FILE, Orders, Root, SUDO_CALLS_FILE, SUDO_ORDERS_FILE, SudoOrders, call};
use serde::{Deserialize, Serialize};
use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use tempfile::TempDir;

/// `eggs`, its link `coa` and, where asked for, a `sudo` that is none, in a temporary folder beside a [`Root`].
#[derive(Debug)]
pub struct Installed {
    folder: TempDir,
    root: Root,
}

/// What the stand-in of `sudo` noted of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SudoCall {
    /// The arguments behind its own name.
    pub arguments: Vec<String>,
    /// Names of the environment's variables it was called with, sorted.
    pub environment: Vec<String>,
    /// Whether it ran the command.
    pub allowed: bool,
}

impl Installed {
    /// Lays out the built program `stand-in-eggs`.
    ///
    /// # Errors
    /// The program is not built, or a file cannot be written.
    pub fn new(stand_in: &Path) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        place(stand_in, &folder.path().join("eggs"))?;
        symlink("eggs", folder.path().join("coa"))?;
        let root = Root::new(folder.path().join("root"))?;
        Ok(Self { folder, root })
    }

    /// Puts the built program `fake-sudo` beside it as `sudo`.
    ///
    /// # Errors
    /// The program is not built, or a file cannot be written.
    pub fn with_sudo(self, fake_sudo: &Path, orders: &SudoOrders) -> io::Result<Self> {
        place(fake_sudo, &self.sudo())?;
        self.order_sudo(orders)?;
        Ok(self)
    }

    /// The folder that everything lies in.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The program.
    #[must_use]
    pub fn eggs(&self) -> PathBuf {
        self.folder.path().join("eggs")
    }

    /// Its link.
    #[must_use]
    pub fn coa(&self) -> PathBuf {
        self.folder.path().join("coa")
    }

    /// The stand-in of `sudo`, where there is one.
    #[must_use]
    pub fn sudo(&self) -> PathBuf {
        self.folder.path().join("sudo")
    }

    /// The system that the program works on.
    #[must_use]
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// Gives the orders that hold from the next call.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn order(&self, orders: &Orders) -> io::Result<()> {
        replace(&self.folder.path().join(ORDERS_FILE), &serde_json::to_vec_pretty(orders)?)
    }

    /// The same for the stand-in of `sudo`.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn order_sudo(&self, orders: &SudoOrders) -> io::Result<()> {
        replace(&self.folder.path().join(SUDO_ORDERS_FILE), &serde_json::to_vec_pretty(orders)?)
    }

    /// Every call so far.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn calls(&self) -> io::Result<Vec<Call>> {
        call::read(&self.folder.path().join(CALLS_FILE))
    }

    /// Every call so far but those that only asked for the version.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn work(&self) -> io::Result<Vec<Call>> {
        Ok(call::working(self.calls()?))
    }

    /// Forgets the calls so far.
    ///
    /// # Errors
    /// The log cannot be removed.
    pub fn forget(&self) -> io::Result<()> {
        match fs::remove_file(self.folder.path().join(CALLS_FILE)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Every call of the stand-in of `sudo` so far.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn sudo_calls(&self) -> io::Result<Vec<SudoCall>> {
        call::read(&self.folder.path().join(SUDO_CALLS_FILE))
    }
}

/// Whoever reads meanwhile sees the old or the new content.
fn replace(file: &Path, content: &[u8]) -> io::Result<()> {
    let new = file.with_extension("new");
    fs::write(&new, content)?;
    fs::rename(new, file)
}

/// A copy made by a process of its own: were the file open for writing here, another thread that starts a program meanwhile
/// would hand that open file on, and running the copy would fail as busy.
fn place(program: &Path, at: &Path) -> io::Result<()> {
    if !program.is_file() {
        return Err(io::Error::new(io::ErrorKind::NotFound, format!("{} is not built", program.display())));
    }
    if fs::hard_link(program, at).is_ok() {
        return Ok(());
    }
    let copied = Command::new("/bin/cp").arg("--").arg(program).arg(at).stdin(Stdio::null()).status()?;
    if copied.success() { Ok(()) } else { Err(io::Error::other(format!("copying {}: {copied}", program.display()))) }
}
