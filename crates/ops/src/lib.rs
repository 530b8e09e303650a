//! The operations of `kubestellar-ops`: reading and diagnosing workloads on many clusters.

pub mod rules;
