//! What to start, and starting it.

use std::fs::{self, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::set::finish;
use crate::{Error, Set, State};

/// The supervisor gives up sooner by itself; this is for one that hangs.
const LIMIT: Duration = Duration::from_secs(10 * 60);

/// A set of clusters over one etcd, on loopback.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The built program.
    pub program: PathBuf,
    /// Where everything of the set lies: made by the start, removed by the stop.
    pub folder: PathBuf,
    /// One cluster for each; no two the same.
    pub contexts: Vec<String>,
    /// Nodes of each cluster.
    pub nodes: usize,
}

impl Plan {
    /// Starts the set and waits until it is ready. It ends with the value, and with this process however that ends.
    ///
    /// # Errors
    /// The folder is in use, or the set does not become ready.
    pub fn held(&self) -> Result<Set, Error> {
        let (child, state) = self.start(false)?;
        Ok(Set::own(self.folder.clone(), state, child))
    }

    /// Starts the set and waits until it is ready. It runs on until [`stop`](crate::stop).
    ///
    /// # Errors
    /// The folder is in use, or the set does not become ready.
    pub fn detached(&self) -> Result<Set, Error> {
        let (_, state) = self.start(true)?;
        Ok(Set::of_others(self.folder.clone(), state))
    }

    fn start(&self, detached: bool) -> Result<(Child, State), Error> {
        if State::read(&self.folder)?.is_some_and(|state| state.runs()) {
            return Err(Error::Running(self.folder.clone()));
        }
        remove(&self.folder)?;
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)
            .map_err(Error::file("make", &self.folder))?;
        let path = self.folder.join("up.log");
        let log = File::create(&path).map_err(Error::file("write", &path))?;
        let errors = log.try_clone().map_err(Error::file("write", &path))?;
        let mut command = Command::new(&self.program);
        command.arg("up").arg("--dir").arg(&self.folder).arg(format!("--nodes={}", self.nodes));
        for context in &self.contexts {
            command.arg("--context").arg(context);
        }
        // not pipes: the supervisor of a detached set may write when nobody reads any more
        command.stdout(log).stderr(errors);
        if detached {
            command.arg("--detached").stdin(Stdio::null());
        } else {
            command.stdin(Stdio::piped());
        }
        let mut child = command.spawn().map_err(|source| Error::Start { program: self.program.clone(), source })?;
        match self.wait(&mut child) {
            Ok(state) => Ok((child, state)),
            Err(error) => {
                // it may be dead already; its children die with it
                let _ = child.kill();
                let _ = child.wait();
                match State::read(&self.folder)? {
                    Some(state) => finish(&self.folder, &state)?,
                    None => remove(&self.folder)?,
                }
                Err(error)
            }
        }
    }

    fn wait(&self, child: &mut Child) -> Result<State, Error> {
        let end = Instant::now() + LIMIT;
        let not_ready = |reason: String| {
            let log = fs::read(self.folder.join("up.log")).unwrap_or_default();
            Error::NotReady { reason, log: String::from_utf8_lossy(&log).trim_end().to_owned() }
        };
        loop {
            if let Some(state) = State::read(&self.folder)?.filter(|state| state.ready) {
                return Ok(state);
            }
            if let Some(status) = child.try_wait().map_err(|why| not_ready(why.to_string()))? {
                return Err(not_ready(format!("the supervisor ended with {status}")));
            }
            if Instant::now() >= end {
                return Err(not_ready(format!("nothing after {} min", LIMIT.as_secs() / 60)));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Removes a folder with all in it; none is fine.
pub(crate) fn remove(folder: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(folder) {
        Err(why) if why.kind() != std::io::ErrorKind::NotFound => Err(Error::file("remove", folder)(why)),
        _ => Ok(()),
    }
}
