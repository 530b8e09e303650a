//! Granting, and taking away.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::{PermissionsExt as _, chown, symlink},
    process::Stdio,
};

use pintle_core::Code;
use pintle_pack::sudoers::{HELPER, Place, Rule, install, remove};
use pintle_testkit::machine::{ALICE, MALLORY};

use crate::stage::{FILE, SUDOERS, as_json, attributes, machine, may, names, pack, rule, with_visudo};

#[tokio::test]
async fn eg_043_eg_044_s_11_the_file_is_0440_of_root_whatever_was_there() {
    let Some(_machine) = machine() else { return };
    let place = Place::system();
    // The mask of whoever calls must not matter.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let written = install(&place, &rule(&[ALICE.0])).await.unwrap();
    assert!(written.changed && written.path.to_str() == Some(FILE));
    assert_eq!(attributes(FILE), (0o440, 0, 0));
    assert_eq!(fs::read_to_string(FILE).unwrap(), rule(&[ALICE.0]).sudoers().unwrap());
    assert!(!install(&place, &rule(&[ALICE.0])).await.unwrap().changed, "a second time nothing changes");

    for (mode, user) in [(0o600, 0), (0o666, 0), (0o440, ALICE.1)] {
        fs::set_permissions(FILE, fs::Permissions::from_mode(mode)).unwrap();
        chown(FILE, Some(user), Some(user)).unwrap();
        assert!(install(&place, &rule(&[ALICE.0])).await.unwrap().changed, "{mode:o} {user}");
        assert_eq!(attributes(FILE), (0o440, 0, 0), "{mode:o} {user}");
    }
    // A group that the folder hands on is not taken.
    fs::set_permissions("/etc/sudoers.d", fs::Permissions::from_mode(0o2755)).unwrap();
    chown("/etc/sudoers.d", Some(0), Some(ALICE.1)).unwrap();
    fs::remove_file(FILE).unwrap();
    install(&place, &rule(&[ALICE.0])).await.unwrap();
    assert_eq!(attributes(FILE), (0o440, 0, 0));
    assert!(names("/etc/sudoers.d").iter().all(|name| !name.starts_with('.')), "nothing temporary is left");
}

#[tokio::test]
async fn eg_044_s_13_a_link_a_second_name_and_a_folder_are_refused() {
    let Some(machine) = machine() else { return };
    let place = Place::system();
    let refused = async |why: &str| {
        let failure = install(&place, &rule(&[ALICE.0])).await.unwrap_err();
        assert!(failure.code == Code::Denied && failure.message.contains(why), "{}", failure.text());
    };
    machine.write("/etc/target", "kept\n", 0o600).unwrap();
    symlink("/etc/target", FILE).unwrap();
    refused("a symbolic link").await;
    fs::remove_file(FILE).unwrap();
    symlink("/etc/nowhere", FILE).unwrap();
    refused("a symbolic link").await;
    fs::remove_file(FILE).unwrap();
    fs::hard_link("/etc/target", FILE).unwrap();
    refused("a second name").await;
    fs::remove_file(FILE).unwrap();
    fs::create_dir(FILE).unwrap();
    refused("no regular file").await;
    assert_eq!((fs::read_to_string("/etc/target").unwrap().as_str(), attributes("/etc/target").0), ("kept\n", 0o600));
}

#[tokio::test]
async fn s_01_s_02_sudo_itself_reads_one_user_and_one_argument_list_per_verb() {
    let Some(_machine) = machine() else { return };
    install(&Place::system(), &rule(&[ALICE.0])).await.unwrap();
    let json = as_json(FILE);
    let mut commands = Vec::new();
    for spec in json["User_Specs"].as_array().unwrap() {
        assert_eq!(spec["User_List"], serde_json::json!([{ "username": ALICE.0 }]));
        for granted in spec["Cmnd_Specs"].as_array().unwrap() {
            assert_eq!(granted["runasusers"], serde_json::json!([{ "username": "root" }]));
            assert_eq!(granted["Options"], serde_json::json!([{ "authenticate": false }]));
            let list = granted["Commands"].as_array().unwrap().iter();
            commands.extend(list.map(|command| command["command"].as_str().unwrap().to_owned()));
        }
    }
    let wanted: Vec<String> = pack().elevated().map(|verb| format!("{HELPER} run eggs.{}", verb.name)).collect();
    assert_eq!(commands, wanted);
    assert!(wanted.len() > 5, "{wanted:?}");
}

#[tokio::test]
async fn eg_046_what_was_granted_runs_without_a_password_and_nothing_else_does() {
    let Some(machine) = machine() else { return };
    let place = Place::system();
    let granted = rule(&[ALICE.0]);
    let first = granted.verbs().next().unwrap();
    assert!(!may(&machine, &[HELPER, "run", &first]), "nothing is granted yet");
    install(&place, &granted).await.unwrap();
    for verb in granted.verbs() {
        assert!(may(&machine, &[HELPER, "run", &verb]), "{verb}");
        assert!(!may(&machine, &[HELPER, "run", &verb, "x"]), "{verb} x");
    }
    for verb in pack().verbs.values().filter(|verb| !verb.may_elevate()) {
        assert!(!may(&machine, &[HELPER, "run", &format!("eggs.{}", verb.name)]), "{}", verb.name);
    }
    for words in
        [&[HELPER][..], &[HELPER, "start", "/bin/sh"], &["/usr/bin/eggs"], &["/usr/bin/eggs", "ell"], &["/bin/sh"]]
    {
        assert!(!may(&machine, words), "{words:?}");
    }

    let mut sudo = machine.as_user(ALICE, "/usr/bin/sudo");
    let mut child = sudo
        .args(["-n", "--", HELPER, "run", "eggs.remaster"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"{\"arguments\": {\"clone\": true}}\n").unwrap();
    let output = child.wait_with_output().unwrap();
    drop(input);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "[coa] 0 remaster --clone\n");

    assert!(remove(&place, granted.file()).unwrap().existed);
    assert!(granted.verbs().all(|verb| !may(&machine, &[HELPER, "run", &verb])), "it is taken away");
}

#[tokio::test]
async fn s_01_only_users_that_exist_and_need_it_are_granted_anything() {
    let Some(_machine) = machine() else { return };
    let place = Place::system();
    for (user, code) in [("nobody-of-that-name", Code::NotFound), ("root", Code::InvalidArgument)] {
        assert_eq!(install(&place, &rule(&[user])).await.unwrap_err().code, code, "{user}");
    }
    assert_eq!(install(&place, &rule(&[])).await.unwrap_err().code, Code::InvalidArgument);
    for user in ["ALL", "%sudo", "#0"] {
        assert_eq!(Rule::of(&pack(), &[user.to_owned()]).unwrap_err().code, Code::InvalidArgument, "{user}");
    }
    assert!(!fs::exists(FILE).unwrap());
    install(&place, &rule(&[MALLORY.0, ALICE.0])).await.unwrap();
    assert!(fs::read_to_string(FILE).unwrap().contains("\nmallory ALL=(root) NOPASSWD: "));
}

#[tokio::test]
async fn s_10_rules_that_visudo_refuses_leave_everything_as_it_was() {
    let Some(machine) = machine() else { return };
    let before = names("/etc/sudoers.d");
    machine.write("/etc/sudoers.d/broken", "alice ALL=\n", 0o440).unwrap();
    let failure = install(&Place::system(), &rule(&[ALICE.0])).await.unwrap_err();
    assert!(failure.code == Code::Invalid && failure.text().contains("broken"), "{}", failure.text());
    fs::remove_file("/etc/sudoers.d/broken").unwrap();
    assert_eq!(names("/etc/sudoers.d"), before);

    // The rule alone is refused; and the rule passes, but not together with the rest.
    for (visudo, asked) in [
        ("#!/bin/sh\ncase \"$*\" in *'-f -') echo 'bad rule' >&2; exit 1;; esac\n", "bad rule"),
        (&*format!("#!/bin/sh\ncase \"$*\" in *'-f -') exit 0;; esac\n[ ! -e {FILE} ] || grep -q old {FILE}\n"), ""),
    ] {
        let place = with_visudo(&machine, visudo);
        let failure = install(&place, &rule(&[ALICE.0])).await.unwrap_err();
        assert!(failure.code == Code::Invalid && failure.message.contains(asked), "{}", failure.text());
        assert!(!fs::exists(FILE).unwrap(), "nothing was there");
        machine.write(FILE, "# old\n", 0o400).unwrap();
        install(&place, &rule(&[ALICE.0])).await.unwrap_err();
        assert_eq!((fs::read_to_string(FILE).unwrap().as_str(), attributes(FILE)), ("# old\n", (0o400, 0, 0)));
        fs::remove_file(FILE).unwrap();
        assert_eq!(names("/etc/sudoers.d"), before);
    }
}

#[tokio::test]
async fn s_12_without_sudo_its_folder_or_the_helper_nothing_is_granted_and_the_fix_is_told() {
    let Some(machine) = machine() else { return };
    let failed = async |place: &Place| install(place, &rule(&[ALICE.0])).await.unwrap_err();
    fs::create_dir_all("/run/empty").unwrap();
    let failure = failed(&Place::below("/", "/run/empty")).await;
    assert!(failure.code == Code::Unavailable && failure.text().contains("install sudo"), "{}", failure.text());
    machine.write("/run/empty/usr/bin/doas", "#!/bin/sh\n", 0o755).unwrap();
    let failure = failed(&Place::below("/", "/run/empty")).await;
    assert!(
        failure.text().contains("permit nopass alice as root cmd /usr/lib/pintle/pintle-helper"),
        "{}",
        failure.text()
    );

    let system = Place::system();
    let text = fs::read_to_string(SUDOERS).unwrap();
    fs::write(SUDOERS, text.replace("@includedir", "#@includedir")).unwrap();
    let failure = failed(&system).await;
    assert!(
        failure.code == Code::Unavailable && failure.text().contains("@includedir /etc/sudoers.d"),
        "{}",
        failure.text()
    );
    fs::write(SUDOERS, text).unwrap();

    fs::set_permissions("/etc/sudoers.d", fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(failed(&system).await.code, Code::Denied);
    fs::set_permissions("/etc/sudoers.d", fs::Permissions::from_mode(0o750)).unwrap();

    // S-8 and S-9: what is granted is there, and nobody but root can put something else in its place.
    fs::set_permissions(HELPER, fs::Permissions::from_mode(0o775)).unwrap();
    assert_eq!(failed(&system).await.code, Code::Denied);
    fs::remove_file(HELPER).unwrap();
    let failure = failed(&system).await;
    assert!(failure.code == Code::Unavailable && failure.text().contains("install the helper"), "{}", failure.text());
    assert!(!fs::exists(FILE).unwrap());
}

#[tokio::test]
async fn eg_057_what_cannot_be_taken_away_is_told_as_left_behind() {
    let Some(machine) = machine() else { return };
    let place = Place::system();
    let file = rule(&[]).file().to_owned();
    assert!(!remove(&place, &file).unwrap().existed);
    machine.write("/etc/target", "kept", 0o600).unwrap();
    symlink("/etc/target", FILE).unwrap();
    assert!(remove(&place, &file).unwrap().existed, "the link itself goes");
    assert_eq!(fs::read_to_string("/etc/target").unwrap(), "kept");
    fs::create_dir(FILE).unwrap();
    let failure = remove(&place, &file).unwrap_err();
    assert!(failure.code == Code::Io && failure.message.contains("is left behind"), "{}", failure.text());
    machine.write("/etc/sudoers.d/penguins-eggs-mcp-other", "# other\n", 0o440).unwrap();
    fs::remove_dir(FILE).unwrap();
    remove(&place, &file).unwrap();
    assert!(fs::exists("/etc/sudoers.d/penguins-eggs-mcp-other").unwrap(), "exactly one file goes");
}
