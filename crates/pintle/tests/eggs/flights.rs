//! A remaster from its plan to its end.

use crate::{
    client::{bad, good, text},
    world::World,
};
use pintle_testkit::eggs::{Orders, Variant};
use serde_json::{Value, json};

#[test]
fn eg_017_eg_031_a_flight_tells_how_far_it_is_and_what_it_made() {
    let world = World::ordered(Orders { step_ms: 30, ..Orders::default() });
    let mut client = world.client();
    let arguments = client.planned("eggs_remaster", &json!({"compression": "zstd"}));
    let call = client.begin_call("eggs_remaster", &arguments);
    let result = client.result(call);
    let answer = good(&result);
    assert_eq!(answer["made"]["bytes"], 236 * 1024 * 1024);
    let made = answer["made"]["file"].as_str().unwrap();
    assert!(made.ends_with(&world.root().images().unwrap()[0]), "{made}");
    assert!(text(&result).contains("Task Execution: xorriso") && text(&result).contains("236.0 MiB"), "{result}");
    let told = client.notifications("notifications/progress");
    let told: Vec<&Value> = told.into_iter().map(|message| &message["params"]).collect();
    assert!(told.iter().all(|progress| progress["progressToken"] == call), "{told:?}");
    assert!(told.len() > 3, "{told:?}");
    assert!(told.iter().any(|progress| progress["total"] == 22.0), "{told:?}");
    assert!(told.is_sorted_by_key(|progress| (progress["progress"].as_f64().unwrap() * 1000.0) as i64), "{told:?}");
    let messages: Vec<&str> = told.iter().filter_map(|progress| progress["message"].as_str()).collect();
    assert!(messages.iter().any(|message| message.contains("mksquashfs")), "{messages:?}");
}

#[test]
fn s_35_s_36_what_only_looks_like_an_image_is_a_failure() {
    let world = World::ordered(Orders { variant: Variant::Husk, ..Orders::default() });
    let mut client = world.client();
    let husk = client.confirmed("eggs_remaster", json!({}));
    let failure = bad(&husk, "remote");
    assert!(failure["message"].as_str().unwrap().contains("too small"), "{failure}");
    assert_eq!(husk["structuredContent"]["answer"]["exit_code"], 0, "eggs itself was content");
    world.order(Orders { variant: Variant::Nothing, ..Orders::default() });
    bad(&client.confirmed("eggs_remaster", json!({})), "remote");
    world.order(Orders { variant: Variant::MountsLeft, ..Orders::default() });
    let left = client.confirmed("eggs_remaster", json!({}));
    bad(&left, "remote");
    let leftovers = left["structuredContent"]["answer"]["leftovers"].as_array().unwrap();
    assert_eq!(leftovers.len(), 13, "{left}");
    assert!(leftovers.iter().any(|mount| mount.as_str().unwrap().ends_with("/liveroot/dev")), "{left}");
    assert!(!left.to_string().contains("rm -rf"), "{left}");
}

#[test]
fn s_36_an_engine_that_fails_and_one_that_is_to_stop_early() {
    let world = World::ordered(Orders { fail_at: Some("mksquashfs".into()), ..Orders::default() });
    let mut client = world.client();
    let failed = client.confirmed("eggs_remaster", json!({}));
    let failure = bad(&failed, "remote");
    assert_eq!(failed["structuredContent"]["answer"]["exit_code"], 1);
    assert!(failure.to_string().contains("[ERROR] "), "{failure}");
    world.order(Orders::default());
    let stopped = client.confirmed("eggs_remaster", json!({"stop_after": "identity"}));
    assert_eq!(good(&stopped)["exit_code"], 0, "no image is no failure where none was asked for");
    assert!(world.root().images().unwrap().is_empty());
}

#[test]
fn eg_038_s_35_it_looks_where_the_configuration_says() {
    let world = World::new();
    world.root().write("/etc/penguins-eggs.d/custom.yaml", "remaster:\n  work_dir: /srv/eggs\n").unwrap();
    let mut client = world.client();
    let plan = client.call("eggs_remaster", json!({}));
    assert!(plan["structuredContent"]["plan"]["preview"].as_str().unwrap().contains("/srv/eggs/*.iso"), "{plan}");
    let result = client.confirmed("eggs_remaster", json!({}));
    assert!(good(&result)["made"]["file"].as_str().unwrap().contains("/srv/eggs/egg-of-"), "{result}");
    world.root().write("/etc/penguins-eggs.d/custom.yaml", "remaster:\n  work_dir: \"/srv/../etc\"\n").unwrap();
    let refused = client.call("eggs_remaster", json!({}));
    assert_eq!(refused["isError"], true, "{refused}");
    assert_eq!(world.calls().len(), 1);
}
