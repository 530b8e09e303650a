//! Real children: `/bin/sh` scripts that misbehave in every way a child can.

#![expect(clippy::unwrap_used, reason = "what cannot be set up is a failed test")]

use std::path::Path;
use std::time::Duration;

use pintle_process::{Captured, Ended, Environment, Ladder, Piped, Run, Spawn, SpawnError, Status, Stopped, Stream};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio_util::sync::CancellationToken;

fn sh(script: &str) -> Spawn {
    Spawn::new("/bin/sh").arg("-c").arg(script)
}

async fn run(script: &str, run: Run) -> Captured {
    sh(script).run(run).await.unwrap()
}

fn brief(grace: u64) -> Ladder {
    Ladder { grace: Duration::from_millis(grace) }
}

/// Whether a process exists and is no zombie.
fn alive(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    let state = stat.rsplit(')').next().and_then(|rest| rest.trim().chars().next());
    !matches!(state, Some('Z' | 'X'))
}

fn exists(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..1000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never came true: {what}");
}

fn pid_in(file: &Path) -> Option<u32> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

#[tokio::test]
async fn eg_009_an_3_2_both_streams_are_captured_apart_with_the_exit_status_and_reach_nobody_else() {
    let done = run("echo out; echo err >&2; exit 3", Run::default()).await;
    assert_eq!(done.exit.status, Status::Code(3));
    assert_eq!(done.ended, Ended::Itself);
    assert_eq!(done.stdout.text().text, "out\n");
    assert_eq!(done.stderr.text().text, "err\n");
    let streams = run("readlink /proc/$$/fd/1; readlink /proc/$$/fd/2", Run::default()).await.stdout.text().text;
    let [out, err] = streams.lines().collect::<Vec<_>>()[..] else { panic!("{streams}") };
    assert!(
        out.starts_with("pipe:") && err.starts_with("pipe:") && out != err,
        "each has a pipe of its own: {streams}"
    );
    for ours in ["/proc/self/fd/1", "/proc/self/fd/2"] {
        let ours = std::fs::read_link(ours).unwrap();
        assert!(![out, err].contains(&&*ours.to_string_lossy()), "none of them is ours: {streams}");
    }
}

#[tokio::test]
async fn eg_008_a_child_is_asked_for_plain_output_and_what_it_colours_all_the_same_is_stripped() {
    let script = r#"if [ -n "$NO_COLOR" ] && [ "$TERM" = dumb ]; then echo plain; else printf '\033[31mred\033[0m\n'; fi
        printf '\033[1mbold\033[0m \033]0;title\007end\n'"#;
    let asked = sh(script).environment(Environment::clean().plain_output()).run(Run::default()).await.unwrap();
    let said = asked.stdout.text().text;
    assert!(said.starts_with("plain\n\u{1b}[1mbold"), "{said:?}");
    assert_eq!(pintle_process::strip_ansi(&said), "plain\nbold end\n");
    let unasked = run(script, Run::default()).await.stdout.text().text;
    assert_eq!(pintle_process::strip_ansi(&unasked), "red\nbold end\n", "nothing else made it plain");
}

#[tokio::test]
async fn a_signal_is_reported_as_one() {
    let done = run("kill -SEGV $$", Run::default()).await;
    assert_eq!(done.exit.status, Status::Signal(11));
    assert_eq!(done.exit.status.to_string(), "signal SEGV");
}

#[tokio::test]
async fn eg_016_a_child_gets_a_vector_of_arguments_and_nothing_is_given_to_a_shell() {
    let done = Spawn::new("/bin/echo").arg("$HOME; echo *").run(Run::default()).await.unwrap();
    assert_eq!(done.stdout.text().text, "$HOME; echo *\n");
    let odd =
        ["two words", "", "`id`", "$(id)", "'single' \"double\"", "a\\b", "new\nline", "| cat", "> file", "--", "é"];
    let done = Spawn::new("printf").arg("[%s]").args(odd).run(Run::default()).await.unwrap();
    assert_eq!(done.stdout.text().text, odd.map(|argument| format!("[{argument}]")).concat());
}

#[tokio::test]
async fn the_environment_is_what_was_given() {
    let done = Spawn::new("env")
        .environment(Environment::empty().set("PATH", "/usr/bin:/bin").set("ONLY", "this"))
        .run(Run::default())
        .await
        .unwrap();
    assert_eq!(done.stdout.text().text, "ONLY=this\nPATH=/usr/bin:/bin\n");
}

#[tokio::test]
async fn input_reaches_the_child_and_ends() {
    let done = run("cat; echo end", Run { input: b"given\n".to_vec(), ..Run::default() }).await;
    assert_eq!(done.stdout.text().text, "given\nend\n");
}

#[tokio::test]
async fn an_3_2_input_is_at_its_end_when_none_is_given() {
    let done = run("read x; echo $?", Run::default()).await;
    assert_eq!(done.stdout.text().text, "1\n");
}

#[tokio::test]
async fn an_3_2_a_flood_on_both_pipes_is_bounded_and_the_spill_has_every_byte() {
    let folder = tempfile::tempdir().unwrap();
    let script = "i=0; while [ $i -lt 3000 ]; do echo \"line $i xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"; \
                  echo \"err $i yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\" >&2; i=$((i+1)); done";
    let done = run(script, Run { limit: 1000, spill: Some(folder.path().to_owned()), ..Run::default() }).await;
    assert!(done.exit.success());
    for (output, name, first, last) in
        [(&done.stdout, "stdout", "line 0 ", "line 2999 "), (&done.stderr, "stderr", "err 0 ", "err 2999 ")]
    {
        let text = output.text();
        assert!(text.text.len() < 1100, "{}", text.text.len());
        assert!(text.text.starts_with(first), "{}", text.text);
        assert!(text.text.contains(last), "{}", text.text);
        assert!(text.cut.is_some());
        let full = folder.path().join(name);
        assert_eq!(output.spilled.as_deref(), Some(full.as_path()));
        assert_eq!(output.spill_failed, None);
        let full = std::fs::read_to_string(full).unwrap();
        assert_eq!(full.len() as u64, output.total());
        assert_eq!(full.lines().count(), 3000);
    }
}

#[tokio::test]
async fn a_short_output_is_not_spilled() {
    let folder = tempfile::tempdir().unwrap();
    let done = run("echo short", Run { spill: Some(folder.path().to_owned()), ..Run::default() }).await;
    assert_eq!(done.stdout.spilled, None);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_spill_that_cannot_be_written_is_told_and_ends_nothing() {
    let done = run(
        "head -c 5000 /dev/zero; echo end",
        Run { limit: 100, spill: Some("/nonexistent/folder".into()), ..Run::default() },
    )
    .await;
    assert!(done.exit.success());
    assert_eq!(done.stdout.spilled, None);
    assert!(done.stdout.spill_failed.is_some());
    assert!(done.stdout.text().text.ends_with("end\n"));
}

#[tokio::test]
async fn the_observer_sees_every_byte() {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let sink = seen.clone();
    run(
        "echo one; echo two >&2",
        Run {
            limit: 2,
            observer: Some(Box::new(move |stream, bytes: &[u8]| {
                sink.lock().unwrap().push((stream, bytes.to_vec()));
            })),
            ..Run::default()
        },
    )
    .await;
    let seen = seen.lock().unwrap();
    assert!(seen.contains(&(Stream::Stdout, b"one\n".to_vec())));
    assert!(seen.contains(&(Stream::Stderr, b"two\n".to_vec())));
}

#[tokio::test]
async fn an_3_2_cancel_ends_an_obedient_child_with_term() {
    let cancel = CancellationToken::new();
    let trigger = cancel.clone();
    let done = run(
        "echo ready; exec sleep 600",
        Run { cancel, observer: Some(Box::new(move |_, _: &[u8]| trigger.cancel())), ..Run::default() },
    )
    .await;
    assert_eq!(done.ended, Ended::Cancelled { by: Stopped::Term });
    assert_eq!(done.exit.status, Status::Signal(15));
}

#[tokio::test]
async fn an_3_2_a_child_that_ignores_term_is_killed_with_its_group() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let script =
        format!("trap '' TERM; sleep 600 & echo $! > {0}.new; mv {0}.new {0}; wait; wait; sleep 600", file.display());
    let done =
        run(&script, Run { timeout: Some(Duration::from_millis(400)), ladder: brief(200), ..Run::default() }).await;
    assert_eq!(done.ended, Ended::TimedOut { limit: Duration::from_millis(400), by: Stopped::Kill });
    assert_eq!(done.exit.status, Status::Signal(9));
    let grandchild = pid_in(&file).unwrap();
    until("the grandchild is gone", || !alive(grandchild)).await;
}

#[tokio::test]
async fn what_a_child_says_after_term_is_kept() {
    let cancel = CancellationToken::new();
    let trigger = cancel.clone();
    let done = run(
        "trap 'echo cleaned; exit 7' TERM; echo ready; while :; do sleep 0.05; done",
        Run { cancel, observer: Some(Box::new(move |_, _: &[u8]| trigger.cancel())), ..Run::default() },
    )
    .await;
    assert_eq!(done.exit.status, Status::Code(7));
    assert_eq!(done.stdout.text().text, "ready\ncleaned\n");
}

#[tokio::test]
async fn a_descendant_that_keeps_the_pipe_open_does_not_hang_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let done = run(&format!("sleep 600 & echo $! > {}; echo over", file.display()), Run::default()).await;
    assert_eq!(done.ended, Ended::Itself);
    assert_eq!(done.stdout.text().text, "over\n");
    let left = pid_in(&file).unwrap();
    until("what was left behind is gone", || !alive(left)).await;
}

#[tokio::test]
async fn dropping_the_run_ends_the_child() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let child = sh(&format!("echo $$ > {}; sleep 600; echo", file.display())).run(Run::default());
    let task = tokio::spawn(child);
    until("the child has started", || pid_in(&file).is_some()).await;
    let pid = pid_in(&file).unwrap();
    assert!(alive(pid));
    task.abort();
    until("the child is gone and reaped", || !exists(pid)).await;
}

#[tokio::test]
async fn an_3_2_a_piped_child_speaks_on_its_streams() {
    let Piped { mut child, mut stdin, stdout, stderr } =
        sh("echo log >&2; while read l; do echo \"got $l\"; done; exit 4").piped(1024).await.unwrap();
    let mut lines = BufReader::new(stdout).lines();
    stdin.write_all(b"hello\n").await.unwrap();
    assert_eq!(lines.next_line().await.unwrap().unwrap(), "got hello");
    drop(stdin);
    assert_eq!(child.wait().await.unwrap().status, Status::Code(4));
    assert_eq!(child.wait().await.unwrap().status, Status::Code(4));
    until("its log is here", || stderr.text().text == "log\n").await;
}

#[tokio::test]
async fn an_3_2_a_child_leads_its_own_session_and_group() {
    let Piped { child, .. } = sh("sleep 600").piped(64).await.unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    let id = child.id().to_string();
    assert_eq!((fields[2], fields[3]), (id.as_str(), id.as_str()));
}

#[tokio::test]
async fn stopping_climbs_the_ladder() {
    let Piped { mut child, .. } = sh("exec sleep 600").piped(64).await.unwrap();
    let (exit, by) = child.stop(Ladder::default()).await.unwrap();
    assert_eq!((exit.status, by), (Status::Signal(15), Stopped::Term));

    let Piped { mut child, stdout, .. } =
        sh("trap '' TERM; echo ready; while :; do sleep 1; done").piped(64).await.unwrap();
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line).await.unwrap();
    let (exit, by) = child.stop(brief(50)).await.unwrap();
    assert_eq!((exit.status, by), (Status::Signal(9), Stopped::Kill));
    assert!(!exists(child.id()));

    let Piped { mut child, stdin, stdout, .. } = sh("read x; exit 5").piped(64).await.unwrap();
    drop(stdin);
    let mut rest = String::new();
    BufReader::new(stdout).read_line(&mut rest).await.unwrap();
    let pid = child.id();
    until("it has ended", || !alive(pid)).await;
    let (exit, by) = child.stop(Ladder::default()).await.unwrap();
    assert_eq!((exit.status, by), (Status::Code(5), Stopped::Already));
}

#[tokio::test]
async fn dropping_a_child_kills_its_group_and_leaves_no_zombie() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let Piped { child, .. } = sh(&format!("sleep 600 & echo $! > {}; wait", file.display())).piped(64).await.unwrap();
    until("the grandchild has started", || pid_in(&file).is_some()).await;
    let (leader, grandchild) = (child.id(), pid_in(&file).unwrap());
    drop(child);
    until("the leader is reaped", || !exists(leader)).await;
    until("the grandchild is gone", || !alive(grandchild)).await;
}

#[tokio::test]
async fn the_death_signal_is_set_by_a_thread_that_stays() {
    // The runtime's own worker and blocking threads come and go; the child must not notice.
    let Piped { mut child, .. } =
        tokio::task::spawn_blocking(|| tokio::runtime::Handle::current().block_on(sh("exec sleep 600").piped(64)))
            .await
            .unwrap()
            .unwrap();
    std::thread::spawn(|| {}).join().unwrap();
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let parent: u32 = status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap().trim().parse().unwrap();
    assert_eq!(parent, std::process::id());
    assert!(alive(child.id()));
    child.kill().unwrap();
    assert_eq!(child.wait().await.unwrap().status, Status::Signal(9));
}

#[tokio::test]
async fn a_missing_program_and_a_missing_directory_are_told_apart() {
    let missing = Spawn::new("/nonexistent/tool").run(Run::default()).await;
    assert_eq!(missing.unwrap_err().to_string(), "program /nonexistent/tool not found");
    let directory = sh("true").directory("/nonexistent/dir").run(Run::default()).await;
    assert!(matches!(directory, Err(SpawnError::Directory(_))));
}

#[tokio::test]
async fn a_file_that_names_no_interpreter_is_not_given_to_a_shell() {
    let folder = tempfile::tempdir().unwrap();
    let garbage = folder.path().join("garbage");
    std::fs::write(&garbage, "echo a shell ran this\n").unwrap();
    std::fs::set_permissions(&garbage, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let error = Spawn::new(&garbage).run(Run::default()).await.unwrap_err();
    assert!(matches!(error, SpawnError::NoProgram { .. }), "{error}");
}

#[tokio::test]
async fn an_attached_child_shares_our_streams_and_session() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("session");
    let exit = sh(&format!("cut -d' ' -f6 /proc/$$/stat > {}; exit 6", file.display())).attached().await.unwrap();
    assert_eq!(exit.status, Status::Code(6));
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let ours = stat.rsplit(") ").next().unwrap().split(' ').nth(3).unwrap();
    assert_eq!(std::fs::read_to_string(file).unwrap().trim(), ours);
}

#[tokio::test]
async fn a_dropped_attached_child_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let task = tokio::spawn(sh(&format!("echo $$ > {}; exec sleep 600", file.display())).attached());
    until("the child has started", || pid_in(&file).is_some()).await;
    task.abort();
    let pid = pid_in(&file).unwrap();
    until("the child is gone and reaped", || !exists(pid)).await;
}

#[tokio::test]
async fn a_detached_child_lives_on_in_its_own_session_and_is_reaped() {
    let folder = tempfile::tempdir().unwrap();
    let (file, stop) = (folder.path().join("session"), folder.path().join("stop"));
    let script = format!(
        "cut -d' ' -f6 /proc/$$/stat > {0}.new; mv {0}.new {0}; while ! [ -e {1} ]; do sleep 0.02; done",
        file.display(),
        stop.display()
    );
    let pid = sh(&script).detached().await.unwrap();
    until("it has started", || file.exists()).await;
    assert_eq!(pid_in(&file), Some(pid));
    assert!(alive(pid));
    std::fs::write(stop, "").unwrap();
    until("it has ended and is reaped", || !exists(pid)).await;
}

#[tokio::test]
async fn a_held_input_ends_when_the_run_is_to_end() {
    let cancel = CancellationToken::new();
    let trigger = cancel.clone();
    // Cannot be signalled: what ends it is its input.
    let script = "trap '' TERM; read -r order; echo \"$order\"; cat > /dev/null; echo over; exit 3";
    let done = run(
        script,
        Run {
            input: b"go\n".to_vec(),
            hold_input: true,
            cancel,
            ladder: brief(60_000),
            observer: Some(Box::new(move |_, _: &[u8]| trigger.cancel())),
            ..Run::default()
        },
    )
    .await;
    assert_eq!(done.ended, Ended::Cancelled { by: Stopped::Term });
    assert_eq!(done.exit.status, Status::Code(3));
    assert_eq!(done.stdout.text().text, "go\nover\n");
}

#[tokio::test]
async fn a_held_input_does_not_hold_a_run_that_is_over() {
    let done = run("echo over", Run { hold_input: true, ..Run::default() }).await;
    assert_eq!(done.ended, Ended::Itself);
    assert_eq!(done.stdout.text().text, "over\n");
}
