//! Changes as they come.

use super::{
    cluster::{Changed, Inner},
    list::{Selection, given},
    objects::Stored,
    resource::Resource,
    serve::Answer,
    status,
};
use axum::body::Bytes;
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use tokio::time::{Instant, timeout_at};

/// How long a watch lasts when the client does not say.
const LASTS: Duration = Duration::from_secs(1800);

/// The changes after `resourceVersion`; without one, first what is there.
pub(crate) fn answer(
    inner: &Arc<Inner>,
    resource: &Arc<Resource>,
    namespace: Option<&str>,
    parameters: &[(String, String)],
) -> Answer {
    let selection = match Selection::of(resource, namespace, parameters) {
        Ok(selection) => selection,
        Err(answer) => return answer,
    };
    let flag = |name: &str| matches!(given(parameters, name), Some("true" | "1"));
    let since = match given(parameters, "resourceVersion").map(str::parse::<u64>).transpose() {
        Ok(since) => since.filter(|since| *since > 0),
        Err(_) => return status::bad_request("resourceVersion: must be a number"),
    };
    let seconds = given(parameters, "timeoutSeconds").and_then(|text| text.parse().ok()).map(Duration::from_secs);
    let objects = inner.objects();
    let mut first = String::new();
    let initial = flag("sendInitialEvents");
    if since.is_none() || initial {
        for (key, stored) in objects.collection(resource).into_iter().flat_map(|collection| collection.iter()) {
            if selection.takes(key, stored) {
                first.push_str(&line("ADDED", resource, stored));
            }
        }
        if initial && flag("allowWatchBookmarks") {
            first.push_str(&bookmark(resource, objects.revision));
        }
    } else if since.is_some_and(|since| since < inner.oldest()) {
        let gone = json!({"type": "ERROR", "object": {
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": "Expired", "code": 410,
            "message": "too old resource version"
        }});
        let only = stream::once(async move { Ok(Bytes::from(format!("{gone}\n"))) });
        return Answer::pieces("application/json", only.boxed());
    }
    let from = if since.is_none() || initial { objects.revision } else { since.unwrap_or_default() };
    let following = Following {
        inner: Arc::clone(inner),
        resource: Arc::clone(resource),
        selection,
        seen: from,
        ends: Instant::now() + seconds.unwrap_or(LASTS),
    };
    let changes = stream::unfold(following, |mut following| async move {
        following.next().await.map(|lines| (Ok(Bytes::from(lines)), following))
    });
    Answer::pieces("application/json", stream::once(async { Ok(Bytes::from(first)) }).chain(changes).boxed())
}

struct Following {
    inner: Arc<Inner>,
    resource: Arc<Resource>,
    selection: Selection,
    seen: u64,
    ends: Instant,
}

impl Following {
    /// The lines of the next changes that count; none when the time is up.
    async fn next(&mut self) -> Option<String> {
        let mut revision = self.inner.revision.subscribe();
        loop {
            let mut lines = String::new();
            for change in self.inner.changes_after(self.seen) {
                let Changed { kind, revision, resource, key, stored } = change;
                self.seen = revision;
                if resource.address() == self.resource.address() && self.selection.takes(&key, &stored) {
                    lines.push_str(&line(kind, &resource, &stored));
                }
            }
            if !lines.is_empty() {
                return Some(lines);
            }
            let seen = self.seen;
            timeout_at(self.ends, revision.wait_for(|now| *now > seen)).await.ok()?.ok()?;
        }
    }
}

fn line(kind: &str, resource: &Resource, stored: &Stored) -> String {
    let object: Value = serde_json::from_slice(&stored.typed(resource)).unwrap_or_default();
    format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n")
}

fn bookmark(resource: &Resource, revision: u64) -> String {
    let object = json!({
        "kind": resource.kind, "apiVersion": resource.api_version(),
        "metadata": {"resourceVersion": revision.to_string(), "annotations": {"k8s.io/initial-events-end": "true"}}
    });
    format!("{}\n", json!({"type": "BOOKMARK", "object": object}))
}
