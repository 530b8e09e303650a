//! The in-memory pipe between the line gate and one service of the protocol library.

use crate::gate::unalias;
use rmcp::{
    RoleServer,
    model::{ClientJsonRpcMessage, JsonRpcMessage, RequestId, ServerJsonRpcMessage},
    transport::Transport,
};
use std::{
    collections::HashSet,
    io,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::sync::{Notify, mpsc};

/// Requests that were not answered yet.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    ids: Mutex<HashSet<RequestId>>,
    changed: Notify,
}

impl InFlight {
    /// False when one with that id has not been answered yet.
    pub(crate) fn begin(&self, id: RequestId) -> bool {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner).insert(id)
    }

    pub(crate) fn end(&self, id: &RequestId) {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        self.changed.notify_waiters();
    }

    /// Resolves once there are none.
    pub(crate) async fn none(&self) {
        loop {
            let changed = self.changed.notified();
            if self.ids.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
                return;
            }
            changed.await;
        }
    }
}

/// The way out, shared by both services and the gate.
#[derive(Clone, Debug)]
pub(crate) struct Outlet {
    lines: mpsc::Sender<Vec<u8>>,
    pub(crate) in_flight: Arc<InFlight>,
    pub(crate) aliased: Arc<AtomicBool>,
}

impl Outlet {
    pub(crate) fn new(lines: mpsc::Sender<Vec<u8>>) -> Self {
        Self { lines, in_flight: Arc::default(), aliased: Arc::default() }
    }

    /// Sends one message as one line.
    pub(crate) async fn send(&self, message: &impl serde::Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        if self.aliased.load(Ordering::Relaxed) {
            line = unalias(line);
        }
        line.push(b'\n');
        self.lines.send(line).await.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

/// One service's end.
#[derive(Debug)]
pub(crate) struct Pipe {
    inlet: mpsc::Receiver<ClientJsonRpcMessage>,
    outlet: Outlet,
}

impl Pipe {
    pub(crate) fn new(inlet: mpsc::Receiver<ClientJsonRpcMessage>, outlet: Outlet) -> Self {
        Self { inlet, outlet }
    }
}

impl Transport<RoleServer> for Pipe {
    type Error = io::Error;

    fn send(&mut self, item: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let outlet = self.outlet.clone();
        async move {
            let sent = outlet.send(&item).await;
            match &item {
                JsonRpcMessage::Response(response) => outlet.in_flight.end(&response.id),
                JsonRpcMessage::Error(error) => {
                    if let Some(id) = &error.id {
                        outlet.in_flight.end(id);
                    }
                }
                JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => {}
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.inlet.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        self.inlet.close();
        Ok(())
    }
}
