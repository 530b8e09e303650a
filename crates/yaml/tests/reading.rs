//! What is read, what is refused, and where.

#![expect(clippy::expect_used, reason = "a test that fails may panic")]

use pintle_yaml::{Document, Kind, Layout, Limits, Scalar, Style, Yaml};
use serde_json::json;

fn read(text: &str) -> Document {
    Document::parse(text, Limits::default()).unwrap_or_else(|p| panic!("{p:?}\n{text}"))
}

/// The problems of a text, one a line, hints left out.
fn problems(text: &str) -> Vec<String> {
    problems_within(text, Limits::default())
}

fn problems_within(text: &str, limits: Limits) -> Vec<String> {
    let found = Document::parse(text, limits).expect_err(text);
    found.iter().map(|p| format!("{}: {}", p.place(), p.message)).collect()
}

#[test]
fn readers_find_values_and_places() {
    let text = "\u{feff}version: 2026.100.0000\r\nports: [80, 0x1F, 'a']\r\nwéb:\r\n\
        \u{20}\u{20}on: yes # text in 1.2\r\n\u{20}\u{20}empty:\r\n\u{20}\u{20}ok: true\r\n\
        \u{20}\u{20}rate: 1.10\r\n<<: {x: ~}\r\n";
    let doc = read(text);
    let root = doc.root();
    assert_eq!(doc.text(), text);
    assert_eq!(root.get("version").unwrap().as_str(), Some("2026.100.0000"));
    let web = root.get("wéb").unwrap();
    assert_eq!(web.get("on").unwrap().as_str(), Some("yes"));
    assert_eq!(web.get("ok").unwrap().as_bool(), Some(true));
    let rate = web.get("rate").unwrap();
    assert_eq!((rate.as_f64(), rate.source_text()), (Some(1.1), Some("1.10")));
    assert!(web.get("empty").unwrap().is_null());
    assert_eq!(root.get("<<").unwrap().kind_name(), "map");
    let ports: Vec<_> = root.get("ports").unwrap().items().map(|n| n.scalar().unwrap()).collect();
    assert_eq!(ports, [Scalar::Int(80), Scalar::Int(31), Scalar::Str("a")]);

    let at = |node: pintle_yaml::Node<'_>| node.pos().to_string();
    assert_eq!(at(root), "1:1");
    assert_eq!(at(root.get("version").unwrap()), "1:10");
    assert_eq!(at(root.get("ports").unwrap().items().nth(1).unwrap()), "2:13");
    let (key, value) = root.entry("wéb").unwrap();
    assert_eq!((at(key), at(value)), ("3:1".to_owned(), "4:3".to_owned()));
    assert_eq!(at(web.get("empty").unwrap()), "5:9");
    assert_eq!(
        doc.to_json(),
        json!({"version": "2026.100.0000", "ports": [80, 31, "a"],
            "wéb": {"on": "yes", "empty": null, "ok": true, "rate": 1.1}, "<<": {"x": null}})
    );
}

#[test]
fn spans_are_the_bytes_of_a_node_and_nothing_else() {
    let text = "a: &x !!str  'it''s'   # c\nb: [ 1, {c: d} ]  # c\nl: |  # c\n  t\n\n  u\n\n# c\n\
        k: |+\n  t\n\nf: >-\n  x\n   y\nm:   # c\n  # c\n  n: \"\\\"\" \n  o:\n  - - p # c\n    -  q\n\
        \u{20}\u{20}- r: s\n  t: two\n   words\nu: *x\nv: ! w\n";
    let doc = read(text);
    let span = |path: &str| {
        let node = doc.find(&path.parse().unwrap()).unwrap_or_else(|| panic!("{path}"));
        &text[node.span()]
    };
    for (path, bytes) in [
        ("a", "&x !!str  'it''s'"),
        ("b", "[ 1, {c: d} ]"),
        ("b[1]", "{c: d}"),
        ("b[1].c", "d"),
        ("l", "|  # c\n  t\n\n  u"),
        ("k", "|+\n  t\n"),
        ("f", ">-\n  x\n   y"),
        ("m", "n: \"\\\"\" \n  o:\n  - - p # c\n    -  q\n  - r: s\n  t: two\n   words"),
        ("m.n", "\"\\\"\""),
        ("m.o", "- - p # c\n    -  q\n  - r: s"),
        ("m.o[0]", "- p # c\n    -  q"),
        ("m.o[0][1]", "q"),
        ("m.o[1]", "r: s"),
        ("m.t", "two\n   words"),
        ("u", "*x"),
        ("v", "! w"),
    ] {
        assert_eq!(span(path), bytes, "{path}");
    }
    let node = |path: &str| doc.find(&path.parse().unwrap()).unwrap();
    assert_eq!((node("a").anchor(), node("a").tag()), (Some("x"), Some("tag:yaml.org,2002:str")));
    assert_eq!((node("u").kind(), node("u").alias()), (Kind::Alias, Some("x")));
    assert_eq!(node("u").as_str(), Some("it's"));
    assert_eq!(node("l").as_str(), Some("t\n\nu\n"));
    assert_eq!(node("k").as_str(), Some("t\n\n"));
    assert_eq!((node("b").style(), node("m.o").style()), (Style::Flow, Style::Block));
    assert_eq!(node("v").as_str(), Some("w"));
}

#[test]
fn integers_stay_exact_and_what_json_cannot_hold_becomes_text() {
    let doc = read("a: 18446744073709551615\nb: 123456789012345678901234567890\nc: .inf\nd: -9223372036854775808\n");
    assert_eq!(
        doc.to_json(),
        json!({"a": u64::MAX, "b": "123456789012345678901234567890", "c": ".inf", "d": i64::MIN})
    );
    let big = doc.root().get("b").unwrap();
    assert_eq!(big.scalar(), Some(Scalar::BigInt("123456789012345678901234567890")));
    assert_eq!((big.as_str(), big.kind_name()), (None, "integer"));
    assert_eq!(doc.root().get("a").unwrap().as_u64(), Some(u64::MAX));
    assert_eq!(big.to_yaml(), Yaml::Number("123456789012345678901234567890".to_owned()));
    assert_eq!(read("[1]").root().to_yaml(), Yaml::List(vec![1.into()], Layout::Flow));
}

#[test]
fn a_key_of_a_large_map_is_found_twice_too_wherever_it_stands() {
    let large: String = (0..40).map(|number| format!("k{number}: {number}\n")).collect();
    assert_eq!(
        problems(&format!("{large}k3: x\nk39: y\nnew: 1\nk3: z\nnew: 2\n")),
        [
            "41:1: key `k3` is there twice, also at 4:1",
            "42:1: key `k39` is there twice, also at 40:1",
            "44:1: key `k3` is there twice, also at 4:1",
            "45:1: key `new` is there twice, also at 43:1",
        ]
    );
    let early: String = format!("k0: x\nk0: y\n{large}");
    assert_eq!(problems(&early).len(), 2);
    assert!(problems(&early).iter().all(|problem| problem.ends_with("also at 1:1")), "{:?}", problems(&early));
}

#[test]
fn every_problem_of_a_text_is_found_in_one_go() {
    let text = "a: 1\nb: !thing x\na: 2\nc: {k: 1, \"k\": 2}\n? [x]\n: y\nd: 1e400\n\
        e: !!int x\nf: !!map [1]\n: z\ng: [1, &s 2, *s]\n";
    assert_eq!(
        problems(text),
        [
            "2:4: tag `!thing` is not known",
            "3:1: key `a` is there twice, also at 1:1",
            "4:11: key `k` is there twice, also at 4:5",
            "5:3: a list cannot be a key",
            "7:4: number `1e400` is too large",
            "8:4: `x` is not what its tag `!!int` says",
            "9:4: tag `tag:yaml.org,2002:map` does not fit a list",
            "10:1: a key is missing before the colon",
        ]
    );
}

#[test]
fn syntax_errors_have_a_place_and_advice() {
    for (text, problem) in [
        ("a: 1\n---\nb: 1\n", "2:1: a second document starts here, one is allowed"),
        ("a: 1\n...\nb: 2\n", "3:1: a second document starts here, one is allowed"),
        ("a: [1, 2\nb: 3\n", "2:2: a `:` is not allowed here"),
        ("a: [1, 2\n", "2:1: expected `,` or `]` in a list"),
        ("a: \"x\n", "1:4: a quoted text is not closed"),
        ("ä: b: c\n", "1:5: a `:` is not allowed here"),
        ("- a\nb: 1\n", "2:1: expected `- `"),
        ("a: *x\n", "1:4: alias `*x` names no anchor above it"),
        ("&a b: 1\n*a : 2\n", "2:1: alias `*a` cannot be a key"),
        ("a:\n\t- b\n", "2:2: a tab is not allowed here"),
        ("a: @b\n", "1:4: `@b` cannot start plain text"),
        ("a: 'it's'\n", "1:8: text follows a closing quote"),
        ("a: b\0c\n", "1:5: character U+0000 is not allowed in YAML"),
        ("a: b\u{feff}c\n", "1:5: character U+FEFF is not allowed in YAML"),
        ("a: &x [*x]\n", "1:8: alias `*x` stands inside what it stands for"),
    ] {
        let found = problems(text);
        assert_eq!(found, [problem], "{text:?}");
    }
    let hinted = Document::parse("a: b: c", Limits::default()).unwrap_err();
    assert!(hinted[0].hint.as_deref().is_some_and(|h| h.contains("quotes")));
}

#[test]
fn bytes_that_are_not_utf_8_have_a_place() {
    let found = Document::parse_bytes(b"a: 1\nb\xc3\xa4: \xff\n", Limits::default()).unwrap_err();
    assert_eq!(found[0].to_string(), "2:5: byte 0xff is not UTF-8 (save the file as UTF-8)");
    assert!(Document::parse_bytes("a: ä\n".as_bytes(), Limits::default()).is_ok());
}

#[test]
fn limits_end_bombs_and_deep_and_large_texts() {
    let limits = Limits::default();
    let large = "# filler\n".repeat(50 * 1024 * 1024 / 9 + 1);
    assert_eq!(problems_within(&large, limits), ["1:1: the file has 52428807 bytes, more than 4194304 are refused"]);
    assert!(Document::parse("abc", limits.with_bytes(3)).is_ok());
    assert!(Document::parse("abcd", limits.with_bytes(3)).is_err());

    let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    assert!(Document::parse(&nested(100), limits).is_ok());
    assert_eq!(problems(&nested(101)), ["1:101: nesting deeper than 100 levels"]);
    assert_eq!(problems(&"- ".repeat(1000)), ["1:201: nesting deeper than 100 levels"]);
    let endless = "[".repeat(4_000_000);
    assert_eq!(problems(&endless), ["1:256: brackets are nested too deep"]);

    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..10 {
        let aliases = vec![format!("*a{}", n - 1); 10].join(", ");
        bomb.push_str(&format!("a{n}: &a{n} [{aliases}]\n"));
    }
    let found = problems(&bomb);
    assert_eq!(found, ["5:45: aliases up to here stand for more than 100000 nodes"]);

    let mut chain = "a0: &a0 [x]\n".to_owned();
    for n in 1..200 {
        chain.push_str(&format!("a{n}: &a{n} [*a{}]\n", n - 1));
    }
    assert_eq!(problems(&chain), ["100:12: alias `*a98` nests deeper than 100 levels"]);
}

#[test]
fn an_empty_text_is_null_and_the_project_example_reads() {
    for text in ["", "\u{feff}", "# only\n", "---\n", "--- # c\n...\n"] {
        assert!(read(text).root().is_null(), "{text:?}");
    }
    let text = "version: 2026.100.0000\ndefaults: {registry: localhost/lab, tag: auto, build: [rpm]}\n\
        web:\n  box:\n    base: quay.io/fedora/fedora:43\n    candy: [web-svc]\n";
    assert_eq!(
        read(text).to_json(),
        json!({"version": "2026.100.0000",
            "defaults": {"registry": "localhost/lab", "tag": "auto", "build": ["rpm"]},
            "web": {"box": {"base": "quay.io/fedora/fedora:43", "candy": ["web-svc"]}}})
    );
}

#[test]
fn a_closing_bracket_may_stand_below_its_key() {
    let text = "ä: [\n  \"x\"\n]\nm: {\n}\nr:\n  - [\n    'q', {\n  }\n  ] # c\n  - z\n";
    let doc = read(text);
    assert_eq!(doc.to_json(), json!({"ä": ["x"], "m": {}, "r": [["q", {}], "z"]}));
    let node = |path: &str| &text[doc.find(&path.parse().unwrap()).unwrap().span()];
    assert_eq!(node("m"), "{\n}");
    assert_eq!(node("r[0]"), "[\n    'q', {\n  }\n  ]");
    assert_eq!(node("r[1]"), "z");
}

#[test]
fn many_closing_brackets_below_their_keys_leave_block_text_alone() {
    let mut text = String::new();
    for n in 0..3000 {
        text.push_str(&format!("k{n}: [\n  'x'\n]\nt{n}: |\n  {{\n  }}\n"));
    }
    let doc = read(&text);
    let root = doc.root();
    assert_eq!(root.entries().len(), 6000);
    assert_eq!(root.get("t2999").and_then(|n| n.as_str()), Some("{\n}\n"));
    assert_eq!(root.get("k2999").map(|n| n.pos().line), Some(17995));
    let broken = format!("{text}k: [\n");
    assert_eq!(problems(&broken), ["18002:1: expected a value"]);
}
