//! Edits, told as the whole text before and after.

#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

use pintle_yaml::{EditError, Editor, Limits, Path, Yaml};

fn editor(text: &str) -> Editor {
    Editor::new(text, Limits::default()).unwrap()
}

fn path(text: &str) -> Path {
    Path::parse(text).unwrap()
}

fn value(text: &str) -> Yaml {
    Yaml::parse(text, Limits::default()).unwrap()
}

/// The text after `set`; the value is YAML text.
fn set(text: &str, at: &str, new: &str) -> String {
    let mut editor = editor(text);
    editor.set(&path(at), &value(new)).unwrap_or_else(|e| panic!("{at}: {e}\n{text}"));
    editor.into_text()
}

fn delete(text: &str, at: &str) -> String {
    let mut editor = editor(text);
    editor.delete(&path(at)).unwrap_or_else(|e| panic!("{at}: {e}\n{text}"));
    editor.into_text()
}

fn append(text: &str, at: &str, items: &[&str]) -> String {
    let mut editor = editor(text);
    let items: Vec<Yaml> = items.iter().map(|item| value(item)).collect();
    editor.append(&path(at), &items).unwrap_or_else(|e| panic!("{at}: {e}\n{text}"));
    editor.into_text()
}

fn refused(text: &str, edit: impl FnOnce(&mut Editor) -> Result<bool, EditError>) -> EditError {
    let mut editor = editor(text);
    let error = edit(&mut editor).unwrap_err();
    assert_eq!(editor.text(), text, "a refused edit leaves the text");
    error
}

/// Lines of `after` that are not in `before` at their place, and the other way round.
fn changed_lines<'t>(before: &'t str, after: &'t str) -> (Vec<&'t str>, Vec<&'t str>) {
    let (before, after): (Vec<_>, Vec<_>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let same = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
    let tail = before[same..].iter().rev().zip(after[same..].iter().rev());
    let tail = tail.take_while(|(a, b)| a == b).count();
    (before[same..before.len() - tail].to_vec(), after[same..after.len() - tail].to_vec())
}

/// Comments, odd indentation, brackets over several lines, anchors, CRLF, a BOM, no final line end.
const PROJECT_LINES: &str = r#"# top comment
version: 2026.100.0000   # CalVer
defaults: &defaults {registry: localhost/lab, tag: 'auto', build: [rpm]}


web:   # the front
      box:
          # where it starts
          base:   "quay.io/fedora/fedora:43"
          candy: [ web-svc , tls ]   # in order
          distro:
          - fedora   # first

          - "rhel"
          env: [
            A=1,   # one
            B=2
          ]
          text: |
            kept   
              as is

          packages:   # none yet
          folded: >-
            some
            words
other:
  box: *defaults
# the end"#;

fn project() -> String {
    format!("\u{feff}{}", PROJECT_LINES.replace('\n', "\r\n"))
}

#[test]
fn ch_195_ch_196_cw_30_only_the_edited_lines_change() {
    for (at, new, old_lines, new_lines) in [
        (
            "version",
            "2026.200.0000",
            vec!["version: 2026.100.0000   # CalVer\r\n"],
            vec!["version: 2026.200.0000   # CalVer\r\n"],
        ),
        (
            "web.box.base",
            "scratch",
            vec!["          base:   \"quay.io/fedora/fedora:43\"\r\n"],
            vec!["          base:   scratch\r\n"],
        ),
        (
            "web.box.candy[+]",
            "proxy",
            vec!["          candy: [ web-svc , tls ]   # in order\r\n"],
            vec!["          candy: [ web-svc , tls, proxy ]   # in order\r\n"],
        ),
        ("web.box.distro[+]", "debian", vec![], vec!["          - debian\r\n"]),
        ("web.box.env[+]", "C=3", vec!["            B=2\r\n"], vec!["            B=2,\r\n", "            C=3\r\n"]),
        (
            "defaults.tag",
            "v1",
            vec!["defaults: &defaults {registry: localhost/lab, tag: 'auto', build: [rpm]}\r\n"],
            vec!["defaults: &defaults {registry: localhost/lab, tag: v1, build: [rpm]}\r\n"],
        ),
        (
            "web.box.packages",
            "[nginx]",
            vec!["          packages:   # none yet\r\n"],
            vec!["          packages: [nginx]   # none yet\r\n"],
        ),
        ("web.box.uid", "1000", vec![], vec!["          uid: 1000\r\n"]),
        ("db", "{box: {base: scratch}}", vec![], vec!["db: {box: {base: scratch}}\r\n"]),
        (
            "web.box.folded",
            "short",
            vec!["          folded: >-\r\n", "            some\r\n", "            words\r\n"],
            vec!["          folded: short\r\n"],
        ),
        ("other.box", "scratch", vec!["  box: *defaults\r\n"], vec!["  box: scratch\r\n"]),
        (
            "web.box.text",
            "new",
            vec!["          text: |\r\n", "            kept   \r\n", "              as is\r\n"],
            vec!["          text: new\r\n"],
        ),
    ] {
        let before = project();
        let after = set(&before, at, new);
        assert_eq!(changed_lines(&before, &after), (old_lines, new_lines), "{at}");
    }
}

#[test]
fn ch_195_deleting_takes_only_its_lines() {
    for (at, gone) in [
        ("version", vec!["version: 2026.100.0000   # CalVer\r\n"]),
        ("web.box.base", vec!["          base:   \"quay.io/fedora/fedora:43\"\r\n"]),
        ("web.box.packages", vec!["          packages:   # none yet\r\n"]),
        ("web.box.distro[0]", vec!["          - fedora   # first\r\n"]),
        ("web.box.distro[1]", vec!["          - \"rhel\"\r\n"]),
        ("web.box.env[0]", vec!["            A=1,   # one\r\n"]),
        ("other", vec!["other:\r\n", "  box: *defaults\r\n"]),
    ] {
        let before = project();
        let after = delete(&before, at);
        assert_eq!(changed_lines(&before, &after), (gone, vec![]), "{at}");
    }
}

#[test]
fn what_changes_nothing_gives_the_same_bytes() {
    for (at, same) in [
        ("version", "2026.100.0000"),
        ("web.box.base", "quay.io/fedora/fedora:43"),
        ("web.box.candy", "[web-svc, tls]"),
        ("web.box.packages", "~"),
        ("defaults", "{build: [rpm], registry: localhost/lab, tag: auto}"),
        ("other.box", "{registry: localhost/lab, tag: auto, build: [rpm]}"),
    ] {
        let mut editor = editor(&project());
        assert_eq!(editor.set(&path(at), &value(same)), Ok(false), "{at}");
        assert_eq!(editor.text(), project());
    }
    let mut editor = editor(&project());
    assert_eq!(editor.delete(&path("web.box.none")), Ok(false));
    assert_eq!(editor.append(&path("web.box.candy"), &[]), Ok(false));
    assert_eq!(editor.remove_item(&path("web.box.candy"), &Yaml::text("none")), Ok(false));
    assert_eq!(editor.text(), project());
}

#[test]
fn ch_184_missing_maps_are_made_and_scalars_and_lists_refuse_keys() {
    assert_eq!(set("a: 1\n", "b.c.d", "2"), "a: 1\nb:\n  c:\n    d: 2\n");
    assert_eq!(set("a:\n    b: 1\n", "c.d", "2"), "a:\n    b: 1\nc:\n    d: 2\n");
    assert_eq!(set("a: # todo\n", "a.b", "2"), "a: # todo\n  b: 2\n");
    assert_eq!(set("a: ~ # todo\nb: 1\n", "a.b", "2"), "a: # todo\n  b: 2\nb: 1\n");
    assert_eq!(set("a: {}\n", "a.b.c", "2"), "a: {b: {c: 2}}\n");
    assert_eq!(set("", "a.b", "2"), "a:\n  b: 2\n");
    assert_eq!(set("# only\n", "a", "2"), "# only\na: 2\n");
    assert_eq!(set("# only", "a", "2"), "# only\na: 2");

    let error = refused("a:\n  b: 1\n", |e| e.set(&path("a.b.c"), &value("2")));
    assert_eq!(
        error.problem().to_string(),
        "2:6: `a.b` is an integer, not a map (set it to a map first, or use another path)"
    );
    let error = refused("a: [x]\n", |e| e.set(&path("a.c"), &value("2")));
    assert_eq!(
        error.problem().to_string(),
        "1:4: `a` is a list, not a map (address an item with \
        `[0]`, `[name=x]` or `[+]`, or set the whole list)"
    );
    let error = refused("a: {b: 1}\n", |e| e.set(&path("a[0]"), &value("2")));
    assert!(matches!(error, EditError::NotAList { .. }), "{error}");
    let error = refused("a: [x]\n", |e| e.set(&path("a[1]"), &value("2")));
    assert_eq!(error.to_string(), "`a[1]` is not there; the list has 1 items");
}

#[test]
fn cw_31_quoted_keys_and_list_items_are_set_and_deleted() {
    let text = "web:\n  \"a.b\": 1\n  env:\n    - name: HOME\n      value: /\n    - name: x.y\n      value: 2\n";
    assert_eq!(set(text, "web.\"a.b\"", "3"), text.replace("1", "3"));
    assert_eq!(set(text, "web.env[name=x.y].value", "3"), text.replace("value: 2", "value: 3"));
    assert_eq!(set(text, "web.env[0].value", "/root"), text.replace("/\n", "/root\n"));
    assert_eq!(set(text, "web.env[+].name", "Z"), format!("{text}    - name: Z\n"));
    assert_eq!(delete(text, "web.env[name=HOME].name"), text.replace("name: HOME\n      ", ""));
    assert_eq!(delete(text, "web.env[name=HOME].value"), text.replace("      value: /\n", ""));
    assert_eq!(delete(text, "web.env[name=HOME]"), text.replace("    - name: HOME\n      value: /\n", ""));
    let twice = "a: [{n: 1}, {n: 1}]\n";
    let error = refused(twice, |e| e.delete(&path("a[n=1]")));
    assert_eq!(error.to_string(), "`a[n=1]` fits several items, also the one at 1:13");
    let error = refused(twice, |e| e.set(&path("a[n=2].m"), &value("2")));
    assert!(matches!(error, EditError::NoItem { .. }), "{error}");
}

#[test]
fn lists_grow_where_they_are_in_the_form_they_have() {
    assert_eq!(append("a: []\n", "a", &["x"]), "a: [x]\n");
    assert_eq!(append("a: [ ]  # c\n", "a", &["x", "p"]), "a: [x, p]  # c\n");
    assert_eq!(append("a: [x,]\n", "a", &["p"]), "a: [x, p,]\n");
    assert_eq!(append("a: [x, # c\n  p] # d\n", "a", &["z"]), "a: [x, # c\n  p, z] # d\n");
    assert_eq!(append("a: [\n  x,\n]\n", "a", &["p", "z"]), "a: [\n  x,\n  p,\n  z,\n]\n");
    assert_eq!(append("a: [\n  x # c\n]\n", "a", &["p"]), "a: [\n  x, # c\n  p\n]\n");
    assert_eq!(append("a: [ # c\n]\n", "a", &["p"]), "a: [p # c\n]\n");
    assert_eq!(append("a:\n- x\nb: 1\n", "a", &["p"]), "a:\n- x\n- p\nb: 1\n");
    assert_eq!(append("a:\n    - x   # c\n", "a", &["p"]), "a:\n    - x   # c\n    - p\n");
    assert_eq!(append("a:\n  - x", "a", &["p"]), "a:\n  - x\n  - p");
    assert_eq!(append("a:   # c\nb: 1\n", "a", &["p"]), "a:   # c\n  - p\nb: 1\n");
    assert_eq!(append("l:\n- 1\na:\n", "a", &["p"]), "l:\n- 1\na:\n- p\n");
    assert_eq!(append("l: 1\n", "a.b", &["p"]), "l: 1\na:\n  b:\n    - p\n");
    assert_eq!(append("a:\n  -\n", "a", &["p"]), "a:\n  -\n  - p\n");
    assert_eq!(append("- - x\n  - p\n- z\n", "[0]", &["q"]), "- - x\n  - p\n  - q\n- z\n");
    assert_eq!(
        append("a:\n  - x: |\n      t\n\n  # next\nb: 1\n", "a", &["{p: 1, z: [2]}"]),
        "a:\n  - x: |\n      t\n  - {p: 1, z: [2]}\n\n  # next\nb: 1\n"
    );
    assert_eq!(append("a:\n  - x\n", "a", &["p: 1\nz:\n  - 2\n"]), "a:\n  - x\n  - p: 1\n    z:\n      - 2\n");
    assert_eq!(append("a:\n  - |+\n    t\n\nb: 1\n", "a", &["p"]), "a:\n  - |+\n    t\n\n  - p\nb: 1\n");
}

#[test]
fn the_last_one_leaves_brackets() {
    assert_eq!(delete("a:\n  - x\nb: 1\n", "a[0]"), "a: []\nb: 1\n");
    assert_eq!(delete("a:  # c\n- x\n", "a[0]"), "a: []  # c\n");
    assert_eq!(delete("a: [x]\n", "a[0]"), "a: []\n");
    assert_eq!(delete("a:\n  b:\n    c: 1\nd: 2\n", "a.b.c"), "a:\n  b: {}\nd: 2\n");
    assert_eq!(delete("a: {b: 1} # c\n", "a.b"), "a: {} # c\n");
    assert_eq!(delete("# top\na: 1\n", "a"), "# top\n{}\n");
    assert_eq!(delete("a: 1", "a"), "{}");
    assert_eq!(delete("- a: 1\n- b\n", "[0].a"), "- {}\n- b\n");
    assert_eq!(delete("a: &x\n  b: 1\nc: *x\n", "a.b"), "a: &x {}\nc: *x\n");
    assert_eq!(delete("a: [b: 1, c]\n", "a[0].b"), "a: [{}, c]\n");
    assert_eq!(delete("a:\n  # c\n  - x", "a[0]"), "a: []\n  # c");
}

#[test]
fn items_leave_brackets_with_their_comma() {
    assert_eq!(delete("a: [x, p, z]\n", "a[0]"), "a: [p, z]\n");
    assert_eq!(delete("a: [x, p, z]\n", "a[1]"), "a: [x, z]\n");
    assert_eq!(delete("a: [x, p, z]\n", "a[2]"), "a: [x, p]\n");
    assert_eq!(delete("a: [ x , p ]\n", "a[1]"), "a: [ x ]\n");
    assert_eq!(delete("a: [x, p,]\n", "a[1]"), "a: [x,]\n");
    assert_eq!(delete("a: [\n  x, # one\n  p # two\n]\n", "a[1]"), "a: [\n  x # one\n]\n");
    assert_eq!(delete("a: [\n  x,\n  p,\n]\n", "a[1]"), "a: [\n  x,\n]\n");
    assert_eq!(delete("a: [x, p,\n  z]\n", "a[1]"), "a: [x,\n  z]\n");
    assert_eq!(delete("a: {x: 1, p: , z}\n", "a.p"), "a: {x: 1, z}\n");
    assert_eq!(delete("a: {x: 1, p: , z}\n", "a.z"), "a: {x: 1, p:}\n");
}

#[test]
fn values_change_their_kind_in_place() {
    assert_eq!(set("a: 1 # c\nb: 2\n", "a", "- x\n- p"), "a: # c\n  - x\n  - p\nb: 2\n");
    assert_eq!(set("a: 1 # c\nb: 2\n", "a", "x: 1\np: {z: 1}"), "a: # c\n  x: 1\n  p: {z: 1}\nb: 2\n");
    assert_eq!(set("a:\n  # c\n  - x\n  - p # d\nb: 2\n", "a", "z"), "a: z\n  # c\nb: 2\n");
    assert_eq!(set("a:\n- x\nb: 2\n", "a", "c: 1"), "a:\n  c: 1\nb: 2\n");
    assert_eq!(set("a: [x, p] # c\n", "a", "- z"), "a: [z] # c\n");
    assert_eq!(set("a: |  # c\n  t\n  u\nb: 2\n", "a", "x"), "a: x  # c\nb: 2\n");
    assert_eq!(set("a: |  # c\n  t\n  u\nb: 2\n", "a", "- x"), "a:  # c\n  - x\nb: 2\n");
    assert_eq!(set("a: x # c\nb: 2\n", "a", "\"t\\nu\\n\""), "a: | # c\n  t\n  u\nb: 2\n");
    assert_eq!(set("a: |\n  x\n  p\nb: 2\n", "a", "\"t\\nu\""), "a: |-\n  t\n  u\nb: 2\n");
    assert_eq!(set("a: x", "a", "\"t\\nu\\n\""), "a: \"t\\nu\\n\"");
    assert_eq!(set("a:\n  \"long\n  text\"\nb: 2\n", "a", "x"), "a: x\nb: 2\n");
    assert_eq!(set("- a\n- b # c\n", "[1]", "x: 1\np: 2"), "- a\n- x: 1 # c\n  p: 2\n");
    assert_eq!(set("-   x: 1\n    p: 2\n- b\n", "[0]", "s"), "-   s\n- b\n");
    assert_eq!(set("-\n- b\n", "[0]", "x: 1\np: 2"), "- x: 1\n  p: 2\n- b\n");
    assert_eq!(set("a: {b, c: }\n", "a.b", "1"), "a: {b: 1, c: }\n");
    assert_eq!(set("a: {b, c: }\n", "a.c", "[1]"), "a: {b, c: [1] }\n");
    assert_eq!(set("a: [b: 1]\n", "a[0].c", "2"), "a: [{b: 1, c: 2}]\n");
    assert_eq!(set("a: {\n  b: 1\n}\n", "a.c", "2"), "a: {\n  b: 1,\n  c: 2\n}\n");
    assert_eq!(set("a: !!str 1\n", "a", "x"), "a: x\n");
    assert_eq!(set("--- # doc\na: 1\n...\n", "b", "2"), "--- # doc\na: 1\nb: 2\n...\n");
}

#[test]
fn equal_parts_of_a_replaced_list_or_map_stay_untouched() {
    let text = "a:\n  # one\n  x: 1 # c\n\n  p: [1, 2]\n  z: 3\nb: 2\n";
    assert_eq!(
        set(text, "a", "{p: [1, 2, 3], x: 1, w: 4}"),
        "a:\n  # one\n  x: 1 # c\n\n  p: [1, 2, 3]\n  w: 4\nb: 2\n"
    );
    let list = "a:\n  - x # one\n  # two\n  - p\n  - z\n";
    assert_eq!(set(list, "a", "[x, z]"), "a:\n  - x # one\n  # two\n  - z\n");
    assert_eq!(set(list, "a", "[x, p, q]"), "a:\n  - x # one\n  # two\n  - p\n  - q\n");
    assert_eq!(set(list, "a", "[x, p, z, q]"), format!("{list}  - q\n"));
}

#[test]
fn remove_item_takes_every_equal_item() {
    let mut editor = editor("a: [x, p, x] # c\nb:\n- x\n");
    assert_eq!(editor.remove_item(&path("a"), &Yaml::text("x")), Ok(true));
    assert_eq!(editor.remove_item(&path("b"), &Yaml::text("x")), Ok(true));
    assert_eq!(editor.remove_item(&path("c"), &Yaml::text("x")), Ok(false));
    assert_eq!(editor.text(), "a: [p] # c\nb: []\n");
}

#[test]
fn aliases_and_anchors_keep_their_meaning() {
    let text = "base: &b\n  x: 1\nlist: &l [1]\nuse: *b\nmore: [*l, 2]\n";
    let error = refused(text, |e| e.set(&path("use.x"), &value("2")));
    assert_eq!(
        error.problem().to_string(),
        "4:6: `use` is the alias `*b`; its content stands at \
        1:7 (edit the content at its anchor, or replace the alias itself)"
    );
    let error = refused(text, |e| e.append(&path("more[0]"), &[value("2")]));
    assert!(matches!(error, EditError::BelowAlias { .. }), "{error}");
    let error = refused(text, |e| e.set(&path("base"), &value("1")));
    assert_eq!(
        error.problem().to_string(),
        "1:7: anchor `&b` is in use by an alias at 4:6 (replace the aliases first)"
    );
    let error = refused(text, |e| e.delete(&path("list")));
    assert!(matches!(error, EditError::AnchorInUse { .. }), "{error}");

    assert_eq!(set(text, "use", "3"), text.replace("use: *b", "use: 3"));
    assert_eq!(set(text, "more[0]", "3"), text.replace("*l, 2", "3, 2"));
    assert_eq!(set(text, "base.x", "2"), text.replace("x: 1", "x: 2"));
    assert_eq!(append(text, "list", &["2"]), text.replace("[1]", "[1, 2]"));
    assert_eq!(delete(text, "use"), text.replace("use: *b\n", ""));
    // An anchor that nothing uses may go, and so may one whose aliases go along.
    assert_eq!(set("a: &x 1\nb: 2\n", "a", "3"), "a: 3\nb: 2\n");
    assert_eq!(delete("a:\n  b: &x 1\n  c: *x\nd: 2\n", "a"), "d: 2\n");
}

#[test]
fn an_edit_that_cannot_be_exact_is_refused() {
    // The aliased name is used again below: deleting the second anchor would rebind the alias.
    let text = "a: &x 1\nb: &x 2\nc: *x\n";
    let error = refused(text, |e| e.delete(&path("b")));
    assert!(matches!(error, EditError::AnchorInUse { .. }), "{error}");
    let error = refused("a: 1\n", |e| e.delete(&path("[+]")));
    assert!(matches!(error, EditError::NotAList { .. }), "{error}");
    let error = refused("a: [1]\n", |e| e.delete(&path("a[+]")));
    assert!(matches!(error, EditError::Unfit { .. }), "{error}");
    let error = refused("a: 1\n", |e| e.delete(&Path::default()));
    assert!(matches!(error, EditError::Unfit { .. }), "{error}");
    // A key that is there twice in the new value.
    let twice = Yaml::map([("k", Yaml::Null), ("k", Yaml::Null)]);
    let error = refused("a: 1\n", |e| e.set(&path("b"), &twice));
    assert!(error.to_string().contains("key `k` is there twice"), "{error}");
    let error = refused("a: 1\n", |e| e.set(&path("b"), &Yaml::Number("x: y".to_owned())));
    assert!(matches!(error, EditError::Unwritable { .. }), "{error}");
}

#[test]
fn texts_that_other_readers_take_for_something_else_are_quoted() {
    for (text, written) in [
        ("yes", "\"yes\""),
        ("12:30", "\"12:30\""),
        ("0777", "\"0777\""),
        ("2026-11-30", "\"2026-11-30\""),
        ("2026.100.0000", "2026.100.0000"),
        ("@h/x:v", "\"@h/x:v\""),
        ("a\tb", "\"a\\tb\""),
        ("", "\"\""),
    ] {
        let mut editor = editor("a: 1\n");
        editor.set(&path("a"), &Yaml::text(text)).unwrap();
        assert_eq!(editor.text(), format!("a: {written}\n"));
        assert_eq!(editor.document().root().get("a").unwrap().as_str(), Some(text));
    }
    let mut editor = editor("a: 1\n");
    editor.set(&Path::of_keys(["on"]), &Yaml::from(true)).unwrap();
    editor.set(&Path::of_keys(["v"]), &value("1.10")).unwrap();
    editor.set(&Path::of_keys(["big"]), &value("123456789012345678901234567890")).unwrap();
    assert_eq!(editor.text(), "a: 1\n\"on\": true\nv: 1.10\nbig: 123456789012345678901234567890\n");
}

#[test]
fn a_comma_behind_the_last_entry_is_no_end_of_the_map() {
    let spread = "{\n  a: {x: 1, y: 2,},  # why\n  b: [3, 4,],\n}\n";
    assert_eq!(set(spread, "c", "5"), "{\n  a: {x: 1, y: 2,},  # why\n  b: [3, 4,],\n  c: 5,\n}\n");
    assert_eq!(delete(spread, "a"), "{\n  b: [3, 4,],\n}\n");
    assert_eq!(set(spread, "a", "6"), "{\n  a: 6,  # why\n  b: [3, 4,],\n}\n");
    let block = "web:\n  env: {\n    A: 1, # one\n    # none\n  }\nend: 1\n";
    assert_eq!(delete(block, "web.env"), "web: {}\nend: 1\n");
    assert_eq!(set(block, "web.tag", "x"), "web:\n  env: {\n    A: 1, # one\n    # none\n  }\n  tag: x\nend: 1\n");
    assert_eq!(set(block, "web.env", "[1]"), "web:\n  env: [1]\nend: 1\n");
}
