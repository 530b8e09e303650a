//! The command tree.

use crate::stage::{as_root, command, installed, last, once, run, stand_in};
use pintle_testkit::eggs::{Installed, Orders, Stdin};
use std::process::Stdio;

#[test]
fn si_01_it_lies_in_a_temporary_folder_as_eggs_with_a_link_coa() {
    let installed = Installed::new(stand_in()).unwrap();
    assert!(installed.folder().starts_with(std::env::temp_dir()));
    assert_eq!(std::fs::read_link(installed.coa()).unwrap().to_str(), Some("eggs"));
    let through = std::process::Command::new(installed.coa()).arg("version").env_clear().output().unwrap();
    let straight = run(&installed, &["version"]);
    assert_eq!(String::from_utf8(through.stdout).unwrap(), straight.out);
    assert_eq!(installed.calls().unwrap().len(), 2, "both note where the program lies");
    assert!(Installed::new(&installed.folder().join("none")).unwrap_err().to_string().ends_with("none is not built"));
}

/// Command, its flags as help shows them with their defaults, and those that help hides.
const FLAGS: &[(&str, &[&str], &[&str])] = &[
    ("", &["-h, --help", "-v, --version"], &[]),
    (
        "remaster",
        &[
            "--path string (default \"/home/eggs\")",
            "-w, --wizard",
            "--clone",
            "--crypted",
            "--compression string",
            "--stop-after string",
            "--debug",
            "--fdt string",
            "-h, --help",
        ],
        &["-i", "--interactive", "--cryptedclone"],
    ),
    ("wizard", &["--path string (default \"/home/eggs\")", "-h, --help"], &[]),
    ("config", &["-h, --help"], &[]),
    ("adapt", &["-h, --help"], &[]),
    ("sysinstall", &["--unattended", "--fstype string (default \"ext4\")", "-h, --help"], &[]),
    ("sysinstall krill", &["--unattended", "--fstype string (default \"ext4\")", "-h, --help"], &[]),
    ("sysinstall calamares", &["--unattended", "--fstype string (default \"ext4\")", "-h, --help"], &[]),
    ("destroy", &["-h, --help"], &[]),
    ("kill", &["-h, --help"], &[]),
    ("export", &["--clean", "-h, --help"], &[]),
    ("export iso", &["--clean", "-h, --help"], &[]),
    ("export pkg", &["--clean", "-h, --help"], &[]),
    (
        "export log",
        &[
            "-u, --user string (default \"artisan\")",
            "-i, --ip string (default \"192.168.1.2\")",
            "-d, --dir string (default \"/home/artisan\")",
            "--clean",
            "-h, --help",
        ],
        &[],
    ),
    ("tools", &["-h, --help"], &[]),
    ("tools build", &["-h, --help"], &[]),
    ("tools clean", &["-v, --verbose", "-h, --help"], &[]),
    ("tools grub40", &["-w, --write", "-h, --help"], &[]),
    ("tools repo", &["-h, --help"], &[]),
    ("tools skel", &["-u, --user string", "-h, --help"], &[]),
    ("version", &["-h, --help"], &[]),
    ("wardrobe", &["-h, --help"], &[]),
    ("wardrobe list", &["-h, --help"], &[]),
    ("wardrobe get", &["-h, --help"], &[]),
    ("wardrobe show", &["-h, --help"], &[]),
    ("wardrobe wear", &["--no-acc", "--no-firm", "-h, --help"], &[]),
    ("mcp", &["-h, --help"], &[]),
    ("mcp start", &["-h, --help"], &[]),
    ("mcp stop", &["-h, --help"], &[]),
    ("mcp status", &["-h, --help"], &[]),
    ("mcp enable", &["-h, --help"], &[]),
    ("mcp disable", &["-h, --help"], &[]),
    ("completion bash", &["--no-descriptions", "-h, --help"], &[]),
    ("completion zsh", &["--no-descriptions", "-h, --help"], &[]),
    ("completion fish", &["--no-descriptions", "-h, --help"], &[]),
    ("completion powershell", &["--no-descriptions", "-h, --help"], &[]),
    ("ell", &["-h, --help"], &[]),
    ("_gen_docs", &["--target string (default \"./docs\")", "-h, --help"], &[]),
];

#[test]
fn si_02_si_12_every_command_has_the_flags_and_defaults_of_the_table() {
    let installed = installed(&as_root());
    for (words, shown, hidden) in FLAGS {
        let words: Vec<&str> = words.split_whitespace().collect();
        let help = run(&installed, &[&words[..], &["--help"]].concat());
        assert_eq!((help.code, help.err.as_str()), (0, ""), "{words:?}");
        let flags: Vec<String> = help.out.lines().skip_while(|line| *line != "Flags:").skip(1).map(plain).collect();
        let flags: Vec<&str> = flags.iter().map(String::as_str).filter(|line| !line.is_empty()).collect();
        let mut wanted = shown.to_vec();
        let mut got = flags.clone();
        wanted.sort_unstable();
        got.sort_unstable();
        assert_eq!(got, wanted, "{words:?}");
        for flag in *hidden {
            let known = run(&installed, &[&words[..], &[flag, "--help"]].concat());
            assert_eq!(known.code, 0, "{words:?} {flag}");
        }
        let unknown = run(&installed, &[&words[..], &["--surely-not"]].concat());
        assert_eq!(unknown.code, 1, "{words:?}");
        assert!(unknown.err.starts_with("Error: unknown flag: --surely-not\nUsage:\n"), "{words:?}: {}", unknown.err);
    }
}

fn plain(line: &str) -> String {
    line.trim().to_owned()
}

#[test]
fn si_02_hidden_commands_are_there_but_not_shown() {
    let help = once(&as_root(), &["--help"]).out;
    for shown in ["remaster", "wizard", "config", "adapt", "sysinstall", "destroy", "export", "tools", "version", "mcp"]
    {
        assert!(help.lines().any(|line| line.starts_with(&format!("  {shown} "))), "{shown}: {help}");
    }
    for hidden in ["wardrobe", "ell", "_gen_docs", "completion"] {
        assert!(!help.lines().any(|line| line.starts_with(&format!("  {hidden} "))), "{hidden}: {help}");
    }
}

#[test]
fn si_02_words_are_read_as_the_real_program_s_library_reads_them() {
    let installed = installed(&as_root());
    let good: &[&[&str]] = &[
        &["remaster", "--debug=true"],
        &["remaster", "extra", "--debug", "words"],
        &["sysinstall", "--unattended", "krill", "--help"],
        &["remaster", "--stop-after", "identity", "--debug"],
        &["remaster", "--debug", "--", "--not-a-flag"],
        &["export", "--clean", "log", "--help"],
        &["export", "log", "-uartisan", "-i=10.0.0.1", "-d", "/tmp", "--help"],
        &["tools", "-h"],
        &["help", "tools", "skel"],
        &["kill"],
    ];
    for words in good {
        let ran = run(&installed, words);
        assert_eq!(ran.code, 0, "{words:?}: {}{}", ran.out, ran.err);
    }
    for (words, why) in [
        (&["remaster", "--debug=perhaps"][..], "invalid argument"),
        (&["remaster", "--path"], "needs an argument"),
        (&["tools", "clean", "-x"], "unknown shorthand flag: 'x'"),
        (&["surely-not"], "unknown command \"surely-not\""),
        (&["Remaster", "--debug"], "unknown flag: --debug"),
        (&["--debug", "remaster"], "unknown flag: --debug"),
        (&["tools", "repo"], "takes 1 argument(s), got 0"),
        (&["tools", "repo", "add", "rm"], "takes 1 argument(s), got 2"),
    ] {
        let ran = run(&installed, words);
        assert_eq!(ran.code, 1, "{words:?}");
        assert!(ran.err.starts_with("Error: ") && ran.err.contains(why), "{words:?}: {}", ran.err);
    }
}

#[test]
fn si_03_a_call_is_noted_as_it_came() {
    let installed = installed(&as_root());
    let odd = ["remaster", "--path=a b\"c'd", "--debug", "$(x)\n;", "", "--compression", "\u{e9}\u{1f95a}"];
    let mut command = command(&installed, &odd);
    command.env("B", "2").env("A", "1").env("NO_COLOR", "1").env("TERM", "dumb").env("SUDO_USER", "artisan");
    command.output().unwrap();
    let call = last(&installed);
    assert_eq!(call.arguments(), odd);
    assert_eq!(call.argv[0], installed.eggs().display().to_string());
    assert_eq!(call.environment, ["A", "B", "NO_COLOR", "SUDO_USER", "TERM"]);
    assert_eq!(call.colour, [Some("1".into()), Some("dumb".into())]);
    assert_eq!(call.sudo_user.as_deref(), Some("artisan"));
    assert_eq!(call.cwd, installed.folder().canonicalize().unwrap().display().to_string());
    assert_eq!((call.euid, call.ruid), (rustix::process::geteuid().as_raw(), rustix::process::getuid().as_raw()));
    assert_eq!(call.played_euid, Some(0));
    assert_eq!(call.stdin, Stdin::Empty);
    let own = std::env::args().collect::<Vec<_>>();
    assert_eq!(call.parent, own, "the parent is this test, with no shell in between");
    assert_ne!(call.pid, std::process::id());
}

#[test]
fn si_03_what_there_is_to_read_is_noted() {
    let installed = installed(&as_root());
    command(&installed, &["adapt"]).stdin(Stdio::piped()).output().unwrap();
    assert_eq!(last(&installed).stdin, Stdin::Pipe);
    let file = std::fs::File::open(installed.root().at("/etc/os-release")).unwrap();
    command(&installed, &["adapt"]).stdin(file).output().unwrap();
    assert_eq!(last(&installed).stdin, Stdin::File);
}

#[test]
fn si_04_who_runs_it_is_asked_of_the_system_unless_a_role_is_given() {
    let mine = rustix::process::geteuid().is_root();
    assert_eq!(once(&Orders::default(), &["destroy"]).code, i32::from(!mine));
    assert_eq!(once(&as_root(), &["destroy"]).code, 0);
    let installed = installed(&Orders::default());
    for (role, code) in [("0", 0), ("1000", 1)] {
        let ran = command(&installed, &["destroy"]).env("EGGS_STAND_IN_EUID", role).output().unwrap();
        assert_eq!(ran.status.code(), Some(code), "{role}");
    }
}

#[test]
fn orders_that_make_no_sense_are_no_refusal_of_the_real_program() {
    let installed = installed(&Orders::default());
    let wrong = command(&installed, &["version"]).env("EGGS_STAND_IN_SPEED", "9").output().unwrap();
    assert_eq!(wrong.status.code(), Some(99));
    assert!(String::from_utf8(wrong.stderr).unwrap().contains("speed"));
}
