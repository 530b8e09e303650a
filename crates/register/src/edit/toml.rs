//! TOML: the parser gives the places, we replace the bytes.

use super::{BOM, FILE_LIMIT, Place, Refusal, Spot, line_ending, merged};
use serde_json::{Map, Value};
use std::ops::Range;
use toml_edit::{Document, Item, TableLike};

type Tree<'a> = Document<&'a str>;

pub(super) fn find(text: &str, spot: &Spot<'_>) -> Result<Option<Value>, Refusal> {
    let (_, tree) = parse(text)?;
    let Some(container) = container(text, &tree, spot)? else { return Ok(None) };
    Ok(container.get(spot.name).map(to_value))
}

pub(super) fn put(text: &str, spot: &Spot<'_>, entry: &Map<String, Value>) -> Result<String, Refusal> {
    let wanted = merged(find(text, spot)?, entry);
    let mut now = text.to_owned();
    for _ in 0..entry.len() + 2 {
        match step(&now, spot, entry)? {
            Some(next) => now = next,
            None => return proved(text, now, spot, Some(&wanted)),
        }
    }
    Err(unproven(text, 0, "the edit does not come to an end"))
}

pub(super) fn take_out(text: &str, spot: &Spot<'_>) -> Result<Option<String>, Refusal> {
    let (skip, tree) = parse(text)?;
    let Some(table) = container(text, &tree, spot)? else { return Ok(None) };
    let Some(item) = table.get(spot.name) else { return Ok(None) };
    if let Some(holder) = inline_span(text, skip, &tree, spot) {
        let key = table.key(spot.name).and_then(toml_edit::Key::span);
        let (Some(key), Some(value)) = (key, item.span()) else { return Err(unproven(text, 0, "it has no place")) };
        let span = key.start + skip..value.end + skip;
        return proved(text, out_of_inline(text, &holder, span), spot, None).map(Some);
    }
    let mut ranges = Vec::new();
    lines_of(text, skip, table.key(spot.name).and_then(toml_edit::Key::span), item, &mut ranges);
    ranges.sort_by_key(|range| range.start);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for range in ranges {
        out.push_str(text.get(at..range.start).unwrap_or_default());
        at = at.max(range.end);
        // The blank line that set our lines apart goes with them.
        let rest = &text[at..];
        let apart = rest.is_empty() || rest.starts_with('\n') || rest.starts_with("\r\n");
        if apart {
            for blank in ["\r\n\r\n", "\n\n"] {
                if out.ends_with(blank) {
                    out.truncate(out.len() - blank.len() / 2);
                }
            }
        }
    }
    out.push_str(&text[at..]);
    if !text.ends_with('\n') && out.ends_with('\n') {
        let kept = out.trim_end_matches('\n').trim_end_matches('\r').len();
        out.truncate(kept);
    }
    proved(text, out, spot, None).map(Some)
}

/// How many bytes of byte order mark there are, and the tree behind it.
fn parse(text: &str) -> Result<(usize, Tree<'_>), Refusal> {
    let bare = text.strip_prefix(BOM).unwrap_or(text);
    let skip = text.len() - bare.len();
    if text.len() > FILE_LIMIT {
        return Err(Refusal::Malformed { place: Place::of(text, 0), message: "the file is larger than 4 MiB".into() });
    }
    Document::parse(bare).map(|tree| (skip, tree)).map_err(|error| Refusal::Malformed {
        place: Place::of(text, error.span().map_or(0, |span| span.start) + skip),
        message: error.message().lines().collect::<Vec<_>>().join(", "),
    })
}

/// The table of servers, if it is there.
fn container<'a>(text: &str, tree: &'a Tree<'_>, spot: &Spot<'_>) -> Result<Option<&'a dyn TableLike>, Refusal> {
    let mut table: &dyn TableLike = tree.as_table();
    for (index, key) in spot.container.iter().enumerate() {
        let Some(item) = table.get(key) else { return Ok(None) };
        let Some(inner) = item.as_table_like() else {
            let at = item.span().map_or(0, |span| span.start);
            return Err(spot.refuse_kind(Place::of(text, at), index + 1, &kind(item)));
        };
        table = inner;
    }
    Ok(Some(table))
}

fn kind(item: &Item) -> String {
    match item.type_name() {
        "array" | "array of tables" => "a list".to_owned(),
        "string" => "a text".to_owned(),
        "integer" | "float" => "a number".to_owned(),
        other => format!("a {other}"),
    }
}

/// The braces around the table of servers, where it is written inline.
fn inline_span(text: &str, skip: usize, tree: &Tree<'_>, spot: &Spot<'_>) -> Option<Range<usize>> {
    let mut item = tree.as_item();
    for key in spot.container {
        item = item.as_table_like()?.get(key)?;
    }
    item.as_inline_table()?;
    let span = item.span()?;
    // The inner keys of a dotted key are inline tables without braces.
    text.get(span.start + skip..)?.starts_with('{').then(|| span.start + skip..span.end + skip)
}

fn step(text: &str, spot: &Spot<'_>, entry: &Map<String, Value>) -> Result<Option<String>, Refusal> {
    let (skip, tree) = parse(text)?;
    let table = container(text, &tree, spot)?;
    let Some(item) = table.and_then(|table| table.get(spot.name)) else {
        return Ok(Some(match inline_span(text, skip, &tree, spot) {
            Some(braces) => into_inline(text, skip, &braces, table, spot.name, &literal(&Value::Object(entry.clone()))),
            None => append(text, spot, entry),
        }));
    };
    let Some(ours) = item.as_table_like() else {
        let span = item.span().ok_or_else(|| unproven(text, 0, "our entry has no place"))?;
        let at = span.start + skip;
        if item.is_value() {
            return Ok(Some(replaced(text, skip, &span, &literal(&Value::Object(entry.clone())))));
        }
        return Err(unproven(text, at, "our name is a list of tables"));
    };
    for (key, value) in entry {
        match ours.get(key) {
            Some(old) if to_value(old) == *value => {}
            Some(old) => {
                let span = old.span().filter(|_| old.is_value());
                let span = span.ok_or_else(|| unproven(text, 0, &format!("`{key}` of our entry is a table")))?;
                return Ok(Some(replaced(text, skip, &span, &literal(value))));
            }
            None => return add(text, skip, item, ours, key, &literal(value)).map(Some),
        }
    }
    Ok(None)
}

fn replaced(text: &str, skip: usize, span: &Range<usize>, literal: &str) -> String {
    format!("{}{literal}{}", &text[..span.start + skip], &text[span.end + skip..])
}

/// A key more in our own table.
fn add(
    text: &str,
    skip: usize,
    item: &Item,
    ours: &dyn TableLike,
    key: &str,
    literal: &str,
) -> Result<String, Refusal> {
    let span = item.span().ok_or_else(|| unproven(text, 0, "our entry has no place"))?;
    let span = span.start + skip..span.end + skip;
    if item.is_inline_table() && text[span.clone()].starts_with('{') {
        return Ok(into_inline(text, skip, &span, Some(ours), key, literal));
    }
    let headed = item.as_table().is_some_and(|table| !table.is_implicit() && !table.is_dotted());
    if !headed {
        return Err(unproven(text, span.start, "our entry is written with dotted keys"));
    }
    let values = ours.iter().filter(|(_, item)| item.is_value()).filter_map(|(_, item)| item.span());
    let last = values.map(|value| value.end + skip).chain([span.end]).max().unwrap_or(span.end);
    let end = line_end(text, last);
    let ending = line_ending(text);
    let line = format!("{} = {literal}", bare(key));
    Ok(if text[..end].ends_with('\n') {
        format!("{}{line}{ending}{}", &text[..end], &text[end..])
    } else {
        format!("{}{ending}{line}{}", &text[..end], &text[end..])
    })
}

/// A table of our own at the end.
fn append(text: &str, spot: &Spot<'_>, entry: &Map<String, Value>) -> String {
    let ending = line_ending(text);
    let path: Vec<String> = spot.container.iter().copied().chain([spot.name]).map(bare).collect();
    let mut out = text.to_owned();
    let blank = text.trim_start_matches(BOM).trim().is_empty();
    let open = !blank && !text.ends_with('\n');
    if open {
        out.push_str(ending);
    }
    if !blank && !out.ends_with(&format!("{ending}{ending}")) {
        out.push_str(ending);
    }
    out.push_str(&format!("[{}]", path.join(".")));
    for (key, value) in entry {
        out.push_str(&format!("{ending}{} = {}", bare(key), literal(value)));
    }
    if !open {
        out.push_str(ending);
    }
    out
}

/// A key more between braces.
fn into_inline(
    text: &str,
    skip: usize,
    braces: &Range<usize>,
    table: Option<&dyn TableLike>,
    key: &str,
    literal: &str,
) -> String {
    let mut ends = Vec::new();
    if let Some(table) = table {
        table.iter().for_each(|(_, item)| last_end(item, &mut ends));
    }
    let pair = format!("{} = {literal}", bare(key));
    match ends.into_iter().max() {
        Some(end) => format!("{}, {pair}{}", &text[..end + skip], &text[end + skip..]),
        None => format!("{} {pair} {}", &text[..=braces.start], text[braces.start + 1..].trim_start_matches(' ')),
    }
}

fn last_end(item: &Item, ends: &mut Vec<usize>) {
    match item.as_inline_table() {
        Some(table) if table.is_dotted() => {
            for (_, value) in table.iter() {
                last_end(&Item::Value(value.clone()), ends);
            }
        }
        _ => ends.extend(item.span().map(|span| span.end)),
    }
}

/// Takes a pair out of the braces with the comma that goes with it.
fn out_of_inline(text: &str, braces: &Range<usize>, pair: Range<usize>) -> String {
    let after = &text[pair.end..braces.end];
    let to_comma = after.len() - after.trim_start().len();
    if after[to_comma..].starts_with(',') {
        let from = pair.end + to_comma + 1;
        let rest = text[from..].trim_start_matches(' ');
        return format!("{}{rest}", &text[..pair.start]);
    }
    let before = text[..pair.start].trim_end();
    match before.strip_suffix(',') {
        Some(before) => format!("{before}{}", &text[pair.end..]),
        None => format!("{}{}", &text[..=braces.start], text[pair.end..].trim_start_matches(' ')),
    }
}

/// The lines that an item is written on: its header, its values, and those of the tables below it.
fn lines_of(text: &str, skip: usize, key: Option<Range<usize>>, item: &Item, ranges: &mut Vec<Range<usize>>) {
    if let Some(table) = item.as_table() {
        let headed = !table.is_implicit() && !table.is_dotted();
        let mut own: Vec<Range<usize>> = Vec::new();
        if headed && let Some(span) = table.span() {
            own.push(line_start(text, span.start + skip)..line_end(text, span.end + skip));
        }
        for (name, inner) in table.iter() {
            let span = table.key(name).and_then(toml_edit::Key::span);
            let below_header = inner.as_table().is_some_and(|inner| !inner.is_dotted());
            lines_of(text, skip, span, inner, if below_header { &mut *ranges } else { &mut own });
        }
        if headed {
            // What stands between our header and our last value is ours as well.
            let start = own.iter().map(|range| range.start).min();
            let end = own.iter().map(|range| range.end).max();
            ranges.extend(start.zip(end).map(|(start, end)| start..end));
        } else {
            ranges.extend(own);
        }
        return;
    }
    if let Some(tables) = item.as_array_of_tables() {
        for table in tables.iter() {
            lines_of(text, skip, None, &Item::Table(table.clone()), ranges);
        }
        return;
    }
    if let Some(span) = item.span() {
        let start = key.map_or(span.start, |key| key.start);
        ranges.push(line_start(text, start + skip)..line_end(text, span.end + skip));
    }
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |line| line + 1)
}

/// Behind the end of the line of that offset.
fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |line| at + line + 1)
}

fn bare(key: &str) -> String {
    let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if plain { key.to_owned() } else { literal(&Value::from(key)) }
}

/// A value as TOML writes it on one line.
fn literal(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let pairs: Vec<String> =
                map.iter().map(|(key, value)| format!("{} = {}", bare(key), literal(value))).collect();
            if pairs.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", pairs.join(", ")) }
        }
        Value::String(text) => toml_edit::Value::from(text.as_str()).to_string(),
        other => other.to_string(),
    }
}

/// As JSON; dates are their text.
fn to_value(item: &Item) -> Value {
    if let Some(table) = item.as_table_like() {
        return Value::Object(table.iter().map(|(key, item)| (key.to_owned(), to_value(item))).collect());
    }
    if let Some(tables) = item.as_array_of_tables() {
        return tables.iter().map(|table| to_value(&Item::Table(table.clone()))).collect();
    }
    match item.as_value() {
        Some(toml_edit::Value::Array(items)) => {
            items.iter().map(|value| to_value(&Item::Value(value.clone()))).collect()
        }
        Some(toml_edit::Value::String(text)) => Value::from(text.value().as_str()),
        Some(toml_edit::Value::Integer(number)) => Value::from(*number.value()),
        Some(toml_edit::Value::Boolean(flag)) => Value::from(*flag.value()),
        Some(toml_edit::Value::Float(number)) => Value::from(number.value().to_string()),
        Some(toml_edit::Value::Datetime(date)) => Value::from(date.value().to_string()),
        _ => Value::Null,
    }
}

fn unproven(text: &str, at: usize, why: &str) -> Refusal {
    Refusal::Unproven { place: Place::of(text, at), why: why.to_owned() }
}

fn proved(old: &str, new: String, spot: &Spot<'_>, wanted: Option<&Value>) -> Result<String, Refusal> {
    let again = |refusal: Refusal| unproven(old, 0, &format!("it would not parse ({refusal})"));
    if find(&new, spot).map_err(again)?.as_ref() != wanted {
        return Err(unproven(old, 0, "the entry would not have the value that was asked for"));
    }
    let outside = |text: &str| -> Result<Value, Refusal> {
        let mut whole = to_value(parse(text)?.1.as_item());
        without(&mut whole, spot.container, spot.name);
        Ok(whole)
    };
    if outside(old)? != outside(&new).map_err(again)? {
        return Err(unproven(old, 0, "something else would change"));
    }
    Ok(new)
}

/// Takes the entry out of a value, and containers that hold nothing then.
fn without(value: &mut Value, container: &[&str], name: &str) {
    let Value::Object(map) = value else { return };
    match container.split_first() {
        None => drop(map.shift_remove(name)),
        Some((key, deeper)) => {
            if let Some(inner) = map.get_mut(*key) {
                without(inner, deeper, name);
                if inner.as_object().is_some_and(Map::is_empty) {
                    map.shift_remove(*key);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::Format;
    use serde_json::json;

    const SPOT: Spot<'static> =
        Spot { format: Format::Toml, container: &["mcp_servers"], name: "pintle", listed: false };

    fn entry() -> Map<String, Value> {
        json!({"command": "/bin/p", "args": ["mcp", "serve"]}).as_object().unwrap().clone()
    }

    const SECTION: &str = "[mcp_servers.pintle]\ncommand = \"/bin/p\"\nargs = [\"mcp\", \"serve\"]\n";

    #[test]
    fn s_19_a_table_is_added_and_taken_out_and_all_else_stays() {
        for text in [
            "",
            "model = \"x\" # keep\n",
            "a = 1\r\n\r\n[mcp_servers.x]\r\ncommand = 'y'\r\n",
            "\u{feff}a = 1\n",
            "a = 1",
            "mcp_servers.x.command = \"y\"\n[other]\nb = 1979-05-27 # date\n",
            "[[list]]\na = inf\n",
        ] {
            let put_in = put(text, &SPOT, &entry()).unwrap();
            assert!(put_in.starts_with(text), "{put_in}");
            let plain = put_in.replace("\r\n", "\n");
            assert!(plain.trim_end().ends_with(SECTION.trim_end()), "{put_in}");
            assert_eq!(put_in.contains("\r\n"), text.contains("\r\n"));
            assert_eq!(put_in.ends_with('\n'), text.is_empty() || text.ends_with('\n'));
            assert_eq!(put(&put_in, &SPOT, &entry()).unwrap(), put_in, "twice is once");
            assert_eq!(take_out(&put_in, &SPOT).unwrap().unwrap(), text);
        }
    }

    #[test]
    fn inline_tables_and_entries_of_others_making_are_edited_in_place() {
        let inline = "mcp_servers = { x = { command = \"y\" }, } # all\nz = 1\n";
        let put_in = put(inline, &SPOT, &entry()).unwrap();
        assert_eq!(
            put_in,
            "mcp_servers = { x = { command = \"y\" }, pintle = { command = \"/bin/p\", args = [\"mcp\", \"serve\"] }, } # all\nz = 1\n"
        );
        assert_eq!(take_out(&put_in, &SPOT).unwrap().unwrap(), inline);
        let empty = "mcp_servers = {}\n";
        let put_in = put(empty, &SPOT, &entry()).unwrap();
        assert_eq!(take_out(&put_in, &SPOT).unwrap().unwrap(), empty);
        let old = "[mcp_servers.pintle] # ours\ncommand = '/old' # path\nstartup_timeout_sec = 20\n\n[mcp_servers.pintle.env]\nA = 'b'\n\n[z]\n";
        let new = put(old, &SPOT, &entry()).unwrap();
        assert_eq!(
            new,
            "[mcp_servers.pintle] # ours\ncommand = \"/bin/p\" # path\nstartup_timeout_sec = 20\nargs = [\"mcp\", \"serve\"]\n\n[mcp_servers.pintle.env]\nA = 'b'\n\n[z]\n"
        );
        assert_eq!(take_out(&new, &SPOT).unwrap().unwrap().trim_start(), "[z]\n");
        let dotted = "[mcp_servers]\npintle.command = 'x'\nother = { command = 'y' }\n";
        assert_eq!(take_out(dotted, &SPOT).unwrap().unwrap(), "[mcp_servers]\nother = { command = 'y' }\n");
    }

    #[test]
    fn s_16_what_is_not_understood_is_refused_with_its_place() {
        let refused = |text: &str| {
            let refusal = put(text, &SPOT, &entry()).unwrap_err();
            format!("{}: {refusal}", refusal.place())
        };
        assert!(refused("a = 1\nb = = 2\n").starts_with("2:5: "), "{}", refused("a = 1\nb = = 2\n"));
        assert_eq!(refused("mcp_servers = 1\n"), "1:15: `mcp_servers` is a number, not a map");
        assert!(refused("[mcp_servers]\n[mcp_servers]\n").starts_with("2:"), "twice is malformed in TOML");
    }
}
