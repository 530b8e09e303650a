//! The name `eggs`: `mcp` is ours, everything else goes to the real one.

use crate::stage::{Ran, Stage, pintle, ran};
use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    process::{Command, Stdio},
};

const REAL: &str = "#!/bin/sh\necho \"real: $*\"\nread line && echo \"read: $line\"\nexit 7\n";

/// With that search path; nothing here looks for servers.
fn run(stage: &Stage, program: &Path, path: &str, words: &[&str]) -> Ran {
    let mut command = Command::new(program);
    command.args(words).current_dir(stage.path()).env_clear().env("HOME", stage.path()).env("PATH", path);
    ran(command.stdin(Stdio::null()))
}

#[test]
fn eg_006_the_name_eggs_serves_mcp_and_passes_the_rest_to_the_real_one() {
    let Some(stage) = Stage::new() else { return };
    let bin = stage.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let linked = stage.run(&["link", &bin.display().to_string(), "--eggs"]).ends(0);
    assert!(linked.out.contains("there is no other eggs here"), "{}", linked.out);
    let eggs = bin.join("eggs");
    stage.program("real/eggs", REAL);
    let path = format!("{}:{}:/usr/bin:/bin", bin.display(), stage.path().join("real").display());
    for words in [&["remaster", "--clone", "a b"][..], &["--help"], &[], &["version", "mcp"], &["-x", "mcp", "start"]] {
        let ran = run(&stage, &eggs, &path, words).ends(7);
        assert_eq!(ran.out, format!("real: {}\n", words.join(" ")));
    }
    let ours = ran(stage.command(&eggs).args(["mcp", "status"]).env("PATH", &path)).ends(0);
    assert!(ours.out.contains("servers: none runs"), "{}", ours.out);
    let help = run(&stage, &eggs, &path, &["mcp", "--help"]).ends(0);
    assert!(help.out.contains("status") && !help.out.contains("real:"), "{}", help.out);
    let mut server = stage.server(&["eggs", "mcp", "start"]);
    server.initialize("t");
    server.leave();
}

#[test]
fn the_name_eggs_never_calls_itself() {
    let Some(stage) = Stage::new() else { return };
    let folders = ["a", "b", "c"].map(|name| stage.path().join(name));
    for folder in &folders {
        fs::create_dir(folder).unwrap();
    }
    symlink(pintle(), folders[0].join("eggs")).unwrap();
    // Copies that nothing but their bytes tells from the real one.
    fs::copy(pintle(), folders[1].join("eggs")).unwrap();
    fs::copy(pintle(), folders[2].join("eggs")).unwrap();
    let path = std::env::join_paths(&folders).unwrap().into_string().unwrap();
    for folder in &folders {
        let ran = run(&stage, &folder.join("eggs"), &path, &["version"]).ends(69);
        assert!(ran.err.contains("there is no eggs behind this name"), "{}", ran.err);
    }
    stage.program("real/eggs", REAL);
    let path = format!("{path}:{}:/usr/bin:/bin", stage.path().join("real").display());
    assert_eq!(run(&stage, &folders[0].join("eggs"), &path, &["version"]).ends(7).out, "real: version\n");
}

#[test]
fn link_says_what_becomes_of_the_real_one_and_never_replaces_it() {
    let Some(stage) = Stage::new() else { return };
    let bin = stage.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let real = stage.program("real/eggs", REAL);
    let folder = real.parent().unwrap().display().to_string();
    let refused = stage.run(&["link", &folder, "--eggs"]).ends(1);
    assert!(refused.err.contains("real/eggs` is there already and is not ours"), "{}", refused.err);
    assert_eq!(fs::read_to_string(&real).unwrap(), REAL);
    let bin = bin.display().to_string();
    let link = |path: &str| run(&stage, pintle(), path, &["link", &bin, "--eggs"]).ends(0).out;
    assert!(link(&format!("{bin}:{folder}")).contains(&format!("all but `eggs mcp` goes to {folder}/eggs")));
    assert!(link(&format!("{folder}:{bin}")).contains(&format!("{folder}/eggs comes first in PATH")));
    assert!(link(&folder).contains("is not in PATH"));
}
