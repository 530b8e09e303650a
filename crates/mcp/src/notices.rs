//! Passes on to clients that something listed has changed.

use pintle_core::Notice;
use rmcp::{
    RoleServer,
    model::ResourceUpdatedNotificationParam,
    service::{Peer, SubscriptionContext},
};
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError, Weak},
};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

/// How many notices a slow listener may be behind.
const BEHIND: usize = 64;

/// URIs that one session of the older protocol wants to hear of.
#[derive(Debug, Default)]
pub(crate) struct Watched(Mutex<BTreeSet<String>>);

impl Watched {
    pub(crate) fn add(&self, uri: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(uri);
    }

    pub(crate) fn remove(&self, uri: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }

    fn has(&self, uri: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(uri)
    }
}

/// Everybody who wants to hear: sessions of the older protocol, and streams of the newer one.
pub(crate) struct Notices {
    streams: broadcast::Sender<Notice>,
    sessions: Mutex<Vec<(Weak<Watched>, Peer<RoleServer>)>>,
}

impl Default for Notices {
    fn default() -> Self {
        Self { streams: broadcast::Sender::new(BEHIND), sessions: Mutex::default() }
    }
}

impl Notices {
    /// A session of the older protocol listens from now on, until it is gone.
    pub(crate) fn join(&self, watched: &Arc<Watched>, peer: Peer<RoleServer>) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|(known, _)| known.strong_count() > 0 && !known.ptr_eq(&Arc::downgrade(watched)));
        sessions.push((Arc::downgrade(watched), peer));
    }

    /// Tells everybody.
    pub(crate) fn publish(&self, notice: Notice) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|(watched, _)| watched.strong_count() > 0);
        for (watched, peer) in sessions.iter() {
            if let Some(watched) = watched.upgrade() {
                tell(&watched, peer.clone(), notice.clone());
            }
        }
        // Nobody listening is no fault.
        let _ = self.streams.send(notice);
    }

    /// Serves one stream of the newer protocol until its client or the server ends it.
    pub(crate) async fn stream(&self, context: SubscriptionContext, stopped: &CancellationToken) {
        let mut heard = self.streams.subscribe();
        let sink = context.sink();
        loop {
            let notice = tokio::select! {
                notice = heard.recv() => notice,
                () = context.cancelled() => return,
                () = stopped.cancelled() => return,
            };
            let sent = match notice {
                Ok(Notice::ToolsChanged) => sink.notify_tool_list_changed().await,
                Ok(Notice::PromptsChanged) => sink.notify_prompt_list_changed().await,
                Ok(Notice::ResourcesChanged) => sink.notify_resource_list_changed().await,
                Ok(Notice::ResourceUpdated(uri)) => sink.notify_resource_updated(uri).await,
                Ok(Notice::ReleaseStream) => Ok(()),
                // What was missed is gone; the lists may all have changed.
                Err(broadcast::error::RecvError::Lagged(_)) => sink.notify_tool_list_changed().await,
                Err(broadcast::error::RecvError::Closed) => return,
            };
            use rmcp::service::SubscriptionSendError as Refused;
            match sent {
                // The client did not ask for this kind.
                Ok(()) | Err(Refused::NotificationNotAccepted(_)) => {}
                Err(_) => return,
            }
        }
    }
}

fn tell(watched: &Watched, peer: Peer<RoleServer>, notice: Notice) {
    if let Notice::ResourceUpdated(uri) = &notice
        && !watched.has(uri)
    {
        return;
    }
    tokio::spawn(async move {
        // A session that has ended cannot be told, and need not be.
        let _ = match notice {
            Notice::ToolsChanged => peer.notify_tool_list_changed().await,
            Notice::PromptsChanged => peer.notify_prompt_list_changed().await,
            Notice::ResourcesChanged => peer.notify_resource_list_changed().await,
            Notice::ResourceUpdated(uri) => {
                peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await
            }
            Notice::ReleaseStream => Ok(()),
        };
    });
}
