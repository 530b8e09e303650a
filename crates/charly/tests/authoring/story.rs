//! The worked example: a project from nothing, by calls alone, with the names that older callers use.

use crate::world::World;
use pintle_core::{Code, Notice};
use serde_json::json;

#[tokio::test]
async fn ch_197_ch_198_ch_199_ch_200_ch_201_ch_202_ch_204_v16_v17_v18_the_worked_example_over_calls_alone() {
    let world = World::empty();
    let dir = world.path("hello");
    let made = world.ok("box.new.project", json!({"dir": dir})).await;
    assert_eq!(made["project"], json!(dir));
    assert_eq!(world.notices.take(), [Notice::ResourcesChanged]);
    world.ok("box.new.box", json!({"name": "hello", "base": "quay.io/fedora/fedora:43"})).await;
    world.ok("box.new.candy", json!({"name": "hello-svc"})).await;
    world.ok("candy.add-rpm", json!({"name": "hello-svc", "packages": ["openssh-server"]})).await;
    world.ok("box.add-candy", json!({"image": "hello", "layer": "hello-svc"})).await;
    let valid = world.ok("image.validate", json!({})).await;
    assert_eq!(valid["valid"], true);
    let reply = world.call("box.inspect", json!({"image": "hello"})).await;
    let text: serde_json::Value = serde_json::from_str(&reply.view.plain()).expect("the text is one JSON object");
    assert_eq!(Some(&text), reply.answer.as_ref(), "and the same value");
    assert_eq!(text["name"], "hello");
    assert_eq!(text["base"], "quay.io/fedora/fedora:43");
    assert_eq!(text["candy"], json!(["hello-svc"]));
    assert_eq!(text["packages"], json!({"rpm": ["openssh-server"]}));
    assert_eq!(world.shown("box.list.boxes", json!({})).await, "hello [testing]");
    assert!(!world.path("charly.yml").exists(), "nothing was written beside the project");
}

#[tokio::test]
async fn ch_179_a_new_project_has_its_three_parts_and_keeps_what_is_there() {
    let world = World::empty();
    world.put("p/.gitignore", "/mine\n");
    world.put("p/notes.txt", "keep me");
    world.ok("box.new.project", json!({"dir": "p"})).await;
    let main = world.text("p/charly.yml");
    assert!(main.contains(&format!("version: {}", pintle_charly::version())), "{main}");
    assert!(world.path("p/candy").is_dir());
    assert_eq!(world.text("p/.gitignore"), "/mine\n");
    assert_eq!(world.text("p/notes.txt"), "keep me");
    let again = world
        .refused_with("box.new.project", json!({"dir": "p"}), Code::AlreadyExists, "has a charly.yml already")
        .await;
    assert!(again.contains("`project`"), "{again}");
    world.ok("box.new.project", json!({"dir": "q/deep"})).await;
    assert!(world.text("q/deep/.gitignore").contains(".build"));
    assert_eq!(world.ok("box.validate", json!({"project": "q/deep"})).await["valid"], true);
}

#[tokio::test]
async fn ch_197_cw_22_cw_23_the_one_project_made_is_adopted_and_a_second_must_be_named() {
    let world = World::empty();
    world.refused_with("box.list.boxes", json!({}), Code::NoProject, "box.new.project").await;
    world.ok("box.new.project", json!({"dir": "a"})).await;
    assert_eq!(world.notices.take(), [Notice::ResourcesChanged]);
    world.ok("box.new.box", json!({"name": "one", "base": "scratch"})).await;
    world.notices.take();
    let second = world.ok("box.new.project", json!({"dir": "b"})).await;
    assert_eq!(world.notices.take(), [], "nothing that was listed has changed");
    assert!(second["note"].as_str().unwrap().contains("name it with `project"), "{second}");
    let text = world.refused_with("box.list.boxes", json!({}), Code::NoProject, "several projects").await;
    assert!(text.contains("/a`") && text.contains("/b`"), "{text}");
    assert_eq!(world.shown("box.list.boxes", json!({"project": "a"})).await, "one [testing]");
    let b = world.ok("box.list.boxes", json!({"project": "b"})).await;
    assert_eq!(b["project"], json!(world.path("b")));
    assert_eq!(b["boxes"], json!([]));
}

#[tokio::test]
async fn cw_24_everything_stays_beneath_the_project_root() {
    let world = World::confined();
    world.refused_with("box.new.project", json!({"dir": "../out"}), Code::OutsideProject, "project root").await;
    world.refused_with("box.new.project", json!({"dir": "/tmp/out"}), Code::OutsideProject, "project root").await;
    std::os::unix::fs::symlink("..", world.path("link")).unwrap();
    world.refused_with("box.new.project", json!({"dir": "link/out"}), Code::OutsideProject, "project root").await;
    world.refused_with("box.validate", json!({"project": ".."}), Code::OutsideProject, "project root").await;
    world.ok("box.new.project", json!({"dir": "in"})).await;
    assert!(!world.root.parent().unwrap().join("out").exists());
}

#[tokio::test]
async fn cw_63_the_version_is_one_line() {
    let world = World::empty();
    assert_eq!(world.shown("version", json!({})).await, pintle_charly::version());
    let answer = world.ok("version", json!({})).await;
    assert_eq!(answer["version"], pintle_charly::version());
}

#[tokio::test]
async fn cw_21_files_and_boxes_are_resources_and_names_complete() {
    use pintle_core::{Call, Reference};
    let world = World::project();
    let call = Call::detached();
    let toolset = pintle_charly::toolset(std::sync::Arc::clone(&world.host));
    let resources = toolset.resources.unwrap();
    let uris: Vec<_> = resources.list(&call).await.unwrap().into_iter().map(|resource| resource.uri).collect();
    assert_eq!(uris, ["charly://project/charly.yml", "charly://project/candy/web-svc/charly.yml", "charly://box/web"]);
    for uri in &uris {
        let contents = resources.read(uri, &call).await.unwrap().unwrap();
        assert_eq!(&contents[0].uri, uri);
    }
    let candy = resources.read("charly://candy/web-svc", &call).await.unwrap().unwrap();
    assert_eq!(candy[0].text.as_deref(), Some(crate::world::CANDY));
    let inspected = resources.read("charly://box/web", &call).await.unwrap().unwrap();
    assert!(inspected[0].text.as_deref().unwrap().contains("quay.io/fedora/fedora:43"));
    for unknown in ["charly://project/../x", "charly://project/secret", "charly://candy/none", "charly://box/none"] {
        assert_eq!(resources.read(unknown, &call).await.unwrap_err().code, Code::NotFound, "{unknown}");
    }
    assert!(resources.read("eggs://config", &call).await.unwrap().is_none());
    let templates: Vec<_> = resources.templates().into_iter().map(|template| template.template).collect();
    assert_eq!(templates, ["charly://box/{name}", "charly://candy/{name}"]);

    let completions = toolset.completions.unwrap();
    let others = serde_json::Map::new();
    let complete = async |reference: Reference, argument: &str, value: &str| {
        completions.complete(&reference, argument, value, &others, &Call::detached()).await
    };
    let names = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
    assert_eq!(complete(Reference::Tool("box.inspect".into()), "box", "w").await, names(&["web"]));
    assert_eq!(complete(Reference::Tool("box.inspect".into()), "box", "x").await, names(&[]));
    assert_eq!(complete(Reference::Tool("candy.add-rpm".into()), "name", "").await, names(&["web-svc"]));
    assert_eq!(complete(Reference::Tool("box.add-candy".into()), "candy", "").await, names(&["web-svc"]));
    assert_eq!(complete(Reference::Prompt("debug-failing-check".into()), "box", "").await, names(&["web"]));
    assert_eq!(complete(Reference::Resource("charly://candy/{name}".into()), "name", "").await, names(&["web-svc"]));
    assert_eq!(complete(Reference::Tool("find_pods".into()), "box", "").await, None, "not ours");
    let prompts: Vec<_> = toolset.prompts.iter().map(|prompt| prompt.name.as_str()).collect();
    assert_eq!(prompts, ["build-from-scratch", "debug-failing-check"]);
    let arguments = json!({"box": "web", "check": "web-svc-config", "purpose": "p"});
    for prompt in &toolset.prompts {
        let messages = (prompt.render)(arguments.as_object().unwrap()).unwrap();
        let pintle_core::Part::Text(text) = &messages[0].part else { panic!("a text") };
        let known: Vec<_> = toolset.tools.iter().map(|tool| tool.spec().name.as_str()).collect();
        for word in text
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|word| word.starts_with("box.") || word.starts_with("candy.add-r"))
        {
            assert!(known.contains(&word), "{} names `{word}`, which is no tool", prompt.name);
        }
    }
}
