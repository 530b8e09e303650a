//! What the diagnostic operations answer: counts first, then the findings rolled up, worst first.

use crate::{
    reading::Denied,
    rules::{
        finding::{Finding, ObjectRef, Severity},
        resources::nodes::Load,
        roll_up::{RollUp, Rolled},
    },
};
use k8s_openapi::{NamespaceResourceScope, Resource};
use pintle_core::{Answer, Call, CutRows, Failure, Outcome, Spellings, View};
use pintle_fleet::{Cause, Cluster, ClusterError, Fanned, FleetRow, Found, ListParams, Listing, ResourceType};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

impl FleetRow for Rolled {
    const COLUMNS: &'static [&'static str] =
        &["SEVERITY", "NAMESPACE", "OBJECT", "CONTAINER", "COUNT", "FINDING", "WHAT", "SINCE", "NEXT"];
    const NOTHING: &'static str = "no issues found";
    const FINDING: bool = true;
    const BY_CLUSTER: bool = false;

    fn cells(&self) -> Vec<String> {
        vec![
            self.severity.word().to_owned(),
            self.owner.namespace.clone().unwrap_or_default(),
            format!("{}/{}", self.owner.kind.to_ascii_lowercase(), self.owner.name),
            self.container.clone().unwrap_or_default(),
            self.count.to_string(),
            self.id.to_owned(),
            self.message.clone(),
            self.since.map(|since| since.to_string()).unwrap_or_default(),
            self.next_step.clone(),
        ]
    }
}

/// Counts over all clusters, before any row is left off.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Counts {
    /// Objects looked at, by kind.
    pub(crate) looked_at: BTreeMap<&'static str, usize>,
    /// Findings, each object counted.
    pub(crate) findings: usize,
    /// Findings by severity, worst first.
    pub(crate) by_severity: BySeverity,
    /// Findings by what they are.
    pub(crate) by_finding: BTreeMap<&'static str, usize>,
    /// Pods by class of service.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) by_qos: BTreeMap<&'static str, usize>,
    /// The fullest nodes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) fullest_nodes: Vec<Fullness>,
}

/// How many nodes are told of; every one that is too full has its own row.
const FULLEST: usize = 5;

/// What the pods of a node request beside what it can give.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub(crate) struct Fullness {
    /// Its cluster.
    cluster: String,
    /// Its name.
    node: String,
    /// Whether nothing new is scheduled on it.
    unschedulable: bool,
    /// By resource: `12 of 16 (75 %)`.
    requested: BTreeMap<String, String>,
    #[serde(skip)]
    percent: i128,
}

impl Fullness {
    fn words(&self) -> String {
        let shares: Vec<String> = self.requested.iter().map(|(name, share)| format!("{name} {share}")).collect();
        let cordoned = if self.unschedulable { " (unschedulable)" } else { "" };
        format!("{}/{}{cordoned}: {}", self.cluster, self.node, shares.join(", "))
    }
}

/// One count for each severity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct BySeverity {
    pub critical: usize,
    pub high: usize,
    pub medium: usize,
    pub low: usize,
    pub info: usize,
}

impl BySeverity {
    pub(crate) fn add(&mut self, severity: Severity, count: usize) {
        *match severity {
            Severity::Critical => &mut self.critical,
            Severity::High => &mut self.high,
            Severity::Medium => &mut self.medium,
            Severity::Low => &mut self.low,
            Severity::Info => &mut self.info,
        } += count;
    }

    /// `3 critical, 1 low`.
    pub(crate) fn words(&self) -> String {
        let counts = [self.critical, self.high, self.medium, self.low, self.info];
        let words = Severity::ALL.iter().zip(counts).filter(|(_, count)| *count > 0);
        words.map(|(severity, count)| format!("{count} {severity}")).collect::<Vec<_>>().join(", ")
    }
}

impl Counts {
    /// Counts one finding of an object.
    fn add(&mut self, finding: &Finding) {
        self.findings += 1;
        self.by_severity.add(finding.severity, 1);
        *self.by_finding.entry(finding.id).or_default() += 1;
    }

    fn merge(&mut self, other: Self) {
        self.findings += other.findings;
        let BySeverity { critical, high, medium, low, info } = other.by_severity;
        for (severity, count) in Severity::ALL.into_iter().zip([critical, high, medium, low, info]) {
            self.by_severity.add(severity, count);
        }
        let maps = [
            (&mut self.looked_at, other.looked_at),
            (&mut self.by_finding, other.by_finding),
            (&mut self.by_qos, other.by_qos),
        ];
        for (mine, theirs) in maps {
            for (key, count) in theirs {
                *mine.entry(key).or_default() += count;
            }
        }
        self.fill(other.fullest_nodes);
    }

    /// Keeps the fullest of what is here and comes.
    fn fill(&mut self, more: impl IntoIterator<Item = Fullness>) {
        self.fullest_nodes.extend(more);
        self.fullest_nodes.sort_by(|a, b| (-a.percent, &a.cluster, &a.node).cmp(&(-b.percent, &b.cluster, &b.node)));
        self.fullest_nodes.truncate(FULLEST);
    }

    /// `32 findings (30 critical, 2 low) on 5000 pods`.
    fn words(&self) -> String {
        let on: Vec<String> = self.looked_at.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        let on = if on.is_empty() { "nothing".to_owned() } else { on.join(", ") };
        match self.findings {
            0 => format!("no findings on {on}"),
            1 => format!("1 finding ({}) on {on}", self.by_severity.words()),
            count => format!("{count} findings ({}) on {on}", self.by_severity.words()),
        }
    }
}

/// Counts of several clusters that are looked at at once.
#[derive(Debug, Default)]
pub(crate) struct Tally(Mutex<Counts>);

impl Tally {
    fn add(&self, counts: Counts) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).merge(counts);
    }
}

/// Findings of many clusters.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Diagnosis {
    /// Counts over all clusters.
    pub(crate) counts: Counts,
    /// What was found.
    #[serde(flatten)]
    pub(crate) fanned: Fanned<Rolled>,
}

impl Diagnosis {
    pub(crate) fn new(tally: Tally, fanned: Fanned<Rolled>) -> Self {
        Self { counts: tally.0.into_inner().unwrap_or_else(PoisonError::into_inner), fanned }
    }
}

impl Answer for Diagnosis {
    fn view(&self) -> View {
        if self.fanned.totals.ok == 0 {
            return self.fanned.view();
        }
        let mut text = self.counts.words();
        if !self.counts.fullest_nodes.is_empty() {
            text.push_str("\nfullest nodes, requested of what they can give:");
        }
        for node in &self.counts.fullest_nodes {
            text.push_str("\n  ");
            text.push_str(&node.words());
        }
        let mut view = View::text(text);
        if !self.fanned.rows.is_empty() {
            view.blocks.extend(self.fanned.table().blocks);
        }
        let lines = self.fanned.lines();
        if lines.is_empty() { view } else { view.and_text(lines.join("\n")) }
    }

    fn outcome(&self) -> Outcome {
        self.fanned.outcome()
    }

    fn failure(&self) -> Option<Failure> {
        self.fanned.failure()
    }

    fn rows(&mut self) -> Option<&mut dyn CutRows> {
        self.fanned.rows()
    }
}

/// What is found in one cluster, while it is looked at.
pub(crate) struct Looking<'a> {
    cluster: &'a str,
    denied: Denied<'a>,
    least: Severity,
    roll_up: RollUp,
    /// Counts of this cluster.
    pub(crate) counts: Counts,
}

impl<'a> Looking<'a> {
    /// Nothing yet. `least` is the mildest severity that is told.
    pub(crate) fn new(call: &'a Call, cluster: &'a Cluster, least: Option<Severity>) -> Self {
        Self {
            cluster: cluster.name(),
            denied: Denied::new(cluster.name(), call),
            least: least.unwrap_or(Severity::Info),
            roll_up: RollUp::default(),
            counts: Counts::default(),
        }
    }

    /// Whether policy lets this object be told; counts it when it does.
    pub(crate) fn looks_at(&mut self, kind: &'static str, namespace: Option<&str>) -> bool {
        let allowed = self.denied.lets(namespace.unwrap_or(""));
        if allowed {
            *self.counts.looked_at.entry(kind).or_default() += 1;
        }
        allowed
    }

    /// Takes findings of one object under its topmost owner.
    pub(crate) fn add(&mut self, owner: &ObjectRef, findings: impl IntoIterator<Item = Finding>) {
        for finding in findings.into_iter().filter(|f| f.severity <= self.least) {
            self.counts.add(&finding);
            self.roll_up.add(owner.clone(), finding);
        }
    }

    /// Takes findings of objects that were not looked at themselves, each under itself.
    pub(crate) fn add_loose(&mut self, findings: impl IntoIterator<Item = Finding>) {
        for finding in findings {
            if self.denied.lets(finding.object.namespace.as_deref().unwrap_or("")) {
                self.add(&finding.object.clone(), [finding]);
            }
        }
    }

    /// Takes what nodes are asked for, and what is wrong with it.
    pub(crate) fn add_nodes<'n>(&mut self, loads: impl IntoIterator<Item = &'n Load>) {
        for load in loads {
            *self.counts.looked_at.entry("nodes").or_default() += 1;
            self.counts.fill([Fullness {
                cluster: self.cluster.to_owned(),
                node: load.node.clone(),
                unschedulable: load.unschedulable,
                requested: load.told().map(|(name, share)| (name.to_owned(), share.text(name))).collect(),
                percent: load.percent(),
            }]);
            self.add_loose(load.findings());
        }
    }

    /// The rows, with the counts added to those of the other clusters.
    pub(crate) fn finish(self, tally: &Tally, mut notes: Vec<String>) -> Found<Rolled> {
        notes.extend(self.denied.note());
        tally.add(self.counts);
        Found { rows: self.roll_up.into_rows(), notes }
    }
}

/// Old forms that the diagnostic operations accept.
pub(crate) const OLD_FORMS: Spellings = Spellings {
    renames: &[],
    booleans: &["include_completed", "hygiene", "extended", "cpu_limits", "ephemeral_storage"],
    empty_is_absent: &["cluster", "namespace", "severity", "level", "version", "resource_type"],
    singles: &["clusters"],
};

/// A list beside the one that matters: when it fails, its absence is told and not taken for emptiness. `meaning` says
/// what the answer lacks for it.
///
/// # Errors
/// Only when the call has been cancelled.
pub(crate) fn aside<T>(
    result: Result<Listing<T>, ClusterError>,
    what: &str,
    meaning: &str,
    notes: &mut Vec<String>,
) -> Result<Option<T>, ClusterError> {
    match result {
        Ok(listing) => {
            notes.extend(listing.notes());
            Ok(Some(listing.value))
        }
        Err(error) if matches!(error.cause, Cause::Cancelled) => Err(error),
        Err(error) => {
            notes.push(format!("{what} could not be read ({}): {}; {meaning}", error.cause.code(), error.cause));
            Ok(None)
        }
    }
}

/// Every object of a type of k8s-openapi.
///
/// # Errors
/// What goes wrong with the cluster.
pub(crate) async fn every<K>(cluster: &Cluster, params: &ListParams) -> Result<Listing<Vec<K>>, ClusterError>
where
    K: Resource<Scope = NamespaceResourceScope> + DeserializeOwned + Send + 'static,
{
    cluster.list(&ResourceType::of::<K>(), params).await
}
