//! Whose files packages are.

use crate::{
    client::{bad, good},
    world::World,
};
use pintle_testkit::eggs::Orders;
use serde_json::json;
use std::{fs, os::unix::fs::MetadataExt};

fn builder() -> Orders {
    Orders { euid: Some(1000), ..Orders::default() }
}

#[test]
fn eg_036_s_07_packages_are_not_built_by_root_however_it_is_asked_for() {
    let world = World::ordered(builder());
    if !rustix::process::geteuid().is_root() {
        pintle_testkit::skip("opt_in: only root can be refused as root");
        return;
    }
    fs::create_dir(world.work().join("build")).unwrap();
    let policy = crate::argv::unguarded(&world);
    let mut client = world.client_with(&["--policy", &policy]);
    for (tool, arguments) in [
        ("eggs_tools", json!({"tool": "build"})),
        ("eggs_exec", json!({"command": "tools build"})),
        ("eggs_exec", json!({"command": "tools  build"})),
        ("eggs_exec", json!({"command": ["tools", "build"]})),
    ] {
        let result = client.call(tool, arguments);
        assert!(bad(&result, "denied").to_string().contains("root"), "{result}");
    }
    assert_eq!(world.calls(), []);
}

#[test]
fn eg_037_what_is_built_belongs_to_whoever_asked_for_it() {
    let world = World::of_nobody(builder());
    let build = world.work().join("build");
    fs::create_dir(&build).unwrap();
    let mut client = world.client();
    let result = client.call("eggs_tools", json!({"tool": "build"}));
    assert_eq!(good(&result)["exit_code"], 0, "{result}");
    let made = world.work().join("penguins-eggs_26.8.22_amd64.deb");
    assert_ne!(fs::metadata(&made).unwrap().uid(), 0);
    let call = world.calls().pop().unwrap();
    assert_ne!((call.euid, call.ruid), (0, 0));
    assert_eq!(call.cwd, world.work().canonicalize().unwrap().display().to_string(), "in the caller's folder");
}
