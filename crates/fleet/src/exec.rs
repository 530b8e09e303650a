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

type Flight = Shared<BoxFuture<'static, Result<Arc<Granted>, Cause>>>;

/// One plug-in as one user entry runs it: its credential, and the run that is under way.
#[derive(Default)]
pub(crate) struct Plugin {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    granted: Option<Arc<Granted>>,
    // Weak: when nobody waits any longer, the run ends and its child with it.
    flight: Option<WeakShared<BoxFuture<'static, Result<Arc<Granted>, Cause>>>>,
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
