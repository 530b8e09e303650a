//! YAML: the editor of the house, which proves each of its edits.

use super::{Place, Refusal, Spot, merged};
use pintle_yaml::{Document, EditError, Editor, Limits, Node, Path, Problem, Segment, Yaml};
use serde_json::{Map, Value};

pub(super) fn find(text: &str, spot: &Spot<'_>) -> Result<Option<Value>, Refusal> {
    let document = Document::parse(text, Limits::default()).map_err(malformed)?;
    entry_of(&document, spot).map(|entry| entry.map(Node::to_json))
}

pub(super) fn put(text: &str, spot: &Spot<'_>, entry: &Map<String, Value>) -> Result<String, Refusal> {
    let mut editor = Editor::new(text, Limits::default()).map_err(malformed)?;
    let old = entry_of(editor.document(), spot)?.map(Node::to_json);
    let wanted = merged(old.clone(), entry);
    let container = Path::of_keys(spot.container.iter().copied());
    match old {
        Some(Value::Object(_)) => {
            let path = entry_path(spot);
            for (key, value) in entry {
                editor.set(&path.key(key.as_str()), &yaml(value)).map_err(refused)?;
            }
        }
        Some(_) => drop(editor.set(&entry_path(spot), &yaml(&wanted)).map_err(refused)?),
        None if spot.listed => drop(editor.append(&container, &[yaml(&wanted)]).map_err(refused)?),
        None => drop(editor.set(&container.key(spot.name), &yaml(&wanted)).map_err(refused)?),
    }
    let text = editor.into_text();
    if find(&text, spot)?.as_ref() == Some(&wanted) {
        return Ok(text);
    }
    let place = Place { line: 1, column: 1 };
    Err(Refusal::Unproven { place, why: "the entry would not have the value that was asked for".to_owned() })
}

pub(super) fn take_out(text: &str, spot: &Spot<'_>) -> Result<Option<String>, Refusal> {
    let mut editor = Editor::new(text, Limits::default()).map_err(malformed)?;
    if entry_of(editor.document(), spot)?.is_none() {
        return Ok(None);
    }
    editor.delete(&entry_path(spot)).map_err(refused)?;
    Ok(Some(editor.into_text()))
}

fn entry_path(spot: &Spot<'_>) -> Path {
    let container = Path::of_keys(spot.container.iter().copied());
    if spot.listed {
        container.join(Segment::Where { key: "name".to_owned(), value: spot.name.to_owned() })
    } else {
        container.key(spot.name)
    }
}

/// Our entry; refuses what stands in its way.
fn entry_of<'a>(document: &'a Document, spot: &Spot<'_>) -> Result<Option<Node<'a>>, Refusal> {
    let mut node = document.root();
    for depth in 0..=spot.container.len() {
        if node.is_null() {
            return Ok(None);
        }
        let last = depth == spot.container.len();
        let fits = if last && spot.listed { node.is_sequence() } else { node.is_mapping() };
        if !fits {
            let found = match node.kind_name() {
                kind @ "integer" => format!("an {kind}"),
                kind => format!("a {kind}"),
            };
            return Err(spot.refuse_kind(place(node.pos()), depth, &found));
        }
        if !last {
            let Some(inner) = node.get(spot.container[depth]) else { return Ok(None) };
            node = inner;
        }
    }
    if !spot.listed {
        return Ok(node.get(spot.name));
    }
    let mut ours = node.items().filter(|item| item.get("name").and_then(Node::source_text) == Some(spot.name));
    let first = ours.next();
    match (first, ours.next()) {
        (Some(first), Some(second)) => {
            let key = spot.name.to_owned();
            Err(Refusal::Twice { place: place(second.pos()), other: place(first.pos()), key })
        }
        _ => Ok(first),
    }
}

fn place(at: pintle_yaml::Place) -> Place {
    Place { line: at.line, column: at.column }
}

fn malformed(problems: Vec<Problem>) -> Refusal {
    let first = problems.first();
    Refusal::Malformed {
        place: first.map_or(Place { line: 1, column: 1 }, |problem| place(problem.place())),
        message: first.map_or_else(String::new, |problem| problem.message.clone()),
    }
}

fn refused(error: EditError) -> Refusal {
    Refusal::Unproven { place: place(error.problem().place()), why: error.to_string() }
}

fn yaml(value: &Value) -> Yaml {
    Yaml::from(value.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::Format;
    use serde_json::json;

    fn spot(listed: bool) -> Spot<'static> {
        let container: &[&str] = if listed { &["mcpServers"] } else { &["extensions"] };
        Spot { format: Format::Yaml, container, name: "pintle", listed }
    }

    fn entry() -> Map<String, Value> {
        json!({"name": "pintle", "cmd": "/bin/p", "args": ["mcp"]}).as_object().unwrap().clone()
    }

    #[test]
    fn s_19_maps_and_lists_take_an_entry_and_give_it_back() {
        for (listed, text) in [
            (false, "# goose\nextensions:\n  dev: {enabled: true}   # keep\nGOOSE_MODEL: \"x\"\n"),
            (false, "a: 1\r\nextensions:\r\n    dev:\r\n        enabled: yes\r\n"),
            (true, "name: mine\nmcpServers:\n  - name: x # one\n    command: y\nmodels: []\n"),
        ] {
            let spot = spot(listed);
            let put_in = put(text, &spot, &entry()).unwrap();
            assert_ne!(put_in, text);
            for line in text.lines() {
                assert!(put_in.lines().any(|kept| kept == line), "{line}: {put_in}");
            }
            assert_eq!(put(&put_in, &spot, &entry()).unwrap(), put_in, "twice is once");
            assert_eq!(take_out(&put_in, &spot).unwrap().unwrap(), text);
        }
        assert_eq!(find(&put("", &spot(false), &entry()).unwrap(), &spot(false)).unwrap().unwrap()["cmd"], "/bin/p");
    }

    #[test]
    fn s_16_what_is_not_understood_is_refused_with_its_place() {
        let refused = |listed: bool, text: &str| {
            let refusal = put(text, &spot(listed), &entry()).unwrap_err();
            format!("{}: {refusal}", refusal.place())
        };
        assert_eq!(refused(false, "extensions: [a]\n"), "1:13: `extensions` is a list, not a map");
        assert_eq!(refused(true, "mcpServers: {a: b}\n"), "1:13: `mcpServers` is a map, not a list");
        assert!(refused(false, "a: [\n").starts_with("2:"), "{}", refused(false, "a: [\n"));
        assert!(refused(false, "extensions: {}\nextensions: {}\n").starts_with("2:1:"));
        assert_eq!(
            refused(true, "mcpServers:\n- name: pintle\n- name: pintle\n"),
            "3:3: `pintle` is there twice, also at 2:3"
        );
    }
}
