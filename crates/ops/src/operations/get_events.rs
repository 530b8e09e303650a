//! `get_events`

use crate::{
    Host,
    model::event::{EventRow, keep_newest},
    reading::{Counted, Denied, OLD_FORMS, absent, select},
};
use k8s_openapi::api::core::v1::Event;
use pintle_core::{Call, Query, Spellings, Stop};
use pintle_fleet::{Cluster, ClusterError, Found, ListParams, ResourceType, Targets, fan_over};
use schemars::JsonSchema;
use serde::Deserialize;

/// List the newest events of each cluster.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct GetEvents {
    #[serde(flatten)]
    targets: Targets,
    /// Namespace; all when absent
    #[schemars(extend("x-cli" = {"short": "n", "common": true}))]
    namespace: Option<String>,
    /// Most events of one cluster
    #[schemars(range(min = 1, max = 1000), extend("x-cli" = {"common": true}))]
    limit: usize,
}

impl Default for GetEvents {
    fn default() -> Self {
        Self { targets: Targets::default(), namespace: None, limit: 50 }
    }
}

impl Query for GetEvents {
    type Host = Host;
    type Answer = Counted<EventRow>;
    const NAME: &'static str = "get_events";
    const SPELLINGS: Spellings = OLD_FORMS;
    const PAGED: bool = true;

    async fn run(self, host: &Host, call: &Call) -> Result<Counted<EventRow>, Stop> {
        let selection = select(host, &self.targets, self.namespace.as_deref(), call).await?;
        let params = &ListParams::in_namespace(self.namespace.as_deref());
        let limit = self.limit;
        let found = fan_over(host.fleet(), selection, call, |cluster| async move {
            newest(host, &cluster, params, limit, call).await
        });
        Ok(found.await?.into())
    }
}

/// The newest events of one cluster: all pages are looked at, because the API gives them in the order of their names.
pub(crate) async fn newest(
    host: &Host,
    cluster: &Cluster,
    params: &ListParams,
    limit: usize,
    call: &Call,
) -> Result<Found<EventRow>, ClusterError> {
    let now = host.now();
    let mut denied = Denied::new(cluster.name(), call);
    let listing = cluster
        .list_pages(
            &ResourceType::EVENTS,
            params,
            || (Vec::new(), 0),
            |(rows, seen), page: Vec<Event>| {
                let allowed = page.iter().map(|event| EventRow::of(event, now)).filter(|row: &EventRow| {
                    use crate::reading::Placed;
                    denied.lets(row.namespace())
                });
                let before = rows.len();
                rows.extend(allowed);
                *seen += rows.len() - before;
                keep_newest(rows, limit);
            },
        )
        .await?;
    let mut notes = listing.notes();
    let (rows, seen) = listing.value;
    notes.extend(denied.note());
    if seen > rows.len() {
        notes.push(format!("the newest {} of {seen} events; `limit` shows more", rows.len()));
    }
    notes.extend(absent(cluster, params.namespace.as_deref(), rows.is_empty()).await);
    Ok(Found { rows, notes })
}
