//! `get_pods`

use crate::{
    Host,
    model::pod::{SlimPod, shown},
    reading::{Counted, Grouped, OLD_FORMS, Placed, list_rows, select},
    rules::finding::{Moment, age_text},
};
use jiff::Timestamp;
use pintle_core::{Call, Query, Row, Spellings, Stop};
use pintle_fleet::{FleetRow, ListParams, ResourceType, Targets, fan_over};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// List pods with kubectl's status, restarts and node; counts first.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct GetPods {
    #[serde(flatten)]
    targets: Targets,
    /// Namespace; all when absent
    #[schemars(extend("x-cli" = {"short": "n", "common": true}))]
    namespace: Option<String>,
    /// Such as `app=web,tier in (a,b)`
    #[schemars(extend("x-cli" = {"short": "l", "common": true}))]
    label_selector: Option<String>,
}

/// A pod.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct PodRow {
    namespace: String,
    name: String,
    /// Containers ready of all
    ready: String,
    /// Status as kubectl shows it
    status: String,
    restarts: u32,
    /// Since the last restart
    #[serde(skip_serializing_if = "Option::is_none")]
    last_restart: Option<String>,
    age: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<String>,
}

impl PodRow {
    fn of(pod: SlimPod, now: Timestamp) -> Self {
        let seen = shown(&pod);
        Self {
            ready: format!("{}/{}", seen.ready, seen.total),
            status: seen.status,
            restarts: seen.restarts,
            last_restart: seen.last_restart.map(|time| age_text(Moment(time).age(now))),
            age: pod.metadata.age(now),
            namespace: pod.metadata.namespace.unwrap_or_default(),
            name: pod.metadata.name.unwrap_or_default(),
            node: pod.spec.and_then(|spec| spec.node_name).filter(|node| !node.is_empty()),
        }
    }
}

impl Row for PodRow {
    fn key(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }
}

impl Placed for PodRow {
    fn namespace(&self) -> &str {
        &self.namespace
    }
}

impl FleetRow for PodRow {
    const COLUMNS: &'static [&'static str] = &["NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "AGE", "NODE"];
    const NOTHING: &'static str = "no pods found";

    fn cells(&self) -> Vec<String> {
        let restarts = match &self.last_restart {
            Some(ago) if self.restarts > 0 => format!("{} ({ago} ago)", self.restarts),
            _ => self.restarts.to_string(),
        };
        vec![
            self.namespace.clone(),
            self.name.clone(),
            self.ready.clone(),
            self.status.clone(),
            restarts,
            self.age.clone(),
            self.node.clone().unwrap_or_default(),
        ]
    }
}

impl Grouped for PodRow {
    const NOUN: &'static str = "pods";

    fn group(&self) -> &str {
        &self.status
    }
}

impl Query for GetPods {
    type Host = Host;
    type Answer = Counted<PodRow>;
    const NAME: &'static str = "get_pods";
    const SPELLINGS: Spellings = OLD_FORMS;
    const PAGED: bool = true;

    async fn run(self, host: &Host, call: &Call) -> Result<Counted<PodRow>, Stop> {
        let selection = select(host, &self.targets, self.namespace.as_deref(), call).await?;
        let mut params = ListParams::in_namespace(self.namespace.as_deref());
        params.label_selector = self.label_selector;
        let (params, now) = (&params, host.now());
        let found = fan_over(host.fleet(), selection, call, |cluster| async move {
            list_rows(&cluster, &ResourceType::PODS, params, call, |pod| PodRow::of(pod, now)).await
        });
        Ok(found.await?.into())
    }
}
