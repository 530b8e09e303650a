//! Brings the reports of a run to where they were wanted.

use super::{Destination, Options, RenderError, Reports, Spec, masked, render};
use crate::outcome::RunOutcome;
use pintle_core::{Code, Failure, Redactor};
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

impl Reports {
    /// Whether every file can be written, asked before the run: a run of an hour should not end in a typing mistake.
    /// Leaves nothing behind and touches no report that is there.
    ///
    /// # Errors
    /// Every file that cannot be written.
    pub fn probe(&self) -> Result<(), Unwritten> {
        Unwritten::collect(self.specs().iter().map(|spec| match &spec.destination {
            Destination::Stdout => Ok(()),
            Destination::File(path) => File::at(path).and_then(|file| file.probe()).map_err(Trouble::file(path)),
        }))
    }

    /// Masks what the redactor knows, renders every report and writes it; files appear whole or not at all. One that
    /// fails does not keep the others from being written. `options` is for standard output.
    ///
    /// # Errors
    /// Every report that could not be written.
    pub fn write(
        &self,
        run: &RunOutcome,
        redactor: &Redactor,
        options: Options,
        stdout: &mut impl Write,
    ) -> Result<(), Unwritten> {
        let run = masked(run, redactor);
        Unwritten::collect(self.specs().iter().map(|spec| one(spec, &run, options, stdout)))
    }
}

fn one(spec: &Spec, run: &RunOutcome, options: Options, stdout: &mut impl Write) -> Result<(), Trouble> {
    match &spec.destination {
        Destination::Stdout => {
            let text = render(spec.format, run, options)?;
            stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Trouble::Stdout)
        }
        Destination::File(path) => {
            let text = render(spec.format, run, Options::default())?;
            File::at(path).and_then(|file| file.replace(&text)).map_err(Trouble::file(path))
        }
    }
}

/// A file to be replaced as a whole.
enum File {
    /// A regular file, or none yet; links are followed, so that the link stays.
    Regular { path: PathBuf, permissions: Permissions },
    /// A device or a pipe: written into, never replaced.
    Special(PathBuf),
}

impl File {
    fn at(path: &Path) -> io::Result<Self> {
        match fs::metadata(path) {
            Ok(meta) if meta.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
            Ok(meta) if meta.is_file() => {
                Ok(Self::Regular { path: fs::canonicalize(path)?, permissions: meta.permissions() })
            }
            Ok(_) => Ok(Self::Special(path.to_owned())),
            // Made as any program makes a file: readable for all that the umask lets.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(Self::Regular { path: path.to_owned(), permissions: Permissions::from_mode(0o666) })
            }
            Err(error) => Err(error),
        }
    }

    fn beside(path: &Path, permissions: &Permissions) -> io::Result<tempfile::NamedTempFile> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        tempfile::Builder::new().prefix(".report-").suffix(".part").permissions(permissions.clone()).tempfile_in(folder)
    }

    fn probe(&self) -> io::Result<()> {
        match self {
            Self::Regular { path, permissions } => Self::beside(path, permissions).map(drop),
            // Opening a pipe would wait for its reader.
            Self::Special(_) => Ok(()),
        }
    }

    fn replace(&self, text: &str) -> io::Result<()> {
        match self {
            Self::Regular { path, permissions } => {
                let mut part = Self::beside(path, permissions)?;
                part.write_all(text.as_bytes())?;
                part.as_file().sync_all()?;
                part.persist(path).map(drop).map_err(|error| error.error)
            }
            Self::Special(path) => fs::OpenOptions::new().write(true).open(path)?.write_all(text.as_bytes()),
        }
    }
}

/// Why one report was not written.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// The file could not be written.
    #[error("write report {}: {source}", path.display())]
    File {
        /// As given on the command line.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Standard output could not be written.
    #[error("write report to standard output: {0}")]
    Stdout(#[source] io::Error),
    /// It could not be made.
    #[error(transparent)]
    Render(#[from] RenderError),
}

impl Trouble {
    fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { path: path.to_owned(), source }
    }
}

/// The reports that were not written.
#[derive(Debug, thiserror::Error)]
#[error("{}", troubles.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct Unwritten {
    /// One for each of them, at least one.
    pub troubles: Vec<Trouble>,
}

impl Unwritten {
    fn collect(results: impl Iterator<Item = Result<(), Trouble>>) -> Result<(), Self> {
        let troubles: Vec<_> = results.filter_map(Result::err).collect();
        if troubles.is_empty() { Ok(()) } else { Err(Self { troubles }) }
    }
}

impl From<Unwritten> for Failure {
    fn from(error: Unwritten) -> Self {
        Self::new(Code::Io, error.to_string()).hint("name a file in a folder that exists and may be written")
    }
}
