//! JSON, with or without comments and trailing commas.

mod read;
mod write;

use super::{Place, Refusal, Spot, merged};
use read::{Body, Member, Node, read};
use serde_json::{Map, Value};
use write::{insert, nest, remove, replace};

pub(super) fn find(text: &str, spot: &Spot<'_>) -> Result<Option<Value>, Refusal> {
    let tree = read(text)?;
    let Some(root) = &tree.root else { return Ok(None) };
    Ok(match walk(text, root, spot)? {
        Way::There(_, member) => Some(member.value.to_value(text)),
        _ => None,
    })
}

pub(super) fn put(text: &str, spot: &Spot<'_>, entry: &Map<String, Value>) -> Result<String, Refusal> {
    let wanted = merged(find(text, spot)?, entry);
    let mut now = text.to_owned();
    // Each round changes one thing; an entry has few members, so there are few rounds.
    for _ in 0..entry.len() + 2 {
        match step(&now, spot, entry)? {
            Some(next) => now = next,
            None => return proved(text, now, spot, Some(&wanted)),
        }
    }
    Err(unproven(text, "the edit does not come to an end"))
}

pub(super) fn take_out(text: &str, spot: &Spot<'_>) -> Result<Option<String>, Refusal> {
    let tree = read(text)?;
    let Some(root) = &tree.root else { return Ok(None) };
    let Way::There(container, member) = walk(text, root, spot)? else { return Ok(None) };
    proved(text, remove(text, container, member), spot, None).map(Some)
}

pub(super) fn lenient(text: &str) -> Option<Place> {
    let at = read(text).ok()?.lenient?;
    Some(Place::of(text, at))
}

/// How far the way to the entry is there.
enum Way<'a> {
    /// The entry is there, in this container.
    There(&'a Node, &'a Member),
    /// This object lacks the member of that depth: a key of the container, or our own.
    Lacks(&'a Node, usize),
    /// This null stands where the container of that depth is to be.
    Null(&'a Node, usize),
}

fn walk<'a>(text: &str, root: &'a Node, spot: &Spot<'_>) -> Result<Way<'a>, Refusal> {
    let mut node = root;
    for depth in 0..=spot.container.len() {
        let members = match &node.body {
            Body::Object(members) => members,
            Body::Scalar if &text[node.start..node.end] == "null" => return Ok(Way::Null(node, depth)),
            _ => return Err(spot.refuse_kind(Place::of(text, node.start), depth, node.kind(text))),
        };
        let key = spot.container.get(depth).copied().unwrap_or(spot.name);
        let mut found = members.iter().filter(|member| member.key == key);
        let Some(member) = found.next() else { return Ok(Way::Lacks(node, depth)) };
        if let Some(second) = found.next() {
            let place = Place::of(text, second.key_start);
            return Err(Refusal::Twice { place, other: Place::of(text, member.key_start), key: key.to_owned() });
        }
        if depth == spot.container.len() {
            return Ok(Way::There(node, member));
        }
        node = &member.value;
    }
    // The loop ends at the entry's own depth.
    Err(unproven(text, "the way to the entry has no end"))
}

/// The next change, none when all is as it is to be.
fn step(text: &str, spot: &Spot<'_>, entry: &Map<String, Value>) -> Result<Option<String>, Refusal> {
    let tree = read(text)?;
    let below = |depth: usize| nest(spot.container.get(depth..).unwrap_or_default(), spot.name, entry);
    let Some(root) = &tree.root else {
        let value = below(0);
        return Ok(Some(write::fresh(text, &value)));
    };
    match walk(text, root, spot)? {
        Way::Null(node, depth) => Ok(Some(replace(text, node, &below(depth)))),
        Way::Lacks(node, depth) => {
            let key = spot.container.get(depth).copied().unwrap_or(spot.name);
            let value = if depth == spot.container.len() { Value::Object(entry.clone()) } else { below(depth + 1) };
            Ok(Some(insert(text, node, key, &value)))
        }
        Way::There(_, member) => {
            let Body::Object(members) = &member.value.body else {
                return Ok(Some(replace(text, &member.value, &Value::Object(entry.clone()))));
            };
            for (key, value) in entry {
                let mut found = members.iter().filter(|member| member.key == *key);
                match (found.next(), found.next()) {
                    (None, _) => return Ok(Some(insert(text, &member.value, key, value))),
                    (Some(first), Some(second)) => {
                        let (place, other) = (Place::of(text, second.key_start), Place::of(text, first.key_start));
                        return Err(Refusal::Twice { place, other, key: key.clone() });
                    }
                    (Some(old), None) if old.value.to_value(text) != *value => {
                        return Ok(Some(replace(text, &old.value, value)));
                    }
                    (Some(_), None) => {}
                }
            }
            Ok(None)
        }
    }
}

fn unproven(text: &str, why: &str) -> Refusal {
    Refusal::Unproven { place: Place::of(text, 0), why: why.to_owned() }
}

/// The new text, if it says the same as the old one outside our entry, and there what was wanted.
fn proved(old: &str, new: String, spot: &Spot<'_>, wanted: Option<&Value>) -> Result<String, Refusal> {
    let again = |refusal: Refusal| unproven(old, &format!("it would not parse ({refusal})"));
    if find(&new, spot).map_err(again)?.as_ref() != wanted {
        return Err(unproven(old, "the entry would not have the value that was asked for"));
    }
    let outside = |text: &str| -> Result<Option<Value>, Refusal> {
        let tree = read(text)?;
        Ok(tree.root.as_ref().and_then(|root| root.exact_without(text, spot.container, spot.name)))
    };
    if outside(old)? != outside(&new).map_err(again)? {
        return Err(unproven(old, "something else would change"));
    }
    Ok(new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::Format;
    use serde_json::json;

    const SPOT: Spot<'static> =
        Spot { format: Format::Jsonc, container: &["mcpServers"], name: "pintle", listed: false };

    fn entry() -> Map<String, Value> {
        json!({"command": "/bin/p", "args": ["mcp", "serve"]}).as_object().unwrap().clone()
    }

    fn put_in(text: &str) -> String {
        put(text, &SPOT, &entry()).unwrap()
    }

    #[test]
    fn s_15_s_19_eg_054_an_entry_is_put_in_beside_comments_and_commas_with_the_files_own_indentation() {
        let cases = [
            (
                "",
                "{\n  \"mcpServers\": {\n    \"pintle\": {\n      \"command\": \"/bin/p\",\n      \"args\": [\"mcp\", \"serve\"]\n    }\n  }\n}\n",
            ),
            (
                "{}",
                "{\n  \"mcpServers\": {\n    \"pintle\": {\n      \"command\": \"/bin/p\",\n      \"args\": [\"mcp\", \"serve\"]\n    }\n  }\n}",
            ),
            (
                "{\r\n\t\"a\": 12345678901234567890123, // keep\r\n\t\"mcpServers\": { },\r\n}\r\n",
                "{\r\n\t\"a\": 12345678901234567890123, // keep\r\n\t\"mcpServers\": {\r\n\t\t\"pintle\": {\r\n\t\t\t\"command\": \"/bin/p\",\r\n\t\t\t\"args\": [\"mcp\", \"serve\"]\r\n\t\t}\r\n\t},\r\n}\r\n",
            ),
            (
                "{\"z\":1,\"mcpServers\":{\"a\":{}}}",
                "{\"z\":1,\"mcpServers\":{\"a\":{},\"pintle\":{\"command\":\"/bin/p\",\"args\":[\"mcp\",\"serve\"]}}}",
            ),
            (
                "{\n    \"mcpServers\": {\n        \"a\": {} // last\n        // \"b\": {}\n    }\n}",
                "{\n    \"mcpServers\": {\n        \"a\": {}, // last\n        // \"b\": {}\n        \"pintle\": {\n            \"command\": \"/bin/p\",\n            \"args\": [\"mcp\", \"serve\"]\n        }\n    }\n}",
            ),
            (
                "{\"mcpServers\": null}",
                "{\"mcpServers\": {\"pintle\": {\"command\": \"/bin/p\", \"args\": [\"mcp\", \"serve\"]}}}",
            ),
        ];
        for (before, after) in cases {
            let put = put_in(before);
            assert_eq!(put, after, "{before:?}");
            assert_eq!(put_in(&put), put, "twice is once");
        }
    }

    #[test]
    fn s_22_taken_out_again_little_is_left_of_it() {
        for text in [
            "{\n  \"a\": 1, // note\n  \"mcpServers\": {\n    \"x\": {}\n  }\n}\n",
            "{\n  \"mcpServers\": {\n    \"x\": {}, // one\n  },\n}\n",
            "{\"mcpServers\":{\"a\":{}}}",
            "{\n  \"mcpServers\": {}\n}",
        ] {
            assert_eq!(take_out(&put_in(text), &SPOT).unwrap().unwrap(), text);
        }
        let odd = "{ \"mcpServers\": { \"a\": {}, // note\n  \"pintle\": {}, \"b\": 2 } }";
        let left = "{ \"mcpServers\": { \"a\": {}, // note\n  \"b\": 2 } }";
        assert_eq!(take_out(odd, &SPOT).unwrap().unwrap(), left);
        assert_eq!(take_out(left, &SPOT).unwrap(), None);
    }

    #[test]
    fn an_entry_that_is_there_keeps_what_others_added_to_it() {
        let text = "{\"mcpServers\": {\"pintle\": {\"command\": \"/old\", /* mine */ \"timeout\": 5}}}";
        let new = put_in(text);
        assert_eq!(
            new,
            "{\"mcpServers\": {\"pintle\": {\"command\": \"/bin/p\", /* mine */ \"timeout\": 5, \"args\": [\"mcp\", \"serve\"]}}}"
        );
    }

    #[test]
    fn s_16_eg_063_what_is_not_understood_is_refused_with_its_place() {
        let refused = |text: &str| {
            let refusal = put(text, &SPOT, &entry()).unwrap_err();
            format!("{}: {refusal}", refusal.place())
        };
        assert_eq!(refused("{\n  \"a\": tru\n}"), "2:8: `tru` is no value");
        assert_eq!(refused("[]"), "1:1: the file is a list, not a map");
        assert_eq!(refused("{\"mcpServers\": []}"), "1:16: `mcpServers` is a list, not a map");
        assert_eq!(
            refused("{\"mcpServers\": {},\n \"mcpServers\": {}}"),
            "2:2: `mcpServers` is there twice, also at 1:2"
        );
        assert_eq!(
            refused("{\"mcpServers\": {\"pintle\": 1, \"pintle\": 2}}"),
            "1:30: `pintle` is there twice, also at 1:17"
        );
        for bad in
            ["{", "{\"a\"}", "{\"a\": 1 \"b\": 2}", "{} x", "{\"a\": \"\n\"}", "{'a': 1}", "{\"a\": 01}", "{,}", "/* x"]
        {
            assert!(put(bad, &SPOT, &entry()).is_err(), "{bad}");
        }
        assert!(put(&"[".repeat(100_000), &SPOT, &entry()).is_err());
    }
}
