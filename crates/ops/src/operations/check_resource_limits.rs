//! `check_resource_limits`

use crate::{
    Host,
    diagnosis::{Diagnosis, Looking, OLD_FORMS, Tally, aside, every},
    reading::{absent, select},
    rules::{
        finding::Severity,
        resources::{
            self, Demands,
            demand::{Qos, qos},
            nodes::Nodes,
        },
        roll_up::{Owners, Rolled},
    },
    slim::{LeanNode, SlimPod},
};
use k8s_openapi::api::core::v1::{LimitRange, Node, Pod};
use pintle_core::{Call, Query, Spellings, Stop};
use pintle_fleet::{Cluster, ClusterError, Found, ListParams, ResourceType, Targets, fan_over};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::HashMap;

/// Check requests and limits: missing, contradictory, absurd, out of bounds; by owner. Over all namespaces, nodes too.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct CheckResourceLimits {
    #[serde(flatten)]
    targets: Targets,
    /// Namespace; all when absent
    #[schemars(extend("x-cli" = {"short": "n", "common": true}))]
    namespace: Option<String>,
    /// Tell missing CPU limits
    #[schemars(extend("x-cli" = {"common": true}))]
    cpu_limits: bool,
    /// Tell missing ephemeral storage
    #[schemars(extend("x-cli" = {"common": true}, "default" = null))]
    ephemeral_storage: bool,
    /// Least severity told
    #[schemars(extend("x-cli" = {"common": true}))]
    severity: Option<Severity>,
}

impl Default for CheckResourceLimits {
    fn default() -> Self {
        let Demands { cpu_limits, ephemeral_storage } = Demands::default();
        Self { targets: Targets::default(), namespace: None, cpu_limits, ephemeral_storage, severity: None }
    }
}

impl Query for CheckResourceLimits {
    type Host = Host;
    type Answer = Diagnosis;
    const NAME: &'static str = "check_resource_limits";
    const SPELLINGS: Spellings = OLD_FORMS;
    const PAGED: bool = true;

    async fn run(self, host: &Host, call: &Call) -> Result<Diagnosis, Stop> {
        let selection = select(host, &self.targets, self.namespace.as_deref(), call).await?;
        let tally = Tally::default();
        let look = |cluster| one(cluster, &self, call, &tally);
        let fanned = fan_over(host.fleet(), selection, call, look).await?;
        Ok(Diagnosis::new(tally, fanned))
    }
}

/// Pods that have ended use nothing any more, and are not looked at. What one namespace asks of a node says little, so
/// nodes are judged when all are looked at; what policy denies is missing from their sums, and the answer says so.
async fn one(
    cluster: Cluster,
    ask: &CheckResourceLimits,
    call: &Call,
    tally: &Tally,
) -> Result<Found<Rolled>, ClusterError> {
    let params = ListParams::in_namespace(ask.namespace.as_deref());
    let node_list = async {
        if ask.namespace.is_some() {
            return None;
        }
        Some(cluster.list::<LeanNode>(&ResourceType::NODES, &ListParams::default()).await)
    };
    let (range_list, node_list) = tokio::join!(every::<LimitRange>(&cluster, &params), node_list);
    let mut notes = Vec::new();
    let nodes = match node_list {
        Some(list) => aside(list, "nodes", "what they can hold is not compared", &mut notes)?,
        None => None,
    };
    let nodes = nodes.map(|nodes| Nodes::of(&nodes.into_iter().map(Node::from).collect::<Vec<_>>()));
    let without = "their defaults and bounds are not taken into account";
    let mut ranges: HashMap<String, Vec<LimitRange>> = HashMap::new();
    for range in aside(range_list, "limitranges", without, &mut notes)?.unwrap_or_default() {
        ranges.entry(range.metadata.namespace.clone().unwrap_or_default()).or_default().push(range);
    }
    let demands = Demands { cpu_limits: ask.cpu_limits, ephemeral_storage: ask.ephemeral_storage };
    let owners = Owners::default();
    let take = |(looking, nodes): &mut (Looking<'_>, Option<Nodes>), page: Vec<SlimPod>| {
        for pod in page.into_iter().map(Pod::from) {
            let phase = pod.status.as_ref().and_then(|s| s.phase.as_deref());
            let namespace = pod.metadata.namespace.as_deref();
            if matches!(phase, Some("Succeeded" | "Failed")) || !looking.looks_at("pods", namespace) {
                continue;
            }
            let class = match pod.spec.as_ref().map(qos) {
                Some((Qos::Guaranteed, _)) => "Guaranteed",
                Some((Qos::Burstable, _)) => "Burstable",
                Some((Qos::BestEffort, _)) | None => "BestEffort",
            };
            *looking.counts.by_qos.entry(class).or_default() += 1;
            let ranges = ranges.get(namespace.unwrap_or("")).map(Vec::as_slice).unwrap_or_default();
            let mut found = resources::examine(&pod, ranges, demands);
            if let Some(nodes) = nodes {
                nodes.add(&pod);
                found.extend(nodes.fit(&pod));
            }
            if !found.is_empty() {
                looking.add(&owners.top("Pod", &pod.metadata), found);
            }
        }
    };
    let start = || (Looking::new(call, &cluster, ask.severity), nodes.clone());
    let listing = cluster.list_pages(&ResourceType::PODS, &params, start, take).await?;
    notes.extend(listing.notes());
    notes.extend(absent(&cluster, ask.namespace.as_deref(), listing.objects == 0).await);
    let (mut looking, nodes) = listing.value;
    looking.add_nodes(nodes.iter().flat_map(Nodes::loads));
    Ok(looking.finish(tally, notes))
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use pintle_core::Outcome;
    use pintle_testkit::kube::{Fault, Objects};
    use serde_json::json;

    fn objects() -> Objects {
        let pod = |namespace: &str, name: &str, resources| {
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace},
                "spec": {"containers": [{"name": "app", "image": "a:1", "resources": resources}]}, "status": {"phase": "Running"}})
        };
        let full = json!({"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}});
        let range = json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "lr", "namespace": "ranged"},
            "spec": {"limits": [{"type": "Container", "default": {"cpu": "1", "memory": "1Gi"}}]}});
        Objects::new()
            .namespace("shop")
            .namespace("ranged")
            .with(pod("shop", "good", full))
            .with(pod("shop", "bare", json!(null)))
            .with(pod("kube-system", "system", json!(null)))
            .with(pod("ranged", "filled", json!(null)))
            .with(range)
    }

    #[tokio::test]
    async fn kt_check_resource_limits_an_2_3_tells_what_is_missing_with_classes_of_service() {
        let world = World::of(objects()).await;
        let reply = world.call("check_resource_limits", json!({})).await;
        assert_eq!(reply.outcome, Outcome::Findings);
        let answer = reply.answer.unwrap();
        assert_eq!(answer["counts"]["by_qos"], json!({"BestEffort": 3, "Guaranteed": 1}));
        let severities: Vec<_> = rows(&answer).map(|r| (name(r), r["severity"].as_str().unwrap())).collect();
        assert_eq!(severities, [("system", "high"), ("bare", "high"), ("filled", "info")]);
    }

    #[tokio::test]
    async fn kt_check_resource_limits_kw_16_forbidden_limit_ranges_are_told() {
        let world = World::of(objects()).await;
        world.cluster.fault("*/limitranges", Fault::Forbidden);
        let answer = world.call("check_resource_limits", json!({"namespace": "ranged"})).await.answer.unwrap();
        assert_eq!(rows(&answer).next().unwrap()["severity"], "high");
        assert!(
            answer["clusters"][0]["notes"][0]
                .as_str()
                .unwrap()
                .starts_with("limitranges could not be read (forbidden)")
        );
    }
}
