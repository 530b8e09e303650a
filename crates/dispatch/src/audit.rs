//! What was done, by whom: one JSON line a call.

use pintle_core::Failure;
use rustix::fs::{Mode, OFlags};
use serde_json::Value;
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// A larger file is moved aside to `FILE.1`.
const ROTATE_AT: u64 = 16 * 1024 * 1024;

/// Appends lines to one file.
#[derive(Debug)]
pub(crate) struct Audit {
    path: PathBuf,
    file: Mutex<Option<fs::File>>,
}

impl Audit {
    /// To that file, which is made private if it is made here. With `now` it is opened at once, so that a path that
    /// cannot be written is found at start and not at the first call.
    pub(crate) fn to(path: PathBuf, now: bool) -> Result<Self, Failure> {
        let file = if now { Some(open(&path).map_err(|error| failed(&path, &error))?) } else { None };
        Ok(Self { path, file: Mutex::new(file) })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// One line; a single write, so that lines of several processes do not mix.
    pub(crate) fn write(&self, line: &Value) -> Result<(), Failure> {
        let mut bytes = line.to_string().into_bytes();
        bytes.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        self.append(&mut file, &bytes).map_err(|error| failed(&self.path, &error))
    }

    fn append(&self, slot: &mut Option<fs::File>, bytes: &[u8]) -> std::io::Result<()> {
        if slot.as_ref().is_some_and(|file| file.metadata().is_ok_and(|m| m.len() > ROTATE_AT)) {
            let aside = self.path.with_extension("jsonl.1");
            fs::rename(&self.path, aside)?;
            *slot = None;
        }
        let file = match slot {
            Some(file) => file,
            None => slot.insert(open(&self.path)?),
        };
        file.write_all(bytes)
    }
}

fn open(path: &Path) -> std::io::Result<fs::File> {
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::CLOEXEC;
    Ok(fs::File::from(rustix::fs::open(path, flags, Mode::from_raw_mode(0o600))?))
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
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"a\":1}\n{\"b\":\"x\\ny\"}\n");
        assert!(Audit::to(temp.path().join("no/such/audit"), true).unwrap_err().message.contains("no such file"));
    }
}
