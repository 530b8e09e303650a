//! The clusters of the kubeconfig as a resource: `fleet://clusters`.

use crate::{Host, operations::list_clusters::listed};
use pintle_core::{BoxFuture, Call, Contents, Failure, Resource, ResourceTemplate, Resources, Scope};
use std::sync::Arc;

const CLUSTERS: &str = "fleet://clusters";
const JSON: &str = "application/json";

/// The clusters.
pub(crate) struct Clusters {
    host: Arc<Host>,
}

impl Clusters {
    pub(crate) fn new(host: Arc<Host>) -> Self {
        Self { host }
    }
}

impl Resources for Clusters {
    fn list<'a>(&'a self, _: &'a Call) -> BoxFuture<'a, Result<Vec<Resource>, Failure>> {
        let one = Resource {
            uri: CLUSTERS.to_owned(),
            name: "clusters".to_owned(),
            description: Some("the clusters of the kubeconfig; reading it contacts none".to_owned()),
            mime: Some(JSON.to_owned()),
            size: None,
        };
        Box::pin(async move { Ok(vec![one]) })
    }

    fn templates(&self) -> Vec<ResourceTemplate> {
        Vec::new()
    }

    fn read<'a>(&'a self, uri: &'a str, call: &'a Call) -> BoxFuture<'a, Result<Option<Vec<Contents>>, Failure>> {
        Box::pin(async move {
            if uri != CLUSTERS {
                return Ok(None);
            }
            let kubeconfig = self.host.fleet().kubeconfig().await?;
            let clusters = listed(&kubeconfig, |name| call.allows(&Scope::cluster(name)).is_ok());
            let text = serde_json::to_string_pretty(&clusters).unwrap_or_default();
            Ok(Some(vec![Contents::text(uri, JSON, text)]))
        })
    }
}
