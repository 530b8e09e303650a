//! Many Kubernetes clusters as one host: what the kubeconfig says, connections made when needed, reads over all of them.
//!
//! - A [`Fleet`] costs nothing to make: no file is read and no cluster contacted before a call needs it.
//! - [`Targets`] are the arguments `clusters` and `cluster` of every read; [`Fleet::select`] turns them into names.
//! - [`fan_out`] asks all of them at once and gives a [`Fanned`] answer of rows; [`fan_out_values`] gives one value
//!   per cluster. A dead cluster becomes a section with a typed error, and hides nothing of the others.
//! - A [`Cluster`] is one cluster as one call sees it: [`get`](Cluster::get), [`list_pages`](Cluster::list_pages),
//!   [`text`](Cluster::text), [`discovery`](Cluster::discovery). It ends with the call.
//!
//! ```no_run
//! # use pintle_fleet::*; use pintle_core::*; use serde::*; use schemars::JsonSchema;
//! /// A pod as far as this operation looks at it: what is not named here is never built.
//! #[derive(Deserialize)]
//! struct Slim { metadata: Named }
//! #[derive(Deserialize)]
//! struct Named { name: String, namespace: Option<String> }
//!
//! #[derive(Serialize, JsonSchema)]
//! struct PodName { namespace: String, name: String }
//! impl Row for PodName {
//!     fn key(&self) -> String { format!("{}/{}", self.namespace, self.name) }
//! }
//! impl FleetRow for PodName {
//!     const COLUMNS: &'static [&'static str] = &["NAMESPACE", "NAME"];
//!     fn cells(&self) -> Vec<String> { vec![self.namespace.clone(), self.name.clone()] }
//! }
//!
//! # async fn run(fleet: &Fleet, targets: &Targets, call: &Call) -> Result<Fanned<PodName>, Stop> {
//! let params = ListParams { label_selector: Some("app=web".into()), ..ListParams::default() };
//! let params = &params;
//! Ok(fan_out(fleet, targets, call, |cluster| async move {
//!     let listing = cluster
//!         .list_pages(&ResourceType::PODS, params, Vec::new, |rows, page: Vec<Slim>| {
//!             rows.extend(page.into_iter().map(|pod| PodName {
//!                 namespace: pod.metadata.namespace.unwrap_or_default(),
//!                 name: pod.metadata.name,
//!             }));
//!         })
//!         .await?;
//!     Ok(listing.into())
//! })
//! .await?)
//! # }
//! ```

mod arriving;
mod cluster;
mod connection;
mod credential;
mod dial;
mod discovery;
mod errors;
mod exec;
mod fan;
mod fanned;
mod fate;
mod fleet;
mod identity;
mod kubeconfig;
mod list;
mod options;
mod profile;
mod resource_type;
mod select;
mod source;
mod targets;
mod tls;

pub use cluster::{Cluster, Raw};
pub use discovery::{Discovery, Unknown};
pub use errors::{Cause, CertificateFault, ClusterError, PluginFault, Stage, Told};
pub use fan::{fan_out, fan_out_values, fan_over, fan_values_over};
pub use fanned::{
    ClusterValue, Fanned, FleetRow, FleetValue, Found, InCluster, PerCluster, Section, SectionOutcome, Totals,
};
pub use fleet::Fleet;
pub use identity::Identity;
pub use kubeconfig::{ClusterEntry, ContextEntry, Exec, InteractiveMode, Kubeconfig, Material, Origin, UserEntry};
pub use list::{ListParams, Listing, TableColumn, TablePage, TableRow};
pub use options::{FleetOptions, Impersonation, Overrides};
pub use resource_type::ResourceType;
pub use select::{Selection, Skipped};
pub use targets::{Targets, Unnamed};
