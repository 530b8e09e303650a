//! `get_warning_events`

use super::get_events::newest;
use crate::{
    Host,
    model::event::EventRow,
    reading::{Counted, OLD_FORMS, select},
};
use pintle_core::{Call, Query, Spellings, Stop};
use pintle_fleet::{ListParams, Targets, fan_over};
use schemars::JsonSchema;
use serde::Deserialize;

/// List the newest warning events.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct GetWarningEvents {
    #[serde(flatten)]
    targets: Targets,
    /// Namespace; all when absent
    #[schemars(extend("x-cli" = {"short": "n", "common": true}))]
    namespace: Option<String>,
    /// Name, or Kind/name
    involved_object: Option<String>,
    /// Most events of one cluster
    #[schemars(range(min = 1, max = 1000), extend("x-cli" = {"common": true}))]
    limit: usize,
}

impl Default for GetWarningEvents {
    fn default() -> Self {
        Self { targets: Targets::default(), namespace: None, involved_object: None, limit: 50 }
    }
}

impl Query for GetWarningEvents {
    type Host = Host;
    type Answer = Counted<EventRow>;
    const NAME: &'static str = "get_warning_events";
    const SPELLINGS: Spellings = OLD_FORMS;
    const PAGED: bool = true;

    async fn run(self, host: &Host, call: &Call) -> Result<Counted<EventRow>, Stop> {
        let selection = select(host, &self.targets, self.namespace.as_deref(), call).await?;
        let mut params = ListParams::in_namespace(self.namespace.as_deref());
        // The server filters before anything is cut.
        params.field_selector = Some(field_selector(self.involved_object.as_deref()));
        let (params, limit) = (&params, self.limit);
        let found = fan_over(host.fleet(), selection, call, |cluster| async move {
            newest(host, &cluster, params, limit, call).await
        });
        Ok(found.await?.into())
    }
}

fn field_selector(object: Option<&str>) -> String {
    let mut selector = "type=Warning".to_owned();
    let (kind, name) = match object.map(|object| object.split_once('/').unwrap_or(("", object))) {
        Some(parts) => parts,
        None => return selector,
    };
    for (field, value) in [("involvedObject.kind", kind), ("involvedObject.name", name)] {
        if !value.is_empty() {
            selector.push_str(&format!(",{field}={}", escaped(value)));
        }
    }
    selector
}

/// A value in a field selector, where commas and equals signs mean something.
pub(crate) fn escaped(value: &str) -> String {
    value.chars().flat_map(|c| matches!(c, '\\' | ',' | '=').then_some('\\').into_iter().chain([c])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kt_get_warning_events_kw_12_the_object_is_selected_by_the_server() {
        assert_eq!(field_selector(None), "type=Warning");
        assert_eq!(field_selector(Some("web-1")), "type=Warning,involvedObject.name=web-1");
        let both = "type=Warning,involvedObject.kind=Pod,involvedObject.name=a\\,b\\=c\\\\";
        assert_eq!(field_selector(Some("Pod/a,b=c\\")), both);
    }
}
