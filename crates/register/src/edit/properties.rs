//! Over random files of every format: an edit changes nothing outside our entry.

use super::{BOM, Spot, find, put, take_out};
use crate::clients::Format;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const JSON: Spot<'static> = Spot { format: Format::Jsonc, container: &["mcpServers"], name: "pintle", listed: false };
const DEEP: Spot<'static> =
    Spot { format: Format::Jsonc, container: &["mcp", "servers"], name: "pintle", listed: false };
const TOML: Spot<'static> = Spot { format: Format::Toml, container: &["mcp_servers"], name: "pintle", listed: false };
const YAML: Spot<'static> = Spot { format: Format::Yaml, container: &["extensions"], name: "pintle", listed: false };
const LIST: Spot<'static> = Spot { format: Format::Yaml, container: &["mcpServers"], name: "pintle", listed: true };

fn entry() -> Map<String, Value> {
    let entry = json!({"name": "pintle", "command": "/bin/p", "args": ["mcp", "serve"]});
    entry.as_object().unwrap().clone()
}

/// What is neither blank nor comma, with what our entry may bring of its own left out of account: what is left of the
/// new text when the old one is taken out of it in order.
fn kept_in_order(old: &str, new: &str) -> Result<String, String> {
    let mut added = String::new();
    let mut rest = new.chars();
    for wanted in old.chars() {
        loop {
            match rest.next() {
                Some(found) if found == wanted => break,
                Some(other) => added.push(other),
                None => return Err(format!("{wanted:?} of the old text is gone")),
            }
        }
    }
    added.extend(rest);
    Ok(added)
}

/// Puts the entry in and takes it out, and looks at what stays.
fn holds(text: &str, spot: &Spot<'_>) -> Result<(), TestCaseError> {
    let Ok(new) = put(text, spot, &entry(), "") else {
        return Err(TestCaseError::fail(format!("refused: {:?}", put(text, spot, &entry(), ""))));
    };
    let found = find(&new, spot).map_err(|refusal| TestCaseError::fail(refusal.to_string()))?;
    prop_assert_eq!(found, Some(Value::Object(entry())));
    // An empty container may open: what stood between its braces were blanks.
    let tight = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    // A null in the place of the container is the one thing that is replaced.
    let nulled = ("\"mcpServers\": null", "\"mcpServers\": {}");
    let text = &if spot.container == JSON.container { text.replace(nulled.0, nulled.1) } else { text.to_owned() };
    let opened =
        ["\"mcpServers\":{}", "extensions:{}", "mcpServers:[]"].iter().any(|empty| tight(text).contains(empty))
            || tight(text).trim_start_matches(BOM).starts_with("{}")
            || text.contains("mcp_servers = {}");
    if opened {
        kept_in_order(&tight(text), &tight(&new)).map_err(TestCaseError::fail)?;
    } else {
        kept_in_order(text, &new).map_err(TestCaseError::fail)?;
    }
    prop_assert_eq!(text.starts_with(BOM), new.starts_with(BOM));
    prop_assert_eq!(put(&new, spot, &entry(), "").ok(), Some(new.clone()));
    let back = take_out(&new, spot).map_err(|refusal| TestCaseError::fail(format!("{refusal}\n{new}")))?;
    let back = back.ok_or_else(|| TestCaseError::fail("it was not there"))?;
    prop_assert_eq!(find(&back, spot).ok(), Some(None));
    // What is left is the old text, but for an empty container.
    kept_in_order(&tight(text), &tight(&back))
        .or_else(|_| kept_in_order(&tight(&back), &tight(text)))
        .map_err(TestCaseError::fail)?;
    Ok(())
}

/// Every line of the old text that does not touch the container is in the new one, byte for byte.
fn lines_stay(text: &str, new: &str, touched: &[&str]) -> Result<(), TestCaseError> {
    for line in text.split_inclusive('\n').filter(|line| !touched.iter().any(|word| line.contains(word))) {
        let bare = line.trim_end_matches(['\n', '\r']);
        prop_assert!(new.contains(bare), "{line:?} is gone from {new:?}");
    }
    Ok(())
}

fn blank() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just(String::new()),
        4 => Just(" ".to_owned()),
        3 => Just("\n  ".to_owned()),
        1 => Just("\r\n\t".to_owned()),
        1 => Just(" // a \"comment\" }{,\n".to_owned()),
        1 => Just("/* one, {\n two */".to_owned()),
    ]
}

fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        "-?[1-9][0-9]{0,30}(\\.[0-9]{1,9})?(e[+-]?[0-9]{1,2})?",
        "[a-z<>&/é{}\\[\\],:]{0,8}".prop_map(|text| format!("\"{text}\"")),
        Just("\"\\u003c\\\"\\\\\"".to_owned()),
    ]
}

fn json_value() -> impl Strategy<Value = String> {
    scalar().prop_recursive(3, 24, 4, |inner| {
        let members = prop::collection::vec(("[a-zé. ]{0,6}", inner.clone(), blank(), blank(), blank()), 0..4);
        let items = prop::collection::vec((inner, blank(), blank()), 0..4);
        prop_oneof![
            (members, any::<bool>(), blank()).prop_map(|(members, comma, end)| object(&members, comma, &end)),
            (items, any::<bool>(), blank()).prop_map(|(items, comma, end)| {
                let all: Vec<String> = items.iter().map(|(item, a, b)| format!("{a}{item}{b}")).collect();
                let comma = if comma && !all.is_empty() { "," } else { "" };
                format!("[{}{comma}{end}]", all.join(","))
            }),
        ]
    })
}

fn object(members: &[(String, String, String, String, String)], comma: bool, end: &str) -> String {
    let all: Vec<String> =
        members.iter().map(|(key, value, a, b, c)| format!("{a}\"{key}\"{b}:{c}{value}{b}")).collect();
    let comma = if comma && !all.is_empty() { "," } else { "" };
    format!("{{{}{comma}{end}}}", all.join(","))
}

/// Members with the container among them, which is absent, null, empty or full.
fn json_file() -> impl Strategy<Value = (String, bool)> {
    let member = || ("[b-zé]{1,6}", json_value(), blank(), blank(), blank());
    let container = prop_oneof![
        Just(None),
        Just(Some("null".to_owned())),
        (prop::collection::vec(member(), 0..3), any::<bool>(), blank())
            .prop_map(|(members, comma, end)| Some(object(&members, comma, &end))),
    ];
    (
        prop::collection::vec(member(), 0..4),
        container,
        any::<prop::sample::Index>(),
        any::<bool>(),
        blank(),
        any::<bool>(),
    )
        .prop_map(|(mut members, container, at, comma, end, bom)| {
            let there = container.is_some();
            if let Some(container) = container {
                let at = at.index(members.len() + 1);
                members.insert(at, ("mcpServers".to_owned(), container, end.clone(), String::new(), " ".to_owned()));
            }
            let bom = if bom { BOM.to_string() } else { String::new() };
            (format!("{bom}{end}{}{end}", object(&members, comma, &end)), there)
        })
}

fn toml_file() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        Just("'a # b'".to_owned()),
        Just("\"\\u00e9\"".to_owned()),
        Just("1_000".to_owned()),
        Just("[ 1,\n  2, # two\n]".to_owned()),
        Just("{ x = 1, y.z = [] }".to_owned()),
        Just("1979-05-27T07:32:00Z".to_owned()),
        Just("0xff".to_owned()),
        Just("inf".to_owned()),
    ];
    let tail = prop_oneof![Just(""), Just(" # note"), Just("\n\n# more")];
    let line = (value, tail);
    let lines = || prop::collection::vec(line.clone(), 0..4);
    let servers = prop_oneof![
        Just(String::new()),
        Just("mcp_servers = {}\n".to_owned()),
        Just("mcp_servers = { a = { command = 'x' }, } # in\n".to_owned()),
        Just("mcp_servers.a.command = 'x'\n".to_owned()),
        Just("\n[mcp_servers]\n".to_owned()),
        Just("\n[mcp_servers.a] # in\ncommand = 'x'\n\n[mcp_servers.a.env]\nk = 'v'\n".to_owned()),
    ];
    (lines(), servers, lines(), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(first, servers, second, crlf, bom, ends)| {
            let mut text = String::new();
            for (index, (value, tail)) in first.iter().enumerate() {
                text.push_str(&format!("k{index} = {value}{tail}\n"));
            }
            text.push_str(&servers);
            text.push_str("\n[other]\n");
            for (index, (value, tail)) in second.iter().enumerate() {
                text.push_str(&format!("  k{index} = {value}{tail}\n"));
            }
            if !ends {
                text.truncate(text.trim_end().len());
            }
            let text = if crlf { text.replace('\n', "\r\n") } else { text };
            if bom { format!("{BOM}{text}") } else { text }
        },
    )
}

fn yaml_file(list: bool) -> impl Strategy<Value = String> {
    let value = prop_oneof![
        Just("1.10"),
        Just("'it''s'"),
        Just("\"q\\n\""),
        Just("[a, {b: c}]"),
        Just("|\n  block\n  text"),
        Just("~"),
        Just("yes # a word"),
        Just("&anchor x"),
    ];
    let lines = prop::collection::vec((value, prop_oneof![Just(""), Just("\n# note\n"), Just("\n")]), 0..4);
    let servers = if list {
        prop::sample::select(vec![
            "",
            "mcpServers:\n  - name: a # one\n    command: x\n",
            "mcpServers: []\n",
            "mcpServers:\n- {name: b, command: y}\n",
        ])
    } else {
        prop::sample::select(vec![
            "",
            "extensions:\n  a: # one\n    cmd: x\n",
            "extensions: {}\n",
            "extensions: {b: {cmd: y}}\n",
            "extensions:\n",
        ])
    };
    (lines, servers, any::<bool>(), any::<bool>()).prop_map(|(lines, servers, crlf, first)| {
        let mut text = String::from(if first { servers } else { "" });
        for (index, (value, tail)) in lines.iter().enumerate() {
            text.push_str(&format!("k{index}: {}{tail}\n", value.replace("&anchor", &format!("&a{index}"))));
        }
        if !first {
            text.push_str(servers);
        }
        if crlf { text.replace('\n', "\r\n") } else { text }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn eg_063_s_19_random_json_and_jsonc_keep_every_byte_outside_our_entry((text, _) in json_file()) {
        holds(&text, &JSON)?;
        holds(&text, &DEEP)?;
    }

    #[test]
    fn eg_063_s_19_random_toml_keeps_every_byte_outside_our_entry(text in toml_file()) {
        holds(&text, &TOML)?;
        lines_stay(&text, &put(&text, &TOML, &entry(), "").unwrap_or_default(), &["mcp_servers"])?;
    }

    #[test]
    fn eg_063_s_19_random_yaml_keeps_every_byte_outside_our_entry(map in yaml_file(false), list in yaml_file(true)) {
        holds(&map, &YAML)?;
        holds(&list, &LIST)?;
        lines_stay(&map, &put(&map, &YAML, &entry(), "").unwrap_or_default(), &["extensions"])?;
        lines_stay(&list, &put(&list, &LIST, &entry(), "").unwrap_or_default(), &["mcpServers"])?;
    }

    #[test]
    fn no_bytes_make_an_edit_panic(text in "\\PC{0,60}|[{}\\[\\]\",:/* \\n=#-]{0,40}") {
        for spot in [&JSON, &TOML, &YAML, &LIST] {
            if let Ok(new) = put(&text, spot, &entry(), "") {
                prop_assert!(find(&new, spot).is_ok_and(|found| found.is_some()));
            }
            let _ = take_out(&text, spot);
        }
    }
}
