//! What is told of the grant.

use std::{fs, os::unix::fs::chown};

use pintle_pack::sudoers::{HELPER, Installed, Place, State, compat_rule, inspect, install};
use pintle_testkit::machine::{ALICE, MALLORY};

use crate::stage::{FILE, machine, rule};

async fn look() -> Installed {
    inspect(&Place::system(), &rule(&[])).await.unwrap()
}

#[tokio::test]
async fn eg_058_status_says_who_may_do_what_and_how_it_differs() {
    let Some(machine) = machine() else { return };
    let found = look().await;
    assert!(
        found.state == State::Absent
            && found.grants.is_empty()
            && found.helper.present
            && found.helper.problem.is_none()
    );

    install(&Place::system(), &rule(&[ALICE.0])).await.unwrap();
    let found = look().await;
    assert_eq!((found.state, found.valid, found.problems.len(), found.drift.len()), (State::Enabled, Some(true), 0, 0));
    assert_eq!((found.mode.as_deref(), found.owner.as_deref()), (Some("0440"), Some("0:0")));
    assert!(found.grants.iter().all(|grant| grant.user == ALICE.0 && grant.runs_as == "root" && !grant.password));
    assert_eq!(found.grants[0].commands, [format!("{HELPER} run {}", rule(&[]).verbs().next().unwrap())]);
    let other = inspect(&Place::system(), &rule(&[MALLORY.0])).await.unwrap();
    assert!(other.drift.iter().any(|line| line.starts_with("+mallory")), "{:?}", other.drift);

    let text = fs::read_to_string(FILE).unwrap();
    let (less, last) = text.trim_end().rsplit_once('\n').unwrap();
    machine.write(FILE, format!("{less}\nALL ALL=(ALL) NOPASSWD: /usr/bin/eggs\n"), 0o600).unwrap();
    chown(FILE, None, Some(ALICE.1)).unwrap();
    let found = look().await;
    assert_eq!(found.state, State::Differs);
    assert_eq!(found.problems, ["its mode is 0600, not 0440", &format!("it belongs to 0:{}, not to root", ALICE.1)]);
    assert_eq!(found.drift, ["-ALL ALL=(ALL) NOPASSWD: /usr/bin/eggs", &format!("+{last}")]);
    assert!(found.grants.iter().any(|grant| grant.user == "ALL" && grant.commands == ["/usr/bin/eggs"]));
}

#[tokio::test]
async fn eg_058_what_sudo_would_not_read_is_told() {
    let Some(machine) = machine() else { return };
    machine.write(FILE, "alice ALL=(root NOPASSWD: /bin/x\n", 0o440).unwrap();
    let found = look().await;
    assert_eq!((found.state, found.valid), (State::Differs, Some(false)));
    assert!(found.problems[0].contains("`visudo` refuses"), "{:?}", found.problems);
    machine.write(FILE, compat_rule(&["/usr/bin/eggs".into()]).unwrap(), 0o440).unwrap();
    let found = look().await;
    assert_eq!((found.state, found.valid), (State::Differs, Some(true)), "the rule of the document is not ours");
    fs::remove_file(FILE).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", FILE).unwrap();
    let found = look().await;
    assert!(found.state == State::Differs && found.problems[0].contains("a symbolic link"), "{:?}", found.problems);
    fs::remove_file(HELPER).unwrap();
    let found = look().await;
    assert!(!found.helper.present && found.helper.problem.is_some());
}

#[tokio::test]
async fn s_12_where_there_is_doas_only_its_missing_lines_are_told() {
    let Some(machine) = machine() else { return };
    machine.write("/run/programs/usr/bin/doas", "#!/bin/sh\n", 0o755).unwrap();
    let place = Place::below("/", "/run/programs");
    let missing = inspect(&place, &rule(&[ALICE.0])).await.unwrap().doas;
    assert_eq!(missing, rule(&[ALICE.0]).doas());
    machine.write("/etc/doas.conf", format!("{}\n", missing[1..].join("\n")), 0o400).unwrap();
    assert!(std::process::Command::new("doas").args(["-C", "/etc/doas.conf"]).status().unwrap().success());
    assert_eq!(inspect(&place, &rule(&[ALICE.0])).await.unwrap().doas, missing[..1]);
    assert!(look().await.doas.is_empty(), "where there is sudo, doas is left alone");
}
