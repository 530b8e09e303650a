//! Running a child to its end and keeping what it says.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use crate::bounded::Output;
use crate::child::{Child, Exit, Ladder, Stopped};
use crate::spawn::{Spawn, SpawnError};
use crate::{Stdin, Stdout};

/// How long a child that has ended may leave its output open in other hands.
const LINGER: Duration = Duration::from_millis(500);
/// How long the pipes may take to end once everything in the group has been killed.
const DRAIN: Duration = Duration::from_millis(100);

/// One of the two output streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Sees every byte as it comes, before it is bounded.
pub type Observer = Box<dyn FnMut(Stream, &[u8]) + Send>;

/// How a captured run is bounded, watched and cancelled.
pub struct Run {
    /// Bytes kept of each stream: half from its start, half from its end.
    pub limit: usize,
    /// What the child reads on standard input; nothing by default.
    pub input: Vec<u8>,
    /// Keeps the child's standard input open after `input`, until the child is to end. For helpers that gained
    /// privilege: they cannot be signalled, and end when their input ends.
    pub hold_input: bool,
    /// Ends the child after this time; no limit by default.
    pub timeout: Option<Duration>,
    /// Ends the child when cancelled.
    pub cancel: CancellationToken,
    /// How the child is made to end.
    pub ladder: Ladder,
    /// Folder for the full text of a stream that exceeds `limit`: files `stdout` and `stderr`, mode 0600.
    pub spill: Option<PathBuf>,
    /// Called with every chunk of both streams.
    pub observer: Option<Observer>,
}

impl Default for Run {
    /// 256 KiB of each stream, no input, no time limit.
    fn default() -> Self {
        Self {
            limit: 256 * 1024,
            input: Vec::new(),
            hold_input: false,
            timeout: None,
            cancel: CancellationToken::new(),
            ladder: Ladder::default(),
            spill: None,
            observer: None,
        }
    }
}

/// Why a captured child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself.
    Itself,
    /// We ended it because its time was over.
    TimedOut {
        /// The time it had.
        limit: Duration,
        /// What it took.
        by: Stopped,
    },
    /// We ended it because the run was cancelled.
    Cancelled {
        /// What it took.
        by: Stopped,
    },
}

/// The end of a captured run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// Code or signal, and duration.
    pub exit: Exit,
    /// Whose doing the end was.
    pub ended: Ended,
    /// Standard output.
    pub stdout: Output,
    /// Standard error.
    pub stderr: Output,
}

impl Spawn {
    /// Runs the child to its end. Both pipes are read all the time, whatever the child does. Dropping the
    /// future ends the child.
    ///
    /// # Errors
    /// [`SpawnError`] if it did not start, or if the system refuses to wait for it. A child that fails, is
    /// cancelled or times out is not an error: see [`Captured`].
    pub async fn run(self, run: Run) -> Result<Captured, SpawnError> {
        let child = self.start(run.hold_input || !run.input.is_empty()).await?;
        capture(child, run).await.map_err(self.system())
    }
}

async fn capture(mut child: Child, run: Run) -> io::Result<Captured> {
    let stdin = child.take_stdin()?;
    let stdout = child.take_stdout()?;
    let stderr = child.take_stderr()?;
    let observer = std::sync::Mutex::new(run.observer);
    let mut out = Keeper::new(Stream::Stdout, run.limit, run.spill.as_ref(), &observer);
    let mut err = Keeper::new(Stream::Stderr, run.limit, run.spill.as_ref(), &observer);
    let release = CancellationToken::new();
    if !run.hold_input {
        release.cancel();
    }
    let ended = {
        let pumps = async {
            tokio::join!(feed(stdin, &run.input, &release), out.pump(stdout), err.pump(stderr));
        };
        tokio::pin!(pumps);
        let following = Following {
            child: &mut child,
            limit: run.timeout,
            cancel: &run.cancel,
            ladder: run.ladder,
            release: &release,
        };
        following.until_ended(pumps).await?
    };
    let exit = child.reap()?;
    Ok(Captured { exit, ended, stdout: out.finish(), stderr: err.finish() })
}

/// Where a run stands on the ladder.
#[derive(Clone, Copy)]
enum Rung {
    Running,
    Term,
    Kill,
}

/// What it takes to bring a run to its end.
struct Following<'a> {
    child: &'a mut Child,
    limit: Option<Duration>,
    cancel: &'a CancellationToken,
    ladder: Ladder,
    /// Lets go of the child's standard input.
    release: &'a CancellationToken,
}

impl Following<'_> {
    /// Drives the pipes until the child has ended, and climbs the ladder if it has to.
    async fn until_ended(self, mut pumps: std::pin::Pin<&mut impl Future<Output = ()>>) -> io::Result<Ended> {
        let mut rung = Rung::Running;
        let mut timed_out = false;
        let mut drained = false;
        let mut next = self.limit.map(|limit| Instant::now() + limit);
        loop {
            let over = tokio::select! {
                ended = self.child.ended() => break ended?,
                () = &mut pumps, if !drained => {
                    drained = true;
                    false
                }
                () = self.cancel.cancelled(), if matches!(rung, Rung::Running) => true,
                () = sleep_until(next.unwrap_or_else(Instant::now)), if next.is_some() => {
                    timed_out |= matches!(rung, Rung::Running);
                    true
                }
            };
            if over {
                (rung, next) = self.climb(rung)?;
            }
        }
        self.release.cancel();
        // What the child started may still write: it gets the rest of the grace, or a moment.
        if !drained {
            let rest = match (rung, next) {
                (Rung::Term, Some(next)) => next.saturating_duration_since(Instant::now()),
                (Rung::Kill, _) => DRAIN,
                _ => LINGER,
            };
            drained = timeout(rest, &mut pumps).await.is_ok();
        }
        if !drained {
            self.child.kill()?;
            // What left the group on purpose may keep the pipe open for good; we stop listening.
            let _ = timeout(DRAIN, pumps).await;
        }
        let by = match rung {
            Rung::Running => return Ok(Ended::Itself),
            Rung::Term => Stopped::Term,
            Rung::Kill => Stopped::Kill,
        };
        Ok(match self.limit {
            Some(limit) if timed_out => Ended::TimedOut { limit, by },
            _ => Ended::Cancelled { by },
        })
    }

    /// Takes the next step; returns where that is and when the one after it is due.
    fn climb(&self, rung: Rung) -> io::Result<(Rung, Option<Instant>)> {
        self.release.cancel();
        match rung {
            Rung::Running => {
                self.child.terminate()?;
                Ok((Rung::Term, Some(Instant::now() + self.ladder.grace)))
            }
            Rung::Term | Rung::Kill => {
                self.child.kill()?;
                Ok((Rung::Kill, None))
            }
        }
    }
}

async fn feed(stdin: Option<Stdin>, input: &[u8], release: &CancellationToken) {
    if let Some(mut stdin) = stdin {
        // A child that does not read all of its input is within its rights.
        let _ = stdin.write_all(input).await;
        release.cancelled().await;
    }
}

/// Takes one stream in: observer, spill, bounds.
struct Keeper<'a> {
    stream: Stream,
    output: Output,
    spill: Option<PathBuf>,
    file: Option<File>,
    observer: &'a std::sync::Mutex<Option<Observer>>,
}

impl<'a> Keeper<'a> {
    fn new(
        stream: Stream,
        limit: usize,
        spill: Option<&PathBuf>,
        observer: &'a std::sync::Mutex<Option<Observer>>,
    ) -> Self {
        let name = match stream {
            Stream::Stdout => "stdout",
            Stream::Stderr => "stderr",
        };
        Self {
            stream,
            output: Output::with_limit(limit),
            spill: spill.map(|folder| folder.join(name)),
            file: None,
            observer,
        }
    }

    async fn pump(&mut self, stream: Option<Stdout>) {
        let Some(mut stream) = stream else { return };
        let mut chunk = vec![0; 32 * 1024];
        while let Ok(read @ 1..) = stream.read(&mut chunk).await {
            self.take(&chunk[..read]);
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        if let Some(observer) = self.observer.lock().unwrap_or_else(std::sync::PoisonError::into_inner).as_mut() {
            observer(self.stream, bytes);
        }
        if self.output.spill_failed.is_none()
            && self.output.would_cut(bytes.len())
            && let Err(error) = self.spill(bytes)
        {
            self.output.spill_failed = Some(error.to_string());
        }
        self.output.push(bytes);
    }

    /// Writes to the file; at first also everything kept so far, which is still complete then.
    fn spill(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(path) = &self.spill else {
            return Ok(());
        };
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let mut file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
                self.output.spilled = Some(path.clone());
                file.write_all(&self.output.kept())?;
                none.insert(file)
            }
        };
        file.write_all(bytes)
    }

    fn finish(self) -> Output {
        self.output
    }
}
