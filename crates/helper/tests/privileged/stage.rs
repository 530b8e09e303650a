//! The machine with the helper, a rule for one user, and a small program in the place of `eggs`.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, Command, Output, Stdio},
};

use pintle_testkit::machine::{ALICE, Machine};

pub const HELPER: &str = "/usr/lib/pintle/pintle-helper";
pub const EGGS: &str = "/usr/bin/eggs";
/// Where the program notes what it was called with.
pub const NOTE: &str = "/run/note";

/// What the program does beside noting: answers who it is.
const PROBE: &str = "#!/bin/sh\nif [ \"$1\" = version ]; then echo '[coa] 1.0'; exit 0; fi\n";

/// A machine on which `alice` may remaster, wear and destroy, or nothing when the test is not inside or is skipped.
pub fn machine() -> Option<Machine> {
    let machine = Machine::enter(&["sudo", "doas", "visudo"])?;
    machine.program(env!("CARGO_BIN_EXE_pintle-helper"), HELPER).unwrap();
    let rule: String = ["remaster", "wardrobe-wear", "destroy"]
        .map(|verb| format!("{} ALL=(root) NOPASSWD: {HELPER} run eggs.{verb}\n", ALICE.0))
        .concat();
    machine.write("/etc/sudoers.d/penguins-eggs-mcp", rule, 0o440).unwrap();
    program(&machine, "");
    Some(machine)
}

/// Puts the program in its place: it notes everything about its call and then does `body`, in the shell's language.
pub fn program(machine: &Machine, body: &str) {
    let note = format!(
        "{{ pwd; id -u; umask; read -r stat < /proc/$$/stat; echo \"$stat\"; ls /proc/self/fd | tr '\\n' ' '; echo\n\
         env -0 | sort -z | tr '\\0' ' '; echo; for word; do printf '<%s>' \"$word\"; done; echo; }} > {NOTE}\n"
    );
    machine.write(EGGS, format!("{PROBE}{note}{body}\n"), 0o755).unwrap();
}

/// What the program noted.
pub struct Noted {
    pub folder: String,
    pub uid: String,
    pub mask: String,
    /// Process, group, session and terminal.
    pub process: [i32; 4],
    pub descriptors: String,
    pub environment: Vec<String>,
    pub argv: String,
}

/// The note, if the program ran since the last look.
pub fn noted() -> Option<Noted> {
    let text = fs::read_to_string(NOTE).ok()?;
    fs::remove_file(NOTE).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let [folder, uid, mask, stat, descriptors, environment, argv] = lines.as_slice() else { panic!("{text}") };
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let number = |index: usize| fields[index].parse::<i32>().unwrap();
    Some(Noted {
        folder: (*folder).into(),
        uid: (*uid).into(),
        mask: (*mask).into(),
        process: [stat.split(' ').next().unwrap().parse().unwrap(), number(2), number(3), number(4)],
        descriptors: descriptors.trim().into(),
        environment: environment.split_whitespace().map(str::to_owned).collect(),
        argv: (*argv).into(),
    })
}

/// The helper as `alice` calls it.
pub fn sudo(machine: &Machine, words: &[&str]) -> Command {
    let mut command = machine.as_user(ALICE, "/usr/bin/sudo");
    command.args(["-n", "--"]).args(words);
    command
}

/// The helper as `alice` calls it where root has granted far too much.
pub fn root(machine: &Machine, words: &[&str]) -> Command {
    machine.write("/etc/sudoers.d/wide", format!("{} ALL=(root) NOPASSWD: {HELPER}\n", ALICE.0), 0o440).unwrap();
    sudo(machine, &[&[HELPER], words].concat())
}

/// A call with this line of input; the input stays open until the end.
pub fn call(mut command: Command, line: &str) -> Output {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    // Who is refused by sudo reads nothing.
    let _ = input.write_all(format!("{line}\n").as_bytes());
    let output = child.wait_with_output().unwrap();
    drop(input);
    output
}

pub fn ask(command: Command) -> Output {
    call(command, r#"{"arguments": {}}"#)
}

/// Starts a call and waits for the first line that the program says.
pub fn started(mut command: Command) -> (Child, String) {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(b"{\"arguments\": {}}\n").unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    (child, line.trim().to_owned())
}

/// Refused by the helper with this in its line, and the program did not run.
#[track_caller]
pub fn refused(output: &Output, why: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(125), "{said}");
    assert!(said.starts_with("pintle-helper: ") && said.contains(why) && said.lines().count() == 1, "{said}");
    assert!(noted().is_none(), "the program ran");
}

/// Refused by sudo or doas.
#[track_caller]
pub fn not_granted(output: &Output, elevator: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && said.starts_with(elevator), "{:?} {said}", output.status);
    assert!(noted().is_none(), "the program ran");
}

/// Whether a process lives.
pub fn lives(process: &str) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(process).join("stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !matches!(rest.trim_start().chars().next(), Some('Z' | 'X')))
}

/// Waits until a process is gone.
pub fn gone(process: &str) {
    while lives(process) {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}
