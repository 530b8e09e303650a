//! The verbs beside `mcp`, on the host.

use axum::Router;
use axum::http::StatusCode;
use axum::routing::{get, post};
use pintle_check::{RunOptions, Status};

use crate::support::{fails, passes, plan, step};

async fn check(text: &str) -> Result<String, String> {
    let step = step(&format!("a: {{check: x, {text}}}"), RunOptions::default()).await;
    match step.status {
        Status::Passed => Ok(step.stdout),
        Status::Failed => Err(step.message),
        other => panic!("{text}: {other:?} {}", step.message),
    }
}

#[tokio::test]
async fn ch_013_ch_075_ch_076_commands() {
    for text in [
        "command: echo hi, stdout: hi",
        "command: [sh, -c, 'echo out; echo err >&2; exit 3'], exit_status: 3, stdout: out, stderr: err",
        "command: [cat], stdin: \"a b\", stdout: a b",
        "command: [printenv, NAME], env: {NAME: value}, stdout: value",
        "command: [echo, '{\"n\": 3}'], json: {at: /n, equals: 3}",
        "command: 'false', exit_status: {gt: 0}",
    ] {
        assert!(check(text).await.is_ok(), "{text}");
    }
    for (text, wanted) in [
        ("command: [sh, -c, 'echo why >&2; exit 3']", "exit status 3: why"),
        ("command: echo hi, exit_status: 1", "exit_status is \"0\", not 1"),
        ("command: echo hi, stdout: ho", "stdout is \"hi\", not \"ho\""),
        ("command: echo hi, json: {at: /n, equals: 3}", "/n is \"hi\", not 3"),
    ] {
        assert_eq!(check(text).await, Err(wanted.to_owned()), "{text}");
    }
}

#[tokio::test]
async fn a_command_in_the_background_ends_with_the_run() {
    let text = "
up: {run: x, command: [sh, -c, 'echo $$ > pid; exec sleep 60'], background: true}
there: {check: x, file: pid, contains: [], eventually: 10s}
";
    let folder = tempfile::tempdir().unwrap();
    let text = text.replace(", contains: []", "");
    let target = std::sync::Arc::new(pintle_check::HostTarget::new().with_directory(folder.path()));
    let outcome = plan(&text, RunOptions { target, ..RunOptions::default() }).await;
    assert_eq!(outcome.summary().passed, 2, "{outcome:?}");
    let pid = std::fs::read_to_string(folder.path().join("pid")).unwrap();
    assert!(!std::path::Path::new("/proc").join(pid.trim()).exists());
}

#[tokio::test]
async fn files() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.txt");
    std::fs::write(&file, "hello\n").unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o640)).unwrap();
    let path = file.display();
    let sum = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
    for text in [
        format!("file: {path}"),
        format!("file: {path}, exists: true, mode: '0640', filetype: file, contains: hell, sha256: {sum}"),
        format!("file: {path}, contains: {{matches: '^h'}}"),
        format!("file: {path}x, exists: false"),
        format!("file: {}, filetype: directory", folder.path().display()),
    ] {
        assert!(check(&text).await.is_ok(), "{text}: {:?}", check(&text).await);
    }
    for (text, wanted) in [
        (format!("file: {path}x"), "exists is false, not true".to_owned()),
        (format!("file: {path}, exists: false"), "exists is true, not false".to_owned()),
        (format!("file: {path}, mode: '0644'"), "mode is \"0640\", not \"0644\"".to_owned()),
        (format!("file: {path}, contains: [h, z]"), "content does not contain \"z\": \"hello\"".to_owned()),
        (
            format!("file: {}, contains: x", folder.path().display()),
            format!("file {}: is no regular file", folder.path().display()),
        ),
    ] {
        assert_eq!(check(&text).await, Err(wanted), "{text}");
    }
}

#[tokio::test]
async fn ports_addresses_and_names() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let closed = {
        let gone = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        gone.local_addr().unwrap().port()
    };
    for text in [
        format!("port: {port}"),
        format!("port: 'tcp:{port}', listening: true, reachable: true, ip: 127.0.0.1"),
        format!("port: {closed}, listening: false, reachable: false"),
        format!("addr: 'tcp://127.0.0.1:{port}'"),
        format!("addr: 'localhost:{closed}', reachable: false"),
        "dns: localhost, addrs: [127.0.0.1]".to_owned(),
        "dns: name.invalid, resolvable: false".to_owned(),
    ] {
        assert!(check(&text).await.is_ok(), "{text}: {:?}", check(&text).await);
    }
    for (text, wanted) in [
        (format!("port: {closed}"), "listening is false, not true".to_owned()),
        (format!("port: {port}, ip: 192.0.2.1"), "ip does not contain \"192.0.2.1\": [\"127.0.0.1\"]".to_owned()),
        (format!("addr: '127.0.0.1:{port}', reachable: false"), "reachable is true, not false".to_owned()),
        ("dns: name.invalid".to_owned(), "resolvable is false, not true".to_owned()),
    ] {
        assert_eq!(check(&text).await, Err(wanted), "{text}");
    }
    let message = check(&format!("addr: '127.0.0.1:{closed}'")).await.unwrap_err();
    assert!(message.starts_with(&format!("addr 127.0.0.1:{closed}: ")), "{message}");
}

#[tokio::test]
async fn processes() {
    let own = std::env::current_exe().unwrap().file_name().unwrap().to_string_lossy().into_owned();
    assert!(check(&format!("process: {own}")).await.is_ok());
    assert!(check("process: pintle-no-such-process, running: false").await.is_ok());
    assert_eq!(check("process: pintle-no-such-process").await, Err("running is false, not true".to_owned()));
}

async fn web() -> String {
    let router = Router::new()
        .route("/hello", get(|| async { ([("x-kind", "plain")], "hello you") }))
        .route("/json", get(|| async { "{\"items\": [1, 2]}" }))
        .route("/gone", get(|| async { (StatusCode::NOT_FOUND, "nothing") }))
        .route("/moved", get(|| async { (StatusCode::FOUND, [("location", "/hello")], "") }))
        .route(
            "/echo",
            post(|headers: axum::http::HeaderMap, body: String| async move {
                format!("{} {body}", headers.get("x-a").unwrap().to_str().unwrap())
            }),
        )
        .route("/large", get(|| async { "x".repeat(5 * 1024 * 1024) }))
        .route(
            "/slow",
            get(|| async {
                tokio::time::sleep(std::time::Duration::from_secs(30)).await;
            }),
        );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    format!("http://{address}")
}

#[tokio::test]
async fn http_requests() {
    let base = web().await;
    for text in [
        "/hello, status: 200, body: hello you, header: {x-kind: plain}",
        "/hello, header: ['X-Kind: plain', X-Kind, {x-kind: {contains: lain}}], stdout: {contains: you}",
        "/json, json: {at: /items, count: 2}",
        "/gone, status: 404",
        "/gone, status: [200, 404]",
        "/gone, status: {ge: 400}",
        "/moved, status: 200, body: {contains: hello}",
        "/moved, no_follow_redirects: true, status: 302, header: {location: /hello}",
        "/echo, method: post, request_body: hi, request_header: {x-a: b}, body: b hi",
        "/echo, method: POST, request_body: {n: 1}, request_header: {x-a: b}, body: {contains: '{\"n\":1}'}",
    ] {
        let text = format!("http: {base}{text}");
        assert!(check(&text).await.is_ok(), "{text}: {:?}", check(&text).await);
    }
    for (text, wanted) in [
        ("/gone", format!("http {base}/gone: status 404")),
        ("/hello, status: 404", "status is 200, not 404".to_owned()),
        ("/hello, status: [201, 204]", "status is 200, not one of 201, 204".to_owned()),
        ("/hello, body: {contains: me}", "body does not contain \"me\": \"hello you\"".to_owned()),
        ("/hello, header: {x-none: a}", "header x-none is not there".to_owned()),
        ("/large", format!("http {base}/large: the answer is larger than 4 MiB and was cut while reading")),
        ("/slow, timeout: 200ms", format!("http {base}/slow: no answer within 200ms")),
    ] {
        assert_eq!(check(&format!("http: {base}{text}")).await, Err(wanted), "{text}");
    }
    let step = passes(&format!("a: {{check: x, http: '{base}/hello?token=hush-hush'}}"), RunOptions::default()).await;
    assert_eq!(step.endpoint, Some(format!("{base}/hello")));
}

#[tokio::test]
async fn verbs_that_need_more_than_a_host_fail_their_own_step() {
    let text = "
a: {check: x, service: nginx, running: true}
b: {check: x, package: nginx, installed: true}
c: {check: x, kube: pods, namespace: default}
d: {check: x, cdp: status}
e: {check: x, wl: status}
f: {check: x, dbus: list}
g: {check: x, vnc: status}
h: {check: x, tmux: list}
i: {check: x, record: list}
j: {check: x, adb: devices}
k: {check: x, appium: status}
l: {check: x, spice: status}
m: {check: x, libvirt: list}
n: {agent-check: is it pretty}
o: {run: x, mkdir: /nowhere}
z: {check: x, command: 'true'}
";
    let outcome = plan(text, RunOptions::default()).await;
    let steps: Vec<_> = outcome.steps().collect();
    for step in &steps[..steps.len() - 1] {
        assert_eq!(step.status, Status::Failed, "{step:?}");
        assert!(step.message.contains(": needs "), "{}", step.message);
    }
    assert_eq!(steps[0].message, "service: needs a box with a service manager");
    assert_eq!(steps.last().unwrap().status, Status::Passed);
    assert_eq!(RunOptions::default().exit(&outcome).code(), 2);
    let message = fails("a: {check: x, kube: pods}", RunOptions::default()).await;
    assert_eq!(message, "kube: needs a cluster provider");
}
