//! `get_cluster_health`

use crate::{
    Host,
    model::node::SlimNode,
    reading::{OLD_FORMS, select},
};
use pintle_core::{Call, Foreign, Query, Spellings, Stop, View};
use pintle_fleet::{
    Cause, Cluster, ClusterError, FleetValue, ListParams, PerCluster, ResourceType, Targets, Told, fan_values_over,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// For one cluster, whatever it does.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of a health report.
const REPORT: usize = 64 * 1024;
/// Nodes that are named.
const NAMED: usize = 10;

/// Check clusters: API server, readiness checks, nodes.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[schemars(extend("x-cli" = {"command": "clusters health",
    "note": "`clusters health NAME` asks one cluster, `clusters health --all-clusters` all of them."}))]
#[serde(default)]
pub(crate) struct GetClusterHealth {
    #[serde(flatten)]
    targets: Targets,
}

/// How a cluster is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub(crate) enum Status {
    /// Everything that was asked is well.
    Healthy,
    /// It answers, and something is not well or could not be looked at.
    Degraded,
    /// Its API server does not answer.
    Unhealthy,
}

/// The health of one cluster.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Health {
    status: Status,
    /// URL of the API server
    server: String,
    /// Reachable or Unreachable
    api_server: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes_ready: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes_total: Option<usize>,
    /// Checks of /readyz that fail
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failing_checks: Vec<String>,
    /// Why it is not healthy
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<String>,
    /// Why its API server does not answer
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Told>,
}

impl FleetValue for Health {
    fn view(&self) -> View {
        let mut lines =
            vec![format!("Status: {:?}", self.status), format!("API server: {} ({})", self.api_server, self.server)];
        lines.extend(self.version.iter().map(|version| format!("Version: {version}")));
        if let (Some(ready), Some(total)) = (self.nodes_ready, self.nodes_total) {
            lines.push(format!("Nodes: {ready}/{total} ready"));
        }
        lines.extend(self.reasons.iter().map(|reason| format!("Reason: {reason}")));
        lines.extend(self.error.iter().filter_map(|error| error.hint.as_ref()).map(|hint| format!("Hint: {hint}")));
        View::text(lines.join("\n"))
    }

    fn is_finding(&self) -> bool {
        self.status != Status::Healthy
    }
}

impl Query for GetClusterHealth {
    type Host = Host;
    type Answer = PerCluster<Health>;
    const NAME: &'static str = "get_cluster_health";
    const SPELLINGS: Spellings = OLD_FORMS;
    const PAGED: bool = true;

    async fn run(self, host: &Host, call: &Call) -> Result<PerCluster<Health>, Stop> {
        let selection = select(host, &self.targets, None, call).await?;
        let found = fan_values_over(host.fleet(), selection, call, |cluster| async move { health(&cluster).await });
        Ok(found.await?)
    }
}

/// The version as `/version` tells it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Version {
    pub(crate) git_version: String,
}

/// A cluster that does not answer is an answer here, not an error; a call that ends is one.
async fn health(cluster: &Cluster) -> Result<Health, ClusterError> {
    let mut found = Health {
        status: Status::Healthy,
        server: cluster.server().to_owned(),
        api_server: "Reachable",
        version: None,
        nodes_ready: None,
        nodes_total: None,
        failing_checks: Vec::new(),
        reasons: Vec::new(),
        error: None,
    };
    let looked = async {
        let version = cluster.get_json::<Version>("/version").await;
        match version {
            Ok(version) => found.version = Some(Foreign::one_line(&version.git_version)),
            Err(error) => return Err(error),
        }
        let (ready, nodes) = tokio::join!(readiness(cluster), nodes(cluster));
        found.tell(ready, nodes)
    };
    match tokio::time::timeout(PATIENCE, looked).await {
        Ok(Ok(())) => {}
        Ok(Err(ClusterError { cause: Cause::Cancelled, cluster })) => {
            return Err(ClusterError { cause: Cause::Cancelled, cluster });
        }
        Ok(Err(error)) => {
            found.status = Status::Unhealthy;
            found.api_server = "Unreachable";
            found.reasons.push(error.cause.to_string());
            let mut told = Told::from(&error.cause);
            if matches!(error.cause, Cause::TimedOut { .. }) {
                // A version is as small as answers get.
                told.hint = Some("check the network or VPN on the way, and how busy the API server is".to_owned());
            }
            found.error = Some(told);
        }
        Err(_) => {
            found.status = if found.version.is_some() { Status::Degraded } else { Status::Unhealthy };
            if found.version.is_none() {
                found.api_server = "Unreachable";
            }
            found.reasons.push(format!("no answer within {} s", PATIENCE.as_secs()));
        }
    }
    Ok(found)
}

impl Health {
    fn tell(
        &mut self,
        ready: Result<(), ClusterError>,
        nodes: Result<Vec<SlimNode>, ClusterError>,
    ) -> Result<(), ClusterError> {
        match ready {
            Ok(()) => {}
            Err(ClusterError { cause: Cause::Rejected { status: 500.., said }, .. }) => {
                self.failing_checks = failing(&said);
                self.reasons.push(match self.failing_checks.as_slice() {
                    [] => format!("/readyz says no: {said}"),
                    names => format!("/readyz: failing {}", names.join(", ")),
                });
            }
            Err(error @ ClusterError { cause: Cause::Cancelled, .. }) => return Err(error),
            Err(error) => self.reasons.push(format!("/readyz could not be asked: {}", error.cause)),
        }
        match nodes {
            Ok(nodes) => {
                let bad: Vec<&SlimNode> = nodes.iter().filter(|node| !node.is_ready()).collect();
                self.nodes_total = Some(nodes.len());
                self.nodes_ready = Some(nodes.len() - bad.len());
                if nodes.is_empty() {
                    self.reasons.push("it has no nodes".to_owned());
                }
                let told = |node: &&SlimNode| {
                    format!("node {} is {}", node.metadata.name.as_deref().unwrap_or("?"), node.status())
                };
                self.reasons.extend(bad.iter().take(NAMED).map(told));
                if bad.len() > NAMED {
                    self.reasons.push(format!("{} more nodes are not ready", bad.len() - NAMED));
                }
                let short = nodes.iter().filter(|node| node.is_ready() && !node.pressure().is_empty()).take(NAMED);
                self.reasons.extend(short.map(|node| {
                    format!("node {} has {}", node.metadata.name.as_deref().unwrap_or("?"), node.pressure().join(", "))
                }));
            }
            Err(error @ ClusterError { cause: Cause::Cancelled, .. }) => return Err(error),
            Err(error) => self.reasons.push(format!("nodes could not be listed: {}", error.cause)),
        }
        if !self.reasons.is_empty() {
            self.status = Status::Degraded;
        }
        Ok(())
    }
}

async fn readiness(cluster: &Cluster) -> Result<(), ClusterError> {
    cluster.text("/readyz?verbose", REPORT).await.map(drop)
}

async fn nodes(cluster: &Cluster) -> Result<Vec<SlimNode>, ClusterError> {
    Ok(cluster.list::<SlimNode>(&ResourceType::NODES, &ListParams::default()).await?.value)
}

/// Names of the checks that a report says fail.
fn failing(report: &str) -> Vec<String> {
    report.split("[-]").skip(1).filter_map(|rest| rest.split_whitespace().next()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kt_get_cluster_health_failing_checks_are_named() {
        let report = "[+]ping ok [-]etcd failed: reason withheld [+]log ok [-]informer-sync failed: reason withheld";
        assert_eq!(failing(report), ["etcd", "informer-sync"]);
        assert!(failing("Internal error").is_empty());
    }
}
