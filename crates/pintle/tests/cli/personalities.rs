//! Names under which the program is a toolset's own command.

use crate::home::{Home, done, pintle};
use std::{fs, os::unix::fs::symlink};

#[test]
fn the_name_of_the_program_chooses_the_toolset() {
    let home = Home::with_project();
    let charly = home.path().join("charly");
    symlink(pintle(), &charly).unwrap();
    let by_name = |words: &[&str]| done(&mut home.command_of(&charly, words));
    let by_word = |words: &[&str]| home.run([&["charly"], words].concat());
    for words in [&["box", "list", "boxes"][..], &["version"], &["box.list.boxes"], &["box_list_boxes"]] {
        assert_eq!(by_name(words).good(), by_word(words).good(), "{words:?}");
    }
    assert!(by_name(&["box", "--help"]).good().contains("Usage: charly box"));
    assert!(by_name(&["mcp", "serve", "--help"]).good().contains("Usage: charly mcp serve"));
    assert!(by_name(&["completions", "bash"]).good().contains("_charly"));
    let wrong = by_name(&["box", "valdate"]);
    assert_eq!((wrong.code, wrong.err.contains("did you mean `charly box validate`?")), (64, true), "{}", wrong.err);
}

#[test]
fn toolsets_without_operations_say_so() {
    let home = Home::new();
    let (program, word) = ("kubestellar-deploy", "deploy");
    let link = home.path().join(program);
    symlink(pintle(), &link).unwrap();
    let by_name = done(&mut home.command_of(&link, ["--mcp-server"]));
    let by_word = home.run([word, "clusters", "list"]);
    for ran in [&by_name, &by_word] {
        assert_eq!((ran.code, ran.out.as_str()), (69, ""));
        assert!(ran.err.contains("has no operations in this build\nhint: `pintle doctor`"), "{}", ran.err);
    }
    assert!(by_name.err.contains(&format!("`{program}`")) && by_word.err.contains(&format!("`pintle {word}`")));
}

#[test]
fn old_words_for_commands_and_arguments_still_work() {
    let home = Home::with_project();
    home.run(["charly", "layer", "new", "candy", "svc"]);
    home.run(["charly", "box", "new", "candy", "svc"]).good();
    home.run(["call", "box.add-candy", "image=web", "layer=svc"]).good();
    assert!(home.run(["charly", "image", "validate"]).good().starts_with("valid"));
    let help = home.run(["charly", "--help"]).good();
    assert!(!help.lines().any(|line| line.trim_start().starts_with("image ")), "but are not listed: {help}");
}

#[test]
fn a_file_is_written_from_standard_input_by_both_names_of_the_flag() {
    let home = Home::with_project();
    for flag in ["--from-stdin", "--from-in"] {
        let text = format!("given by {flag}\nand no newline at the end");
        home.fed(["charly", "box", "write", "notes.txt", flag], &text).good();
        assert_eq!(fs::read_to_string(home.work().join("notes.txt")).unwrap(), text);
    }
    let both = home.run(["charly", "box", "write", "notes.txt", "--from-stdin", "--content=x"]);
    assert_eq!(both.code, 64, "{}", both.err);
    let neither = home.run(["charly", "box", "write", "notes.txt"]);
    assert!(neither.code == 64 && neither.err.contains("--content"), "{}", neither.err);
}

#[test]
fn ch_159_ch_160_the_project_is_this_folder_or_the_one_that_is_named() {
    let home = Home::with_project();
    let elsewhere = home.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let work = home.work().display().to_string();
    let from = |words: &[&str], variable: Option<&str>| {
        let mut command = home.command(words);
        command.current_dir(&elsewhere);
        command.envs(variable.map(|value| ("CHARLY_PROJECT_DIR", value)));
        done(&mut command)
    };
    assert!(home.run(["charly", "box", "list", "boxes"]).good().starts_with("web"));
    let none = from(&["charly", "box", "list", "boxes"], None);
    assert_eq!(none.code, 1);
    assert!(none.err.contains("has no charly.yml") && none.err.contains("hint: "), "{}", none.err);
    for words in [
        ["charly", "-C", &work, "box", "list", "boxes"].as_slice(),
        &["charly", "box", "list", "boxes", "--dir", &work],
        &["call", "box.list.boxes", "-C", &work],
        &["call", "box.list.boxes", &format!("project={work}")],
    ] {
        assert!(from(words, None).good().starts_with("web"), "{words:?}");
    }
    assert!(from(&["charly", "box", "list", "boxes"], Some(&work)).good().starts_with("web"));
    let gone = from(&["charly", "box", "list", "boxes"], Some("/no/such/folder"));
    assert_eq!(gone.code, 1);
    assert!(gone.err.contains("/no/such/folder") && gone.err.contains("CHARLY_PROJECT_DIR"), "{}", gone.err);
    assert!(from(&["charly", "--help"], Some("/no/such/folder")).code == 0, "help needs no project");
    let outside = from(&["charly", "--project-root", "/usr", "-C", &work, "box", "list", "boxes"], None);
    assert_eq!(outside.code, 77, "{}", outside.err);
}
