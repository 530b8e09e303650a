//! A server's own record.

use super::{Record, Transport, host, place};
use pintle_core::Foreign;
use pintle_mcp::Newcomers;
use pintle_process::Identity;
use std::{
    fs::{self, DirBuilder},
    io::{self, Write as _},
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// How many different clients are kept by name.
const CLIENTS: usize = 8;
/// Longest name of a client that is kept, in characters.
const NAME: usize = 80;

/// The record of this server, for as long as it lives. All writing is done beside the serving: no answer waits for it.
#[derive(Debug)]
pub(crate) struct Registration(Arc<Mutex<Entry>>);

#[derive(Debug, Default)]
struct Entry {
    folders: Vec<PathBuf>,
    /// Absent until it is known who this process is.
    record: Option<Record>,
    clients: Vec<String>,
    written: Option<PathBuf>,
    ended: bool,
}

fn locked(entry: &Mutex<Entry>) -> MutexGuard<'_, Entry> {
    entry.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Registration {
    /// Writes down that this process serves these toolsets. `told` hears why that is not possible: it serves all the
    /// same, and only `status` and `stop` do not see it.
    pub(crate) fn new(toolsets: &[String], transport: Transport, told: fn(&io::Error)) -> Self {
        let entry = Arc::new(Mutex::new(Entry { folders: place::folders(), ..Entry::default() }));
        let toolsets = toolsets.to_vec();
        in_background(&entry, move |entry| {
            let written = Identity::own().and_then(|identity| {
                let started = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
                let clients = Vec::new();
                entry.record = Some(Record { identity, host: host(), toolsets, transport, clients, started });
                entry.write()
            });
            if let Err(error) = written {
                told(&error);
            }
        });
        Self(entry)
    }

    /// Learns what clients call themselves.
    pub(crate) fn newcomers(&self) -> Newcomers {
        let entry = Arc::clone(&self.0);
        let known = Mutex::new(Vec::<String>::new());
        Newcomers::new(move |name| {
            let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= CLIENTS || known.iter().any(|known| known == name) {
                return;
            }
            known.push(name.to_owned());
            let name: String = Foreign::one_line(name).chars().take(NAME).collect();
            in_background(&entry, move |entry| entry.add(name));
        })
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut entry = locked(&self.0);
        entry.ended = true;
        if let Some(path) = entry.written.take() {
            // What stays behind is known to be stale, and goes when somebody looks.
            let _ = fs::remove_file(path);
        }
    }
}

/// Does it on a thread of its own, unless the server has ended by then.
fn in_background(entry: &Arc<Mutex<Entry>>, work: impl FnOnce(&mut Entry) + Send + 'static) {
    let entry = Arc::clone(entry);
    let work = move || {
        let mut entry = locked(&entry);
        if !entry.ended {
            work(&mut entry);
        }
    };
    // Without a thread there is no record; the server serves.
    let _ = std::thread::Builder::new().name("record".into()).stack_size(128 * 1024).spawn(work);
}

impl Entry {
    fn add(&mut self, client: String) {
        self.clients.push(client);
        // The record without the name is still a record.
        let _ = self.write();
    }

    /// Into the first folder that takes it.
    fn write(&mut self) -> io::Result<()> {
        // The client was faster: its name is written with the rest.
        let Some(record) = &self.record else { return Ok(()) };
        let text = serde_json::to_vec(&Record { clients: self.clients.clone(), ..record.clone() })?;
        let name = format!("{}.json", record.identity.pid);
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for folder in &self.folders {
            match write_in(folder, &name, &text) {
                Ok(path) => {
                    self.written = Some(path);
                    return Ok(());
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

/// All or nothing, readable by this user alone.
fn write_in(folder: &Path, name: &str, text: &[u8]) -> io::Result<PathBuf> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(folder)?;
    file.write_all(text)?;
    let path = folder.join(name);
    file.persist(&path)?;
    Ok(path)
}
