//! `dns`: whether a name has addresses, and which.

use std::collections::BTreeSet;
use std::net::IpAddr;

use futures::FutureExt;
use futures::future::BoxFuture;
use pintle_yaml::{Node, Place};
use serde_json::Value;

use super::attribute::Wanted;
use super::{Observation, Probe, Read, Scene, Verb};
use crate::json::placed;
use crate::model::duration::Shown;
use crate::model::sink::Sink;
use crate::model::template;

pub(crate) struct Dns;

#[derive(Debug)]
struct Looks {
    name: String,
    resolvable: Wanted,
    addrs: Vec<(IpAddr, Place)>,
}

impl Verb for Dns {
    fn word(&self) -> &'static str {
        "dns"
    }

    fn fields(&self) -> &'static [&'static str] {
        &["resolvable", "addrs"]
    }

    fn read(&self, value: Node<'_>, body: Node<'_>, sink: &mut Sink<'_>) -> Option<Read> {
        let resolvable = Wanted::or_true(value, body, "resolvable", sink);
        let mut addrs = Vec::new();
        if let Some((key, node)) = body.entry("addrs") {
            for item in sink.list(node, "addrs") {
                let Some(text) = sink.word(item, "addrs") else { continue };
                match text.parse() {
                    Ok(address) => addrs.push((address, sink.place(item))),
                    Err(_) if template::is_dynamic(&text) => {}
                    Err(_) => sink.wrong(item, format!("addrs `{text}` is no address")),
                }
            }
            if !resolvable.value {
                sink.wrong(key, "`addrs` of a name that must not resolve");
            }
        }
        let name = sink.word(value, "`dns`")?;
        Some(Read::new(Looks { name, resolvable, addrs }))
    }
}

impl Probe for Looks {
    fn observe<'a>(&'a self, scene: &'a Scene<'a>) -> BoxFuture<'a, Observation> {
        async move {
            let looked = tokio::time::timeout(scene.time.left(), tokio::net::lookup_host((self.name.as_str(), 0)));
            let (found, why) = match looked.await {
                Ok(Ok(addresses)) => (addresses.map(|address| address.ip()).collect::<BTreeSet<_>>(), None),
                Ok(Err(error)) => (BTreeSet::new(), Some(error.to_string())),
                Err(_) => {
                    return Observation::failed(format!(
                        "dns {}: no answer within {}",
                        self.name,
                        Shown(scene.time.limit)
                    ));
                }
            };
            let mut seen = Observation {
                stdout: found.iter().map(|address| format!("{address}\n")).collect(),
                stderr: why.unwrap_or_default(),
                ..Observation::default()
            };
            seen.mismatches.extend(self.resolvable.check("resolvable", !found.is_empty()));
            for (address, place) in &self.addrs {
                if !found.contains(address) {
                    let actual = found.iter().map(|address| Value::from(address.to_string())).collect();
                    let expected = Value::from(address.to_string());
                    seen.mismatches.push(placed(*place, "addrs", "contains", expected, Some(Value::Array(actual))));
                }
            }
            seen
        }
        .boxed()
    }
}
