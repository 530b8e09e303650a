//! The command tree of eggs against the pack.

use std::collections::BTreeSet;

use pintle_packfile::{Spelling, Verb};

use super::whole;

/// Why a command or flag is in no verb.
enum Why {
    /// It needs a terminal.
    Terminal,
    /// It has nothing to do with the machine: help, completions, our own work.
    House,
    /// It is not for people either.
    Hidden,
    /// It only shows help.
    Group,
}
use Why::{Group, Hidden, House, Terminal};

/// Every command with its flags, number of arguments, and the verb that stands for it.
type Row = (&'static str, &'static [&'static str], usize, Result<&'static str, Why>);

const TREE: [Row; 33] = [
    (
        "remaster",
        &["--path", "--clone", "--crypted", "--compression", "--stop-after", "--debug", "--fdt"],
        0,
        Ok("remaster"),
    ),
    ("wizard", &["--path"], 0, Err(Terminal)),
    ("config", &[], 0, Err(Terminal)),
    ("adapt", &[], 0, Err(Terminal)),
    ("sysinstall", &["--unattended", "--fstype"], 0, Ok("sysinstall")),
    ("sysinstall krill", &["--unattended", "--fstype"], 0, Ok("sysinstall-krill")),
    // It ignores the flags that it inherits, so it is not given them.
    ("sysinstall calamares", &[], 0, Ok("sysinstall-calamares")),
    ("destroy", &[], 0, Ok("destroy")),
    ("kill", &[], 0, Ok("destroy")),
    ("export", &["--clean"], 0, Err(Group)),
    ("export iso", &["--clean"], 0, Ok("export-iso")),
    ("export pkg", &["--clean"], 0, Ok("export-pkg")),
    ("export log", &["--user", "-u", "--ip", "-i", "--dir", "-d", "--clean"], 0, Ok("export-log")),
    ("tools", &[], 0, Err(Group)),
    ("tools build", &[], 0, Ok("tools-build")),
    ("tools clean", &["--verbose", "-v"], 0, Ok("tools-clean")),
    ("tools grub40", &["--write", "-w"], 1, Ok("tools-grub40")),
    ("tools repo", &[], 1, Ok("tools-repo")),
    ("tools skel", &["--user", "-u"], 0, Ok("tools-skel")),
    ("version", &[], 0, Ok("version")),
    ("wardrobe list", &[], 0, Ok("wardrobe-list")),
    ("wardrobe get", &[], 0, Ok("wardrobe-get")),
    ("wardrobe show", &[], 1, Ok("wardrobe-show")),
    ("wardrobe wear", &["--no-acc", "--no-firm"], 1, Ok("wardrobe-wear")),
    ("mcp start", &[], 0, Err(House)),
    ("mcp stop", &[], 0, Err(House)),
    ("mcp status", &[], 0, Err(House)),
    ("mcp enable", &[], 0, Err(House)),
    ("mcp disable", &[], 0, Err(House)),
    ("completion bash", &[], 0, Err(House)),
    ("help", &[], 0, Err(House)),
    ("ell", &[], 0, Err(Hidden)),
    ("_gen_docs", &["--target"], 0, Err(Hidden)),
];

/// Flags of covered commands that no verb has: they ask on a terminal, or are hidden and refused as the visible one is.
const NEVER: [&str; 5] = ["--wizard", "-w", "--interactive", "-i", "--cryptedclone"];

fn spellings(verb: &Verb) -> (BTreeSet<&str>, usize) {
    let mut flags = BTreeSet::new();
    let mut positions = 0;
    for option in verb.options.values() {
        match &option.spelling {
            Spelling::Flag { flag, short, .. } => {
                flags.extend([Some(flag), short.as_ref()].into_iter().flatten().map(String::as_str))
            }
            Spelling::Position(_) => positions += 1,
        }
    }
    (flags, positions)
}

#[test]
fn eg_022_the_pack_covers_the_command_tree() {
    let pack = whole("eggs");
    let mut covered = BTreeSet::new();
    for (command, flags, arguments, verb) in TREE {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let known: Vec<_> =
            pack.verbs.values().filter(|verb| verb.words == words || verb.aliases.contains(&words)).collect();
        match verb {
            Ok(name) => {
                let [found] = known.as_slice() else { panic!("{command} is no verb") };
                assert_eq!(found.name, name);
                let wanted: BTreeSet<&str> = flags.iter().copied().collect();
                assert_eq!(spellings(found), (wanted, arguments), "{command}");
                covered.insert(name);
            }
            Err(Terminal | House | Hidden | Group) => assert!(known.is_empty(), "{command} must not be reachable"),
        }
    }
    let verbs: BTreeSet<&str> = pack.verbs.keys().map(String::as_str).collect();
    assert_eq!(covered, verbs, "a verb that is no command");
    let (remaster, _) = spellings(pack.verb("remaster").unwrap());
    assert!(NEVER.iter().all(|flag| !remaster.contains(flag)));
}
