//! Server-sent events, decoded in bounded memory.

use std::time::Duration;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Event {
    /// `event:`; empty means `message`.
    pub(crate) kind: String,
    /// `data:` lines, joined by newlines.
    pub(crate) data: String,
}

/// What a chunk of bytes brought.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

/// Takes bytes in, gives events out, remembers the last event ID and the reconnection time.
#[derive(Debug)]
pub(crate) struct Decoder {
    limit: usize,
    line: Vec<u8>,
    after_cr: bool,
    started: bool,
    event: Event,
    has_data: bool,
    id: Option<String>,
    /// The last ID that an event carried.
    pub(crate) last_id: Option<String>,
    /// The last `retry:`.
    pub(crate) retry: Option<Duration>,
}

impl Decoder {
    /// A decoder for events of at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            after_cr: false,
            started: false,
            event: Event::default(),
            has_data: false,
            id: None,
            last_id: None,
            retry: None,
        }
    }

    /// A decoder for the continuation of a stream on a new connection.
    pub(crate) fn resumed(&self) -> Self {
        Self { last_id: self.last_id.clone(), retry: self.retry, ..Self::new(self.limit) }
    }

    /// Takes bytes in and appends the events they complete to `events`.
    pub(crate) fn push(&mut self, bytes: &[u8], events: &mut Vec<Event>) -> Result<(), TooLarge> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_cr) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            match rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
                Some(end) => {
                    self.extend(&rest[..end])?;
                    self.after_cr = rest[end] == b'\r';
                    rest = &rest[end + 1..];
                    self.end_line(events);
                }
                None => {
                    self.extend(rest)?;
                    rest = &[];
                }
            }
        }
        Ok(())
    }

    fn extend(&mut self, part: &[u8]) -> Result<(), TooLarge> {
        if self.line.len() + self.event.data.len() + part.len() > self.limit + 64 {
            return Err(TooLarge);
        }
        self.line.extend_from_slice(part);
        Ok(())
    }

    fn end_line(&mut self, events: &mut Vec<Event>) {
        let line = std::mem::take(&mut self.line);
        let mut text = String::from_utf8_lossy(&line);
        if !std::mem::replace(&mut self.started, true)
            && let Some(rest) = text.strip_prefix('\u{feff}')
        {
            text = rest.to_owned().into();
        }
        if text.is_empty() {
            return self.dispatch(events);
        }
        let (field, value) = match text.split_once(':') {
            Some((field, value)) => (field, value.strip_prefix(' ').unwrap_or(value)),
            None => (&*text, ""),
        };
        match field {
            "event" => self.event.kind = value.to_owned(),
            "data" => {
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.has_data = true;
                self.event.data.push_str(value);
            }
            "id" if !value.contains('\0') => self.id = Some(value.to_owned()),
            "retry" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.retry = value.parse().ok().map(Duration::from_millis);
            }
            // Comments have an empty field name; unknown fields are ignored by the standard.
            _ => {}
        }
    }

    fn dispatch(&mut self, events: &mut Vec<Event>) {
        if let Some(id) = self.id.take() {
            self.last_id = (!id.is_empty()).then_some(id);
        }
        let event = std::mem::take(&mut self.event);
        if std::mem::take(&mut self.has_data) {
            events.push(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(chunks: &[&str]) -> (Vec<Event>, Decoder) {
        let mut decoder = Decoder::new(1000);
        let mut events = Vec::new();
        for chunk in chunks {
            decoder.push(chunk.as_bytes(), &mut events).unwrap();
        }
        (events, decoder)
    }

    fn event(kind: &str, data: &str) -> Event {
        Event { kind: kind.into(), data: data.into() }
    }

    #[test]
    fn events_come_whole_however_the_bytes_are_cut() {
        let text = "\u{feff}: hello\nevent: endpoint\r\ndata: /x\r\n\r\ndata:a\rdata: b\r\rid: 9\nretry: 250\ndata\n\n";
        let wanted = [event("endpoint", "/x"), event("", "a\nb"), event("", "")];
        assert_eq!(decode(&[text]).0, wanted);
        let bytes = text.as_bytes();
        let mut decoder = Decoder::new(1000);
        let mut events = Vec::new();
        for byte in bytes {
            decoder.push(std::slice::from_ref(byte), &mut events).unwrap();
        }
        assert_eq!(events, wanted);
        assert_eq!(decoder.last_id.as_deref(), Some("9"));
        assert_eq!(decoder.retry, Some(Duration::from_millis(250)));
    }

    #[test]
    fn an_id_without_data_still_counts_for_resuming() {
        let (events, decoder) = decode(&["id: 1\nretry: x\n\n", "data: cut"]);
        assert_eq!(events, []);
        assert_eq!(decoder.last_id.as_deref(), Some("1"));
        assert_eq!(decoder.retry, None);
        assert_eq!(decoder.resumed().last_id.as_deref(), Some("1"));
    }

    #[test]
    fn an_event_beyond_the_limit_is_refused_while_it_comes() {
        let mut decoder = Decoder::new(100);
        let mut events = Vec::new();
        decoder.push(b"data: ", &mut events).unwrap();
        let refused = (0..20).find(|_| decoder.push(&[b'x'; 10], &mut events).is_err());
        assert!(refused.is_some_and(|chunk| chunk < 18), "{refused:?}");
        let mut many = Decoder::new(100);
        let refused = (0..200).find(|_| many.push(b"data: xxx\n", &mut events).is_err());
        assert!(refused.is_some(), "many short lines of one event");
    }
}
