//! The resources.

use crate::stage::Stage;
use pintle_core::{Caller, Contents, Door, Failure};
use pintle_dispatch::{Catalog, Silent};
use pintle_pack::toolset;
use pintle_testkit::eggs::{Fault, Orders};
use serde_json::{Value, json};
use std::sync::Arc;

fn reading() -> pintle_dispatch::Request {
    Catalog::reading(Caller { door: Door::Agents, principal: "tester".into() }, Arc::new(Silent))
}

async fn read(stage: &Stage, uri: &str) -> Result<Contents, Failure> {
    stage.catalog.read(uri, &reading()).await.map(|mut all| all.remove(0))
}

async fn text(stage: &Stage, uri: &str) -> String {
    read(stage, uri).await.unwrap().text.unwrap()
}

#[tokio::test]
async fn eg_018_there_are_four_resources_of_plain_text() {
    let stage = Stage::new();
    let listed = stage.catalog.resources(&reading()).await.unwrap();
    let uris: Vec<_> = listed.iter().map(|one| one.uri.as_str()).collect();
    assert_eq!(uris, ["eggs://config", "eggs://exclude-list", "eggs://version", "eggs://status"]);
    assert!(listed.iter().all(|one| one.mime.as_deref() == Some("text/plain")), "{listed:?}");
}

#[tokio::test]
async fn eg_038_s_47_the_configuration_says_which_file_it_is_and_no_password() {
    let stage = Stage::new();
    let none = read(&stage, "eggs://config").await.unwrap_err();
    assert_eq!(none.code.as_str(), "not_found");
    assert!(none.text().contains("penguins-eggs.conf") && none.text().contains("custom.toml"), "{}", none.text());
    let root = stage.installed.root();
    root.write("/etc/penguins-eggs.d/custom.yml", "remaster:\n  user: live\n  password: evolution\n").unwrap();
    let told = text(&stage, "eggs://config").await;
    assert_eq!(told, "# /etc/penguins-eggs.d/custom.yml\nremaster:\n  user: live\n  password: [masked]\n");
    root.write("/etc/penguins-eggs.conf", "a: 1\n").unwrap();
    assert!(text(&stage, "eggs://config").await.starts_with("# /etc/penguins-eggs.conf\n"), "the documented one first");
}

#[tokio::test]
async fn eg_039_s_47_the_exclude_list_is_given_byte_for_byte_or_not_at_all() {
    let stage = Stage::new();
    let path = "/etc/penguins-eggs.d/custom.exclude.list";
    assert_eq!(read(&stage, "eggs://exclude-list").await.unwrap_err().code.as_str(), "not_found");
    let list = "home/*/.cache\r\n# token: x\n\nno end";
    stage.installed.root().write(path, list).unwrap();
    assert_eq!(text(&stage, "eggs://exclude-list").await, list);
    stage.installed.root().write(path, b"caf\xe9\n").unwrap();
    assert_eq!(read(&stage, "eggs://exclude-list").await.unwrap().blob.as_deref(), Some("Y2Fm6Qo="));
    stage.installed.root().write(path, vec![b'x'; 2 << 20]).unwrap();
    assert_eq!(read(&stage, "eggs://exclude-list").await.unwrap_err().code.as_str(), "too_large");
}

#[tokio::test]
async fn eg_040_s_47_the_version_is_what_the_tool_says_and_a_failure_is_one() {
    let stage = Stage::new();
    let reply = stage.call("eggs_version", json!({})).await;
    assert_eq!(json!(text(&stage, "eggs://version").await), reply.answer.unwrap()["stdout"]);
    // Known already, so it is not asked again who it is.
    stage
        .installed
        .order(&Orders::default().fault("version", Fault { exit_code: Some(3), ..Fault::default() }))
        .unwrap();
    let failed = read(&stage, "eggs://version").await.unwrap_err();
    assert!(failed.message.contains("exit status 3"), "{}", failed.message);
}

#[tokio::test]
async fn eg_041_eg_042_status_and_what_is_there_on_request() {
    let stage = Stage::new();
    let told = text(&stage, "eggs://status").await;
    assert_eq!(told.lines().count(), 6, "{told}");
    assert!(told.contains("Distribution: debian\n") && told.contains("Release: 12\nCodename: bookworm\n"), "{told}");
    assert!(read(&stage, "eggs://status.json").await.is_err() && read(&stage, "eggs://nothing").await.is_err());
    let catalog = Catalog::new(vec![toolset(&stage.host, "eggs", true).unwrap()], Default::default()).unwrap();
    let json = catalog.read("eggs://status.json", &reading()).await.unwrap().remove(0).text.unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["family"], &json["live"]), (&json!("debian"), &json!(false)));
    let names: Vec<String> = catalog.names().collect();
    assert_eq!(names.len(), 9);
    let reply = catalog.call(Stage::request("eggs_read", json!({"uri": "eggs://status"}), Door::Agents)).await;
    assert_eq!(reply.view.plain(), told);
}
