//! One read over many clusters at once.

use crate::{
    Cause, Cluster, ClusterError, ClusterValue, Fanned, Fleet, FleetRow, FleetValue, Found, InCluster, PerCluster,
    Section, SectionOutcome, Selection, Targets, Told, Totals, Unnamed, fanned::FirstCode,
};
use futures::{StreamExt, stream::FuturesUnordered};
use pintle_core::{Call, Code, Failure, Rows};
use std::{collections::BTreeMap, future::Future};

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
