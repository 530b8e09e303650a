//! `audit_kubeconfig`

use super::{get_cluster_health::Version, list_clusters::broken};
use crate::{Host, reading::OLD_FORMS};
use pintle_core::{Answer, Call, CutRows, Foreign, Outcome, Query, Row, Rows, Spellings, Stop, View};
use pintle_fleet::{
    Cause, Cluster, ClusterError, ClusterValue, FleetValue, Identity, Kubeconfig, SectionOutcome, Stage, Told,
    fan_values_over,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// Audit the kubeconfig: what answers, what is double, broken or unused.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct AuditKubeconfig {
    /// For each cluster
    #[schemars(range(min = 1, max = 30))]
    timeout_seconds: u64,
}

impl Default for AuditKubeconfig {
    fn default() -> Self {
        Self { timeout_seconds: 5 }
    }
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Audit {
    reachable: usize,
    unreachable: usize,
    contexts: Rows<Audited>,
    /// Contexts that lead to one cluster
    #[serde(skip_serializing_if = "Vec::is_empty")]
    same_cluster: Vec<Vec<String>>,
    /// Cluster entries that no context uses
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unused_clusters: Vec<String>,
    /// User entries that no context uses
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unused_users: Vec<String>,
    /// What is odd about the files
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// Commands that remove only what can lead nowhere; never what merely did not answer
    #[serde(skip_serializing_if = "Vec::is_empty")]
    commands: Vec<String>,
}

/// How sure it is that a context is of no more use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Grade {
    /// It answers.
    Good,
    /// It does not answer now: network, VPN, a server that is down.
    Passing,
    /// Somebody must renew or install something.
    Mend,
    /// Its entries lead nowhere.
    Broken,
}

/// A context.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Audited {
    context: String,
    grade: Grade,
    /// Name of the cluster entry
    cluster_entry: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// Why it does not answer
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Told>,
    /// What makes its entries useless
    #[serde(skip_serializing_if = "Option::is_none")]
    broken: Option<String>,
}

impl Row for Audited {
    fn key(&self) -> String {
        self.context.clone()
    }
}

impl Audited {
    fn cells(&self) -> Vec<String> {
        let grade = match self.grade {
            Grade::Good => "good",
            Grade::Passing => "does not answer",
            Grade::Mend => "to mend",
            Grade::Broken => "broken",
        };
        let why = self.error.as_ref().map(|error| match &error.hint {
            Some(hint) => format!("{} ({hint})", error.message),
            None => error.message.clone(),
        });
        vec![
            self.context.clone(),
            grade.to_owned(),
            self.server.clone().unwrap_or_default(),
            self.version.clone().unwrap_or_default(),
            why.or_else(|| self.broken.clone()).unwrap_or_default(),
        ]
    }
}

impl Answer for Audit {
    fn view(&self) -> View {
        let mut lines = self.notes.clone();
        if self.contexts.is_empty() {
            lines.insert(0, "no contexts in the kubeconfig".to_owned());
            return View::text(lines.join("\n"));
        }
        for same in &self.same_cluster {
            lines.push(format!("one cluster, {} contexts: {}", same.len(), same.join(", ")));
        }
        if !self.unused_clusters.is_empty() {
            lines.push(format!("cluster entries that no context uses: {}", self.unused_clusters.join(", ")));
        }
        if !self.unused_users.is_empty() {
            lines.push(format!("user entries that no context uses: {}", self.unused_users.join(", ")));
        }
        if !self.commands.is_empty() {
            lines.push("to remove what can lead nowhere:".to_owned());
            lines.extend(self.commands.iter().map(|command| format!("  {command}")));
        }
        if lines.is_empty() && self.unreachable == 0 {
            lines.push("all good".to_owned());
        }
        let head = format!("{} of {} contexts answer", self.reachable, self.reachable + self.unreachable);
        let columns = ["CONTEXT", "GRADE", "SERVER", "VERSION", "WHY"];
        let view = View::text(head).and_table(columns, self.contexts.iter().map(Audited::cells).collect::<Vec<_>>());
        if lines.is_empty() { view } else { view.and_text(lines.join("\n")) }
    }

    fn outcome(&self) -> Outcome {
        if self.unreachable > 0 || !self.commands.is_empty() { Outcome::Findings } else { Outcome::Ok }
    }

    fn rows(&mut self) -> Option<&mut dyn CutRows> {
        Some(&mut self.contexts)
    }
}

/// What a context that answers says.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Answered {
    version: String,
}

impl FleetValue for Answered {
    fn view(&self) -> View {
        View::text(self.version.clone())
    }
}

impl Query for AuditKubeconfig {
    type Host = Host;
    type Answer = Audit;
    const NAME: &'static str = "audit_kubeconfig";
    const SPELLINGS: Spellings = OLD_FORMS;
    const PAGED: bool = true;

    async fn run(self, host: &Host, call: &Call) -> Result<Audit, Stop> {
        let kubeconfig = host.fleet().kubeconfig().await?;
        if kubeconfig.is_absent() {
            return Err(kubeconfig.without_contexts().into());
        }
        let mut selection = host.fleet().every_context(call).await?;
        // A context without its entries is told from the file: there is nobody to ask.
        let (dead, alive): (Vec<String>, Vec<String>) =
            selection.chosen.drain(..).partition(|name| broken(&kubeconfig, name).is_some());
        selection.chosen = alive;
        let patience = Duration::from_secs(self.timeout_seconds);
        let asked =
            fan_values_over(host.fleet(), selection, call, |cluster| async move { version(&cluster, patience).await });
        Ok(told(&kubeconfig, asked.await?.clusters.iter(), &dead))
    }
}

async fn version(cluster: &Cluster, patience: Duration) -> Result<Answered, ClusterError> {
    match tokio::time::timeout(patience, cluster.get_json::<Version>("/version")).await {
        Ok(version) => Ok(Answered { version: Foreign::one_line(&version?.git_version) }),
        Err(_) => {
            let cause = Cause::TimedOut { stage: Stage::Answer, after: patience };
            Err(ClusterError { cluster: cluster.name().to_owned(), cause })
        }
    }
}

/// How sure it is that nobody will hear of a context again. Nothing that a network can cause is more than passing.
fn grade(error: &Told) -> Grade {
    match error.code {
        "bad_config" | "bad_certificate" | "unauthorized" | "plugin_missing" | "plugin_failed" => Grade::Mend,
        // It answered, if only to refuse: the cluster is there.
        "forbidden" => Grade::Good,
        _ => Grade::Passing,
    }
}

fn told<'a>(
    kubeconfig: &Kubeconfig,
    asked: impl Iterator<Item = &'a ClusterValue<Answered>>,
    dead: &[String],
) -> Audit {
    let row = |name: &str, grade, version, error, broken| {
        let context = kubeconfig.contexts.get(name);
        let user = context.map(|context| context.user.clone()).filter(|user| !user.is_empty());
        Audited {
            context: name.to_owned(),
            grade,
            cluster_entry: context.map(|context| context.cluster.clone()).unwrap_or_default(),
            user,
            server: kubeconfig.cluster_of(name).map(|cluster| cluster.server.clone()),
            version,
            error,
            broken,
        }
    };
    let mut notes = kubeconfig.notes.clone();
    let mut rows = Vec::new();
    for section in asked {
        let name = section.cluster.as_str();
        match (&section.value, &section.error) {
            (Some(value), _) => rows.push(row(name, Grade::Good, Some(value.version.clone()), None, None)),
            (None, Some(error)) => rows.push(row(name, grade(error), None, Some(error.clone()), None)),
            (None, None) => {
                debug_assert_ne!(section.outcome, SectionOutcome::Ok);
                notes.extend(section.notes.iter().map(|note| format!("{name}: {note}")));
            }
        }
    }
    rows.extend(dead.iter().map(|name| row(name, Grade::Broken, None, None, broken(kubeconfig, name))));
    let reachable = rows.iter().filter(|row| row.grade == Grade::Good).count();
    let used = |pick: fn(&pintle_fleet::ContextEntry) -> &String| -> BTreeSet<&String> {
        kubeconfig.contexts.values().map(pick).collect()
    };
    let (clusters, users) = (used(|context| &context.cluster), used(|context| &context.user));
    let unused_clusters: Vec<_> = kubeconfig.clusters.keys().filter(|name| !clusters.contains(name)).cloned().collect();
    let unused_users: Vec<_> = kubeconfig.users.keys().filter(|name| !users.contains(name)).cloned().collect();
    Audit {
        reachable,
        unreachable: rows.len() - reachable,
        same_cluster: same_cluster(kubeconfig, &rows),
        commands: commands(dead, &unused_clusters, &unused_users),
        contexts: Rows::new(rows),
        unused_clusters,
        unused_users,
        notes,
    }
}

fn same_cluster(kubeconfig: &Kubeconfig, rows: &[Audited]) -> Vec<Vec<String>> {
    let mut groups: BTreeMap<Identity, Vec<String>> = BTreeMap::new();
    for row in rows {
        if let Some(identity) = kubeconfig.cluster_of(&row.context).and_then(Identity::of) {
            groups.entry(identity).or_default().push(row.context.clone());
        }
    }
    let mut several: Vec<_> = groups.into_values().filter(|names| names.len() > 1).collect();
    several.iter_mut().for_each(|names| names.sort());
    several.sort();
    several
}

/// Commands that remove entries which can lead nowhere, each word quoted for a shell.
fn commands(broken: &[String], clusters: &[String], users: &[String]) -> Vec<String> {
    let lines = |what: &str, names: &[String]| -> Vec<String> {
        names.iter().map(|name| format!("kubectl config {what} {}", quoted(name))).collect()
    };
    [lines("delete-context", broken), lines("delete-cluster", clusters), lines("delete-user", users)].concat()
}

/// A word that a POSIX shell takes as it is.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':' | '@' | '=' | '+' | ',');
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(plain) {
        return word.to_owned();
    }
    let inner = word.replace('\'', "'\\''");
    // A name that begins with a dash would be taken for a flag.
    if word.starts_with('-') { format!("-- '{inner}'") } else { format!("'{inner}'") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kt_audit_kubeconfig_kw_45_words_are_quoted_for_a_shell() {
        assert_eq!(quoted("arn:aws:eks:eu-west-1:1:cluster/a"), "arn:aws:eks:eu-west-1:1:cluster/a");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's; rm -rf $HOME"), "'it'\\''s; rm -rf $HOME'");
        assert_eq!(quoted("-x"), "-- '-x'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn kt_audit_kubeconfig_kw_45_what_a_network_can_cause_is_passing() {
        let told = |code| Told { code, detail: None, message: String::new(), hint: None };
        for code in ["timed_out", "unreachable", "refused", "dns", "busy", "bad_answer"] {
            assert_eq!(grade(&told(code)), Grade::Passing, "{code}");
        }
        assert_eq!((grade(&told("unauthorized")), grade(&told("forbidden"))), (Grade::Mend, Grade::Good));
    }
}
