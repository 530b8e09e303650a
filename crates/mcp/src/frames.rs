//! Lines out of a stream of bytes, none longer than the limit.

/// What came between two newlines.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// A line, without its newline.
    Line(Vec<u8>),
    /// A line over the limit; its bytes were not kept.
    TooLong,
}

/// Cuts bytes into lines.
#[derive(Debug)]
pub(crate) struct Frames {
    limit: usize,
    partial: Vec<u8>,
    /// The rest of a line that was already refused is on its way.
    discarding: bool,
}

impl Frames {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, partial: Vec::new(), discarding: false }
    }

    /// Takes bytes in and gives out the lines that end in them.
    pub(crate) fn push(&mut self, mut bytes: &[u8], out: &mut Vec<Frame>) {
        while let Some(at) = bytes.iter().position(|byte| *byte == b'\n') {
            let (line, rest) = (&bytes[..at], &bytes[at + 1..]);
            bytes = rest;
            if std::mem::take(&mut self.discarding) {
                continue;
            }
            if self.partial.len() + line.len() > self.limit {
                self.partial = Vec::new();
                out.push(Frame::TooLong);
            } else {
                let mut whole = std::mem::take(&mut self.partial);
                whole.extend_from_slice(line);
                out.push(Frame::Line(whole));
            }
        }
        if self.discarding {
            return;
        }
        if self.partial.len() + bytes.len() > self.limit {
            self.partial = Vec::new();
            self.discarding = true;
            out.push(Frame::TooLong);
        } else {
            self.partial.extend_from_slice(bytes);
        }
    }

    /// The last line, which nobody ended.
    pub(crate) fn finish(self) -> Option<Frame> {
        (!self.discarding && !self.partial.is_empty()).then_some(Frame::Line(self.partial))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(limit: usize, chunks: &[&str]) -> Vec<String> {
        let mut frames = Frames::new(limit);
        let mut out = Vec::new();
        for chunk in chunks {
            frames.push(chunk.as_bytes(), &mut out);
        }
        out.extend(frames.finish());
        let shown = |frame| match frame {
            Frame::Line(line) => String::from_utf8(line).unwrap(),
            Frame::TooLong => "too long".to_owned(),
        };
        out.into_iter().map(shown).collect()
    }

    #[test]
    fn lines_are_cut_wherever_the_chunks_end() {
        assert_eq!(cut(10, &["a", "b\n", "\nc\nd", "e"]), ["ab", "", "c", "de"]);
        assert_eq!(cut(10, &["1234567890\nx\n"]), ["1234567890", "x"]);
    }

    #[test]
    fn kw_51_a_line_over_the_limit_is_told_once_and_the_next_is_whole() {
        assert_eq!(cut(4, &["123", "45", "6789\nok\n"]), ["too long", "ok"]);
        assert_eq!(cut(4, &["12345\nok"]), ["too long", "ok"]);
        assert_eq!(cut(4, &["12345"]), ["too long"], "and nothing of it at the end");
    }
}
