//! Answers in the words of the protocol.

use pintle_core::{Block, Code, Contents, Failure, Part, PromptMessage, Reply, Resource};
use rmcp::{
    ErrorData,
    model::{
        CallToolResult, ContentBlock, ErrorCode, PromptMessage as Message, Resource as Link, ResourceContents, Role,
    },
};
use serde_json::json;

/// What stands for an answer without a word, so that nobody takes it for a fault.
const NO_OUTPUT: &str = "(no output)";

/// Most bytes of each text in a fault.
const FAULT_TEXT: usize = 2048;

/// The answer to a call.
pub(crate) fn result(reply: Reply) -> CallToolResult {
    let content = if reply.parts.is_empty() {
        let text = reply.view.plain();
        // An empty file is an answer, not the lack of one.
        let exact = reply.view.blocks.iter().any(|block| matches!(block, Block::Exact(_)));
        vec![ContentBlock::text(if text.is_empty() && !exact { NO_OUTPUT.to_owned() } else { text })]
    } else {
        reply.parts.iter().cloned().map(block).collect()
    };
    let mut result = if reply.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = Some(reply.envelope());
    result
}

fn block(part: Part) -> ContentBlock {
    match part {
        Part::Text(text) => ContentBlock::text(text),
        Part::Image { mime, data } => ContentBlock::image(data, mime),
        Part::Audio { mime, data } => ContentBlock::audio(data, mime),
        Part::Resource(resource) => ContentBlock::resource(contents(resource)),
        Part::Link(resource) => ContentBlock::resource_link(link(resource)),
    }
}

/// What a resource holds.
pub(crate) fn contents(contents: Contents) -> ResourceContents {
    let made = match (contents.text, contents.blob) {
        (None, Some(blob)) => ResourceContents::blob(blob, contents.uri),
        (text, _) => ResourceContents::text(text.unwrap_or_default(), contents.uri),
    };
    match contents.mime {
        Some(mime) => made.with_mime_type(mime),
        None => made,
    }
}

/// A resource as it is listed.
pub(crate) fn link(resource: Resource) -> Link {
    let mut link = Link::new(resource.uri, resource.name);
    if let Some(description) = resource.description {
        link = link.with_description(description);
    }
    if let Some(mime) = resource.mime {
        link = link.with_mime_type(mime);
    }
    if let Some(size) = resource.size {
        link = link.with_size(size);
    }
    link
}

/// One message of a prompt.
pub(crate) fn message(message: PromptMessage) -> Message {
    let role = if message.assistant { Role::Assistant } else { Role::User };
    Message::new(role, block(message.part))
}

/// A fault of the request itself; whatever a tool has to say of its own goes another way.
pub(crate) fn fault(failure: &Failure) -> ErrorData {
    let code = match failure.code {
        Code::UnknownTool | Code::InvalidArgument | Code::NotFound | Code::BadToken => ErrorCode::INVALID_PARAMS,
        _ => ErrorCode::INTERNAL_ERROR,
    };
    let failure = shortened(failure);
    ErrorData::new(code, one_line(&failure), Some(json!({ "failure": failure })))
}

/// A resource that could not be read; clients of the older protocol get the code they know for "not found".
pub(crate) fn unread(failure: &Failure, uri: &str) -> ErrorData {
    let code = match failure.code {
        Code::NotFound => ErrorCode::RESOURCE_NOT_FOUND,
        Code::InvalidArgument => ErrorCode::INVALID_PARAMS,
        _ => ErrorCode::INTERNAL_ERROR,
    };
    let failure = shortened(failure);
    let uri = if uri.len() > FAULT_TEXT { None } else { Some(uri) };
    ErrorData::new(code, one_line(&failure), Some(json!({ "uri": uri, "failure": failure })))
}

fn shortened(failure: &Failure) -> Failure {
    let mut failure = failure.clone();
    failure.shorten(FAULT_TEXT);
    failure
}

fn one_line(failure: &Failure) -> String {
    std::iter::once(failure.message.as_str())
        .chain(failure.hints.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use pintle_core::View;

    #[test]
    fn ch_213_an_answer_without_a_word_says_so() {
        let told = serde_json::to_value(result(Reply::default())).unwrap();
        assert_eq!(told["content"], json!([{"type": "text", "text": "(no output)"}]));
        assert_eq!((&told["isError"], &told["structuredContent"]), (&json!(false), &json!({"outcome": "ok"})));
    }

    #[test]
    fn the_text_of_an_empty_file_is_empty() {
        let reply = Reply { view: View::exact(""), ..Reply::default() };
        assert_eq!(serde_json::to_value(result(reply)).unwrap()["content"], json!([{"type": "text", "text": ""}]));
    }

    #[test]
    fn a_fault_does_not_carry_back_what_was_sent() {
        let word = "x".repeat(1_000_000);
        let failure = Failure::new(Code::UnknownTool, format!("unknown tool `{word}`"));
        for told in [fault(&failure), unread(&failure, &word)] {
            assert!(serde_json::to_string(&told).unwrap().len() < 10_000);
        }
    }

    #[test]
    fn ch_141_cw_23_a_failure_is_told_in_words_and_by_code() {
        let told =
            serde_json::to_value(result(Reply::failed(Failure::new(Code::Busy, "in use").hint("wait")))).unwrap();
        assert_eq!(told["content"][0]["text"], "in use\nhint: wait");
        assert_eq!(told["structuredContent"]["failure"]["code"], "busy");
        assert_eq!(told["isError"], true);
    }

    #[test]
    fn parts_stand_in_place_of_the_text() {
        let reply = Reply {
            view: View::text("for people"),
            parts: vec![Part::Image { mime: "image/png".into(), data: "AA==".into() }],
            ..Reply::default()
        };
        let told = serde_json::to_value(result(reply)).unwrap();
        assert_eq!(told["content"], json!([{"type": "image", "data": "AA==", "mimeType": "image/png"}]));
    }
}
