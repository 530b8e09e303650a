//! What goes wrong, where and how often.

use super::{access::Access, access::parameters, serve::Answer, status};
use axum::body::Bytes;
use globset::{Glob, GlobMatcher};
use std::time::Duration;

/// Something that goes wrong with a request.
#[derive(Clone, Debug)]
pub enum Fault {
    /// A `Status` of that code, reason and message.
    Status(u16, String, String),
    /// 401.
    Unauthorized,
    /// 403 in the words of the real server.
    Forbidden,
    /// 429 with `Retry-After` in seconds.
    TooManyRequests(u64),
    /// 410: the revision is too old. With [`when("continue")`](Planned::when) in the middle of paging.
    Gone,
    /// The answer comes, but that much later.
    Slow(Duration),
    /// The answer comes in pieces of so many bytes with a pause between.
    Drip(usize, Duration),
    /// No answer, ever; the connection stays.
    Hang,
    /// The connection closes after so many bytes of the body.
    Cut(usize),
    /// No more comes after so many bytes of the body; the connection stays.
    Stall(usize),
    /// 200 and a body that begins like the right one, then is no JSON.
    BrokenJson,
    /// That status, content type and body.
    Body(u16, String, Bytes),
}

impl Fault {
    /// Only the first `times` requests that it fits.
    #[must_use]
    pub fn times(self, times: usize) -> Planned {
        Planned::from(self).times(times)
    }

    /// Only after `skip` requests that it would have fitted.
    #[must_use]
    pub fn after(self, skip: usize) -> Planned {
        Planned::from(self).after(skip)
    }

    /// Only requests whose query has that parameter.
    #[must_use]
    pub fn when(self, parameter: &str) -> Planned {
        Planned::from(self).when(parameter)
    }
}

/// A [`Fault`] and how often it happens.
#[derive(Clone, Debug)]
pub struct Planned {
    fault: Fault,
    skip: usize,
    left: Option<usize>,
    parameter: Option<String>,
}

impl From<Fault> for Planned {
    fn from(fault: Fault) -> Self {
        Self { fault, skip: 0, left: None, parameter: None }
    }
}

impl Planned {
    /// Only `times` requests that it fits.
    #[must_use]
    pub fn times(mut self, times: usize) -> Self {
        self.left = Some(times);
        self
    }

    /// Only after `skip` requests that it would have fitted.
    #[must_use]
    pub fn after(mut self, skip: usize) -> Self {
        self.skip = skip;
        self
    }

    /// Only requests whose query has that parameter.
    #[must_use]
    pub fn when(mut self, parameter: &str) -> Self {
        self.parameter = Some(parameter.to_owned());
        self
    }
}

/// The faults of a cluster, in the order in which they were planned.
#[derive(Debug, Default)]
pub(crate) struct Plan(Vec<(GlobMatcher, Planned)>);

impl Plan {
    pub(crate) fn add(&mut self, path: &str, planned: Planned) {
        match Glob::new(path) {
            Ok(glob) => self.0.push((glob.compile_matcher(), planned)),
            Err(error) => panic!("`{path}` is no glob: {error}"),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether the next request to that path is planned to be forbidden.
    pub(crate) fn forbids(&self, path: &str) -> bool {
        let mut fitting = self.0.iter().filter(|(glob, planned)| {
            glob.is_match(path) && planned.left != Some(0) && planned.parameter.is_none() && planned.skip == 0
        });
        fitting.next().is_some_and(|(_, planned)| matches!(planned.fault, Fault::Forbidden))
    }

    /// The fault of a request; the first that fits counts.
    pub(crate) fn pick(&mut self, path: &str, query: &str) -> Option<Fault> {
        for (glob, planned) in &mut self.0 {
            let fits = glob.is_match(path)
                && planned.left != Some(0)
                && planned.parameter.as_ref().is_none_or(|name| parameters(query).iter().any(|(key, _)| key == name));
            if !fits {
                continue;
            }
            if planned.skip > 0 {
                planned.skip -= 1;
                continue;
            }
            planned.left = planned.left.map(|left| left - 1);
            return Some(planned.fault.clone());
        }
        None
    }
}

impl Fault {
    /// The answer in place of the right one; `None`: the right one is wanted, and changed afterwards.
    pub(crate) fn instead(&self, access: &Access, user: &str) -> Option<Answer> {
        Some(match self {
            Self::Status(code, reason, message) => status::plain(*code, reason, message),
            Self::Unauthorized => status::unauthorized(),
            Self::Forbidden => status::forbidden(access, user),
            Self::TooManyRequests(seconds) => status::too_many(*seconds),
            Self::Gone => status::expired(),
            Self::Body(code, content_type, body) => Answer::new(*code, content_type, body.clone()),
            Self::Slow(_) | Self::Drip(..) | Self::Hang | Self::Cut(_) | Self::Stall(_) | Self::BrokenJson => {
                return None;
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_fit_by_path_query_and_count() {
        let mut plan = Plan::default();
        plan.add("/api/v1/pods", Fault::Gone.when("continue").after(1).times(2));
        plan.add("/apis/**", Fault::Forbidden.into());
        let mut fits = |path: &str, query: &str| plan.pick(path, query).is_some();
        assert!(!fits("/api/v1/pods", "limit=5"));
        let paged: Vec<bool> = (0..5).map(|_| fits("/api/v1/pods", "limit=5&continue=x")).collect();
        assert_eq!(paged, [false, true, true, false, false]);
        assert!(fits("/apis/apps/v1/deployments", "") && !fits("/api/v1/nodes", ""));
    }
}
