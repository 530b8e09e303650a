//! `list_resources`

use crate::{
    Host, kinds,
    projection::{self, Path},
    reading::{Denied, OLD_FORMS, absent, select},
    secrets::{self, tells_secret},
};
use pintle_core::{Answer, Call, CutRows, Failure, Foreign, Outcome, Query, Row, Spellings, Stop, View};
use pintle_fleet::{
    Cause, Cluster, ClusterError, Fanned, FleetRow, Found, ListParams, ResourceType, TablePage, Targets, fan_over,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// List objects of any kind, custom ones too: counts, then the server's columns, or fields by path.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct ListResources {
    #[serde(flatten)]
    targets: Targets,
    /// Plural, short name or Kind; `plural.group` where two groups have it
    #[schemars(extend("x-cli" = {"positional": 1}))]
    kind: String,
    /// Namespace; all when absent
    #[serde(default)]
    #[schemars(extend("x-cli" = {"short": "n", "common": true}))]
    namespace: Option<String>,
    /// Such as `app=web,tier in (a,b)`
    #[serde(default)]
    #[schemars(extend("x-cli" = {"short": "l", "common": true}))]
    label_selector: Option<String>,
    #[serde(default)]
    field_selector: Option<String>,
    /// Instead of the server's columns, such as `spec.replicas`, `spec.containers[*].image`
    #[serde(default)]
    fields: Vec<String>,
    /// Only how many there are
    #[serde(default)]
    #[schemars(extend("default" = null))]
    count: bool,
}

/// An object.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ObjectRow {
    #[serde(skip_serializing_if = "String::is_empty")]
    namespace: String,
    name: String,
    /// Columns
    #[serde(flatten)]
    cells: Map<String, Value>,
}

impl Row for ObjectRow {
    fn key(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }
}

impl FleetRow for ObjectRow {
    const COLUMNS: &'static [&'static str] = &["NAMESPACE", "NAME"];
    const NOTHING: &'static str = "no objects found";

    fn cells(&self) -> Vec<String> {
        vec![self.namespace.clone(), self.name.clone()]
    }
}

/// Objects of many clusters, and how many there are.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Objects {
    /// The type, as the servers call it
    kind: String,
    /// Objects of each cluster
    counts: BTreeMap<String, u64>,
    #[serde(flatten)]
    found: Fanned<ObjectRow>,
    #[serde(skip)]
    only_counts: bool,
}

impl Answer for Objects {
    fn view(&self) -> View {
        let total: u64 = self.counts.values().sum();
        let mut head = format!("{total} {}", self.kind);
        if self.counts.len() > 1 {
            let each: Vec<String> = self.counts.iter().map(|(cluster, count)| format!("{cluster} {count}")).collect();
            head.push_str(&format!(": {}", each.join(", ")));
        }
        let mut view = View::default();
        if !self.counts.is_empty() {
            view = view.and_text(head);
        }
        if !self.found.rows.is_empty() {
            view.blocks.extend(self.table().blocks);
        }
        let lines = self.found.lines();
        if lines.is_empty() { view } else { view.and_text(lines.join("\n")) }
    }

    fn outcome(&self) -> Outcome {
        self.found.outcome()
    }

    fn failure(&self) -> Option<Failure> {
        self.found.failure()
    }

    fn rows(&mut self) -> Option<&mut dyn CutRows> {
        if self.only_counts { None } else { self.found.rows() }
    }
}

impl Objects {
    fn table(&self) -> View {
        let rows = || self.found.rows.iter();
        let several = self.found.totals.clusters > 1;
        let placed = rows().any(|found| !found.row.namespace.is_empty());
        // Clusters of different versions may show different columns.
        let mut names: Vec<&str> = Vec::new();
        for found in rows() {
            names.extend(
                found.row.cells.keys().map(String::as_str).filter(|name| !names.contains(name)).collect::<Vec<_>>(),
            );
        }
        let mut columns = Vec::new();
        columns.extend(several.then(|| "CLUSTER".to_owned()));
        columns.extend(placed.then(|| "NAMESPACE".to_owned()));
        columns.push("NAME".to_owned());
        columns.extend(names.iter().map(|name| name.to_uppercase()));
        let cells = rows().map(|found| {
            let mut cells = Vec::new();
            cells.extend(several.then(|| found.cluster.clone()));
            cells.extend(placed.then(|| found.row.namespace.clone()));
            cells.push(found.row.name.clone());
            cells.extend(names.iter().map(|name| found.row.cells.get(*name).map_or_else(String::new, shown)));
            cells
        });
        View::table(columns.iter().map(String::as_str), cells.collect::<Vec<_>>())
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => Foreign::one_line(text),
        Value::Array(items) if items.iter().all(|item| !item.is_object() && !item.is_array()) => {
            items.iter().map(shown).collect::<Vec<_>>().join(",")
        }
        other => other.to_string(),
    }
}

impl Query for ListResources {
    type Host = Host;
    type Answer = Objects;
    const NAME: &'static str = "list_resources";
    const SPELLINGS: Spellings = OLD_FORMS;
    const PAGED: bool = true;

    async fn run(self, host: &Host, call: &Call) -> Result<Objects, Stop> {
        let paths = projection::paths(&self.fields)?;
        let selection = select(host, &self.targets, self.namespace.as_deref(), call).await?;
        let counts = std::sync::Mutex::new(BTreeMap::new());
        let called = std::sync::Mutex::new(None);
        let (wanted, paths, counted, named) = (&self, paths.as_slice(), &counts, &called);
        let found = fan_over(host.fleet(), selection, call, |cluster| async move {
            let (mut kind, _) = kinds::resolve(&cluster, &wanted.kind).await?;
            let read = match wanted.read(&cluster, &kind, paths, call).await {
                // A list is there, if empty, as long as its type is: this one has gone, perhaps to another group.
                Err(ClusterError { cause: Cause::NotFound { .. }, .. }) => {
                    cluster.rediscover().await?;
                    (kind, _) = kinds::resolve(&cluster, &wanted.kind).await?;
                    wanted.read(&cluster, &kind, paths, call).await
                }
                read => read,
            };
            let (found, count) = read?;
            let held = |poisoned: std::sync::PoisonError<_>| poisoned.into_inner();
            counted.lock().unwrap_or_else(held).insert(cluster.name().to_owned(), count);
            named.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get_or_insert_with(|| kind.to_string());
            Ok(found)
        });
        let found = found.await?;
        let counts = counts.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let called = called.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        Ok(Objects { kind: called.unwrap_or(self.kind), counts, found, only_counts: self.count })
    }
}

impl ListResources {
    fn params(&self) -> ListParams {
        ListParams {
            label_selector: self.label_selector.clone(),
            field_selector: self.field_selector.clone(),
            ..ListParams::in_namespace(self.namespace.as_deref())
        }
    }

    async fn read(
        &self,
        cluster: &Cluster,
        kind: &ResourceType,
        paths: &[Path],
        call: &Call,
    ) -> Result<(Found<ObjectRow>, u64), ClusterError> {
        let params = self.params();
        let mut denied = Denied::new(cluster.name(), call);
        if self.count {
            return self.counted(cluster, kind, params, denied).await;
        }
        let namespace = params.namespace.clone().filter(|_| kind.namespaced);
        let listing = if paths.is_empty() {
            let start = || (Vec::new(), Vec::new());
            let table = cluster.list_table(kind, &params, start, |(rows, columns), page| {
                take_table(rows, columns, page, &mut denied);
            });
            table.await?.map(|(rows, _)| rows)
        } else {
            let of = |mut object: Value| {
                if object.get("kind").is_none() {
                    object["kind"] = Value::String(kind.kind.to_string());
                }
                secrets::hide(&mut object, call);
                let cells = paths.iter().map(|path| (path.text().to_owned(), path.of(&object))).collect();
                row(&object, cells)
            };
            let start = Vec::new;
            let objects = cluster.list_pages(kind, &params, start, |rows: &mut Vec<ObjectRow>, page: Vec<Value>| {
                rows.extend(page.into_iter().map(of).filter(|row| denied.lets(&row.namespace)));
            });
            objects.await?
        };
        let mut found = Found::from(listing);
        found.notes.extend(denied.note());
        found.notes.extend(absent(cluster, namespace.as_deref(), found.rows.is_empty()).await);
        let count = found.rows.len() as u64;
        Ok((found, count))
    }

    /// Only metadata comes, and only as much of it as is needed to count.
    async fn counted(
        &self,
        cluster: &Cluster,
        kind: &ResourceType,
        params: ListParams,
        mut denied: Denied<'_>,
    ) -> Result<(Found<ObjectRow>, u64), ClusterError> {
        #[derive(Deserialize)]
        struct Metadata {
            metadata: Place,
        }
        #[derive(Deserialize)]
        struct Place {
            #[serde(default)]
            namespace: Option<String>,
        }
        let listing = cluster
            .list_metadata(
                kind,
                &params,
                || 0_u64,
                |count, page: Vec<Metadata>| {
                    let allowed =
                        page.iter().filter(|one| denied.lets(one.metadata.namespace.as_deref().unwrap_or_default()));
                    *count += allowed.count() as u64;
                },
            )
            .await?;
        let mut notes = listing.notes();
        notes.extend(denied.note());
        notes.extend(absent(cluster, params.namespace.as_deref(), listing.value == 0).await);
        Ok((Found { rows: Vec::new(), notes }, listing.value))
    }
}

fn row(object: &Value, cells: Map<String, Value>) -> ObjectRow {
    let text = |name: &str| object["metadata"][name].as_str().unwrap_or_default().to_owned();
    ObjectRow { namespace: text("namespace"), name: text("name"), cells }
}

/// Rows of the server's own table: what is always shown, without the name, which each row has anyway.
fn take_table(rows: &mut Vec<ObjectRow>, columns: &mut Vec<(usize, String)>, page: TablePage, denied: &mut Denied<'_>) {
    if !page.columns.is_empty() {
        *columns = page
            .columns
            .into_iter()
            .enumerate()
            .filter(|(_, column)| column.priority == 0 && column.name != "Name")
            .map(|(place, column)| (place, column.name.to_lowercase()))
            .collect();
    }
    for found in page.rows {
        let object = found.object.unwrap_or_default();
        let mut cells = Map::new();
        for (place, name) in columns.iter() {
            let cell = found.cells.get(*place).cloned().unwrap_or_default();
            let cell = match cell {
                Value::String(_) if tells_secret(name) => Value::String("‹not shown›".to_owned()),
                Value::String(text) => Value::String(Foreign::one_line(&text)),
                other => other,
            };
            cells.insert(name.clone(), cell);
        }
        let row = row(&object, cells);
        if denied.lets(&row.namespace) {
            rows.push(row);
        }
    }
}
