//! One read over many clusters, and its answer.

use crate::{Cause, Cluster, ClusterError, Fleet, Listing, Selection, Targets, Told, Unnamed};
use futures::{StreamExt, stream::FuturesUnordered};
use pintle_core::{Answer, Call, Code, CutRows, Failure, Outcome, Problem, Row, Rows, View};
use schemars::JsonSchema;
use serde::Serialize;
use std::{collections::BTreeMap, future::Future};

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
    code: Option<Code>,
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
    code: Option<Code>,
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

/// Asks the clusters that the targets name (the current one when they name none), all at once, for rows.
///
/// # Errors
/// When the kubeconfig cannot be read, a name is not known or denied by policy, or the call is cancelled. What fails
/// with a cluster is told in its section.
pub async fn fan_out<R, F, Fut>(fleet: &Fleet, targets: &Targets, call: &Call, each: F) -> Result<Fanned<R>, Failure>
where
    R: FleetRow,
    F: Fn(Cluster) -> Fut,
    Fut: Future<Output = Result<Found<R>, ClusterError>> + Send,
{
    let selection = fleet.select(targets, Unnamed::Current, call).await?;
    fan_over(fleet, selection, call, each).await
}

/// [`fan_out`] over a selection made before, such as one with another default.
///
/// # Errors
/// When the call is cancelled.
pub async fn fan_over<R, F, Fut>(
    fleet: &Fleet,
    selection: Selection,
    call: &Call,
    each: F,
) -> Result<Fanned<R>, Failure>
where
    R: FleetRow,
    F: Fn(Cluster) -> Fut,
    Fut: Future<Output = Result<Found<R>, ClusterError>> + Send,
{
    let tell = |found: &Found<R>| match found.rows.len() {
        1 => "1 row".to_owned(),
        count => format!("{count} rows"),
    };
    let gathered = gather(fleet, &selection, call, each, tell).await?;
    let mut rows = Vec::new();
    let mut totals = Totals::default();
    let mut code = FirstCode::default();
    let sections = gathered.into_iter().map(|(cluster, result)| match result {
        Ok(found) => {
            totals.ok += 1;
            let count = found.rows.len();
            rows.extend(found.rows.into_iter().map(|row| InCluster { cluster: cluster.clone(), row }));
            let (count, notes) = (Some(count), found.notes);
            Section { cluster, outcome: SectionOutcome::Ok, count, error: None, notes }
        }
        Err(cause) => {
            totals.failed += 1;
            code.add(&cause);
            let error = Some(Told::from(&cause));
            Section { cluster, outcome: SectionOutcome::Failed, count: None, error, notes: Vec::new() }
        }
    });
    let mut clusters: Vec<Section> = sections.collect();
    for (cluster, outcome, note) in selection.left_out() {
        totals.leave_out(outcome);
        clusters.push(Section { cluster, outcome, count: None, error: None, notes: vec![note] });
    }
    clusters.sort_by(|a, b| a.cluster.cmp(&b.cluster));
    totals.clusters = clusters.len();
    totals.rows = rows.len();
    Ok(Fanned { totals, clusters, rows: Rows::new(rows), code: code.0 })
}

/// Asks the clusters that the targets name (the current one when they name none), all at once, for one value each.
///
/// # Errors
/// As [`fan_out`].
pub async fn fan_out_values<V, F, Fut>(
    fleet: &Fleet,
    targets: &Targets,
    call: &Call,
    each: F,
) -> Result<PerCluster<V>, Failure>
where
    V: FleetValue,
    F: Fn(Cluster) -> Fut,
    Fut: Future<Output = Result<V, ClusterError>> + Send,
{
    let selection = fleet.select(targets, Unnamed::Current, call).await?;
    fan_values_over(fleet, selection, call, each).await
}

/// [`fan_out_values`] over a selection made before.
///
/// # Errors
/// When the call is cancelled.
pub async fn fan_values_over<V, F, Fut>(
    fleet: &Fleet,
    selection: Selection,
    call: &Call,
    each: F,
) -> Result<PerCluster<V>, Failure>
where
    V: FleetValue,
    F: Fn(Cluster) -> Fut,
    Fut: Future<Output = Result<V, ClusterError>> + Send,
{
    let gathered = gather(fleet, &selection, call, each, |_| "answered".to_owned()).await?;
    let mut totals = Totals::default();
    let mut code = FirstCode::default();
    let section = |cluster, outcome| ClusterValue { cluster, outcome, value: None, error: None, notes: Vec::new() };
    let mut clusters = Vec::new();
    for (cluster, result) in gathered {
        match result {
            Ok(value) => {
                totals.ok += 1;
                clusters.push(ClusterValue { value: Some(value), ..section(cluster, SectionOutcome::Ok) });
            }
            Err(cause) => {
                totals.failed += 1;
                code.add(&cause);
                let error = Some(Told::from(&cause));
                clusters.push(ClusterValue { error, ..section(cluster, SectionOutcome::Failed) });
            }
        }
    }
    for (cluster, outcome, note) in selection.left_out() {
        totals.leave_out(outcome);
        clusters.push(ClusterValue { notes: vec![note], ..section(cluster, outcome) });
    }
    totals.clusters = clusters.len();
    totals.rows = totals.ok;
    Ok(PerCluster { totals, clusters: Rows::new(clusters), code: code.0 })
}

/// Runs `each` for every chosen cluster at once; gives what came by name.
async fn gather<T, F, Fut>(
    fleet: &Fleet,
    selection: &Selection,
    call: &Call,
    each: F,
    tell: impl Fn(&T) -> String,
) -> Result<BTreeMap<String, Result<T, Cause>>, Failure>
where
    F: Fn(Cluster) -> Fut,
    Fut: Future<Output = Result<T, ClusterError>> + Send,
{
    let total = selection.chosen.len();
    let mut waiting: FuturesUnordered<_> = selection
        .chosen
        .iter()
        .map(|name| {
            let cluster = fleet.open(selection, name, call);
            let each = &each;
            async move {
                let result = match cluster {
                    Ok(cluster) => {
                        let bounds = cluster.bounds();
                        bounds.within(each(cluster)).await.and_then(|done| done.map_err(|error| error.cause))
                    }
                    Err(cause) => Err(cause),
                };
                (name.clone(), result)
            }
        })
        .collect();
    let mut gathered = BTreeMap::new();
    while let Some((name, result)) = waiting.next().await {
        if matches!(result, Err(Cause::Cancelled)) {
            return Err(Failure::new(Code::Cancelled, "cancelled by the caller"));
        }
        let news = match &result {
            Ok(value) => tell(value),
            Err(cause) => cause.to_string(),
        };
        gathered.insert(name.clone(), result);
        #[expect(clippy::cast_precision_loss, reason = "nobody has 2^52 clusters")]
        call.progress(gathered.len() as f64, Some(total as f64), &format!("{name}: {news}"));
    }
    Ok(gathered)
}

/// The code of a call of which every cluster failed: that of all, or `unreachable` where they differ.
#[derive(Default)]
struct FirstCode(Option<Code>);

impl FirstCode {
    fn add(&mut self, cause: &Cause) {
        let code = cause.failure_code();
        self.0 = Some(match self.0 {
            None => code,
            Some(known) if known == code => known,
            Some(_) => Code::Unreachable,
        });
    }
}

impl Totals {
    fn leave_out(&mut self, outcome: SectionOutcome) {
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
