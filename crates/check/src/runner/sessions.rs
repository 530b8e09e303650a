//! Sessions that steps share.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use pintle_client::{EraChoice, Error, Session};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::model::Server;
use crate::verbs::Allowance;
use crate::verbs::mcp::connect;

/// Where the session of one server is, or will be.
type Slot = Arc<Mutex<Option<Arc<Session>>>>;

/// One open session for each server. Who comes first opens it, the others wait for that.
#[derive(Default)]
pub(crate) struct Sessions {
    open: Mutex<HashMap<String, Slot>>,
}

/// Two servers are the same when everything about them is.
fn key(server: &Server) -> String {
    serde_json::to_string(server).unwrap_or_else(|_| server.name.clone())
}

impl Sessions {
    async fn place(&self, server: &Server) -> Slot {
        self.open.lock().await.entry(key(server)).or_default().clone()
    }

    /// The session of a server, opened if need be.
    pub(crate) async fn lease(
        &self,
        server: &Server,
        directory: &Path,
        time: Allowance,
        cancel: &CancellationToken,
    ) -> Result<Arc<Session>, Error> {
        let place = self.place(server).await;
        let mut place = place.lock().await;
        if let Some(session) = &*place {
            return Ok(session.clone());
        }
        let session = Arc::new(connect(server, directory, EraChoice::Auto, time, cancel).await?);
        *place = Some(session.clone());
        Ok(session)
    }

    /// Forgets a session that went wrong: the next step gets a new one.
    pub(crate) async fn discard(&self, server: &Server, session: &Arc<Session>) {
        let place = self.place(server).await;
        let mut place = place.lock().await;
        if place.as_ref().is_some_and(|open| Arc::ptr_eq(open, session)) {
            *place = None;
        }
    }

    /// Closes all of them. What is odd about an end is told.
    pub(crate) async fn close(&self) -> Vec<String> {
        let places: Vec<_> = self.open.lock().await.drain().map(|(_, place)| place).collect();
        let mut odd = Vec::new();
        for place in places {
            let Some(session) = place.lock().await.take() else { continue };
            // Nobody else holds it any more once all steps have ended; a step that was aborted drops it.
            if let Some(session) = Arc::into_inner(session)
                && let Err(error) = session.close().await
            {
                odd.push(error.to_string());
            }
        }
        odd
    }
}
