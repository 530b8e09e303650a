//! Programs that a user describes.

use crate::home::{self, Home, pintle};
use serde_json::json;
use std::{fs, os::unix::fs::PermissionsExt, process::Command};

const PACK: &str = r#"format = 1
name = "greeter"
summary = "Greets"
program.candidates = ["/bin/echo"]

[verb.greet]
words = ["hello"]
summary = "greets somebody"
effects = []
elevate = "never"
dashdash = true
options.loud = { flag = "--loud", type = "boolean", about = "Louder" }
options.name = { position = 1, type = "string", required = true }

[[tool]]
name = "greeter_greet"
about = "Greets somebody"
verb = "greet"
"#;

#[test]
fn a_users_pack_is_a_command_a_tool_and_something_to_check() {
    let home = Home::new();
    let file = home.write(".config/pintle/packs/greeter.toml", PACK);
    let told = home.run(["greeter", "greet", "greeter", "--loud"]).good();
    assert_eq!(told, "hello --loud -- greeter\n");
    let value = home.run(["--output", "json", "greeter", "greet", "x"]).json();
    assert_eq!((&value["exit_code"], &value["argv"]), (&json!(0), &json!(["/bin/echo", "hello", "--", "x"])));
    let help = home.run(["greeter", "greet", "--help"]).good();
    assert!(help.contains("Greets somebody") && help.contains("--loud") && help.contains("<NAME>"), "{help}");
    let missing = home.run(["greeter", "greet"]);
    assert_eq!(missing.code, 64, "{}", missing.err);

    let shown = home.run(["pack", "show", "greeter"]).good();
    assert!(shown.contains("hello [--loud] NAME") && shown.contains("never run as root"), "{shown}");
    home.run(["pack", "check", file.to_str().unwrap()]).good();

    home.write(".config/pintle/packs/greeter.toml", &PACK.replace("effects = []", "effects = [\"wirte\"]"));
    let broken = home.run(["greeter", "greet", "x"]);
    assert!(broken.code == 1 && broken.err.contains("greeter.toml:9:"), "{}", broken.err);
    let checked = home.run(["pack", "check", file.to_str().unwrap()]);
    assert!(checked.code == 1 && checked.err.contains("greeter.toml:9:"), "{}", checked.err);
    let unknown = home.run(["greter", "greet"]);
    assert!(unknown.code == 64 && unknown.err.contains("unknown command `pintle greter`"), "{}", unknown.err);
}

#[test]
fn eg_015_this_program_under_the_name_of_eggs_is_never_taken_for_it() {
    let home = Home::new();
    let real = home.write("real/eggs", "#!/bin/sh\necho '[coa] 1'\n");
    let copy = home.path().join("copy/eggs");
    fs::create_dir(copy.parent().unwrap()).unwrap();
    // A process of its own copies: a file that is open for writing here cannot be run.
    assert!(Command::new("/bin/cp").arg(pintle()).arg(&copy).status().unwrap().success());
    fs::set_permissions(&real, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", real.parent().unwrap().display());
    let said = home::done(home.command_of(&copy, ["version"]).env("PATH", &path)).good();
    assert_eq!(said, "[coa] 1\n", "by itself it passes on");
    let driven = home::done(home.command(["eggs", "version"]).env("PINTLE_EGGS_PATH", &copy).env("PATH", &path));
    assert_eq!(driven.code, 69, "{}", driven.err);
    assert!(driven.err.contains(copy.to_str().unwrap()), "{}", driven.err);
}
