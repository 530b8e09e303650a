//! Credential plug-ins: programs that print an `ExecCredential` (`client.authentication.k8s.io/v1` and `v1beta1`).

use crate::{Cause, ClusterEntry, Exec, FleetOptions, InteractiveMode, Material, PluginFault, Stage, cluster::Bounds};
use base64::{Engine, engine::general_purpose::STANDARD};
use futures::{
    FutureExt,
    future::{BoxFuture, Shared, WeakShared},
};
use pintle_core::{Digest, Secret};
use pintle_process::{Ended, Environment, Run, Spawn, SpawnError};
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    fmt,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

const GROUP: &str = "client.authentication.k8s.io";
/// Most bytes of a plug-in's answer; a token with certificates is a tenth of it.
const OUTPUT_LIMIT: usize = 256 * 1024;
/// A credential is renewed so long before it expires, so that it does not expire on the way.
const SKEW: Duration = Duration::from_secs(10);

/// What a plug-in gave.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Granted {
    pub(crate) token: Option<Secret>,
    /// Certificate and key, PEM.
    pub(crate) certificate: Option<(Vec<u8>, Secret)>,
    expires: Option<SystemTime>,
}

impl fmt::Debug for Granted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Granted")
            .field("token", &self.token)
            .field("certificate", &self.certificate.as_ref().map(|(_, key)| key))
            .field("expires", &self.expires)
            .finish()
    }
}

impl Granted {
    fn is_valid(&self) -> bool {
        self.expires.is_none_or(|expires| SystemTime::now() + SKEW < expires)
    }
}

type Running = BoxFuture<'static, Result<Arc<Granted>, Cause>>;
type Flight = Shared<Running>;

/// One plug-in as one user entry runs it: its credential, and the run that is under way.
#[derive(Default)]
pub(crate) struct Plugin {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    granted: Option<Arc<Granted>>,
    // Weak: when nobody waits any longer, the run ends and its child with it.
    flight: Option<WeakShared<Running>>,
}

/// All plug-ins: contexts that run the same one in the same way share its credential.
#[derive(Default)]
pub(crate) struct Plugins {
    known: Mutex<HashMap<Digest, Arc<Plugin>>>,
}

impl Plugins {
    /// The plug-in of a user entry.
    pub(crate) fn of(&self, exec: &Exec, cluster: &ClusterEntry) -> Arc<Plugin> {
        let key = key(exec, cluster);
        Arc::clone(self.known.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default())
    }
}

/// What makes two runs the same.
fn key(exec: &Exec, cluster: &ClusterEntry) -> Digest {
    let mut parts: Vec<Vec<u8>> =
        vec![exec.command.as_os_str().as_encoded_bytes().to_vec(), exec.api_version.clone().into()];
    parts.extend(exec.args.iter().map(|arg| arg.clone().into_bytes()));
    parts.push(b"environment".to_vec());
    parts.extend(exec.env.iter().map(|(name, value)| format!("{name}={}", value.expose()).into_bytes()));
    if exec.provide_cluster_info {
        parts.push(info(exec, cluster).to_string().into_bytes());
    }
    Digest::of_parts(parts.iter().map(Vec::as_slice))
}

impl Plugin {
    /// A credential: the kept one while it is valid and not `refused` by the server, else that of one run, however
    /// many calls wait for it.
    ///
    /// A call waits as long as for a connection. When its time is up the run goes on to its own limit, and the next
    /// call finds its credential; when every call gives up, the run ends at once.
    pub(crate) async fn credential(
        self: &Arc<Self>,
        exec: &Exec,
        cluster: &ClusterEntry,
        options: &Arc<FleetOptions>,
        bounds: &Bounds,
        refused: Option<&Arc<Granted>>,
    ) -> Result<Arc<Granted>, Cause> {
        let flight = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(granted) = &state.granted
                && granted.is_valid()
                && refused.is_none_or(|refused| !Arc::ptr_eq(refused, granted))
            {
                return Ok(Arc::clone(granted));
            }
            state.granted = None;
            match state.flight.as_ref().and_then(WeakShared::upgrade) {
                Some(flight) => flight,
                None => {
                    let flight = self.begin(exec, cluster, options);
                    state.flight = flight.downgrade();
                    flight
                }
            }
        };
        let (since, until) = (Instant::now(), bounds.connect_by());
        let waited = bounds.stage(Stage::Plugin, since, until, flight.clone()).await;
        if matches!(waited, Err(Cause::TimedOut { .. })) {
            tokio::spawn(flight);
        }
        waited?
    }

    fn begin(self: &Arc<Self>, exec: &Exec, cluster: &ClusterEntry, options: &Arc<FleetOptions>) -> Flight {
        let (plugin, exec, cluster, options) = (Arc::clone(self), exec.clone(), cluster.clone(), Arc::clone(options));
        async move {
            let result = run(&exec, &cluster, &options).await.map(Arc::new);
            let mut state = plugin.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.flight = None;
            state.granted = result.as_ref().ok().cloned();
            result
        }
        .boxed()
        .shared()
    }
}

async fn run(exec: &Exec, cluster: &ClusterEntry, options: &FleetOptions) -> Result<Granted, Cause> {
    let program = exec.command.display().to_string();
    let failed = |fault| Cause::PluginFailed { program: program.clone(), fault };
    if exec.interactive_mode == InteractiveMode::Always {
        return Err(failed(PluginFault::NeedsTerminal));
    }
    let version = exec.api_version.strip_prefix(GROUP).and_then(|rest| rest.strip_prefix('/'));
    if !matches!(version, Some("v1" | "v1beta1")) {
        let why = format!("exec apiVersion `{}` is neither {GROUP}/v1 nor {GROUP}/v1beta1", exec.api_version);
        return Err(Cause::BadConfig {
            why,
            hint: Some("renew the kubeconfig with the program that wrote it".to_owned()),
        });
    }
    let spawn = Spawn::new(&exec.command).args(&exec.args).environment(environment(exec, cluster, options));
    let limits = Run { limit: OUTPUT_LIMIT, timeout: Some(options.plugin_deadline), ..Run::default() };
    let captured = spawn.run(limits).await.map_err(|error| match error {
        SpawnError::Missing { .. } => Cause::PluginMissing {
            program: program.clone(),
            install: exec.install_hint.as_deref().map(crate::errors::said),
        },
        // The system's words name the program and the reason, nothing of what it printed.
        other => failed(PluginFault::NotRun(other.to_string())),
    })?;
    match captured.ended {
        Ended::Itself if captured.exit.success() => {}
        Ended::TimedOut { limit, .. } => return Err(failed(PluginFault::TimedOut(limit))),
        Ended::Itself | Ended::Cancelled { .. } => {
            return Err(failed(PluginFault::Ended(captured.exit.status.to_string())));
        }
    }
    let output = captured
        .stdout
        .whole()
        .ok_or_else(|| failed(PluginFault::Junk(format!("it printed more than {OUTPUT_LIMIT} bytes"))))?;
    understand(&output, &exec.api_version).map_err(|why| failed(PluginFault::Junk(why)))
}

/// The clean minimum, what steers the clouds' programs, the entry's own variables, and what it is told of the cluster.
fn environment(exec: &Exec, cluster: &ClusterEntry, options: &FleetOptions) -> Environment {
    let mut environment = Environment::clean_from(options.environment.clone());
    for (name, value) in &options.environment {
        let passes = |rule: &String| match rule.strip_suffix('*') {
            Some(beginning) => name.to_str().is_some_and(|name| name.starts_with(beginning)),
            None => name.to_str() == Some(rule),
        };
        if options.plugin_variables.iter().any(passes) {
            environment = environment.set(name, value);
        }
    }
    for (name, value) in &exec.env {
        environment = environment.set(name, value.expose());
    }
    environment.set("KUBERNETES_EXEC_INFO", info(exec, cluster).to_string())
}

/// The plug-in's input. Never interactive; the cluster only where the entry asks for it.
fn info(exec: &Exec, cluster: &ClusterEntry) -> Value {
    let mut spec = json!({"interactive": false});
    if exec.provide_cluster_info {
        let mut told = json!({"server": cluster.server});
        if let Some(name) = &cluster.tls_server_name {
            told["tls-server-name"] = json!(name);
        }
        if cluster.insecure_skip_tls_verify {
            told["insecure-skip-tls-verify"] = json!(true);
        }
        if let Some(authority) = cluster.certificate_authority.as_ref().and_then(bytes) {
            told["certificate-authority-data"] = json!(STANDARD.encode(authority));
        }
        if let Some(proxy) = &cluster.proxy_url {
            told["proxy-url"] = json!(proxy.expose());
        }
        if let Some(config) = &cluster.exec_extension {
            told["config"] = config.clone();
        }
        spec["cluster"] = told;
    }
    json!({"apiVersion": exec.api_version, "kind": "ExecCredential", "spec": spec})
}

fn bytes(material: &Material) -> Option<Vec<u8>> {
    match material {
        Material::Data(bytes) => Some(bytes.clone()),
        Material::File(path) => read(path),
    }
}

fn read(path: &Path) -> Option<Vec<u8>> {
    // Where the file cannot be read, the connection itself will say so.
    std::fs::read(path).ok()
}

/// The credential in a plug-in's output. What is wrong is said without repeating any of it.
fn understand(output: &[u8], asked: &str) -> Result<Granted, String> {
    let value: Value = serde_json::from_slice(output).map_err(|error| {
        if output.trim_ascii().is_empty() {
            "it printed nothing".to_owned()
        } else {
            format!("what it printed is no JSON, at line {}, column {}", error.line(), error.column())
        }
    })?;
    if value["kind"] != "ExecCredential" {
        return Err("what it printed is no `ExecCredential`".to_owned());
    }
    if value["apiVersion"] != asked {
        return Err(format!("its `apiVersion` is not the {asked} it was asked for"));
    }
    let status = &value["status"];
    let text = |name: &str| status[name].as_str().filter(|text| !text.is_empty());
    let token = text("token").map(|token| Secret::new("token of the plug-in", token));
    let certificate = match (text("clientCertificateData"), text("clientKeyData")) {
        (Some(certificate), Some(key)) => {
            Some((certificate.as_bytes().to_vec(), Secret::new("key of the plug-in", key)))
        }
        (None, None) => None,
        _ => return Err("it gives a certificate without key, or a key without certificate".to_owned()),
    };
    if token.is_none() && certificate.is_none() {
        return Err("it gives neither token nor certificate".to_owned());
    }
    let expires = match text("expirationTimestamp") {
        None => None,
        Some(time) => Some(
            time.parse::<jiff::Timestamp>()
                .map(SystemTime::from)
                .map_err(|_| "its `expirationTimestamp` is no RFC 3339 time".to_owned())?,
        ),
    };
    Ok(Granted { token, certificate, expires })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pintle_core::Call;
    use std::path::PathBuf;

    /// What every plug-in here prints when it is well.
    const GOOD: &str = r#"echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"canary-token"}}'"#;

    struct Trial {
        exec: Exec,
        cluster: ClusterEntry,
        options: Arc<FleetOptions>,
        plugin: Arc<Plugin>,
        folder: tempfile::TempDir,
    }

    /// A plug-in of a few lines of shell, which are given to the shell and not written to a file.
    fn script(lines: &str) -> Trial {
        let folder = tempfile::tempdir().unwrap();
        let exec = Exec {
            command: PathBuf::from("/bin/sh"),
            args: vec!["-c".to_owned(), lines.to_owned()],
            env: vec![("FOLDER".to_owned(), Secret::new("FOLDER", folder.path().to_str().unwrap()))],
            api_version: format!("{GROUP}/v1"),
            ..Exec::default()
        };
        let options = FleetOptions {
            plugin_deadline: Duration::from_millis(400),
            connect_deadline: Duration::from_secs(20),
            ..FleetOptions::default()
        };
        let options = options.with_variable("PATH", "/usr/bin:/bin");
        Trial { exec, cluster: ClusterEntry::default(), options: Arc::new(options), plugin: Arc::default(), folder }
    }

    impl Trial {
        fn patient(mut self) -> Self {
            Arc::get_mut(&mut self.options).unwrap().plugin_deadline = Duration::from_secs(20);
            self
        }

        async fn ask(&self, refused: Option<&Arc<Granted>>) -> Result<Arc<Granted>, Cause> {
            let bounds = Bounds::of(&Call::detached(), &self.options);
            self.plugin.credential(&self.exec, &self.cluster, &self.options, &bounds, refused).await
        }

        async fn token(&self) -> String {
            self.ask(None).await.unwrap().token.as_ref().unwrap().expose().to_owned()
        }

        async fn fault(&self) -> PluginFault {
            match self.ask(None).await.unwrap_err() {
                Cause::PluginFailed { fault, .. } => fault,
                other => panic!("{other:?}"),
            }
        }

        fn runs(&self) -> usize {
            std::fs::read_to_string(self.folder.path().join("runs")).map_or(0, |text| text.lines().count())
        }
    }

    fn counted(lines: &str) -> String {
        format!("echo run >> \"$FOLDER/runs\"\n{lines}")
    }

    #[tokio::test]
    async fn an_6_08_it_runs_once_for_twenty_calls_and_once_more_after_a_refusal() {
        let trial = script(&counted(&format!("sleep 0.1\n{GOOD}"))).patient();
        let all = futures::future::join_all((0..20).map(|_| trial.ask(None))).await;
        assert_eq!(all.iter().filter(|granted| granted.is_ok()).count(), 20);
        for _ in 0..100 {
            assert_eq!(trial.token().await, "canary-token");
        }
        assert_eq!(trial.runs(), 1);
        let first = trial.ask(None).await.unwrap();
        let again = futures::future::join_all((0..20).map(|_| trial.ask(Some(&first)))).await;
        assert!(again.iter().all(|granted| !Arc::ptr_eq(granted.as_ref().unwrap(), &first)));
        assert_eq!(trial.runs(), 2, "one more for all who were refused");
    }

    #[tokio::test]
    async fn an_6_08_it_never_has_a_terminal_and_its_input_is_empty() {
        let trial =
            script(&format!("if [ -t 0 ] || [ -t 1 ]; then exit 9; fi\nread line\n[ -z \"$line\" ] || exit 8\n{GOOD}"));
        assert_eq!(trial.patient().token().await, "canary-token");
        let mut always = script(&counted(GOOD));
        always.exec.interactive_mode = InteractiveMode::Always;
        assert_eq!(always.fault().await, PluginFault::NeedsTerminal);
        assert_eq!(always.runs(), 0);
    }

    #[tokio::test]
    async fn an_6_08_one_that_sleeps_is_ended_with_all_it_started() {
        let trial = script("echo $$ > \"$FOLDER/pid\"\nsleep 60 & wait");
        assert_eq!(trial.fault().await, PluginFault::TimedOut(Duration::from_millis(400)));
        let pid = std::fs::read_to_string(trial.folder.path().join("pid")).unwrap();
        assert!(!Path::new("/proc").join(pid.trim()).exists(), "it is gone, and reaped");
    }

    #[tokio::test]
    async fn an_6_08_an_6_13_junk_is_told_without_repeating_it() {
        let head = r#""apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential""#;
        let table = [
            ("echo canary".to_owned(), "is no JSON, at line 1"),
            (":".to_owned(), "it printed nothing"),
            ("echo '{\"kind\":\"canary\"}'".to_owned(), "is no `ExecCredential`"),
            ("echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"canary\"}'".to_owned(), "its `apiVersion` is not"),
            (format!("echo '{{{head},\"status\":{{\"token\":[\"canary\"]}}}}'"), "neither token nor certificate"),
            (format!("echo '{{{head},\"status\":{{\"clientKeyData\":\"canary\"}}}}'"), "key without certificate"),
            (
                format!("echo '{{{head},\"status\":{{\"token\":\"t\",\"expirationTimestamp\":\"canary\"}}}}'"),
                "no RFC 3339 time",
            ),
            ("yes canary | head -c 300000".to_owned(), "more than 262144 bytes"),
            ("echo canary; echo canary >&2; exit 3".to_owned(), "ended with exit status 3"),
        ];
        for (lines, wanted) in table {
            let cause = script(&lines).patient().ask(None).await.unwrap_err();
            let told = format!("{cause} {:?} {cause:?}", cause.hint());
            assert!(told.contains(wanted), "{lines}: {told}");
            assert!(!told.contains("canary"), "{told}");
        }
    }

    #[tokio::test]
    async fn an_6_08_one_that_is_not_there_says_how_to_get_it() {
        let mut trial = script("");
        trial.exec.command = PathBuf::from("pintle-trial-no-such-plugin");
        trial.exec.install_hint = Some("brew install\x1b[31m it".to_owned());
        let cause = trial.ask(None).await.unwrap_err();
        assert_eq!(cause.code(), "plugin_missing");
        assert_eq!(cause.hint().unwrap(), "brew install it", "foreign words without controls");
        trial.exec.install_hint = None;
        assert!(trial.ask(None).await.unwrap_err().hint().unwrap().starts_with("install `pintle-trial"));
        trial.exec.command = trial.folder.path().to_owned();
        assert!(matches!(trial.fault().await, PluginFault::NotRun(_)));
    }

    #[tokio::test]
    async fn what_it_gives_is_kept_until_it_expires() {
        let until = |seconds: i64| {
            let time = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(seconds);
            counted(&GOOD.replace("\"token\"", &format!("\"expirationTimestamp\":\"{time}\",\"token\"")))
        };
        let long = script(&until(3600)).patient();
        long.token().await;
        long.token().await;
        assert_eq!(long.runs(), 1);
        let short = script(&until(5)).patient();
        short.token().await;
        short.token().await;
        assert_eq!(short.runs(), 2, "what expires within seconds is not used again");
    }

    #[tokio::test]
    async fn its_environment_is_small_and_tells_it_of_the_cluster_when_asked() {
        let mut trial = script(&format!("env > \"$FOLDER/env\"\n{GOOD}")).patient();
        let options = (*trial.options).clone();
        let options = options
            .with_variable("AWS_PROFILE", "prod")
            .with_variable("SOMETHING_ELSE", "x")
            .with_variable("LD_PRELOAD", "/x.so");
        trial.options = Arc::new(options);
        trial.exec.provide_cluster_info = true;
        trial.cluster = ClusterEntry {
            server: "https://api:6443".to_owned(),
            certificate_authority: Some(Material::Data(b"pem".to_vec())),
            exec_extension: Some(json!({"audience": "x"})),
            ..ClusterEntry::default()
        };
        trial.token().await;
        let env = std::fs::read_to_string(trial.folder.path().join("env")).unwrap();
        let value = |name: &str| env.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        assert_eq!(value("AWS_PROFILE"), Some("prod"), "what steers the clouds' programs");
        assert_eq!((value("SOMETHING_ELSE"), value("LD_PRELOAD")), (None, None));
        let info: Value = serde_json::from_str(value("KUBERNETES_EXEC_INFO").unwrap()).unwrap();
        assert_eq!(
            info,
            json!({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "spec": {"interactive": false,
                "cluster": {"server": "https://api:6443", "certificate-authority-data": "cGVt", "config": {"audience": "x"}}}})
        );
    }

    #[tokio::test]
    async fn a_call_that_gives_up_waiting_leaves_its_run_to_the_next() {
        let mut trial = script(&counted(&format!("sleep 0.5\n{GOOD}"))).patient();
        let mut hasty = (*trial.options).clone();
        hasty.connect_deadline = Duration::from_millis(50);
        let patient = std::mem::replace(&mut trial.options, Arc::new(hasty));
        let cause = trial.ask(None).await.unwrap_err();
        assert_eq!((cause.code(), cause.detail()), ("timed_out", Some("plugin")));
        trial.options = patient;
        assert_eq!(trial.token().await, "canary-token");
        assert_eq!(trial.runs(), 1);
    }

    #[tokio::test]
    async fn old_and_new_versions_of_the_interface_are_understood_and_no_other() {
        let mut trial = script(&GOOD.replace("io/v1", "io/v1beta1")).patient();
        trial.exec.api_version = format!("{GROUP}/v1beta1");
        assert_eq!(trial.token().await, "canary-token");
        trial.exec.api_version = format!("{GROUP}/v1alpha1");
        trial.plugin = Arc::default();
        assert_eq!(trial.ask(None).await.unwrap_err().code(), "bad_config");
    }
}
