//! The password of a plan leaves by no way.

use crate::{client::good, world::World};
use pintle_testkit::eggs::Orders;
use serde_json::json;

const SECRET: &str = "canary-4f81d2c6";

/// Every byte that left: what the client heard, what the server told its starter, and every file that was written.
#[track_caller]
fn nowhere(world: &World, heard: &[&[u8]]) {
    let has = |bytes: &[u8]| bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
    for bytes in heard {
        assert!(!has(bytes), "{}", String::from_utf8_lossy(bytes));
    }
    for file in World::files_below(&world.home()).into_iter().chain(World::files_below(&world.work())) {
        assert!(!has(&std::fs::read(&file).unwrap()), "{}", file.display());
    }
}

#[test]
fn s_39_the_password_of_a_plan_is_masked_in_every_byte_that_leaves() {
    let world = World::ordered(Orders { password: Some(SECRET.into()), ..Orders::default() });
    world
        .root()
        .write(
            "/etc/penguins-eggs.d/custom.yaml",
            format!("remaster:\n  user: live\n  password: {SECRET}\n  work_dir: /home/eggs\n"),
        )
        .unwrap();
    let audit = world.work().join("audit.jsonl");
    let mut client = world.client_with(&["--audit", audit.to_str().unwrap()]);
    let result = client.call("eggs_remaster", json!({"debug": true}));
    let answer = good(&result);
    assert_eq!(answer["json"]["plan"].as_array().unwrap().len(), 22, "the plan is told as a value: {result}");
    assert!(result.to_string().contains("make-user live --password "), "and all but the secret: {result}");
    client.call("eggs_exec", json!({"command": "remaster --debug"}));
    let config = client.read("eggs://config").unwrap();
    assert!(config.contains("user: live") && config.contains("password: "), "{config}");
    assert!(client.end().success());
    let stderr = client.stderr();
    nowhere(&world, &[&client.heard, stderr.as_bytes()]);
    let audited = std::fs::read_to_string(audit).unwrap();
    assert!(
        audited.contains("\"tool\":\"eggs_remaster\"") && audited.contains("\"resource\":\"eggs://config\""),
        "{audited}"
    );
}

#[test]
fn s_39_nor_by_a_job_nor_by_the_commands_for_people() {
    let world = World::ordered(Orders { password: Some(SECRET.into()), ..Orders::default() });
    // What a flight prints goes into the log of its job.
    let say = pintle_testkit::eggs::Fault { says_error: true, ..Default::default() };
    world.order(Orders { password: Some(SECRET.into()), ..Orders::default() }.fault("destroy", say));
    let mut client = world.client();
    client.confirmed("eggs_remaster", json!({}));
    assert!(client.end().success());
    let plan = world.command(["eggs", "remaster", "--debug"]).output().unwrap();
    assert!(plan.status.success(), "{}", String::from_utf8_lossy(&plan.stderr));
    assert!(String::from_utf8_lossy(&plan.stdout).contains("mksquashfs"), "{plan:?}");
    let config = world.command(["mcp", "call", "--help"]).output().unwrap();
    nowhere(&world, &[&client.heard, &plan.stdout, &plan.stderr, &config.stdout]);
}
