//! The tools as they are listed.

use crate::world::World;
use pintle_charly::leaves;
use pintle_core::Toolset;
use serde_json::{Value, json};

fn toolset() -> Toolset {
    pintle_charly::toolset(World::empty().host)
}

#[test]
fn ch_132_cw_11_every_tool_is_a_leaf_of_the_golden_list_with_its_mark() {
    let toolset = toolset();
    for tool in &toolset.tools {
        let spec = tool.spec();
        let leaf = leaves::all().find(|leaf| leaf.name == spec.name);
        let leaf = leaf.unwrap_or_else(|| panic!("`{}` is no leaf of the golden list", spec.name));
        assert_eq!(spec.mutating, Some(leaf.mutating), "{}", spec.name);
        assert_eq!(spec.worst.is_read(), leaf.effect == "R", "{} is {:?}", spec.name, spec.worst);
    }
    assert_eq!(pintle_charly::extra(World::empty().host).tools[0].spec().name, "box.undo");
}

#[test]
fn the_leaves_that_are_missing_are_those_of_the_golden_file() {
    let missing = leaves::missing(&toolset());
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("missing.txt");
    let text = format!("{}\n", missing.join("\n"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), text, "run again with UPDATE_GOLDEN=1 when a leaf was added");
}

#[test]
fn ch_178_the_authoring_family_is_complete() {
    let toolset = toolset();
    let names: Vec<_> = toolset.tools.iter().map(|tool| tool.spec().name.as_str()).collect();
    for name in [
        "version",
        "box.new.project",
        "box.new.box",
        "box.new.candy",
        "box.set",
        "box.add-candy",
        "box.rm-candy",
        "box.write",
        "box.cat",
        "box.validate",
        "box.inspect",
        "box.list.boxes",
        "candy.set",
        "candy.add-rpm",
        "candy.add-deb",
        "candy.add-pac",
        "candy.add-aur",
    ] {
        assert!(names.contains(&name), "{name}");
    }
}

#[test]
fn v18_every_name_that_older_callers_use_means_a_tool() {
    let world = World::empty();
    for (old, new) in [
        ("image.new.project", "box.new.project"),
        ("image.new.image", "box.new.box"),
        ("image.new.box", "box.new.box"),
        ("box.new.image", "box.new.box"),
        ("image.new.layer", "box.new.candy"),
        ("box.new.layer", "box.new.candy"),
        ("image.set", "box.set"),
        ("image.add-layer", "box.add-candy"),
        ("box.add-layer", "box.add-candy"),
        ("image.rm-layer", "box.rm-candy"),
        ("box.rm-layer", "box.rm-candy"),
        ("image.write", "box.write"),
        ("image.cat", "box.cat"),
        ("image.validate", "box.validate"),
        ("image.inspect", "box.inspect"),
        ("image.list.boxes", "box.list.boxes"),
        ("image.list.images", "box.list.boxes"),
        ("layer.set", "candy.set"),
        ("layer.add-rpm", "candy.add-rpm"),
        ("layer.add-deb", "candy.add-deb"),
        ("layer.add-pac", "candy.add-pac"),
        ("layer.add-aur", "candy.add-aur"),
    ] {
        let found = world.catalog.find(old, pintle_core::Door::Agents).map(|spec| spec.name.clone());
        assert_eq!(found.as_deref(), Some(new), "{old}");
    }
}

#[test]
fn ch_113_ch_115_ch_119_arguments_are_closed_objects_with_positionals_in_order() {
    for tool in &toolset().tools {
        let spec = tool.spec();
        assert_eq!(spec.input["type"], "object", "{}", spec.name);
        assert_eq!(spec.input["additionalProperties"], false, "{}", spec.name);
        let properties = spec.input["properties"].as_object().unwrap();
        let mut places: Vec<u64> = properties.values().filter_map(|p| p["x-cli"]["positional"].as_u64()).collect();
        places.sort_unstable();
        assert_eq!(places, (1..=places.len() as u64).collect::<Vec<_>>(), "{}", spec.name);
        let instructions = toolset().instructions;
        for (name, property) in properties {
            let common = property["x-cli"]["common"] == true;
            assert!(
                !common || instructions.contains(&format!("`{name}`")),
                "the instructions do not tell what {name} is"
            );
            assert!(property["type"].is_string() || property["enum"].is_array(), "{} {name}: {property}", spec.name);
            assert!(property["description"].is_string(), "{} {name} says nothing", spec.name);
        }
        let takes = |name: &str| properties.contains_key(name);
        assert!(takes("project") || ["version", "box.new.project"].contains(&spec.name.as_str()), "{}", spec.name);
        if spec.mutating == Some(true) {
            assert!(takes("dry_run"), "{}", spec.name);
        }
    }
    let required = |name: &str| -> Value {
        let toolset = toolset();
        let tool = toolset.tools.iter().find(|tool| tool.spec().name == name).unwrap();
        tool.spec().input["required"].clone()
    };
    assert_eq!(required("box.new.box"), json!(["name", "base"]));
    assert_eq!(required("candy.add-rpm"), json!(["name", "packages"]));
    assert_eq!(required("box.add-candy"), json!(["box", "candy"]));
    assert_eq!(required("box.set"), json!(["path"]));
}

#[test]
fn what_a_model_sees_of_a_tool_is_short() {
    let world = World::empty();
    let size = |l: &pintle_dispatch::Listed| {
        let seen =
            json!({"name": l.name, "description": l.description, "inputSchema": l.input, "annotations": l.hints});
        seen.to_string().len()
    };
    let sizes: Vec<_> = world.catalog.listed().map(|listed| (size(listed), listed.name.as_str())).collect();
    let mean = sizes.iter().map(|(size, _)| size).sum::<usize>().div_ceil(sizes.len());
    assert!(mean <= 520, "{mean} bytes a tool: {sizes:?}");
}

#[tokio::test]
async fn ch_130_reading_tools_stay_on_a_read_only_server() {
    let world = World::project();
    let settings = pintle_dispatch::Settings { read_only: pintle_dispatch::ReadOnly::Listed, ..Default::default() };
    let catalog = pintle_dispatch::Catalog::new(vec![pintle_charly::toolset(world.host.clone())], settings).unwrap();
    let mut names: Vec<_> = catalog.listed().map(|listed| listed.name.clone()).collect();
    names.sort();
    assert_eq!(names, ["box.cat", "box.inspect", "box.list.boxes", "box.validate", "version"]);
}

#[test]
fn cw_12_hints_follow_from_effects() {
    let world = World::empty();
    for listed in world.catalog.listed() {
        let hints = listed.hints;
        let adds =
            ["box.add-candy", "box.rm-candy"].contains(&listed.name.as_str()) || listed.name.starts_with("candy.add-");
        assert_eq!(hints.idempotent_hint, adds || hints.read_only_hint, "{}", listed.name);
        assert!(!hints.open_world_hint, "{}", listed.name);
        let marked = leaves::MUTATING.contains(&listed.name.as_str());
        assert_eq!(hints.destructive_hint, marked, "{}", listed.name);
        assert_eq!(listed.description.contains("[destructive: "), marked, "{}", listed.name);
    }
}
