//! `get_pod_logs`

use super::describe_pod::explained;
use crate::{
    Host,
    reading::{OLD_FORMS, select},
};
use jiff::{SignedDuration, Timestamp};
use pintle_core::{Call, Failure, Foreign, Query, Spellings, Stop, View};
use pintle_fleet::{Cause, Cluster, ClusterError, FleetValue, PerCluster, Raw, ResourceType, Targets, fan_values_over};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Read the newest lines of a container's log.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct GetPodLogs {
    #[serde(flatten)]
    targets: Targets,
    /// Pod
    #[schemars(extend("x-cli" = {"positional": 1, "common": true}))]
    name: String,
    /// Default: that of the context, else `default`
    #[serde(default)]
    #[schemars(extend("x-cli" = {"short": "n", "common": true}))]
    namespace: Option<String>,
    /// The usual one when absent
    #[serde(default)]
    #[schemars(extend("x-cli" = {"short": "c", "common": true}))]
    container: Option<String>,
    /// Newest lines
    #[serde(default = "hundred")]
    #[schemars(extend("x-cli" = {"common": true}))]
    tail_lines: u64,
    /// The run before the last restart
    #[serde(default)]
    #[schemars(extend("x-cli" = {"short": "p"}, "default" = null))]
    previous: bool,
    /// `15m` or an RFC 3339 time
    #[serde(default)]
    since: Option<String>,
    /// Each line with its time
    #[serde(default)]
    #[schemars(extend("x-cli" = {"common": true}, "default" = null))]
    timestamps: bool,
    /// Most bytes
    #[serde(default = "mebibyte")]
    #[schemars(range(min = 1, max = 16_777_216), extend("x-cli" = {"common": true}))]
    limit_bytes: usize,
}

const fn hundred() -> u64 {
    100
}

const fn mebibyte() -> usize {
    1024 * 1024
}

/// A log.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Log {
    namespace: String,
    pod: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    container: Option<String>,
    /// What was written, control codes left out
    text: String,
    /// Bytes that are no UTF-8 were replaced
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    lossy: bool,
    /// `limit_bytes` cut its end off
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cut: bool,
    /// What else is to be said
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl FleetValue for Log {
    fn view(&self) -> View {
        let mut view = View::default();
        if let Some(note) = &self.note {
            view = view.and_text(format!("({note})"));
        }
        view.blocks.extend(View::exact(self.text.clone()).blocks);
        if self.text.is_empty() {
            view = view.and_text("(the log is empty)");
        }
        if self.cut {
            view = view.and_text("(cut off by limit_bytes)");
        }
        view
    }
}

impl Query for GetPodLogs {
    type Host = Host;
    type Answer = PerCluster<Log>;
    const NAME: &'static str = "get_pod_logs";
    const SPELLINGS: Spellings = OLD_FORMS;
    const PAGED: bool = true;

    async fn run(self, host: &Host, call: &Call) -> Result<PerCluster<Log>, Stop> {
        let since = self.since.as_deref().map(|text| since(text, host.now())).transpose()?;
        let selection = select(host, &self.targets, self.namespace.as_deref(), call).await?;
        let (wanted, since) = (&self, since.as_deref());
        let found =
            fan_values_over(host.fleet(), selection, call, |cluster| async move { wanted.read(&cluster, since).await });
        Ok(found.await?)
    }
}

/// `since` as a parameter of the request.
fn since(text: &str, now: Timestamp) -> Result<String, Failure> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(format!("sinceTime={time:.0}"));
    }
    let refused = || {
        Failure::invalid_argument("since", format!("`{}` is no duration", text.escape_debug()))
            .hint("write it as `90s`, `15m`, `2h`, `1d`, or as 2026-01-31T12:00:00Z")
    };
    let at = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(refused)?;
    let mut seconds: i64 = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).filter(|digits| *digits > 0).ok_or_else(refused)?;
        let number: i64 = rest[..digits].parse().map_err(|_| refused())?;
        let unit = match rest.as_bytes()[digits] {
            b's' => 1,
            b'm' => 60,
            b'h' => 3_600,
            b'd' => 86_400,
            _ => return Err(refused()),
        };
        seconds = number.checked_mul(unit).and_then(|more| seconds.checked_add(more)).ok_or_else(refused)?;
        rest = &rest[digits + 1..];
    }
    debug_assert!(at > 0);
    if seconds == 0 {
        return Err(refused());
    }
    // Whatever the server takes as its own clock, it is asked relative to that; a time far back means everything.
    let _ = now.checked_sub(SignedDuration::from_secs(seconds)).map_err(|_| refused())?;
    Ok(format!("sinceSeconds={seconds}"))
}

impl GetPodLogs {
    async fn read(&self, cluster: &Cluster, since: Option<&str>) -> Result<Log, ClusterError> {
        let namespace = self.namespace.as_deref().or_else(|| cluster.default_namespace()).unwrap_or("default");
        let log = |raw: Raw, container: Option<String>, note| {
            let Foreign { text, lossy } = raw.foreign();
            let (namespace, pod) = (namespace.to_owned(), self.name.clone());
            Log { namespace, pod, container, text, lossy, cut: raw.cut, note }
        };
        let asked = cluster.text(&self.path(namespace, self.container.as_deref(), since), self.limit_bytes).await;
        match asked {
            Ok(raw) => Ok(log(raw, self.container.clone(), None)),
            // Several containers: the API wants a name, people mean the usual one.
            Err(ClusterError { cause: Cause::Rejected { status: 400, said }, .. })
                if self.container.is_none() && said.contains("container name must be specified") =>
            {
                let pod: Pod = cluster.get_object(&ResourceType::PODS, Some(namespace), &self.name).await?;
                let (container, others) = pod.usual_container();
                let raw = cluster.text(&self.path(namespace, Some(&container), since), self.limit_bytes).await?;
                let note = format!("container {container}; there are also {}", others.join(", "));
                Ok(log(raw, Some(container), Some(note)))
            }
            Err(error) => Err(explained(cluster, namespace, error).await),
        }
    }

    fn path(&self, namespace: &str, container: Option<&str>, since: Option<&str>) -> String {
        let mut path = ResourceType::PODS.object_path(Some(namespace), &self.name);
        path.push_str(&format!("/log?tailLines={}", self.tail_lines));
        if let Some(container) = container {
            path.push_str(&format!("&container={}", query_value(container)));
        }
        if self.previous {
            path.push_str("&previous=true");
        }
        if self.timestamps {
            path.push_str("&timestamps=true");
        }
        if let Some(since) = since {
            path.push_str(&format!("&{since}"));
        }
        path
    }
}

/// A value in a query, whatever characters somebody put into it.
fn query_value(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect()
}

#[derive(Deserialize)]
struct Pod {
    metadata: PodMetadata,
    spec: Spec,
}

#[derive(Deserialize)]
struct PodMetadata {
    #[serde(default)]
    annotations: Option<BTreeMap<String, String>>,
}

#[derive(Deserialize)]
struct Spec {
    containers: Vec<Container>,
}

#[derive(Deserialize)]
struct Container {
    name: String,
}

impl Pod {
    /// The container that the pod calls its default, else its first; and the names of the others.
    fn usual_container(self) -> (String, Vec<String>) {
        let mut names: Vec<String> = self.spec.containers.into_iter().map(|container| container.name).collect();
        let wish = self.metadata.annotations.and_then(|mut all| all.remove("kubectl.kubernetes.io/default-container"));
        let place = wish.and_then(|wish| names.iter().position(|name| *name == wish)).unwrap_or_default();
        if names.is_empty() {
            return (String::new(), names);
        }
        let usual = names.remove(place);
        (usual, names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kt_get_pod_logs_since_is_a_duration_or_a_time() {
        let now: Timestamp = "2026-06-01T00:00:00Z".parse().unwrap();
        assert_eq!(since("15m", now).unwrap(), "sinceSeconds=900");
        assert_eq!(since("1h30m", now).unwrap(), "sinceSeconds=5400");
        assert_eq!(since("2026-01-31T12:00:00Z", now).unwrap(), "sinceTime=2026-01-31T12:00:00Z");
        for bad in ["", "5", "m", "-5m", "5x", "0s", "1h&x=y", "99999999999999999999s"] {
            assert!(since(bad, now).is_err(), "{bad}");
        }
    }
}
