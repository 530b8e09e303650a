//! Certificates, good and bad.

use crate::server::{Home, Server, Shows, answer, patiently, status};
use base64::{Engine, engine::general_purpose::STANDARD};
use pintle_core::Call;
use pintle_fleet::{Cause, CertificateFault, ClusterError};
use serde_json::json;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

async fn reach(home: &Home, name: &str) -> Result<serde_json::Value, ClusterError> {
    let fleet = home.fleet();
    let cluster = fleet.cluster(name, &Call::detached()).await.map_err(|failure| panic!("{failure}")).unwrap();
    patiently(cluster.get_json("/version")).await
}

async fn showing(shows: Shows) -> Server {
    Server::tls(shows, |_| async { answer(200, "{}") }).await
}

#[tokio::test]
async fn each_bad_certificate_has_its_own_word_and_hint() {
    let table = [
        (Shows::Expired, CertificateFault::Expired, "expired", "has expired (valid until 2020-01-01T00:00:00Z)"),
        (Shows::Early, CertificateFault::NotYetValid, "not_yet_valid", "is not valid yet"),
        (Shows::OtherAuthority, CertificateFault::UnknownCa, "unknown_ca", "signed by an unknown authority"),
        (Shows::OtherName, CertificateFault::WrongHost, "wrong_host", "is not for 127.0.0.1 (it is for api.example)"),
    ];
    for (shows, fault, word, wanted) in table {
        let server = showing(shows).await;
        let error = reach(&Home::new().with("one", &server, "{}"), "one").await.unwrap_err();
        assert!(matches!(&error.cause, Cause::BadCertificate { fault: found, .. } if *found == fault), "{error:?}");
        assert_eq!((error.cause.code(), error.cause.detail()), ("bad_certificate", Some(word)));
        assert!(error.to_string().contains(wanted), "{error}");
        assert!(error.cause.hint().is_some());
        assert!(server.seen().is_empty(), "nothing was sent to a server that is not trusted");
    }
}

#[tokio::test]
async fn a_good_certificate_is_trusted_and_another_name_can_be_asked_for() {
    let server = showing(Shows::Good).await;
    reach(&Home::new().with("one", &server, "{}"), "one").await.unwrap();
    let server = showing(Shows::OtherName).await;
    let authority = STANDARD.encode(server.authority.as_ref().unwrap());
    let cluster =
        format!("{{server: '{}', certificate-authority-data: {authority}, tls-server-name: api.example}}", server.url);
    reach(&Home::new().with_cluster("one", &cluster, "{}"), "one").await.unwrap();
    let anybody = format!("{{server: '{}', insecure-skip-tls-verify: true}}", server.url);
    reach(&Home::new().with_cluster("one", &anybody, "{}"), "one").await.unwrap();
}

#[tokio::test]
async fn an_authority_stands_in_a_file_beside_the_kubeconfig() {
    let server = showing(Shows::Good).await;
    let cluster = format!("{{server: '{}', certificate-authority: pki/ca.crt}}", server.url);
    let home = Home::new().with_cluster("one", &cluster, "{}");
    let error = reach(&home, "one").await.unwrap_err();
    assert_eq!(error.cause.code(), "bad_config");
    assert!(error.to_string().contains("pki/ca.crt cannot be read"), "{error}");
    std::fs::create_dir(home.folder.path().join("pki")).unwrap();
    std::fs::write(home.folder.path().join("pki/ca.crt"), "no certificate").unwrap();
    assert!(reach(&home, "one").await.unwrap_err().to_string().contains("holds no certificate in PEM"));
    std::fs::write(home.folder.path().join("pki/ca.crt"), server.authority.as_ref().unwrap()).unwrap();
    reach(&home, "one").await.unwrap();
}

#[tokio::test]
async fn a_server_that_wants_our_certificate_says_so() {
    let server = showing(Shows::AsksForOurs).await;
    let error = reach(&Home::new().with("one", &server, "{}"), "one").await.unwrap_err();
    assert_eq!((error.cause.code(), error.cause.detail()), ("bad_certificate", Some("ours_refused")), "{error}");
}

#[tokio::test]
async fn what_is_wrong_with_our_own_certificate_is_told_without_the_key() {
    let server = showing(Shows::Good).await;
    let key = STANDARD.encode("-----BEGIN PRIVATE KEY-----\ncanary\n-----END PRIVATE KEY-----\n");
    let good = STANDARD.encode(server.authority.as_ref().unwrap());
    let table = [
        (format!("{{client-certificate-data: {good}}}"), "has no `client-key`"),
        (
            format!("{{client-certificate-data: {good}, client-key-data: {key}}}"),
            "client certificate and key do not go together",
        ),
        ("{client-certificate: nowhere, client-key: nowhere}".to_owned(), "nowhere cannot be read"),
    ];
    for (user, wanted) in table {
        let error = reach(&Home::new().with("one", &server, &user), "one").await.unwrap_err();
        assert_eq!(error.cause.code(), "bad_config");
        assert!(error.to_string().contains(wanted), "{error}");
        assert!(!format!("{error:?}").contains("canary"));
    }
}

#[tokio::test]
async fn our_certificate_comes_from_the_kubeconfig_from_files_or_from_a_plug_in() {
    let server = showing(Shows::AsksForOurs).await;
    let (certificate, key) = server.client();
    let home = Home::new();
    let write = |name: &str, text: &str| std::fs::write(home.folder.path().join(name), text).unwrap();
    let credential = json!({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
        "status": {"clientCertificateData": certificate, "clientKeyData": key}});
    let files = ["client.pem", "client.key", "credential.json"].map(|name| home.folder.path().join(name));
    write("client.pem", &certificate);
    write("client.key", &key);
    write("credential.json", &credential.to_string());
    let data = [&certificate, &key].map(|pem| STANDARD.encode(pem));
    let users = [
        json!({"client-certificate-data": data[0], "client-key-data": data[1]}),
        json!({"client-certificate": files[0], "client-key": files[1]}),
        json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "cat", "args": [files[2]]}}),
    ];
    for user in users {
        let home = Home::new().with("one", &server, &user.to_string());
        reach(&home, "one").await.unwrap_or_else(|error| panic!("{user}: {error}"));
    }
}

#[tokio::test]
async fn a_certificate_in_a_file_is_read_again_when_the_server_refuses_the_old_one() {
    let turned = Arc::new(AtomicBool::new(false));
    let stale = Arc::clone(&turned);
    let server = Server::tls(Shows::AsksForOurs, move |_| {
        // As a server does whose client certificates have expired meanwhile.
        let refuse = stale.swap(false, Ordering::SeqCst);
        async move { if refuse { status(401, "expired") } else { answer(200, "{}") } }
    })
    .await;
    let (certificate, key) = server.client();
    let home = Home::new().with("one", &server, "{client-certificate: client.pem, client-key: client.key}");
    std::fs::write(home.folder.path().join("client.pem"), certificate).unwrap();
    std::fs::write(home.folder.path().join("client.key"), key).unwrap();
    let fleet = home.fleet();
    let cluster = fleet.cluster("one", &Call::detached()).await.unwrap();
    patiently(cluster.get_json::<serde_json::Value>("/version")).await.unwrap();
    turned.store(true, Ordering::SeqCst);
    patiently(cluster.get_json::<serde_json::Value>("/version")).await.unwrap();
    assert_eq!((server.connections(), server.seen().len()), (2, 3));
}
