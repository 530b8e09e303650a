//! `enable` and `disable` as root, on a machine of its own with users, sudo and clients.

use crate::stage::{Ran, eventually, pintle, ran};
use pintle_testkit::machine::{ALICE, MALLORY, Machine};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

const RULE: &str = "/etc/sudoers.d/penguins-eggs-mcp";
const HELPER: &str = "/usr/lib/pintle/pintle-helper";
const RECORD: &str = "/var/lib/pintle/eggs-mcp.json";
const PROGRAM: &str = "/usr/bin/pintle";

struct World(Machine);

/// The machine with this program and its helper installed.
fn world() -> Option<World> {
    let machine = Machine::enter(&["sudo", "visudo"])?;
    let mount = |words: &[&str]| assert!(Command::new("mount").args(words).status().unwrap().success());
    for folder in ["/run/lib", "/run/lib.work"] {
        fs::create_dir(folder).unwrap();
    }
    mount(&["-t", "overlay", "-o", "lowerdir=/var/lib,upperdir=/run/lib,workdir=/run/lib.work", "overlay", "/var/lib"]);
    machine.write(PROGRAM, "", 0o755).unwrap();
    mount(&["--bind", &pintle().display().to_string(), PROGRAM]);
    // Whether it is really the helper is shown where the helper is: here it is a program like any other.
    machine.program("/bin/true", "/usr/bin/pintle-helper").unwrap();
    Some(World(machine))
}

impl World {
    fn root(&self, words: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(words).current_dir("/").env_clear().env("HOME", "/run/root");
        command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").stdin(Stdio::null());
        command
    }

    fn run(&self, words: &[&str]) -> Ran {
        ran(&mut self.root(&[&["eggs", "mcp"], words].concat()))
    }

    fn status(&self, user: &str) -> Value {
        self.run(&["status", "--user", user, "--output", "json"]).ends(0).json()
    }

    fn path(&self, user: (&str, u32), file: &str) -> PathBuf {
        self.0.home(user).join(file)
    }

    /// A file of that user, and the folders above it.
    fn write(&self, user: (&str, u32), file: &str, text: &str) -> PathBuf {
        let path = self.path(user, file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let home = self.0.home(user);
        for part in path.ancestors().take_while(|part| *part != home) {
            chown(part, Some(user.1), Some(user.1)).unwrap();
        }
        path
    }

    fn folder(&self, user: (&str, u32), folder: &str) {
        self.write(user, &format!("{folder}/x"), "");
        fs::remove_file(self.path(user, folder).join("x")).unwrap();
    }
}

/// What is below a folder: owner, mode and bytes of each file; our own state left out.
fn snapshot(folder: &Path) -> BTreeMap<PathBuf, (u32, u32, u32, Vec<u8>)> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = path.symlink_metadata().unwrap();
        if path.ends_with(".local") {
            continue;
        }
        let bytes = if metadata.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        all.insert(path.clone(), (metadata.uid(), metadata.gid(), metadata.mode(), bytes));
        if metadata.is_dir() {
            all.extend(snapshot(&path));
        }
    }
    all
}

const CURSOR: &str = "{\"mcpServers\": {\"other\": {\"command\": \"x\", \"n\": 12345678901234567890}}}";
const ZED: &str = "{\n\t// my theme\r\n\t\"theme\": \"One\",\n\t\"a\": [1.0,],\n}";
const CODEX: &str = "model = 'x' # mine\n\n[mcp_servers.other]\ncommand = \"y\"\n";

fn with_clients(world: &World) {
    world.write(ALICE, ".cursor/mcp.json", CURSOR);
    world.write(ALICE, ".config/zed/settings.json", ZED);
    world.write(MALLORY, ".codex/config.toml", CODEX);
    world.folder(MALLORY, ".junie");
}

#[test]
fn eg_043_eg_044_eg_048_eg_056_eg_057_eg_058_s_22_s_23_s_25_enable_reaches_every_user_named_and_disable_leaves_no_trace()
 {
    let Some(world) = world() else { return };
    with_clients(&world);
    let before = snapshot(Path::new("/tmp/home"));
    let enabled = world.run(&["enable", "--user", "alice", "--user", "mallory", "--output", "json"]).ends(0).json();
    assert_eq!(enabled["system"].as_array().unwrap().len(), 2, "{enabled}");
    let rule = fs::metadata(RULE).unwrap();
    assert_eq!((rule.mode() & 0o7777, rule.uid(), rule.gid()), (0o440, 0, 0));
    let text = fs::read_to_string(RULE).unwrap();
    assert!(
        text.starts_with('#') && text.contains("alice ALL=(root) NOPASSWD: ") && !text.contains("ALL ALL"),
        "{text}"
    );
    assert_eq!(fs::metadata(HELPER).unwrap().mode() & 0o7777, 0o755);
    let zed = fs::read_to_string(world.path(ALICE, ".config/zed/settings.json")).unwrap();
    assert!(
        zed.contains("// my theme\r\n") && zed.contains("context_servers") && zed.contains("penguins-eggs"),
        "{zed}"
    );
    let cursor: Value = serde_json::from_slice(&fs::read(world.path(ALICE, ".cursor/mcp.json")).unwrap()).unwrap();
    let entry = &cursor["mcpServers"]["penguins-eggs"];
    assert_eq!(entry["command"], PROGRAM);
    assert_eq!(entry["args"], serde_json::json!(["eggs", "mcp", "start"]));
    for made in [".junie/mcp", ".junie/mcp/mcp.json", ".codex/config.toml"] {
        let metadata = fs::metadata(world.path(MALLORY, made)).unwrap();
        assert_eq!((metadata.uid(), metadata.gid()), (MALLORY.1, MALLORY.1), "{made}");
    }
    // Once more changes nothing.
    let after = snapshot(Path::new("/tmp/home"));
    world.run(&["enable", "--user", "alice"]).ends(0);
    assert_eq!(snapshot(Path::new("/tmp/home")), after);
    assert_eq!(fs::read_to_string(RULE).unwrap(), text, "mallory is still granted it");

    let found = world.status("alice");
    assert_eq!(found["sudoers"]["state"], "enabled", "{found}");
    let client = |found: &Value, name: &str| {
        found["clients"].as_array().unwrap().iter().find(|client| client["client"] == name).unwrap()["state"].clone()
    };
    assert_eq!((client(&found, "cursor"), client(&found, "zed")), ("enabled".into(), "enabled".into()));

    // A line that somebody added is told, and goes with the rest.
    fs::write(RULE, text + "alice ALL=(ALL) NOPASSWD: ALL\n").unwrap();
    let drifted = world.status("alice");
    assert_eq!(drifted["sudoers"]["state"], "differs");
    assert!(drifted["sudoers"]["drift"].to_string().contains("-alice ALL=(ALL) NOPASSWD: ALL"), "{drifted}");
    let shown = world.run(&["status", "--user", "alice", "--fail-on", "findings"]).ends(2).out;
    assert!(shown.contains("not what `eggs mcp enable` writes"), "{shown}");

    // Nobody is named: the record knows.
    world.run(&["disable"]).ends(0);
    assert_eq!(snapshot(Path::new("/tmp/home")), before);
    for gone in [RULE, HELPER, "/usr/lib/pintle", RECORD, "/var/lib/pintle"] {
        assert!(!Path::new(gone).exists(), "{gone}");
    }
    let nothing = world.run(&["disable"]).ends(0);
    assert!(nothing.out.contains("nothing is enabled"), "{}", nothing.out);
    assert_eq!(world.status("alice")["sudoers"]["state"], "absent");
}

#[test]
fn eg_047_s_23_s_24_the_user_behind_root_is_meant_and_disable_by_another_one_reaches_them() {
    let Some(world) = world() else { return };
    with_clients(&world);
    fs::create_dir_all("/run/root/.cursor").unwrap();
    let before = snapshot(Path::new("/tmp/home"));
    for (name, value) in [("SUDO_USER", "alice"), ("DOAS_USER", "alice"), ("PKEXEC_UID", "47001")] {
        ran(world.root(&["eggs", "mcp", "enable"]).env(name, value)).ends(0);
        assert!(fs::read_to_string(RULE).unwrap().contains("alice"), "{name}");
        assert!(fs::read_to_string(world.path(ALICE, ".cursor/mcp.json")).unwrap().contains("penguins-eggs"), "{name}");
        assert!(!Path::new("/run/root/.cursor/mcp.json").exists(), "root's own clients were not asked for");
        ran(world.root(&["eggs", "mcp", "disable"]).env("SUDO_USER", "mallory")).ends(0);
        assert_eq!(snapshot(Path::new("/tmp/home")), before, "{name}");
    }
    let nobody = world.run(&["enable"]).ends(64);
    assert!(nobody.err.contains("--user NAME"), "{}", nobody.err);
    let typed_wrong = world.run(&["enable", "--user", "alice", "--client", "cursr"]).ends(64);
    assert!(typed_wrong.err.contains("did you mean `cursor`?"), "{}", typed_wrong.err);
    assert!(!Path::new(RULE).exists());
}

#[test]
fn s_48_s_11_eg_044_all_some_and_nothing_have_exit_codes_and_what_failed_is_told() {
    let Some(world) = world() else { return };
    let nobody = world.run(&["enable", "--user", "alice"]).ends(3);
    assert!(nobody.err.contains("alice: no client was found here"), "{}", nobody.err);
    assert!(Path::new(RULE).exists());
    world.run(&["disable"]).ends(0);

    world.folder(ALICE, ".cursor");
    let absent = world.run(&["enable", "--user", "alice", "--client", "cursor,zed"]).ends(3);
    assert!(absent.err.contains("alice: zed: Zed is not installed here"), "{}", absent.err);
    world.run(&["disable"]).ends(0);

    // A link in the place of the rule is refused, the entry is written all the same.
    let elsewhere = "/etc/elsewhere";
    fs::write(elsewhere, "theirs").unwrap();
    std::os::unix::fs::symlink(elsewhere, RULE).unwrap();
    let refused = world.run(&["enable", "--user", "alice"]).ends(3);
    assert!(refused.err.contains("symbolic link"), "{}", refused.err);
    assert_eq!(fs::read_to_string(elsewhere).unwrap(), "theirs");
    world.run(&["disable"]).ends(0);
    assert!(Path::new(elsewhere).exists() && !Path::new(RULE).exists());

    // Nothing at all.
    fs::create_dir("/usr/lib/pintle").unwrap();
    fs::set_permissions("/usr/lib/pintle", fs::Permissions::from_mode(0o777)).unwrap();
    world.write(ALICE, ".cursor/mcp.json", "{");
    let nothing = world.run(&["enable", "--user", "alice"]).ends(1);
    assert!(nothing.err.contains("helper: ") && nothing.err.contains("sudoers: "), "{}", nothing.err);
    assert!(nothing.err.contains("alice: cursor: ") && nothing.err.contains("mcp.json:1:"), "{}", nothing.err);
}

#[test]
fn eg_057_s_23_disable_goes_on_lists_what_is_left_and_still_knows_it() {
    let Some(world) = world() else { return };
    with_clients(&world);
    world.run(&["enable", "--user", "alice", "--user", "mallory"]).ends(0);
    let enabled = fs::read_to_string(world.path(ALICE, ".cursor/mcp.json")).unwrap();
    world.write(ALICE, ".cursor/mcp.json", "{ penguins-eggs");
    let left = world.run(&["disable"]).ends(3);
    assert!(left.err.contains("alice: cursor: ") && left.err.contains("mcp.json:1:"), "{}", left.err);
    assert!(!Path::new(RULE).exists() && !Path::new(HELPER).exists(), "the grant is gone whatever else is");
    assert_eq!(fs::read_to_string(world.path(ALICE, ".config/zed/settings.json")).unwrap(), ZED);
    assert_eq!(fs::read_to_string(world.path(MALLORY, ".codex/config.toml")).unwrap(), CODEX);
    let record: Value = serde_json::from_slice(&fs::read(RECORD).unwrap()).unwrap();
    assert_eq!(record["users"], serde_json::json!(["alice"]));
    world.write(ALICE, ".cursor/mcp.json", &enabled);
    world.run(&["disable"]).ends(0);
    assert_eq!(fs::read_to_string(world.path(ALICE, ".cursor/mcp.json")).unwrap(), CURSOR);
    assert!(!Path::new(RECORD).exists());
}

#[test]
fn eg_055_a_file_that_a_group_shares_stays_that_groups() {
    let Some(world) = world() else { return };
    let file = world.write(ALICE, ".cursor/mcp.json", "{}");
    let group = 48_000;
    let groups = fs::read_to_string("/etc/group").unwrap() + "shared:x:48000:mallory,alice\n";
    fs::write("/etc/group", groups).unwrap();
    chown(&file, None, Some(group)).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o664)).unwrap();
    let kept = || {
        let metadata = fs::metadata(&file).unwrap();
        (metadata.uid(), metadata.gid(), metadata.mode() & 0o7777)
    };
    world.run(&["enable", "--user", "alice"]).ends(0);
    assert!(fs::read_to_string(&file).unwrap().contains("penguins-eggs"));
    assert_eq!(kept(), (ALICE.1, group, 0o664));
    world.run(&["disable"]).ends(0);
    assert_eq!((kept(), fs::read_to_string(&file).unwrap().as_str()), ((ALICE.1, group, 0o664), "{}"));
}

#[test]
fn eg_062_s_17_a_dry_run_shows_each_decision_and_changes_nothing() {
    let Some(world) = world() else { return };
    with_clients(&world);
    let before = (snapshot(Path::new("/tmp/home")), snapshot(Path::new("/etc/sudoers.d")));
    let shown = world.run(&["enable", "--user", "alice", "--client", "cursor,zed,junie", "--dry-run"]).ends(3);
    assert!(shown.out.contains("alice ALL=(root) NOPASSWD"), "{}", shown.out);
    assert!(
        shown.out.contains("+") && shown.out.contains("penguins-eggs") && shown.out.contains("would write"),
        "{}",
        shown.out
    );
    assert!(shown.err.contains("junie") && shown.err.contains("is not installed here"), "{}", shown.err);
    assert_eq!((snapshot(Path::new("/tmp/home")), snapshot(Path::new("/etc/sudoers.d"))), before);
    assert!(!Path::new(RECORD).exists() && !Path::new(HELPER).exists());
    world.run(&["enable", "--user", "alice"]).ends(0);
    let enabled = snapshot(Path::new("/tmp/home"));
    let shown = world.run(&["disable", "--dry-run"]).ends(0);
    assert!(shown.out.contains("would remove"), "{}", shown.out);
    assert_eq!(snapshot(Path::new("/tmp/home")), enabled);
    assert!(Path::new(RULE).exists());
}

#[test]
fn s_13_an_entry_of_somebody_else_and_a_link_out_of_the_home_are_refused() {
    let Some(world) = world() else { return };
    let theirs = r#"{"mcpServers": {"penguins-eggs": {"command": "/usr/bin/eggs", "args": ["mcp", "start"]}}}"#;
    world.write(ALICE, ".cursor/mcp.json", theirs);
    let secret = world.write(MALLORY, "secret.json", "{}");
    world.folder(ALICE, ".junie/mcp");
    std::os::unix::fs::symlink(&secret, world.path(ALICE, ".junie/mcp/mcp.json")).unwrap();
    let refused = world.run(&["enable", "--user", "alice"]).ends(3);
    assert!(refused.err.contains("an entry `penguins-eggs` that is not ours"), "{}", refused.err);
    assert!(refused.err.contains("is a link to"), "{}", refused.err);
    assert_eq!(fs::read_to_string(&secret).unwrap(), "{}");
    assert_eq!(fs::read_to_string(world.path(ALICE, ".cursor/mcp.json")).unwrap(), theirs);
    world.run(&["enable", "--user", "alice", "--client", "cursor", "--force"]).ends(0);
    world.run(&["disable"]).ends(0);
    assert_eq!(fs::read_to_string(world.path(ALICE, ".cursor/mcp.json")).unwrap(), theirs, "as it was before us");
}

#[test]
fn eg_061_root_ends_the_servers_of_a_user_only_when_asked() {
    let Some(world) = world() else { return };
    let mut command = world.0.as_user(ALICE, PROGRAM);
    let server = command.args(["eggs", "mcp", "start"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut server = server.unwrap();
    let seen = || world.status("alice")["servers"].as_array().unwrap().clone();
    assert!(eventually(|| seen().len() == 1));
    assert_eq!((&seen()[0]["pid"], &seen()[0]["user"]), (&server.id().into(), &"alice".into()));
    let own = world.run(&["stop"]).ends(0);
    assert!(own.out.contains("no server of eggs runs"), "{}", own.out);
    assert!(server.try_wait().unwrap().is_none());
    let stopped = world.run(&["stop", "--user", "alice", "--output", "json"]).ends(0).json();
    assert_eq!((&stopped["servers"][0]["state"], &stopped["servers"][0]["user"]), (&"ended".into(), &"alice".into()));
    assert!(server.try_wait().unwrap().is_some());
}
