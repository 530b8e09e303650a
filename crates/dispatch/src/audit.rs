//! What was done, by whom: one JSON line a call.

use pintle_core::{Digest, Failure};
use rustix::fs::{Mode, OFlags};
use serde_json::Value;
use std::{
    fs,
    io::Write,
    os::unix::fs::{FileExt, MetadataExt},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// A larger file is moved aside to `FILE.1`.
const ROTATE_AT: u64 = 16 * 1024 * 1024;
/// What a line's own member begins with; it is always the last one.
const CHAIN: &str = ",\"chain\":\"";
/// First look for the beginning of the last line; doubled until it is found.
const TAIL: u64 = 4 * 1024;

/// Appends lines to one file. Each carries a digest of itself and of the digest before it, so that a line which was changed,
/// taken out or put in is found by [`verify_audit`].
#[derive(Debug)]
pub(crate) struct Audit {
    path: PathBuf,
    file: Mutex<Option<Open>>,
}

#[derive(Debug)]
struct Open {
    file: fs::File,
    /// Where our last line ended, and its digest: nobody else has written since if the file still ends there.
    end: u64,
    last: String,
}

/// The line of that number, from 1, does not follow from the one before it: it, or what stood between them, was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditBreak(pub usize);

impl Audit {
    /// To that file, which is made private if it is made here. With `now` it is opened at once, so that a path that
    /// cannot be written is found at start and not at the first call.
    pub(crate) fn to(path: PathBuf, now: bool) -> Result<Self, Failure> {
        let file = if now { Some(Open::at(&path).map_err(|error| failed(&path, &error))?) } else { None };
        Ok(Self { path, file: Mutex::new(file) })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// One line, behind the last one of whichever process wrote it.
    pub(crate) fn write(&self, line: &Value) -> Result<(), Failure> {
        let mut slot = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        self.append(&mut slot, &line.to_string()).map_err(|error| failed(&self.path, &error))
    }

    fn append(&self, slot: &mut Option<Open>, line: &str) -> std::io::Result<()> {
        loop {
            let open = match slot {
                Some(open) => open,
                None => slot.insert(Open::at(&self.path)?),
            };
            open.file.lock()?;
            let done = self.append_locked(open, line);
            open.file.unlock()?;
            match done? {
                true => return Ok(()),
                // Somebody has moved it aside.
                false => *slot = None,
            }
        }
    }

    /// False when the file is no longer the one of that path.
    fn append_locked(&self, open: &mut Open, line: &str) -> std::io::Result<bool> {
        let metadata = open.file.metadata()?;
        if metadata.is_file() {
            let now = fs::metadata(&self.path);
            if !now.is_ok_and(|now| (now.dev(), now.ino()) == (metadata.dev(), metadata.ino())) {
                return Ok(false);
            }
            if metadata.len() > ROTATE_AT {
                fs::rename(&self.path, aside(&self.path))?;
                return Ok(false);
            }
            if metadata.len() != open.end || open.last.is_empty() {
                open.last = last_digest(&mut open.file, metadata.len())?;
                if metadata.len() == 0 {
                    open.last = before(&self.path)?;
                }
            }
        }
        let digest = chained(&open.last, line);
        let text = format!("{}{CHAIN}{digest}\"}}\n", line.strip_suffix('}').unwrap_or(line));
        open.file.write_all(text.as_bytes())?;
        open.end = metadata.len() + text.len() as u64;
        open.last = digest;
        Ok(true)
    }
}

impl Open {
    fn at(path: &Path) -> std::io::Result<Self> {
        // What is no file (a pipe, a terminal) is written only.
        let plain = fs::metadata(path).map_or(true, |metadata| metadata.is_file());
        let access = if plain { OFlags::RDWR } else { OFlags::WRONLY };
        let flags = access | OFlags::APPEND | OFlags::CREATE | OFlags::CLOEXEC;
        let file = fs::File::from(rustix::fs::open(path, flags, Mode::from_raw_mode(0o600))?);
        Ok(Self { file, end: 0, last: String::new() })
    }
}

/// Looks whether every line follows from the one before it; tells how many there are. The first line of a file that was begun
/// after another was moved aside follows from the last one there.
///
/// # Errors
/// When the file cannot be read; the inner error is the first line that does not follow.
pub fn verify_audit(path: &Path) -> Result<Result<usize, AuditBreak>, Failure> {
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::io(format!("reading the audit `{}`", path.display()), &error))?;
    let mut last = before(path).map_err(|error| Failure::io("reading the audit before this one", &error))?;
    let mut count = 0;
    for line in text.lines() {
        count += 1;
        match split(line) {
            Some((own, digest)) if chained(&last, &own) == digest => last = digest.to_owned(),
            _ => return Ok(Err(AuditBreak(count))),
        }
    }
    Ok(Ok(count))
}

fn aside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".1");
    name.into()
}

/// The last digest of the file that was moved aside; nothing where there is none.
fn before(path: &Path) -> std::io::Result<String> {
    match fs::File::open(aside(path)) {
        Ok(mut file) => {
            let len = file.metadata()?.len();
            last_digest(&mut file, len)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error),
    }
}

fn last_digest(file: &mut fs::File, len: u64) -> std::io::Result<String> {
    let mut back = TAIL;
    loop {
        let from = len.saturating_sub(back);
        let mut tail = vec![0; usize::try_from(len - from).unwrap_or(0)];
        file.read_exact_at(&mut tail, from)?;
        let text = String::from_utf8_lossy(&tail);
        let lines = text.trim_end_matches('\n');
        match lines.rfind('\n') {
            Some(at) => return Ok(split(&lines[at + 1..]).map(|(_, digest)| digest.to_owned()).unwrap_or_default()),
            None if from == 0 => return Ok(split(lines).map(|(_, digest)| digest.to_owned()).unwrap_or_default()),
            None => back *= 2,
        }
    }
}

/// A line without its digest, and the digest.
fn split(line: &str) -> Option<(String, &str)> {
    let at = line.rfind(CHAIN)?;
    let digest = line[at + CHAIN.len()..].strip_suffix("\"}")?;
    Some((format!("{}}}", &line[..at]), digest))
}

fn chained(last: &str, line: &str) -> String {
    Digest::of_parts([last.as_bytes(), line.as_bytes()]).as_str().to_owned()
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::io(format!("writing the audit `{}`", path.display()), error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn cw_27_lines_are_appended_and_an_unwritable_file_is_found_at_start() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("audit.jsonl");
        let audit = Audit::to(path.clone(), true).unwrap();
        audit.write(&json!({"a": 1})).unwrap();
        Audit::to(path.clone(), false).unwrap().write(&json!({"b": "x\ny"})).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((lines.len(), &lines[0]["a"], &lines[1]["b"]), (2, &json!(1), &json!("x\ny")));
        assert!(Audit::to(temp.path().join("no/such/audit"), true).unwrap_err().message.contains("no such file"));
    }

    #[test]
    fn s_44_a_line_that_was_changed_taken_out_or_put_in_is_found() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("audit.jsonl");
        // Two processes that take turns, and a line longer than one look back.
        let (one, two) = (Audit::to(path.clone(), true).unwrap(), Audit::to(path.clone(), true).unwrap());
        for turn in 0..3 {
            one.write(&json!({"turn": turn, "long": "x".repeat(10_000)})).unwrap();
            two.write(&json!({"turn": turn, "text": ",\"chain\":\"0\"}"})).unwrap();
        }
        assert_eq!(verify_audit(&path).unwrap(), Ok(6));
        let whole = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = whole.lines().collect();
        let broken = |lines: &[&str]| {
            fs::write(&path, lines.join("\n") + "\n").unwrap();
            verify_audit(&path).unwrap()
        };
        assert_eq!(broken(&[lines[0], lines[2], lines[3]]), Err(AuditBreak(2)), "taken out");
        assert_eq!(broken(&[lines[0], lines[0], lines[1]]), Err(AuditBreak(2)), "put in");
        let changed = lines[3].replace("\"turn\":1", "\"turn\":7");
        assert_eq!(broken(&[lines[0], lines[1], lines[2], &changed]), Err(AuditBreak(4)), "changed");
        assert_eq!(broken(&lines), Ok(6));
    }

    #[test]
    fn s_44_a_file_that_is_moved_aside_is_followed_by_the_next() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("audit.jsonl");
        let (one, two) = (Audit::to(path.clone(), true).unwrap(), Audit::to(path.clone(), true).unwrap());
        let long = json!({"long": "x".repeat(usize::try_from(ROTATE_AT).unwrap())});
        one.write(&long).unwrap();
        two.write(&json!({"second": true})).unwrap();
        one.write(&json!({"third": true})).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 2, "both write to the new file");
        assert_eq!(verify_audit(&path).unwrap(), Ok(2));
        fs::remove_file(aside(&path)).unwrap();
        assert_eq!(verify_audit(&path).unwrap(), Err(AuditBreak(1)), "what went before is gone");
    }
}
