//! Help and the forms of answers.

use crate::home::{Home, done};
use serde_json::json;
use std::{
    fs::File,
    process::{Command, Stdio},
};

#[test]
fn help_is_data_and_a_missing_command_is_not() {
    let home = Home::new();
    for words in [&["--help"][..], &["-h"], &["help"]] {
        let help = home.run(words).good();
        for word in ["quickstart", "charly", "mcp", "doctor", "not in this build yet"] {
            assert!(help.contains(word), "{word}: {help}");
        }
    }
    for words in [&[][..], &["charly"], &["charly", "box"], &["mcp"]] {
        let none = home.run(words);
        assert_eq!((none.code, none.out.as_str()), (64, ""), "{words:?}");
        assert!(none.err.contains("Commands:"), "{}", none.err);
    }
    for words in [
        &["charly", "--help"][..],
        &["charly", "box", "--help"],
        &["charly", "box", "set", "--help"],
        &["mcp", "--help"],
        &["mcp", "serve", "--help"],
        &["call", "--help"],
        &["quickstart", "--help"],
        &["completions", "--help"],
        &["man", "--help"],
        &["approve", "--help"],
        &["help", "approve"],
    ] {
        let help = home.run(words).good();
        assert!(help.contains("Usage: pintle"), "{words:?}: {help}");
        assert!(!help.contains('\u{1b}'), "no colours in a pipe");
    }
    assert!(home.files().is_empty(), "help makes nothing");
    assert!(!home.path().join(".local").exists(), "not even state");
}

#[test]
fn ch_142_the_version_is_the_same_by_every_way() {
    let home = Home::new();
    let line = home.run(["charly", "version"]).good();
    assert_eq!(home.run(["call", "version"]).good(), line);
    let json = home.run(["charly", "version", "--output", "json"]).json();
    assert_eq!(format!("{}\n", json["version"].as_str().unwrap()), line);
    assert_eq!(home.run(["--version"]).good(), home.run(["version"]).good());
    assert!(home.run(["version"]).good().contains(line.trim()));
}

#[test]
fn answers_come_as_text_json_and_yaml() {
    let home = Home::with_project();
    let text = home.run(["charly", "box", "list", "boxes"]).good();
    assert!(text.starts_with("web"), "{text}");
    let value = home.run(["charly", "box", "inspect", "web", "--output", "json"]).json();
    assert_eq!(value["base"], "quay.io/fedora/fedora:43");
    let yaml = home.run(["charly", "--output=yaml", "box", "inspect", "web"]).good();
    assert_eq!(home.run(["--output", "yaml", "charly", "box", "inspect", "web"]).good(), yaml);
    assert_eq!(home.run(["call", "box.inspect", "box=web", "--output=yaml"]).good(), yaml);
    assert!(yaml.contains("\nbase: \"quay.io/fedora/fedora:43\"\n"), "{yaml}");
    let failed = home.run(["charly", "box", "inspect", "none", "--output", "json"]);
    assert_eq!(failed.code, 1);
    let envelope: serde_json::Value = serde_json::from_str(&failed.out).unwrap();
    assert_eq!((&envelope["outcome"], &envelope["failure"]["code"]), (&json!("failed"), &json!("not_found")));
    assert!(failed.err.starts_with("error: "), "and for people on standard error");
}

#[test]
fn call_tells_what_a_tool_takes_by_the_names_of_its_schema() {
    let home = Home::new();
    let help = home.run(["call", "box.new.box", "--help"]).good();
    assert!(help.contains("Usage: pintle call box.new.box [KEY=VALUE]… [--json ARGS]"), "{help}");
    for line in ["name=NAME", "candies=CANDIES…", "dry_run=true", "Needed:", "Add a box to charly.yml"] {
        assert!(help.contains(line), "{line}: {help}");
    }
    assert!(home.run(["call", "approve", "--help"]).good().contains("id=ID"), "the house's operations, too");
}

#[test]
fn ch_193_a_file_comes_out_byte_for_byte() {
    let home = Home::with_project();
    let odd = "# odd\r\nversion: 2026.100.0000\n\n\n";
    home.write("work/notes.txt", odd);
    assert_eq!(home.run(["charly", "box", "cat", "notes.txt"]).good(), odd);
}

#[test]
fn a_reader_that_goes_is_no_failure_and_a_full_disk_is() {
    let home = Home::with_project();
    home.write("work/long.txt", &"a line of text\n".repeat(100_000));
    let mut child = home.command(["charly", "box", "cat", "long.txt"]);
    let mut child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
    for words in [&["charly", "box", "cat", "long.txt"][..], &["--help"], &["charly", "--help"]] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = home.command(words).stdout(full).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        assert_eq!(told, "error: writing the answer: no space left on device\n", "{words:?}");
    }
}

#[test]
fn completions_and_manual_pages_are_made_from_the_commands() {
    let home = Home::new();
    let bash = home.run(["completions", "bash"]).good();
    let script = home.write("pintle.bash", &bash);
    let check = done(Command::new("bash").arg("-n").arg(&script));
    assert_eq!((check.code, check.err.as_str()), (0, ""), "bash understands it");
    for shell in ["zsh", "fish"] {
        assert!(home.run(["completions", shell]).good().contains("add-candy"), "{shell}");
    }
    let page = home.run(["man"]).good();
    assert!(page.contains(".TH pintle 1") && page.contains("quickstart"), "{page}");
    home.run(["man", "--out", "pages"]).good();
    let page = std::fs::read_to_string(home.work().join("pages/pintle-charly-box-set.1")).unwrap();
    assert!(page.contains("charly.yml"), "{page}");
}

#[test]
fn the_data_for_the_documents_holds_every_tool() {
    let home = Home::new();
    let data = home.run(["docs-data"]).json();
    let tools = data["tools"].as_array().unwrap();
    let find = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("{name}"));
    let set = find("box.set");
    assert_eq!((&set["toolset"], &set["effects"]), (&json!("charly"), &json!(["write"])));
    assert_eq!(set["hints"]["readOnlyHint"], false);
    assert_eq!(set["command"], "charly box set PATH [VALUE]");
    assert!(set["input_schema"]["properties"]["path"].is_object() && set["output_schema"]["properties"].is_object());
    assert!(find("approve").get("hints").is_none(), "agents have no such tool");
    assert!(!data.to_string().contains("x-cli"));
    let again = home.run(["docs-data"]).json();
    assert_eq!(data, again, "it does not depend on when or where");
}
