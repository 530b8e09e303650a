//! Many clusters at once, some of them dead.

use crate::server::{Home, Server, Shows, Told, answer, black_hole, closed, json, patiently, status, with};
use pintle_core::{Answer, Call, Code, Outcome, Row};
use pintle_fleet::{Fanned, Fleet, FleetOptions, FleetRow, ListParams, ResourceType, SectionOutcome, Targets, fan_out};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::sync::Barrier;

#[derive(Deserialize)]
struct Slim {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Node {
    name: String,
}

impl Row for Node {
    fn key(&self) -> String {
        self.name.clone()
    }
}

impl FleetRow for Node {
    const COLUMNS: &'static [&'static str] = &["NAME"];
    fn cells(&self) -> Vec<String> {
        vec![self.name.clone()]
    }
}

fn nodes(names: &[&str]) -> Value {
    let items: Vec<Value> = names.iter().map(|name| json!({"metadata": {"name": name}})).collect();
    json!({"kind": "NodeList", "metadata": {}, "items": items})
}

async fn list(fleet: &Fleet, targets: &Targets, call: &Call) -> Result<Fanned<Node>, pintle_core::Failure> {
    let each = |cluster: pintle_fleet::Cluster| async move {
        let listing = cluster.list::<Slim>(&ResourceType::NODES, &ListParams::default()).await?;
        let rows = |all: Vec<Slim>| all.into_iter().map(|node| Node { name: node.metadata.name }).collect::<Vec<_>>();
        Ok(listing.map(rows).into())
    };
    patiently(fan_out(fleet, targets, call, each)).await
}

fn quick(home: &Home) -> Fleet {
    Fleet::new(FleetOptions { connect_deadline: Duration::from_millis(400), ..home.write() })
}

#[tokio::test]
async fn kw_57_kw_58_kw_59_twenty_clusters_are_asked_at_once_and_three_dead_ones_hide_none() {
    // Each live server answers only when all seventeen have been asked: one after another would never end.
    let barrier = Arc::new(Barrier::new(17));
    let mut home = Home::new();
    let mut servers = Vec::new();
    for number in 0..17 {
        let barrier = Arc::clone(&barrier);
        let serve = move |_| {
            let barrier = Arc::clone(&barrier);
            async move {
                barrier.wait().await;
                json(&nodes(&["n2", "n1"]))
            }
        };
        let server = if number % 2 == 0 { Server::tls(Shows::Good, serve).await } else { Server::plain(serve).await };
        home = home.with(&format!("live {number:02}"), &server, "{}");
        servers.push(server);
    }
    let (_hole, hole) = black_hole().await;
    let silent = hole.replace("https", "http");
    for (name, url) in [("dead hole", hole), ("dead silent", silent), ("dead closed", closed().await)] {
        home = home.with_cluster(name, &format!("{{server: '{url}'}}"), "{}");
    }
    let fleet = quick(&home);
    let told = Arc::new(Told::default());
    let fanned = list(&fleet, &Targets::all(), &told.call()).await.unwrap();

    assert_eq!((fanned.totals.clusters, fanned.totals.ok, fanned.totals.failed, fanned.totals.rows), (20, 17, 3, 34));
    assert_eq!(fanned.outcome(), Outcome::Partial);
    assert!(fanned.clusters.is_sorted_by(|a, b| a.cluster < b.cluster), "by name");
    let errors: Vec<_> =
        fanned.clusters.iter().filter_map(|s| Some((s.cluster.as_str(), s.error.as_ref()?.code))).collect();
    assert_eq!(errors, [("dead closed", "refused"), ("dead hole", "timed_out"), ("dead silent", "timed_out")]);
    let rows: Vec<_> = fanned.rows.iter().take(3).map(|r| format!("{}/{}", r.cluster, r.row.name)).collect();
    assert_eq!(rows, ["live 00/n1", "live 00/n2", "live 01/n1"]);
    let progress = told.progress.lock().unwrap();
    assert_eq!(progress.len(), 20, "one word for each cluster");
    assert!(progress.is_sorted_by(|a, b| a.0 < b.0) && progress.iter().all(|(_, total, _)| *total == Some(20.0)));

    let text = fanned.view().plain();
    assert!(text.starts_with("CLUSTER  NAME\nlive 00  n1\n"), "{text}");
    assert!(text.contains("\ndead hole: timed_out: waited 400 ms for the TLS handshake"), "{text}");
    assert!(fanned.failure().is_none(), "what was got is not taken back");
}

#[tokio::test]
async fn an_6_07_a_slow_and_a_busy_cluster_do_not_take_the_call_with_them_nor_does_an_edit() {
    let good = Server::plain(|_| async { json(&nodes(&["a"])) }).await;
    let busy = Server::plain(|_| async { with(status(429, "later"), "retry-after", "600") }).await;
    let (_hole, hole) = black_hole().await;
    let home = Home::new().with("good", &good, "{}").with("busy", &busy, "{}").with_cluster(
        "hole",
        &format!("{{server: '{hole}'}}"),
        "{}",
    );
    let fleet = quick(&home);
    let targets = Targets::all();
    let call = Call::detached();
    let listing = list(&fleet, &targets, &call);
    let edit = async {
        patiently(async {
            while good.seen().is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
        // The current context flips and a cluster goes while the call is on its way.
        std::fs::write(home.folder.path().join("config"), "current-context: hole\ncontexts: []\n").unwrap();
    };
    let (fanned, ()) = futures::join!(listing, edit);
    let fanned = fanned.unwrap();
    let codes: Vec<_> =
        fanned.clusters.iter().map(|s| (s.cluster.as_str(), s.error.as_ref().map(|e| e.code))).collect();
    assert_eq!(codes, [("busy", Some("busy")), ("good", None), ("hole", Some("timed_out"))]);
    assert_eq!(list(&fleet, &targets, &call).await.unwrap_err().code, Code::Unavailable, "the next call sees the edit");
}

#[tokio::test]
async fn a_call_of_which_every_cluster_failed_says_why_and_how_to_go_on() {
    let (first, second) = (closed().await, closed().await);
    let home = Home::new().with_cluster("a", &format!("{{server: '{first}'}}"), "{}").with_cluster(
        "b",
        &format!("{{server: '{second}'}}"),
        "{}",
    );
    let fleet = quick(&home);
    let both = list(&fleet, &Targets::all(), &Call::detached()).await.unwrap();
    assert_eq!(both.outcome(), Outcome::Failed);
    let failure = both.failure().unwrap();
    assert_eq!((failure.code, failure.message.as_str()), (Code::Unreachable, "none of 2 clusters answered"));
    assert_eq!(failure.problems.len(), 2);
    assert!(both.view().is_empty(), "the failure tells it all");
    let one = list(&fleet, &Targets::default(), &Call::detached()).await.unwrap();
    let failure = one.failure().unwrap();
    assert!(failure.message.starts_with("cluster `a`: 127.0.0.1:") && failure.message.ends_with("refuses connections"));
    assert_eq!(failure.hints.len(), 1);
}

#[tokio::test]
async fn one_cluster_needs_no_column_and_aliases_are_told() {
    let server = Server::plain(|_| async { json(&nodes(&["a"])) }).await;
    let home = Home::new().with("one", &server, "{}").with("other name", &server, "{}");
    let fleet = quick(&home);
    let one = list(&fleet, &Targets::default(), &Call::detached()).await.unwrap();
    assert_eq!(one.view().plain(), "NAME\na");
    let all = list(&fleet, &Targets::all(), &Call::detached()).await.unwrap();
    assert_eq!((all.totals.clusters, all.totals.ok, all.totals.skipped, all.totals.rows), (2, 1, 1, 1));
    assert_eq!(all.clusters[1].outcome, SectionOutcome::Skipped);
    assert!(all.view().plain().ends_with("other name: skipped: the same server and authority as `one`"));
    assert_eq!(
        serde_json::to_value(&all).unwrap(),
        json!({"totals": {"clusters": 2, "ok": 1, "skipped": 1, "rows": 1},
            "clusters": [{"cluster": "one", "outcome": "ok", "count": 1},
                {"cluster": "other name", "outcome": "skipped", "notes": ["skipped: the same server and authority as `one`"]}],
            "rows": [{"cluster": "one", "name": "a"}]})
    );
}

#[tokio::test]
async fn an_6_11_a_cancelled_call_ends_at_once_and_says_so() {
    let (_hole, hole) = black_hole().await;
    let home = Home::new().with_cluster("hole", &format!("{{server: '{hole}'}}"), "{}");
    let fleet = Fleet::new(FleetOptions { connect_deadline: Duration::from_secs(600), ..home.write() });
    let told = Arc::new(Told::default());
    let call = told.call();
    let targets = Targets::default();
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        told.cancel.cancel();
    };
    let (fanned, ()) = futures::join!(list(&fleet, &targets, &call), cancel);
    assert_eq!(fanned.unwrap_err().code, Code::Cancelled);
}

#[tokio::test]
async fn an_6_19_sixty_four_first_calls_share_one_connection_and_four_turns() {
    let now = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let (busy, peak) = (Arc::clone(&now), Arc::clone(&most));
    let server = Server::tls(Shows::Good, move |_| {
        let (busy, peak) = (Arc::clone(&busy), Arc::clone(&peak));
        async move {
            peak.fetch_max(busy.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(2)).await;
            busy.fetch_sub(1, Ordering::SeqCst);
            answer(200, "{}")
        }
    })
    .await;
    let home = Home::new().with("one", &server, "{}");
    let fleet = Arc::new(home.fleet());
    let calls = (0..64).map(|_| {
        let fleet = Arc::clone(&fleet);
        tokio::spawn(async move {
            let cluster = fleet.cluster("one", &Call::detached()).await.unwrap();
            cluster.get_json::<Value>("/version").await
        })
    });
    let done = patiently(futures::future::join_all(calls)).await;
    assert!(done.into_iter().all(|answer| answer.unwrap().is_ok()));
    assert_eq!(server.seen().len(), 64);
    assert_eq!(server.connections(), 1);
    let most = most.load(Ordering::SeqCst);
    assert!((2..=4).contains(&most), "{most} in flight");
}
