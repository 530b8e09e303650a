//! Names for whoever types one: of contexts, and of namespaces, kinds and objects as the current context has them.
//!
//! Nobody else is contacted: whoever types a letter means to ask no other cluster. Where the other arguments name
//! clusters and the current one is not among them, nothing is offered.

use crate::{Host, kinds, reading::place};
use pintle_core::{BoxFuture, Call, Completions, Reference, Scope};
use pintle_fleet::{Cluster, ListParams, ResourceType, Targets, Unnamed};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Most objects of a kind that are looked at.
const OBJECTS: usize = 1000;

/// The names.
pub(crate) struct Names {
    host: Arc<Host>,
    /// Tools with arguments that these names go into.
    tools: Vec<String>,
}

/// What an argument names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Context,
    Namespace,
    Kind,
    /// An object of the kind that another argument tells; a pod where there is none.
    Object,
}

impl Names {
    pub(crate) fn new(host: Arc<Host>, tools: Vec<String>) -> Self {
        Self { host, tools }
    }

    fn named(&self, reference: &Reference, argument: &str) -> Option<Named> {
        let tool = match reference {
            Reference::Prompt(name) if crate::prompts::NAMES.contains(&name.as_str()) => None,
            Reference::Resource(template) if template == crate::resources::OBJECT => None,
            Reference::Tool(name) if self.tools.contains(name) => Some(name.as_str()),
            _ => return None,
        };
        match argument {
            "cluster" | "clusters" => Some(Named::Context),
            "namespace" => Some(Named::Namespace),
            "kind" => Some(Named::Kind),
            "name" if matches!(tool, None | Some("describe_pod" | "get_pod_logs" | "get_resource")) => {
                Some(Named::Object)
            }
            _ => None,
        }
    }

    /// What there is. Completion offers what there is: where something cannot be read, it has nothing to offer.
    async fn all(&self, named: Named, others: &Map<String, Value>, call: &Call) -> Option<Vec<String>> {
        if named == Named::Context {
            let kubeconfig = self.host.fleet().kubeconfig().await.ok()?;
            let lets = |name: &&str| call.allows(&Scope::cluster(*name)).is_ok();
            return Some(kubeconfig.names().filter(lets).map(str::to_owned).collect());
        }
        let cluster = self.current(others, call).await?;
        match named {
            Named::Context => None,
            Named::Namespace => {
                let lets = |name: &String| call.allows(&place(cluster.name(), name)).is_ok();
                let all = objects(&cluster, &ResourceType::NAMESPACES, None).await?;
                Some(all.into_iter().filter(lets).collect())
            }
            Named::Kind => {
                let known = cluster.discovery().await.ok()?;
                let short = |kind: &ResourceType| match known.find(&kind.plural) {
                    Ok(meant) if meant == kind => kind.plural.to_string(),
                    _ => kind.to_string(),
                };
                Some(known.types().filter(|kind| known.has_verb(kind, "list")).map(short).collect())
            }
            Named::Object => {
                let kind = match word(others, "kind") {
                    Some(word) => kinds::resolve(&cluster, word).await.ok()?.0,
                    None => ResourceType::PODS,
                };
                let usual = cluster.default_namespace().unwrap_or("default");
                let namespace = kind.namespaced.then(|| word(others, "namespace").unwrap_or(usual));
                if let Some(namespace) = namespace {
                    call.allows(&place(cluster.name(), namespace)).ok()?;
                }
                objects(&cluster, &kind, namespace).await
            }
        }
    }

    /// The cluster of the current context, if it is one that the other arguments mean.
    async fn current(&self, others: &Map<String, Value>, call: &Call) -> Option<Cluster> {
        let fleet = self.host.fleet();
        let current = fleet.kubeconfig().await.ok()?.current.clone()?;
        let mut targets = Targets { clusters: Vec::new(), cluster: word(others, "cluster").map(str::to_owned) };
        match others.get("clusters") {
            Some(Value::String(one)) => targets.clusters.push(one.clone()),
            Some(Value::Array(several)) => {
                targets.clusters.extend(several.iter().filter_map(Value::as_str).map(str::to_owned));
            }
            _ => {}
        }
        let meant = fleet.select(&targets, Unnamed::Current, call).await.ok()?;
        if !meant.chosen.contains(&current) {
            return None;
        }
        fleet.cluster(&current, call).await.ok()
    }
}

impl Completions for Names {
    fn complete<'a>(
        &'a self,
        reference: &'a Reference,
        argument: &'a str,
        value: &'a str,
        others: &'a Map<String, Value>,
        call: &'a Call,
    ) -> BoxFuture<'a, Option<Vec<String>>> {
        Box::pin(async move {
            let named = self.named(reference, argument)?;
            let mut names = self.all(named, others, call).await.unwrap_or_default();
            names.retain(|name| name.starts_with(value));
            names.sort();
            Some(names)
        })
    }
}

fn word<'a>(others: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    others.get(name).and_then(Value::as_str).filter(|word| !word.is_empty())
}

/// The names of the objects of a kind: of each, nothing else is kept.
async fn objects(cluster: &Cluster, kind: &ResourceType, namespace: Option<&str>) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct Object {
        metadata: Metadata,
    }
    #[derive(Deserialize)]
    struct Metadata {
        name: String,
    }
    let params = ListParams { most: Some(OBJECTS), ..ListParams::in_namespace(namespace) };
    let listing = cluster.list_pages(kind, &params, Vec::new, |names, page: Vec<Object>| {
        names.extend(page.into_iter().map(|object| object.metadata.name));
    });
    Some(listing.await.ok()?.value)
}
