//! `get_services`

use crate::{
    Host,
    model::service::SlimService,
    reading::{Counted, Grouped, OLD_FORMS, Placed, list_rows, select},
};
use jiff::Timestamp;
use pintle_core::{Call, Query, Row, Spellings, Stop};
use pintle_fleet::{FleetRow, ListParams, ResourceType, Targets, fan_over};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// List services with type, addresses, ports and selector.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct GetServices {
    #[serde(flatten)]
    targets: Targets,
    /// Namespace; all when absent
    #[schemars(extend("x-cli" = {"short": "n", "common": true}))]
    namespace: Option<String>,
}

/// A service.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ServiceRow {
    namespace: String,
    name: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster_ip: Option<String>,
    /// Addresses from outside, or `<pending>`
    #[serde(skip_serializing_if = "Option::is_none")]
    external: Option<String>,
    /// `port:nodePort/protocol→targetPort`
    ports: Vec<String>,
    /// Labels of its pods; absent where it selects none
    #[serde(skip_serializing_if = "Option::is_none")]
    selector: Option<String>,
    age: String,
}

impl ServiceRow {
    fn of(service: SlimService, now: Timestamp) -> Self {
        let (external, ports, age) = (service.external(), service.ports(), service.metadata.age(now));
        let spec = service.spec.unwrap_or_default();
        let selector = spec.selector.filter(|selector| !selector.is_empty());
        let pairs = |selector: std::collections::BTreeMap<String, String>| {
            selector.into_iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(",")
        };
        Self {
            namespace: service.metadata.namespace.unwrap_or_default(),
            name: service.metadata.name.unwrap_or_default(),
            kind: spec.kind.unwrap_or_else(|| "ClusterIP".to_owned()),
            cluster_ip: spec.cluster_ip.filter(|ip| !ip.is_empty()),
            external,
            ports,
            selector: selector.map(pairs),
            age,
        }
    }
}

impl Row for ServiceRow {
    fn key(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }
}

impl Placed for ServiceRow {
    fn namespace(&self) -> &str {
        &self.namespace
    }
}

impl FleetRow for ServiceRow {
    const COLUMNS: &'static [&'static str] =
        &["NAMESPACE", "NAME", "TYPE", "CLUSTER-IP", "EXTERNAL", "PORTS", "AGE", "SELECTOR"];
    const NOTHING: &'static str = "no services found";

    fn cells(&self) -> Vec<String> {
        let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "<none>".to_owned());
        vec![
            self.namespace.clone(),
            self.name.clone(),
            self.kind.clone(),
            or_none(&self.cluster_ip),
            or_none(&self.external),
            if self.ports.is_empty() { "<none>".to_owned() } else { self.ports.join(",") },
            self.age.clone(),
            or_none(&self.selector),
        ]
    }
}

impl Grouped for ServiceRow {
    const NOUN: &'static str = "services";

    fn group(&self) -> &str {
        &self.kind
    }
}

impl Query for GetServices {
    type Host = Host;
    type Answer = Counted<ServiceRow>;
    const NAME: &'static str = "get_services";
    const SPELLINGS: Spellings = OLD_FORMS;
    const PAGED: bool = true;

    async fn run(self, host: &Host, call: &Call) -> Result<Counted<ServiceRow>, Stop> {
        let selection = select(host, &self.targets, self.namespace.as_deref(), call).await?;
        let params = &ListParams::in_namespace(self.namespace.as_deref());
        let now = host.now();
        let found = fan_over(host.fleet(), selection, call, |cluster| async move {
            list_rows(&cluster, &ResourceType::SERVICES, params, call, |service| ServiceRow::of(service, now)).await
        });
        Ok(found.await?.into())
    }
}
