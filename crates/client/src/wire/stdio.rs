//! A server that is our child.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pintle_process::{Exit, Ladder, Piped, Spawn, StderrTail, Stdin, Stdout, Stopped};
use serde_json::Value;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::close::{Closed, EndedBy};
use crate::endpoint::Stdio;
use crate::error::Fault;
use crate::lines::{Line, Lines, find_id};
use crate::options::Options;
use crate::router::Router;

/// Messages that may wait for a child that does not read.
const QUEUE: usize = 64;
/// How long a child that closed its output is given to end, so that its status can be told.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// What is known about a child's end, as soon as it is.
type End = Option<(Exit, EndedBy)>;

/// Open streams to a child. The child ends by [`abandon`](Self::abandon) or [`close`](Self::close).
pub(crate) struct StdioWire {
    /// Taken away when the session closes, so that the child sees the end of its input.
    outgoing: Mutex<Option<mpsc::Sender<Vec<u8>>>>,
    closing: CancellationToken,
    ended: watch::Receiver<End>,
    stderr: StderrTail,
}

impl StdioWire {
    /// Starts the child.
    pub(crate) async fn spawn(stdio: &Stdio, options: &Options, router: &Arc<Router>) -> Result<Self, Fault> {
        let Some((program, arguments)) = stdio.argv.split_first() else {
            return Err(Fault::Usage("no program given".into()));
        };
        let mut spawn = Spawn::new(program).args(arguments).environment(stdio.environment.clone());
        if let Some(directory) = &stdio.directory {
            spawn = spawn.directory(directory);
        }
        let Piped { child, stdin, stdout, stderr } = spawn.piped(options.stderr_limit).await?;

        let (outgoing, queue) = mpsc::channel(QUEUE);
        let (exit, ended) = watch::channel(None);
        let closing = CancellationToken::new();
        tokio::spawn(write(stdin, queue));
        tokio::spawn(supervise(child, closing.clone(), options.close_grace, exit));
        tokio::spawn(read(Reading {
            lines: Lines::new(BufReader::with_capacity(64 * 1024, stdout), options.answer_limit),
            limit: options.answer_limit,
            router: router.clone(),
            replies: outgoing.downgrade(),
            ended: ended.clone(),
            stderr: stderr.clone(),
        }));
        Ok(Self { outgoing: Mutex::new(Some(outgoing)), closing, ended, stderr })
    }

    fn sender(&self) -> Result<mpsc::Sender<Vec<u8>>, Fault> {
        self.outgoing
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
            .ok_or_else(|| Fault::Closed("the session has been closed".into()))
    }

    pub(crate) async fn send(&self, message: &Value) -> Result<(), Fault> {
        self.send_bytes(message.to_string().into_bytes()).await
    }

    pub(crate) async fn send_bytes(&self, mut line: Vec<u8>) -> Result<(), Fault> {
        line.push(b'\n');
        if self.sender()?.send(line).await.is_ok() {
            return Ok(());
        }
        // The child closed its input; its end tells why, if anything does.
        let mut ended = self.ended.clone();
        let end = wait_briefly(&mut ended).await;
        Err(last_words(end, &self.stderr, "the server closed its input"))
    }

    pub(crate) fn send_now(&self, message: &Value) {
        if let Ok(sender) = self.sender() {
            // A full queue means that the child does not read: it would not read this either.
            let _ = sender.try_send(format!("{message}\n").into_bytes());
        }
    }

    pub(crate) fn abandon(&self) {
        self.outgoing.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.closing.cancel();
    }

    pub(crate) async fn close(&self) -> Result<Closed, Fault> {
        self.abandon();
        let mut ended = self.ended.clone();
        let end = ended.wait_for(Option::is_some).await.map(|end| *end);
        match end {
            Ok(Some((exit, by))) => Ok(Closed::Child { exit, by, stderr: self.stderr.text() }),
            _ => Err(Fault::Io("the child could not be waited for".into())),
        }
    }
}

/// Writes what is queued; the end of the queue is the end of the child's input.
async fn write(mut stdin: Stdin, mut queue: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = queue.recv().await {
        if stdin.write_all(&line).await.is_err() {
            return;
        }
    }
}

/// Holds the child: waits for its end, or makes it end.
async fn supervise(
    mut child: pintle_process::Child,
    closing: CancellationToken,
    grace: Duration,
    exit: watch::Sender<End>,
) {
    let early = tokio::select! {
        ended = child.wait() => Some(ended),
        () = closing.cancelled() => None,
    };
    let end = match early {
        Some(ended) => ended.map(|exit| (exit, EndedBy::Itself)),
        None => end(&mut child, grace).await,
    };
    // Without an outcome the sender is dropped, and whoever waits learns that.
    if let Ok(end) = end {
        exit.send_replace(Some(end));
    }
}

async fn end(child: &mut pintle_process::Child, grace: Duration) -> std::io::Result<(Exit, EndedBy)> {
    if let Ok(ended) = tokio::time::timeout(grace, child.wait()).await {
        return ended.map(|exit| (exit, EndedBy::InputEnd));
    }
    let (exit, by) = child.stop(Ladder { grace }).await?;
    let by = match by {
        Stopped::Already => EndedBy::InputEnd,
        Stopped::Term => EndedBy::Term,
        Stopped::Kill => EndedBy::Kill,
    };
    Ok((exit, by))
}

struct Reading {
    lines: Lines<BufReader<Stdout>>,
    limit: usize,
    router: Arc<Router>,
    /// Weak, so that waiting replies do not keep the child's input open.
    replies: mpsc::WeakSender<Vec<u8>>,
    ended: watch::Receiver<End>,
    stderr: StderrTail,
}

/// Reads the child's output to its end.
async fn read(mut reading: Reading) {
    let why = loop {
        match reading.lines.next().await {
            Ok(Some(line)) => reading.take(line),
            Ok(None) => break "the server closed its output".to_owned(),
            Err(error) => break format!("reading from the server failed: {error}"),
        }
    };
    let end = wait_briefly(&mut reading.ended).await;
    // Its standard error is read by another task, which may be a moment behind.
    tokio::time::sleep(Duration::from_millis(10)).await;
    reading.router.close(last_words(end, &reading.stderr, &why));
}

impl Reading {
    fn take(&self, line: Line) {
        match line {
            Line::Whole(line) => match serde_json::from_slice::<Value>(&line) {
                Ok(message @ (Value::Object(_) | Value::Array(_))) => {
                    for question in self.router.deliver(message, line.len()) {
                        let (router, replies) = (self.router.clone(), self.replies.clone());
                        tokio::spawn(async move {
                            let reply = router.reply(question).await;
                            if let Some(replies) = replies.upgrade() {
                                // A closed session needs no reply.
                                let _ = replies.send(format!("{reply}\n").into_bytes()).await;
                            }
                        });
                    }
                }
                _ => self.router.noise(&line),
            },
            Line::TooLong { start, end } => {
                let fault = Fault::TooLarge { limit: self.limit };
                match find_id(&start, &end).filter(|id| self.router.waits(*id)) {
                    Some(id) => self.router.fail(id, fault),
                    None => self.router.fail_all(&fault),
                }
            }
        }
    }
}

/// The child's end, if it comes soon.
async fn wait_briefly(ended: &mut watch::Receiver<End>) -> End {
    match tokio::time::timeout(LAST_WORDS, ended.wait_for(Option::is_some)).await {
        Ok(Ok(end)) => *end,
        _ => None,
    }
}

/// How a server ended, with the last thing it said.
fn last_words(end: End, stderr: &StderrTail, otherwise: &str) -> Fault {
    let mut text = match end {
        Some((exit, EndedBy::Itself)) => format!("the server ended with {}", exit.status),
        Some(_) => "the session has been closed".to_owned(),
        None => otherwise.to_owned(),
    };
    let said = pintle_process::strip_ansi(&stderr.text().text).into_owned();
    let last: Vec<&str> = said.lines().rev().filter(|line| !line.trim().is_empty()).take(3).collect();
    if !last.is_empty() {
        text.push_str("; its last words on standard error:");
        for line in last.iter().rev() {
            text.push_str("\n  ");
            text.extend(line.chars().take(300));
        }
    }
    Fault::Closed(text)
}
