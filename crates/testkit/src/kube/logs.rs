//! What containers wrote, and the parameters with which it is asked for.

use super::{objects::Objects, objects::Stored, serve::Answer, status};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// What one container wrote: any bytes, each line with its time.
#[derive(Clone, Debug, Default)]
pub struct Log {
    lines: Vec<(Timestamp, Vec<u8>)>,
    previous: Option<Vec<(Timestamp, Vec<u8>)>>,
}

impl Log {
    /// Lines that were written one second apart, the last one second ago.
    #[must_use]
    pub fn new<L: AsRef<[u8]>>(lines: impl IntoIterator<Item = L>) -> Self {
        Self { lines: spaced(lines), previous: None }
    }

    /// What the container wrote before it was last restarted.
    #[must_use]
    pub fn previous<L: AsRef<[u8]>>(mut self, lines: impl IntoIterator<Item = L>) -> Self {
        self.previous = Some(spaced(lines));
        self
    }

    /// One more line, written at that time.
    #[must_use]
    pub fn line(mut self, at: Timestamp, bytes: impl AsRef<[u8]>) -> Self {
        self.lines.push((at, bytes.as_ref().to_vec()));
        self
    }
}

fn spaced<L: AsRef<[u8]>>(lines: impl IntoIterator<Item = L>) -> Vec<(Timestamp, Vec<u8>)> {
    let lines: Vec<Vec<u8>> = lines.into_iter().map(|line| line.as_ref().to_vec()).collect();
    let count = lines.len();
    let now = Timestamp::now();
    let ago = |index: usize| SignedDuration::from_secs(i64::try_from(count - index).unwrap_or_default());
    lines.into_iter().enumerate().map(|(index, line)| (now - ago(index), line)).collect()
}

/// The log of a pod as `parameters` ask for it.
pub(crate) fn answer(
    objects: &Objects,
    namespace: &str,
    pod: &str,
    stored: &Stored,
    parameters: &[(String, String)],
) -> Answer {
    let given = |name: &str| parameters.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let flag = |name: &str| matches!(given(name), Some("true" | "1"));
    let number = |name: &str| match given(name) {
        Some(text) => text.parse::<i64>().map(Some).map_err(|_| format!("{name}: Invalid value: \"{text}\"")),
        None => Ok(None),
    };
    let numbers = (|| Ok::<_, String>((number("tailLines")?, number("limitBytes")?, number("sinceSeconds")?)))();
    let (tail, limit, since) = match numbers {
        Ok(numbers) => numbers,
        Err(message) => return status::bad_request(&message),
    };
    let container = match container(pod, &stored.value(), given("container")) {
        Ok(container) => container,
        Err(answer) => return answer,
    };
    let key = (namespace.to_owned(), pod.to_owned(), container.clone());
    let log = objects.logs.get(&key);
    let lines = if flag("previous") {
        let Some(lines) = log.and_then(|log| log.previous.as_ref()) else {
            let message = format!("previous terminated container \"{container}\" in pod \"{pod}\" not found");
            return status::bad_request(&message);
        };
        lines.as_slice()
    } else {
        log.map(|log| log.lines.as_slice()).unwrap_or_default()
    };
    let mut from = since.map(|seconds| Timestamp::now() - SignedDuration::from_secs(seconds));
    if let Some(text) = given("sinceTime") {
        match text.parse::<Timestamp>() {
            Ok(time) => from = Some(time),
            Err(_) => return status::bad_request(&format!("sinceTime: Invalid value: \"{text}\"")),
        }
    }
    let kept: Vec<_> = lines.iter().filter(|(at, _)| from.is_none_or(|from| *at >= from)).collect();
    let skip = tail.map_or(0, |tail| kept.len().saturating_sub(usize::try_from(tail).unwrap_or_default()));
    let mut body = Vec::new();
    for (at, line) in &kept[skip..] {
        if flag("timestamps") {
            body.extend_from_slice(format!("{at:.9} ").as_bytes());
        }
        body.extend_from_slice(line);
        body.push(b'\n');
    }
    if let Some(limit) = limit {
        body.truncate(usize::try_from(limit).unwrap_or_default());
    }
    Answer::new(200, "text/plain", body)
}

fn container(pod: &str, value: &Value, asked: Option<&str>) -> Result<String, Answer> {
    let names = |field: &str| -> Vec<String> {
        let containers = value["spec"][field].as_array().into_iter().flatten();
        containers.filter_map(|container| container["name"].as_str()).map(str::to_owned).collect()
    };
    let (regular, init, ephemeral) = (names("containers"), names("initContainers"), names("ephemeralContainers"));
    match asked.filter(|asked| !asked.is_empty()) {
        Some(asked) if regular.iter().chain(&init).chain(&ephemeral).any(|name| name == asked) => Ok(asked.to_owned()),
        Some(asked) => Err(status::bad_request(&format!("container {asked} is not valid for pod {pod}"))),
        None if regular.len() == 1 => Ok(regular[0].clone()),
        None => {
            let mut message =
                format!("a container name must be specified for pod {pod}, choose one of: [{}]", regular.join(" "));
            if !init.is_empty() {
                message.push_str(&format!(" or one of the init containers: [{}]", init.join(" ")));
            }
            Err(status::bad_request(&message))
        }
    }
}
