//! Words with the tags of the real program.

use pintle_testkit::eggs::Fault;
use std::{
    cell::Cell,
    io::{self, Write},
    time::Duration,
};

/// Both outputs. Nobody listening is no reason to stop, as faults are made of that.
pub struct Out {
    drip: Option<Duration>,
    partial: bool,
    /// An end of line that is due before the next line.
    owed: Cell<bool>,
}

impl Out {
    pub fn new(fault: &Fault) -> Self {
        let drip = (fault.drip_ms > 0).then(|| Duration::from_millis(fault.drip_ms));
        Self { drip, partial: fault.partial_line, owed: Cell::new(false) }
    }

    /// A line of its own.
    pub fn line(&self, text: &str) {
        // The end of each line is held back, so that the last one can stay without.
        let start = if self.owed.replace(self.partial) { "\n" } else { "" };
        let end = if self.partial { "" } else { "\n" };
        self.bytes(format!("{start}{text}{end}").as_bytes());
    }

    pub fn coa(&self, text: &str) {
        self.line(&format!("[coa] {text}"));
    }

    pub fn warning(&self, text: &str) {
        self.line(&format!("[WARNING] {text}"));
    }

    /// What is only logged.
    pub fn error(&self, text: &str) {
        complain(&format!("[ERROR] {text}"));
    }

    pub fn bytes(&self, bytes: &[u8]) {
        let mut output = io::stdout().lock();
        let piece = if self.drip.is_some() { 3 } else { bytes.len().max(1) };
        for piece in bytes.chunks(piece) {
            if output.write_all(piece).and_then(|()| output.flush()).is_err() {
                return;
            }
            if let Some(drip) = self.drip {
                std::thread::sleep(drip);
            }
        }
    }
}

/// A line on standard error.
pub fn complain(text: &str) {
    let _ = io::stderr().write_all(format!("{text}\n").as_bytes());
}
