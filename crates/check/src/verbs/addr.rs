//! `addr`: whether a host and port accept a connection.

use futures::FutureExt;
use futures::future::BoxFuture;
use pintle_yaml::Node;
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::attribute::Wanted;
use super::{Observation, Probe, Read, Scene, Verb};
use crate::model::duration::Shown;
use crate::model::sink::Sink;
use crate::model::template;

pub(crate) struct Addr;

#[derive(Debug)]
struct Looks {
    host: String,
    port: u16,
    reachable: Wanted,
}

impl Verb for Addr {
    fn word(&self) -> &'static str {
        "addr"
    }

    fn fields(&self) -> &'static [&'static str] {
        &["reachable"]
    }

    fn read(&self, value: Node<'_>, body: Node<'_>, sink: &mut Sink<'_>) -> Option<Read> {
        let reachable = Wanted::or_true(value, body, "reachable", sink);
        let text = sink.word(value, "`addr`")?;
        if template::is_dynamic(&text) {
            return Some(Read::new(Looks { host: text, port: 0, reachable }));
        }
        let plain = text.strip_prefix("tcp://").unwrap_or(&text);
        let found = plain.rsplit_once(':').and_then(|(host, port)| {
            let host = host.trim_start_matches('[').trim_end_matches(']');
            let port = port.parse::<u16>().ok().filter(|port| *port > 0)?;
            (!host.is_empty() && !host.contains('/')).then(|| (host.to_owned(), port))
        });
        let Some((host, port)) = found else {
            sink.wrong_hint(value, format!("`{text}` is no host and port"), "write it like `tcp://localhost:8080`");
            return None;
        };
        Some(Read::new(Looks { host, port, reachable }))
    }
}

impl Probe for Looks {
    fn observe<'a>(&'a self, scene: &'a Scene<'a>) -> BoxFuture<'a, Observation> {
        async move {
            let began = Instant::now();
            let reached =
                tokio::time::timeout(scene.time.left(), TcpStream::connect((self.host.as_str(), self.port))).await;
            let why = match &reached {
                Ok(Ok(_)) => None,
                Ok(Err(error)) => Some(error.to_string()),
                Err(_) => Some(format!("no connection within {}", Shown(scene.time.limit))),
            };
            let place = format!("{}:{}", self.host, self.port);
            let mut seen = Observation { took: Some(began.elapsed()), ..Observation::default() };
            seen.endpoint = Some(format!("tcp://{place}"));
            seen.mismatches.extend(self.reachable.check("reachable", why.is_none()));
            seen.stderr = why.map(|why| format!("{place}: {why}")).unwrap_or_default();
            if self.reachable.value && !seen.stderr.is_empty() {
                seen.failure = Some(format!("addr {}", seen.stderr));
                seen.exit_status = 1;
            }
            seen
        }
        .boxed()
    }
}
