//! Records of runs, kept in a folder beside the plans (`.check/`), and a page that shows their history.
//!
//! A record holds what a trend needs and no output of a server: `runs/TIME-NAME.json`, one file a run, so that two runs
//! at once do not meet. `index.html` is made anew from all of them after each run. The folder tells git to ignore it.

mod history;
mod page;

use crate::outcome::{RunOutcome, Status, StepOutcome, Summary};
use pintle_core::{Code, Failure, Redactor};
use serde::{Deserialize, Serialize};
use std::fs::{self, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Records that are kept; older ones are removed.
const KEPT: usize = 200;
/// A longer file is no record, in bytes.
const LARGEST: u64 = 8 * 1024 * 1024;
/// Characters of a message that are kept.
const MESSAGE: usize = 300;
/// The form of records, to be raised when it changes.
const FORM: u32 = 1;

/// What is kept of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Record {
    form: u32,
    version: String,
    target: String,
    /// RFC 3339.
    began: String,
    elapsed_ms: u64,
    interrupted: bool,
    summary: Summary,
    steps: Vec<StepRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct StepRecord {
    id: String,
    plan: String,
    verb: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    status: Status,
    attempts: u32,
    elapsed_ms: u64,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    message: String,
}

impl Record {
    fn of(run: &RunOutcome) -> Self {
        let step = |step: &StepOutcome| StepRecord {
            id: step.id.clone(),
            plan: step.plan.clone(),
            verb: step.verb.clone(),
            method: step.method.clone(),
            status: step.status,
            attempts: step.attempts,
            elapsed_ms: step.elapsed_ms,
            message: step.message.chars().take(MESSAGE).collect(),
        };
        Self {
            form: FORM,
            version: run.version.clone(),
            target: run.target.clone(),
            began: run.began.clone(),
            elapsed_ms: run.elapsed_ms,
            interrupted: run.interrupted,
            summary: run.summary(),
            steps: run.steps().map(step).collect(),
        }
    }
}

/// A folder of records.
#[derive(Clone, Debug)]
pub struct Records {
    folder: PathBuf,
}

/// What became of a run's record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The record.
    pub file: PathBuf,
    /// The page.
    pub page: PathBuf,
    /// Runs that the page shows, this one included.
    pub runs: usize,
    /// Files among the records that are none.
    pub unreadable: usize,
}

/// A record could not be kept.
#[derive(Debug, thiserror::Error)]
#[error("keep the record of the run in {}: {source}", path.display())]
pub struct Unrecorded {
    /// What could not be written or listed.
    pub path: PathBuf,
    /// Why.
    #[source]
    pub source: io::Error,
}

impl From<Unrecorded> for Failure {
    fn from(error: Unrecorded) -> Self {
        Self::new(Code::Io, error.to_string()).hint("`--record=FOLDER` keeps records in another folder")
    }
}

impl Records {
    /// Records in this folder, which need not be there yet.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    fn runs(&self) -> PathBuf {
        self.folder.join("runs")
    }

    /// Makes the folder and tries whether it can be written, before a run that may take an hour.
    ///
    /// # Errors
    /// The folder cannot be made or written.
    pub fn probe(&self) -> Result<(), Unrecorded> {
        let runs = self.runs();
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source| Unrecorded { path, source }
        };
        fs::create_dir_all(&runs).map_err(at(&runs))?;
        let ignore = self.folder.join(".gitignore");
        if !ignore.exists() {
            whole(&ignore, b"*\n").map_err(at(&ignore))?;
        }
        part(&runs).map(drop).map_err(at(&runs))?;
        part(&self.folder).map(drop).map_err(at(&self.folder))
    }

    /// Keeps a run, with every secret that the redactor knows masked, removes the oldest beyond 200, and makes the page
    /// anew.
    ///
    /// # Errors
    /// Something cannot be written or listed.
    pub fn keep(&self, run: &RunOutcome, redactor: &Redactor) -> Result<Recorded, Unrecorded> {
        self.probe()?;
        let runs = self.runs();
        let wrong = |path: &Path| {
            let path = path.to_owned();
            move |source| Unrecorded { path, source }
        };
        let record = Record::of(&super::masked(run, redactor));
        let text = serde_json::to_vec(&record).map_err(|error| wrong(&runs)(error.into()))?;
        let mut file = tempfile::Builder::new()
            .prefix(&format!("{}-", stamp(&run.began)))
            .suffix(".json")
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(&runs)
            .map_err(wrong(&runs))?;
        file.write_all(&text).map_err(wrong(file.path()))?;
        let (_, file) = file.keep().map_err(|error| wrong(&runs)(error.error))?;
        let mut names = listed(&runs).map_err(wrong(&runs))?;
        for old in names.drain(..names.len().saturating_sub(KEPT)) {
            match fs::remove_file(&old) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(wrong(&old)(error)),
                _ => {}
            }
        }
        let read: Vec<_> = names.iter().map(|name| record_in(name)).collect();
        let unreadable = read.iter().filter(|record| record.is_none()).count();
        let records: Vec<Record> = read.into_iter().flatten().collect();
        let page = self.folder.join("index.html");
        whole(&page, page::page(&records, unreadable).as_bytes()).map_err(wrong(&page))?;
        Ok(Recorded { file, page, runs: records.len(), unreadable })
    }
}

/// A name for a file that sorts by time: `2026-11-30T17-34-19.123`.
fn stamp(began: &str) -> String {
    let at = began.parse::<jiff::Timestamp>().unwrap_or_else(|_| jiff::Timestamp::now());
    let millis = at.as_millisecond().rem_euclid(1000);
    format!("{}.{millis:03}", at.strftime("%Y-%m-%dT%H-%M-%S"))
}

/// Every file that by its name is a record, the oldest first.
fn listed(runs: &Path) -> io::Result<Vec<PathBuf>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(runs)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            names.push(path);
        }
    }
    names.sort();
    Ok(names)
}

/// None for what is no record of this form.
fn record_in(path: &Path) -> Option<Record> {
    let mut text = Vec::new();
    fs::File::open(path).ok()?.take(LARGEST).read_to_end(&mut text).ok()?;
    serde_json::from_slice::<Record>(&text).ok().filter(|record| record.form == FORM)
}

fn part(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let permissions = Permissions::from_mode(0o666);
    tempfile::Builder::new().prefix(".record-").suffix(".part").permissions(permissions).tempfile_in(folder)
}

/// A file that appears whole or not at all.
fn whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut part = part(folder)?;
    part.write_all(bytes)?;
    part.persist(path).map(drop).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::PlanOutcome;

    pub(super) fn step(id: &str, status: Status, elapsed_ms: u64) -> StepOutcome {
        StepOutcome {
            id: id.into(),
            name: id.into(),
            prose: "x".into(),
            keyword: "check".into(),
            plan: "plan.yml".into(),
            line: 1,
            verb: "mcp".into(),
            method: Some("ping".into()),
            status,
            message: String::new(),
            mismatches: Vec::new(),
            stdout: "never kept".into(),
            stderr: String::new(),
            warnings: Vec::new(),
            attempts: 1,
            elapsed_ms,
            target: "host".into(),
            endpoint: None,
        }
    }

    pub(super) fn run(second: u32, steps: Vec<StepOutcome>) -> RunOutcome {
        RunOutcome {
            version: "1".into(),
            target: "host".into(),
            began: format!("2026-11-30T17:00:{second:02}Z"),
            elapsed_ms: 12,
            interrupted: false,
            plans: vec![PlanOutcome { file: "plan.yml".into(), source: String::new(), steps }],
        }
    }

    fn names(records: &Records) -> Vec<String> {
        let paths = listed(&records.runs()).unwrap();
        paths.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn cw_52_a_run_is_kept_without_output_and_masked() {
        let folder = tempfile::tempdir().unwrap();
        let records = Records::in_folder(folder.path().join(".check"));
        let mut failing = step("a", Status::Failed, 3);
        failing.message = "refused hush-hush <b>".into();
        let mut redactor = Redactor::new();
        redactor.add("TOKEN", "hush-hush");
        let kept = records.keep(&run(1, vec![failing]), &redactor).unwrap();
        assert_eq!((kept.runs, kept.unreadable), (1, 0));
        let text = fs::read_to_string(&kept.file).unwrap();
        let page = fs::read_to_string(&kept.page).unwrap();
        assert!(kept.file.file_name().unwrap().to_string_lossy().starts_with("2026-11-30T17-00-01.000-"));
        for text in [&text, &page] {
            assert!(!text.contains("hush-hush") && !text.contains("never kept"), "{text}");
            assert!(text.contains("‹secret TOKEN›"), "{text}");
        }
        assert!(page.contains("&lt;b&gt;") && !page.contains("<b>"));
        assert_eq!(fs::read_to_string(folder.path().join(".check/.gitignore")).unwrap(), "*\n");
    }

    #[test]
    fn cw_52_the_oldest_go_and_what_is_no_record_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let records = Records::in_folder(folder.path());
        records.probe().unwrap();
        for number in 0..KEPT {
            fs::write(records.runs().join(format!("2026-01-01T00-00-00.{number:03}-x.json")), "{}").unwrap();
        }
        let kept = records.keep(&run(5, vec![step("a", Status::Passed, 1)]), &Redactor::new()).unwrap();
        assert_eq!((kept.runs, kept.unreadable), (1, KEPT - 1));
        let names = names(&records);
        assert_eq!(names.len(), KEPT);
        assert!(names[0].starts_with("2026-01-01T00-00-00.001"), "{}", names[0]);
        assert!(fs::read_to_string(kept.page).unwrap().contains("199 files of the folder are no records"));
    }

    #[test]
    fn a_folder_that_is_a_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "x").unwrap();
        let error = Records::in_folder(&file).probe().unwrap_err();
        assert!(error.to_string().contains("file/runs"), "{error}");
    }
}
