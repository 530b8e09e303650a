//! From nothing to an entry that answers, and back.

use crate::home::{Home, done, pintle};
use std::{fs, os::unix::fs::symlink};

#[test]
fn s_17_s_18_an_entry_is_written_proved_looked_after_and_taken_out() {
    let home = Home::new();
    let before = "{\n  // mine\n  \"theme\": \"x\"\n}\n";
    home.write(".config/zed/settings.json", before);
    home.write(".codex/config.toml", "model = \"x\"\n");
    let dry = home.run(&["register", "--toolset", "charly", "--dry-run"]).ends(0);
    assert!(dry.out.contains("+++") && dry.out.contains("[mcp_servers.pintle]"), "{}", dry.out);
    assert_eq!(home.read(".config/zed/settings.json"), before);

    let registered = home.run(&["register", "--toolset", "charly"]).ends(0);
    assert!(registered.out.contains("written, answers with "), "{}", registered.out);
    assert!(registered.out.contains("`pintle register undo 1` takes it back"), "{}", registered.out);
    let command = format!("command: {} mcp serve --stdio --toolset charly", pintle().display());
    assert!(registered.out.contains(&command), "{}", registered.out);

    let found = home.run(&["doctor", "--clients", "--output", "json"]).ends(0).json();
    let works = found["clients"].as_array().unwrap();
    assert!(works.len() == 2 && works.iter().all(|client| client["works"] == true), "{works:?}");
    assert!(works[0]["note"].as_str().unwrap().contains("answers with"), "{works:?}");

    home.run(&["register", "undo"]).ends(0);
    assert_eq!(home.read(".config/zed/settings.json"), before);
    assert_eq!(home.read(".codex/config.toml"), "model = \"x\"\n");
    home.run(&["register", "undo"]).ends(1);
    home.run(&["register", "--client", "zed", "--no-verify"]).ends(0);
    home.run(&["unregister"]).ends(0);
    assert_eq!(home.read(".config/zed/settings.json"), before);
    home.run(&["unregister"]).ends(0);
}

#[test]
fn s_18_eg_059_the_doctor_tells_entries_that_are_broken_apart() {
    let home = Home::new();
    home.write(".cursor/mcp.json", "{");
    home.write(".junie/mcp/mcp.json", r#"{"mcpServers": {"pintle": {"command": "/usr/bin/other", "args": []}}}"#);
    home.write(
        ".kiro/settings/mcp.json",
        r#"{"mcpServers": {"pintle": {"command": "/no/such/pintle", "args": ["mcp", "serve"]}}}"#,
    );
    home.write(".lmstudio/mcp.json", "{}");
    let found = home.run(&["doctor", "--clients", "--output", "json"]).ends(0).json();
    let note = |client: &str| {
        let row = found["clients"].as_array().unwrap().iter().find(|row| row["client"] == client).unwrap();
        (row["works"].as_bool().unwrap(), row["note"].as_str().unwrap().to_owned())
    };
    assert!(note("cursor").1.contains(":1:2: "), "{:?}", note("cursor"));
    assert!(note("junie").1.contains("somebody else's"));
    assert!(note("kiro").1.contains("does not answer: spawn"), "{:?}", note("kiro"));
    assert_eq!(note("lm-studio"), (true, "no entry of ours".to_owned()));
    assert!(!note("cursor").0 && !note("junie").0 && !note("kiro").0);
    home.run(&["doctor", "--clients", "--fail-on", "findings"]).ends(2);
}

#[test]
fn the_command_is_the_program_as_it_was_called_with_its_links_kept() {
    let home = Home::new();
    home.write(".cursor/mcp.json", "{}");
    let link = home.path().join("bin/pintle");
    fs::create_dir(home.path().join("bin")).unwrap();
    symlink(pintle(), &link).unwrap();
    done(&mut home.command(&link, &["register", "--no-verify"])).ends(0);
    let file: serde_json::Value = serde_json::from_str(&home.read(".cursor/mcp.json")).unwrap();
    assert_eq!(file["mcpServers"]["pintle"]["command"], link.display().to_string());
}

#[test]
fn s_48_words_that_mean_nothing_end_with_64_and_clients_that_are_not_here_with_69() {
    let home = Home::new();
    home.run(&["register", "--client", "cursor"]).ends(69);
    let unknown = home.run(&["register", "--client", "cursr"]).ends(64);
    assert!(unknown.err.contains("did you mean `cursor`?"), "{}", unknown.err);
    home.run(&["register", "--no-such-flag"]).ends(64);
    home.run(&["register", "nonsense"]).ends(64);
    home.run(&["register", "--scope", "planet"]).ends(64);
    home.run(&["register"]).ends(1);
    assert!(home.run(&["register", "--help"]).ends(0).out.contains("--dry-run"));
    assert!(home.run(&["register", "undo", "--help"]).ends(0).out.contains("--dry-run"));
    let clients = home.run(&["clients", "--output", "json"]).ends(0).json();
    assert_eq!(clients.as_array().unwrap().len(), 21);
    assert_eq!(
        fs::read_dir(home.path()).unwrap().filter(|entry| entry.as_ref().unwrap().file_name() != ".local").count(),
        0
    );
}

#[test]
fn the_environment_of_the_clients_says_where_their_files_are() {
    let home = Home::new();
    fs::create_dir_all(home.path().join("cx")).unwrap();
    let mut command = home.command(&pintle(), &["register", "--client", "codex", "--no-verify"]);
    done(command.env("CODEX_HOME", home.path().join("cx"))).ends(0);
    assert!(home.read("cx/config.toml").contains("[mcp_servers.pintle]"));
}
