//! `port`: whether something listens at a port, and whether it can be reached.

use std::net::IpAddr;

use futures::FutureExt;
use futures::future::BoxFuture;
use pintle_yaml::{Node, Place};
use serde_json::Value;
use tokio::net::TcpStream;

use super::attribute::Wanted;
use super::{Observation, Probe, Read, Scene, Verb};
use crate::json::placed;
use crate::model::sink::Sink;
use crate::model::template;
use crate::target::PortName;

pub(crate) struct Port;

#[derive(Debug)]
struct Looks {
    port: PortName,
    listening: Option<Wanted>,
    reachable: Option<Wanted>,
    ip: Vec<(IpAddr, Place)>,
}

impl Verb for Port {
    fn word(&self) -> &'static str {
        "port"
    }

    fn fields(&self) -> &'static [&'static str] {
        &["listening", "reachable", "ip"]
    }

    fn read(&self, value: Node<'_>, body: Node<'_>, sink: &mut Sink<'_>) -> Option<Read> {
        let port = port(value, sink);
        let reachable = Wanted::read(body, "reachable", sink);
        let listening = Wanted::read(body, "listening", sink);
        // Without either, it is to listen.
        let implied = Wanted { value: true, place: sink.place(value) };
        let listening = listening.or(reachable.is_none().then_some(implied));
        let mut ip = Vec::new();
        if let Some(node) = body.get("ip") {
            for item in sink.list(node, "ip") {
                let Some(text) = sink.word(item, "ip") else { continue };
                match text.parse() {
                    Ok(address) => ip.push((address, sink.place(item))),
                    Err(_) if template::is_dynamic(&text) => {}
                    Err(_) => sink.wrong(item, format!("ip `{text}` is no address")),
                }
            }
        }
        if let Some(node) = body.get("reachable")
            && port.is_some_and(|port| port.udp)
        {
            sink.wrong(node, "whether a UDP port can be reached cannot be told");
        }
        Some(Read::new(Looks { port: port?, listening, reachable, ip }))
    }
}

/// `8080`, `tcp:8080`, `udp:53`, `8080/tcp`.
fn port(value: Node<'_>, sink: &mut Sink<'_>) -> Option<PortName> {
    let text = sink.word(value, "`port`")?;
    if template::is_dynamic(&text) {
        return Some(PortName { udp: false, number: 0 });
    }
    let (protocol, number) = match (text.split_once(':'), text.split_once('/')) {
        (Some((protocol, number)), _) | (None, Some((number, protocol))) => (protocol, number),
        (None, None) => ("tcp", text.as_str()),
    };
    match (protocol, number.parse::<u16>()) {
        ("tcp" | "udp", Ok(number @ 1..)) => Some(PortName { udp: protocol == "udp", number }),
        _ => {
            sink.wrong_hint(value, format!("`{text}` is no port"), "write it like `8080` or `udp:53`");
            None
        }
    }
}

impl Probe for Looks {
    fn observe<'a>(&'a self, scene: &'a Scene<'a>) -> BoxFuture<'a, Observation> {
        async move {
            let mut seen = Observation::default();
            if self.listening.is_some() || !self.ip.is_empty() {
                match scene.target.listeners(self.port).await {
                    Ok(found) => self.listening(&found, &mut seen),
                    Err(why) => return Observation::failed(format!("port {}: {why}", self.port.number)),
                }
            }
            if let Some(reachable) = self.reachable {
                let to = ("127.0.0.1", self.port.number);
                let reached = tokio::time::timeout(scene.time.left(), TcpStream::connect(to)).await;
                seen.mismatches.extend(reachable.check("reachable", matches!(reached, Ok(Ok(_)))));
            }
            seen
        }
        .boxed()
    }
}

impl Looks {
    fn listening(&self, found: &[IpAddr], seen: &mut Observation) {
        seen.stdout = found.iter().map(|address| format!("{address}\n")).collect();
        if let Some(listening) = self.listening {
            seen.mismatches.extend(listening.check("listening", !found.is_empty()));
        }
        for (address, place) in &self.ip {
            if !found.contains(address) {
                let actual: Vec<Value> = found.iter().map(|address| Value::from(address.to_string())).collect();
                let expected = Value::from(address.to_string());
                seen.mismatches.push(placed(*place, "ip", "contains", expected, Some(Value::Array(actual))));
            }
        }
    }
}
