//! What a job tells while it works: lines in its folder, so many and no more.
//!
//! The lines lie in segments whose names are the offsets at which they begin. The first segment and the last ones stay,
//! what lies between is dropped: how a thing began and how it ended is what explains it. An offset means the same for ever.

use crate::bounds::head_and_tail;
use pintle_core::{Failure, LogLevel};
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    fs::{self, File},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

const PREFIX: &str = "events.";
/// Bytes after which a new segment begins.
const SEGMENT: u64 = 256 * 1024;
/// Last segments that are kept, beside the first.
const TAIL: usize = 4;
/// Most bytes of one line.
const LINE: usize = 16 * 1024;

/// Something told, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Line {
    /// RFC 3339.
    pub(super) at: String,
    #[serde(flatten)]
    pub(super) told: Told,
}

/// What is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Told {
    Progress {
        done: f64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        total: Option<f64>,
        message: String,
    },
    Log {
        level: LogLevel,
        logger: String,
        data: Value,
    },
    Row(Value),
    /// So many bytes are not there any more.
    Gap(u64),
}

impl Line {
    pub(super) fn now(told: Told) -> Self {
        Self { at: jiff::Timestamp::now().to_string(), told }
    }

    /// As a line of text.
    pub(super) fn shown(&self) -> String {
        let second = self.at.split('.').next().unwrap_or_default().trim_end_matches('Z');
        let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match &self.told {
            Told::Gap(bytes) => format!("… {bytes} bytes left out …\n"),
            Told::Progress { done, total: Some(total), message } => format!("{second} [{done}/{total}] {message}\n"),
            Told::Progress { done, total: None, message } => format!("{second} [{done}] {message}\n"),
            Told::Log { level: LogLevel::Debug | LogLevel::Info | LogLevel::Notice, logger, data } => {
                format!("{second} {logger}: {}\n", plain(data))
            }
            Told::Log { level, logger, data } => {
                let level = format!("{level:?}").to_lowercase();
                format!("{second} {level}: {logger}: {}\n", plain(data))
            }
            Told::Row(row) => format!("{second} {}\n", plain(row)),
        }
    }
}

/// Writes the lines of one job.
pub(super) struct Writer {
    folder: PathBuf,
    segment: Option<File>,
    base: u64,
    length: u64,
    /// Whether the segment ends within a line.
    broken: bool,
    /// Lines that could not be written since the last one that could, and over all.
    missed: u64,
    lost: u64,
    why: Option<String>,
}

impl Writer {
    pub(super) fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            segment: None,
            base: 0,
            length: 0,
            broken: false,
            missed: 0,
            lost: 0,
            why: None,
        }
    }

    /// Writes a line. A full disk stops no work: the line is missing then, and later lines and the answer say so.
    pub(super) fn write(&mut self, line: &Line) {
        if self.missed > 0 {
            let why = self.why.clone().unwrap_or_default();
            let data = Value::String(format!("{} lines are missing here: {why}", self.missed));
            let missing = Told::Log { level: LogLevel::Warning, logger: "job".to_owned(), data };
            if self.append(&Line::now(missing)).is_ok() {
                self.missed = 0;
            }
        }
        if let Err(error) = self.append(line) {
            self.missed += 1;
            self.lost += 1;
            self.why = Some(Failure::io("writing the log", &error).message);
        }
    }

    /// What is to be told of the log, if it is not whole.
    pub(super) fn note(&self) -> Option<String> {
        let why = self.why.as_deref()?;
        Some(format!("{} lines of its log are missing: {why}", self.lost))
    }

    fn append(&mut self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_string(line)?;
        if text.len() > LINE {
            let shortened = match &line.told {
                Told::Log { level, logger, data } => {
                    let text = data.as_str().map_or_else(|| data.to_string(), str::to_owned);
                    let data = Value::String(head_and_tail(&text, LINE / 4));
                    Told::Log { level: *level, logger: logger.clone(), data }
                }
                Told::Row(row) => Told::Row(Value::String(head_and_tail(&row.to_string(), LINE / 4))),
                Told::Progress { done, total, message } => {
                    Told::Progress { done: *done, total: *total, message: head_and_tail(message, LINE / 4) }
                }
                Told::Gap(bytes) => Told::Gap(*bytes),
            };
            text = serde_json::to_string(&Line { at: line.at.clone(), told: shortened })?;
        }
        text.push('\n');
        if self.segment.is_some() && self.length + text.len() as u64 > SEGMENT {
            self.base += self.length;
            self.length = 0;
            self.segment = None;
            self.drop_middle();
        }
        let file = match &mut self.segment {
            Some(file) => file,
            None => self.segment.insert(open(&path(&self.folder, self.base))?),
        };
        if self.broken {
            // Ends what was left of a line that could not be written.
            file.write_all(b"\n")?;
            (self.broken, self.length) = (false, self.length + 1);
        }
        if let Err(error) = file.write_all(text.as_bytes()) {
            // Half a line would spoil the next one.
            if file.set_len(self.length).is_err() {
                self.length = file.metadata().map_or(self.length, |metadata| metadata.len());
                self.broken = true;
            }
            return Err(error);
        }
        self.length += text.len() as u64;
        Ok(())
    }

    fn drop_middle(&self) {
        let segments = segments(&self.folder);
        let middle = (segments.len() + 1).saturating_sub(TAIL);
        for base in segments.iter().take(middle).skip(1) {
            // What cannot be removed is kept, and takes room; no more than that.
            let _ = fs::remove_file(path(&self.folder, *base));
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::from_raw_mode(0o600))?))
}

fn path(folder: &Path, base: u64) -> PathBuf {
    folder.join(format!("{PREFIX}{base}"))
}

/// Offsets at which segments begin, in order.
fn segments(folder: &Path) -> Vec<u64> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten().filter_map(|e| e.file_name().into_string().ok());
    let mut bases: Vec<u64> = names.filter_map(|name| name.strip_prefix(PREFIX)?.parse().ok()).collect();
    bases.sort_unstable();
    bases
}

/// Whole lines from that offset on, until about `limit` bytes are read, and the offset behind the last one.
pub(super) fn read(folder: &Path, from: u64, limit: usize) -> (Vec<Line>, u64) {
    let (mut lines, mut next, mut left) = (Vec::new(), from, limit);
    for base in segments(folder) {
        if left == 0 {
            break;
        }
        let Ok(bytes) = read_segment(&path(folder, base), next.saturating_sub(base)) else { continue };
        if bytes.is_empty() {
            continue;
        }
        if base > next {
            lines.push(Line { at: String::new(), told: Told::Gap(base - next) });
            next = base;
        }
        for line in bytes.split_inclusive(|byte| *byte == b'\n').take_while(|line| line.ends_with(b"\n")) {
            if left == 0 {
                break;
            }
            next += line.len() as u64;
            left = left.saturating_sub(line.len());
            // A line that was broken by a crash of the machine is left out.
            lines.extend(serde_json::from_slice::<Line>(line));
        }
    }
    (lines, next)
}

fn read_segment(path: &Path, from: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    if file.metadata()?.is_file() {
        file.seek(SeekFrom::Start(from))?;
        file.take(SEGMENT + LINE as u64).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(text: &str) -> Line {
        Line::now(Told::Log { level: LogLevel::Info, logger: "eggs".to_owned(), data: Value::String(text.to_owned()) })
    }

    #[test]
    fn the_log_is_bounded_and_keeps_its_beginning_and_its_end() {
        let temp = tempfile::tempdir().unwrap();
        let mut writer = Writer::new(temp.path());
        for number in 0..40_000 {
            writer.write(&log(&format!("line {number} {}", "x".repeat(60))));
        }
        let kept: u64 = fs::read_dir(temp.path()).unwrap().map(|e| e.unwrap().metadata().unwrap().len()).sum();
        assert!(kept <= (TAIL as u64 + 1) * SEGMENT, "{kept}");
        let (lines, next) = read(temp.path(), 0, usize::MAX);
        let text: String = lines.iter().map(Line::shown).collect();
        assert!(text.contains("eggs: line 0 ") && text.contains("line 39999 ") && text.contains("bytes left out"));
        assert_eq!(lines.iter().filter(|line| matches!(line.told, Told::Gap(_))).count(), 1);
        assert_eq!(read(temp.path(), next, usize::MAX), (Vec::new(), next), "nothing twice");
        writer.write(&log("last"));
        let (more, _) = read(temp.path(), next, usize::MAX);
        assert!(more.len() == 1 && more[0].shown().ends_with("eggs: last\n"), "{more:?}");
        assert!(writer.note().is_none());
    }

    #[test]
    fn a_full_disk_makes_holes_and_they_are_told() {
        let temp = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/dev/full", path(temp.path(), 0)).unwrap();
        let mut writer = Writer::new(temp.path());
        writer.write(&log("one"));
        writer.write(&log("two"));
        let note = writer.note().unwrap();
        assert!(note.contains("no space left on device") && note.starts_with("2 lines"), "{note}");
        // The disk has room again.
        fs::remove_file(path(temp.path(), 0)).unwrap();
        writer.segment = None;
        writer.write(&log("three"));
        let text: String = read(temp.path(), 0, usize::MAX).0.iter().map(Line::shown).collect();
        assert!(text.contains("2 lines are missing here") && text.contains("eggs: three"), "{text}");
    }

    #[test]
    fn a_line_is_never_longer_than_it_may_be() {
        let temp = tempfile::tempdir().unwrap();
        let mut writer = Writer::new(temp.path());
        writer.write(&log(&"ä".repeat(100_000)));
        let (lines, next) = read(temp.path(), 0, usize::MAX);
        assert!(next < LINE as u64 && lines.len() == 1 && lines[0].shown().contains("bytes left out"));
    }
}
