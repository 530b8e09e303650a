//! How far a program is, read from what it says.

use pintle_core::Call;
use pintle_packfile::Progress;

/// Follows the lines of a program and tells the caller of each step.
pub(crate) struct Meter {
    signs: Progress,
    call: Call,
    total: Option<f64>,
    /// Steps begun.
    steps: u32,
    /// Hundredths of the running step.
    percent: f64,
    message: String,
    told: f64,
}

impl Meter {
    pub(crate) fn new(signs: Progress, call: Call) -> Self {
        Self { signs, call, total: None, steps: 0, percent: 0.0, message: String::new(), told: 0.0 }
    }

    /// Reads one line, or one state of a line that is drawn over.
    pub(crate) fn read(&mut self, line: &str) {
        if let Some(total) = number(&self.signs.total, "total", line) {
            self.total = Some(total);
        }
        if let Some(step) = &self.signs.step
            && step.is_match(line)
        {
            self.steps += 1;
            self.percent = 0.0;
            self.message = step.group("message", line).unwrap_or(line).trim().to_owned();
            return self.tell(true);
        }
        if let Some(percent) = number(&self.signs.percent, "percent", line).filter(|percent| *percent <= 100.0) {
            self.percent = percent;
            self.tell(false);
        }
    }

    /// What only grows: the steps before this one, and how far this one is.
    fn done(&self) -> (f64, Option<f64>) {
        if self.signs.step.is_none() {
            return (self.percent, Some(100.0));
        }
        let before = f64::from(self.steps.saturating_sub(1));
        (before + self.percent / 100.0, self.total)
    }

    fn tell(&mut self, step: bool) {
        let (done, total) = self.done();
        // A program that counts back, or says the same again, has nothing new to tell.
        if done > self.told || (step && done >= self.told) {
            self.told = done;
            let message = match (self.percent > 0.0, self.signs.step.is_some()) {
                (true, true) => format!("{} {}%", self.message, self.percent),
                (true, false) => format!("{}%", self.percent),
                _ => self.message.clone(),
            };
            self.call.progress(done, total.filter(|total| *total >= done), message.trim());
        }
    }
}

fn number(pattern: &Option<pintle_packfile::Pattern>, group: &str, line: &str) -> Option<f64> {
    pattern.as_ref()?.group(group, line)?.parse().ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use super::*;
    use pintle_core::{
        BoxFuture, CallPort, Caller, Door, Failure, InputRequest, InputResponse, LogLevel, Notice, Stop,
    };
    use pintle_packfile::Pattern;
    use serde_json::Value;
    use std::{
        sync::{Arc, Mutex},
        time::Instant,
    };

    #[derive(Default)]
    struct Heard(Mutex<Vec<String>>);

    impl CallPort for Heard {
        fn cancelled(&self) -> BoxFuture<'_, ()> {
            Box::pin(std::future::pending())
        }
        fn is_cancelled(&self) -> bool {
            false
        }
        fn deadline(&self) -> Option<Instant> {
            None
        }
        fn progress(&self, done: f64, total: Option<f64>, message: &str) {
            let total = total.map_or("?".to_owned(), |total| total.to_string());
            self.0.lock().unwrap().push(format!("{done}/{total} {message}"));
        }
        fn emit(&self, _: Value) {}
        fn log(&self, _: LogLevel, _: &str, _: Value) {}
        fn register_secret(&self, _: &str, _: &str) {}
        fn ask(&self, _: Vec<InputRequest>) -> BoxFuture<'_, Result<Vec<InputResponse>, Stop>> {
            Box::pin(async { Err(Failure::new(pintle_core::Code::NeedsInput, "nobody").into()) })
        }
        fn notify(&self, _: Notice) {}
    }

    fn heard(signs: Progress, lines: &[&str]) -> Vec<String> {
        let port = Arc::new(Heard::default());
        let caller = Caller { door: Door::Agents, principal: "t".into() };
        let mut meter = Meter::new(signs, Call::new(Arc::clone(&port) as _, caller, None, None));
        lines.iter().for_each(|line| meter.read(line));
        port.0.lock().unwrap().clone()
    }

    fn pattern(text: &str) -> Option<Pattern> {
        Some(Pattern::new(text).unwrap())
    }

    #[test]
    fn eg_017_steps_of_a_known_number_are_told_by_name_and_only_grow() {
        let signs = Progress {
            total: pattern(r"Tasks: (?<total>\d+)"),
            step: pattern("Task Execution: (?<message>.+)"),
            percent: pattern(r"(?<percent>\d+)%"),
        };
        let lines = [
            "Tasks: 3",
            "----",
            "Task Execution: one",
            "Task Execution: mksquashfs",
            "10%",
            "10%",
            "5%",
            "60%",
            "999%",
        ];
        assert_eq!(
            heard(signs.clone(), &lines),
            ["0/3 one", "1/3 mksquashfs", "1.1/3 mksquashfs 10%", "1.6/3 mksquashfs 60%"]
        );
        let more = ["Tasks: 1", "Task Execution: a", "Task Execution: b", "Task Execution: c"];
        assert_eq!(heard(signs, &more).last().unwrap(), "2/? c", "more steps than were told have no total");
    }

    #[test]
    fn a_program_without_steps_tells_hundredths() {
        let signs = Progress { total: None, step: None, percent: pattern(r"(?<percent>[\d.]+)%") };
        assert_eq!(heard(signs, &["1.5% done", "no", "80%"]), ["1.5/100 1.5%", "80/100 80%"]);
    }
}
