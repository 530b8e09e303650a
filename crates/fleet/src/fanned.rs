//! The answer of a read over many clusters: rows or one value each, a section per cluster, and how people read it.

use crate::{Cause, Listing, Told};
use pintle_core::{Answer, Code, CutRows, Failure, Outcome, Problem, Row, Rows, View};
use schemars::JsonSchema;
use serde::Serialize;

/// A row that an operation finds in a cluster. It does not name the cluster: [`InCluster`] does.
pub trait FleetRow: Row {
    /// Columns of the table for people, upper case, without the cluster.
    const COLUMNS: &'static [&'static str];
    /// What is said when no cluster has any.
    const NOTHING: &'static str = "nothing found";
    /// Whether such a row is a finding: the call's outcome says so.
    const FINDING: bool = false;
    /// Whether rows are ordered by cluster first; otherwise by their key over all clusters, such as worst first.
    const BY_CLUSTER: bool = true;
    /// Cells, as many as columns.
    fn cells(&self) -> Vec<String>;
}

/// A row and the cluster where it was found, as one flat object.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InCluster<R> {
    /// Context.
    pub cluster: String,
    /// The row.
    #[serde(flatten)]
    pub row: R,
}

impl<R: FleetRow> Row for InCluster<R> {
    fn key(&self) -> String {
        // U+0001 sorts before whatever a name can hold, so that `a` stays apart from `a b`.
        let (cluster, key) = (&self.cluster, self.row.key());
        if R::BY_CLUSTER { format!("{cluster}\u{1}{key}") } else { format!("{key}\u{1}{cluster}") }
    }
}

/// What one cluster gave.
#[derive(Clone, Debug)]
pub struct Found<R> {
    /// The rows.
    pub rows: Vec<R>,
    /// What else is to be said about it.
    pub notes: Vec<String>,
}

impl<R> From<Vec<R>> for Found<R> {
    fn from(rows: Vec<R>) -> Self {
        Self { rows, notes: Vec::new() }
    }
}

impl<R> From<Listing<Vec<R>>> for Found<R> {
    /// The rows of a listing; a list that had to begin anew is noted.
    fn from(listing: Listing<Vec<R>>) -> Self {
        let notes = listing.notes();
        Self { rows: listing.value, notes }
    }
}

/// How it went with one cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SectionOutcome {
    /// It answered.
    Ok,
    /// It did not.
    Failed,
    /// Policy does not let this call read it.
    Denied,
    /// It is another cluster's alias.
    Skipped,
}

/// One cluster of a [`Fanned`] answer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Section {
    /// Context.
    pub cluster: String,
    /// How it went.
    pub outcome: SectionOutcome,
    /// Rows found there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Told>,
    /// What else is to be said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Counts over all clusters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Totals {
    /// Clusters asked for.
    pub clusters: usize,
    /// Those that answered.
    pub ok: usize,
    /// Those that failed.
    #[serde(skip_serializing_if = "is_zero")]
    pub failed: usize,
    /// Those that policy denies.
    #[serde(skip_serializing_if = "is_zero")]
    pub denied: usize,
    /// Those that are another's alias.
    #[serde(skip_serializing_if = "is_zero")]
    pub skipped: usize,
    /// Rows found, before any is left off.
    pub rows: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Rows from many clusters.
///
/// Its outcome: `failed` when no cluster answered, `partial` when some failed, `findings` when rows are findings, else
/// `ok`. Operations with more to say embed it (`#[serde(flatten)]`) and pass the calls of [`Answer`] on.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Fanned<R> {
    /// Counts.
    pub totals: Totals,
    /// One section per cluster, by name.
    pub clusters: Vec<Section>,
    /// The rows of all clusters.
    pub rows: Rows<InCluster<R>>,
    /// Why the whole call counts as failed, if it does.
    #[serde(skip)]
    pub(crate) code: Option<Code>,
}

/// A value that an operation has to say about one cluster.
pub trait FleetValue: Serialize + JsonSchema + Send + 'static {
    /// The value as people read it, without the cluster's name.
    fn view(&self) -> View;
    /// Whether the value is a finding.
    fn is_finding(&self) -> bool {
        false
    }
}

/// One value per cluster.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PerCluster<V> {
    /// Counts; `rows` are the values.
    pub totals: Totals,
    /// One section per cluster, by name.
    pub clusters: Rows<ClusterValue<V>>,
    /// Why the whole call counts as failed, if it does.
    #[serde(skip)]
    pub(crate) code: Option<Code>,
}

/// One cluster of a [`PerCluster`] answer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ClusterValue<V> {
    /// Context.
    pub cluster: String,
    /// How it went.
    pub outcome: SectionOutcome,
    /// What it gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<V>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Told>,
    /// What else is to be said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl<V: FleetValue> Row for ClusterValue<V> {
    fn key(&self) -> String {
        self.cluster.clone()
    }
}

/// The code of a call of which every cluster failed: that of all, or `unreachable` where they differ.
#[derive(Default)]
pub(crate) struct FirstCode(pub(crate) Option<Code>);

impl FirstCode {
    pub(crate) fn add(&mut self, cause: &Cause) {
        let code = cause.failure_code();
        self.0 = Some(match self.0 {
            None => code,
            Some(known) if known == code => known,
            Some(_) => Code::Unreachable,
        });
    }
}

impl Totals {
    pub(crate) fn leave_out(&mut self, outcome: SectionOutcome) {
        match outcome {
            SectionOutcome::Denied => self.denied += 1,
            SectionOutcome::Skipped => self.skipped += 1,
            SectionOutcome::Ok | SectionOutcome::Failed => {}
        }
    }

    /// How the call ended, by these counts.
    fn outcome(&self, findings: bool) -> Outcome {
        match (self.ok, self.failed) {
            (0, 1..) => Outcome::Failed,
            (_, 1..) => Outcome::Partial,
            _ if findings => Outcome::Findings,
            _ => Outcome::Ok,
        }
    }
}

/// Why a call failed of which no cluster answered.
fn all_failed<'a>(code: Option<Code>, failed: impl Iterator<Item = (&'a str, &'a Told)>) -> Failure {
    let failed: Vec<_> = failed.collect();
    let code = code.unwrap_or(Code::Unreachable);
    if let [(cluster, told)] = failed.as_slice() {
        let mut failure = Failure::new(code, format!("cluster `{cluster}`: {}", told.message));
        failure.hints.extend(told.hint.clone());
        return failure;
    }
    let problems = failed.iter().map(|(cluster, told)| {
        let problem = Problem::new(format!("cluster `{cluster}`: {}", told.message));
        match &told.hint {
            Some(hint) => problem.hint(hint.clone()),
            None => problem,
        }
    });
    Failure::new(code, format!("none of {} clusters answered", failed.len())).problems(problems)
}

/// One line for each cluster that did not answer.
fn dead_lines<'a>(
    sections: impl Iterator<Item = (&'a str, SectionOutcome, Option<&'a Told>, &'a [String])>,
    all_failed: bool,
) -> Vec<String> {
    let mut lines = Vec::new();
    for (cluster, outcome, error, notes) in sections {
        match (outcome, error) {
            // The failure of the whole call says it.
            (SectionOutcome::Failed, _) if all_failed => {}
            (SectionOutcome::Failed, Some(told)) => {
                let hint = told.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
                lines.push(format!("{cluster}: {}: {}{hint}", told.code, told.message));
            }
            _ => lines.extend(notes.iter().map(|note| format!("{cluster}: {note}"))),
        }
    }
    lines
}

impl<R: FleetRow> Fanned<R> {
    /// The rows as one table, with the cluster's column only where several were asked for.
    #[must_use]
    pub fn table(&self) -> View {
        if self.rows.is_empty() {
            return if self.totals.ok == 0 { View::default() } else { View::text(R::NOTHING) };
        }
        let several = self.totals.clusters > 1;
        let columns = several.then_some("CLUSTER").into_iter().chain(R::COLUMNS.iter().copied());
        let rows = self.rows.iter().map(|found| {
            several.then(|| found.cluster.clone()).into_iter().chain(found.row.cells()).collect::<Vec<_>>()
        });
        View::table(columns, rows)
    }

    /// One line for each cluster that did not answer, and for each note.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let sections =
            self.clusters.iter().map(|s| (s.cluster.as_str(), s.outcome, s.error.as_ref(), s.notes.as_slice()));
        dead_lines(sections, self.outcome() == Outcome::Failed)
    }
}

impl<R: FleetRow> Answer for Fanned<R> {
    fn view(&self) -> View {
        let lines = self.lines();
        let table = self.table();
        if lines.is_empty() { table } else { table.and_text(lines.join("\n")) }
    }

    fn outcome(&self) -> Outcome {
        self.totals.outcome(R::FINDING && self.totals.rows > 0)
    }

    fn failure(&self) -> Option<Failure> {
        let failed = self.clusters.iter().filter_map(|s| Some((s.cluster.as_str(), s.error.as_ref()?)));
        (self.outcome() == Outcome::Failed).then(|| all_failed(self.code, failed))
    }

    fn rows(&mut self) -> Option<&mut dyn CutRows> {
        Some(&mut self.rows)
    }
}

impl<V: FleetValue> Answer for PerCluster<V> {
    fn view(&self) -> View {
        let several = self.totals.clusters > 1;
        let mut view = View::default();
        for section in self.clusters.iter() {
            if let Some(value) = &section.value {
                if several {
                    view = view.and_text(format!("{}:", section.cluster));
                }
                view.blocks.extend(value.view().blocks);
            }
        }
        let sections =
            self.clusters.iter().map(|s| (s.cluster.as_str(), s.outcome, s.error.as_ref(), s.notes.as_slice()));
        let lines = dead_lines(sections, self.outcome() == Outcome::Failed);
        if lines.is_empty() { view } else { view.and_text(lines.join("\n")) }
    }

    fn outcome(&self) -> Outcome {
        let findings = self.clusters.iter().filter_map(|s| s.value.as_ref()).any(FleetValue::is_finding);
        self.totals.outcome(findings)
    }

    fn failure(&self) -> Option<Failure> {
        let failed = self.clusters.iter().filter_map(|s| Some((s.cluster.as_str(), s.error.as_ref()?)));
        (self.outcome() == Outcome::Failed).then(|| all_failed(self.code, failed))
    }

    fn rows(&mut self) -> Option<&mut dyn CutRows> {
        Some(&mut self.clusters)
    }
}
