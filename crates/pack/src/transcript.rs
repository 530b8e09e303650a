//! What a program says, line by line: cleaned, masked, bounded, and kept whole in a file where it is long.
//!
//! Raw bytes are never kept. A line is decoded, freed of what would steer a terminal, and masked before anything else
//! sees it; so no secret reaches the file, the log or the answer, and memory stays small whatever is printed.

use pintle_core::{Failure, Foreign, Resource};
use pintle_dispatch::{Spilling, StateFolder};
use pintle_process::Stream;
use std::collections::VecDeque;

/// Bytes of each text kept from its start, and as many from its end.
const SIDE: usize = 128 * 1024;
/// A line longer than this is taken in pieces.
const PIECE: usize = 64 * 1024;
/// Bytes of a piece that are held back, so that an escape or a secret is not cut in two where that can be helped.
const HELD_BACK: usize = 2 * 1024;

/// Hides secrets in a line.
pub(crate) type Masking = Box<dyn Fn(&str) -> String + Send>;
/// Sees every line and every state of a line that is drawn over; the flag says that the line is final.
pub(crate) type Watch = Box<dyn FnMut(Stream, &str, bool) + Send>;

/// Takes in what a program says.
pub(crate) struct Transcript {
    out: Line,
    err: Line,
    stdout: Kept,
    stderr: Kept,
    both: Kept,
    state: Option<StateFolder>,
    spill: Spill,
    lossy: bool,
    mask: Masking,
    watch: Watch,
}

/// The file of a text too long for memory.
enum Spill {
    None,
    Open(Spilling),
    Failed(Failure),
}

/// What a program said.
pub(crate) struct Said {
    /// Standard output.
    pub(crate) stdout: Kept,
    /// Standard error.
    pub(crate) stderr: Kept,
    /// Both, in the order in which the lines ended.
    pub(crate) both: Kept,
    /// Whether bytes that are no UTF-8 were replaced.
    pub(crate) lossy: bool,
    state: Option<StateFolder>,
    spill: Spill,
}

impl Transcript {
    /// An empty one. Without a state folder nothing can be kept whole.
    pub(crate) fn new(state: Option<StateFolder>, mask: Masking, watch: Watch) -> Self {
        Self {
            out: Line::default(),
            err: Line::default(),
            stdout: Kept::default(),
            stderr: Kept::default(),
            both: Kept::default(),
            state,
            spill: Spill::None,
            lossy: false,
            mask,
            watch,
        }
    }

    /// Takes bytes in.
    pub(crate) fn take(&mut self, stream: Stream, mut bytes: &[u8]) {
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.push(stream, &bytes[..end]);
            let line = self.line(stream);
            if bytes[end] == b'\n' {
                let line = line.end();
                self.told(stream, &line, true, true);
            } else if let Some(drawn) = line.draw_over() {
                self.told(stream, &drawn, true, false);
            }
            bytes = &bytes[end + 1..];
        }
        self.push(stream, bytes);
    }

    fn push(&mut self, stream: Stream, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let line = self.line(stream);
            let room = PIECE - line.open.len().min(PIECE);
            let (first, rest) = bytes.split_at(room.min(bytes.len()));
            line.push(first);
            if let Some(piece) = line.piece() {
                self.told(stream, &piece, false, true);
            }
            bytes = rest;
        }
    }

    fn line(&mut self, stream: Stream) -> &mut Line {
        match stream {
            Stream::Stdout => &mut self.out,
            Stream::Stderr => &mut self.err,
        }
    }

    /// A line, or a piece of one; what is drawn over is only watched.
    fn told(&mut self, stream: Stream, bytes: &[u8], whole: bool, keep: bool) {
        let said = Foreign::from_bytes(bytes);
        let mut text = (self.mask)(&said.text);
        (self.watch)(stream, &text, keep);
        if !keep {
            return;
        }
        self.lossy |= said.lossy;
        if whole {
            text.push('\n');
        }
        match stream {
            Stream::Stdout => self.stdout.push(&text),
            Stream::Stderr => self.stderr.push(&text),
        }
        self.spill(&text);
        self.both.push(&text);
    }

    /// Writes on, or begins with all that is still there whole.
    fn spill(&mut self, text: &str) {
        let begun = match (&self.spill, &self.state) {
            (Spill::None, Some(state)) if self.both.would_cut(text) => {
                Spilling::begin(state).and_then(|mut spilling| {
                    spilling.write(&self.both.text())?;
                    Ok(spilling)
                })
            }
            (Spill::Open(_), _) => {
                if let Spill::Open(spilling) = &mut self.spill
                    && let Err(failure) = spilling.write(text)
                {
                    self.spill = Spill::Failed(failure);
                }
                return;
            }
            _ => return,
        };
        self.spill = begun
            .and_then(|mut spilling| spilling.write(text).map(|()| Spill::Open(spilling)))
            .unwrap_or_else(Spill::Failed);
    }

    /// What was said in all; a line without its end counts.
    pub(crate) fn finish(mut self) -> Said {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let rest = self.line(stream).end();
            if !rest.is_empty() {
                self.told(stream, &rest, false, true);
            }
        }
        Said {
            stdout: self.stdout,
            stderr: self.stderr,
            both: self.both,
            lossy: self.lossy,
            state: self.state,
            spill: self.spill,
        }
    }
}

impl Said {
    /// The whole text as a resource; none where it could not be kept, and then why.
    pub(crate) fn keep(&mut self, what: &str) -> Result<Option<Resource>, Failure> {
        match std::mem::replace(&mut self.spill, Spill::None) {
            Spill::Open(spilling) => spilling.finish(what).map(Some),
            Spill::Failed(failure) => Err(failure),
            Spill::None => match &self.state {
                Some(state) if !self.both.is_cut() => {
                    let mut spilling = Spilling::begin(state)?;
                    spilling.write(&self.both.text())?;
                    spilling.finish(what).map(Some)
                }
                _ => Ok(None),
            },
        }
    }
}

/// A line that has not ended.
#[derive(Default)]
struct Line {
    open: Vec<u8>,
    /// What the program may be about to draw over.
    drawn: Option<Vec<u8>>,
}

impl Line {
    fn push(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.drawn = None;
            self.open.extend_from_slice(bytes);
        }
    }

    /// The line as it stands at its end.
    fn end(&mut self) -> Vec<u8> {
        let drawn = self.drawn.take();
        let open = std::mem::take(&mut self.open);
        if open.is_empty() { drawn.unwrap_or_default() } else { open }
    }

    /// The program goes back to the start of the line.
    fn draw_over(&mut self) -> Option<Vec<u8>> {
        if self.open.is_empty() {
            return None;
        }
        let drawn = std::mem::take(&mut self.open);
        self.drawn = Some(drawn.clone());
        Some(drawn)
    }

    /// The first part of a line that is too long to wait for; cut where words or members end, if they do.
    fn piece(&mut self) -> Option<Vec<u8>> {
        if self.open.len() < PIECE {
            return None;
        }
        let latest = PIECE - HELD_BACK;
        let apart = self.open[PIECE / 2..latest].iter().rposition(|byte| matches!(byte, b',' | b';' | b'}'));
        let mut at = apart.map_or(latest, |at| PIECE / 2 + at + 1);
        // Never within a character.
        while at > 1 && (0x80..0xc0).contains(&self.open[at]) {
            at -= 1;
        }
        let rest = self.open.split_off(at);
        Some(std::mem::replace(&mut self.open, rest))
    }
}

/// The start and the end of a text.
#[derive(Default)]
pub(crate) struct Kept {
    head: String,
    tail: VecDeque<String>,
    tail_bytes: usize,
    /// Bytes between them that are gone.
    gone: u64,
}

impl Kept {
    fn push(&mut self, text: &str) {
        let mut rest = text;
        if self.tail.is_empty() && self.gone == 0 && self.head.len() < SIDE {
            let at = floor(text, SIDE - self.head.len());
            self.head.push_str(&text[..at]);
            rest = &text[at..];
        }
        if rest.is_empty() {
            return;
        }
        self.tail.push_back(rest.to_owned());
        self.tail_bytes += rest.len();
        while self.tail_bytes > SIDE {
            let Some(first) = self.tail.pop_front() else { break };
            self.tail_bytes -= first.len();
            self.gone += first.len() as u64;
        }
    }

    fn would_cut(&self, more: &str) -> bool {
        self.gone > 0 || self.head.len() + self.tail_bytes + more.len() > 2 * SIDE
    }

    /// Whether something is gone.
    pub(crate) fn is_cut(&self) -> bool {
        self.gone > 0
    }

    /// Whether nothing was said.
    pub(crate) fn is_empty(&self) -> bool {
        self.head.is_empty()
    }

    /// Start and end, with a line between them that says how much is gone.
    pub(crate) fn text(&self) -> String {
        let mut text = self.head.clone();
        if self.gone > 0 {
            if !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&left_out(self.gone));
        }
        text.extend(self.tail.iter().map(String::as_str));
        text
    }

    /// The same in at most that many bytes, or a little less, and whether something is left out.
    pub(crate) fn within(&self, limit: usize) -> (String, bool) {
        let text = self.text();
        if text.len() <= limit {
            return (text, self.is_cut());
        }
        let room = limit.saturating_sub(48);
        let head = floor(&text, room / 2);
        let mut tail = text.len() - room / 2;
        while !text.is_char_boundary(tail) {
            tail += 1;
        }
        let gone = (tail - head) as u64 + self.gone;
        let newline = if text[..head].ends_with('\n') { "" } else { "\n" };
        (format!("{}{newline}{}{}", &text[..head], left_out(gone), &text[tail..]), true)
    }

    /// The last lines that are not empty, at most that many.
    pub(crate) fn last_lines(&self, count: usize) -> Vec<String> {
        let text = self.text();
        let mut last: Vec<String> =
            text.lines().rev().filter(|line| !line.trim().is_empty()).take(count).map(shortened).collect();
        last.reverse();
        last
    }
}

fn left_out(bytes: u64) -> String {
    format!("… {bytes} bytes left out …\n")
}

/// A line as a message can hold it.
fn shortened(line: &str) -> String {
    let at = floor(line, 400);
    if at < line.len() { format!("{}…", &line[..at]) } else { line.to_owned() }
}

/// The nearest character boundary at or below `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    type Lines = Arc<Mutex<Vec<(String, bool)>>>;

    fn transcript(state: Option<StateFolder>) -> (Transcript, Lines) {
        let lines = Lines::default();
        let seen = Arc::clone(&lines);
        let watch = move |_, text: &str, last| seen.lock().unwrap().push((text.to_owned(), last));
        (Transcript::new(state, Box::new(|text| text.replace("hunter2", "‹secret›")), Box::new(watch)), lines)
    }

    fn heard(chunks: &[(Stream, &[u8])]) -> (Said, Vec<(String, bool)>) {
        let (mut transcript, lines) = transcript(None);
        for (stream, bytes) in chunks {
            transcript.take(*stream, bytes);
        }
        let said = transcript.finish();
        let lines = lines.lock().unwrap().clone();
        (said, lines)
    }

    #[test]
    fn eg_008_an_3_2_colours_go_and_what_is_drawn_over_is_told_once_but_watched() {
        let (said, lines) = heard(&[
            (Stream::Stdout, b"\x1b[1;3"),
            (Stream::Stdout, b"2mgreen\x1b[0m\n10%\r"),
            (Stream::Stdout, b"50%\r100%\r\nend"),
            (Stream::Stderr, b"dos\r\nbad \xff\n"),
        ]);
        assert_eq!(said.stdout.text(), "green\n100%\nend");
        assert_eq!(said.stderr.text(), "dos\nbad \u{fffd}\n");
        assert!(said.lossy);
        let passing: Vec<_> = lines.iter().filter(|(_, last)| !last).map(|(text, _)| text.as_str()).collect();
        assert_eq!(passing, ["10%", "50%", "100%", "dos"]);
    }

    #[test]
    fn eg_009_both_streams_are_told_apart_and_in_their_order() {
        let (said, _) = heard(&[(Stream::Stdout, b"one\ntw"), (Stream::Stderr, b"oops\n"), (Stream::Stdout, b"o\n")]);
        assert_eq!(said.both.text(), "one\noops\ntwo\n");
        assert_eq!((said.stdout.text().as_str(), said.stderr.text().as_str()), ("one\ntwo\n", "oops\n"));
        assert!(!said.lossy && !said.both.is_cut());
    }

    #[test]
    fn s_38_twenty_megabytes_take_little_memory_and_are_all_in_the_file() {
        let temp = tempfile::tempdir().unwrap();
        let state = StateFolder::at(temp.path());
        let (mut transcript, _) = transcript(Some(state.clone()));
        let mut wanted = String::new();
        for number in 0..400_000 {
            let line = format!("line {number} of a long text, hunter2 in it\n");
            transcript.take(Stream::Stdout, line.as_bytes());
            wanted.push_str(&line.replace("hunter2", "‹secret›"));
        }
        assert!(wanted.len() > 20_000_000 - 2_000_000);
        let mut said = transcript.finish();
        assert!(said.stdout.is_cut() && said.stdout.text().len() < 3 * SIDE);
        let (short, cut) = said.both.within(25_000);
        assert!(cut && short.len() <= 25_000 && short.starts_with("line 0 ") && short.contains("bytes left out"));
        assert!(short.ends_with("line 399999 of a long text, ‹secret› in it\n"));
        let resource = said.keep("eggs").unwrap().unwrap();
        assert_eq!(resource.size, Some(wanted.len() as u64));
        let id = resource.uri.rsplit('/').next().unwrap();
        let file = std::fs::read_to_string(state.folder("spill").unwrap().join(format!("{id}.txt"))).unwrap();
        assert!(file == wanted, "every byte, without the secret");
    }

    #[test]
    fn s_38_a_line_of_ten_megabytes_is_taken_in_pieces() {
        let (mut transcript, _) = transcript(None);
        let member = b"\"password\": \"hunter2\", \"n\": \"\xc3\xa4\xc3\xa4\", ";
        for _ in 0..250_000 {
            transcript.take(Stream::Stdout, member);
        }
        assert!(transcript.out.open.len() <= PIECE);
        let said = transcript.finish();
        let text = said.stdout.text();
        assert!(!text.contains("hunter") && !said.lossy && said.stdout.is_cut());
        assert_eq!(text.lines().count(), 3, "no newline is made up but for what is left out");
    }

    #[test]
    fn what_was_not_too_long_can_still_be_kept_whole() {
        let temp = tempfile::tempdir().unwrap();
        let (mut transcript, _) = transcript(Some(StateFolder::at(temp.path())));
        transcript.take(Stream::Stderr, "ä\n".repeat(20_000).as_bytes());
        let mut said = transcript.finish();
        let (short, cut) = said.both.within(1000);
        assert!(cut && short.len() <= 1000, "{}", short.len());
        assert_eq!(said.keep("x").unwrap().unwrap().size, Some(60_000));
        assert_eq!(said.stderr.last_lines(2), ["ä", "ä"]);
        let (nobody, _) = heard(&[]);
        assert!(nobody.both.is_empty());
    }
}
