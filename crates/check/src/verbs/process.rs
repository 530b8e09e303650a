//! `process`: whether a program runs.

use futures::FutureExt;
use futures::future::BoxFuture;
use pintle_yaml::Node;

use super::attribute::Wanted;
use super::{Observation, Probe, Read, Scene, Verb};
use crate::model::sink::Sink;

pub(crate) struct Process;

#[derive(Debug)]
struct Looks {
    name: String,
    running: Wanted,
}

impl Verb for Process {
    fn word(&self) -> &'static str {
        "process"
    }

    fn fields(&self) -> &'static [&'static str] {
        &["running"]
    }

    fn read(&self, value: Node<'_>, body: Node<'_>, sink: &mut Sink<'_>) -> Option<Read> {
        let running = Wanted::or_true(value, body, "running", sink);
        let name = sink.word(value, "`process`")?;
        Some(Read::new(Looks { name, running }))
    }
}

impl Probe for Looks {
    fn observe<'a>(&'a self, scene: &'a Scene<'a>) -> BoxFuture<'a, Observation> {
        async move {
            match scene.target.processes(&self.name).await {
                Ok(found) => Observation {
                    stdout: found.iter().map(|id| format!("{id}\n")).collect(),
                    mismatches: self.running.check("running", !found.is_empty()).into_iter().collect(),
                    ..Observation::default()
                },
                Err(why) => Observation::failed(format!("process {}: {why}", self.name)),
            }
        }
        .boxed()
    }
}
