//! The clusters that other tests rely on: that they are what they promise, and that nothing is left of them.

#![expect(clippy::unwrap_used, reason = "what cannot be set up is a failed test")]

mod listening;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use pintle_testkit::cluster::{Clusters, HOSTILE, helm, private, shared};
use pintle_testkit::skip;
use rustix::process::Signal;
use serde_json::json;

use listening::listening;

const DEPLOYMENT: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: registry.example/web:1}
";

const POD: &str = "
apiVersion: v1
kind: Pod
metadata: {name: alone, labels: {app: alone}}
spec:
  containers:
  - {name: main, image: registry.example/main:1}
  - {name: junk, image: registry.example/junk:1}
  - {name: silent, image: registry.example/silent:1}
";

/// The shared clusters, if there are three.
fn three() -> Option<&'static Clusters> {
    let clusters = shared()?;
    if clusters.contexts().len() < HOSTILE.len() {
        skip("one cluster is not enough: `cargo xtask cluster up 3` starts three");
        return None;
    }
    Some(clusters)
}

#[test]
fn three_clusters_with_hostile_names_run_a_deployment_each() {
    let Some(clusters) = three() else { return };
    assert_eq!(clusters.contexts()[..3], HOSTILE);
    for context in HOSTILE {
        let namespace = clusters.namespace(context, "deployment");
        namespace.apply(DEPLOYMENT);
        let pods = namespace.pods("app=web", "Running", 3);
        let table = clusters.kubectl(context, &["get", "pods", "--all-namespaces"]).text();
        for pod in &pods {
            assert!(table.lines().any(|line| line.contains(pod) && line.contains("Running")), "{pod} in {table}");
        }
        let everywhere = |other: &str| clusters.kubectl(other, &["get", "namespaces", "-o", "name"]).text();
        for other in HOSTILE {
            let there = everywhere(other).lines().any(|line| line == format!("namespace/{}", namespace.name()));
            assert_eq!(there, other == context, "a namespace of `{context}` looked for in `{other}`");
        }
    }
}

#[test]
fn the_kubeconfig_is_for_its_owner_only_and_the_other_user_may_nothing() {
    let Some(clusters) = shared() else { return };
    for file in [clusters.kubeconfig(), clusters.limited_kubeconfig()] {
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let context = &clusters.contexts()[0];
    let limited = clusters.limited_kubeconfig();
    let limited = format!("--kubeconfig={}", limited.display());
    let who = clusters.kubectl(context, &[&limited, "auth", "whoami", "-o", "json"]).json();
    assert_eq!(who["status"]["userInfo"]["username"], "alice");
    let refused = clusters.kubectl(context, &[&limited, "get", "pods"]);
    assert!(!refused.good);
    assert!(refused.stderr.contains("Forbidden") && refused.stderr.contains("alice"), "{}", refused.stderr);
}

#[test]
fn a_container_made_to_crash_stays_so() {
    let Some(clusters) = shared() else { return };
    let namespace = clusters.namespace(&clusters.contexts()[0], "crash");
    namespace.apply(POD);
    namespace.apply(DEPLOYMENT);
    namespace.pods("app=alone", "Running", 1);
    let owned = namespace.pods("app=web", "Running", 3).remove(0);
    namespace.make_wait("alone", "main", "CrashLoopBackOff", 7);
    namespace.make_wait(&owned, "web", "ImagePullBackOff", 0);
    // what plays the nodes has had its chance when it has started yet another pod
    namespace.kubectl(&["scale", "deployment/web", "--replicas=4"]);
    namespace.pods("app=web", "Running", 4);

    let alone = namespace.get(&["pod", "alone"]);
    let statuses = alone["status"]["containerStatuses"].as_array().unwrap();
    let main = statuses.iter().find(|status| status["name"] == "main").unwrap();
    assert_eq!(main["state"]["waiting"]["reason"], "CrashLoopBackOff");
    assert_eq!(main["restartCount"], 7);
    assert_eq!(main["lastState"]["terminated"]["exitCode"], 1);
    assert!(statuses.iter().filter(|status| status["name"] != "main").all(|status| status["ready"] == true));
    let table = namespace.kubectl(&["get", "pods", "--no-headers"]);
    let line = |pod: &str| table.lines().find(|line| line.starts_with(pod)).unwrap();
    assert!(line("alone").contains("2/3") && line("alone").contains("CrashLoopBackOff"), "{table}");
    assert!(line(&owned).contains("0/1") && line(&owned).contains("ImagePullBackOff"), "{table}");

    namespace.patch_status("pod/alone", &json!({"phase": "Failed", "reason": "Evicted"}));
    assert_eq!(namespace.get(&["pod", "alone"])["status"]["reason"], "Evicted");
}

#[test]
fn containers_say_what_their_names_promise() {
    let Some(clusters) = shared() else { return };
    let namespace = clusters.namespace(&clusters.contexts()[0], "logs");
    namespace.apply(POD);
    namespace.pods("app=alone", "Running", 1);
    let logs = |more: &[&str]| namespace.kubectl(&[&["logs", "alone", "-c"], more].concat());
    assert_eq!(logs(&["main"]).lines().count(), 200);
    assert_eq!(logs(&["main", "--tail=2"]), "line 199 of 200\nline 200 of 200\n");
    assert_eq!(logs(&["main", "--previous"]), "starting\npanic: cannot reach database\n");
    assert_eq!(logs(&["silent"]), "");
    let junk = logs(&["junk"]);
    assert!(junk.contains("\u{1b}[31mred") && junk.contains('\0') && junk.contains('\u{fffd}'), "{junk:?}");
}

#[test]
fn helm_installs_and_lists_a_release() {
    let Some(clusters) = shared() else { return };
    if helm().is_none() {
        return;
    }
    let namespace = clusters.namespace(&clusters.contexts()[0], "helm");
    let chart = tempfile::tempdir().unwrap();
    fs::write(chart.path().join("Chart.yaml"), "apiVersion: v2\nname: trial\nversion: 1.2.3\n").unwrap();
    fs::create_dir(chart.path().join("templates")).unwrap();
    fs::write(chart.path().join("templates/web.yaml"), DEPLOYMENT).unwrap();
    let run = |arguments: &[&str]| {
        let arguments = [arguments, &["--namespace", namespace.name()]].concat();
        clusters.helm(namespace.context(), &arguments).unwrap()
    };
    run(&["install", "first", &chart.path().to_string_lossy(), "--wait"]).text();
    namespace.pods("app=web", "Running", 3);
    let releases = run(&["list", "-o", "json"]).json();
    assert_eq!(releases[0]["chart"], "trial-1.2.3");
}

#[test]
fn one_of_three_hangs_and_dies_the_others_answer_and_nothing_is_left() {
    let Some(clusters) = private(&HOSTILE) else { return };
    let ask = |context: &str| clusters.kubectl(context, &["get", "nodes", "-o", "name", "--request-timeout=5s"]);
    let answers = || HOSTILE.map(|context| ask(context).good);
    assert_eq!(answers(), [true, true, true]);

    clusters.set().signal_apiserver(HOSTILE[1], Signal::STOP).unwrap();
    assert_eq!(answers(), [true, false, true]);
    clusters.set().signal_apiserver(HOSTILE[1], Signal::CONT).unwrap();
    assert_eq!(answers(), [true, true, true]);
    clusters.set().signal_apiserver(HOSTILE[1], Signal::KILL).unwrap();
    assert_eq!(answers(), [true, false, true]);
    let refused = ask(HOSTILE[1]).stderr;
    assert!(refused.contains("refused"), "{refused}");
    assert!(clusters.set().signal_apiserver("another", Signal::KILL).is_err());

    let folder = clusters.set().folder().to_owned();
    let processes: Vec<_> = clusters.set().state().processes().collect();
    assert_eq!(processes.len(), 2 + 3 * 4, "supervisor, etcd, and four of each cluster");
    let ports = listening(&processes);
    // a client and a peer port of etcd; kwok and, of two clusters, the API server
    assert!(ports.len() >= 2 + 3 + 2, "{ports:?}");
    clusters.stop();
    assert!(!folder.exists());
    assert!(processes.iter().all(|process| !process.runs()));
    for port in ports {
        let open = std::net::TcpStream::connect(("127.0.0.1", port));
        assert!(open.is_err(), "port {port} is still served");
    }
}

#[test]
fn a_killed_supervisor_takes_all_with_it() {
    let Some(clusters) = private(&["only"]) else { return };
    let processes: Vec<_> = clusters.set().state().processes().collect();
    assert_eq!(processes.len(), 2 + 4);
    assert!(processes.iter().all(testcluster::Process::runs));
    assert!(clusters.set().state().supervisor.signal(Signal::KILL).unwrap());
    for process in processes {
        assert!(process.gone_within(Duration::from_secs(60)), "process {} is left", process.pid);
    }
    clusters.stop();
}
