//! An answer that is cut costs no more memory than its limit. A process of its own, since it measures.
#![expect(clippy::unwrap_used, reason = "what cannot be set up is a failed test")]

use pintle_client::{CallOptions, Endpoint, EraChoice, Fault, Options, Stdio, connect};

/// Peak of resident memory in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse().unwrap()
}

#[tokio::test]
async fn an_answer_of_200_mb_is_cut_within_16_mb() {
    let script = r#"read -r line
        printf '{"jsonrpc":"2.0","id":1,"result":{"text":"'
        head -c 200000000 /dev/zero | tr '\0' x; echo '"}}'
        read -r line; echo '{"jsonrpc":"2.0","id":2,"result":{}}'"#;
    let server = Endpoint::Stdio(Stdio::new(["/bin/sh", "-c", script]));
    let options = Options { era: EraChoice::Bare, ..Options::default() };
    let session = connect(&server, options).await.unwrap();
    let before = peak();
    let error = session.request("big", None, &CallOptions::default()).await.unwrap_err();
    assert!(matches!(error.fault, Fault::TooLarge { .. }), "{error}");
    session.ping(&CallOptions::default()).await.unwrap();
    let grown = peak() - before;
    assert!(grown <= 16 * 1024, "{grown} KiB");
}
