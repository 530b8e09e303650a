//! A machine with eggs, sudo, a user with clients of MCP, and `pintle eggs mcp enable --user` for that user.

use crate::{
    client::{Client, HANGS},
    system::Snapshot,
};
use pintle_testkit::{
    eggs::{CALLS_FILE, Call, ORDERS_FILE, Orders, take_work},
    machine::{ALICE, Machine},
};
use serde_json::Value;
use std::{
    fs,
    os::unix::fs::chown,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

pub const PROGRAM: &str = "/usr/bin/pintle";
pub const EGGS: &str = "/usr/bin/eggs";
pub const HELPER: &str = "/usr/lib/pintle/pintle-helper";
pub const RULE: &str = "/etc/sudoers.d/penguins-eggs-mcp";
/// What the stand-in takes for `/`: it notes mounts of its own making where the system's would be. The work folder in it is
/// the one that the server looks at.
const SYSTEM: &str = "/run/system";

/// The user's files of clients, each in its own way of writing, with what others would lose.
const CLIENTS: [(&str, &str); 5] = [
    (".cursor/mcp.json", "{\"mcpServers\": {\"other\": {\"command\": \"x\", \"n\": 12345678901234567890}}}"),
    (".config/zed/settings.json", "{\n\t// my theme\r\n\t\"theme\": \"One\",\n\t\"a\": [1.0,],\n}"),
    (".codex/config.toml", "model = 'x' # mine\n\n[mcp_servers.other]\ncommand = \"y\"\n"),
    (".gemini/settings.json", "{\n    \"ui\": {\"text\": \"x<y&z\"}\n}\n\n"),
    (".config/opencode/opencode.json", "{\"share\":\"disabled\"}"),
];

pub struct World {
    pub machine: Machine,
    /// What there was before `enable`.
    pub before: Snapshot,
}

impl World {
    /// The machine after `pintle eggs mcp enable --user alice`; none outside, or where the test is skipped.
    pub fn enabled() -> Option<Self> {
        let machine = Machine::enter(&["sudo", "visudo"])?;
        mounted(&machine);
        machine.program(neighbour("pintle-helper"), "/usr/bin/pintle-helper").unwrap();
        machine.program(neighbour("stand-in-eggs"), EGGS).unwrap();
        // Those who are not root note their calls too.
        machine.write(Path::new("/usr/bin").join(CALLS_FILE), "", 0o666).unwrap();
        let home = machine.home(ALICE);
        for (file, text) in CLIENTS {
            of_alice(&home, file, text);
        }
        of_alice(
            &home,
            ".oa-wardrobe/costumes/colibri/index.yaml",
            "name: colibri\ndescription: light\nsequence:\n  cmds:\n  - true\n",
        );
        let world = Self { machine, before: Snapshot::take() };
        world.order(Orders::default());
        let enabled = world.root(&["eggs", "mcp", "enable", "--user", ALICE.0]);
        assert_eq!(enabled.status.code(), Some(0), "{}", said(&enabled));
        Some(world)
    }

    pub fn home(&self) -> PathBuf {
        self.machine.home(ALICE)
    }

    /// What holds for the stand-in from the next call.
    pub fn order(&self, orders: Orders) {
        let orders = Orders {
            root: Some(SYSTEM.into()),
            home: Some(self.home()),
            export_to: Some(self.home().join("exported")),
            ..orders
        };
        let text = serde_json::to_vec(&orders).unwrap();
        self.machine.write(Path::new("/usr/bin").join(ORDERS_FILE), text, 0o644).unwrap();
    }

    /// A flight that never comes to its end.
    pub fn order_to_hang(&self) {
        self.order(Orders { hang_at: Some("mksquashfs".into()), ..Orders::default() });
    }

    /// A command of root's.
    pub fn root(&self, words: &[&str]) -> Output {
        let mut command = Command::new(PROGRAM);
        command.args(words).env_clear().env("HOME", "/run/root").env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        command.current_dir("/").stdin(Stdio::null()).output().unwrap()
    }

    /// A command of the user's.
    pub fn user(&self, words: &[&str]) -> Output {
        self.machine.as_user(ALICE, PROGRAM).args(words).output().unwrap()
    }

    /// What sudo says to the user.
    pub fn sudo(&self, words: &[&str]) -> Output {
        self.machine.as_user(ALICE, "/usr/bin/sudo").arg("-n").args(words).output().unwrap()
    }

    /// A client of the user's, which starts its server as the entry in its configuration says.
    pub fn client(&self) -> Client {
        let text = fs::read(self.home().join(".cursor/mcp.json")).unwrap();
        let configured: Value = serde_json::from_slice(&text).unwrap();
        let entry = &configured["mcpServers"]["penguins-eggs"];
        let mut command = self.machine.as_user(ALICE, entry["command"].as_str().unwrap());
        command.args(entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()));
        for (name, value) in entry["env"].as_object().into_iter().flatten() {
            command.env(name, value.as_str().unwrap());
        }
        let mut client = Client::of(&mut command);
        client.initialize("2025-06-18");
        client
    }

    /// What the stand-in was called for since the last look, but for questions who it is.
    pub fn calls(&self) -> Vec<Call> {
        take_work(Path::new("/usr/bin")).unwrap()
    }

    /// The words of the only call since the last look, which was root's, for the user, in surroundings of the helper's.
    #[track_caller]
    pub fn roots_call(&self) -> Vec<String> {
        let calls = self.calls();
        assert_eq!(calls.len(), 1, "{calls:?}");
        self.is_roots(&calls[0]);
        calls[0].argv[1..].to_vec()
    }

    /// Holds what root ran against what it may be.
    #[track_caller]
    pub fn is_roots(&self, call: &Call) {
        assert_eq!((call.euid, call.ruid, call.cwd.as_str()), (0, 0, "/"), "{call:?}");
        assert_eq!((call.argv[0].as_str(), call.sudo_user.as_deref()), (EGGS, Some(ALICE.0)), "{call:?}");
        assert_eq!(call.parent.first().map(String::as_str), Some(HELPER), "{call:?}");
        assert!(!call.environment.iter().any(|name| name == "HOME" || name.starts_with("PINTLE")), "{call:?}");
    }

    /// Waits for a flight that was begun, once it has come to the step at which it hangs; gives its process.
    #[track_caller]
    pub fn flying(&self) -> u32 {
        let call = wait_for("eggs runs", || self.calls().into_iter().find(|call| call.arguments() == ["remaster"]));
        self.is_roots(&call);
        call.pid
    }

    /// Everything that a job tells, as the user sees it.
    #[track_caller]
    pub fn job(&self, id: &str) -> Value {
        let shown = self.user(&["jobs", "show", id, "--output", "json"]);
        serde_json::from_slice(&shown.stdout).unwrap_or_else(|why| panic!("{why}: {}", said(&shown)))
    }
}

/// This program at its place, a `/var/lib` that can be written, and the work folder of the stand-in.
fn mounted(machine: &Machine) {
    let mount = |words: &[&str]| assert!(Command::new("mount").args(words).status().unwrap().success());
    for folder in ["/run/lib", "/run/lib.work", "/run/root"] {
        fs::create_dir(folder).unwrap();
    }
    let layers = "lowerdir=/var/lib,upperdir=/run/lib,workdir=/run/lib.work";
    mount(&["-t", "overlay", "-o", layers, "overlay", "/var/lib"]);
    machine.write(PROGRAM, "", 0o755).unwrap();
    mount(&["--bind", env!("CARGO_BIN_EXE_pintle"), PROGRAM]);
    fs::create_dir_all(Path::new(SYSTEM).join("home")).unwrap();
    mount(&["--bind", &format!("{SYSTEM}/home"), "/home"]);
}

/// A file of the user's, and the folders above it.
fn of_alice(home: &Path, file: &str, text: &str) {
    let path = home.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    for part in path.ancestors().take_while(|part| *part != home) {
        chown(part, Some(ALICE.1), Some(ALICE.1)).unwrap();
    }
}

/// A program of another package, built into the same folder.
fn neighbour(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_pintle")).with_file_name(name);
    assert!(path.is_file(), "{} is not built", path.display());
    path
}

/// Both streams, for the message of a test that fails.
pub fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The finished images.
pub fn images() -> usize {
    let entries = fs::read_dir("/home/eggs").into_iter().flatten();
    entries.filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|ending| ending == "iso")).count()
}

/// Whether a process is there and has not ended.
pub fn alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['Z', 'X']))
}

#[track_caller]
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < HANGS, "{what}");
        thread::sleep(Duration::from_millis(10));
    }
}
