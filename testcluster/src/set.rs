//! A running set, and its end.

use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

use rustix::process::Signal;

use crate::plan::remove;
use crate::{Error, State};

/// Killing takes moments; past this something is wrong with the machine.
const GRACE: Duration = Duration::from_secs(20);

/// A set that is ready.
#[derive(Debug)]
pub struct Set {
    folder: PathBuf,
    state: State,
    /// Ours to end, if we started it to be held.
    child: Option<Child>,
}

impl Set {
    pub(crate) fn own(folder: PathBuf, state: State, child: Child) -> Self {
        Self { folder, state, child: Some(child) }
    }

    pub(crate) fn of_others(folder: PathBuf, state: State) -> Self {
        Self { folder, state, child: None }
    }

    /// The set that runs in a folder, whoever started it; none when nothing is ready there. The value does not hold it.
    ///
    /// # Errors
    /// The state file cannot be read.
    pub fn found(folder: &Path) -> Result<Option<Self>, Error> {
        let state = State::read(folder)?.filter(|state| state.ready && state.runs());
        Ok(state.map(|state| Self::of_others(folder.to_owned(), state)))
    }

    /// Where everything of the set lies; it goes with the set.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The kubeconfig with all contexts, as an administrator.
    #[must_use]
    pub fn kubeconfig(&self) -> PathBuf {
        self.folder.join("kubeconfig")
    }

    /// The same contexts as the user `alice` of the group `developers`, who may do nothing but look at herself.
    #[must_use]
    pub fn limited_kubeconfig(&self) -> PathBuf {
        self.folder.join("limited.kubeconfig")
    }

    /// What runs.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The contexts, the current one first.
    #[must_use]
    pub fn contexts(&self) -> &[String] {
        &self.state.contexts
    }

    /// Sends a signal to the API server of one cluster. KILL: connections are refused from then on. STOP: the cluster
    /// hangs until CONT.
    ///
    /// # Errors
    /// No such context in this set, or the signal is not permitted.
    pub fn signal_apiserver(&self, context: &str, signal: Signal) -> Result<(), Error> {
        let unknown = || Error::Unknown { component: "apiserver", context: context.to_owned() };
        let mut components = self.state.components.iter();
        let server = components.find(|part| part.name == "apiserver" && part.context == context).ok_or_else(unknown)?;
        server.process.signal(signal)?;
        if signal == Signal::KILL && !server.process.gone_within(GRACE) {
            return Err(Error::Lingers(server.process.pid));
        }
        Ok(())
    }

    /// Ends a held set: when this returns no process of it runs, and its folder is gone. Of a set that others hold
    /// nothing happens.
    ///
    /// # Errors
    /// A process does not end, or the folder cannot be removed.
    pub fn stop(mut self) -> Result<(), Error> {
        self.end()
    }

    fn end(&mut self) -> Result<(), Error> {
        let Some(mut child) = self.child.take() else { return Ok(()) };
        // the supervisor stops at the end of its input; whoever reads the state file knows it for sure
        drop(child.stdin.take());
        let reaper = std::thread::spawn(move || child.wait());
        let ended = finish(&self.folder, &self.state);
        if ended.is_ok() {
            // it is gone: nothing is left to wait for but the record of it
            let _ = reaper.join();
        }
        ended
    }
}

impl Drop for Set {
    fn drop(&mut self) {
        // `stop` tells errors; here nobody could hear them
        let _ = self.end();
    }
}

/// Ends the set in a folder, whoever started it, and removes the folder; false when there was none.
///
/// # Errors
/// A process does not end, or the folder cannot be removed.
pub fn stop(folder: &Path) -> Result<bool, Error> {
    let Some(state) = State::read(folder)? else {
        remove(folder)?;
        return Ok(false);
    };
    let ran = state.supervisor.signal(Signal::TERM)?;
    finish(folder, &state)?;
    Ok(ran)
}

/// Waits until a supervisor that was told is gone with its children, and removes the folder. One that does not obey is
/// killed.
pub(crate) fn finish(folder: &Path, state: &State) -> Result<(), Error> {
    if !state.supervisor.gone_within(GRACE) {
        state.supervisor.signal(Signal::KILL)?;
    }
    // read again: it may have started more since
    let last = State::read(folder)?.unwrap_or_else(|| state.clone());
    for process in last.processes() {
        if !process.gone_within(GRACE) {
            return Err(Error::Lingers(process.pid));
        }
    }
    remove(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_clusters_is_removed_and_told() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("clusters");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("up.log"), "left over").unwrap();
        assert!(!stop(&folder).unwrap());
        assert!(!folder.exists());
        assert!(!stop(&folder).unwrap());
        assert!(Set::found(&folder).unwrap().is_none());
    }

    #[test]
    fn a_state_from_before_a_restart_names_nobody() {
        let home = tempfile::tempdir().unwrap();
        // our own pid, with the start of a process long gone
        let dead = format!(r#"{{"pid": {}, "start": 1}}"#, std::process::id());
        let text = format!(
            r#"{{"ready": true, "supervisor": {dead}, "contexts": ["a"], "nodes": 1,
                "components": [{{"name": "etcd", "process": {dead}}}]}}"#
        );
        std::fs::write(home.path().join("state.json"), text).unwrap();
        assert!(Set::found(home.path()).unwrap().is_none());
        assert!(!stop(home.path()).unwrap(), "nothing ran");
        assert!(!home.path().exists());
    }

    #[test]
    fn a_foreign_state_file_is_an_error_and_stays() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("state.json"), "[]").unwrap();
        assert!(matches!(stop(home.path()), Err(Error::State { .. })));
        assert!(home.path().join("state.json").exists());
    }
}
