//! The clusters of the kubeconfig as a resource, `fleet://clusters`, and any object of one as another.

use crate::{
    Host,
    operations::{get_resource::GetResource, list_clusters::listed},
};
use percent_encoding::percent_decode_str;
use pintle_core::{BoxFuture, Call, Code, Contents, Failure, Resource, ResourceTemplate, Resources, Scope};
use std::sync::Arc;

const CLUSTERS: &str = "fleet://clusters";
const JSON: &str = "application/json";

/// One object; for kinds outside namespaces any word stands for the namespace.
pub(crate) const OBJECT: &str = "fleet://objects/{cluster}/{namespace}/{kind}/{name}";
const OBJECTS: &str = "fleet://objects/";

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

/// Objects of clusters, as `get_resource` shows them.
pub(crate) struct Objects {
    host: Arc<Host>,
}

impl Objects {
    pub(crate) fn new(host: Arc<Host>) -> Self {
        Self { host }
    }
}

impl Resources for Objects {
    fn list<'a>(&'a self, _: &'a Call) -> BoxFuture<'a, Result<Vec<Resource>, Failure>> {
        // There are more than anybody would list.
        Box::pin(async { Ok(Vec::new()) })
    }

    fn templates(&self) -> Vec<ResourceTemplate> {
        let about = "one object as JSON, values of secrets and environments not shown; `-` as namespace where the kind has none";
        vec![ResourceTemplate {
            template: OBJECT.to_owned(),
            name: "object of a cluster".to_owned(),
            description: Some(about.to_owned()),
            mime: Some(JSON.to_owned()),
        }]
    }

    fn read<'a>(&'a self, uri: &'a str, call: &'a Call) -> BoxFuture<'a, Result<Option<Vec<Contents>>, Failure>> {
        Box::pin(async move {
            let Some(rest) = uri.strip_prefix(OBJECTS) else { return Ok(None) };
            let words: Vec<String> =
                rest.split('/').map(|word| percent_decode_str(word).decode_utf8_lossy().into_owned()).collect();
            let [cluster, namespace, kind, name] = words.as_slice() else {
                return Err(Failure::new(Code::NotFound, format!("no resource `{uri}`"))
                    .hint(format!("write {OBJECT}, with `%2F` for a slash in a name")));
            };
            let object = GetResource::of(cluster, namespace, kind, name).one(&self.host, call).await?;
            let text = serde_json::to_string_pretty(&object).unwrap_or_default();
            Ok(Some(vec![Contents::text(uri, JSON, text)]))
        })
    }
}
