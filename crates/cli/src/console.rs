//! The terminal, or whatever stands in its place: where text goes, how wide it is, whether colours are wanted.

use crate::options::{Color, Options};
use indicatif::{ProgressBar, ProgressStyle};
use pintle_core::Failure;
use std::{
    io::{self, BufRead, BufReader, IsTerminal, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// What is known of the streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terminal {
    /// Whether somebody can type answers.
    pub input: bool,
    /// Whether standard output is a terminal.
    pub output: bool,
    /// Whether standard error is a terminal.
    pub error: bool,
    /// Columns, where standard output is a terminal.
    pub width: Option<usize>,
    /// Whether the environment has nothing against colours.
    pub colors: bool,
}

impl Terminal {
    /// Of this process.
    #[must_use]
    pub fn of_process() -> Self {
        let output = io::stdout().is_terminal();
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        Self {
            input: io::stdin().is_terminal(),
            output,
            error: io::stderr().is_terminal(),
            width: terminal_size::terminal_size().filter(|_| output).map(|(width, _)| usize::from(width.0)),
            colors: !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb"),
        }
    }
}

/// Both ways out and the way in.
pub struct Console {
    out: Mutex<Sink>,
    err: Mutex<Sink>,
    input: Arc<Mutex<Box<dyn BufRead + Send>>>,
    terminal: Terminal,
    color: Color,
    quiet: bool,
    bar: Mutex<Option<ProgressBar>>,
    /// Whether a bar may be drawn: only on the process's own standard error.
    draws: bool,
}

struct Sink {
    writer: Box<dyn Write + Send>,
    /// Set once nobody reads any more, or nothing can be written.
    closed: Option<io::Error>,
}

impl Sink {
    fn write(&mut self, text: &str) {
        if self.closed.is_none() {
            self.closed = self.writer.write_all(text.as_bytes()).and_then(|()| self.writer.flush()).err();
        }
    }
}

impl Console {
    /// The streams of this process.
    #[must_use]
    pub fn of_process(options: &Options) -> Self {
        let mut console = Self::new(
            Box::new(io::stdout()),
            Box::new(io::stderr()),
            Box::new(BufReader::new(io::stdin())),
            Terminal::of_process(),
            options,
        );
        console.draws = console.terminal.error && !console.quiet;
        console
    }

    /// Any streams.
    #[must_use]
    pub fn new(
        out: Box<dyn Write + Send>,
        err: Box<dyn Write + Send>,
        input: Box<dyn BufRead + Send>,
        terminal: Terminal,
        options: &Options,
    ) -> Self {
        let sink = |writer| Mutex::new(Sink { writer, closed: None });
        Self {
            out: sink(out),
            err: sink(err),
            input: Arc::new(Mutex::new(input)),
            terminal,
            color: options.color,
            quiet: options.quiet,
            bar: Mutex::default(),
            draws: false,
        }
    }

    /// What is known of the streams.
    #[must_use]
    pub fn terminal(&self) -> Terminal {
        self.terminal
    }

    /// Whether a person is there to be asked.
    #[must_use]
    pub fn can_ask(&self) -> bool {
        self.terminal.input && self.terminal.error
    }

    pub(crate) fn quiet(&self) -> bool {
        self.quiet
    }

    /// Whether standard output takes colours.
    #[must_use]
    pub fn colors_out(&self) -> bool {
        self.wants_colors(self.terminal.output)
    }

    pub(crate) fn colors_err(&self) -> bool {
        self.wants_colors(self.terminal.error)
    }

    fn wants_colors(&self, is_terminal: bool) -> bool {
        match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => is_terminal && self.terminal.colors,
        }
    }

    /// Writes data as it is.
    pub fn out(&self, text: &str) {
        self.above_bar(|| locked(&self.out).write(text));
    }

    /// Writes what is not data, as it is.
    pub fn err(&self, text: &str) {
        self.above_bar(|| locked(&self.err).write(text));
    }

    /// What kept data from being written; that nobody reads it any more is no failure.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        let out = locked(&self.out);
        let error = out.closed.as_ref().filter(|error| error.kind() != io::ErrorKind::BrokenPipe)?;
        Some(Failure::io("writing the answer", error))
    }

    /// Reads the line that a person types, after `question`; none at the end of input.
    pub(crate) async fn line(&self, question: &str) -> Option<String> {
        self.end_progress();
        self.err(question);
        let input = Arc::clone(&self.input);
        let (send, receive) = tokio::sync::oneshot::channel();
        // A thread of its own: one that is still waiting for the person must not keep the process from ending.
        std::thread::spawn(move || {
            let mut line = String::new();
            let read = locked(&input).read_line(&mut line);
            // Nobody waits for it when the call was cancelled meanwhile.
            let _ = send.send(matches!(read, Ok(1..)).then_some(line));
        });
        receive.await.ok().flatten().map(|line| line.trim().to_owned())
    }

    /// Shows how far it is, on a terminal.
    pub(crate) fn progress(&self, done: f64, total: Option<f64>, message: &str) {
        if !self.draws {
            return;
        }
        let mut slot = locked(&self.bar);
        let bar = slot.get_or_insert_with(|| {
            let bar = ProgressBar::new_spinner();
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        if let Some(total) = total.filter(|total| *total > 0.0) {
            if bar.length().is_none()
                && let Ok(style) = ProgressStyle::with_template("{spinner} {bar:24} {percent}% {msg}")
            {
                bar.set_style(style);
            }
            bar.set_length(total.round() as u64);
            bar.set_position(done.round() as u64);
        }
        bar.set_message(message.to_owned());
    }

    /// Takes the progress away.
    pub(crate) fn end_progress(&self) {
        if let Some(bar) = locked(&self.bar).take() {
            bar.finish_and_clear();
        }
    }

    fn above_bar(&self, write: impl FnOnce()) {
        match &*locked(&self.bar) {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
