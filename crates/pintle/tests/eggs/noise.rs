//! Programs that print what they should not, and end as they should not.

use crate::{
    client::{bad, good, text},
    engine::alive,
    world::World,
};
use pintle_testkit::eggs::{Fault, Noise, Orders};
use serde_json::{Value, json};
use std::time::Instant;

/// A world where listing costumes goes wrong in this way, and the result of it.
fn listed(fault: Fault) -> (World, Value) {
    let world = World::ordered(Orders::default().fault("wardrobe list", fault));
    world.root().costume("colibri", "light", &[]).unwrap();
    let result = world.client().call("eggs_wardrobe", json!({"action": "list"}));
    (world, result)
}

fn noisy(noise: Noise) -> Fault {
    Fault { noise: vec![noise], ..Fault::default() }
}

#[test]
fn eg_007_s_37_whatever_a_child_prints_every_line_of_ours_is_the_protocol_s() {
    let all = vec![Noise::JsonRpc, Noise::InvalidUtf8, Noise::Nul, Noise::Ansi];
    for on_stderr in [false, true] {
        for read_terminal in [false, true] {
            let fault = Fault {
                noise: all.clone(),
                noise_on_stderr: on_stderr,
                partial_line: true,
                read_terminal,
                ..Fault::default()
            };
            let world = World::ordered(
                Orders::default()
                    .fault("*", Fault::default())
                    .fault("wardrobe list", fault.clone())
                    .fault("remaster", fault),
            );
            world.root().costume("colibri", "light", &[]).unwrap();
            world.order(Orders { family: Some("of no known kind".into()), ..Orders::default() });
            let mut client = world.client();
            for _ in 0..5 {
                for (tool, arguments) in [
                    ("eggs_wardrobe", json!({"action": "list"})),
                    ("eggs_remaster", json!({"debug": true})),
                    ("eggs_version", json!({})),
                ] {
                    client.call(tool, arguments);
                }
                client.read("eggs://status").unwrap();
                client.read("eggs://version").unwrap();
            }
            // The client has looked at every line; none was taken for an answer or a request.
            assert!(client.end().success());
            for forged in ["sampling/createMessage", "notifications/cancelled"] {
                assert_eq!(client.notifications(forged), Vec::<&Value>::new());
            }
        }
    }
}

#[test]
fn eg_007_s_37_many_calls_at_once_in_any_order_with_noisy_children() {
    let fault =
        Fault { noise: vec![Noise::JsonRpc, Noise::InvalidUtf8, Noise::Ansi], partial_line: true, ..Fault::default() };
    let orders = Orders::default().fault("wardrobe list", fault.clone()).fault("remaster", fault);
    let world = World::ordered(orders);
    world.root().costume("colibri", "light", &[]).unwrap();
    let mut client = world.client();
    // Any numbers will do, and the same each time.
    let mut number = 20_261_130_u64;
    let mut draw = |below: u64| {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (number >> 33) % below
    };
    for _ in 0..40 {
        let mut open = Vec::new();
        for _ in 0..50 {
            open.push(match draw(24) {
                0 => client.begin_call("eggs_wardrobe", &json!({})),
                1 => client.begin_call("eggs_remaster", &json!({"debug": true})),
                2 => client.begin("resources/read", json!({"uri": "eggs://status"})),
                3 => client.begin("resources/read", json!({"uri": format!("eggs://{}", draw(9))})),
                4 => client.begin_call("eggs_remaster", &json!({"debug": draw(3)})),
                5 => client.begin_call("eggs_exec", &json!({"command": format!("{} {}", draw(9), draw(9))})),
                6 => client.begin("tools/list", json!({})),
                7 => client.begin(&format!("no/{}", draw(9)), json!({})),
                _ => client.begin("ping", json!({})),
            });
        }
        // Each request has one answer; the client has looked at every line between them.
        for id in open {
            client.answer(id);
        }
    }
    assert!(client.end().success());
}

#[test]
fn s_29_what_never_ends_is_ended_at_its_limit() {
    let world = World::new();
    let mut client = world.client();
    // Known by its first answer; the limit of the version is the shortest, 10 s.
    good(&client.call("eggs_version", json!({})));
    world.order(Orders::default().fault("version", Fault { hang: true, ..Fault::default() }));
    let result = client.call("eggs_version", json!({}));
    bad(&result, "timed_out");
    let pid = world.eggs.calls().unwrap().pop().unwrap().pid;
    assert!(!alive(pid), "it has ended when that is told");
}

#[test]
fn eg_007_lines_that_look_like_messages_are_text() {
    let (_world, result) = listed(noisy(Noise::JsonRpc));
    let said = good(&result)["stdout"].as_str().unwrap();
    assert!(
        said.contains(r#"{"jsonrpc":"2.0","id":1,"result""#) && said.contains("sampling/createMessage"),
        "{result}"
    );
    assert!(text(&result).contains("Content-Length: 2"), "{result}");
}

#[test]
fn eg_008_s_45_what_steers_a_terminal_is_taken_out_and_invalid_bytes_are_flagged() {
    let (_world, result) = listed(noisy(Noise::Ansi));
    let said = good(&result)["stdout"].as_str().unwrap();
    assert!(said.contains("red ") && said.contains("home") && said.contains("colibri - light"), "{said:?}");
    assert!(!result.to_string().contains("\\u001b") && !result.to_string().contains('\u{1b}'), "{result}");
    assert!(!result.to_string().contains("\\u009b"), "{result}");
    let (_world, result) = listed(noisy(Noise::InvalidUtf8));
    assert_eq!(good(&result)["lossy"], true);
    assert!(text(&result).contains("caf\u{fffd} "), "{result}");
    let (_world, result) = listed(noisy(Noise::Nul));
    assert!(good(&result)["stdout"].as_str().unwrap().contains("before"), "{result}");
    assert!(!result.to_string().contains("\\u0000"), "{result}");
}

#[test]
fn eg_009_a_run_is_told_in_full() {
    let (world, result) = listed(Fault { exit_code: Some(3), says_error: true, ..Fault::default() });
    bad(&result, "remote");
    let answer = &result["structuredContent"]["answer"];
    assert!(answer["stdout"].as_str().unwrap().starts_with("[coa] 1 costumes\n"), "{answer}");
    assert!(answer["stderr"].as_str().unwrap().contains("[ERROR] "), "{answer}");
    assert_eq!((&answer["exit_code"], &answer["signal"]), (&json!(3), &Value::Null));
    assert_eq!((&answer["truncated"], &answer["elevated"]), (&json!(false), &json!(false)));
    assert!(answer["duration_ms"].is_u64());
    assert_eq!(answer["argv"], json!([world.eggs.eggs(), "wardrobe", "list"]));
    assert!(
        text(&result).contains("colibri") && text(&result).contains("[ERROR] "),
        "both streams in one text: {result}"
    );
}

#[test]
fn s_36_a_word_of_failure_outweighs_an_exit_code_of_0() {
    let (_world, result) = listed(Fault { says_error: true, ..Fault::default() });
    let failure = bad(&result, "remote");
    assert!(failure["message"].as_str().unwrap().contains("[ERROR] something went wrong"), "{failure}");
    assert_eq!(result["structuredContent"]["answer"]["exit_code"], 0);
    // The two that the real program only logs.
    let world = World::ordered(Orders { transfer_fails: true, ..Orders::default() });
    world.root().write("/home/eggs/egg-of-debian-bookworm-host-amd64-1.iso", "image").unwrap();
    let policy = crate::argv::unguarded(&world);
    let sent = world.client_with(&["--policy", &policy]).call("eggs_export", json!({"target": "iso"}));
    bad(&sent, "remote");
}

#[test]
fn eg_009_a_signal_is_told_by_its_name() {
    for (signal, name) in [(9, "KILL"), (11, "SEGV"), (15, "TERM")] {
        let (_world, result) = listed(Fault { die_by: Some(signal), ..Fault::default() });
        bad(&result, "remote");
        let answer = &result["structuredContent"]["answer"];
        assert_eq!(answer["exit_code"], Value::Null);
        assert!(answer["signal"].as_str().unwrap().contains(name), "{answer}");
    }
}

#[test]
fn s_38_a_long_answer_is_cut_and_all_of_it_can_be_read_on() {
    let fault = Fault { print_mib: 20, ..Fault::default() };
    let world = World::ordered(Orders::default().fault("wardrobe list", fault));
    world.root().costume("colibri", "light", &[]).unwrap();
    let mut client = world.client();
    let result = client.call("eggs_wardrobe", json!({"action": "list"}));
    assert_eq!(good(&result)["truncated"], true);
    assert_eq!(result["structuredContent"]["truncated"], true);
    assert!(text(&result).len() <= 25_000, "{}", text(&result).len());
    assert!(result["structuredContent"].to_string().len() <= 26_000);
    assert!(text(&result).starts_with("a line of output") && text(&result).contains("colibri"), "start and end");
    let parts = result["content"].as_array().unwrap();
    let link = parts.iter().find(|part| part["type"] == "resource_link").unwrap_or_else(|| panic!("{result}"));
    let uri = link["uri"].as_str().unwrap();
    let size = link["size"].as_u64().unwrap();
    assert!(size > 20 * 1024 * 1024, "{link}");
    let mut whole = String::new();
    while (whole.len() as u64) < size {
        let piece = client.read(&format!("{uri}?offset={}", whole.len())).unwrap();
        assert!(!piece.is_empty());
        whole.push_str(&piece);
    }
    let line = "a line of output that nobody asked for, to the last of its sixty-four\n";
    let lines = whole.matches(line).count();
    assert!(lines * line.len() > 20 * 1024 * 1024 - 20 * line.len(), "every line is there: {lines}");
    assert!(whole.contains("colibri - light"), "to the last one");
}

#[test]
fn s_38_a_line_of_ten_mib_does_no_harm() {
    let (_world, result) = listed(noisy(Noise::LongLine));
    assert_eq!(good(&result)["truncated"], true);
    assert!(text(&result).len() <= 25_000);
}

#[test]
fn what_is_left_behind_does_not_hold_the_answer() {
    for own_group in [false, true] {
        let fault = Fault { grandchild_secs: Some(600), grandchild_own_group: own_group, ..Fault::default() };
        let (_world, result) = listed(fault);
        assert!(text(&result).contains("colibri"), "{result}");
    }
}

#[test]
fn an_output_that_closes_early_or_drips_is_read_to_its_end() {
    let (_world, result) = listed(Fault { close_stdout_ms: Some(50), ..Fault::default() });
    assert_eq!(good(&result)["exit_code"], 0, "it ended well, whatever it said");
    let (_world, result) = listed(Fault { drip_ms: 1, partial_line: true, ..Fault::default() });
    assert!(text(&result).contains("colibri - light"), "{result}");
}

#[test]
fn s_29_s_30_what_waits_for_an_answer_that_nobody_gives_ends() {
    let (_world, result) = listed(Fault { read_terminal: true, ..Fault::default() });
    assert!(text(&result).contains("no answer came"), "{result}");
}

#[test]
fn s_29_a_cancelled_call_ends_its_program_even_one_that_does_not_listen() {
    for ignore_term in [false, true] {
        let fault = Fault { hang: true, ignore_term, noise: vec![Noise::Nul], ..Fault::default() };
        let world = World::ordered(Orders::default().fault("wardrobe list", fault));
        let mut client = world.client();
        let call = client.begin_call("eggs_wardrobe", &json!({"action": "list"}));
        let started = Instant::now();
        while world.calls().is_empty() {
            assert!(started.elapsed() < crate::client::HANGS);
            std::thread::yield_now();
        }
        let pid = world.calls()[0].pid;
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}}));
        while alive(pid) {
            assert!(started.elapsed() < crate::client::HANGS, "it is ended");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert_eq!(client.request("ping", json!({}))["result"], json!({}));
    }
}
