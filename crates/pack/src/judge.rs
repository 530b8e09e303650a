//! Whether a verb did what it is for. A program may exit with 0 and have done nothing, or left the machine worse.

use crate::{listing, mounts::Mounts, order::Order, places::Places, privilege, run::Ran, transcript::Said};
use pintle_core::{Code, Failure, Outcome};
use pintle_packfile::{Made, Pattern, Success};
use pintle_process::{Captured, Ended, Status};
use serde_json::json;
use std::path::Path;

/// How many lines are kept that mean failure.
const LINES: usize = 3;
/// How many of the last lines a failure repeats.
const LAST: usize = 5;

/// What is looked at before the start, so that it can be told afterwards what is new.
pub(crate) struct Before {
    /// None where the folder cannot be looked into; then nothing can be proved.
    files: Option<Vec<listing::Listed>>,
    mounts: Mounts,
}

impl Before {
    pub(crate) fn look(order: &Order<'_>, places: &Places<'_>) -> Result<Self, Failure> {
        let success = &order.rules.success;
        Ok(Self {
            files: match &success.made {
                Some(made) => files(made, places).ok(),
                None => Some(Vec::new()),
            },
            mounts: success.mounts_below.as_ref().map(|below| places.mounts(below)).transpose()?.unwrap_or_default(),
        })
    }
}

fn files(made: &Made, places: &Places<'_>) -> Result<Vec<listing::Listed>, Failure> {
    let Some((told, real)) = places.path(&made.folder)? else { return Ok(Vec::new()) };
    listing::matching(&real, &made.glob)
        .map_err(|error| Failure::io(format!("looking for `{told}/{}`", made.glob), &error))
}

/// Reads along, and judges at the end.
pub(crate) struct Judge {
    never: Vec<Pattern>,
    must: Vec<(Pattern, bool)>,
    bad: Vec<String>,
}

impl Judge {
    pub(crate) fn new(success: &Success) -> Self {
        Self {
            never: success.never.clone(),
            must: success.must.iter().map(|pattern| (pattern.clone(), false)).collect(),
            bad: Vec::new(),
        }
    }

    /// Reads a line.
    pub(crate) fn read(&mut self, line: &str) {
        if self.bad.len() < LINES && self.never.iter().any(|pattern| pattern.is_match(line)) {
            self.bad.push(line.trim().chars().take(400).collect());
        }
        for (pattern, seen) in self.must.iter_mut().filter(|(_, seen)| !seen) {
            *seen = pattern.is_match(line);
        }
    }

    /// What became of it.
    ///
    /// # Errors
    /// When files or mounts cannot be looked at.
    pub(crate) fn judge(
        &self,
        order: &Order<'_>,
        places: &Places<'_>,
        before: &Before,
        captured: &Captured,
        said: Said,
    ) -> Result<Ran, Failure> {
        let success = &order.rules.success;
        let mounts = success.mounts_below.as_ref().map(|below| places.mounts(below)).transpose()?;
        let leftovers = mounts.map(|mounts| mounts.since(&before.mounts).points()).unwrap_or_default();
        let new = success.made.as_ref().map_or(Ok(None), |made| new_file(made, places, before));
        let last = last_lines(&said);
        let failure = self
            .ended(order, captured, &last)
            .or_else(|| self.told(order))
            .or_else(|| missing(order, places, &new))
            .or_else(|| (!leftovers.is_empty()).then(|| left(order)));
        let failure = failure.map(|failure| with_state(failure, captured.exit.status, &last, &leftovers));
        let findings = matches!(captured.exit.status, Status::Code(code) if success.findings.contains(&code));
        Ok(Ran {
            said,
            status: captured.exit.status,
            took: captured.exit.ran,
            made: new.ok().flatten().map(|file| (file.path.display().to_string(), file.size)),
            leftovers,
            outcome: match (&failure, findings) {
                (Some(_), _) => Outcome::Failed,
                (None, true) => Outcome::Findings,
                (None, false) => Outcome::Ok,
            },
            failure,
        })
    }

    /// How it ended.
    fn ended(&self, order: &Order<'_>, captured: &Captured, last: &[String]) -> Option<Failure> {
        let name = order.name();
        match captured.ended {
            Ended::Cancelled { .. } => {
                return Some(Failure::new(Code::Cancelled, format!("`{name}` was cancelled and has ended")));
            }
            Ended::TimedOut { limit, .. } => {
                let told = format!("`{name}` did not end within its limit of {} s and was ended", limit.as_secs());
                return Some(Failure::new(Code::TimedOut, told));
            }
            Ended::Itself => {}
        }
        let success = &order.rules.success;
        let code = match captured.exit.status {
            Status::Code(code) if success.exit.contains(&code) || success.findings.contains(&code) => return None,
            Status::Code(code) => Some(code),
            Status::Signal(_) => None,
        };
        if order.way != privilege::Way::Direct
            && let Some(refused) = privilege::refusal(&order.loaded.pack.name, code, last)
        {
            return Some(refused);
        }
        let said = self.bad.first().or(last.last()).map(|line| format!(": {line}")).unwrap_or_default();
        Some(Failure::new(Code::Remote, format!("`{name}` ended with {}{said}", captured.exit.status)))
    }

    /// What it said, whatever it ended with.
    fn told(&self, order: &Order<'_>) -> Option<Failure> {
        let name = order.name();
        if let Some(line) = self.bad.first() {
            return Some(Failure::new(Code::Remote, format!("`{name}` says that it failed: {line}")));
        }
        let (pattern, _) = self.must.iter().find(|(_, seen)| !seen)?;
        Some(Failure::new(
            Code::Remote,
            format!("`{name}` did not say that it worked: no line matches {}", pattern.as_str()),
        ))
    }
}

/// The first file that was not there before, or not like that.
fn new_file(made: &Made, places: &Places<'_>, before: &Before) -> Result<Option<listing::Listed>, Failure> {
    let now = files(made, places)?;
    let unseen = || Failure::new(Code::Io, "its folder could not be looked into before the start");
    let before = before.files.as_ref().ok_or_else(unseen)?;
    let new = now.into_iter().filter(|file| !before.contains(file));
    Ok(new.max_by_key(|file| file.size))
}

fn missing(order: &Order<'_>, places: &Places<'_>, new: &Result<Option<listing::Listed>, Failure>) -> Option<Failure> {
    let made = order.rules.success.made.as_ref()?;
    let name = order.name();
    let new = match new {
        Ok(new) => new.as_ref(),
        Err(failure) => {
            let told = format!("whether `{name}` made what it is for cannot be seen: {}", failure.message);
            return Some(Failure::new(Code::Io, told));
        }
    };
    match new {
        None => {
            let folder = places.fill(&made.folder).ok().flatten().unwrap_or_else(|| made.folder.to_string());
            Some(Failure::new(Code::Remote, format!("`{name}` made no file `{}` in {folder}", made.glob)))
        }
        Some(file) if file.size < made.min_bytes => Some(Failure::new(
            Code::Remote,
            format!(
                "`{name}` made `{}` of {}, which is too small to hold anything",
                file_name(&file.path),
                listing::size(file.size)
            ),
        )),
        Some(_) => None,
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn left(order: &Order<'_>) -> Failure {
    Failure::new(Code::Remote, format!("`{}` left things mounted", order.name()))
}

/// With what a program or person needs to go on.
fn with_state(failure: Failure, status: Status, last: &[String], leftovers: &[String]) -> Failure {
    let (code, signal) = ended_with(status);
    let mut details = json!({"exit_code": code, "signal": signal, "last_lines": last});
    let mut failure = failure;
    if !leftovers.is_empty() {
        details["leftovers"] = json!(leftovers);
        let told = format!(
            "mounted and left behind: {}; unmount each, the last one first, before anything below is deleted: they may \
             show this system's own folders",
            leftovers.join(", ")
        );
        failure = failure.hint(told);
    }
    failure.details(details)
}

/// Exit code, or the name of a signal.
pub(crate) fn ended_with(status: Status) -> (Option<i32>, Option<String>) {
    match status {
        Status::Code(code) => (Some(code), None),
        Status::Signal(_) => (None, status.to_string().strip_prefix("signal ").map(str::to_owned)),
    }
}

/// The last lines of standard error, or of standard output where it said nothing there.
fn last_lines(said: &Said) -> Vec<String> {
    match said.stderr.last_lines(LAST) {
        none if none.is_empty() => said.stdout.last_lines(LAST),
        some => some,
    }
}
