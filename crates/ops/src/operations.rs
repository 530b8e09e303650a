//! The operations, each in a file named as its tool.

pub(crate) mod analyze_namespace;
pub(crate) mod audit_kubeconfig;
pub(crate) mod check_resource_limits;
pub(crate) mod check_security_issues;
pub(crate) mod describe_pod;
pub(crate) mod find_deployment_issues;
pub(crate) mod find_pod_issues;
pub(crate) mod find_resource_owners;
pub(crate) mod get_cluster_health;
pub(crate) mod get_deployments;
pub(crate) mod get_events;
pub(crate) mod get_nodes;
pub(crate) mod get_pod_logs;
pub(crate) mod get_pods;
pub(crate) mod get_resource;
pub(crate) mod get_services;
pub(crate) mod get_warning_events;
pub(crate) mod list_clusters;
pub(crate) mod list_resources;

#[cfg(test)]
mod testing;
