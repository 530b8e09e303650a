//! The wish of the operator that the server should end.

use pintle_core::Failure;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// A token that the first `SIGTERM` or `SIGINT` from now on cancels.
///
/// # Errors
/// When the process cannot listen for signals.
pub fn until_terminated() -> Result<CancellationToken, Failure> {
    let token = CancellationToken::new();
    let stop = terminated()?;
    tokio::spawn({
        let token = token.clone();
        async move {
            stop.await;
            token.cancel();
        }
    });
    Ok(token)
}

/// Listens for `SIGTERM` and `SIGINT` from now on; the future resolves at the first of them.
///
/// # Errors
/// When the process cannot listen for signals.
pub(crate) fn terminated() -> Result<impl Future<Output = ()> + Send + 'static, Failure> {
    let listen = |kind| signal(kind).map_err(|error| Failure::io("listening for signals", &error));
    let mut term = listen(SignalKind::terminate())?;
    let mut interrupt = listen(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
