//! Lines of a child's standard output, in bounded memory.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// How much of the start and the end of a line that is too long is kept to find its ID.
const EDGE: usize = 1024;

/// One line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Whole(Vec<u8>),
    /// Longer than the limit: its first and last bytes.
    TooLong {
        start: Vec<u8>,
        end: Vec<u8>,
    },
}

/// Reads lines of at most `limit` bytes.
pub(crate) struct Lines<R> {
    reader: R,
    limit: usize,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(crate) fn new(reader: R, limit: usize) -> Self {
        Self { reader, limit }
    }

    /// The next line; none at the end. A last line without end counts as a line. Not cancel-safe.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line>> {
        let mut line = Vec::new();
        // The last bytes of a line whose middle is thrown away.
        let mut end: Option<Vec<u8>> = None;
        loop {
            let chunk = self.reader.fill_buf().await?;
            if chunk.is_empty() {
                if line.is_empty() && end.is_none() {
                    return Ok(None);
                }
                return Ok(Some(finish(line, end)));
            }
            let newline = chunk.iter().position(|byte| *byte == b'\n');
            let part = &chunk[..newline.unwrap_or(chunk.len())];
            match &mut end {
                Some(end) => keep_end(end, part),
                None if line.len() + part.len() > self.limit => {
                    let mut last = line[line.len().saturating_sub(EDGE)..].to_vec();
                    keep_end(&mut last, part);
                    end = Some(last);
                    let missing = EDGE.saturating_sub(line.len()).min(part.len());
                    line.extend_from_slice(&part[..missing]);
                    line.truncate(EDGE);
                    line.shrink_to_fit();
                }
                None => line.extend_from_slice(part),
            }
            let used = part.len() + usize::from(newline.is_some());
            self.reader.consume(used);
            if newline.is_some() {
                return Ok(Some(finish(line, end)));
            }
        }
    }
}

fn keep_end(end: &mut Vec<u8>, part: &[u8]) {
    end.extend_from_slice(part);
    let over = end.len().saturating_sub(EDGE);
    end.drain(..over);
}

fn finish(mut line: Vec<u8>, end: Option<Vec<u8>>) -> Line {
    match end {
        Some(end) => Line::TooLong { start: line, end },
        None => {
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            Line::Whole(line)
        }
    }
}

/// The ID of an answer of which only the edges are known: near the start before any content, or as the very
/// last member.
pub(crate) fn find_id(start: &[u8], end: &[u8]) -> Option<u64> {
    let start = String::from_utf8_lossy(start);
    if let Some((head, _)) = start.split_once("\"result\"")
        && let Some(position) = head.find("\"id\"")
    {
        return number_after(head, position).map(|(id, _)| id);
    }
    let end = String::from_utf8_lossy(end);
    let (id, rest) = number_after(&end, end.rfind("\"id\"")?)?;
    // One brace closes the message; more would close something inside of it.
    (rest.trim() == "}").then_some(id)
}

/// The number that is the value of the member at `position`, and what follows.
fn number_after(text: &str, position: usize) -> Option<(u64, &str)> {
    let rest = text.get(position + 4..)?.trim_start().strip_prefix(':')?;
    let rest = rest.trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    Some((rest[..digits].parse().ok()?, &rest[digits..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(text: &[u8], limit: usize) -> Vec<Line> {
        // A small buffer makes lines arrive in pieces.
        let mut lines = Lines::new(tokio::io::BufReader::with_capacity(7, text), limit);
        let mut seen = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            seen.push(line);
        }
        seen
    }

    fn whole(text: &str) -> Line {
        Line::Whole(text.into())
    }

    #[tokio::test]
    async fn lines_end_with_lf_crlf_or_the_stream() {
        assert_eq!(
            all(b"one\ntwo two two\r\n\nlast", 100).await,
            [whole("one"), whole("two two two"), whole(""), whole("last")]
        );
    }

    #[tokio::test]
    async fn a_long_line_leaves_its_edges_and_the_next_line_is_whole() {
        let long = format!("{{\"id\":7,\"result\":\"{}\"}}\nnext\n", "x".repeat(5000));
        let seen = all(long.as_bytes(), 3000).await;
        let Line::TooLong { start, end } = &seen[0] else {
            panic!("{seen:?}");
        };
        assert!(start.starts_with(b"{\"id\":7") && start.len() <= EDGE);
        assert!(end.ends_with(b"xx\"}") && end.len() <= EDGE);
        assert_eq!(seen[1], whole("next"));
    }

    #[tokio::test]
    async fn a_line_of_just_the_limit_is_whole() {
        assert_eq!(all(b"12345\n", 5).await, [whole("12345")]);
        assert!(matches!(all(b"123456\n", 5).await[..], [Line::TooLong { .. }]));
    }

    #[test]
    fn the_id_of_a_cut_answer_is_found_at_either_edge() {
        assert_eq!(find_id(b"{\"jsonrpc\":\"2.0\", \"id\": 12 ,\"result\":{", b"x}}"), Some(12));
        assert_eq!(find_id(b"{\"result\":{\"id\":3", b"\"}, \"id\":12}"), Some(12));
        // An "id" inside of the content is not the answer's.
        assert_eq!(find_id(b"{\"result\":{\"id\":3", b"\"id\":4,\"x\":1]"), None);
        assert_eq!(find_id(b"{\"result\":{\"id\":3", b"{\"id\":4}}"), None);
        assert_eq!(find_id(b"", b""), None);
    }
}
