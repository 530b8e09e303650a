//! What holds for every text and every edit.

#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

use pintle_yaml::{Document, EditError, Editor, Layout, Limits, Path, Segment, Yaml};
use proptest::prelude::*;

/// A value to write. Layouts are mixed, texts nasty.
fn yaml(depth: u32) -> impl Strategy<Value = Yaml> {
    let leaf = prop_oneof![
        Just(Yaml::Null),
        any::<bool>().prop_map(Yaml::Bool),
        any::<i64>().prop_map(Yaml::from),
        "[0-9]{1,3}\\.[0-9]{1,3}".prop_map(Yaml::Number),
        word().prop_map(Yaml::Text),
        "[a-c :#\\-\\[\\]{},'\"|>&*!%@`\n\t\\\\?]{0,12}".prop_map(Yaml::Text),
        "\\PC{0,8}".prop_map(Yaml::Text),
        "([a-c ]{0,6}\n){1,4}".prop_map(Yaml::Text),
        any::<String>().prop_map(Yaml::Text),
    ];
    leaf.prop_recursive(depth, 24, 4, |inner| {
        let layout = prop_oneof![Just(Layout::Block), Just(Layout::Block), Just(Layout::Flow)];
        prop_oneof![
            (prop::collection::vec(inner.clone(), 0..4), layout.clone())
                .prop_map(|(items, layout)| Yaml::List(items, layout)),
            (entries(inner), layout).prop_map(|(entries, layout)| Yaml::Map(entries, layout)),
        ]
    })
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![Just("yes"), Just("a"), Just("b c"), Just("12:30"), Just("null"), Just("x.y")].prop_map(str::to_owned)
}

fn entries(inner: impl Strategy<Value = Yaml>) -> impl Strategy<Value = Vec<(String, Yaml)>> {
    let key = prop_oneof!["[a-e]{1,2}", word(), "[ :#'\"\\-a\\[?]{1,4}"];
    prop::collection::vec((key, inner), 0..4).prop_map(|mut entries| {
        let mut seen = std::collections::HashSet::new();
        entries.retain(|(key, _)| seen.insert(key.clone()));
        entries
    })
}

/// Files as people leave them: the pieces are joined by line ends of one or two kinds.
fn file() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a: 1",
        "b:   x # c",
        "# comment",
        "",
        "list: [ a , b ]  # c",
        "list: &l [a, {b: 1, c}]",
        "more:\n- x\n-   y # c\n\n- z: 1\n  q: [1]",
        "deep:\n     k:  # c\n       # d\n       - - 1\n         - 2\n       -\n         z: 1\n     m: ~",
        "use: &u\n  v: 'it''s'\nref: *u",
        "text: |\n  one\n\n   two\nfold: >-\n  x\n  y\n",
        "keep: |+\n  t\n\n",
        "flow: {\n  a: 1, # c\n  b: [\n    x,\n  ]\n}",
        "null1:\nnull2: # c",
        "q: \"a\n  b\" # c",
        "empty: []\nemptymap: { }",
        "pair: [x: 1, y]",
        "? odd\n: 1",
        "tagged: !!str 1",
        "last:\n  - a: 1\n    # c\n    b: 2\n  - |-\n    t",
    ]);
    (prop::collection::vec(piece, 1..6), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(pieces, crlf, bom, end)| {
            let mut seen = std::collections::HashSet::new();
            let pieces: Vec<&str> = pieces.into_iter().filter(|p| seen.insert(&p[..p.len().min(4)])).collect();
            let mut text = pieces.join("\n");
            if end {
                text.push('\n');
            }
            if crlf {
                text = text.replace('\n', "\r\n");
            }
            format!("{}{text}", if bom { "\u{feff}" } else { "" })
        },
    )
}

/// Every path that the tree has.
fn paths(doc: &Document) -> Vec<Path> {
    let mut found = vec![Path::default()];
    let mut at = 0;
    while at < found.len() {
        let path = found[at].clone();
        let node = doc.find(&path).unwrap();
        if node.alias().is_none() {
            found.extend(node.entries().map(|(key, _)| path.key(key.key_text())));
            found.extend((0..node.items().len()).map(|index| path.index(index)));
        }
        at += 1;
    }
    found
}

/// The lines that two texts share at the start and at the end are all but the edited ones: what an
/// edit may touch lies within `lines` of the old text, each byte of the others survives in order.
fn survives(before: &str, after: &str, from: usize, to: usize) {
    let (head, tail) = (&before[..from], &before[to..]);
    assert!(after.starts_with(head), "changed before the edit:\n{before}\n---\n{after}");
    let tail = tail.trim_end_matches(['\r', '\n']);
    assert!(after.trim_end_matches(['\r', '\n']).ends_with(tail), "changed behind the edit:\n{before}\n---\n{after}");
}

/// A refusal that has its reason in the text: anchors in use, and block text that keeps the blank
/// lines behind it (`|+`), whose last line end cannot go.
fn is_wanted(error: &EditError, text: &str) -> bool {
    matches!(error, EditError::AnchorInUse { .. } | EditError::BelowAlias { .. })
        || text.contains("|+") && matches!(error, EditError::Unwritable { .. })
}

/// Where what belongs to a path starts at the earliest: its key, or the item before.
fn first_byte(doc: &Document, path: &Path) -> usize {
    let Some((last, upper)) = path.segments().split_last() else { return 0 };
    let parent = Path::from(upper.to_vec());
    let node = doc.find(&parent).unwrap();
    match last {
        Segment::Key(key) => node.entry(key).unwrap().0.span().start,
        Segment::Index(0) => first_byte(doc, &parent),
        Segment::Index(index) => node.items().nth(index - 1).unwrap().span().end,
        _ => 0,
    }
}

/// Start of the line of an offset, and end of it with its line end.
fn lines_of(text: &str, from: usize, to: usize) -> (usize, usize) {
    let start = text[..from].rfind('\n').map_or(0, |at| at + 1);
    let end = text[to..].find('\n').map_or(text.len(), |at| to + at + 1);
    (start, end)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_reads_back(value in yaml(4), in_list in any::<bool>()) {
        let text = if in_list { "k:\n    - 1\nz: 2\n" } else { "k: 1 # c\nz: 2\n" };
        let path = Path::parse(if in_list { "k[0]" } else { "k" }).unwrap();
        let mut editor = Editor::new(text, Limits::default()).unwrap();
        editor.set(&path, &value).unwrap();
        let node = editor.document().find(&path).unwrap();
        prop_assert!(node.to_yaml().same_as(&value), "{}", editor.text());
        // The same edit once more changes nothing.
        let once = editor.text().to_owned();
        prop_assert_eq!(editor.set(&path, &value), Ok(false));
        prop_assert_eq!(editor.text(), once);
    }

    #[test]
    fn edits_touch_only_their_lines(text in file(), value in yaml(2), pick in any::<prop::sample::Index>()) {
        let Ok(mut editor) = Editor::new(&text, Limits::default()) else { return Ok(()) };
        let all = paths(editor.document());
        let path = pick.get(&all);
        let span = editor.document().find(path).unwrap().span();
        let before = editor.document().to_json();
        match editor.set(path, &value) {
            Ok(_) => {
                let found = editor.document().find(path).unwrap().to_yaml();
                prop_assert!(found.same_as(&value), "{}", editor.text());
                let old = Document::parse(&text, Limits::default()).unwrap();
                let (from, to) = lines_of(&text, first_byte(&old, path), span.end);
                survives(&text, editor.text(), from, to);
            }
            Err(error) => {
                prop_assert!(is_wanted(&error, &text), "{error}\n{text}");
                prop_assert_eq!(editor.document().to_json(), before);
            }
        }
    }

    #[test]
    fn deleting_and_adding_back_keep_the_rest(text in file(), pick in any::<prop::sample::Index>()) {
        let Ok(mut editor) = Editor::new(&text, Limits::default()) else { return Ok(()) };
        let all = paths(editor.document());
        let path = pick.get(&all);
        let Some((_, upper)) = path.segments().split_last() else { return Ok(()) };
        let parent = Path::from(upper.to_vec());
        let count = |editor: &Editor| {
            let node = editor.document().find(&parent).unwrap();
            node.items().len() + node.entries().len()
        };
        let (lines, len) = (text.lines().count(), count(&editor));
        match editor.delete(path) {
            Ok(deleted) => {
                prop_assert!(deleted);
                prop_assert_eq!(count(&editor), len - 1);
                prop_assert!(editor.text().lines().count() <= lines);
            }
            Err(error) => prop_assert!(is_wanted(&error, &text), "{error}\n{text}"),
        }
        let len = count(&editor);
        let before = editor.text().to_owned();
        let is_list = editor.document().find(&parent).unwrap().is_sequence();
        let added = parent.join(if is_list { Segment::Append } else { Segment::Key("new key".to_owned()) });
        match editor.set(&added, &Yaml::text("it")) {
            Ok(_) => {
                prop_assert_eq!(count(&editor), len + 1);
                let lines = before.matches('\n').count();
                if lines > 0 && lines == before.matches("\r\n").count() {
                    let after = editor.text();
                    prop_assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
                }
            }
            Err(error) => prop_assert!(is_wanted(&error, &text), "{error}\n{text}"),
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = Document::parse_bytes(&bytes, Limits::default()).map(|doc| doc.to_json());
    }

    #[test]
    fn no_text_like_yaml_makes_it_panic(
        text in "([ab1~] |: |- |\\? |\\[|\\]|\\{|\\}|, |#|&a |\\*a|!|!!str |'|\"|\\||>|\\+|\n|\n |\n  |\t|\r|---|\\.\\.\\.|ä|%){0,24}",
        value in yaml(1),
        pick in any::<prop::sample::Index>(),
    ) {
        let Ok(mut editor) = Editor::new(&text, Limits::default()) else { return Ok(()) };
        for path in paths(editor.document()) {
            let span = editor.document().find(&path).unwrap().span();
            prop_assert!(text.get(span).is_some());
        }
        let path = pick.get(&paths(editor.document())).clone();
        let _ = editor.set(&path, &value);
        let _ = editor.append(&path, &[value]);
        let _ = editor.delete(&path);
    }
}
