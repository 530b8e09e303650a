//! Who we are to a server.

use crate::server::{Home, Server, Shows, Told, answer, json, patiently, status};
use pintle_core::{Call, Secret};
use pintle_fleet::{Cluster, ClusterError, Fleet, FleetOptions, Impersonation, Overrides};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

async fn ask(fleet: &Fleet, call: &Call) -> Result<Value, ClusterError> {
    let cluster: Cluster = fleet.cluster("one", call).await.unwrap();
    patiently(cluster.get_json("/version")).await
}

async fn open_door() -> Server {
    Server::plain(|_| async { json(&json!({})) }).await
}

fn sent(server: &Server) -> Vec<String> {
    server.seen().iter().map(|seen| seen.header("authorization").unwrap_or("nobody").to_owned()).collect()
}

#[tokio::test]
async fn an_6_13_written_credentials_are_sent_and_known_to_the_redactor_first() {
    let table = [
        ("{}", "nobody", None),
        ("{token: canary-token}", "Bearer canary-token", Some("canary-token")),
        ("{username: ann, password: canary-word}", "Basic YW5uOmNhbmFyeS13b3Jk", Some("canary-word")),
    ];
    for (user, wanted, secret) in table {
        let server = open_door().await;
        let home = Home::new().with("one", &server, user);
        let told = Arc::new(Told::default());
        ask(&home.fleet(), &told.call()).await.unwrap();
        assert_eq!(sent(&server), [wanted]);
        let known = told.secrets.lock().unwrap();
        assert!(secret.is_none_or(|secret| known.iter().any(|known| known == secret)), "{known:?}");
    }
}

#[tokio::test]
async fn a_token_file_that_rotates_is_followed() {
    let server = open_door().await;
    let home = Home::new().with("one", &server, "{tokenFile: token, token: fallback}");
    let fleet = home.fleet();
    let file = home.folder.path().join("token");
    ask(&fleet, &Call::detached()).await.unwrap();
    std::fs::write(&file, "first\n").unwrap();
    ask(&fleet, &Call::detached()).await.unwrap();
    // As kubelet does it: another file under the same name.
    std::fs::write(home.folder.path().join("new"), "other\n").unwrap();
    std::fs::rename(home.folder.path().join("new"), &file).unwrap();
    ask(&fleet, &Call::detached()).await.unwrap();
    assert_eq!(sent(&server), ["Bearer fallback", "Bearer first", "Bearer other"]);
}

#[tokio::test]
async fn an_6_08_a_plug_in_runs_once_for_a_hundred_calls_and_once_more_when_refused() {
    let accepted = Arc::new(Mutex::new("token-1".to_owned()));
    let wanted = Arc::clone(&accepted);
    let server = Server::tls(Shows::Good, move |seen| {
        let good = seen.header("authorization") == Some(&format!("Bearer {}", wanted.lock().unwrap()));
        async move { if good { answer(200, "{}") } else { status(401, "Unauthorized") } }
    })
    .await;
    let home = Home::new();
    let runs = home.folder.path().join("runs");
    let script = format!(
        r#"echo run >> '{0}'; n=$(wc -l < '{0}'); printf '{{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{{"token":"token-%d"}}}}' "$n""#,
        runs.display()
    );
    let exec = json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "/bin/sh",
        "args": ["-c", script], "interactiveMode": "Never"}});
    let home = home.with("one", &server, &exec.to_string());
    let fleet = home.fleet();
    let count = || std::fs::read_to_string(&runs).unwrap().lines().count();
    let told = Arc::new(Told::default());
    for _ in 0..100 {
        ask(&fleet, &told.call()).await.unwrap();
    }
    assert_eq!(count(), 1);
    assert!(told.secrets.lock().unwrap().contains(&"token-1".to_owned()));
    *accepted.lock().unwrap() = "token-2".to_owned();
    ask(&fleet, &Call::detached()).await.unwrap();
    assert_eq!(count(), 2, "the server refused the first: one more");
    *accepted.lock().unwrap() = "nothing it gives".to_owned();
    let error = ask(&fleet, &Call::detached()).await.unwrap_err();
    assert_eq!((error.cause.code(), count()), ("unauthorized", 3), "and not for ever");
    assert_eq!(server.connections(), 1, "another token needs no other connection");
}

#[tokio::test]
async fn impersonation_comes_from_our_configuration_or_from_the_kubeconfig() {
    let server = open_door().await;
    let home = Home::new().with(
        "one",
        &server,
        "{token: t, as: ann, as-groups: [a, b], as-uid: '7', as-user-extra: {x/y: [v]}}",
    );
    ask(&home.fleet(), &Call::detached()).await.unwrap();
    let whom = Impersonation { user: "bob".to_owned(), ..Impersonation::default() };
    let ours = FleetOptions { impersonate: [("one".to_owned(), whom)].into(), ..home.write() };
    ask(&Fleet::new(ours), &Call::detached()).await.unwrap();
    let seen = server.seen();
    let all = |at: usize, name: &str| {
        seen[at].headers.get_all(name).iter().map(|v| v.to_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(all(0, "impersonate-user"), ["ann"]);
    assert_eq!(all(0, "impersonate-group"), ["a", "b"]);
    assert_eq!(all(0, "impersonate-uid"), ["7"]);
    assert_eq!(all(0, "impersonate-extra-x%2fy"), ["v"]);
    assert_eq!((all(1, "impersonate-user"), all(1, "impersonate-group")), (vec!["bob".to_owned()], Vec::new()));
}

#[tokio::test]
async fn kw_71_a_token_from_the_command_line_goes_to_the_current_context_only() {
    let (first, second) = (open_door().await, open_door().await);
    let home = Home::new().with("one", &first, "{token: own}").with("two", &second, "{token: theirs}");
    let overrides = Overrides { token: Some(Secret::new("--token", "given")), ..Overrides::default() };
    let fleet = Fleet::new(FleetOptions { overrides, ..home.write() });
    ask(&fleet, &Call::detached()).await.unwrap();
    fleet.cluster("two", &Call::detached()).await.unwrap().get_json::<Value>("/version").await.unwrap();
    assert_eq!((sent(&first), sent(&second)), (vec!["Bearer given".to_owned()], vec!["Bearer theirs".to_owned()]));
}

#[tokio::test]
async fn what_cannot_be_used_is_said_with_its_context() {
    let server = open_door().await;
    let table = [
        ("{token: \"a\\nb\"}", "bad_config", "characters that no header can carry"),
        ("{tokenFile: absent}", "bad_config", "cannot be read"),
        ("{auth-provider: {name: gcp}}", "bad_config", "auth-provider `gcp` is not supported"),
        (
            "{exec: {apiVersion: client.authentication.k8s.io/v1, command: no-such-plug-in}}",
            "plugin_missing",
            "not installed",
        ),
    ];
    for (user, code, wanted) in table {
        let home = Home::new().with("one", &server, user);
        let fleet = home.fleet();
        // Some are found when the cluster is opened, some when it is asked.
        let told = match fleet.cluster("one", &Call::detached()).await {
            Ok(cluster) => pintle_core::Failure::from(cluster.get_json::<Value>("/version").await.unwrap_err()),
            Err(failure) => failure,
        };
        assert_eq!(told.details.as_ref().unwrap()["error"], code, "{told:?}");
        assert!(told.message.starts_with("cluster `one`: ") && told.message.contains(wanted), "{told:?}");
    }
    assert!(server.seen().is_empty());
}
