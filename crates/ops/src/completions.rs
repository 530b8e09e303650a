//! Names of contexts, for whoever types one. No cluster is asked: what policy says of it is not known here.

use crate::Host;
use pintle_core::{BoxFuture, Call, Completions, Reference};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The names.
pub(crate) struct Names {
    host: Arc<Host>,
}

impl Names {
    pub(crate) fn new(host: Arc<Host>) -> Self {
        Self { host }
    }
}

impl Completions for Names {
    fn complete<'a>(
        &'a self,
        reference: &'a Reference,
        argument: &'a str,
        value: &'a str,
        _: &'a Map<String, Value>,
        _: &'a Call,
    ) -> BoxFuture<'a, Option<Vec<String>>> {
        Box::pin(async move {
            let mine = match reference {
                Reference::Prompt(name) => crate::prompts::NAMES.contains(&name.as_str()),
                Reference::Tool(_) => true,
                Reference::Resource(_) => false,
            };
            if !mine || !matches!(argument, "cluster" | "clusters") {
                return None;
            }
            // Completion offers what there is; a kubeconfig that cannot be read has nothing to offer.
            let kubeconfig = self.host.fleet().kubeconfig().await.ok()?;
            Some(kubeconfig.names().filter(|name| name.starts_with(value)).map(str::to_owned).collect())
        })
    }
}
