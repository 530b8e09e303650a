//! What an agent does with a machine, from the first look to the clean-up.

use crate::{
    client::{good, text},
    world::World,
};
use pintle_testkit::eggs::Orders;
use serde_json::json;

#[test]
fn eg_002_an_agent_looks_dresses_makes_an_image_tries_the_installer_and_sends_what_was_made() {
    let world = World::new();
    world.root().costume("colibri", "a light desktop", &["true"]).unwrap();
    world
        .root()
        .write("/etc/penguins-eggs.d/custom.yaml", "remaster:\n  user: live\n  work_dir: /home/eggs\n")
        .unwrap();
    let mut client = world.client();
    // Inspect.
    assert!(client.read("eggs://status").unwrap().starts_with("Distribution: debian"));
    assert!(client.read("eggs://config").unwrap().contains("work_dir: /home/eggs"));
    // A costume.
    assert!(text(&client.call("eggs_wardrobe", json!({"action": "list"}))).contains("colibri"));
    let worn = client.confirmed("eggs_wardrobe", json!({"action": "wear", "costume": "colibri"}));
    assert_eq!(good(&worn)["exit_code"], 0);
    // A remaster.
    assert_eq!(good(&client.call("eggs_remaster", json!({"debug": true})))["exit_code"], 0);
    let flown = client.confirmed("eggs_remaster", json!({"compression": "zstd"}));
    assert!(good(&flown)["made"]["bytes"].as_u64().unwrap() > 1_000_000);
    // The installer, which a person is asked about.
    let install = client.call("eggs_sysinstall", json!({}));
    assert_eq!(install["structuredContent"]["outcome"], "planned", "{install}");
    // What was made.
    let sent = client.call("eggs_export", json!({"target": "iso"}));
    assert_eq!(good(&sent)["exit_code"], 0);
    assert_eq!(World::files_below(&world.root().at("/exported")).len(), 1);
    let id =
        client.call("eggs_destroy", json!({}))["structuredContent"]["plan"]["approval"].as_str().unwrap().to_owned();
    assert!(world.command(["approve", &id, "--yes"]).output().unwrap().status.success());
    assert_eq!(good(&client.call("eggs_destroy", json!({})))["exit_code"], 0);
    assert!(world.root().images().unwrap().is_empty());
    assert!(client.end().success());
    // Nothing was written but state of ours; the rest is what eggs wrote.
    let home = World::files_below(&world.home());
    assert!(home.iter().all(|file| file.starts_with(world.state())), "{home:?}");
    assert!(World::files_below(&world.work()).is_empty());
}

#[test]
fn the_same_tools_are_commands_for_people() {
    let world = World::ordered(Orders::default());
    world.root().costume("colibri", "a light desktop", &[]).unwrap();
    let version = world.command(["eggs", "version"]).output().unwrap();
    assert!(String::from_utf8_lossy(&version.stdout).starts_with("[coa] coa 26.8.22\n"), "{version:?}");
    let list = world.command(["eggs", "wardrobe", "list"]).output().unwrap();
    assert!(list.status.success() && String::from_utf8_lossy(&list.stdout).contains("colibri"), "{list:?}");
    let asked = world.command(["eggs", "destroy"]).output().unwrap();
    assert!(!asked.status.success(), "nobody could be asked: {asked:?}");
    let destroyed = world.command(["eggs", "destroy", "--yes"]).output().unwrap();
    assert!(destroyed.status.success(), "{destroyed:?}");
    assert!(!world.root().at("/home/eggs").exists());
}
