//! Order, retries, limits, filters, and what an interrupt leaves.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pintle_check::{Event, RunError, RunOptions, Status, load_bytes, run};
use tokio_util::sync::CancellationToken;

use crate::support::{bare_script, fails, plan, plan_in, registry, script, statuses, step, try_plan, with};

const ECHO: &str = "
a: {check: x, command: [echo, a]}
b: {check: x, command: [echo, b]}
c: {check: x, dns: localhost}
run-it: {run: x, command: 'true'}
";

fn chosen(filter: &[&str]) -> RunOptions {
    RunOptions { filter: filter.iter().map(|word| (*word).to_owned()).collect(), ..RunOptions::default() }
}

#[tokio::test]
async fn cw_37_filters_choose_by_verb_and_by_glob() {
    for (filter, wanted) in [
        (vec!["command"], vec!["a", "b", "run-it"]),
        (vec!["dns", "a"], vec!["a", "c"]),
        (vec!["run-*"], vec!["run-it"]),
        (vec!["[ab]"], vec!["a", "b"]),
    ] {
        let outcome = plan(ECHO, chosen(&filter)).await;
        let ids: Vec<_> = outcome.steps().map(|step| step.id.as_str()).collect();
        assert_eq!(ids, wanted, "{filter:?}");
        assert_eq!(outcome.summary().passed, wanted.len());
    }
}

#[tokio::test]
async fn cw_37_a_filter_that_means_nothing_is_refused_and_one_that_fits_nothing_fails() {
    let error = try_plan(ECHO, chosen(&["comand"])).await.unwrap_err();
    assert_eq!(error.to_string(), "filter `comand` is neither a verb nor a step");
    assert_eq!((error.exit().code(), error.hint()), (64, "did you mean `command`?"));
    for filter in ["mcp", "z*"] {
        let error = try_plan(ECHO, chosen(&[filter])).await.unwrap_err();
        assert_eq!(error, RunError::NothingFits(format!("`{filter}`")));
        assert_eq!(error.exit().code(), 1);
    }
    let section = RunOptions { section: Some("candy".into()), ..RunOptions::default() };
    assert_eq!(try_plan(ECHO, section).await.unwrap_err().exit().code(), 64);
}

#[tokio::test]
async fn cw_37_sections_choose_where_there_are_any() {
    let mut set = load_bytes("plan.yml", ECHO.as_bytes(), "".as_ref(), &registry()).unwrap();
    for (index, step) in set.plans[0].steps.iter_mut().enumerate() {
        Arc::make_mut(step).section = Some(if index == 1 { "box" } else { "candy" }.into());
    }
    let options = RunOptions { section: Some("box".into()), ..RunOptions::default() };
    let outcome = run(set, options, Arc::new(|_| ()), CancellationToken::new()).await.unwrap();
    assert_eq!(statuses(&outcome), [("b", Status::Passed)]);
}

#[tokio::test]
async fn a_step_below_a_failed_or_skipped_one_is_skipped() {
    let text = "
a: {check: x, command: 'false'}
b: {check: x, command: 'true', depends_on: [a]}
c: {check: x, command: 'true', depends_on: b}
d: {check: x, command: 'true', skip: too slow here}
e: {check: x, command: 'true', depends_on: [d]}
f: {check: x, command: 'true'}
";
    let outcome = plan(text, RunOptions::default()).await;
    let told: Vec<_> = outcome.steps().map(|step| (step.status, step.message.as_str())).collect();
    assert_eq!(
        told,
        [
            (Status::Failed, "exit status 1"),
            (Status::Skipped, "depends on `a`, which failed"),
            (Status::Skipped, "depends on `b`, which was skipped"),
            (Status::Skipped, "too slow here"),
            (Status::Skipped, "depends on `d`, which was skipped"),
            (Status::Passed, ""),
        ]
    );
    assert_eq!(RunOptions::default().exit(&outcome).code(), 2);
}

#[tokio::test]
async fn a_step_runs_after_what_it_depends_on_wherever_that_stands() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let text = "
late: {check: x, command: 'true', depends_on: [early]}
early: {check: x, command: 'true'}
";
    let set = load_bytes("plan.yml", text.as_bytes(), "".as_ref(), &registry()).unwrap();
    let seen = order.clone();
    let events = Arc::new(move |event: &Event| {
        if let Event::Ended(step) = event {
            seen.lock().unwrap().push(step.id.clone());
        }
    });
    let outcome = run(set, RunOptions::default(), events, CancellationToken::new()).await.unwrap();
    assert_eq!(*order.lock().unwrap(), ["early", "late"]);
    // The report keeps the order of the plan.
    assert_eq!(statuses(&outcome), [("late", Status::Passed), ("early", Status::Passed)]);
}

#[tokio::test]
async fn cw_40_independent_steps_run_at_once_and_a_run_step_is_a_barrier() {
    let running = Arc::new(Mutex::new((0_usize, 0_usize)));
    let text = "
a: {check: x, command: [sleep, '0.3']}
b: {check: x, command: [sleep, '0.3']}
c: {check: x, command: [sleep, '0.3']}
act: {run: x, command: [sleep, '0.05']}
d: {check: x, command: [sleep, '0.05']}
";
    let set = load_bytes("plan.yml", text.as_bytes(), "".as_ref(), &registry()).unwrap();
    let seen = running.clone();
    let barrier = Arc::new(Mutex::new(Vec::new()));
    let order = barrier.clone();
    let events = Arc::new(move |event: &Event| {
        let mut state = seen.lock().unwrap();
        match event {
            Event::Started { id } => {
                state.0 += 1;
                state.1 = state.1.max(state.0);
                if id == "act" || id == "d" {
                    order.lock().unwrap().push((id.clone(), state.0));
                }
            }
            Event::Ended(_) => state.0 -= 1,
            _ => {}
        }
    });
    let options = RunOptions { jobs: 3, ..RunOptions::default() };
    let outcome = run(set, options, events, CancellationToken::new()).await.unwrap();
    assert_eq!(running.lock().unwrap().1, 3);
    assert_eq!(*barrier.lock().unwrap(), [("act".to_owned(), 1), ("d".to_owned(), 1)]);
    let ids: Vec<_> = outcome.steps().map(|step| step.id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "c", "act", "d"]);
}

#[tokio::test]
async fn ch_082_a_step_is_tried_until_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let text = "
a:
  check: x
  command: [sh, -c, 'echo x >> count; test $(wc -l < count) -ge 3']
  eventually: 20s
  retry_interval: 20ms
";
    let options = RunOptions {
        target: Arc::new(pintle_check::HostTarget::new().with_directory(folder.path())),
        ..RunOptions::default()
    };
    let outcome = plan(text, options).await;
    let step = outcome.steps().next().unwrap();
    assert_eq!((step.status, step.attempts), (Status::Passed, 3));
    assert!(step.elapsed_ms >= 40, "{}", step.elapsed_ms);
    let message =
        fails("a: {check: x, command: 'false', eventually: 150ms, retry_interval: 50ms}", RunOptions::default()).await;
    assert!(message.starts_with("exit status 1 (") && message.contains(" attempts in "), "{message}");
}

#[tokio::test]
async fn cw_39_what_cannot_be_judged_is_not_tried_again() {
    let text = "a: {check: x, command: /nowhere/program, eventually: 60s}";
    let began = Instant::now();
    let step = step(text, RunOptions::default()).await;
    assert_eq!((step.status, step.attempts), (Status::Error, 1));
    assert!(began.elapsed() < Duration::from_secs(30));
}

#[tokio::test]
async fn ch_073_the_limit_of_a_step_is_told() {
    let message = fails("a: {check: x, mcp: ping, timeout: 400ms}", with(bare_script("sleep 30"))).await;
    assert!(message.starts_with("handshake: no answer within 400ms"), "{message}");
    let message = fails("a: {check: x, mcp: ping, timeout: 700ms}", with(script("on() { sleep 30; }"))).await;
    assert!(message.starts_with("request ping: no answer within 700ms"), "{message}");
    let message = fails("a: {check: x, command: [sleep, '30'], timeout: 100ms}", RunOptions::default()).await;
    assert_eq!(message, "command: no end within 100ms");
    let message =
        fails("a: {check: x, command: [sleep, '30'], timeout: 100ms, exit_status: 143}", RunOptions::default()).await;
    assert_eq!(message, "command: no end within 100ms");
}

#[tokio::test]
async fn the_whole_run_has_a_limit() {
    let text = "
a: {check: x, command: 'true'}
b: {check: x, command: [sleep, '30']}
c: {check: x, command: 'true'}
d: {check: x, command: 'true'}
";
    for (text, options, of) in [
        (text.to_owned(), RunOptions { deadline: Some(Duration::from_millis(400)), ..RunOptions::default() }, "run"),
        (format!("timeout: 400ms{text}"), RunOptions::default(), "plan"),
    ] {
        let outcome = plan(&text, options.clone()).await;
        let told: Vec<_> = outcome.steps().map(|step| (step.status, step.message.clone())).collect();
        assert_eq!(told[0].0, Status::Passed);
        assert_eq!(told[1].0, Status::Failed);
        assert!(told[1].1.ends_with(&format!("; the 400ms of the {of} are over")), "{}", told[1].1);
        assert_eq!(told[2], (Status::Failed, format!("not started: the 400ms of the {of} are over")));
        assert_eq!(told[3].0, Status::Skipped);
        assert_eq!(options.exit(&outcome).code(), 2);
    }
}

#[tokio::test]
async fn ch_050_an_interrupt_leaves_nothing_and_reports_what_ran() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("pid");
    let server = bare_script(&format!("echo $$ > {}; exec sleep 60", mark.display()));
    let text = "
a: {check: x, command: 'true'}
b: {check: x, mcp: ping}
c: {check: x, command: 'true'}
";
    let cancel = CancellationToken::new();
    let canceller = cancel.clone();
    let seen = mark.clone();
    tokio::spawn(async move {
        while !seen.exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        canceller.cancel();
    });
    let options = with(server);
    let outcome = plan_in(text, folder.path(), options.clone(), cancel).await.unwrap();
    assert!(outcome.interrupted);
    assert_eq!(options.exit(&outcome).code(), 130);
    assert_eq!(statuses(&outcome), [("a", Status::Passed), ("b", Status::Skipped), ("c", Status::Skipped)]);
    let pid = std::fs::read_to_string(&mark).unwrap();
    let process = std::path::Path::new("/proc").join(pid.trim());
    for _ in 0..500 {
        if !process.exists() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the server is still there");
}

#[tokio::test]
async fn ch_083_steps_are_left_out_by_skip_and_distro() {
    let here = pintle_check::Target::distro(&pintle_check::HostTarget::new());
    let text = format!(
        "
a: {{check: x, mcp: ping, skip: true}}
b: {{check: x, mcp: ping, exclude_distro: [plan9, {}], tag: [slow], id: other}}
c: {{check: x, command: 'true', exclude_distro: [plan9]}}
",
        here.first().map_or("none", String::as_str)
    );
    let options = with(bare_script("exit 1"));
    let outcome = plan(&text, options.clone()).await;
    let mut wanted = vec![("a", Status::Skipped), ("other", Status::Skipped), ("c", Status::Passed)];
    if here.is_empty() {
        wanted[1].1 = Status::Failed;
    }
    assert_eq!(statuses(&outcome), wanted);
    assert_eq!(outcome.steps().next().unwrap().message, "the plan skips it");
    let strict = RunOptions { fail_on_skip: true, ..options.clone() };
    assert_eq!((options.exit(&outcome).code(), strict.exit(&outcome).code()), (0, 2));
    let many = RunOptions { require: 2, ..options };
    assert_eq!(many.exit(&outcome).code(), 2);
}

#[tokio::test]
async fn cw_38_a_run_in_which_nothing_was_judged_is_no_success() {
    let text = "
a: {check: x, command: 'true', exclude_distro: [b]}
b: {check: x, command: /nowhere/program}
";
    let options = chosen(&["b"]);
    let outcome = plan(text, options.clone()).await;
    assert_eq!(options.exit(&outcome).code(), 1);
}

#[tokio::test]
async fn a_server_is_asked_for_before_anything_runs() {
    let error = try_plan("a: {check: x, mcp: ping}", RunOptions::default()).await.unwrap_err();
    assert_eq!(error.exit().code(), 64);
    assert_eq!(error.to_string(), "step `a` of plan.yml needs an mcp server");
}
