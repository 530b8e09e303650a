//! A machine of its own for tests that are root: private mounts in which the system's files can be written.
//!
//! The test starts itself again below `unshare`. There `/etc` and `/usr` are copies as far as they are written, `/tmp`,
//! `/var/log` and `/run` are empty, and [`ALICE`] is a user. When the test ends, all of it is gone; nothing of the real
//! system is touched.

use std::{
    env, fs, io,
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _, chown},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

/// A user of the machine without any right: name and number, which is that of the group too.
pub const ALICE: (&str, u32) = ("alice", 47_001);
/// Another one.
pub const MALLORY: (&str, u32) = ("mallory", 47_002);

/// Set for the test that runs inside.
const INSIDE: &str = "PINTLE_TEST_MACHINE";

/// The machine, for whoever is in it.
#[derive(Debug)]
pub struct Machine(());

impl Machine {
    /// Called first in a test, with the programs of the system that it takes. Inside gives the machine; outside runs the
    /// test inside and gives nothing, after which the test returns: it has failed if it failed inside, or has told a skip.
    ///
    /// # Panics
    /// The test fails inside, or the machine cannot be set up although it should.
    #[expect(clippy::expect_used, reason = "for tests")]
    #[must_use]
    pub fn enter(programs: &[&str]) -> Option<Self> {
        if env::var_os(INSIDE).is_some() {
            set_up().expect("the private mounts are set up");
            return Some(Self(()));
        }
        if let Some(why) = missing(programs) {
            crate::skip(&why);
            return None;
        }
        let test = thread::current().name().expect("the test has a name").to_owned();
        let own = env::current_exe().expect("this program has a path");
        let run = Command::new("unshare")
            .args(["--mount", "--propagation", "private", "--"])
            .arg(own)
            .args(["--exact", &test, "--nocapture", "--test-threads=1"])
            .env(INSIDE, "1")
            .current_dir("/")
            .stdin(Stdio::null())
            .output()
            .expect("`unshare` starts");
        let said = format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
        assert!(run.status.success() && said.contains("1 passed"), "inside the private mounts:\n{said}");
        None
    }

    /// Writes a file of root's that others can read, and run if it is a program; folders above it are made.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>, mode: u32) -> io::Result<()> {
        let path = path.as_ref();
        if let Some(folder) = path.parent() {
            fs::DirBuilder::new().recursive(true).mode(0o755).create(folder)?;
        }
        fs::write(path, bytes)?;
        fs::set_permissions(path, fs::Permissions::from_mode(mode))
    }

    /// Copies a program to a place from which the users may run it.
    ///
    /// # Errors
    /// It cannot be copied.
    pub fn program(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
        self.write(to, fs::read(from)?, 0o755)
    }

    /// A command that one of the users gives, in their home, with nothing of this process but `PATH`.
    #[must_use]
    pub fn as_user(&self, user: (&str, u32), program: &str) -> Command {
        let mut command = Command::new("setpriv");
        let id = user.1.to_string();
        command.args(["--reuid", &id, "--regid", &id, "--clear-groups", "--", program]);
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("HOME", self.home(user));
        command.current_dir(self.home(user)).stdin(Stdio::null());
        command
    }

    /// The home of a user.
    #[must_use]
    pub fn home(&self, user: (&str, u32)) -> PathBuf {
        Path::new("/tmp/home").join(user.0)
    }
}

fn missing(programs: &[&str]) -> Option<String> {
    let root = fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    if !root {
        return Some("it takes root".into());
    }
    let absent = |program: &&&str| {
        !["/usr/bin", "/usr/sbin", "/bin", "/sbin"].iter().any(|folder| Path::new(folder).join(program).exists())
    };
    if let Some(program) = [&"unshare", &"mount", &"setpriv"].into_iter().chain(programs).find(absent) {
        return Some(format!("`{program}` is not installed"));
    }
    let trial = Command::new("unshare").args(["--mount", "--propagation", "private", "--", "true"]).output();
    (!trial.is_ok_and(|trial| trial.status.success())).then(|| "private mounts are not allowed here".into())
}

fn set_up() -> io::Result<()> {
    // The layers lie on what becomes `/run`, out of the way of everybody.
    mount(&["-t", "tmpfs", "-o", "mode=0755", "tmpfs", "/run"])?;
    for name in ["etc", "usr"] {
        let (upper, work) = (format!("/run/{name}"), format!("/run/{name}.work"));
        fs::create_dir(&upper)?;
        fs::create_dir(&work)?;
        let options = format!("lowerdir=/{name},upperdir={upper},workdir={work}");
        mount(&["-t", "overlay", "-o", &options, "overlay", &format!("/{name}")])?;
    }
    mount(&["-t", "tmpfs", "-o", "mode=1777", "tmpfs", "/tmp"])?;
    mount(&["-t", "tmpfs", "-o", "mode=0755", "tmpfs", "/var/log"])?;
    mount(&["-t", "tmpfs", "-o", "mode=0755", "tmpfs", "/home"])?;
    for user in [ALICE, MALLORY] {
        let (name, id) = user;
        append("/etc/passwd", &format!("{name}:x:{id}:{id}:{name}:/tmp/home/{name}:/bin/sh\n"))?;
        append("/etc/group", &format!("{name}:x:{id}:\n"))?;
        append("/etc/shadow", &format!("{name}:*:19000:0:99999:7:::\n"))?;
        let home = Path::new("/tmp/home").join(name);
        fs::create_dir_all(&home)?;
        chown(&home, Some(id), Some(id))?;
    }
    Ok(())
}

fn append(path: &str, line: &str) -> io::Result<()> {
    use io::Write as _;
    fs::OpenOptions::new().append(true).open(path)?.write_all(line.as_bytes())
}

fn mount(arguments: &[&str]) -> io::Result<()> {
    let mounted = Command::new("mount").args(arguments).output()?;
    if mounted.status.success() {
        return Ok(());
    }
    let why = String::from_utf8_lossy(&mounted.stderr).trim().to_owned();
    Err(io::Error::other(format!("mount {}: {why}", arguments.join(" "))))
}
