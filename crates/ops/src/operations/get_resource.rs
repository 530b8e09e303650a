//! `get_resource`

use crate::{
    Host, kinds,
    projection::{self, Path},
    reading::{OLD_FORMS, select},
    secrets,
};
use pintle_core::{Call, Failure, Query, Spellings, Stop, View};
use pintle_fleet::{Cluster, ClusterError, FleetValue, PerCluster, Targets, fan_values_over};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Get one object of any kind as JSON, or fields of it; values of secrets and environments are not shown.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct GetResource {
    #[serde(flatten)]
    targets: Targets,
    /// Plural, short name or Kind; `plural.group` where two groups have it
    #[schemars(extend("x-cli" = {"positional": 1}))]
    kind: String,
    #[schemars(extend("x-cli" = {"positional": 2}))]
    name: String,
    /// Default: that of the context, else `default`
    #[serde(default)]
    #[schemars(extend("x-cli" = {"short": "n", "common": true}))]
    namespace: Option<String>,
    /// Only these, such as `spec.replicas`, `spec.containers[*].image`
    #[serde(default)]
    fields: Vec<String>,
}

/// An object, or fields of it by their paths.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub(crate) struct Object(Map<String, Value>);

impl FleetValue for Object {
    fn view(&self) -> View {
        View::json(&Value::Object(self.0.clone()))
    }
}

impl Query for GetResource {
    type Host = Host;
    type Answer = PerCluster<Object>;
    const NAME: &'static str = "get_resource";
    const SPELLINGS: Spellings = OLD_FORMS;
    const PAGED: bool = true;

    async fn run(self, host: &Host, call: &Call) -> Result<PerCluster<Object>, Stop> {
        let paths = projection::paths(&self.fields)?;
        let selection = select(host, &self.targets, self.namespace.as_deref(), call).await?;
        let (wanted, paths) = (&self, paths.as_slice());
        let found = fan_values_over(host.fleet(), selection, call, |cluster| async move {
            wanted.read(&cluster, paths, call).await
        });
        Ok(found.await?)
    }
}

impl GetResource {
    /// The whole of one object. `-` as namespace means that of the context, else `default`.
    pub(crate) fn of(cluster: &str, namespace: &str, kind: &str, name: &str) -> Self {
        Self {
            targets: Targets::one(cluster),
            kind: kind.to_owned(),
            name: name.to_owned(),
            namespace: Some(namespace.to_owned()).filter(|namespace| namespace != "-"),
            fields: Vec::new(),
        }
    }

    /// The object of the only cluster that is meant.
    ///
    /// # Errors
    /// What the fleet says of the cluster, and the cluster of the object.
    pub(crate) async fn one(&self, host: &Host, call: &Call) -> Result<Object, Failure> {
        let selection = select(host, &self.targets, self.namespace.as_deref(), call).await?;
        let [name] = selection.chosen.as_slice() else {
            return Err(Failure::invalid_argument("cluster", "must be the name of one context"));
        };
        let cluster = host.fleet().cluster(name, call).await?;
        Ok(self.read(&cluster, &[], call).await?)
    }

    async fn read(&self, cluster: &Cluster, paths: &[Path], call: &Call) -> Result<Object, ClusterError> {
        let (kind, _) = kinds::resolve(cluster, &self.kind).await?;
        let usual = || cluster.default_namespace().unwrap_or("default");
        let namespace = kind.namespaced.then(|| self.namespace.as_deref().unwrap_or_else(usual));
        let mut object: Value = cluster.get_object(&kind, namespace, &self.name).await?;
        secrets::hide(&mut object, call);
        let object = if paths.is_empty() {
            object.as_object().cloned().unwrap_or_default()
        } else {
            paths.iter().map(|path| (path.text().to_owned(), path.of(&object))).collect()
        };
        Ok(Object(object))
    }
}
