//! The in-memory pipe between the line gate and one service of the protocol library.

use crate::gate::unalias;
use rmcp::{
    RoleServer,
    model::{ClientJsonRpcMessage, JsonRpcMessage, RequestId, ServerJsonRpcMessage},
    transport::Transport,
};
use std::{
    collections::{HashMap, HashSet},
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
    state: Mutex<Open>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Open {
    /// Ids that another request may not have. An id is free before its answer leaves: whoever reads that answer may
    /// use the id at once.
    taken: HashSet<RequestId>,
    /// How many answers under an id have not left yet.
    unsent: HashMap<RequestId, usize>,
}

impl InFlight {
    fn state(&self) -> std::sync::MutexGuard<'_, Open> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// False when one with that id has not been answered yet.
    pub(crate) fn begin(&self, id: RequestId) -> bool {
        let mut open = self.state();
        let free = open.taken.insert(id.clone());
        if free {
            *open.unsent.entry(id).or_default() += 1;
        }
        free
    }

    /// The answer is there.
    fn free(&self, id: &RequestId) {
        self.state().taken.remove(id);
    }

    /// The answer has left, or will never come.
    pub(crate) fn end(&self, id: &RequestId) {
        let mut open = self.state();
        if let Some(count) = open.unsent.get_mut(id) {
            *count -= 1;
            if *count == 0 {
                open.unsent.remove(id);
            }
        }
        drop(open);
        self.changed.notify_waiters();
    }

    /// Nobody waits for the answer any more.
    pub(crate) fn cancel(&self, id: &RequestId) {
        self.free(id);
        self.end(id);
    }

    /// Resolves once there are none.
    pub(crate) async fn none(&self) {
        loop {
            let changed = self.changed.notified();
            if self.state().unsent.is_empty() {
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
            let answered = match &item {
                JsonRpcMessage::Response(response) => Some(&response.id),
                JsonRpcMessage::Error(error) => error.id.as_ref(),
                JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
            };
            if let Some(id) = answered {
                outlet.in_flight.free(id);
            }
            let sent = outlet.send(&item).await;
            if let Some(id) = answered {
                outlet.in_flight.end(id);
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
