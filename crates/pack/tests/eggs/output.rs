//! What the program says, and what becomes of it.

use crate::stage::{Stage, failed, good};
use pintle_core::Part;
use pintle_testkit::eggs::{Fault, Noise, Orders, Stdin};
use serde_json::json;

fn orders(command: &str, fault: Fault) -> Orders {
    Orders { euid: Some(0), ..Orders::default() }.fault(command, fault)
}

#[tokio::test]
async fn eg_029_version_tells_what_eggs_tells_and_what_can_be_known_beside_it() {
    let stage = Stage::new();
    let reply = stage.call("eggs_version", json!({})).await;
    let answer = good(&reply);
    assert_eq!(answer["version"], "26.8.22");
    assert_eq!(answer["commit"], json!(null));
    assert_eq!(answer["arch"], rustix::system::uname().machine().to_str().unwrap());
    assert_eq!(answer["binary_path"], stage.installed.eggs().to_str().unwrap());
    let sum = std::process::Command::new("sha256sum").arg(stage.installed.eggs()).output().unwrap().stdout;
    assert!(String::from_utf8(sum).unwrap().starts_with(answer["sha256"].as_str().unwrap()));
    assert!(reply.view.plain().starts_with("[coa]"), "{}", reply.view.plain());
    let local = Stage::ordered(&Orders { version: Some("coa development".into()), ..Orders::default() });
    good(&local.call("eggs_version", json!({})).await);
}

#[tokio::test]
async fn eg_009_an_answer_tells_streams_end_time_and_vector() {
    let stage = Stage::new();
    let reply = stage.call("eggs_version", json!({})).await;
    let answer = good(&reply);
    assert!(answer["stdout"].as_str().unwrap().starts_with("[coa]") && answer["stderr"] == "");
    assert_eq!((&answer["exit_code"], &answer["signal"]), (&json!(0), &json!(null)));
    assert!(answer["duration_ms"].is_u64());
    assert_eq!((&answer["truncated"], &answer["elevated"]), (&json!(false), &json!(false)));
    assert_eq!(answer["argv"], json!([stage.installed.eggs().to_str().unwrap(), "version"]));

    let stage = Stage::ordered(&orders("wardrobe list", Fault { die_by: Some(9), ..Fault::default() }));
    let reply = stage.call("eggs_wardrobe", json!({})).await;
    let (code, text) = failed(&reply);
    assert_eq!(code, "remote");
    assert!(text.contains("signal KILL"), "{text}");
    assert_eq!(reply.answer.as_ref().unwrap()["signal"], "KILL");
    assert!(reply.is_error);
}

#[tokio::test]
async fn eg_008_s_43_s_30_a_program_gets_no_terminal_no_input_and_little_environment() {
    let stage = Stage::new();
    stage.call("eggs_wardrobe", json!({})).await;
    let call = stage.last_call();
    assert_eq!(call.colour, [Some("1".to_owned()), Some("dumb".to_owned())]);
    assert_eq!(call.stdin, Stdin::Empty);
    assert_eq!(call.group, call.pid, "a group of its own");
    assert_eq!(call.environment, ["GIT_TERMINAL_PROMPT", "HOME", "NO_COLOR", "PATH", "SSH_ASKPASS_REQUIRE", "TERM"]);
    assert!(!call.parent.join(" ").contains("sh -c"), "no shell in between");
    stage.planned("eggs_remaster", json!({})).await;
    assert_eq!(stage.last_call().cwd, "/", "what may run as root never sees the caller's folder");
}

#[tokio::test]
async fn eg_007_eg_008_an_3_2_noise_is_cleaned_and_what_was_no_text_is_flagged() {
    let noise = vec![Noise::InvalidUtf8, Noise::Nul, Noise::Ansi, Noise::JsonRpc];
    let stage = Stage::ordered(&orders("wardrobe list", Fault { noise, ..Fault::default() }));
    let reply = stage.call("eggs_wardrobe", json!({})).await;
    let answer = good(&reply);
    assert_eq!(answer["lossy"], true);
    let said = answer["stdout"].as_str().unwrap();
    assert!(said.contains('\u{fffd}') && said.contains("jsonrpc"), "{said}");
    assert!(!said.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "{said:?}");
    assert!(!reply.view.plain().contains('\u{1b}'));
}

#[tokio::test]
async fn s_38_long_output_is_bounded_told_and_whole_where_it_can_be_read_on() {
    let stage = Stage::ordered(&orders("wardrobe list", Fault { print_mib: 20, ..Fault::default() }));
    let reply = stage.call("eggs_wardrobe", json!({})).await;
    let answer = good(&reply);
    assert!(reply.truncated && answer["truncated"] == true);
    assert!(answer.to_string().len() <= 25_000, "{}", answer.to_string().len());
    let [Part::Text(text), Part::Link(link)] = reply.parts.as_slice() else { panic!("{} parts", reply.parts.len()) };
    assert!(text.len() <= 25_000 && text.contains("bytes left out") && text.contains(&link.uri));
    assert!(link.size.unwrap() >= 20 << 20, "{:?}", link.size);
    let read = |uri: String| {
        let request = pintle_dispatch::Catalog::reading(
            pintle_core::Caller { door: pintle_core::Door::Agents, principal: "tester".into() },
            std::sync::Arc::new(pintle_dispatch::Silent),
        );
        let catalog = stage.catalog.clone();
        async move { catalog.read(&uri, &request).await.unwrap()[0].text.clone().unwrap() }
    };
    let first = read(link.uri.clone()).await;
    assert!(first.starts_with(&answer["stdout"].as_str().unwrap()[..1000]), "the same text goes on");
    let last = read(format!("{}?offset={}", link.uri, link.size.unwrap() - 100)).await;
    assert!(answer["stdout"].as_str().unwrap().ends_with(&last));
}

#[tokio::test]
async fn s_38_one_line_of_ten_megabytes_and_a_last_line_without_end_are_taken() {
    let fault = Fault { noise: vec![Noise::LongLine], partial_line: true, ..Fault::default() };
    let stage = Stage::ordered(&orders("wardrobe list", fault));
    let reply = stage.call("eggs_wardrobe", json!({})).await;
    assert!(good(&reply)["truncated"] == true);
}

#[tokio::test]
async fn s_39_the_passwords_of_a_plan_are_masked_in_text_value_and_file() {
    let orders = Orders { euid: Some(1000), password: Some("hunter2".into()), ..Orders::default() };
    let stage = Stage::ordered(&orders);
    let reply = stage.call("eggs_remaster", json!({"debug": true})).await;
    let answer = good(&reply);
    assert!(answer["json"]["plan"].is_array(), "JSON behind a line of text is told as a value: {answer}");
    let told = format!("{}{}", reply.envelope(), reply.view.plain());
    assert!(told.contains("[masked]") && !told.contains("hunter2"), "{told}");
    let mut folders = vec![stage.state.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                let text = String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()).into_owned();
                assert!(!text.contains("hunter2"), "{}", entry.path().display());
            }
        }
    }
}
