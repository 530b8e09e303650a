//! Which ways data takes between a client, the server, eggs, the system's files, clients' files and the rule of sudo; and
//! that it takes no other.

use crate::{client::Client, client::good, granted::Granted};
use pintle_testkit::machine::ALICE;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

/// Where the machine is written: the layers over the system's folders, and what is empty at its start.
const WRITTEN: [(&str, &str); 5] = [
    ("/run/etc", "/etc"),
    ("/run/usr", "/usr"),
    ("/run/lib", "/var/lib"),
    ("/tmp/home", "/tmp/home"),
    ("/var/log", "/var/log"),
];

/// Every file there, by the name it has in the system, with its state.
fn files() -> BTreeMap<PathBuf, (u64, i64, i64)> {
    fn below(folder: &Path, layer: &str, name: &str, all: &mut BTreeMap<PathBuf, (u64, i64, i64)>) {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let about = path.symlink_metadata().unwrap();
            if about.is_dir() {
                below(&path, layer, name, all);
            } else {
                let known = Path::new(name).join(path.strip_prefix(layer).unwrap());
                all.insert(known, (about.size(), about.mtime(), about.mtime_nsec()));
            }
        }
    }
    let mut all = BTreeMap::new();
    for (layer, name) in WRITTEN {
        below(Path::new(layer), layer, name, &mut all);
    }
    all
}

#[test]
fn eg_004_eg_048_five_ways_are_taken_and_no_other_file_is_written() {
    let Some(granted) = Granted::new() else { return };
    granted.root(&["eggs", "mcp", "disable", "--yes"]);
    granted.0.write("/etc/penguins-eggs.d/custom.yaml", "remaster:\n  user: live\n", 0o644).unwrap();
    let cursor = granted.home().join(".cursor");
    fs::create_dir(&cursor).unwrap();
    std::os::unix::fs::chown(&cursor, Some(ALICE.1), Some(ALICE.1)).unwrap();
    let before = files();

    // The manager writes the rule of sudo, and the client's file.
    let enabled = granted.root(&["eggs", "mcp", "enable", "--user", ALICE.0, "--yes"]);
    assert!(enabled.status.success(), "{enabled:?}");
    let rule = fs::read_to_string("/etc/sudoers.d/penguins-eggs-mcp").unwrap();
    assert!(rule.contains("alice ALL=(root) NOPASSWD: /usr/lib/pintle/pintle-helper"), "{rule}");
    let file = cursor.join("mcp.json");
    let entry: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let entry = &entry["mcpServers"]["penguins-eggs"];

    // The client starts what its file says, and talks to it over standard input and output.
    let mut command = granted.0.as_user(ALICE, entry["command"].as_str().unwrap());
    command.args(entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()));
    let mut client = Client::of(&mut command);
    assert_eq!(client.initialize("2024-11-05")["serverInfo"]["name"], "penguins-eggs");

    // The server reads the configuration and what the system says of itself.
    assert!(client.read("eggs://config").unwrap().contains("user: live"));
    assert_eq!(client.read("eggs://status").unwrap().lines().count(), 6);

    // And it starts eggs through sudo.
    let flown = client.confirmed("eggs_remaster", json!({}));
    assert_eq!((&good(&flown)["elevated"], &good(&flown)["exit_code"]), (&json!(true), &json!(0)), "{flown}");
    assert_eq!(granted.roots_call(), ["remaster"]);
    assert!(client.end().success());

    let after = files();
    let changed = after.iter().filter(|(path, state)| before.get(*path) != Some(*state)).map(|(path, _)| path.clone());
    let own = |path: &Path| {
        // State of the user's and of root's, the helper's log, and what the stand-in notes of its calls.
        path.starts_with(granted.home().join(".local/state/pintle"))
            || path.starts_with("/var/lib/pintle")
            || path.starts_with("/var/log/pintle")
            || path == Path::new("/usr/bin/calls.jsonl")
            // sudo's own records
            || path.starts_with("/var/lib/sudo")
    };
    let others: Vec<PathBuf> = changed.filter(|path| !own(path)).collect();
    // What the rule grants is put in its place with it.
    let helper = PathBuf::from("/usr/lib/pintle/pintle-helper");
    assert_eq!(others, [PathBuf::from("/etc/sudoers.d/penguins-eggs-mcp"), file, helper]);
    let gone: Vec<&PathBuf> = before.keys().filter(|path| !after.contains_key(*path)).collect();
    assert!(gone.iter().all(|path| own(path)), "{gone:?}");
}
