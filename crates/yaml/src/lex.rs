//! Small steps over YAML text, for what the parser's events do not tell.

/// Byte at an offset; 0 behind the end.
pub(crate) fn byte(text: &str, at: usize) -> u8 {
    text.as_bytes().get(at).copied().unwrap_or(0)
}

/// Is the byte a space or tab?
pub(crate) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Is the byte part of a line end?
pub(crate) fn is_break(byte: u8) -> bool {
    byte == b'\n' || byte == b'\r'
}

/// Skips spaces and tabs.
pub(crate) fn skip_blanks(text: &str, mut at: usize) -> usize {
    while is_blank(byte(text, at)) {
        at += 1;
    }
    at
}

/// Skips white space, line ends and comments.
pub(crate) fn skip_trivia(text: &str, mut at: usize) -> usize {
    loop {
        let here = byte(text, at);
        if at >= text.len() {
            return text.len();
        } else if is_blank(here) || is_break(here) {
            at += 1;
        } else if here == b'#' && (at == 0 || before_is_space(text, at)) {
            at = line_end(text, at);
        } else {
            return at;
        }
    }
}

/// Is the byte before a blank or line end (or a byte order mark's last byte)?
fn before_is_space(text: &str, at: usize) -> bool {
    let before = byte(text, at - 1);
    is_blank(before) || is_break(before) || text.get(..at).is_some_and(|t| t == crate::place::BOM)
}

/// Skips trivia and the indicators `-`, `?` and `:` that come before a block node.
pub(crate) fn skip_indicators(text: &str, mut at: usize) -> usize {
    loop {
        at = skip_trivia(text, at);
        let next = byte(text, at + 1);
        let alone = is_blank(next) || is_break(next) || at + 1 >= text.len();
        if matches!(byte(text, at), b'-' | b'?' | b':') && alone && at < text.len() {
            at += 1;
        } else {
            return at;
        }
    }
}

/// Skips up to `count` properties (tags and anchors). Gives the end of the last one.
pub(crate) fn skip_properties(text: &str, mut at: usize, count: usize) -> usize {
    let mut end = at;
    for _ in 0..count {
        at = skip_trivia(text, end);
        if !matches!(byte(text, at), b'&' | b'!') {
            break;
        }
        end = at + 1;
        if text.get(at..).is_some_and(|rest| rest.starts_with("!<")) {
            end = text.get(at..).and_then(|rest| rest.find('>')).map_or(text.len(), |n| at + n + 1);
        }
        while end < text.len() && !ends_word(byte(text, end)) {
            end += 1;
        }
    }
    end
}

/// Does the byte end an anchor, alias or tag?
pub(crate) fn ends_word(byte: u8) -> bool {
    is_blank(byte) || is_break(byte) || matches!(byte, b',' | b'[' | b']' | b'{' | b'}')
}

/// Offset behind the colon of a key that ends at `key_end`, if there is one.
pub(crate) fn behind_colon(text: &str, key_end: usize) -> Option<usize> {
    let at = skip_trivia(text, key_end);
    (byte(text, at) == b':').then_some(at + 1)
}

/// End of a quoted scalar that starts at `start`.
pub(crate) fn quoted_end(text: &str, start: usize) -> usize {
    let quote = byte(text, start);
    let mut at = start + 1;
    while at < text.len() {
        let here = byte(text, at);
        if here == b'\\' && quote == b'"' {
            at += 2;
        } else if here == quote {
            if quote == b'\'' && byte(text, at + 1) == b'\'' {
                at += 2;
            } else {
                return at + 1;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

/// Start of the line that holds the offset, behind a byte order mark.
pub(crate) fn line_start(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let mut start = at.min(bytes.len());
    while start > 0 {
        let before = bytes[start - 1];
        // `\r\n` is one line end: the offset of `\n` in it belongs to the line before.
        if before == b'\n' || (before == b'\r' && byte(text, start) != b'\n') {
            break;
        }
        start -= 1;
    }
    if start == 0 && text.starts_with(crate::place::BOM) {
        start = crate::place::BOM.len();
    }
    start
}

/// End of the line that holds the offset, before its line end.
pub(crate) fn line_end(text: &str, at: usize) -> usize {
    let mut end = at.min(text.len());
    while end < text.len() && !is_break(byte(text, end)) {
        end += 1;
    }
    end
}

/// Start of the next line; the end of the text when there is none.
pub(crate) fn next_line(text: &str, at: usize) -> usize {
    let end = line_end(text, at);
    end + break_len(text, end)
}

/// Length of the line end at the offset: 0, 1 or 2.
pub(crate) fn break_len(text: &str, at: usize) -> usize {
    match (byte(text, at), byte(text, at + 1)) {
        (b'\r', b'\n') => 2,
        (b'\n' | b'\r', _) => 1,
        _ => 0,
    }
}

/// Offset of the comment (its `#`) on the rest of a line whose content ended at `at`.
pub(crate) fn trailing_comment(text: &str, at: usize) -> Option<usize> {
    let hash = skip_blanks(text, at);
    (hash > at && byte(text, hash) == b'#').then_some(hash)
}

/// Is there only white space before the offset on its line?
pub(crate) fn first_on_line(text: &str, at: usize) -> bool {
    let start = line_start(text, at);
    text.get(start..at).is_some_and(|lead| lead.bytes().all(is_blank))
}

/// End of a block scalar: from where the parser stopped back over what is not its content.
///
/// With `keep` (`|+`) blank lines at the end are content.
pub(crate) fn block_scalar_end(text: &str, header: usize, stop: usize, keep: bool) -> usize {
    let header_end = line_end(text, header);
    let mut end = stop.min(text.len()).max(header_end);
    // The parser stops inside the indentation of the next content: back to the start of its line.
    let start = line_start(text, end);
    if end < text.len() && text.get(start..end).is_some_and(|lead| lead.bytes().all(is_blank)) {
        end = start;
    }
    loop {
        let before = end - trailing_break(text, end);
        if before <= header_end {
            return header_line_end(text, header);
        }
        let start = line_start(text, before);
        let blank = text.get(start..before).is_some_and(|line| line.bytes().all(is_blank));
        if keep || !blank {
            return before;
        }
        end = start;
    }
}

/// Length of the line end just before the offset.
pub(crate) fn trailing_break(text: &str, at: usize) -> usize {
    match text.get(..at) {
        Some(before) if before.ends_with("\r\n") => 2,
        Some(before) if before.ends_with(['\n', '\r']) => 1,
        _ => 0,
    }
}

/// End of a block scalar's header (`|`, `>-`, `|2+`) without its comment.
pub(crate) fn header_line_end(text: &str, header: usize) -> usize {
    let mut at = header + 1;
    while matches!(byte(text, at), b'+' | b'-' | b'0'..=b'9') {
        at += 1;
    }
    at
}
