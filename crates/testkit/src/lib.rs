//! Stand-ins for tests and benches.
//!
//! [`trial_toolset`] has one operation of each shape that is hard to serve right. [`fixture_toolset`] has what the
//! official conformance suite wants to see. Both are ordinary toolsets: their calls go down the same path as any other,
//! and the binary `mcp-fixture` serves them through the same door as the product. [`flights_toolset`] is work that takes
//! long; `job-fixture` serves it and runs its jobs. [`kube`] is a Kubernetes API server
//! that is not there; `fake-kube` serves it to other programs. [`eggs`] stands for a program that remasters systems, which
//! tests must not. [`machine`] is where tests are root and harm nobody.

pub mod cluster;
mod dummy;
pub mod eggs;
mod fixture;
mod flights;
pub mod kube;
pub mod machine;
mod skip;
mod trial;

pub use dummy::dummy_tools;
pub use fixture::{ONLY_AS_TASKS, fixture_toolset};
pub use flights::flights_toolset;
pub use skip::skip;
pub use trial::{World, trial_toolset};
