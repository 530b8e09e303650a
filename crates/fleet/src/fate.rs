//! How a connection ended: what its last read says is told to nobody who waits for an answer, and is kept here.

use crate::{Cause, dial::Io, tls};
use std::{
    io,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::sync::CancellationToken;

/// How long a connection that broke may take to say why.
const A_MOMENT: Duration = Duration::from_millis(200);

/// The end of one connection.
#[derive(Default)]
pub(crate) struct Fate {
    ended: CancellationToken,
    cause: OnceLock<Cause>,
}

impl Fate {
    /// What ended it, where it was something about certificates. A server that does not like ours says so only after
    /// the handshake, when a request may be on its way already.
    pub(crate) async fn told(&self) -> Option<Cause> {
        // Without a word within that time there is none.
        let _ = tokio::time::timeout(A_MOMENT, self.ended.cancelled()).await;
        self.cause.get().cloned()
    }
}

/// A connection whose end is noted.
pub(crate) struct Watched {
    io: Box<dyn Io>,
    fate: Arc<Fate>,
    host: String,
}

impl Watched {
    pub(crate) fn new(io: Box<dyn Io>, fate: &Arc<Fate>, host: String) -> Self {
        Self { io, fate: Arc::clone(fate), host }
    }
}

impl AsyncRead for Watched {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = ready!(Pin::new(&mut self.io).poll_read(cx, buffer));
        if let Err(error) = &read
            && let Some(cause) = tls::certificate_fault(error, &self.host)
        {
            // The first word counts.
            let _ = self.fate.cause.set(cause);
        }
        if read.is_err() || buffer.filled().len() == before {
            self.fate.ended.cancel();
        }
        Poll::Ready(read)
    }
}

impl AsyncWrite for Watched {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }
}
