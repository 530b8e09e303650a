//! Ways to a server: kept connections, proxies, paths, names that do not resolve.

use crate::server::{Home, Server, Shows, accept, answer, json, patiently};
use base64::{Engine, engine::general_purpose::STANDARD};
use pintle_core::Call;
use pintle_fleet::{Fleet, FleetOptions};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
};
use tokio_util::sync::CancellationToken;

async fn ask(fleet: &Fleet) -> Result<Value, pintle_fleet::ClusterError> {
    let cluster = fleet.cluster("one", &Call::detached()).await.unwrap();
    patiently(cluster.get_json("/version")).await
}

#[tokio::test]
async fn kw_60_kw_61_one_connection_stays_warm_until_the_kubeconfig_says_otherwise() {
    let server = Server::tls(Shows::Good, |_| async { json(&json!({})) }).await;
    let home = Home::new().with("one", &server, "{token: a}");
    let fleet = home.fleet();
    for _ in 0..10 {
        ask(&fleet).await.unwrap();
    }
    assert_eq!(server.connections(), 1);
    assert!(server.seen().iter().all(|seen| seen.version == http::Version::HTTP_2));
    // Something else in the file changes: the connection stays, though every entry has moved.
    let text = std::fs::read_to_string(home.folder.path().join("config")).unwrap();
    std::fs::write(home.folder.path().join("config"), format!("# moved\n\n{text}")).unwrap();
    ask(&fleet).await.unwrap();
    assert_eq!(server.connections(), 1);
    std::fs::write(home.folder.path().join("config"), text.replace("token: a", "token: b")).unwrap();
    ask(&fleet).await.unwrap();
    assert_eq!(server.connections(), 2);
    assert_eq!(server.seen().last().unwrap().header("authorization"), Some("Bearer b"));
}

#[tokio::test]
async fn nothing_is_read_and_nobody_is_asked_before_a_call_needs_it() {
    let home = Home::new();
    let fleet = Fleet::new(FleetOptions::default().with_kubeconfig(home.folder.path().join("absent")));
    assert!(fleet.kubeconfig().await.is_err(), "only now the file is missed");
    let server = Server::plain(|_| async { answer(200, "{}") }).await;
    let home = Home::new().with("one", &server, "{}");
    let cluster = home.fleet().cluster("one", &Call::detached()).await.unwrap();
    assert_eq!(server.connections(), 0, "opening a cluster asks nothing of it");
    cluster.get_json::<Value>("/version").await.unwrap();
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_kept_connection_that_died_is_replaced_without_a_word() {
    // Speaks by hand: answers once, then closes.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let serve = tokio::spawn(async move {
        for _ in 0..3 {
            let mut stream = accept(&listener).await;
            let mut heard = [0; 4096];
            let _ = stream.read(&mut heard).await.unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").await.unwrap();
        }
    });
    let home = Home::new().with_cluster("one", &format!("{{server: '{url}'}}"), "{}");
    let fleet = home.fleet();
    for _ in 0..3 {
        ask(&fleet).await.unwrap();
    }
    patiently(serve).await.unwrap();
}

#[tokio::test]
async fn a_kept_connection_that_fell_silent_is_replaced() {
    let server = Server::tls(Shows::Good, |_| async { json(&json!({})) }).await;
    let target: std::net::SocketAddr = server.url.trim_start_matches("https://").parse().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let relayed = format!("https://{}", listener.local_addr().unwrap());
    let silence = CancellationToken::new();
    let silent = silence.clone();
    tokio::spawn(async move {
        let mut kept = Vec::new();
        for number in 0.. {
            let mut here = accept(&listener).await;
            let silent = silent.clone();
            kept.push(tokio::spawn(async move {
                let mut there = TcpStream::connect(target).await.unwrap();
                let relay = copy_bidirectional(&mut here, &mut there);
                if number == 0 {
                    // Both sockets stay open: nobody is told.
                    let _ = silent.run_until_cancelled(relay).await;
                    std::future::pending::<()>().await;
                } else {
                    let _ = relay.await;
                }
            }));
        }
    });
    let authority = STANDARD.encode(server.authority.as_ref().unwrap());
    let cluster = format!("{{server: '{relayed}', certificate-authority-data: {authority}}}");
    let home = Home::new().with_cluster("one", &cluster, "{}");
    let fleet = Fleet::new(FleetOptions { connect_deadline: Duration::from_millis(400), ..home.write() });
    ask(&fleet).await.unwrap();
    silence.cancel();
    ask(&fleet).await.unwrap();
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn a_server_that_closes_without_a_word_is_unreachable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let serve = tokio::spawn(async move {
        loop {
            let mut stream = accept(&listener).await;
            let _ = stream.read(&mut [0; 4096]).await;
            // Half-closed: its side ends, ours stays open.
            let _ = stream.shutdown().await;
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_secs(600)).await;
                drop(stream);
            });
        }
    });
    let home = Home::new().with_cluster("one", &format!("{{server: '{url}'}}"), "{}");
    let error = ask(&home.fleet()).await.unwrap_err();
    assert_eq!(error.cause.code(), "unreachable", "{error}");
    serve.abort();
}

#[tokio::test]
async fn a_path_in_front_of_the_api_is_kept() {
    let server = Server::plain(|_| async { json(&json!({})) }).await;
    let cluster = format!("{{server: '{}/k8s/clusters/c-1/'}}", server.url);
    let home = Home::new().with_cluster("one", &cluster, "{}");
    ask(&home.fleet()).await.unwrap();
    assert_eq!(server.targets(), ["/k8s/clusters/c-1/version"]);
}

#[tokio::test]
async fn a_name_that_does_not_resolve_is_told_as_such() {
    let home = Home::new().with_cluster("one", "{server: 'https://api.invalid:6443'}", "{}");
    let error = ask(&home.fleet()).await.unwrap_err();
    assert_eq!(error.cause.code(), "dns");
    assert!(error.to_string().contains("`api.invalid` does not resolve"), "{error}");
}

#[tokio::test]
async fn servers_that_are_no_urls_are_refused_before_anything_is_sent() {
    for (server, wanted) in [
        ("''", "has no `server`"),
        ("'ftp://x'", "neither https nor http"),
        ("'https://'", "is no URL"),
        ("'https://ann:canary@x'", "holds a user or password"),
    ] {
        let home = Home::new().with_cluster("one", &format!("{{server: {server}}}"), "{}");
        let failure = home.fleet().cluster("one", &Call::detached()).await.err().unwrap();
        assert!(failure.message.contains(wanted) && !failure.text().contains("canary"), "{failure:?}");
    }
}

/// A proxy that notes what it was asked and joins both sides.
async fn proxy(socks: bool, target: std::net::SocketAddr) -> (String, tokio::task::JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serve = tokio::spawn(async move {
        let mut stream = accept(&listener).await;
        let mut heard = vec![0; 4096];
        let asked;
        if socks {
            let read = stream.read(&mut heard).await.unwrap();
            assert_eq!(heard[0], 5, "{:?}", &heard[..read]);
            stream.write_all(&[5, 0]).await.unwrap();
            let read = stream.read(&mut heard).await.unwrap();
            asked = heard[..read].to_vec();
            stream.write_all(&[5, 0, 0, 1, 127, 0, 0, 1, 0, 0]).await.unwrap();
        } else {
            let read = stream.read(&mut heard).await.unwrap();
            asked = heard[..read].to_vec();
            stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.unwrap();
        }
        let mut there = TcpStream::connect(target).await.unwrap();
        let _ = copy_bidirectional(&mut stream, &mut there).await;
        asked
    });
    (format!("{}://{address}", if socks { "socks5" } else { "http" }), serve)
}

#[tokio::test]
async fn a_proxy_leads_there_and_hears_neither_token_nor_path() {
    for socks in [false, true] {
        let server = Server::tls(Shows::Good, |_| async { json(&json!({})) }).await;
        let target = server.url.trim_start_matches("https://").parse().unwrap();
        let (url, heard) = proxy(socks, target).await;
        let authority = STANDARD.encode(server.authority.as_ref().unwrap());
        let cluster =
            format!("{{server: '{}', certificate-authority-data: {authority}, proxy-url: '{url}'}}", server.url);
        let home = Home::new().with_cluster("one", &cluster, "{token: canary}");
        let fleet = home.fleet();
        ask(&fleet).await.unwrap();
        drop(fleet);
        let asked = patiently(heard).await.unwrap();
        let text = String::from_utf8_lossy(&asked);
        if socks {
            assert_eq!(&asked[..4], [5, 1, 0, 1], "{asked:?}");
        } else {
            assert!(text.starts_with(&format!("CONNECT {target} HTTP/1.1\r\n")), "{text}");
        }
        assert!(!text.contains("canary") && !text.contains("/version"), "{text}");
    }
}

#[tokio::test]
async fn a_proxy_that_is_not_there_is_named() {
    let gone = crate::server::closed().await.replace("https", "http");
    let cluster = format!("{{server: 'https://10.255.255.1:6443', proxy-url: '{gone}'}}");
    let home = Home::new().with_cluster("one", &cluster, "{}");
    let fleet = Fleet::new(FleetOptions { connect_deadline: Duration::from_secs(5), ..home.write() });
    let error = ask(&fleet).await.unwrap_err();
    assert!(error.to_string().contains("proxy 127.0.0.1:"), "{error}");
    let cluster = "{server: 'https://10.255.255.1:6443', proxy-url: 'ftp://127.0.0.1:1'}";
    let home = Home::new().with_cluster("one", cluster, "{}");
    let error = ask(&home.fleet()).await.unwrap_err();
    assert_ne!(error.cause.code(), "timed_out", "{error}");
}

#[tokio::test]
async fn logs_are_exact_bytes_up_to_a_bound() {
    let server = Server::plain(|_| async { answer(200, &b"ok \xff\xfe \x1b[31mred \xc3\xa4\xc3\xb6"[..]) }).await;
    let home = Home::new().with("one", &server, "{}");
    let fleet = home.fleet();
    let cluster = fleet.cluster("one", &Call::detached()).await.unwrap();
    let path = "/api/v1/namespaces/a/pods/b/log?tailLines=5";
    let whole = cluster.text(path, 1000).await.unwrap();
    assert_eq!((whole.bytes.len(), whole.cut), (19, false));
    assert!(whole.foreign().lossy && whole.foreign().text.ends_with("red äö"));
    let cut = cluster.text(path, 18).await.unwrap();
    assert!(cut.cut && cut.bytes.len() == 18);
    let cut = cluster.text(path, 2).await.unwrap();
    assert_eq!((cut.foreign().text.as_str(), cut.foreign().lossy), ("ok", false));
    assert_eq!(server.targets(), [path; 3]);
}

#[tokio::test]
async fn a_namespace_that_is_not_there_and_one_that_is_forbidden_are_said_apart() {
    let server = Server::plain(|seen| async move {
        match seen.target.as_str() {
            "/api/v1/namespaces/web" => json(&json!({"kind": "Namespace"})),
            "/api/v1/namespaces/secret" => crate::server::status(403, "namespaces \"secret\" is forbidden"),
            _ => crate::server::status(404, "namespaces not found"),
        }
    })
    .await;
    let home = Home::new().with("one", &server, "{}");
    let fleet = home.fleet();
    let cluster = fleet.cluster("one", &Call::detached()).await.unwrap();
    assert!(cluster.has_namespace("web").await.unwrap());
    assert!(!cluster.has_namespace("wbe").await.unwrap());
    assert_eq!(cluster.has_namespace("secret").await.unwrap_err().cause.code(), "forbidden");
}
