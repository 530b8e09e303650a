//! The stand-in for `sudo`.

use crate::stage::{Ran, as_user, fake_sudo, stand_in};
use pintle_testkit::eggs::{Installed, SudoMode, SudoOrders};
use std::{collections::BTreeMap, process::Command};

fn installed(orders: &SudoOrders) -> Installed {
    let installed = Installed::new(stand_in()).unwrap().with_sudo(fake_sudo(), orders).unwrap();
    installed.order(&as_user()).unwrap();
    installed
}

fn sudo(installed: &Installed, words: &[&str]) -> Ran {
    let mut command = Command::new(installed.sudo());
    command.args(words).env_clear().env("PATH", "/surely/not").env("TERM", "dumb").env("LD_PRELOAD", "");
    command.env("EGGS_STAND_IN_EUID", "0").output().unwrap().into()
}

fn role() -> SudoOrders {
    SudoOrders { pass: BTreeMap::from([("EGGS_STAND_IN_EUID".into(), "0".into())]), ..SudoOrders::default() }
}

#[test]
fn si_11_options_end_at_the_command_whose_arguments_stay_as_they_are() {
    let installed = installed(&role());
    let eggs = installed.eggs().display().to_string();
    for before in [&["-n", "--"][..], &["-n"], &[]] {
        let words = [before, &[&eggs, "adapt", "--", "-n", "--", "a b;$(c)"]].concat();
        assert_eq!(sudo(&installed, &words).code, 0, "{before:?}");
        assert_eq!(installed.calls().unwrap().pop().unwrap().arguments(), ["adapt", "--", "-n", "--", "a b;$(c)"][..]);
    }
}

#[test]
fn si_11_the_environment_is_reset_and_says_for_whom() {
    let installed = installed(&role());
    let eggs = installed.eggs().display().to_string();
    assert_eq!(sudo(&installed, &["-n", "--", &eggs, "destroy"]).code, 0);
    let call = installed.calls().unwrap().pop().unwrap();
    assert_eq!(call.sudo_user.as_deref(), Some("artisan"));
    assert!(!call.environment.contains(&"LD_PRELOAD".to_owned()), "{:?}", call.environment);
    for kept in ["TERM", "PATH", "HOME", "SUDO_UID", "SUDO_COMMAND"] {
        assert!(call.environment.contains(&kept.to_owned()), "{kept}: {:?}", call.environment);
    }
    installed.order_sudo(&SudoOrders::default()).unwrap();
    assert_eq!(sudo(&installed, &["-n", "--", &eggs, "destroy"]).code, 1, "the caller's variables do not get through");
}

#[test]
fn si_11_only_command_lines_of_the_policy_run_to_the_word() {
    let first = installed(&role());
    let eggs = first.eggs().display().to_string();
    let granted = vec![eggs.clone(), "destroy".to_owned()];
    first.order_sudo(&SudoOrders { policy: Some(vec![granted]), ..role() }).unwrap();
    assert_eq!(sudo(&first, &["-n", "--", &eggs, "destroy"]).code, 0);
    for words in [&["destroy", "more"][..], &["kill"], &[], &["destroy "]] {
        let ran = sudo(&first, &[&["-n", "--", &eggs], words].concat());
        assert_eq!((ran.code, ran.err.as_str()), (1, "sudo: a password is required\n"), "{words:?}");
    }
    let calls = first.sudo_calls().unwrap();
    assert_eq!(calls.iter().map(|call| call.allowed).collect::<Vec<_>>(), [true, false, false, false, false]);
    assert_eq!(calls[0].arguments, ["-n", "--", &eggs, "destroy"]);
}

#[test]
fn si_11_where_a_password_is_asked_for_nothing_runs() {
    let installed = installed(&SudoOrders { mode: SudoMode::Password, ..role() });
    let eggs = installed.eggs().display().to_string();
    let quiet = sudo(&installed, &["-n", "--", &eggs, "version"]);
    assert_eq!((quiet.code, quiet.err.as_str()), (1, "sudo: a password is required\n"));
    let asking = sudo(&installed, &["--", &eggs, "version"]);
    assert!(asking.code == 1 && asking.err.contains("terminal"), "{}", asking.err);
    assert!(installed.calls().unwrap().is_empty());
}

#[test]
fn si_11_it_may_be_missing_and_refuses_what_the_real_one_refuses() {
    let without = Installed::new(stand_in()).unwrap();
    assert!(!without.sudo().exists());
    let installed = installed(&role());
    let eggs = installed.eggs().display().to_string();
    for (words, why) in [
        (&["-n", "X=1", &eggs, "version"][..], "X"),
        (&["-n", "-Z", &eggs], "invalid option"),
        (&["-n", "eggs", "version"], "command not found"),
        (&["-n", "--"], "no command"),
    ] {
        let ran = sudo(&installed, words);
        assert!(ran.code == 1 && ran.err.starts_with("sudo: ") && ran.err.contains(why), "{words:?}: {}", ran.err);
    }
    assert!(installed.calls().unwrap().is_empty());
}
