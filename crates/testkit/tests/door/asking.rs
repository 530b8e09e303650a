//! Questions to the person behind the client, in both eras.

use crate::peer::{CAPABILITIES, Peer, text};
use pintle_core::Code;
use pintle_dispatch::{Approvals, Decision, Policy, Settings, StateFolder};
use pintle_testkit::World;
use serde_json::{Value, json};
use std::{path::Path, sync::Arc};

fn forms() -> Value {
    json!({CAPABILITIES: {"elicitation": {"form": {}}}})
}

fn human(state: Option<&Path>) -> Settings {
    let policy = "[[rule]]\ntool = \"trial.write\"\nconfirm = \"human\"\n";
    Settings {
        policy: Policy::parse(policy, Path::new("policy.toml")).unwrap(),
        state: state.map(StateFolder::at),
        ..Settings::default()
    }
}

fn write(value: &str) -> Value {
    json!({"name": "trial.write", "arguments": {"value": value}})
}

/// Answers the next question of the server with that content.
async fn answer(peer: &mut Peer, content: Value) -> Value {
    let question = peer.until(|m| m["method"] == "elicitation/create").await;
    let result = json!({"action": "accept", "content": content});
    peer.send(json!({"jsonrpc": "2.0", "id": question["id"], "result": result})).await;
    question
}

#[tokio::test]
async fn the_older_era_is_asked_while_the_call_waits() {
    let mut peer = Peer::trial(&Arc::new(World::default()), Settings::default());
    peer.initialize("2025-06-18", json!({"elicitation": {}})).await;
    let id = peer.begin("tools/call", json!({"name": "trial.ask"})).await;
    // The person takes longer than the operation may: that is not the operation's time.
    tokio::time::sleep(std::time::Duration::from_millis(2500)).await;
    let first = answer(&mut peer, json!({"name": "Ada"})).await;
    assert_eq!(first["params"]["message"], "which name? (‹secret trial›)");
    answer(&mut peer, json!({"colour": "blue"})).await;
    assert_eq!(text(&peer.answer(id).await["result"]), "Ada likes blue");
}

#[tokio::test]
async fn the_newer_era_sends_the_call_again_and_answers_gather() {
    let mut peer = Peer::trial(&Arc::new(World::default()), Settings::default());
    peer.meta = forms();
    let call = json!({"name": "trial.ask"});
    let first = peer.modern("tools/call", call.clone()).await["result"].clone();
    assert_eq!(first["resultType"], "input_required");
    assert_eq!(first["inputRequests"]["name"]["params"]["message"], "which name? (‹secret trial›)");
    let with =
        |answers: Value, state: &Value| json!({"name": "trial.ask", "inputResponses": answers, "requestState": state});
    let accepted = |content: Value| json!({"action": "accept", "content": content});
    let name = with(json!({"name": accepted(json!({"name": "Ada"}))}), &first["requestState"]);
    let second = peer.modern("tools/call", name).await["result"].clone();
    assert_eq!(second["inputRequests"].as_object().unwrap().keys().collect::<Vec<_>>(), ["colour"]);
    let state = &second["requestState"];
    let colour = json!({"colour": accepted(json!({"colour": "blue"}))});
    let forged = format!("{}A", state.as_str().unwrap());
    let refused = peer.modern("tools/call", with(colour.clone(), &json!(forged))).await;
    assert_eq!(refused["error"]["code"], -32602, "a forged state is refused");
    let done = peer.modern("tools/call", with(colour, state)).await;
    assert_eq!(text(&done["result"]), "Ada likes blue");
}

#[tokio::test]
async fn whoever_cannot_be_asked_is_told_so() {
    let mut peer = Peer::trial(&Arc::new(World::default()), Settings::default());
    let refused = peer.modern("tools/call", json!({"name": "trial.ask"})).await;
    assert_eq!(refused["error"]["code"], -32021);
    assert_eq!(refused["error"]["data"]["requiredCapabilities"], json!({"elicitation": {"form": {}}}));
    peer.initialize("2025-11-25", json!({"elicitation": {"url": {}}})).await;
    let old = peer.call("trial.ask", json!({})).await;
    assert_eq!((&old["isError"], &old["structuredContent"]["failure"]["code"]), (&json!(true), &json!("needs_input")));
}

#[tokio::test]
async fn a_prompt_may_ask_too() {
    let mut peer = Peer::fixture();
    peer.initialize("2025-11-25", json!({"elicitation": {}})).await;
    let id = peer.begin("prompts/get", json!({"name": "test_input_required_result_prompt"})).await;
    answer(&mut peer, json!({"context": "a garden"})).await;
    let messages = &peer.answer(id).await["result"]["messages"];
    assert_eq!(messages[0]["content"]["text"], "Use this context: a garden");
}

#[tokio::test]
async fn a_person_decides_in_the_older_era() {
    let world = Arc::new(World::default());
    let mut peer = Peer::trial(&world, human(None));
    peer.initialize("2025-11-25", json!({"elicitation": {"form": {}}})).await;
    let id = peer.begin("tools/call", write("second")).await;
    let question = peer.until(|m| m["method"] == "elicitation/create").await;
    assert!(question["params"]["message"].as_str().unwrap().contains("-first\n+second"), "{question}");
    let no = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}});
    peer.send(no).await;
    assert_eq!(peer.answer(id).await["result"]["structuredContent"]["failure"]["code"], "denied");
    assert_eq!(world.writes(), 0);
    let id = peer.begin("tools/call", write("second")).await;
    answer(&mut peer, json!({"confirm": true})).await;
    assert_eq!(text(&peer.answer(id).await["result"]), "first is now second");
    assert_eq!(world.writes(), 1);
}

#[tokio::test]
async fn a_person_decides_in_the_newer_era_and_a_made_up_yes_counts_for_nothing() {
    let world = Arc::new(World::default());
    let mut peer = Peer::trial(&world, human(None));
    peer.meta = forms();
    let asked = peer.modern("tools/call", write("second")).await["result"].clone();
    let key = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let yes = json!({key.clone(): {"action": "accept", "content": {"confirm": true}}});
    let again = |value: &str, state: Option<&Value>| {
        let mut call = write(value);
        call["inputResponses"] = yes.clone();
        if let Some(state) = state {
            call["requestState"] = state.clone();
        }
        call
    };
    let made_up = peer.modern("tools/call", again("second", None)).await;
    assert_eq!(made_up["result"]["resultType"], "input_required", "it is asked again");
    let other = peer.modern("tools/call", again("third", Some(&asked["requestState"]))).await;
    assert_eq!(other["error"]["code"], -32602, "a state is good for its own call only");
    assert_eq!(world.writes(), 0);
    world.meddle("moved");
    let moved = peer.modern("tools/call", again("second", Some(&asked["requestState"]))).await;
    assert_eq!(moved["result"]["resultType"], "input_required", "a yes to what was, not to what is");
    world.meddle("first");
    let done = peer.modern("tools/call", again("second", Some(&asked["requestState"]))).await;
    assert_eq!(text(&done["result"]), "first is now second");
}

#[tokio::test]
async fn where_nobody_can_be_asked_a_person_approves_elsewhere() {
    let (world, home) = (Arc::new(World::default()), tempfile::tempdir().unwrap());
    let mut peer = Peer::trial(&world, human(Some(home.path())));
    let planned = peer.modern("tools/call", write("second")).await["result"].clone();
    assert_eq!((&planned["isError"], &planned["structuredContent"]["outcome"]), (&json!(false), &json!("planned")));
    let id = planned["structuredContent"]["plan"]["approval"].as_str().unwrap().to_owned();
    assert!(text(&planned).contains(&format!("pintle approve {id}")));
    let still = peer.modern("tools/call", write("second")).await;
    assert_eq!(still["result"]["structuredContent"]["plan"]["approval"], id.as_str(), "the same question");
    let approvals = Approvals::new(StateFolder::at(home.path()));
    assert_eq!(approvals.decide("nothing", Decision::Approved).unwrap_err().code, Code::NotFound);
    approvals.decide(&id, Decision::Approved).unwrap();
    let done = peer.modern("tools/call", write("second")).await;
    assert_eq!(text(&done["result"]), "first is now second");
    assert_eq!(world.writes(), 1);
    world.meddle("first");
    let once = peer.modern("tools/call", write("second")).await;
    assert_eq!(once["result"]["structuredContent"]["outcome"], "planned", "a yes is good for one call");
}
