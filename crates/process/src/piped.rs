//! A child that speaks a protocol on its standard streams.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::AsyncReadExt;

use crate::bounded::{Output, Text};
use crate::child::Child;
use crate::spawn::{Spawn, SpawnError};
use crate::{Stdin, Stdout};

/// A child with its standard input and output in our hands. Its standard error is read all the time; the
/// first and last bytes are kept.
#[derive(Debug)]
pub struct Piped {
    /// The child; dropping it ends it.
    pub child: Child,
    /// Its standard input; dropping it tells the child that no more is coming.
    pub stdin: Stdin,
    /// Its standard output.
    pub stdout: Stdout,
    /// What it wrote to standard error so far.
    pub stderr: StderrTail,
}

/// What a child wrote to its standard error, growing while it runs.
#[derive(Debug, Clone)]
pub struct StderrTail {
    kept: Arc<Mutex<Output>>,
}

impl StderrTail {
    fn lock(&self) -> MutexGuard<'_, Output> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The text so far, bounded.
    pub fn text(&self) -> Text {
        self.lock().text()
    }

    /// Bytes so far.
    pub fn total(&self) -> u64 {
        self.lock().total()
    }
}

impl Spawn {
    /// Starts the child with pipes for a protocol, keeping at most `stderr_limit` bytes of its standard error.
    ///
    /// # Errors
    /// [`SpawnError`], which says what could not be started and why.
    pub async fn piped(self, stderr_limit: usize) -> Result<Piped, SpawnError> {
        let mut child = self.start(true).await?;
        let ends = (|| Ok((child.take_stdin()?, child.take_stdout()?, child.take_stderr()?)))();
        let system = self.system();
        let (Some(stdin), Some(stdout), Some(mut errors)) = ends.map_err(&system)? else {
            return Err(system(std::io::Error::other("a pipe is missing")));
        };
        let stderr = StderrTail { kept: Arc::new(Mutex::new(Output::with_limit(stderr_limit))) };
        let keeper = stderr.clone();
        // Ends by itself when the last writer of the pipe is gone.
        tokio::spawn(async move {
            let mut chunk = vec![0; 8 * 1024];
            while let Ok(read @ 1..) = errors.read(&mut chunk).await {
                keeper.lock().push(&chunk[..read]);
            }
        });
        Ok(Piped { child, stdin, stdout, stderr })
    }
}
