//! A Kubernetes API server that is not there: objects from memory, answers in the real shapes, faults on order.
//!
//! ```no_run
//! # async fn show() -> std::io::Result<()> {
//! use pintle_testkit::kube::{Fault, FakeCluster, Objects};
//! let cluster = FakeCluster::start(Objects::new().pods(5000)).await?;
//! let kubeconfig = cluster.kubeconfig(["prod", "user@host:6443/ns"]).text();
//! cluster.fault("/api/v1/pods", Fault::Gone.when("continue").times(1));
//! assert!(cluster.requests().iter().all(|request| request.method == "GET"));
//! # Ok(()) }
//! ```
//!
//! Bodies are serialised once, when objects are put in, and whole pages are kept: a benchmark measures its subject.
//! Servers started from clones of one [`Objects`] share them. Only reads are served, and the question whether one
//! may; whoever writes is told so, and it is on record.

mod access;
mod cluster;
mod discovery;
mod fault;
mod health;
mod kubeconfig;
mod list;
mod logs;
mod objects;
mod population;
mod record;
mod resource;
mod review;
mod route;
mod selector;
mod serve;
mod status;
mod table;
mod tls;
mod watch;

pub use cluster::{FakeCluster, Mode, Setup};
pub use fault::{Fault, Planned};
pub use kubeconfig::Kubeconfig;
pub use logs::Log;
pub use objects::Objects;
pub use record::Recorded;
pub use tls::Certificate;
