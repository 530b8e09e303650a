//! What needs no root.

use crate::stage::Stage;
use std::fs;

#[test]
fn eg_045_the_documents_rule_is_printed_with_a_warning_and_never_installed() {
    let Some(stage) = Stage::new() else { return };
    let printed = stage.run(&["eggs", "mcp", "enable", "--compat-rule"]).ends(0);
    assert!(printed.out.contains("# WARNING") && printed.out.contains("ALL ALL=(ALL) NOPASSWD: "), "{}", printed.out);
    for path in ["/usr/bin/eggs", "/usr/local/bin/eggs", "/usr/bin/coa", "/usr/local/bin/coa"] {
        assert!(printed.out.contains(path), "{path}");
    }
}

#[test]
fn eg_043_eg_057_without_roots_rights_nothing_is_changed_and_it_is_said_how() {
    if rustix::process::geteuid().is_root() {
        return pintle_testkit::skip("opt_in: root may");
    }
    let Some(stage) = Stage::new() else { return };
    stage.write(".cursor/mcp.json", "{}");
    for command in ["enable", "disable"] {
        let refused = stage.run(&["eggs", "mcp", command]).ends(77);
        assert!(refused.err.contains(&format!("sudo pintle eggs mcp {command}")), "{}", refused.err);
    }
    assert_eq!(fs::read_to_string(stage.path().join(".cursor/mcp.json")).unwrap(), "{}");
}

#[test]
fn eg_059_status_tells_of_each_clients_entry() {
    let Some(stage) = Stage::new() else { return };
    stage.write(".cursor/mcp.json", "{");
    stage.write(".junie/mcp/mcp.json", r#"{"servers": {"penguins-eggs": {"command": "pintle", "args": []}}}"#);
    stage.write(".config/zed/settings.json", "{}");
    let found = stage.run(&["eggs", "mcp", "status", "--output", "json"]).ends(0).json();
    let state = |name: &str| {
        let clients = found["clients"].as_array().unwrap();
        clients.iter().find(|client| client["client"] == name).unwrap()["state"].clone()
    };
    assert_eq!(
        (state("cursor"), state("junie"), state("zed")),
        ("malformed".into(), "wrong_key".into(), "disabled".into())
    );
    let text = stage.run(&["eggs", "mcp", "status", "--fail-on", "findings"]).ends(2).out;
    assert!(
        text.contains("malformed file") && text.contains("under the wrong key") && text.contains("sudoers: "),
        "{text}"
    );
}

#[test]
fn eg_006_the_program_to_drive_is_named_absolutely() {
    let Some(stage) = Stage::new() else { return };
    let refused = stage.run(&["eggs", "mcp", "start", "--eggs", "eggs"]).ends(64);
    assert!(refused.err.contains("`eggs` is not absolute"), "{}", refused.err);
    let help = stage.run(&["eggs", "mcp", "start", "--help"]).ends(0).out;
    assert!(help.contains("--eggs <PATH>") && !help.contains("--listen") && !help.contains("--toolset"), "{help}");
    let group = stage.run(&["eggs", "mcp", "--help"]).ends(0).out;
    for word in ["start", "stop", "status", "enable", "disable"] {
        let listed = group.lines().any(|line| line.trim_start().starts_with(&format!("{word} ")));
        assert!(listed, "{word}: {group}");
    }
    assert_eq!(stage.run(&["eggs", "mcp"]).ends(64).err, group);
}
