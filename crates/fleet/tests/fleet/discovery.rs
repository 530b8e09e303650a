//! What a server serves.

use crate::server::{Home, Seen, Server, answer, json, patiently, with};
use http::Response;
use pintle_core::Call;
use pintle_fleet::{Cluster, Unknown};
use serde_json::{Value, json};
use std::sync::Arc;

fn resource(plural: &str, kind: &str, short: &[&str]) -> Value {
    json!({"resource": plural, "responseKind": {"group": "", "version": "", "kind": kind}, "scope": "Namespaced",
        "singularResource": kind.to_lowercase(), "verbs": ["get", "list"], "shortNames": short})
}

fn group(name: &str, versions: &[(&str, Vec<Value>)]) -> Value {
    let versions: Vec<Value> = versions.iter().map(|(v, r)| json!({"version": v, "resources": r})).collect();
    json!({"metadata": {"name": name}, "versions": versions})
}

fn aggregated(seen: &Seen) -> Response<crate::server::Body> {
    assert!(seen.header("accept").unwrap().contains("g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"));
    let groups = match seen.target.as_str() {
        "/api" => {
            vec![group("", &[("v1", vec![resource("pods", "Pod", &["po"]), resource("events", "Event", &["ev"])])])]
        }
        "/apis" => vec![
            group("apps", &[("v1", vec![resource("deployments", "Deployment", &["deploy"])])]),
            group("events.k8s.io", &[("v1", vec![resource("events", "Event", &["ev"])])]),
            group("metrics.k8s.io", &[("v1beta1", vec![resource("pods", "PodMetrics", &[])])]),
            group(
                "a.example",
                &[
                    ("v2", vec![resource("widgets", "Widget", &["wd"])]),
                    ("v1", vec![resource("widgets", "Widget", &[])]),
                ],
            ),
            group("b.example", &[("v1", vec![resource("widgets", "Widget", &[])])]),
        ],
        other => panic!("asked for {other}"),
    };
    json(&json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": groups}))
}

async fn one(server: &Server) -> (Home, pintle_fleet::Fleet, Cluster) {
    let home = Home::new().with("one", server, "{}");
    let fleet = home.fleet();
    let cluster = fleet.cluster("one", &Call::detached()).await.unwrap();
    (home, fleet, cluster)
}

#[tokio::test]
async fn kw_61_it_takes_two_requests_once_and_none_for_a_while() {
    let server = Server::plain(|seen| async move {
        if seen.header("if-none-match").is_some() {
            answer(304, "")
        } else {
            with(aggregated(&seen), "etag", "\"one\"")
        }
    })
    .await;
    let (_home, fleet, cluster) = one(&server).await;
    let (first, second) = futures::join!(cluster.discovery(), cluster.discovery());
    assert!(Arc::ptr_eq(&first.unwrap(), &second.unwrap()));
    fleet.cluster("one", &Call::detached()).await.unwrap().discovery().await.unwrap();
    let mut targets = server.targets();
    targets.sort();
    assert_eq!(targets, ["/api", "/apis"]);
    let again = patiently(cluster.rediscover()).await.unwrap();
    assert_eq!(server.seen().len(), 4);
    assert_eq!(server.seen()[3].header("if-none-match"), Some("\"one\""));
    assert!(again.find("pods").is_ok(), "what is unchanged is still known");
}

#[tokio::test]
async fn an_6_09_kinds_are_found_by_every_name_and_two_groups_are_told_apart() {
    let server = Server::plain(|seen| async move { aggregated(&seen) }).await;
    let (_home, _fleet, cluster) = one(&server).await;
    let known = cluster.discovery().await.unwrap();
    let path = |word: &str| known.find(word).map(|kind| kind.path(None));
    for word in ["pods", "pod", "po", "Pod", "PODS", "pods.v1"] {
        assert_eq!(path(word).unwrap(), "/api/v1/pods", "{word}");
    }
    assert_eq!(path("events").unwrap(), "/api/v1/events", "the core group comes first");
    assert_eq!(path("events.events.k8s.io").unwrap(), "/apis/events.k8s.io/v1/events");
    assert_eq!(path("deploy").unwrap(), "/apis/apps/v1/deployments");
    assert_eq!(path("deployments.v1.apps").unwrap(), "/apis/apps/v1/deployments");
    assert_eq!(path("wd").unwrap(), "/apis/a.example/v2/widgets", "the preferred version");
    assert_eq!(path("widgets.v1.a.example").unwrap(), "/apis/a.example/v1/widgets");
    assert_eq!(path("widget.b.example").unwrap(), "/apis/b.example/v1/widgets");
    let several = Unknown::Several(vec!["widgets.a.example".to_owned(), "widgets.b.example".to_owned()]);
    assert_eq!(path("Widget").unwrap_err(), several);
    assert_eq!(path("deploymnets").unwrap_err(), Unknown::Nothing(Some("deployments".to_owned())));
    assert_eq!(known.of_kind("a.example/v1", "Widget").unwrap().version, "v1");
    assert!(known.has_verb(known.find("po").unwrap(), "list") && !known.has_verb(known.find("po").unwrap(), "watch"));
    assert_eq!(known.types().filter(|kind| kind.plural == "widgets").count(), 2, "one version of each");
}

#[tokio::test]
async fn older_servers_are_asked_version_by_version() {
    let server = Server::plain(|seen| async move {
        match seen.target.as_str() {
            "/api" => json(&json!({"kind": "APIVersions", "versions": ["v1"]})),
            "/apis" => json(&json!({"kind": "APIGroupList", "groups": [
                {"name": "apps", "preferredVersion": {"groupVersion": "apps/v1", "version": "v1"},
                    "versions": [{"groupVersion": "apps/v1beta1", "version": "v1beta1"}, {"groupVersion": "apps/v1", "version": "v1"}]}]})),
            "/api/v1" => json(&json!({"kind": "APIResourceList", "groupVersion": "v1", "resources": [
                {"name": "nodes", "singularName": "", "namespaced": false, "kind": "Node", "verbs": ["list"], "shortNames": ["no"]},
                {"name": "pods/log", "singularName": "", "namespaced": true, "kind": "Pod", "verbs": ["get"]}]})),
            "/apis/apps/v1" | "/apis/apps/v1beta1" => json(&json!({"resources": [
                {"name": "deployments", "singularName": "deployment", "namespaced": true, "kind": "Deployment", "verbs": ["list"]}]})),
            other => panic!("asked for {other}"),
        }
    })
    .await;
    let (_home, _fleet, cluster) = one(&server).await;
    let known = patiently(cluster.discovery()).await.unwrap();
    assert_eq!(known.find("no").unwrap().path(Some("x")), "/api/v1/nodes");
    assert_eq!(known.find("deployment").unwrap().path(None), "/apis/apps/v1/deployments");
    assert_eq!(known.types().count(), 2, "subresources are no types");
}

#[tokio::test]
async fn what_is_no_discovery_is_an_error() {
    let server = Server::plain(|_| async { json(&json!({"kind": "Status"})) }).await;
    let (_home, _fleet, cluster) = one(&server).await;
    assert_eq!(cluster.discovery().await.unwrap_err().cause.code(), "bad_answer");
}
