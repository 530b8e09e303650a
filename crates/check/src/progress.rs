//! A bar on a terminal while a run goes on.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::outcome::Status;
use crate::runner::{Event, Events};

/// What the bar says.
#[derive(Default)]
struct Tally {
    failed: usize,
    running: BTreeSet<String>,
}

/// Events drawn as a bar on standard error; nothing is drawn where that is no terminal.
#[must_use]
pub fn progress_bar() -> Events {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    let tally = Mutex::new(Tally::default());
    Arc::new(move |event| {
        let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Began { total } => bar.set_length(*total as u64),
            Event::Started { id } => {
                tally.running.insert(id.clone());
            }
            Event::Retried { id, attempts } => {
                bar.set_message(format!("{id} (attempt {})", attempts + 1));
                return;
            }
            Event::Ended(outcome) => {
                tally.running.remove(&outcome.id);
                tally.failed += usize::from(matches!(outcome.status, Status::Failed | Status::Error));
                bar.inc(1);
            }
            Event::Finished => {
                bar.finish_and_clear();
                return;
            }
        }
        let running = tally.running.iter().next().cloned().unwrap_or_default();
        bar.set_message(match tally.failed {
            0 => running,
            failed => format!("{failed} failed  {running}"),
        });
    })
}
