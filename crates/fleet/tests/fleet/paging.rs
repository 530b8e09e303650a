//! Lists, page by page, when all goes well and when it does not.

use crate::server::{Home, Seen, Server, Shows, answer, broken_off, json, patiently, status, with};
use http::Response;
use pintle_core::Call;
use pintle_fleet::{Cause, Cluster, ClusterError, Fleet, FleetOptions, ListParams, Listing, ResourceType};
use serde::Deserialize;
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

#[derive(Deserialize)]
struct Slim {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
}

/// The page that a request asks for, of that many pods; a generation in the token tells lists apart.
fn page(seen: &Seen, pods: usize, generation: usize) -> Value {
    let limit: usize = seen.parameter("limit").map_or(usize::MAX, |limit| limit.parse().unwrap());
    let from: usize = seen.parameter("continue").map_or(0, |token| token.split_once('@').unwrap().0.parse().unwrap());
    let to = from.saturating_add(limit).min(pods);
    let items: Vec<Value> = (from..to)
        .map(|n| json!({"metadata": {"name": format!("pod-{n:04}"), "managedFields": [{"a": n}]}, "status": null}))
        .collect();
    let mut metadata = json!({"resourceVersion": "7"});
    if to < pods {
        metadata["continue"] = json!(format!("{to}@{generation}"));
        metadata["remainingItemCount"] = json!(pods - to);
    }
    json!({"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": items})
}

async fn names(cluster: &Cluster, params: &ListParams) -> Result<Listing<Vec<String>>, ClusterError> {
    let take = |names: &mut Vec<String>, page: Vec<Slim>| names.extend(page.into_iter().map(|pod| pod.metadata.name));
    patiently(cluster.list_pages(&ResourceType::PODS, params, Vec::new, take)).await
}

fn fleet(server: &Server) -> (Home, Fleet) {
    let home = Home::new().with("one", server, "{}");
    let fleet = home.fleet();
    (home, fleet)
}

async fn one(fleet: &Fleet) -> Cluster {
    fleet.cluster("one", &Call::detached()).await.unwrap()
}

#[tokio::test]
async fn pages_follow_each_other_and_parameters_are_escaped() {
    let server = Server::tls(Shows::Good, |seen| async move { json(&page(&seen, 1234, 0)) }).await;
    let (_home, fleet) = fleet(&server);
    let params = ListParams {
        namespace: Some("web".to_owned()),
        label_selector: Some("app in (a, b),x!=y&limit=1".to_owned()),
        field_selector: Some("status.phase!=Running".to_owned()),
        ..ListParams::default()
    };
    let listing = names(&one(&fleet).await, &params).await.unwrap();
    assert_eq!((listing.objects, listing.pages, listing.restarts), (1234, 3, 0));
    assert_eq!(listing.value.len(), 1234);
    assert_eq!((listing.remaining, listing.continue_token.as_deref()), (None, None));
    let seen = server.seen();
    assert!(seen.iter().all(|seen| seen.method == "GET" && seen.target.starts_with("/api/v1/namespaces/web/pods?")));
    assert_eq!(seen[0].parameter("labelSelector").unwrap(), "app in (a, b),x!=y&limit=1");
    assert_eq!(seen[0].parameter("fieldSelector").unwrap(), "status.phase!=Running");
    assert_eq!(seen[0].parameter("limit").unwrap(), "500");
    assert_eq!(seen[1].parameter("continue").unwrap(), "500@0");
    assert_eq!(server.connections(), 1, "one warm connection");
}

#[tokio::test]
async fn a_list_that_stops_early_says_where_to_go_on() {
    let server = Server::plain(|seen| async move { json(&page(&seen, 1000, 0)) }).await;
    let (_home, fleet) = fleet(&server);
    let cluster = one(&fleet).await;
    let params = ListParams { page_size: 100, most: Some(250), ..ListParams::default() };
    let first = names(&cluster, &params).await.unwrap();
    assert_eq!((first.objects, first.remaining), (300, Some(700)));
    let params = ListParams { continue_token: first.continue_token, most: None, ..params };
    let rest = names(&cluster, &params).await.unwrap();
    assert_eq!((rest.value[0].as_str(), rest.objects, rest.remaining), ("pod-0300", 700, None));
}

#[tokio::test]
async fn a_list_that_gets_too_old_on_the_way_begins_anew_and_nothing_comes_twice() {
    let generation = Arc::new(AtomicUsize::new(0));
    let current = Arc::clone(&generation);
    let server = Server::plain(move |seen| {
        let current = Arc::clone(&current);
        async move {
            let now = current.load(Ordering::SeqCst);
            match seen.parameter("continue") {
                // The first list is compacted away before its third page.
                Some(token) if token == "1000@0" => {
                    current.store(1, Ordering::SeqCst);
                    status(410, "The provided continue parameter is too old")
                }
                _ => json(&page(&seen, 3000, now)),
            }
        }
    })
    .await;
    let (_home, fleet) = fleet(&server);
    let listing = names(&one(&fleet).await, &ListParams::default()).await.unwrap();
    assert_eq!((listing.objects, listing.restarts), (3000, 1));
    assert_eq!(listing.value.iter().collect::<BTreeSet<_>>().len(), 3000, "each once");
    assert_eq!(listing.notes(), ["the list became too old on the way and was begun anew"]);
}

#[tokio::test]
async fn a_list_that_is_always_too_old_is_asked_for_in_one_piece_at_last() {
    let server = Server::plain(|seen| async move {
        if seen.parameter("continue").is_some() { status(410, "too old") } else { json(&page(&seen, 5000, 0)) }
    })
    .await;
    let (_home, fleet) = fleet(&server);
    let listing = names(&one(&fleet).await, &ListParams::default()).await.unwrap();
    assert_eq!((listing.objects, listing.restarts, listing.pages), (5000, 2, 1));
    assert_eq!(server.seen().last().unwrap().parameter("limit"), None);

    let params = ListParams { continue_token: Some("500@0".to_owned()), ..ListParams::default() };
    let error = names(&one(&fleet).await, &params).await.unwrap_err();
    assert_eq!(error.cause.code(), "gone", "what came before a caller's own token is not repeated");
}

#[tokio::test]
async fn a_busy_server_is_waited_for_as_it_asks() {
    let busy = AtomicUsize::new(0);
    let server = Server::plain(move |seen| {
        let count = busy.fetch_add(1, Ordering::SeqCst);
        async move {
            match count {
                0 => with(status(429, "too many"), "retry-after", "0"),
                2 => with(status(503, "starting"), "retry-after", "0"),
                _ => json(&page(&seen, 600, 0)),
            }
        }
    })
    .await;
    let (_home, fleet) = fleet(&server);
    let listing = names(&one(&fleet).await, &ListParams::default()).await.unwrap();
    assert_eq!((listing.objects, listing.restarts), (600, 0));
    assert_eq!(server.targets().len(), 4, "both pages were asked for twice");
}

#[tokio::test]
async fn an_6_07_a_server_that_stays_busy_longer_than_we_may_wait_is_told() {
    let server = Server::plain(|_| async { with(status(429, "slow\n\x1b[1mdown"), "retry-after", "3600") }).await;
    let (_home, fleet) = fleet(&server);
    let error = names(&one(&fleet).await, &ListParams::default()).await.unwrap_err();
    assert_eq!(error.cause, Cause::Busy { status: 429, said: "slow down".to_owned() });
    assert_eq!(server.targets().len(), 1, "nobody waits an hour");
}

#[tokio::test]
async fn an_answer_that_does_not_hold_together_is_told_and_not_repeated() {
    type Make = fn() -> Response<crate::server::Body>;
    let table: [(&str, Make, &str); 6] = [
        ("broken JSON", || answer(200, r#"{"metadata":{},"items":[{"canary":"#), "the JSON ends too early"),
        ("no JSON", || answer(200, "<html>canary</html>"), "it is no JSON, at line 1"),
        ("another shape", || answer(200, r#"{"items":"canary"}"#), "not what the API promises"),
        ("broken off", || broken_off(br#"{"items":[{"canary":"#), "it broke off after 20 bytes"),
        ("nothing", || answer(200, ""), "the JSON ends too early"),
        (
            "in a circle",
            || answer(200, r#"{"metadata":{"continue":"x@y"},"items":[]}"#),
            "its continue token leads to itself",
        ),
    ];
    for (name, make, wanted) in table {
        for tls in [true, false] {
            let server = if tls {
                Server::tls(Shows::Good, move |_| async move { make() }).await
            } else {
                Server::plain(move |_| async move { make() }).await
            };
            let (_home, fleet) = fleet(&server);
            let error = names(&one(&fleet).await, &ListParams::default()).await.unwrap_err();
            assert_eq!(error.cause.code(), "bad_answer", "{name}: {error}");
            assert!(error.to_string().contains(wanted), "{name}: {error}");
            assert!(!format!("{error} {error:?}").contains("canary"), "{name}: {error:?}");
        }
    }
}

#[tokio::test]
async fn null_stands_for_an_empty_list() {
    let server = Server::plain(|_| async { answer(200, r#"{"metadata":null,"items":null}"#) }).await;
    let (_home, fleet) = fleet(&server);
    assert_eq!(names(&one(&fleet).await, &ListParams::default()).await.unwrap().objects, 0);
}

#[tokio::test]
async fn an_answer_larger_than_is_accepted_is_refused() {
    let server = Server::plain(|seen| async move { json(&page(&seen, 5000, 0)) }).await;
    let home = Home::new().with("one", &server, "{}");
    let fleet = Fleet::new(FleetOptions { body_limit: 10_000, ..home.write() });
    let error = names(&one(&fleet).await, &ListParams::default()).await.unwrap_err();
    assert_eq!(error.cause.code(), "too_large");
}

#[tokio::test]
async fn refusals_of_a_server_are_told_apart() {
    let table = [
        (400, "rejected", "the server refused the request (400): unable to parse"),
        (401, "unauthorized", "does not accept the credential (401)"),
        (403, "forbidden", "forbidden (403)"),
        (404, "not_found", "/api/v1/pods not found"),
        (410, "gone", "no longer there (410)"),
        (500, "rejected", "(500)"),
    ];
    for (code, word, wanted) in table {
        let server = Server::plain(move |_| async move { status(code, "unable to parse") }).await;
        let (_home, fleet) = fleet(&server);
        let error = names(&one(&fleet).await, &ListParams::default()).await.unwrap_err();
        assert_eq!(error.cause.code(), word);
        assert!(error.to_string().contains(wanted), "{error}");
    }
}

#[tokio::test]
async fn a_table_is_read_without_knowing_the_kind() {
    let server = Server::plain(|_| async {
        json(&json!({"kind": "Table", "metadata": {"resourceVersion": "1"},
            "columnDefinitions": [{"name": "Name", "type": "string", "priority": 0}],
            "rows": [{"cells": ["a", 1, null], "object": {"metadata": {"name": "a"}}}, {"cells": null}]}))
    })
    .await;
    let (_home, fleet) = fleet(&server);
    let cluster = one(&fleet).await;
    let listing = cluster
        .list_table(&ResourceType::NODES, &ListParams::default(), Vec::new, |pages, page| pages.push(page))
        .await
        .unwrap();
    assert_eq!(listing.objects, 2);
    assert_eq!(listing.value[0].columns[0].name, "Name");
    assert_eq!(listing.value[0].rows[0].cells, [json!("a"), json!(1), Value::Null]);
    assert!(server.seen()[0].header("accept").unwrap().contains("as=Table"));
}

#[tokio::test]
async fn an_6_11_giving_up_ends_the_request_at_the_server() {
    for tls in [true, false] {
        let hang = |_: Seen| async {
            tokio::time::sleep(Duration::from_secs(600)).await;
            answer(200, "")
        };
        let server = if tls { Server::tls(Shows::Good, hang).await } else { Server::plain(hang).await };
        let (_home, fleet) = fleet(&server);
        let told = Arc::new(crate::server::Told::default());
        let cluster = fleet.cluster("one", &told.call()).await.unwrap();
        let listing = tokio::spawn(async move { names(&cluster, &ListParams::default()).await });
        patiently(async {
            while server.seen().is_empty() {
                tokio::task::yield_now().await;
            }
        })
        .await;
        told.cancel.cancel();
        assert_eq!(patiently(listing).await.unwrap().unwrap_err().cause, Cause::Cancelled);
        patiently(async {
            while server.given_up.load(Ordering::SeqCst) == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
    }
}
