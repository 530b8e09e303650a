//! The whole way, with nothing in place of anything but eggs: an ordinary user's server, the rule of sudo that `enable` wrote,
//! the helper, and the stand-in at `/usr/bin/eggs`, where it belongs to root. On a machine of its own.

use crate::{
    client::{Client, bad, good},
    world::{neighbour, pintle},
};
use pintle_testkit::{
    eggs::{CALLS_FILE, Call, ORDERS_FILE, Orders, take_work},
    machine::{ALICE, Machine},
};
use serde_json::json;
use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown},
    path::{Path, PathBuf},
    process::{Command, Output},
};

const PROGRAM: &str = "/usr/bin/pintle";
const EGGS: &str = "/usr/bin/eggs";
/// What the stand-in takes for `/`.
const SYSTEM: &str = "/run/system";
const HELPER: &str = "/usr/lib/pintle/pintle-helper";

pub struct Granted(pub Machine);

impl Granted {
    /// The machine after `sudo pintle eggs mcp enable --user alice`.
    pub fn new() -> Option<Self> {
        let machine = Machine::enter(&["sudo", "visudo"])?;
        let mount = |words: &[&str]| assert!(Command::new("mount").args(words).status().unwrap().success());
        for folder in ["/run/lib", "/run/lib.work"] {
            fs::create_dir(folder).unwrap();
        }
        let layers = "lowerdir=/var/lib,upperdir=/run/lib,workdir=/run/lib.work";
        mount(&["-t", "overlay", "-o", layers, "overlay", "/var/lib"]);
        machine.write(PROGRAM, "", 0o755).unwrap();
        mount(&["--bind", &pintle().display().to_string(), PROGRAM]);
        machine.program(neighbour("pintle-helper"), "/usr/bin/pintle-helper").unwrap();
        machine.program(neighbour("stand-in-eggs"), EGGS).unwrap();
        // Those who are not root note their calls too.
        machine.write(Path::new("/usr/bin").join(CALLS_FILE), "", 0o666).unwrap();
        // The stand-in notes mounts of its own making where the system's would be, so it has a system of its own; the work
        // folder in it is the one that the server looks at.
        fs::create_dir_all(Path::new(SYSTEM).join("home")).unwrap();
        mount(&["--bind", &format!("{SYSTEM}/home"), "/home"]);
        let granted = Self(machine);
        granted.order(Orders::default());
        let costume = granted.home().join(".oa-wardrobe/costumes/colibri");
        fs::create_dir_all(&costume).unwrap();
        fs::write(costume.join("index.yaml"), "name: colibri\ndescription: light\nsequence:\n  cmds:\n  - true\n")
            .unwrap();
        let enabled = granted.root(&["eggs", "mcp", "enable", "--user", ALICE.0, "--yes"]);
        // Without a client of MCP there is nobody to register with, which is told by the code; the rule is there.
        assert!(fs::exists("/etc/sudoers.d/penguins-eggs-mcp").unwrap(), "{enabled:?}");
        Some(granted)
    }

    pub fn home(&self) -> PathBuf {
        self.0.home(ALICE)
    }

    fn order(&self, orders: Orders) {
        let orders = Orders {
            root: Some(SYSTEM.into()),
            home: Some(self.home()),
            export_to: Some(self.home().join("exported")),
            ..orders
        };
        let text = serde_json::to_vec(&orders).unwrap();
        self.0.write(Path::new("/usr/bin").join(ORDERS_FILE), text, 0o644).unwrap();
    }

    pub fn root(&self, words: &[&str]) -> Output {
        let mut command = Command::new(PROGRAM);
        command.args(words).env_clear().env("HOME", "/run/root").env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        command.current_dir("/").output().unwrap()
    }

    fn client(&self) -> Client {
        let mut client = Client::of(self.0.as_user(ALICE, PROGRAM).args(["eggs", "mcp", "start"]));
        client.initialize("2025-06-18");
        client
    }

    /// What the stand-in was called for, but for questions who it is; forgotten then.
    fn calls(&self) -> Vec<Call> {
        take_work(Path::new("/usr/bin")).unwrap()
    }

    /// The only call, which was root's, in surroundings of the helper's.
    #[track_caller]
    pub fn roots_call(&self) -> Vec<String> {
        let mut calls = self.calls();
        assert_eq!(calls.len(), 1, "{calls:?}");
        let call = calls.remove(0);
        assert_eq!((call.euid, call.ruid, call.cwd.as_str()), (0, 0, "/"), "{call:?}");
        assert_eq!(call.sudo_user.as_deref(), Some(ALICE.0));
        assert!(!call.environment.iter().any(|name| name == "HOME" || name.starts_with("PINTLE")), "{call:?}");
        call.argv[1..].to_vec()
    }
}

fn images() -> usize {
    let entries = fs::read_dir("/home/eggs").into_iter().flatten();
    entries.filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|ending| ending == "iso")).count()
}

#[test]
fn eg_046_eg_031_eg_032_eg_026_eg_035_s_32_an_ordinary_user_remasters_wears_exports_and_destroys() {
    let Some(granted) = Granted::new() else { return };
    let mut client = granted.client();

    let flown = client.confirmed("eggs_remaster", json!({"compression": "zstd"}));
    assert!(good(&flown)["made"]["bytes"].as_u64().unwrap() > 1_000_000, "{flown}");
    assert_eq!(granted.roots_call(), ["remaster", "--compression=zstd"]);
    assert_eq!(images(), 1);

    let worn = client.confirmed("eggs_wardrobe", json!({"action": "wear", "costume": "colibri"}));
    assert_eq!(good(&worn)["exit_code"], 0, "{worn}");
    let calls = granted.calls();
    // What the plan shows is read as the user.
    let (reading, wearing): (Vec<&Call>, Vec<&Call>) = calls.iter().partition(|call| call.arguments()[1] != "wear");
    assert!(reading.iter().all(|call| call.euid == ALICE.1), "{reading:?}");
    assert_eq!((wearing.len(), wearing[0].euid, wearing[0].arguments()), (1, 0, vec!["wardrobe", "wear", "colibri"]));

    let sent = client.call("eggs_export", json!({"target": "iso"}));
    assert_eq!(good(&sent)["exit_code"], 0, "{sent}");
    let calls = granted.calls();
    assert!(calls.len() == 1 && calls[0].euid == ALICE.1, "{calls:?}");
    let sent = fs::read_dir(granted.home().join("exported")).unwrap().next().unwrap().unwrap();
    assert_eq!(sent.metadata().unwrap().uid(), ALICE.1);

    let asked = client.call("eggs_destroy", json!({}));
    let id = asked["structuredContent"]["plan"]["approval"].as_str().unwrap().to_owned();
    assert!(granted.calls().is_empty() && images() == 1, "nothing before a person said yes");
    let approved = granted.0.as_user(ALICE, PROGRAM).args(["approve", &id, "--yes"]).output().unwrap();
    assert!(approved.status.success(), "{approved:?}");
    let destroyed = client.call("eggs_destroy", json!({}));
    assert_eq!(good(&destroyed)["exit_code"], 0, "{destroyed}");
    assert_eq!(granted.roots_call(), ["destroy"]);
    assert_eq!(images(), 0);

    for words in [&[EGGS, "remaster"][..], &[EGGS, "ell"], &[HELPER, "start", "/bin/sh"], &["/bin/sh"]] {
        let tried = granted.0.as_user(ALICE, "/usr/bin/sudo").args(["-n", "--"]).args(words).output().unwrap();
        assert_eq!(tried.status.code(), Some(1), "{words:?}");
    }
    assert!(granted.calls().is_empty());
}

#[test]
fn s_28_s_29_a_cancelled_flight_of_roots_ends() {
    let Some(granted) = Granted::new() else { return };
    granted.order(Orders { hang_at: Some("mksquashfs".into()), ..Orders::default() });
    let mut client = granted.client();
    let arguments = client.planned("eggs_remaster", &json!({}));
    let call = client.begin_call("eggs_remaster", &arguments);
    client.until(|message| message["params"]["message"].as_str().is_some_and(|said| said.contains("mksquashfs")));
    let flight = granted.calls().pop().unwrap();
    assert_eq!(flight.euid, 0);
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}}));
    let process = format!("/proc/{}/stat", flight.pid);
    while fs::read_to_string(&process).is_ok_and(|stat| !stat.contains(") Z ")) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // The job ends after its program; then the lane is free again.
    granted.order(Orders::default());
    let again = loop {
        let plan = client.call("eggs_remaster", json!({}));
        let tried = match plan["structuredContent"]["plan"]["token"].as_str() {
            Some(token) => client.call("eggs_remaster", json!({"plan_token": token})),
            None => plan,
        };
        if tried["structuredContent"]["failure"]["code"] != "busy" {
            break tried;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    };
    assert!(good(&again)["made"].is_object(), "{again}");
}

#[test]
fn eg_016_eg_057_s_08_what_is_not_granted_any_more_or_not_roots_alone_is_told_with_the_fix() {
    let Some(granted) = Granted::new() else { return };
    let mut client = granted.client();
    let arguments = client.planned("eggs_remaster", &json!({}));
    chown(EGGS, Some(ALICE.1), None).unwrap();
    let refused = client.call("eggs_remaster", arguments);
    assert_eq!(refused["isError"], true, "{refused}");
    chown(EGGS, Some(0), None).unwrap();
    fs::set_permissions(EGGS, fs::Permissions::from_mode(0o755)).unwrap();

    let arguments = client.planned("eggs_remaster", &json!({}));
    let disabled = granted.root(&["eggs", "mcp", "disable", "--yes"]);
    assert!(!fs::exists("/etc/sudoers.d/penguins-eggs-mcp").unwrap(), "{disabled:?}");
    let refused = client.call("eggs_remaster", arguments);
    assert!(bad(&refused, "unavailable").to_string().contains("sudo pintle eggs mcp enable"), "{refused}");
    assert!(granted.calls().is_empty());
}
