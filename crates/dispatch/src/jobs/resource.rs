//! `job://ID`: a job as something to read, in every toolset.

use super::Jobs;
use pintle_core::{Caller, Contents, Failure, Resource, ResourceTemplate};
use serde_json::json;

pub(super) const URI: &str = "job://";
/// Bytes of the log that are shown with the job itself.
const TAIL: usize = 4000;
/// Most bytes of one read of the log.
const READ: usize = 1024 * 1024;

/// What can be read of a job.
pub(crate) fn templates() -> [ResourceTemplate; 2] {
    let template = |rest: &str, name: &str, description: &str, mime: &str| ResourceTemplate {
        template: format!("{URI}{{id}}{rest}"),
        name: name.to_owned(),
        description: Some(description.to_owned()),
        mime: Some(mime.to_owned()),
    };
    [
        template("", "job", "how a job stands, the end of its log, and its answer", "application/json"),
        template("/log", "log of a job", "the whole log; ?offset=N for what came after", "text/plain"),
    ]
}

impl Jobs {
    /// As they are listed.
    pub(crate) fn resources(&self, caller: &Caller) -> Result<Vec<Resource>, Failure> {
        let resource = |status: super::JobStatus| Resource {
            uri: format!("{URI}{}", status.id),
            name: format!("{} {}", status.tool, status.id),
            description: Some(format!("a job, started {}", status.created)),
            mime: Some("application/json".to_owned()),
            size: None,
        };
        Ok(self.list(caller)?.into_iter().map(resource).collect())
    }

    /// The contents; none when the URI is not of a job.
    pub(crate) fn read(&self, uri: &str, caller: &Caller) -> Result<Option<Vec<Contents>>, Failure> {
        let Some(rest) = uri.strip_prefix(URI) else { return Ok(None) };
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        if let Some(id) = place.strip_suffix("/log") {
            let offset = query.split('&').find_map(|pair| pair.strip_prefix("offset=")?.parse().ok()).unwrap_or(0);
            let log = self.log(id, caller, offset, READ)?;
            return Ok(Some(vec![Contents::text(uri, "text/plain", log.text)]));
        }
        let status = self.status(place, caller)?;
        let mut shown = json!(status);
        shown["log"] = json!(self.log_tail(place, caller, TAIL)?);
        if let Some(reply) = self.result(place, caller)? {
            shown["result"] = reply.envelope();
        }
        let text = serde_json::to_string_pretty(&shown).unwrap_or_else(|_| shown.to_string());
        Ok(Some(vec![Contents::text(uri, "application/json", text)]))
    }
}
