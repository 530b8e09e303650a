//! Head and tail of a stream, in bounded memory.

use std::collections::VecDeque;
use std::path::PathBuf;

/// What was left out between head and tail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Bytes left out.
    pub bytes: u64,
}

/// A stream as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// Head, a line that says what was left out if anything was, and tail.
    pub text: String,
    /// Bytes that were no UTF-8 have been replaced by U+FFFD.
    pub lossy: bool,
    /// What was left out in the middle.
    pub cut: Option<Cut>,
}

/// One captured stream: its first and last bytes, and where the whole is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    pub(crate) head: Vec<u8>,
    pub(crate) tail: VecDeque<u8>,
    pub(crate) limit: usize,
    total: u64,
    /// The file that holds every byte; only where [`crate::Run::spill`] was set and the stream was cut.
    pub spilled: Option<PathBuf>,
    /// Why the file above does not hold every byte.
    pub spill_failed: Option<String>,
}

impl Output {
    /// An empty stream that keeps up to `limit` bytes: half of them from the start, half from the end.
    pub(crate) fn with_limit(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Takes bytes in.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = (self.limit / 2).saturating_sub(self.head.len());
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        let keep = self.limit - self.limit / 2;
        let rest = &rest[rest.len().saturating_sub(keep)..];
        let over = (self.tail.len() + rest.len()).saturating_sub(keep);
        self.tail.drain(..over);
        self.tail.extend(rest);
    }

    /// Whether taking in `more` bytes would leave something out for the first time.
    pub(crate) fn would_cut(&self, more: usize) -> bool {
        self.total as usize + more > self.limit
    }

    /// Every byte so far; only right as long as nothing has been left out.
    pub(crate) fn kept(&self) -> Vec<u8> {
        let mut all = self.head.clone();
        all.extend(&self.tail);
        all
    }

    /// Bytes the child wrote.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// What was left out, if anything.
    pub fn cut(&self) -> Option<Cut> {
        let kept = (self.head.len() + self.tail.len()) as u64;
        (self.total > kept).then(|| Cut { bytes: self.total - kept })
    }

    /// The bytes, if nothing was left out.
    pub fn whole(&self) -> Option<Vec<u8>> {
        self.cut().is_none().then(|| self.kept())
    }

    /// The stream as text; a character that the cut went through is dropped, not replaced.
    pub fn text(&self) -> Text {
        let cut = self.cut();
        let Some(gone) = cut else {
            let all = self.kept();
            let (text, lossy) = decode(&all);
            return Text { text, lossy, cut };
        };
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        let (mut text, lossy_head) = decode(without_broken_end(&self.head));
        let (end, lossy_tail) = decode(without_broken_start(&tail));
        text.push_str(&format!("\n… {} bytes left out …\n", gone.bytes));
        text.push_str(&end);
        Text { text, lossy: lossy_head || lossy_tail, cut }
    }
}

fn decode(bytes: &[u8]) -> (String, bool) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), false),
        Err(_) => (String::from_utf8_lossy(bytes).into_owned(), true),
    }
}

/// Without the first bytes of a character whose rest is missing at the end.
fn without_broken_end(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
        _ => bytes,
    }
}

/// Without the last bytes of a character whose start is missing.
fn without_broken_start(bytes: &[u8]) -> &[u8] {
    let broken = bytes.iter().take(3).take_while(|byte| (0x80..0xC0).contains(*byte)).count();
    &bytes[broken..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(limit: usize, chunks: &[&[u8]]) -> Output {
        let mut output = Output::with_limit(limit);
        for chunk in chunks {
            output.push(chunk);
        }
        output
    }

    #[test]
    fn an_3_2_keeps_head_and_tail_and_counts_the_rest() {
        let output = filled(8, &[b"abcdef", b"ghijklm", b"nop"]);
        assert_eq!(output.head, b"abcd");
        assert_eq!(output.tail, b"mnop".to_vec());
        assert_eq!(output.cut(), Some(Cut { bytes: 8 }));
        assert_eq!(output.total(), 16);
        assert_eq!(output.text().text, "abcd\n… 8 bytes left out …\nmnop");
        assert_eq!(output.whole(), None);
    }

    #[test]
    fn nothing_is_cut_up_to_the_limit() {
        let output = filled(8, &[b"abcdefgh"]);
        assert_eq!(output.cut(), None);
        assert_eq!(output.whole().as_deref(), Some(&b"abcdefgh"[..]));
        assert!(!filled(8, &[b"abc"]).would_cut(5));
        assert!(filled(8, &[b"abc"]).would_cut(6));
    }

    #[test]
    fn an_3_2_bytes_that_are_no_utf8_are_flagged() {
        let text = filled(64, &[b"ok \xff\xfe"]).text();
        assert!(text.lossy);
        assert_eq!(text.text, "ok \u{fffd}\u{fffd}");
        assert!(!filled(64, &["grün".as_bytes()]).text().lossy);
    }

    #[test]
    fn a_character_at_the_cut_does_not_count_as_bad() {
        // The head ends within ä, the tail starts within ö.
        let output = filled(6, &["abäxxxxxxöcd".as_bytes()]);
        let text = output.text();
        assert!(!text.lossy, "{text:?}");
        assert!(text.text.starts_with("ab\n"), "{text:?}");
        assert!(text.text.ends_with("\ncd"), "{text:?}");
    }
}
