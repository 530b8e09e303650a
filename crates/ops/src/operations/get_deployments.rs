//! `get_deployments`

use crate::{
    Host,
    model::deployment::{SlimDeployment, Status},
    reading::{Counted, Grouped, OLD_FORMS, Placed, list_rows, select},
};
use jiff::Timestamp;
use pintle_core::{Call, Query, Row, Spellings, Stop};
use pintle_fleet::{FleetRow, ListParams, ResourceType, Targets, fan_over};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// List deployments with replicas, images and state.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct GetDeployments {
    #[serde(flatten)]
    targets: Targets,
    /// Namespace; all when absent
    #[schemars(extend("x-cli" = {"short": "n", "common": true}))]
    namespace: Option<String>,
}

/// A deployment.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct DeploymentRow {
    namespace: String,
    name: String,
    desired: i32,
    ready: i32,
    updated: i32,
    available: i32,
    /// How it stands: available, rolling out, degraded, stalled…
    state: &'static str,
    /// Why
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strategy: Option<String>,
    images: Vec<String>,
    age: String,
}

impl DeploymentRow {
    fn of(deployment: SlimDeployment, now: Timestamp) -> Self {
        let (state, reason) = deployment.state();
        let (desired, strategy, images) = (deployment.desired(), deployment.strategy(), deployment.images());
        let age = deployment.metadata.age(now);
        let Status { ready_replicas, updated_replicas, available_replicas, .. } = deployment.status.unwrap_or_default();
        Self {
            namespace: deployment.metadata.namespace.unwrap_or_default(),
            name: deployment.metadata.name.unwrap_or_default(),
            desired,
            ready: ready_replicas.unwrap_or_default(),
            updated: updated_replicas.unwrap_or_default(),
            available: available_replicas.unwrap_or_default(),
            state,
            reason,
            strategy,
            images,
            age,
        }
    }
}

impl Row for DeploymentRow {
    fn key(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }
}

impl Placed for DeploymentRow {
    fn namespace(&self) -> &str {
        &self.namespace
    }
}

impl FleetRow for DeploymentRow {
    const COLUMNS: &'static [&'static str] =
        &["NAMESPACE", "NAME", "READY", "UP-TO-DATE", "AVAILABLE", "STATE", "AGE", "IMAGES"];
    const NOTHING: &'static str = "no deployments found";

    fn cells(&self) -> Vec<String> {
        let state = match &self.reason {
            Some(reason) => format!("{} ({reason})", self.state),
            None => self.state.to_owned(),
        };
        vec![
            self.namespace.clone(),
            self.name.clone(),
            format!("{}/{}", self.ready, self.desired),
            self.updated.to_string(),
            self.available.to_string(),
            state,
            self.age.clone(),
            self.images.join(","),
        ]
    }
}

impl Grouped for DeploymentRow {
    const NOUN: &'static str = "deployments";

    fn group(&self) -> &str {
        self.state
    }
}

impl Query for GetDeployments {
    type Host = Host;
    type Answer = Counted<DeploymentRow>;
    const NAME: &'static str = "get_deployments";
    const SPELLINGS: Spellings = OLD_FORMS;
    const PAGED: bool = true;

    async fn run(self, host: &Host, call: &Call) -> Result<Counted<DeploymentRow>, Stop> {
        let selection = select(host, &self.targets, self.namespace.as_deref(), call).await?;
        let params = &ListParams::in_namespace(self.namespace.as_deref());
        let now = host.now();
        let found = fan_over(host.fleet(), selection, call, |cluster| async move {
            list_rows(&cluster, &ResourceType::DEPLOYMENTS, params, call, |d| DeploymentRow::of(d, now)).await
        });
        Ok(found.await?.into())
    }
}
