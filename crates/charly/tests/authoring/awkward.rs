//! Edits of a file as people really have them: commented, oddly indented, with flow collections, anchors, CRLF, a BOM.

use crate::world::World;
use serde_json::{Value, json};

const MAIN: &str = r#"# Our boxes.   Ask before you touch `base`.
version:   2026.100.0000     # schema

defaults:   {registry: localhost/lab,   tag: auto, build: [ rpm ]}   # flow, with odd blanks


web:          # the front
     box:
          base:    "quay.io/fedora/fedora:43"   # pinned
          candy:   [ web-svc,tools ]            # in order
          env: &common
          - LANG=C.UTF-8
          - 'TZ=UTC'     # quoted

# A second one, two spaces and an unindented list.
api:
  box:
    base: web
    candy:
    - web-svc   # first

    # the tools come last
    - tools
    env: *common
"#;

const CANDY: &str = r#"# Everything about the service.
web-svc:
    candy:
        version: 2026.100.0000
        description: >
            a small web service,
            folded over two lines
        rpm:
            packages:      # keep sorted
                - nginx    # the server
                - openssl
web-svc-config:
    check: "the configuration is there"
    file: /etc/nginx/nginx.conf
    exists: true
"#;

const TOOLS: &str = "tools:\n  candy:\n    version: 2026.100.0000\n    description: tools\n    rpm:\n      packages:\ntools-there:\n  check: there\n  file: /usr/bin/env\n  exists: true\n";

fn world(wrap: impl Fn(&str) -> String) -> World {
    let world = World::empty();
    world.put("charly.yml", wrap(MAIN));
    world.put("candy/web-svc/charly.yml", wrap(CANDY));
    world.put("candy/tools/charly.yml", TOOLS);
    world
}

/// The lines that one call takes away and puts in.
async fn changed(world: &World, tool: &str, arguments: Value, file: &str) -> (Vec<String>, Vec<String>) {
    let before = world.text(file);
    let answer = world.ok(tool, arguments.clone()).await;
    let after = world.text(file);
    assert_eq!(answer["changed"], before != after, "{tool} {arguments}");
    assert_eq!(answer["sha256"], pintle_core::Digest::of(&after).as_str());
    let diff = similar_lines(&before, &after);
    world.assert_valid().await;
    diff
}

/// Lines only in `before` and only in `after`, byte for byte, where everything else must be common and in order.
fn similar_lines(before: &str, after: &str) -> (Vec<String>, Vec<String>) {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let room = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(room).take_while(|(a, b)| a == b).count();
    let own = |lines: &[&str]| lines[head..lines.len() - tail].iter().map(|line| (*line).to_owned()).collect();
    (own(&old), own(&new))
}

fn lines(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[tokio::test]
async fn ch_195_ch_196_cw_30_an_edit_touches_only_its_own_lines() {
    let world = world(str::to_owned);
    let main = "charly.yml";
    for (tool, arguments, file, gone, come) in [
        (
            "box.set",
            json!({"path": "defaults.tag", "value": "v2"}),
            main,
            &["defaults:   {registry: localhost/lab,   tag: auto, build: [ rpm ]}   # flow, with odd blanks\n"][..],
            &["defaults:   {registry: localhost/lab,   tag: v2, build: [ rpm ]}   # flow, with odd blanks\n"][..],
        ),
        (
            "box.set",
            json!({"path": "web.box.base", "value": "scratch"}),
            main,
            &["          base:    \"quay.io/fedora/fedora:43\"   # pinned\n"],
            &["          base:    scratch   # pinned\n"],
        ),
        ("box.rm-candy", json!({"box": "api", "candy": "web-svc"}), main, &["    - web-svc   # first\n"], &[]),
        ("box.add-candy", json!({"box": "api", "candy": "web-svc"}), main, &[], &["    - web-svc\n"]),
        (
            "candy.add-rpm",
            json!({"name": "web-svc", "packages": ["openssl", "curl", "curl"]}),
            "candy/web-svc/charly.yml",
            &[],
            &["                - curl\n"],
        ),
        (
            "candy.add-deb",
            json!({"name": "web-svc", "packages": ["nginx"]}),
            "candy/web-svc/charly.yml",
            &[],
            &["        deb:\n", "            packages:\n", "                - nginx\n"],
        ),
        (
            "candy.set",
            json!({"name": "web-svc", "path": "rpm.packages[0]", "value": "nginx-core"}),
            "candy/web-svc/charly.yml",
            &["                - nginx    # the server\n"],
            &["                - nginx-core    # the server\n"],
        ),
        (
            "box.new.box",
            json!({"name": "db", "base": "web", "candies": ["tools"]}),
            main,
            &[],
            &["db:\n", "     box:\n", "          base: web\n", "          candy: [tools]\n"],
        ),
    ] {
        let told = format!("{tool} {arguments}");
        assert_eq!(changed(&world, tool, arguments, file).await, (lines(gone), lines(come)), "{told}");
    }
}

#[tokio::test]
async fn ch_185_a_second_equal_call_leaves_every_byte() {
    let world = world(str::to_owned);
    for (tool, arguments, file) in [
        ("box.add-candy", json!({"box": "web", "candy": "tools"}), "charly.yml"),
        ("candy.add-rpm", json!({"name": "web-svc", "packages": ["nginx", "openssl"]}), "candy/web-svc/charly.yml"),
        ("box.set", json!({"path": "defaults.build", "value": "[rpm]"}), "charly.yml"),
        ("box.set", json!({"path": "web.box.base", "value": "'quay.io/fedora/fedora:43'"}), "charly.yml"),
        ("box.rm-candy", json!({"box": "web", "candy": "absent"}), "charly.yml"),
    ] {
        assert_eq!(changed(&world, tool, arguments, file).await, (Vec::new(), Vec::new()), "{tool}");
    }
}

#[tokio::test]
async fn ch_195_crlf_a_byte_order_mark_and_a_missing_last_newline_stay() {
    let world = world(|text| format!("\u{feff}{}", text.replace('\n', "\r\n").trim_end()));
    let all_crlf = |text: &str| text.matches('\n').count() == text.matches("\r\n").count();
    let come = changed(&world, "box.rm-candy", json!({"box": "web", "candy": "tools"}), "charly.yml").await.1;
    assert_eq!(come, ["          candy:   [ web-svc ]            # in order\r\n"]);
    let come =
        changed(&world, "candy.add-rpm", json!({"name": "web-svc", "packages": ["curl"]}), "candy/web-svc/charly.yml")
            .await
            .1;
    assert_eq!(come, ["                - curl\r\n"]);
    world.ok("box.new.box", json!({"name": "db", "base": "web"})).await;
    for file in ["charly.yml", "candy/web-svc/charly.yml"] {
        let text = world.text(file);
        assert!(text.starts_with('\u{feff}') && all_crlf(&text) && !text.ends_with('\n'), "{file}: {text:?}");
    }
}

#[tokio::test]
async fn below_an_alias_nothing_is_set_and_an_anchor_in_use_stays() {
    let world = world(str::to_owned);
    let text = world
        .refused_with(
            "box.set",
            json!({"path": "api.box.env[0]", "value": "A=1"}),
            pintle_core::Code::Invalid,
            "*common",
        )
        .await;
    assert!(text.contains("11:16"), "names the anchor's place: {text}");
    world
        .refused_with(
            "box.set",
            json!({"path": "web.box.env", "value": "[A=1]"}),
            pintle_core::Code::Invalid,
            "&common",
        )
        .await;
    let (gone, come) = changed(&world, "box.set", json!({"path": "api.box.env", "value": "[A=1]"}), "charly.yml").await;
    assert_eq!(
        (gone, come),
        (lines(&["    env: *common\n"]), lines(&["    env: [A=1]\n"])),
        "the alias itself is ordinary"
    );
    let come = changed(&world, "box.set", json!({"path": "web.box.env[+]", "value": "A=1"}), "charly.yml").await.1;
    assert_eq!(come, ["          - A=1\n"]);
}
