//! The recorded facts about the real program: command line, role, exit code, what each output begins with.

use crate::stage::{as_root, as_user, installed, run};

enum Who {
    User,
    Root,
}
use Who::{Root, User};

/// How each output begins: `[coa]`, `[WARNING]`, `[ERROR]` behind an empty line, `Error:` of the command library, help, or
/// nothing.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum Sign {
    Nothing,
    Coa,
    Warning,
    Error,
    Usage,
    Help,
    Other,
}
use Sign::{Coa, Error, Help, Nothing, Other, Usage, Warning};

/// The class of an output.
pub fn sign(text: &str) -> Sign {
    if text.trim().is_empty() {
        Nothing
    } else if text.starts_with("[coa]") {
        Coa
    } else if text.starts_with("[WARNING]") {
        Warning
    } else if text.trim_start().starts_with("[ERROR]") {
        Error
    } else if text.starts_with("Error: ") {
        Usage
    } else if text.contains("Usage:") {
        Help
    } else {
        Other
    }
}

type Fact = (&'static str, Who, i32, Sign, Sign);

const FACTS: &[Fact] = &[
    // The top.
    ("", User, 0, Help, Nothing),
    ("--version", User, 0, Other, Nothing),
    ("surely-not", User, 1, Nothing, Usage),
    ("version", User, 0, Coa, Nothing),
    ("version ignored words", User, 0, Coa, Nothing),
    // A group alone, or with a word it does not know, shows its help and is content.
    ("export", User, 0, Help, Nothing),
    ("export surely-not", User, 0, Help, Nothing),
    ("tools", User, 0, Help, Nothing),
    ("tools surely-not", User, 0, Help, Nothing),
    ("mcp surely-not", User, 0, Help, Nothing),
    ("wardrobe burn", User, 0, Help, Nothing),
    ("completion", User, 0, Help, Nothing),
    // What only root may do says so on standard output.
    ("remaster", User, 1, Warning, Nothing),
    ("remaster --clone --crypted", User, 1, Warning, Nothing),
    ("config", User, 1, Warning, Nothing),
    ("sysinstall", User, 1, Warning, Nothing),
    ("sysinstall krill --unattended", User, 1, Warning, Nothing),
    ("sysinstall calamares", User, 1, Warning, Nothing),
    ("destroy", User, 1, Warning, Nothing),
    ("kill", User, 1, Warning, Nothing),
    ("tools clean", User, 1, Warning, Nothing),
    ("tools repo add", User, 1, Warning, Nothing),
    ("tools grub40 --write image.iso", User, 1, Warning, Nothing),
    ("wardrobe wear colibri", User, 1, Warning, Nothing),
    ("mcp enable", User, 1, Warning, Nothing),
    ("mcp disable", User, 1, Warning, Nothing),
    // What anyone may do.
    ("remaster --debug", User, 0, Coa, Nothing),
    ("adapt", User, 0, Coa, Nothing),
    ("mcp status", User, 0, Coa, Nothing),
    ("mcp stop", User, 0, Coa, Nothing),
    ("mcp start", User, 0, Nothing, Nothing),
    ("tools skel", User, 0, Coa, Nothing),
    ("tools skel", Root, 0, Coa, Nothing),
    ("ell", User, 1, Nothing, Error),
    // Wrong counts of words.
    ("tools grub40", User, 1, Nothing, Usage),
    ("tools grub40 one two", User, 1, Nothing, Usage),
    ("wardrobe show", User, 1, Nothing, Usage),
    ("wardrobe wear", Root, 1, Nothing, Usage),
    ("wardrobe wear one two", Root, 1, Nothing, Usage),
    // Errors that end it.
    ("remaster --clone --crypted", Root, 1, Nothing, Error),
    ("tools build", Root, 1, Nothing, Error),
    ("tools grub40 no.iso", User, 1, Nothing, Error),
    ("tools repo burn", Root, 1, Nothing, Error),
    ("sysinstall", Root, 1, Nothing, Error),
    ("sysinstall krill", Root, 1, Nothing, Error),
    ("sysinstall calamares", Root, 1, Nothing, Error),
    ("export log", User, 1, Nothing, Error),
    ("export iso", User, 1, Nothing, Error),
    ("wizard", Root, 1, Nothing, Error),
    ("wardrobe list", User, 1, Nothing, Error),
    ("wardrobe wear surely-not", Root, 1, Nothing, Error),
    // Root's work.
    ("destroy", Root, 0, Coa, Nothing),
    ("tools clean", Root, 0, Coa, Nothing),
    ("tools clean -v", Root, 0, Other, Nothing),
    ("tools repo add", Root, 0, Coa, Nothing),
    ("tools repo rm", Root, 0, Coa, Nothing),
    ("tools repo remove", Root, 0, Coa, Nothing),
    ("remaster", Root, 0, Other, Nothing),
];

#[test]
fn si_02_si_12_every_recorded_fact_holds_of_the_stand_in() {
    for (line, who, code, out, err) in FACTS {
        let installed = installed(&match who {
            User => as_user(),
            Root => as_root(),
        });
        let words: Vec<&str> = line.split_whitespace().collect();
        let ran = run(&installed, &words);
        assert_eq!((ran.code, sign(&ran.out), sign(&ran.err)), (*code, *out, *err), "{line:?}: {}{}", ran.out, ran.err);
        if *out == Warning && *code == 1 {
            let command = words.iter().take_while(|word| !word.starts_with('-')).copied().collect::<Vec<_>>().join(" ");
            assert!(ran.out.contains("\n[coa] Run: sudo coa "), "{command}: {}", ran.out);
        }
        if *err == Error {
            assert!(ran.err.starts_with('\n'), "an empty line stands before it: {:?}", ran.err);
        }
        if *err == Usage {
            let last = ran.err.lines().last().unwrap();
            assert!(last.starts_with("\u{1b}[") && last.contains("[ERROR]"), "coloured whatever it prints to: {last}");
        }
    }
}
