//! Words and plans that make no sense: each is named with its place, nothing runs, the code is 64.

use crate::home::Home;
use std::fmt::Write as _;

#[test]
fn words_are_refused_with_a_way_out() {
    let home = Home::new();
    home.write("work/plan.yml", "vars: {PORT: \"1\"}\na: {check: x, command: touch ran}\n");
    for (words, wanted) in [
        (&["check"][..], "Usage:"),
        (&["check", "rnu"], "did you mean `run`?"),
        (&["check", "run"], "PLAN"),
        (&["check", "run", "plan.yml", "--var", "PRT=2"], "did you mean `PORT`?"),
        (&["check", "run", "plan.yml", "--var", "PORT"], "`--var` must be NAME=VALUE"),
        (&["check", "run", "plan.yml", "--report", "jsn=x"], "did you mean `json`?"),
        (&["check", "run", "plan.yml", "--filter", "comand"], "did you mean `command`?"),
        (&["check", "run", "plan.yml", "--stdio", "x", "--url", "http://h/"], "exclude each other"),
        (&["check", "run", "plan.yml", "--url", "h:1"], "bad URL"),
        (&["check", "run", "plan.yml", "--url", "http://h/", "--transport", "ws"], "auto, http or sse"),
        (&["check", "run", "plan.yml", "--url", "http://h/", "--header", "nonsense"], "NAME: VALUE"),
        (&["check", "run", "plan.yml", "--header", "a: b"], "`--header` needs `--url`"),
        (&["check", "run", "plan.yml", "--deadline", "0s"], "longer than nothing"),
        (&["check", "run", "plan.yml", "--jobs", "many"], "many"),
        (&["check", "fmt"], "PLAN"),
        (&["check", "validate", "--stdio", "x"], "--stdio"),
        (&["chekc"], "did you mean `pintle check`?"),
    ] {
        let ran = home.run(words);
        assert_eq!(ran.code, 64, "{words:?}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(wanted), "{words:?} says: {}", ran.err);
    }
    assert!(!home.work().join("ran").exists());
}

#[test]
fn plans_that_would_cost_too_much_are_refused() {
    let home = Home::new();
    let mut bomb = String::from("x0: &a0 [a, a, a, a, a, a, a, a, a, a]\n");
    for level in 1..12 {
        let _ = writeln!(bomb, "x{level}: &a{level} [{}]", vec![format!("*a{}", level - 1); 10].join(", "));
    }
    home.write("work/bomb.yml", &bomb);
    let step = "a: {check: x, command: touch ran}\n";
    home.write("work/large.yml", &format!("{step}#{}\n", "x".repeat(50 * 1024 * 1024)));
    home.write("work/deep.yml", &format!("{step}b: {}{}\n", "[".repeat(5000), "]".repeat(5000)));
    home.write("work/outside.yml", &format!("include: [../other.yml]\n{step}"));
    home.write("other.yml", "b: {check: x, command: 'true'}\n");
    for (file, wanted) in [
        ("bomb.yml", "bomb.yml:"),
        ("large.yml", "large.yml:1:1:"),
        ("deep.yml", "deep.yml:2:"),
        ("outside.yml", "outside"),
    ] {
        let ran = home.run(["check", "run", file]);
        assert_eq!(ran.code, 64, "{file}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(wanted), "{file}: {}", ran.err);
        assert!(ran.err.len() < 20_000, "{file}: {} bytes of words", ran.err.len());
    }
    assert!(!home.work().join("ran").exists());
}
