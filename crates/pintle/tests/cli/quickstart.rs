//! The first minute.

use crate::home::{Home, done, pintle};
use std::{fs, process::Command};

/// The commands at the end of the output, without what they are for.
fn next_commands(out: &str) -> Vec<String> {
    let end = out.split("try next:\n").nth(1).unwrap_or_else(|| panic!("{out}"));
    end.lines().map(|line| line.split("  #").next().unwrap().trim().to_owned()).collect()
}

#[test]
fn ch_197_ch_198_ch_199_ch_200_ch_201_ch_202_ch_204_the_worked_example_runs_over_mcp() {
    let home = Home::new();
    let temp = home.path().join("tmp");
    fs::create_dir(&temp).unwrap();
    let out = done(home.command(["quickstart"]).env("TMPDIR", &temp)).good();
    for call in [
        "box.new.project",
        "box.new.box",
        "box.new.candy",
        "candy.add-rpm",
        r#"box.add-candy {"image":"hello","layer":"hello-svc"}"#,
        "image.validate {}",
        r#"box.cat {"path":"charly.yml"}"#,
        r#"box.inspect {"image":"hello"}"#,
    ] {
        assert!(out.contains(&format!("> {call}")), "{call}: {out}");
    }
    assert!(
        out.contains("\n  valid")
            && out.contains("- hello-svc")
            && out.contains(r#""packages":{"rpm":["openssh-server"]}"#)
    );
    assert_eq!(next_commands(&out).len(), 3);
    assert!(fs::read_dir(&temp).unwrap().next().is_none(), "the place is clean again");
    assert!(home.files().is_empty() && !home.path().join(".local").exists(), "and so is the home");
}

#[test]
fn a_folder_that_is_named_stays_and_the_next_commands_work_as_typed() {
    let home = Home::new();
    let out = home.run(["quickstart", "--dir", "with blank"]).good();
    let project = home.work().join("with blank/hello");
    assert!(project.join("charly.yml").is_file() && project.join("candy/hello-svc/charly.yml").is_file());
    let next = next_commands(&out);
    let typed = |command: &str| {
        done(Command::new("sh").arg("-c").arg(command).current_dir(home.work()).env("HOME", home.path()))
    };
    assert!(typed(&next[0]).good().contains("openssh-server"), "{next:?}");
    typed(&next[1]).good();
    assert!(fs::read_to_string(project.join("candy/hello-svc/charly.yml")).unwrap().contains("- nginx"));
    assert!(typed(&format!("{} --help", next[2])).good().contains("Streamable HTTP"));
    let again = home.run(["quickstart", "--dir", "with blank"]);
    assert_eq!(again.code, 1);
    assert!(
        again.err.contains("is there already") && again.err.contains("hint: choose another --dir"),
        "{}",
        again.err
    );
    let extra: Vec<_> = fs::read_dir(home.work().join("with blank")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(extra, ["hello"], "nothing else lies there");
}

#[test]
fn without_a_folder_the_next_commands_work_as_typed_too() {
    let home = Home::new();
    let next = next_commands(&home.run(["quickstart"]).good());
    assert!(next[0].starts_with(&pintle().display().to_string()), "as it was called: {next:?}");
    let typed = |command: &str| {
        done(Command::new("sh").arg("-c").arg(command).current_dir(home.work()).env("HOME", home.path()))
    };
    typed(&next[0]).good();
    assert!(home.work().join("hello-boxes/hello/charly.yml").is_file());
    assert!(typed(&next[1]).good().contains("box.validate"));
}

#[test]
fn a_temporary_folder_can_be_kept() {
    let home = Home::new();
    let temp = home.path().join("tmp");
    fs::create_dir(&temp).unwrap();
    let out = done(home.command(["quickstart", "--keep"]).env("TMPDIR", &temp)).good();
    let kept = fs::read_dir(&temp).unwrap().next().unwrap().unwrap().path();
    let inside: Vec<_> = fs::read_dir(&kept).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(inside, ["hello"], "the project and nothing else");
    assert!(out.contains(&format!("stays in {}", kept.join("hello").display())), "{out}");
    assert_eq!(home.run(["quickstart", "--keep", "--dir", "x"]).code, 64);
}
