//! A machine that is none: the stand-in for `eggs`, the system it works on, and a home.

use crate::client::Client;
use pintle_testkit::eggs::{Call, Installed, Orders, Root};
use rustix::process::{Pid, Signal, kill_process};
use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The program under test.
pub fn pintle() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_pintle"))
}

/// A program of another package, built into the same folder.
pub fn neighbour(name: &str) -> PathBuf {
    let path = pintle().with_file_name(name);
    assert!(path.is_file(), "{} is not built", path.display());
    path
}

pub struct World {
    pub eggs: Installed,
    /// As whom the server runs, where that is not as whom the test does.
    user: Option<u32>,
}

impl World {
    /// Where the stand-in believes that it is root.
    pub fn new() -> Self {
        Self::ordered(Orders::default())
    }

    /// The same, with more orders.
    pub fn ordered(orders: Orders) -> Self {
        let world = Self { eggs: Installed::new(&neighbour("stand-in-eggs")).unwrap(), user: None };
        world.order(orders);
        for folder in ["home", "work"] {
            fs::create_dir(world.eggs.folder().join(folder)).unwrap();
        }
        world
    }

    /// Everything handed over to somebody who is not root, where the test is.
    pub fn of_nobody(orders: Orders) -> Self {
        let mut world = Self::ordered(orders);
        if rustix::process::geteuid().is_root() {
            // Not the program: it is a second name of the one that was built.
            let folder = world.eggs.folder();
            for part in [folder.to_path_buf(), folder.join("orders.json"), folder.join("home"), folder.join("work")] {
                std::os::unix::fs::chown(part, Some(65_534), Some(65_534)).unwrap();
            }
            world.user = Some(65_534);
        }
        world
    }

    /// What holds from the next call.
    pub fn order(&self, orders: Orders) {
        self.eggs.order(&Orders { euid: orders.euid.or(Some(0)), ..orders }).unwrap();
    }

    pub fn root(&self) -> &Root {
        self.eggs.root()
    }

    pub fn home(&self) -> PathBuf {
        self.eggs.folder().join("home")
    }

    pub fn work(&self) -> PathBuf {
        self.eggs.folder().join("work")
    }

    pub fn state(&self) -> PathBuf {
        self.home().join(".local/state/pintle")
    }

    /// A command of the program under test with a clean environment.
    pub fn command<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(pintle());
        command.args(words).env_clear().env("HOME", self.home()).env("PATH", "/usr/bin:/bin");
        command.env("PINTLE_EGGS_PATH", self.eggs.eggs()).env("PINTLE_EGGS_ROOT", self.root().path());
        command.current_dir(self.work()).stdin(Stdio::null());
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command
    }

    /// A client of `pintle eggs mcp start` that has said who it is.
    pub fn client(&self) -> Client {
        self.client_with(&[])
    }

    /// The same, with more flags for the server.
    pub fn client_with(&self, flags: &[&str]) -> Client {
        let mut client = Client::of(&mut self.command([&["eggs", "mcp", "start"], flags].concat()));
        client.initialize("2025-06-18");
        client
    }

    /// The calls of the stand-in but the questions who it is.
    pub fn calls(&self) -> Vec<Call> {
        self.eggs.work().unwrap()
    }

    /// The words of its only call, forgotten then.
    #[track_caller]
    pub fn only_call(&self) -> Vec<String> {
        let mut calls = self.calls();
        assert_eq!(calls.len(), 1, "{calls:?}");
        self.eggs.forget().unwrap();
        calls.pop().unwrap().argv.split_off(1)
    }

    /// Every file below a folder of this world.
    pub fn files_below(folder: &Path) -> BTreeSet<PathBuf> {
        let mut all = BTreeSet::new();
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                all.extend(Self::files_below(&path));
            } else {
                all.insert(path);
            }
        }
        all
    }
}

/// What still runs of the world's program is this test's own to end, above all where the test failed.
impl Drop for World {
    fn drop(&mut self) {
        let Ok(program) = self.eggs.eggs().canonicalize() else { return };
        for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let path = process.path();
            if fs::read_link(path.join("exe")).is_ok_and(|running| running == program) {
                let pid = process.file_name().to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw);
                // it may have ended by itself
                let _ = pid.map(|pid| kill_process(pid, Signal::KILL));
            }
        }
    }
}
