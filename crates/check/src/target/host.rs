//! The machine we run on.

use std::net::IpAddr;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use pintle_process::{Ended, Environment, Ladder, Output, Run, Spawn, Status};
use tokio::io::AsyncReadExt;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{Executed, Execution, FileFacts, Line, PortName, Target};

/// Bytes kept of each output stream of a command.
const KEPT: usize = 1024 * 1024;

/// The host as a target. Commands run in `directory` with a clean environment.
#[derive(Debug, Default)]
pub struct HostTarget {
    directory: Option<PathBuf>,
    environment: Option<Environment>,
    /// Ends what runs in the background.
    ended: CancellationToken,
    background: Mutex<Vec<JoinHandle<()>>>,
}

impl HostTarget {
    /// The host, seen from our own directory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The host, seen from another directory.
    #[must_use]
    pub fn with_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// What commands find in their environment; [`Environment::clean`] otherwise.
    #[must_use]
    pub fn with_environment(mut self, environment: Environment) -> Self {
        self.environment = Some(environment);
        self
    }

    fn spawn(&self, execution: &Execution<'_>) -> Result<Spawn, String> {
        let words = match execution.line {
            Line::Words(words) => words.clone(),
            Line::Text(text) => shlex::split(text).ok_or("a quote has no end")?,
        };
        let (program, arguments) = words.split_first().ok_or("no program is named")?;
        let mut environment = self.environment.clone().unwrap_or_else(Environment::clean);
        for (name, value) in execution.env {
            environment = environment.set(name, value);
        }
        let mut spawn = Spawn::new(program).args(arguments).environment(environment);
        if let Some(directory) = &self.directory {
            spawn = spawn.directory(directory);
        }
        Ok(spawn)
    }

    /// Starts a program that goes on until the run ends.
    async fn start(&self, spawn: Spawn) -> Result<Executed, String> {
        let mut piped = spawn.piped(KEPT).await.map_err(|error| error.to_string())?;
        let ended = self.ended.clone();
        let task = tokio::spawn(async move {
            let mut chunk = vec![0; 8 * 1024];
            loop {
                tokio::select! {
                    () = ended.cancelled() => break,
                    read = piped.stdout.read(&mut chunk) => if !matches!(read, Ok(1..)) { break },
                }
            }
            tokio::select! {
                () = ended.cancelled() => {}
                _ = piped.child.wait() => {}
            }
            // Dropping the child kills what is left, whatever this says.
            let _ = piped.child.stop(Ladder::default()).await;
        });
        self.background.lock().unwrap_or_else(PoisonError::into_inner).push(task);
        Ok(Executed::default())
    }
}

impl Drop for HostTarget {
    fn drop(&mut self) {
        self.ended.cancel();
    }
}

impl Target for HostTarget {
    fn name(&self) -> String {
        "host".into()
    }

    fn distro(&self) -> Vec<String> {
        let text = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
        distro_words(&text)
    }

    fn variable(&self, _name: &str, _argument: Option<&str>) -> Option<Result<String, String>> {
        None
    }

    fn execute<'a>(&'a self, execution: Execution<'a>) -> BoxFuture<'a, Result<Executed, String>> {
        async move {
            let spawn = self.spawn(&execution)?;
            if execution.background {
                return self.start(spawn).await;
            }
            let run = Run {
                limit: KEPT,
                input: execution.input.to_vec(),
                timeout: Some(execution.limit),
                cancel: execution.cancel.clone(),
                ..Run::default()
            };
            let done = spawn.run(run).await.map_err(|error| error.to_string())?;
            let mut warnings = Vec::new();
            let stdout = text("stdout", &done.stdout, &mut warnings);
            let stderr = text("stderr", &done.stderr, &mut warnings);
            Ok(Executed {
                status: match done.exit.status {
                    Status::Code(code) => code.into(),
                    Status::Signal(number) => 128 + i64::from(number),
                },
                stdout,
                stderr,
                took: done.exit.ran,
                timed_out: matches!(done.ended, Ended::TimedOut { .. }),
                warnings,
            })
        }
        .boxed()
    }

    fn stat<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<Option<FileFacts>, String>> {
        let path = self.directory.as_deref().map_or_else(|| path.to_owned(), |directory| directory.join(path));
        blocking(move || match std::fs::symlink_metadata(&path) {
            Ok(metadata) => Ok(Some(facts(&metadata))),
            Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
                Ok(None)
            }
            Err(error) => Err(error.to_string()),
        })
    }

    fn read<'a>(&'a self, path: &'a Path, limit: usize) -> BoxFuture<'a, Result<Vec<u8>, String>> {
        let path = self.directory.as_deref().map_or_else(|| path.to_owned(), |directory| directory.join(path));
        blocking(move || {
            use std::io::Read as _;
            // A pipe or a device would never end.
            let metadata = std::fs::metadata(&path).map_err(|error| error.to_string())?;
            if !metadata.is_file() {
                return Err("is no regular file".into());
            }
            let mut bytes = Vec::new();
            let file = std::fs::File::open(&path).map_err(|error| error.to_string())?;
            file.take(limit as u64).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
            Ok(bytes)
        })
    }

    fn listeners<'a>(&'a self, port: PortName) -> BoxFuture<'a, Result<Vec<IpAddr>, String>> {
        blocking(move || {
            let tables = if port.udp { ["udp", "udp6"] } else { ["tcp", "tcp6"] };
            let mut found = Vec::new();
            for table in tables {
                // A kernel without IPv6 has no second table.
                if let Ok(text) = std::fs::read_to_string(format!("/proc/net/{table}")) {
                    found.extend(listening(&text, port));
                }
            }
            Ok(found)
        })
    }

    fn processes<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Vec<u32>, String>> {
        let name = name.to_owned();
        blocking(move || {
            let mut found = Vec::new();
            for entry in std::fs::read_dir("/proc").map_err(|error| error.to_string())?.flatten() {
                if let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok())
                    && is_named(&entry.path(), &name)
                {
                    found.push(id);
                }
            }
            Ok(found)
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.ended.cancel();
        let tasks = std::mem::take(&mut *self.background.lock().unwrap_or_else(PoisonError::into_inner));
        async move {
            for task in tasks {
                // A task that panicked has dropped its child, which kills it.
                let _ = task.await;
            }
        }
        .boxed()
    }
}

fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> BoxFuture<'static, Result<T, String>> {
    async move { tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())? }.boxed()
}

fn text(name: &str, output: &Output, warnings: &mut Vec<String>) -> String {
    let text = output.text();
    if let Some(cut) = text.cut {
        warnings.push(format!("{} bytes in the middle of {name} were left out", cut.bytes));
    }
    if text.lossy {
        warnings.push(format!("{name} is not UTF-8 everywhere"));
    }
    text.text
}

/// `debian`, `debian:12`, and the families it says it is like.
fn distro_words(text: &str) -> Vec<String> {
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
        Some(line.trim_matches(['"', '\'']).to_owned())
    };
    let Some(id) = value("ID") else { return Vec::new() };
    let mut words = vec![id.clone()];
    if let Some(version) = value("VERSION_ID") {
        words.push(format!("{id}:{version}"));
    }
    words
}

fn facts(metadata: &std::fs::Metadata) -> FileFacts {
    let kind = metadata.file_type();
    FileFacts {
        kind: match kind {
            kind if kind.is_dir() => "directory",
            kind if kind.is_symlink() => "symlink",
            kind if kind.is_socket() => "socket",
            kind if kind.is_fifo() => "fifo",
            kind if kind.is_block_device() => "block",
            kind if kind.is_char_device() => "char",
            _ => "file",
        },
        mode: metadata.mode() & 0o7777,
        owner: named("/etc/passwd", metadata.uid()),
        group: named("/etc/group", metadata.gid()),
        size: metadata.len(),
    }
}

/// The name of a number in a file of `name:x:number` lines.
fn named(file: &str, number: u32) -> String {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let wanted = number.to_string();
    let line = text.lines().map(|line| line.split(':')).find_map(|mut fields| {
        let name = fields.next()?;
        (fields.nth(1)? == wanted).then_some(name)
    });
    line.map_or(wanted.clone(), str::to_owned)
}

/// Local addresses of the sockets in a table of the kernel that listen at a port.
fn listening(table: &str, port: PortName) -> Vec<IpAddr> {
    // LISTEN; a UDP socket that takes datagrams of anybody counts as CLOSE.
    let state = if port.udp { "07" } else { "0A" };
    table
        .lines()
        .skip(1)
        .filter_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let (address, number) = fields.get(1)?.split_once(':')?;
            let here = u16::from_str_radix(number, 16).ok()? == port.number && *fields.get(3)? == state;
            here.then(|| kernel_address(address)).flatten()
        })
        .collect()
}

/// An address as the kernel prints it: words of 32 bits in the order of the machine.
fn kernel_address(hex: &str) -> Option<IpAddr> {
    let mut bytes = Vec::new();
    for at in (0..hex.len()).step_by(8) {
        let word = u32::from_str_radix(hex.get(at..at + 8)?, 16).ok()?;
        bytes.extend(word.to_ne_bytes());
    }
    match bytes.len() {
        4 => Some(IpAddr::from(<[u8; 4]>::try_from(bytes).ok()?)),
        16 => Some(IpAddr::from(<[u8; 16]>::try_from(bytes).ok()?)),
        _ => None,
    }
}

/// Whether a process has a name: its own, or that of the program it was started as.
fn is_named(process: &Path, name: &str) -> bool {
    if std::fs::read_to_string(process.join("comm")).is_ok_and(|own| own.trim_end() == name) {
        return true;
    }
    // The kernel cuts the name at 15 bytes; the command line has it whole.
    let line = std::fs::read(process.join("cmdline")).unwrap_or_default();
    let program = line.split(|byte| *byte == 0).next().unwrap_or_default();
    Path::new(&String::from_utf8_lossy(program).into_owned()).file_name().is_some_and(|file| file == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_the_kernel_are_read() {
        let table = "  sl  local_address rem_address   st tx_queue\n   \
                     0: 0100007F:1F90 00000000:0000 0A 00000000\n   \
                     1: 00000000:0050 00000000:0000 0A 00000000\n   \
                     2: 0100007F:0050 0100007F:9999 01 00000000\n";
        let at = |number| listening(table, PortName { udp: false, number });
        if cfg!(target_endian = "little") {
            assert_eq!(at(8080), [IpAddr::from([127, 0, 0, 1])]);
        }
        assert_eq!(at(80), [IpAddr::from([0, 0, 0, 0])]);
        assert_eq!(at(81), Vec::<IpAddr>::new());
    }

    #[test]
    fn os_release_gives_the_words() {
        let text = "PRETTY_NAME=\"Debian\"\nID=debian\nVERSION_ID=\"12\"\n";
        assert_eq!(distro_words(text), ["debian", "debian:12"]);
        assert!(distro_words("").is_empty());
    }
}
