//! Building the Go program in `testcluster/`. It is kept by the digest of its sources, so that it is built once.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use crate::{Trouble, place::Place, run};

/// How to get what is missing.
const GO: &str = "Go 1.26 or newer, from https://go.dev/dl or the package `golang` of a system that has it (any from \
                  1.21 on will do: it fetches the right one by itself)";

/// Sources and what the program is called after them.
struct Source {
    folder: PathBuf,
    name: String,
}

/// Held while the program is built or clusters are started or stopped, so that two commands do not do it at once.
pub fn locked(place: &Place) -> Result<File, Trouble> {
    fs::create_dir_all(&place.tools).map_err(Trouble::file("make", &place.tools))?;
    let path = place.tools.join("testcluster.lock");
    let lock = File::create(&path).map_err(Trouble::file("open", &path))?;
    lock.lock().map_err(Trouble::file("lock", &path))?;
    Ok(lock)
}

/// Whether the program is there for the sources as they are.
pub fn is_built(place: &Place) -> Result<bool, Trouble> {
    Ok(place.tools.join(source(place)?.name).is_file())
}

/// The program, built if need be: a quarter of an hour on two cores, most of it Kubernetes.
pub fn built(place: &Place, cancelled: &AtomicBool) -> Result<PathBuf, Trouble> {
    let _lock = locked(place)?;
    let source = source(place)?;
    let program = place.tools.join(&source.name);
    if !program.is_file() {
        build(place, &source, &program, cancelled)?;
        clear(place, &source.name)?;
    }
    link(place, &source.name)?;
    Ok(program)
}

fn source(place: &Place) -> Result<Source, Trouble> {
    let folder = place.root.join("testcluster");
    let mut names: Vec<OsString> = Vec::new();
    for entry in fs::read_dir(&folder).map_err(Trouble::file("read", &folder))? {
        let path = entry.map_err(Trouble::file("read", &folder))?.path();
        if path.extension().is_some_and(|extension| extension == "go" || extension == "mod" || extension == "sum") {
            names.extend(path.file_name().map(Into::into));
        }
    }
    names.sort();
    let mut digest = Sha256::new();
    for name in names {
        let path = folder.join(&name);
        let text = fs::read(&path).map_err(Trouble::file("read", &path))?;
        digest.update(format!("{} {}\n", name.display(), text.len()));
        digest.update(text);
    }
    let short: String = digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    Ok(Source { folder, name: format!("testcluster-{short}") })
}

fn build(place: &Place, source: &Source, program: &Path, cancelled: &AtomicBool) -> Result<(), Trouble> {
    let go = go()?;
    // a build that was broken off leaves its own behind
    let scratch = place.tools.join("testcluster.tmp");
    emptied(&scratch)?;
    let half = program.with_extension("new");
    // the build of our own crates, beside which it runs, is what people wait for
    let mut command = Command::new("nice");
    command.args(["-n", "10"]).arg(go).args(["build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-o"]);
    command.arg(&half).arg("-ldflags").arg(linked(&source.folder.join("go.mod"))?).arg(".");
    command.current_dir(&source.folder).env("CGO_ENABLED", "0").env("GOWORK", "off").env("GOTMPDIR", &scratch);
    if std::env::var_os("GOTOOLCHAIN").is_none() {
        command.env("GOTOOLCHAIN", "auto");
    }
    println!("cluster: building {} (a quarter of an hour the first time)", source.name);
    let start = Instant::now();
    let log = place.tools.join("testcluster.log");
    let file = File::create(&log).map_err(Trouble::file("write", &log))?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(file)
        .spawn()
        .map_err(|source| Trouble::Start { program: run::shown(&command), source })?;
    let status = loop {
        if cancelled.load(Ordering::Relaxed) {
            // it may just have ended; either way nobody wants what it makes
            let _ = child.kill();
            let _ = child.wait();
            return Err(Trouble::Other("building the clusters' program was given up".into()));
        }
        match child.try_wait().map_err(|source| Trouble::Start { program: "go build".into(), source })? {
            Some(status) => break status,
            None => std::thread::sleep(Duration::from_millis(200)),
        }
    };
    if !status.success() {
        let text = fs::read(&log).map_err(Trouble::file("read", &log))?;
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("go: downloading ")).collect();
        return Err(Trouble::Failed {
            command: "go build".into(),
            status: status.to_string(),
            detail: format!(" in `testcluster`:\n{}", lines.join("\n")),
        });
    }
    fs::rename(&half, program).map_err(Trouble::file("write", program))?;
    fs::remove_dir_all(&scratch).map_err(Trouble::file("remove", &scratch))?;
    println!("cluster: built in {} s", start.elapsed().as_secs());
    Ok(())
}

fn emptied(folder: &Path) -> Result<(), Trouble> {
    match fs::remove_dir_all(folder) {
        Err(why) if why.kind() != std::io::ErrorKind::NotFound => Err(Trouble::file("remove", folder)(why)),
        _ => fs::create_dir_all(folder).map_err(Trouble::file("make", folder)),
    }
}

/// The flags of the linker. Without a version the API server names one that kubectl and helm cannot read.
fn linked(manifest: &Path) -> Result<String, Trouble> {
    let text = fs::read_to_string(manifest).map_err(Trouble::file("read", manifest))?;
    let version = version(&text)
        .ok_or_else(|| Trouble::Other(format!("`{}` requires no k8s.io/kubernetes v1.N.N", manifest.display())))?;
    let minor = version.split('.').nth(1).unwrap_or_default();
    let values = [
        ("gitVersion", version),
        ("gitMajor", "1"),
        ("gitMinor", minor),
        ("gitTreeState", "clean"),
        ("gitCommit", "unknown"),
        ("buildDate", "1970-01-01T00:00:00Z"),
    ];
    let values = values.map(|(name, value)| format!(" -X k8s.io/component-base/version.{name}={value}"));
    Ok(format!("-s -w{}", values.concat()))
}

fn version(manifest: &str) -> Option<&str> {
    let mut lines = manifest.lines().map(str::trim);
    lines.find_map(|line| line.strip_prefix("k8s.io/kubernetes ")).filter(|version| version.starts_with("v1."))
}

/// The Go command, from the path or from where its archive is unpacked.
fn go() -> Result<PathBuf, Trouble> {
    for program in ["go", "/usr/local/go/bin/go", "/usr/lib/go/bin/go"] {
        let Ok(output) = Command::new(program).args(["env", "GOVERSION"]).env("GOTOOLCHAIN", "local").output() else {
            continue;
        };
        if fetches_newer(&String::from_utf8_lossy(&output.stdout)) {
            return Ok(program.into());
        }
    }
    Err(Trouble::Missing(format!("no `go` that can build `testcluster`; install {GO}")))
}

/// Go since 1.21 fetches the release that a module asks for.
fn fetches_newer(version: &str) -> bool {
    let minor = version.trim().strip_prefix("go1.").and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
    minor.and_then(|minor| minor.parse::<u32>().ok()).is_some_and(|minor| minor >= 21)
}

/// Removes programs of older sources: each takes 150 MB.
fn clear(place: &Place, keep: &str) -> Result<(), Trouble> {
    for entry in fs::read_dir(&place.tools).map_err(Trouble::file("read", &place.tools))? {
        let path = entry.map_err(Trouble::file("read", &place.tools))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("testcluster-") && name != keep {
            fs::remove_file(&path).map_err(Trouble::file("remove", &path))?;
        }
    }
    Ok(())
}

/// Gives the program a name that tests know.
fn link(place: &Place, name: &str) -> Result<(), Trouble> {
    let link = testcluster::program(&place.tools);
    if fs::read_link(&link).is_ok_and(|to| to == Path::new(name)) {
        return Ok(());
    }
    let new = place.tools.join("testcluster.link");
    match fs::remove_file(&new) {
        Err(why) if why.kind() != std::io::ErrorKind::NotFound => return Err(Trouble::file("remove", &new)(why)),
        _ => symlink(name, &new).map_err(Trouble::file("make", &new))?,
    }
    fs::rename(&new, &link).map_err(Trouble::file("make", &link))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_kubernetes_is_read_from_the_manifest() {
        let manifest = "require (\n\tk8s.io/api v0.37.2\n\tk8s.io/kubernetes v1.37.2\n)\n";
        assert_eq!(version(manifest), Some("v1.37.2"));
        assert_eq!(version("require k8s.io/api v0.37.2"), None);
    }

    #[test]
    fn a_go_that_cannot_fetch_a_newer_one_is_none() {
        for (said, good) in [
            ("go1.26.8\n", true),
            ("go1.21", true),
            ("go1.27rc1", true),
            ("go1.19.8\n", false),
            ("devel +abc", false),
            ("", false),
        ] {
            assert_eq!(fetches_newer(said), good, "{said}");
        }
    }

    #[test]
    fn programs_of_older_sources_go_and_the_link_names_the_newest() {
        let home = tempfile::tempdir().unwrap();
        let tools = home.path().to_owned();
        let place = Place { root: tools.clone(), target: tools.clone(), tools: tools.clone() };
        for name in ["testcluster-1", "testcluster-2", "testcluster.lock", "stamp"] {
            fs::write(tools.join(name), name).unwrap();
        }
        link(&place, "testcluster-1").unwrap();
        clear(&place, "testcluster-2").unwrap();
        link(&place, "testcluster-2").unwrap();
        link(&place, "testcluster-2").unwrap();
        assert_eq!(fs::read_to_string(testcluster::program(&tools)).unwrap(), "testcluster-2");
        assert!(!tools.join("testcluster-1").exists());
        assert!(tools.join("stamp").exists());
    }
}
