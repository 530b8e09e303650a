//! The answers of fan-outs: order, cuts, findings, one value per cluster.

use crate::server::{Home, Told};
use pintle_core::{Answer, Call, CutRows, Outcome, Row, View};
use pintle_fleet::{
    Cause, Cluster, ClusterError, FleetRow, FleetValue, Found, Targets, Unnamed, fan_out, fan_out_values, fan_over,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use std::sync::Arc;

/// A finding, worst first over all clusters.
#[derive(Serialize, JsonSchema)]
struct Issue {
    weight: u8,
    pod: &'static str,
}

impl Row for Issue {
    fn key(&self) -> String {
        format!("{}/{}", self.weight, self.pod)
    }
}

impl FleetRow for Issue {
    const COLUMNS: &'static [&'static str] = &["POD"];
    const NOTHING: &'static str = "no issues";
    const FINDING: bool = true;
    const BY_CLUSTER: bool = false;
    fn cells(&self) -> Vec<String> {
        vec![self.pod.to_owned()]
    }
}

fn home() -> Home {
    let cluster = |name: &str| format!("{{server: 'https://{name}.invalid'}}");
    Home::new().with_cluster("b", &cluster("b"), "{}").with_cluster("a b", &cluster("ab"), "{}").with_cluster(
        "a",
        &cluster("a"),
        "{}",
    )
}

fn refused(cluster: &Cluster) -> ClusterError {
    let cause = Cause::Forbidden { said: "no".to_owned() };
    ClusterError { cluster: cluster.name().to_owned(), cause }
}

#[tokio::test]
async fn rows_may_be_ordered_over_all_clusters_and_are_cut_with_the_cursor_in_mind() {
    let home = home();
    let fleet = home.fleet();
    let each = |cluster: Cluster| async move {
        let last = cluster.name() == "a";
        Ok(Found::from(vec![Issue { weight: u8::from(last), pod: "web" }, Issue { weight: 2, pod: "db" }]))
    };
    let mut all = fan_out(&fleet, &Targets::all(), &Call::detached(), each).await.unwrap();
    assert_eq!(all.outcome(), Outcome::Findings);
    let order: Vec<_> = all.rows.iter().map(|r| format!("{} {}", r.row.weight, r.cluster)).collect();
    assert_eq!(order, ["0 a b", "0 b", "1 a", "2 a", "2 a b", "2 b"]);
    let rows: &mut dyn CutRows = all.rows().unwrap();
    let last = rows.keep(3).unwrap();
    let mut rest = fan_out(&fleet, &Targets::all(), &Call::detached(), each).await.unwrap();
    rest.rows().unwrap().drop_through(&last);
    assert_eq!(rest.rows.len(), 3);
    assert_eq!((rest.totals.rows, rest.clusters[0].count), (6, Some(2)), "the totals stay those of the whole");
}

#[tokio::test]
async fn nothing_found_is_said_and_is_no_finding() {
    let home = home();
    let fleet = home.fleet();
    let (call, nothing) = (Call::detached(), |_| async { Ok(Found::<Issue>::from(vec![])) });
    let none = fan_out(&fleet, &Targets::default(), &call, nothing).await.unwrap();
    assert_eq!((none.outcome(), none.view().plain().as_str()), (Outcome::Ok, "no issues"));
    let selection = fleet.select(&Targets::default(), Unnamed::All, &Call::detached()).await.unwrap();
    assert_eq!(fan_over(&fleet, selection, &call, nothing).await.unwrap().totals.clusters, 3);
}

/// One cluster's health.
#[derive(Serialize, JsonSchema)]
struct Health {
    ready: bool,
}

impl FleetValue for Health {
    fn view(&self) -> View {
        View::text(if self.ready { "healthy" } else { "unhealthy" })
    }
    fn is_finding(&self) -> bool {
        !self.ready
    }
}

#[tokio::test]
async fn one_value_per_cluster_stands_in_its_section() {
    let home = home();
    let fleet = home.fleet();
    let told = Arc::new(Told::default());
    let each = |cluster: Cluster| async move {
        if cluster.name() == "b" { Err(refused(&cluster)) } else { Ok(Health { ready: cluster.name() == "a" }) }
    };
    let all = fan_out_values(&fleet, &Targets::all(), &told.call(), each).await.unwrap();
    assert_eq!(all.outcome(), Outcome::Partial);
    assert_eq!(
        serde_json::to_value(&all).unwrap()["clusters"],
        json!([{"cluster": "a", "outcome": "ok", "value": {"ready": true}},
            {"cluster": "a b", "outcome": "ok", "value": {"ready": false}},
            {"cluster": "b", "outcome": "failed", "error": {"code": "forbidden", "message": "forbidden (403): no",
                "hint": "ask the cluster's owner for that right"}}])
    );
    assert_eq!(
        all.view().plain(),
        "a:\nhealthy\na b:\nunhealthy\nb: forbidden: forbidden (403): no (ask the cluster's owner for that right)"
    );
    let one = fan_out_values(&fleet, &Targets::one("a b"), &Call::detached(), each).await.unwrap();
    assert_eq!((one.outcome(), one.view().plain().as_str()), (Outcome::Findings, "unhealthy"));
    let dead = fan_out_values(&fleet, &Targets::one("b"), &Call::detached(), each).await.unwrap();
    assert_eq!(dead.failure().unwrap().message, "cluster `b`: forbidden (403): no");
}

#[test]
fn the_schemas_of_answers_are_flat_and_closed_under_reference() {
    let schema = pintle_core::schema::answer_of::<pintle_fleet::Fanned<Issue>>();
    let row = &schema["properties"]["rows"]["items"];
    assert_eq!(row["properties"]["cluster"]["type"], "string");
    assert_eq!(row["properties"]["pod"]["type"], "string");
    assert_eq!(schema["properties"]["clusters"]["items"]["properties"]["outcome"]["enum"][0], "ok");
    assert!(!schema.to_string().contains("$ref"));
}
