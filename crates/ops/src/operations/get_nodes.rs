//! `get_nodes`

use crate::{
    Host,
    model::{age_since, node::SlimNode},
    reading::{Counted, Grouped, OLD_FORMS, Placed, list_rows, select},
};
use jiff::Timestamp;
use pintle_core::{Call, Query, Row, Spellings, Stop};
use pintle_fleet::{FleetRow, ListParams, ResourceType, Targets, fan_over};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// List nodes with status, roles, version and shortages.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct GetNodes {
    #[serde(flatten)]
    targets: Targets,
}

/// A node.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct NodeRow {
    name: String,
    status: String,
    roles: Vec<String>,
    version: String,
    /// Conditions that say something is short or broken
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pressure: Vec<String>,
    #[serde(skip_serializing_if = "is_zero")]
    taints: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    internal_ip: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    os: Option<String>,
    age: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl NodeRow {
    fn of(node: SlimNode, now: Timestamp) -> Self {
        Self {
            status: node.status(),
            roles: node.roles(),
            version: node.version(),
            pressure: node.pressure(),
            taints: node.taints(),
            internal_ip: node.internal_ip(),
            os: node.os(),
            age: age_since(node.metadata.creation_timestamp.as_ref(), now),
            name: node.metadata.name.unwrap_or_default(),
        }
    }
}

impl Row for NodeRow {
    fn key(&self) -> String {
        self.name.clone()
    }
}

impl Placed for NodeRow {
    fn namespace(&self) -> &str {
        ""
    }
}

impl FleetRow for NodeRow {
    const COLUMNS: &'static [&'static str] = &["NAME", "STATUS", "ROLES", "AGE", "VERSION", "PRESSURE"];
    const NOTHING: &'static str = "no nodes found";

    fn cells(&self) -> Vec<String> {
        let list = |words: &[String]| if words.is_empty() { "<none>".to_owned() } else { words.join(",") };
        vec![
            self.name.clone(),
            self.status.clone(),
            list(&self.roles),
            self.age.clone(),
            self.version.clone(),
            list(&self.pressure),
        ]
    }
}

impl Grouped for NodeRow {
    const NOUN: &'static str = "nodes";

    fn group(&self) -> &str {
        &self.status
    }
}

impl Query for GetNodes {
    type Host = Host;
    type Answer = Counted<NodeRow>;
    const NAME: &'static str = "get_nodes";
    const SPELLINGS: Spellings = OLD_FORMS;
    const PAGED: bool = true;

    async fn run(self, host: &Host, call: &Call) -> Result<Counted<NodeRow>, Stop> {
        let selection = select(host, &self.targets, None, call).await?;
        let params = &ListParams::default();
        let now = host.now();
        let found = fan_over(host.fleet(), selection, call, |cluster| async move {
            list_rows(&cluster, &ResourceType::NODES, params, call, |node| NodeRow::of(node, now)).await
        });
        Ok(found.await?.into())
    }
}
