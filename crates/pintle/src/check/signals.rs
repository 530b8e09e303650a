//! Being told to stop.

use pintle_core::Failure;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Ctrl-C and TERM, which mean the same here.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// From now on neither ends the process by itself.
    ///
    /// # Errors
    /// When the system does not let us listen.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let listen = |kind| signal(kind).map_err(|error| Failure::io("listening for signals", &error));
        Ok(Self { interrupt: listen(SignalKind::interrupt())?, terminate: listen(SignalKind::terminate())? })
    }

    /// The first one cancels, the second one returns: whoever sends it waits for nothing more.
    pub(crate) async fn twice(mut self, cancel: CancellationToken, told: impl Fn()) {
        self.one().await;
        cancel.cancel();
        told();
        self.one().await;
    }

    async fn one(&mut self) {
        let received = tokio::select! {
            received = self.interrupt.recv() => received,
            received = self.terminate.recv() => received,
        };
        if received.is_none() {
            std::future::pending::<()>().await;
        }
    }
}
