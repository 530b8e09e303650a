//! Servers that are children: `/bin/sh` scripts that answer line by line, well or badly.
//!
//! Request IDs count from 1, so a script knows what it answers.
#![expect(clippy::unwrap_used, reason = "what cannot be set up is a failed test")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use pintle_client::{
    CallOptions, Closed, EndedBy, Endpoint, Era, EraChoice, Error, Fault, Handler, Incoming, Oddity, Options, Raw,
    RpcError, ServerRequest, Session, Stage, Stdio, connect,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Functions for scripts: `ok N RESULT`, `err N CODE MESSAGE`, `say TEXT`, and both handshakes.
const PRELUDE: &str = r#"
say() { printf '%s\n' "$1"; }
ok() { say '{"jsonrpc":"2.0","id":'"$1"',"result":'"$2"'}'; }
err() { say '{"jsonrpc":"2.0","id":'"$1"',"error":{"code":'"$2"',"message":"'"$3"'"}}'; }
legacy() { ok "$1" '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"script","version":"1"},"instructions":"be kind"}'; read -r line; }
modern() { ok "$1" '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"script","version":"1"}}}'; }
"#;

fn script(body: &str) -> Endpoint {
    Endpoint::Stdio(Stdio::new(["/bin/sh", "-c", &format!("{PRELUDE}\n{body}")]))
}

fn options(era: EraChoice) -> Options {
    Options {
        era,
        probe_limit: Duration::from_secs(10),
        connect_timeout: Duration::from_secs(30),
        request_timeout: Duration::from_secs(30),
        close_grace: Duration::from_millis(300),
        ..Options::default()
    }
}

async fn legacy(body: &str) -> Session {
    let server = script(&format!("read -r line; legacy 1\n{body}"));
    connect(&server, options(EraChoice::Legacy(None))).await.unwrap()
}

async fn modern(body: &str) -> Session {
    let server = script(&format!("read -r line; modern 1\n{body}"));
    connect(&server, options(EraChoice::Modern)).await.unwrap()
}

fn plain() -> CallOptions {
    CallOptions::default()
}

fn brief() -> CallOptions {
    CallOptions::within(Duration::from_millis(300))
}

#[tokio::test]
async fn a_modern_server_needs_no_handshake() {
    let session = modern(
        r#"read -r line; ok 2 '{"tools":[{"name":"echo"}]}'
           read -r line; ok 3 '{"content":[{"type":"text","text":"hi"}]}'"#,
    )
    .await;
    assert_eq!(session.era(), &Era::Modern);
    assert_eq!(session.server().name(), Some("script"));
    assert_eq!(session.list_tools(&plain()).await.unwrap()[0]["name"], "echo");
    let result = session.call_tool("echo", None, &plain()).await.unwrap();
    assert_eq!(result["content"][0]["text"], "hi");
    let closed = session.close().await.unwrap();
    assert!(matches!(closed, Closed::Child { exit, .. } if exit.success()));
}

#[tokio::test]
async fn every_modern_request_says_who_asks() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lines");
    let server = script(&format!(
        "while read -r line; do printf '%s\\n' \"$line\" >> {0}; n=$((n+1)); \
         if [ $n = 1 ]; then modern 1; else ok $n '{{\"tools\":[]}}'; fi; done",
        file.display()
    ));
    let session = connect(&server, options(EraChoice::Auto)).await.unwrap();
    session.list_tools(&plain()).await.unwrap();
    session.close().await.unwrap();
    let lines = std::fs::read_to_string(file).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    for (line, method) in lines.iter().zip(["server/discover", "tools/list"]) {
        assert_eq!(line["method"], method);
        let meta = &line["params"]["_meta"];
        assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
        assert!(meta["io.modelcontextprotocol/clientCapabilities"].is_object());
        assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "pintle");
    }
}

#[tokio::test]
async fn a_legacy_server_that_refuses_the_probe_is_initialized() {
    for refusal in ["err 1 -32601 no", "err 1 -32602 missing", "err 1 -32600 what"] {
        let server = script(&format!("read -r line; {refusal}; read -r line; legacy 2; read -r line; ok 3 '{{}}'"));
        let session = connect(&server, options(EraChoice::Auto)).await.unwrap();
        assert_eq!(session.era(), &Era::Legacy("2025-11-25".into()));
        assert_eq!(session.server().instructions.as_deref(), Some("be kind"));
        session.ping(&plain()).await.unwrap();
        assert_eq!(session.oddities(), []);
    }
}

#[tokio::test]
async fn a_silent_legacy_server_is_initialized_after_the_probe_limit_and_remembered() {
    // Ignores what it does not know, as some old servers do. Its version is the ID of `initialize`.
    let server = script(
        r#"while read -r line; do case $line in
             *'"initialize"'*) id=${line#*\"id\":}; id=${id%%,*};
               ok $id '{"protocolVersion":"2024-11-05","capabilities":{},"serverInfo":{"name":"old","version":"'$id'"}}';;
           esac; done"#,
    );
    let impatient = Options { probe_limit: Duration::from_millis(300), ..options(EraChoice::Auto) };
    let first = connect(&server, impatient).await.unwrap();
    assert_eq!(first.era(), &Era::Legacy("2024-11-05".into()));
    assert_eq!(first.server().version(), Some("2"), "the probe came first");
    let second = connect(&server, options(EraChoice::Auto)).await.unwrap();
    assert_eq!(second.server().version(), Some("1"), "the probe was left out");
}

#[tokio::test]
async fn a_remembered_era_that_fails_is_found_out_anew() {
    let folder = tempfile::tempdir().unwrap();
    let flag = folder.path().join("upgraded");
    let server = script(&format!(
        "if [ -e {0} ]; then \
           while read -r line; do n=$((n+1)); case $line in \
             *server/discover*) modern $n;; *) err $n -32602 'only 2026-07-28';; esac; done; \
         else read -r line; err 1 -32601 no; read -r line; legacy 2; cat > /dev/null; fi",
        flag.display()
    ));
    let old = connect(&server, options(EraChoice::Auto)).await.unwrap();
    assert!(matches!(old.era(), Era::Legacy(_)));
    std::fs::write(&flag, "").unwrap();
    let new = connect(&server, options(EraChoice::Auto)).await.unwrap();
    assert_eq!(new.era(), &Era::Modern);
}

#[tokio::test]
async fn a_slow_modern_server_is_not_mistaken_for_an_old_one() {
    // The first start answers late, and has no `initialize`; so has the second.
    let server = script(
        r#"n=0; while read -r line; do n=$((n+1)); case $line in
             *server/discover*) sleep 0.5; modern $n;;
             *) err $n -32601 'no initialize here';;
           esac; done"#,
    );
    let impatient = Options { probe_limit: Duration::from_millis(200), ..options(EraChoice::Auto) };
    let session = connect(&server, impatient).await.unwrap();
    assert_eq!(session.era(), &Era::Modern);
}

#[tokio::test]
async fn a_server_that_ends_at_the_probe_gets_a_second_start() {
    let server = script(
        r#"read -r line; case $line in
             *server/discover*) exit 1;;
             *) legacy 1; cat > /dev/null;;
           esac"#,
    );
    // The second child counts its requests on: it answers whatever ID comes.
    let session = connect(&server, options(EraChoice::Auto)).await.unwrap();
    assert!(matches!(session.era(), Era::Legacy(_)));
}

#[tokio::test]
async fn ch_032_lists_follow_their_cursor_through_three_pages() {
    let session = legacy(
        r#"read -r line; ok 2 '{"tools":[{"name":"a"}],"nextCursor":"p2"}'
           read -r line; case $line in *'"cursor":"p2"'*) ok 3 '{"tools":[{"name":"b"}],"nextCursor":""}';; esac
           read -r line; case $line in *'"cursor":""'*) ok 4 '{"tools":[{"name":"c"}]}';; esac
           cat > /dev/null"#,
    )
    .await;
    let tools = session.list_tools(&plain()).await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["a", "b", "c"]);
}

#[tokio::test]
async fn ch_033_a_repeated_cursor_ends_the_list() {
    let session =
        legacy(r#"n=1; while read -r line; do n=$((n+1)); ok $n '{"tools":[],"nextCursor":"again"}'; done"#).await;
    let error = session.list_tools(&plain()).await.unwrap_err();
    assert_eq!(error.to_string(), "request tools/list: the server returned the cursor \"again\" again after 2 pages");
}

#[tokio::test]
async fn ch_033_cursors_without_end_are_cut_off_by_the_timeout() {
    let session =
        legacy(r#"n=1; while read -r line; do n=$((n+1)); ok $n '{"tools":[],"nextCursor":"c'$n'"}'; done"#).await;
    let error = session.list_tools(&brief()).await.unwrap_err();
    assert_eq!(error.to_string(), "request tools/list: no answer within 300ms");
}

#[tokio::test]
async fn ch_034_a_list_that_the_server_does_not_offer_fails_by_name() {
    let session = legacy("cat > /dev/null").await;
    let error = session.list_resources(&plain()).await.unwrap_err();
    assert_eq!(error.to_string(), "request resources/list: the server does not offer resources");
}

#[tokio::test]
async fn protocol_errors_keep_code_message_and_data() {
    let session = legacy(
        r#"read -r line; say '{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"unknown tool","data":{"near":"echo"}}}'
           cat > /dev/null"#,
    )
    .await;
    let error = session.call_tool("eco", None, &plain()).await.unwrap_err();
    assert_eq!(error.stage, Stage::Request("tools/call".into()));
    let rpc = error.rpc().unwrap();
    assert_eq!((rpc.code, rpc.message.as_str()), (-32602, "unknown tool"));
    assert_eq!(rpc.data, Some(json!({"near": "echo"})));
    assert_eq!(error.to_string(), "request tools/call: error -32602: unknown tool");
}

#[tokio::test]
async fn timeouts_name_their_stage() {
    let mut hasty = options(EraChoice::Auto);
    hasty.connect_timeout = Duration::from_millis(600);
    let error = connect(&script("cat > /dev/null"), hasty).await.unwrap_err();
    assert_eq!(error.to_string(), "handshake: no answer within 600ms");

    let session = legacy("cat > /dev/null").await;
    let error = session.call_tool("x", None, &brief()).await.unwrap_err();
    assert_eq!(error.to_string(), "request tools/call: no answer within 300ms");
}

#[tokio::test]
async fn a_slow_drip_is_cut_off_by_the_deadline() {
    let session = legacy(r#"read -r line; while :; do printf ' '; sleep 0.05; done"#).await;
    let error = session.call_tool("x", None, &brief()).await.unwrap_err();
    assert!(matches!(error.fault, Fault::Timeout { .. }), "{error}");
}

#[tokio::test]
async fn a_given_up_request_is_cancelled_at_the_server_and_its_late_answer_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cancel");
    let session = legacy(&format!(
        "read -r line; read -r line; printf '%s\\n' \"$line\" > {}; ok 2 '{{}}'; read -r line; ok 3 '{{}}'; cat > /dev/null",
        file.display()
    ))
    .await;
    let cancel = CancellationToken::new();
    let call = CallOptions { cancel: Some(cancel.clone()), ..plain() };
    let (outcome, ()) = tokio::join!(session.call_tool("slow", None, &call), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        cancel.cancel();
    });
    assert_eq!(outcome.unwrap_err().to_string(), "request tools/call: cancelled");
    session.ping(&plain()).await.unwrap();
    let told: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(told["method"], "notifications/cancelled");
    assert_eq!(told["params"]["requestId"], 2);
    assert_eq!(session.oddities(), []);
}

#[tokio::test]
async fn a_dropped_request_is_cancelled_at_the_server() {
    let session = legacy("read -r line; read -r line; say \"$line\"; cat > /dev/null").await;
    let mut seen = session.notifications();
    let long = CallOptions::within(Duration::from_secs(60));
    let call = session.call_tool("slow", None, &long);
    assert!(tokio::time::timeout(Duration::from_millis(100), call).await.is_err());
    // The script sends back the notification that it got.
    let echoed = seen.recv().await.unwrap();
    assert_eq!(echoed.method, "notifications/cancelled");
    assert_eq!(echoed.params["requestId"], 2);
}

#[tokio::test]
async fn an_answer_with_a_wrong_id_is_told_with_the_timeout() {
    let session = legacy("read -r line; ok 999 '{}'; cat > /dev/null").await;
    let error = session.call_tool("x", None, &brief()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "request tools/call: no answer within 300ms (an answer with the unknown id 999 came)"
    );
    assert_eq!(session.oddities(), [Oddity::UnknownId("999".into())]);
}

#[tokio::test]
async fn an_error_without_id_belongs_to_the_only_request() {
    let session = legacy("read -r line; err null -32700 'parse error'; cat > /dev/null").await;
    let error = session.call_tool("x", None, &plain()).await.unwrap_err();
    assert_eq!(error.rpc().map(|error| error.code), Some(-32700));
}

#[tokio::test]
async fn a_second_answer_is_noticed_and_harms_nobody() {
    let session = legacy(
        "read -r line; ok 2 '{\"first\":true}'; ok 2 '{\"first\":false}'; read -r line; ok 3 '{}'; cat > /dev/null",
    )
    .await;
    let first = session.request("x", None, &plain()).await.unwrap();
    assert_eq!(first, json!({"first": true}));
    session.ping(&plain()).await.unwrap();
    assert_eq!(session.oddities(), [Oddity::SecondAnswer(2)]);
}

#[tokio::test]
async fn noise_on_standard_output_is_counted_and_survived() {
    let session = legacy(
        "say 'Server running on stdio'; read -r line; say 'debug: called'; say '42'; ok 2 '{}'; cat > /dev/null",
    )
    .await;
    session.ping(&plain()).await.unwrap();
    let noise = session.noise();
    assert_eq!(noise.lines, 3);
    assert_eq!(noise.first, ["Server running on stdio", "debug: called", "42"]);
}

#[tokio::test]
async fn an_answer_of_20_mb_is_cut_and_the_session_goes_on() {
    let session = legacy(
        r#"read -r line; printf '{"jsonrpc":"2.0","id":2,"result":{"text":"'
           head -c 20000000 /dev/zero | tr '\0' x; say '"}}'
           read -r line; ok 3 '{}'; cat > /dev/null"#,
    )
    .await;
    let error = session.call_tool("big", None, &plain()).await.unwrap_err();
    assert_eq!(error.to_string(), "request tools/call: the answer is larger than 4 MiB and was cut while reading");
    session.ping(&plain()).await.unwrap();
}

#[tokio::test]
async fn a_missing_program_fails_at_spawn() {
    let missing = Endpoint::Stdio(Stdio::new(["/nonexistent/server"]));
    let error = connect(&missing, options(EraChoice::Auto)).await.unwrap_err();
    assert_eq!(error.to_string(), "spawn: program /nonexistent/server not found");
    let nothing = Endpoint::Stdio(Stdio::new([] as [&str; 0]));
    let error = connect(&nothing, options(EraChoice::Auto)).await.unwrap_err();
    assert_eq!(error.to_string(), "spawn: no program given");
}

#[tokio::test]
async fn a_server_that_dies_is_told_by_stage_with_its_last_words() {
    let at_once = script("echo 'no licence' >&2; exit 3");
    let error = connect(&at_once, options(EraChoice::Auto)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "handshake: the server ended with exit status 3; its last words on standard error:\n  no licence"
    );

    let in_call = legacy("read -r line; kill -KILL $$").await;
    let error = in_call.call_tool("x", None, &plain()).await.unwrap_err();
    assert_eq!(error.to_string(), "request tools/call: the server ended with signal KILL");
    let error = in_call.call_tool("x", None, &plain()).await.unwrap_err();
    assert!(matches!(error.fault, Fault::Closed(_)), "{error}");

    // Half an answer is none.
    let half = legacy("read -r line; printf '{\"jsonrpc\":\"2.0\",\"id\":2,\"res'; exit 0").await;
    let error = half.call_tool("x", None, &plain()).await.unwrap_err();
    assert_eq!(error.to_string(), "request tools/call: the server ended with exit status 0");
}

#[tokio::test]
async fn versions_we_do_not_speak_are_refused() {
    let future = script(
        r#"read -r line; ok 1 '{"protocolVersion":"2031-01-01","capabilities":{},"serverInfo":{"name":"x","version":"1"}}'; cat > /dev/null"#,
    );
    let error = connect(&future, options(EraChoice::Legacy(None))).await.unwrap_err();
    assert!(error.to_string().starts_with("handshake: the server chose protocol version \"2031-01-01\""), "{error}");
    let only_future = script(
        r#"n=0; while read -r line; do n=$((n+1));
           say '{"jsonrpc":"2.0","id":'$n',"error":{"code":-32022,"message":"only 2031","data":{"supported":["2031-01-01"]}}}'; done"#,
    );
    let error = connect(&only_future, options(EraChoice::Auto)).await.unwrap_err();
    assert_eq!(error.stage, Stage::Handshake);
    assert_eq!(error.rpc().map(|error| error.code), Some(-32022));
}

/// Whether a process exists and is no zombie.
fn alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(") ").next().unwrap_or("").starts_with('Z'))
}

async fn gone(pid: u32) {
    for _ in 0..1000 {
        if !alive(pid) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("process {pid} is still there");
}

/// A session whose script says its own process ID in a notification.
async fn with_pid(body: &str) -> (Session, u32) {
    let session = legacy(&format!("read -r line; ok 2 '{{\"pid\":'$$'}}'\n{body}")).await;
    let result = session.request("pid", None, &plain()).await.unwrap();
    let pid = u32::try_from(result["pid"].as_u64().unwrap()).unwrap();
    assert!(alive(pid));
    (session, pid)
}

#[tokio::test]
async fn ch_048_closing_ends_the_input_then_sends_term_then_kill() {
    for (body, wanted) in [
        ("cat > /dev/null", EndedBy::InputEnd),
        ("exec sleep 600", EndedBy::Term),
        ("trap '' TERM; while :; do sleep 600; done", EndedBy::Kill),
    ] {
        let (session, pid) = with_pid(body).await;
        let Closed::Child { by, .. } = session.close().await.unwrap() else {
            panic!("not a child");
        };
        assert_eq!(by, wanted, "{body}");
        gone(pid).await;
    }
}

#[tokio::test]
async fn ch_048_ch_050_a_dropped_session_leaves_no_process() {
    for body in ["cat > /dev/null", "trap '' TERM; while :; do sleep 600; done"] {
        let (session, pid) = with_pid(body).await;
        drop(session);
        gone(pid).await;
    }
}

#[tokio::test]
async fn ch_048_ch_050_a_failed_handshake_leaves_no_process() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let server = script(&format!("echo $$ > {}; cat > /dev/null", file.display()));
    let mut hasty = options(EraChoice::Auto);
    hasty.connect_timeout = Duration::from_millis(400);
    connect(&server, hasty).await.unwrap_err();
    gone(std::fs::read_to_string(file).unwrap().trim().parse().unwrap()).await;
}

#[tokio::test]
async fn ch_048_a_panic_leaves_no_process() {
    let (session, pid) = with_pid("cat > /dev/null").await;
    let task = tokio::spawn(async move {
        let _held = session;
        panic!("on purpose");
    });
    assert!(task.await.unwrap_err().is_panic());
    gone(pid).await;
}

#[test]
fn ch_050_a_runtime_that_ends_leaves_no_process() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (session, pid) = runtime.block_on(with_pid("trap '' TERM; while :; do sleep 600; done"));
    drop(runtime);
    drop(session);
    assert!(!alive(pid));
}

/// Answers elicitations with a fixed text, and remembers what was asked.
#[derive(Default)]
struct Answering {
    asked: Mutex<Vec<ServerRequest>>,
}

impl Handler for Answering {
    fn capabilities(&self) -> Value {
        json!({"elicitation": {"form": {}}})
    }

    fn answer(&self, request: ServerRequest) -> BoxFuture<'_, Result<Value, RpcError>> {
        self.asked.lock().unwrap().push(request.clone());
        Box::pin(async move {
            match request.method.as_str() {
                "elicitation/create" => Ok(json!({"action": "accept", "content": {"name": "Ada"}})),
                other => Err(RpcError::method_not_found(other)),
            }
        })
    }
}

#[tokio::test]
async fn questions_of_a_legacy_server_are_answered_by_the_handler() {
    let server = script(
        r#"read -r line; legacy 1
           read -r line
           say '{"jsonrpc":"2.0","id":"q1","method":"elicitation/create","params":{"message":"who?"}}'; read -r a
           say '{"jsonrpc":"2.0","id":"q2","method":"sampling/createMessage","params":{}}'; read -r b
           say '{"jsonrpc":"2.0","id":"q3","method":"ping"}'; read -r c
           ok 2 "[$a,$b,$c]"; cat > /dev/null"#,
    );
    let handler = Arc::new(Answering::default());
    let mut options = options(EraChoice::Legacy(None));
    options.handler = handler.clone();
    let session = connect(&server, options).await.unwrap();
    let replies = session.request("x", None, &plain()).await.unwrap();
    assert_eq!(replies[0]["id"], "q1");
    assert_eq!(replies[0]["result"]["content"]["name"], "Ada");
    assert_eq!(replies[1]["error"]["code"], -32601);
    assert_eq!(replies[2], json!({"jsonrpc": "2.0", "id": "q3", "result": {}}));
    assert_eq!(handler.asked.lock().unwrap()[0].params["message"], "who?");
}

#[tokio::test]
async fn a_modern_server_that_needs_input_gets_it_with_the_second_call() {
    let body = r#"read -r line
        ok 2 '{"resultType":"input_required","requestState":"sealed","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"who?"}}}}'
        read -r line; ok 3 "{\"resultType\":\"complete\",\"got\":$line}"; cat > /dev/null"#;
    let server = script(&format!("read -r line; modern 1\n{body}"));
    let mut answering = options(EraChoice::Modern);
    answering.handler = Arc::new(Answering::default());
    let session = connect(&server, answering).await.unwrap();
    let result = session.call_tool("greet", Some(json!({"a": 1})), &plain()).await.unwrap();
    let params = &result["got"]["params"];
    assert_eq!(params["requestState"], "sealed");
    assert_eq!(params["inputResponses"]["who"]["content"]["name"], "Ada");
    assert_eq!(params["arguments"], json!({"a": 1}));
    assert_eq!(params["_meta"]["io.modelcontextprotocol/clientCapabilities"], json!({"elicitation": {"form": {}}}));

    let refusing = modern(body).await;
    let error = refusing.call_tool("greet", None, &plain()).await.unwrap_err();
    assert!(matches!(&error.fault, Fault::Input { method, .. } if method == "elicitation/create"), "{error}");
}

#[tokio::test]
async fn a_server_that_never_has_enough_input_is_stopped() {
    let server = script(
        r#"read -r line; modern 1; n=1; while read -r line; do n=$((n+1));
           ok $n '{"resultType":"input_required","requestState":"more"}'; done"#,
    );
    let mut few = options(EraChoice::Modern);
    few.input_rounds = 3;
    let session = connect(&server, few).await.unwrap();
    let error = session.call_tool("x", None, &plain()).await.unwrap_err();
    assert_eq!(error.to_string(), "request tools/call: the server asked for input more than 3 times");
}

#[tokio::test]
async fn progress_reaches_the_request_that_wants_it() {
    let session = legacy(
        r#"read -r line; case $line in *'"progressToken":2'*)
             say '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1,"total":2,"message":"half"}}';;
           esac; ok 2 '{}'; cat > /dev/null"#,
    )
    .await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = seen.clone();
    let call = CallOptions { progress: Some(Arc::new(move |progress| sink.lock().unwrap().push(progress))), ..plain() };
    session.call_tool("x", None, &call).await.unwrap();
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 1);
    assert_eq!((seen[0].progress, seen[0].total), (1.0, Some(2.0)));
    assert_eq!(seen[0].message.as_deref(), Some("half"));
}

#[tokio::test]
async fn notifications_are_there_for_whoever_listens() {
    let session = legacy(
        r#"read -r line; say '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'; ok 2 '{}'; cat > /dev/null"#,
    )
    .await;
    let mut notifications = session.notifications();
    session.ping(&plain()).await.unwrap();
    assert_eq!(notifications.recv().await.unwrap().method, "notifications/tools/list_changed");
}

#[tokio::test]
async fn raw_bytes_are_sent_as_they_are_and_everything_that_comes_is_seen() {
    let bare = script(
        r#"read -r line; [ "$line" = 'not json' ] && err null -32700 'parse error'
           say 'some noise'; say '{"jsonrpc":"2.0","method":"notifications/x"}'; exit 0"#,
    );
    let session = connect(&bare, options(EraChoice::Bare)).await.unwrap();
    let exchange = session.raw(Raw { messages: 3, ..Raw::new("not json") }).await.unwrap();
    let what: Vec<_> = exchange.received.iter().map(|one| &one.what).collect();
    assert!(matches!(what[0], Incoming::Message(message) if message["error"]["code"] == -32700), "{what:?}");
    assert_eq!(what[1], &Incoming::Noise("some noise".into()));
    assert!(matches!(what[2], Incoming::Message(message) if message["method"] == "notifications/x"));
    assert!(matches!(what[3], Incoming::Closed(_)));
    assert!(!exchange.complete);
}

#[tokio::test]
async fn requests_run_side_by_side_and_find_their_answers() {
    let session = legacy("read -r line; read -r line; ok 3 '{\"n\":3}'; ok 2 '{\"n\":2}'; cat > /dev/null").await;
    let options = plain();
    let (first, second) = tokio::join!(session.request("a", None, &options), session.request("b", None, &options));
    assert_eq!((&first.unwrap()["n"], &second.unwrap()["n"]), (&json!(2), &json!(3)));
}

#[tokio::test]
async fn a_server_that_does_not_read_is_cut_off_by_the_deadline() {
    let session = legacy("sleep 600").await;
    let big = json!({"text": "x".repeat(2_000_000)});
    let error: Error = session.call_tool("x", Some(big), &brief()).await.unwrap_err();
    assert!(matches!(error.fault, Fault::Timeout { .. }), "{error}");
}
