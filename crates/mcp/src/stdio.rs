//! MCP on standard input and output.

use crate::{
    ServerOptions,
    frames::{Frame, Frames},
    gate::{Gate, Verdict},
    options::MESSAGE_LIMIT,
    pipe::{Outlet, Pipe},
    server::Server,
    session::Session,
    signal::terminated,
};
use pintle_core::Failure;
use pintle_dispatch::Catalog;
use rmcp::{
    ErrorData,
    model::{
        ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, JsonRpcMessage, RequestId,
        ServerJsonRpcMessage,
    },
    service::serve_directly_with_ct,
};
use std::{
    fs::File,
    io::{Read, Write},
    os::fd::{AsFd, OwnedFd},
    sync::{Arc, atomic::Ordering},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::mpsc,
};
use tokio_util::sync::CancellationToken;

/// How long answers may still come after the input has ended; then work is cancelled.
const DRAIN: Duration = Duration::from_millis(500);
/// How long cancelled work may take to tidy up.
const TIDY: Duration = Duration::from_millis(200);
/// How many lines or messages may wait in one place.
const QUEUE: usize = 64;

/// Serves the process's standard input and output until the input ends or a signal asks to stop. From then on file
/// descriptors 0 and 1 belong to the server: whatever else in this process or its children prints to standard output
/// goes to standard error. `started` is called once everything is in place.
///
/// Two threads do the blocking reads and writes. The reading one waits for a line that may never come: let `main` return
/// afterwards, and wait for nobody.
///
/// # Errors
/// When the descriptors or signals cannot be taken over.
pub async fn serve_stdio(catalog: Catalog, options: ServerOptions, started: impl FnOnce()) -> Result<(), Failure> {
    let stop = terminated()?;
    let (input, output) = take_over()?;
    let (from, lines) = mpsc::channel(QUEUE);
    let (outlet, to) = mpsc::channel(QUEUE);
    let done = spawn_threads(input, from, output, to)?;
    started();
    serve_lines(catalog, options, lines, outlet, stop).await;
    // What is written already must leave; a client that does not read is not waited for.
    let _ = tokio::time::timeout(TIDY, done).await;
    Ok(())
}

/// Serves any pair of streams as [`serve_stdio`] serves the process's own, until `input` ends.
pub async fn serve_streams(
    catalog: Catalog,
    options: ServerOptions,
    mut input: impl AsyncRead + Send + Unpin + 'static,
    mut output: impl AsyncWrite + Send + Unpin + 'static,
) {
    let (from, lines) = mpsc::channel(QUEUE);
    let (outlet, mut to) = mpsc::channel::<Vec<u8>>(QUEUE);
    let reader = tokio::spawn(async move {
        let mut frames = Frames::new(MESSAGE_LIMIT);
        let mut buffer = vec![0; 64 * 1024];
        let mut out = Vec::new();
        while let Ok(count @ 1..) = input.read(&mut buffer).await {
            frames.push(&buffer[..count], &mut out);
            for frame in out.drain(..) {
                if from.send(frame).await.is_err() {
                    return;
                }
            }
        }
        if let Some(last) = frames.finish() {
            let _ = from.send(last).await;
        }
    });
    let writer = tokio::spawn(async move {
        while let Some(line) = to.recv().await {
            if output.write_all(&line).await.is_err() || output.flush().await.is_err() {
                return;
            }
        }
    });
    serve_lines(catalog, options, lines, outlet, std::future::pending()).await;
    reader.abort();
    let _ = tokio::time::timeout(TIDY, writer).await;
}

/// The gate's loop: judges each line and feeds two services, one of each era.
async fn serve_lines(
    catalog: Catalog,
    options: ServerOptions,
    mut lines: mpsc::Receiver<Frame>,
    outlet: mpsc::Sender<Vec<u8>>,
    stop: impl Future<Output = ()>,
) {
    let stopped = CancellationToken::new();
    let principal = format!("stdio:{}", rustix::process::getuid().as_raw());
    let server = Arc::new(Server::new(catalog, options, principal, false));
    let outlet = Outlet::new(outlet);
    let feed = |server: &Arc<Server>| {
        let (inlet, messages) = mpsc::channel::<ClientJsonRpcMessage>(QUEUE);
        let session = Session::new(Arc::clone(server));
        let pipe = Pipe::new(messages, outlet.clone());
        (inlet, serve_directly_with_ct(session, pipe, None, stopped.child_token()))
    };
    let (legacy, legacy_service) = feed(&server);
    let (modern, modern_service) = feed(&server);
    let mut gate = Gate::default();
    tokio::pin!(stop);
    loop {
        let frame = tokio::select! {
            frame = lines.recv() => frame,
            () = &mut stop => None,
        };
        let verdict = match frame {
            None => break,
            Some(Frame::TooLong) => Verdict::Answer(Gate::too_long(MESSAGE_LIMIT)),
            Some(Frame::Line(line)) => gate.judge(&line),
        };
        outlet.aliased.store(gate.aliased(), Ordering::Relaxed);
        let delivered = match verdict {
            Verdict::Skip => true,
            Verdict::Answer(answer) => outlet.send(&answer).await.is_ok(),
            Verdict::Legacy(message) => pass(&legacy, &outlet, *message).await,
            Verdict::Modern(message) => pass(&modern, &outlet, *message).await,
            Verdict::Both(message) => {
                pass(&legacy, &outlet, (*message).clone()).await && pass(&modern, &outlet, *message).await
            }
        };
        if !delivered {
            break;
        }
    }
    // Nobody asks any more; what is nearly done may still be told.
    let _ = tokio::time::timeout(DRAIN, outlet.in_flight.none()).await;
    // First that the client is gone, then that nobody waits: for a job these are two things.
    server.stop();
    stopped.cancel();
    let tidy = async { tokio::join!(server.idle(), legacy_service.waiting(), modern_service.waiting()) };
    let _ = tokio::time::timeout(TIDY, tidy).await;
}

async fn pass(to: &mpsc::Sender<ClientJsonRpcMessage>, outlet: &Outlet, message: ClientJsonRpcMessage) -> bool {
    match &message {
        // A subscription has no end of its own that anybody could wait for.
        JsonRpcMessage::Request(request) if matches!(request.request, ClientRequest::SubscriptionsListenRequest(_)) => {
        }
        JsonRpcMessage::Request(request) => {
            if !outlet.in_flight.begin(request.id.clone()) {
                // The protocol library would run it and drop one of the two answers.
                let why = "`id` is that of a request which is not answered yet";
                return outlet.send(&refused(&request.id, why)).await.is_ok();
            }
        }
        JsonRpcMessage::Notification(notification) => {
            if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                && let Some(id) = &cancelled.params.request_id
            {
                outlet.in_flight.cancel(id);
            }
        }
        JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
    }
    to.send(message).await.is_ok()
}

fn refused(id: &RequestId, why: &str) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(ErrorData::new(ErrorCode::INVALID_REQUEST, why.to_owned(), None), Some(id.clone()))
}

/// Moves descriptors 0 and 1 out of everybody's reach: input becomes empty, output becomes standard error.
fn take_over() -> Result<(File, File), Failure> {
    let failed = |error: rustix::io::Errno| Failure::io("taking over standard input and output", &error.into());
    let moved = |fd: std::os::fd::BorrowedFd<'_>| rustix::io::fcntl_dupfd_cloexec(fd, 3).map_err(failed);
    let input: OwnedFd = moved(std::io::stdin().as_fd())?;
    let output: OwnedFd = moved(std::io::stdout().as_fd())?;
    let nothing = File::options()
        .read(true)
        .write(true)
        .open("/dev/null")
        .map_err(|error| Failure::io("opening `/dev/null`", &error))?;
    rustix::stdio::dup2_stdin(&nothing).map_err(failed)?;
    // Where standard error is closed, stray output goes nowhere.
    if rustix::stdio::dup2_stdout(std::io::stderr().as_fd()).is_err() {
        rustix::stdio::dup2_stdout(&nothing).map_err(failed)?;
    }
    Ok((File::from(input), File::from(output)))
}

/// Two threads that may block on a slow client without anybody waiting for them; the receiver resolves once the last
/// line is written.
fn spawn_threads(
    mut input: File,
    from: mpsc::Sender<Frame>,
    mut output: File,
    mut to: mpsc::Receiver<Vec<u8>>,
) -> Result<tokio::sync::oneshot::Receiver<()>, Failure> {
    let failed = |error: std::io::Error| Failure::io("starting a thread", &error);
    let read = move || {
        let mut frames = Frames::new(MESSAGE_LIMIT);
        let mut buffer = vec![0; 64 * 1024];
        let mut out = Vec::new();
        loop {
            match input.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => frames.push(&buffer[..count], &mut out),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            }
            for frame in out.drain(..) {
                if from.blocking_send(frame).is_err() {
                    return;
                }
            }
        }
        if let Some(last) = frames.finish() {
            let _ = from.blocking_send(last);
        }
    };
    let (finished, done) = tokio::sync::oneshot::channel();
    let write = move || {
        let mut batch = Vec::new();
        while let Some(line) = to.blocking_recv() {
            batch.extend_from_slice(&line);
            // What has gathered meanwhile leaves in one write.
            while batch.len() < 64 * 1024
                && let Ok(line) = to.try_recv()
            {
                batch.extend_from_slice(&line);
            }
            if output.write_all(&batch).is_err() {
                return;
            }
            batch.clear();
            batch.shrink_to(256 * 1024);
        }
        let _ = finished.send(());
    };
    std::thread::Builder::new().name("stdin".into()).spawn(read).map_err(failed)?;
    std::thread::Builder::new().name("stdout".into()).spawn(write).map_err(failed)?;
    Ok(done)
}
