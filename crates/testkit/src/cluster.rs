//! Real API servers for tests, and kubectl beside them.
//!
//! [`shared`] gives the clusters that all tests of a run use, each in a [`Namespace`] of its own. A test that stops a
//! cluster, or looks at all of one, takes a [`private`] set. All of it blocks: an async test wraps it in
//! `spawn_blocking`.
//!
//! Where clusters or kubectl are missing the functions give none, after telling that the test is skipped:
//!
//! ```no_run
//! let Some(clusters) = pintle_testkit::cluster::shared() else { return };
//! let context = &clusters.contexts()[0];
//! let namespace = clusters.namespace(context, "web");
//! namespace.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
//! assert_eq!(namespace.kubectl(&["get", "configmap", "a", "-o", "name"]), "configmap/a\n");
//! ```
#![expect(clippy::expect_used, reason = "for tests: what cannot be set up is a failed test")]

mod namespace;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;
use testcluster::{Plan, Set};

pub use namespace::Namespace;
pub use testcluster::HOSTILE;

use crate::skip;

/// A set of clusters that run, with kubectl for each.
#[derive(Debug)]
pub struct Clusters {
    set: Set,
    kubectl: PathBuf,
    /// Holds the folder of a private set; it goes after the set.
    _folder: Option<tempfile::TempDir>,
}

/// The clusters that all tests share: the three of `cargo xtask test`, else those of `cargo xtask cluster up`. Whoever
/// needs more than one looks at the length of [`Clusters::contexts`].
///
/// # Panics
/// Clusters were promised by `PINTLE_TEST_CLUSTERS` and do not run.
pub fn shared() -> Option<&'static Clusters> {
    static SHARED: OnceLock<Result<Clusters, String>> = OnceLock::new();
    let found = SHARED.get_or_init(|| {
        let kubectl = installed("kubectl")?;
        let set = match std::env::var_os("PINTLE_TEST_CLUSTERS") {
            Some(kubeconfig) => {
                let folder = Path::new(&kubeconfig).parent().expect("a kubeconfig lies in a folder");
                let set = Set::found(folder).expect("the state of the promised clusters can be read");
                Some(set.expect("the promised clusters run"))
            }
            None => Set::found(&target().join("cluster")).expect("the state of the clusters can be read"),
        };
        let set = set.ok_or("no clusters run: `cargo xtask cluster up 3` starts them")?;
        Ok(Clusters { set, kubectl, _folder: None })
    });
    found.as_ref().map_err(|reason| skip(reason)).ok()
}

/// Starts a set for one test alone, with one cluster of a single node for each context; [`HOSTILE`] has good names.
/// It ends with the value.
///
/// # Panics
/// The clusters do not start.
pub fn private(contexts: &[&str]) -> Option<Clusters> {
    let program = testcluster::program(&tools());
    let kubectl = if program.exists() {
        installed("kubectl")
    } else {
        Err("the clusters' program is not built: `cargo xtask cluster up` builds it".into())
    };
    let kubectl = kubectl.map_err(|reason| skip(&reason)).ok()?;
    let home = tempfile::tempdir().expect("a temporary folder can be made");
    let contexts = contexts.iter().map(ToString::to_string).collect();
    let plan = Plan { program, folder: home.path().join("clusters"), contexts, nodes: 1 };
    let set = plan.held().unwrap_or_else(|why| panic!("{why}"));
    Some(Clusters { set, kubectl, _folder: Some(home) })
}

/// The installed kubectl.
pub fn kubectl() -> Option<PathBuf> {
    installed("kubectl").map_err(|reason| skip(&reason)).ok()
}

/// The installed helm.
pub fn helm() -> Option<PathBuf> {
    installed("helm").map_err(|reason| skip(&reason)).ok()
}

fn installed(program: &str) -> Result<PathBuf, String> {
    let path = tools().join("bin").join(program);
    if path.exists() { Ok(path) } else { Err(format!("`{program}` is not installed: run `cargo xtask tools`")) }
}

/// The folder that `cargo xtask tools` fills.
fn tools() -> PathBuf {
    std::env::var_os("PINTLE_TOOLS").map_or_else(|| root().join("target/tools"), PathBuf::from)
}

/// Where cargo builds.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

impl Clusters {
    /// The names of the contexts, the current one first.
    pub fn contexts(&self) -> &[String] {
        self.set.contexts()
    }

    /// The kubeconfig with all contexts, as an administrator.
    pub fn kubeconfig(&self) -> PathBuf {
        self.set.kubeconfig()
    }

    /// The same contexts as the user `alice` of the group `developers`, who has no role in any cluster.
    pub fn limited_kubeconfig(&self) -> PathBuf {
        self.set.limited_kubeconfig()
    }

    /// The set itself: who runs, and signals to API servers.
    pub fn set(&self) -> &Set {
        &self.set
    }

    /// Ends a private set and looks that nothing is left of it. Dropping it ends it too, but tells no error.
    ///
    /// # Panics
    /// Something is left.
    pub fn stop(self) {
        self.set.stop().unwrap_or_else(|why| panic!("{why}"));
    }

    /// Runs kubectl as an administrator of one cluster. A request that gets no answer ends after a minute.
    ///
    /// # Panics
    /// kubectl does not start.
    pub fn kubectl(&self, context: &str, arguments: &[&str]) -> Answer {
        self.run(&self.kubectl, &["--request-timeout=60s", "--context", context], arguments, "")
    }

    /// The same with something to read on stdin, as `-f -` wants.
    ///
    /// # Panics
    /// kubectl does not start.
    pub fn kubectl_fed(&self, context: &str, arguments: &[&str], stdin: &str) -> Answer {
        self.run(&self.kubectl, &["--request-timeout=60s", "--context", context], arguments, stdin)
    }

    /// Runs helm as an administrator of one cluster; none where it is missing.
    ///
    /// # Panics
    /// helm does not start.
    pub fn helm(&self, context: &str, arguments: &[&str]) -> Option<Answer> {
        Some(self.run(&helm()?, &["--kube-context", context], arguments, ""))
    }

    /// A new namespace that pods can be created in. It is deleted when the value goes.
    ///
    /// # Panics
    /// It cannot be made.
    pub fn namespace(&self, context: &str, word: &str) -> Namespace<'_> {
        Namespace::new(self, context, word)
    }

    /// In an empty environment; what a program remembers lies beside the clusters and goes with them.
    fn run(&self, program: &Path, first: &[&str], arguments: &[&str], stdin: &str) -> Answer {
        let mut child = Command::new(program)
            .args(first)
            .args(arguments)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.set.folder().join("home"))
            .env("KUBECONFIG", self.kubeconfig())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|why| panic!("cannot start {}: {why}", program.display()));
        // both read their input to its end before they say anything; one that fails before that closes it
        let _ = child.stdin.take().expect("a piped stdin").write_all(stdin.as_bytes());
        let output = child.wait_with_output().expect("the program can be waited for");
        Answer {
            command: [first, arguments].concat().join(" "),
            good: output.status.success(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// What kubectl or helm answered.
#[derive(Debug)]
pub struct Answer {
    /// Its arguments.
    pub command: String,
    /// Whether it ended well.
    pub good: bool,
    /// Its output.
    pub stdout: String,
    /// Its complaints.
    pub stderr: String,
}

impl Answer {
    /// The output of a program that ended well.
    ///
    /// # Panics
    /// It did not.
    pub fn text(self) -> String {
        assert!(self.good, "`{}` failed: {}{}", self.command, self.stdout, self.stderr);
        self.stdout
    }

    /// The same, as JSON.
    ///
    /// # Panics
    /// It did not end well, or said something else.
    pub fn json(self) -> Value {
        let text = self.text();
        serde_json::from_str(&text).unwrap_or_else(|why| panic!("{why} in {text}"))
    }
}
