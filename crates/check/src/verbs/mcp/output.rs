//! Answers as plain text: one record a line, members parted by tabs.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use serde_json::Value;

use crate::model::{Address, Server};

fn member<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The first line that is not empty, trimmed.
fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

/// `name TAB url TAB transport`
pub(super) fn server(server: &Server) -> String {
    let address = match &server.address {
        Address::Url(url) => url.clone(),
        Address::Stdio(argv) => shlex::try_join(argv.iter().map(String::as_str)).unwrap_or_default(),
    };
    format!("{}\t{address}\t{}\n", server.name, server.transport_word())
}

/// `name TAB description`, for tools and prompts.
pub(super) fn described(item: &Value) -> String {
    format!("{}\t{}\n", member(item, "name"), first_line(member(item, "description")))
}

/// `uri TAB name TAB mime type`
pub(super) fn resource(item: &Value) -> String {
    format!("{}\t{}\t{}\n", member(item, "uri"), member(item, "name"), member(item, "mimeType"))
}

/// `uri template TAB name TAB mime type`
pub(super) fn template(item: &Value) -> String {
    format!("{}\t{}\t{}\n", member(item, "uriTemplate"), member(item, "name"), member(item, "mimeType"))
}

/// The result of a request as its method in a plan prints it; nothing where it prints nothing.
pub(crate) fn printed(request: &str, result: &Value) -> String {
    let lines = |member, line: fn(&Value) -> String| list(result, member).iter().map(line).collect();
    match request {
        "tools/list" => lines("tools", described),
        "prompts/list" => lines("prompts", described),
        "resources/list" => lines("resources", resource),
        "resources/templates/list" => lines("resourceTemplates", template),
        "tools/call" => content(result),
        "resources/read" => contents(result),
        "prompts/get" => messages(result),
        _ => String::new(),
    }
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Each block of a tool's answer on a line of its own.
pub(super) fn content(result: &Value) -> String {
    list(result, "content").iter().map(block).collect()
}

fn line(text: &str) -> String {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{text}{end}")
}

fn block(block: &Value) -> String {
    match member(block, "type") {
        "text" => line(member(block, "text")),
        kind @ ("image" | "audio") => {
            format!("[{kind} content: {}, {}]\n", member(block, "mimeType"), size(member(block, "data")))
        }
        "resource_link" => format!("[resource link: {}]\n", member(block, "uri")),
        "resource" => {
            let resource = block.get("resource").unwrap_or(&Value::Null);
            format!("[embedded resource: {}, {}]\n", member(resource, "uri"), member(resource, "mimeType"))
        }
        kind => format!("[{kind} content]\n"),
    }
}

/// The decoded size.
fn size(data: &str) -> String {
    match STANDARD.decode(data).or_else(|_| STANDARD_NO_PAD.decode(data)) {
        Ok(bytes) => format!("{} bytes", bytes.len()),
        Err(_) => "not base64".to_owned(),
    }
}

/// Texts of a resource; an empty text gives nothing.
pub(super) fn contents(result: &Value) -> String {
    list(result, "contents")
        .iter()
        .map(|item| match (item.get("text").and_then(Value::as_str), item.get("blob").and_then(Value::as_str)) {
            (Some(""), _) | (None, None) => String::new(),
            (Some(text), _) => line(text),
            (None, Some(blob)) => {
                format!("[binary resource: {}, {}, {}]\n", member(item, "uri"), member(item, "mimeType"), size(blob))
            }
        })
        .collect()
}

/// `role TAB text` for each message of a prompt.
pub(super) fn messages(result: &Value) -> String {
    list(result, "messages")
        .iter()
        .map(|message| {
            let content = message.get("content").unwrap_or(&Value::Null);
            let blocks = content.as_array().map_or(std::slice::from_ref(content), Vec::as_slice);
            blocks.iter().map(|one| format!("{}\t{}", member(message, "role"), block(one))).collect::<String>()
        })
        .collect()
}

/// Each value on a line of its own.
pub(super) fn completions(result: &Value) -> String {
    let values = result.get("completion").map_or(&[][..], |completion| list(completion, "values"));
    values.iter().filter_map(Value::as_str).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ch_021_ch_022_ch_023_lists_are_lines_with_tabs() {
        let tool = json!({"name": "run", "description": "\n\n  Runs it.  \nThen more."});
        assert_eq!(described(&tool), "run\tRuns it.\n");
        assert_eq!(described(&json!({"name": "bare"})), "bare\t\n");
        let file = json!({"uri": "file:///a", "name": "a", "mimeType": "text/plain"});
        assert_eq!(resource(&file), "file:///a\ta\ttext/plain\n");
        assert_eq!(resource(&json!({"uri": "x:y", "name": "n"})), "x:y\tn\t\n");
    }

    #[test]
    fn ch_025_ch_026_ch_027_blocks_of_a_call() {
        let result = json!({"content": [
            {"type": "text", "text": "one"},
            {"type": "text", "text": "two\nlines\n"},
            {"type": "image", "mimeType": "image/png", "data": "AAAAAA=="},
            {"type": "audio", "mimeType": "audio/wav", "data": "AAAA"},
            {"type": "resource_link", "uri": "file:///b", "name": "b"},
            {"type": "resource", "resource": {"uri": "file:///c", "mimeType": "text/plain", "text": "hush"}},
            {"type": "hologram"},
        ]});
        assert_eq!(
            content(&result),
            "one\ntwo\nlines\n[image content: image/png, 4 bytes]\n[audio content: audio/wav, 3 bytes]\n\
             [resource link: file:///b]\n[embedded resource: file:///c, text/plain]\n[hologram content]\n"
        );
    }

    #[test]
    fn ch_030_ch_031_texts_and_blobs_of_a_resource() {
        let result = json!({"contents": [
            {"uri": "a", "text": "alpha"},
            {"uri": "b", "text": ""},
            {"uri": "c:d", "mimeType": "application/zip", "blob": "AAECAw=="},
        ]});
        assert_eq!(contents(&result), "alpha\n[binary resource: c:d, application/zip, 4 bytes]\n");
        assert_eq!(contents(&json!({"contents": [{"uri": "a", "text": ""}]})), "");
    }

    #[test]
    fn ch_019_servers_are_lines_with_tabs() {
        let jupyter = Server::url("jupyter", "http://localhost:8888/mcp");
        assert_eq!(server(&jupyter), "jupyter\thttp://localhost:8888/mcp\thttp\n");
        let own = Server::stdio("own", vec!["my server".into(), "--stdio".into()]);
        assert_eq!(server(&own), "own\t'my server' --stdio\tstdio\n");
    }

    #[test]
    fn cw_47_prompts_and_completions() {
        let prompt = json!({"messages": [
            {"role": "user", "content": {"type": "text", "text": "hi"}},
            {"role": "assistant", "content": [{"type": "text", "text": "ho"}]},
        ]});
        assert_eq!(messages(&prompt), "user\thi\nassistant\tho\n");
        assert_eq!(completions(&json!({"completion": {"values": ["a", "b"]}})), "a\nb\n");
    }
}
