//! Sessions of the older protocol, not more than a bounded number.

use futures::Stream;
use rmcp::{
    model::{ClientJsonRpcMessage, GetExtensions, ServerJsonRpcMessage},
    transport::streamable_http_server::session::{
        ServerSseMessage, SessionId, SessionManager,
        local::{LocalSessionHandle, LocalSessionManager, LocalSessionManagerError, SessionConfig},
    },
};
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How soon a client comes back to a stream that was released.
const RETRY: Duration = Duration::from_millis(500);

/// The event stream of one request: it can be ended early, and the client comes back for the rest.
#[derive(Clone, Debug)]
pub(crate) struct StreamHandle {
    session: LocalSessionHandle,
    request: u64,
}

impl StreamHandle {
    pub(crate) async fn release(&self) {
        // A stream that has ended meanwhile needs no release.
        let _ = self.session.close_sse_stream(self.request, Some(RETRY)).await;
    }
}

/// At most `most` sessions; the one unused for longest gives way to a new one.
pub(crate) struct BoundedSessions {
    inner: LocalSessionManager,
    most: usize,
    used: Mutex<HashMap<SessionId, Instant>>,
}

impl BoundedSessions {
    pub(crate) fn new(most: usize, idle: Duration) -> Self {
        let mut inner = LocalSessionManager::default();
        let mut config = SessionConfig::default();
        config.keep_alive = Some(idle);
        inner.session_config = config;
        Self { inner, most: most.max(1), used: Mutex::default() }
    }

    fn touch(&self, id: &SessionId) {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(when) = used.get_mut(id) {
            *when = Instant::now();
        }
    }

    /// Ends sessions until one more has room.
    async fn make_room(&self) -> Result<(), LocalSessionManagerError> {
        loop {
            let oldest = {
                let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
                if used.len() < self.most {
                    return Ok(());
                }
                used.iter().min_by_key(|(_, when)| **when).map(|(id, _)| id.clone())
            };
            match oldest {
                Some(id) => self.close_session(&id).await?,
                None => return Ok(()),
            }
        }
    }
}

impl SessionManager for BoundedSessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        self.make_room().await?;
        let (id, transport) = self.inner.create_session().await?;
        self.used.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), Instant::now());
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.inner.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.inner.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        self.inner.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.touch(id);
        let session = self.inner.sessions.read().await.get(id).cloned();
        let session = session.ok_or_else(|| LocalSessionManagerError::SessionNotFound(id.clone()))?;
        let receiver = session.establish_request_wise_channel().await?;
        if let (ClientJsonRpcMessage::Request(request), Some(number)) = (&mut message, receiver.http_request_id) {
            request.request.extensions_mut().insert(StreamHandle { session: session.clone(), request: number });
        }
        session.push_message(message, receiver.http_request_id).await?;
        let mut events = receiver.inner;
        Ok(futures::stream::poll_fn(move |context| events.poll_recv(context)))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        self.touch(id);
        self.inner.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.touch(id);
        self.inner.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.touch(id);
        self.inner.resume(id, last_event_id).await
    }
}
