//! What the tools cost in memory. A process of its own, since it measures.
#![allow(
    clippy::unwrap_used,
    dead_code,
    reason = "a test that cannot go on fails; the world has more than is used here"
)]

#[path = "../reads/world.rs"]
mod world;

use pintle_testkit::kube::{FakeCluster, Objects};
use serde_json::json;
use world::World;

/// A figure of our own memory, in KiB.
fn figure(name: &str) -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse().unwrap()
}

/// Lets the peak begin anew from what is resident now.
fn forget_peak() {
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
}

async fn world(pods: usize) -> World {
    // A record of requests would grow with them.
    let cluster = FakeCluster::setup(Objects::new().pods(pods)).unrecorded().start().await.unwrap();
    let kubeconfig = cluster.kubeconfig(["one"]);
    World::with(vec![cluster], &kubeconfig)
}

/// One test, since the figures are of the whole process.
#[tokio::test]
async fn memory_stays_flat_over_ten_thousand_calls_and_low_over_five_thousand_pods() {
    let small = world(3).await;
    let call = async |rounds: usize| {
        for round in 0..rounds {
            let tool = ["get_pods", "find_pod_issues", "get_nodes", "list_clusters"][round % 4];
            small.answer(tool, json!({})).await;
        }
    };
    // What is kept for good comes with the first calls.
    call(1_000).await;
    let before = figure("VmRSS:");
    call(10_000).await;
    let grown = figure("VmRSS:") - before;
    assert!(grown <= 2 * 1024, "{grown} KiB more after 10,000 calls");

    let large = world(5_000).await;
    for (tool, most) in [("get_pods", 16), ("find_pod_issues", 12)] {
        // The server keeps the pages of the first call, and so do our caches.
        large.answer(tool, json!({})).await;
        forget_peak();
        let before = figure("VmHWM:");
        let answer = large.answer(tool, json!({})).await;
        let grown = figure("VmHWM:") - before;
        assert!(answer.to_string().len() > 5_000, "{tool} answers");
        assert!(grown <= most * 1024, "{tool}: {grown} KiB at most, of 30 MB that come");
    }
}
