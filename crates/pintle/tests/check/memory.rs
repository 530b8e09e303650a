//! Memory of a run while a server answers with far more than is kept.

use crate::home::Home;

/// A server whose tool answers with as many bytes as the argument says.
const SERVER: &str = r#"while IFS= read -r line; do
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  size=${line#*\"size\":}; size=${size%%[,\}]*}
  case "$line" in
    *'"server/discover"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}\n' "$id" ;;
    *'"initialize"'*)
      printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"large","version":"1"}}}\n' "$id" ;;
    *'"tools/call"'*)
      printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"' "$id"
      head -c "$size" /dev/zero | tr '\0' x; printf '"}]}}\n' ;;
  esac
done"#;

/// The most resident memory of the run, in MB: a step, which is its child, reads it from the system's table.
fn most(steps: &str, extra: &[&str]) -> f64 {
    let home = Home::new();
    home.write("work/server.sh", SERVER);
    let last = "most:\n  check: the memory of its parent\n  command: [sh, -c, 'grep VmHWM: /proc/$PPID/status']\n";
    home.write("work/plan.yml", &format!("{steps}\n{last}"));
    let words = ["check", "run", "plan.yml", "--stdio", "sh server.sh", "--report", "json"];
    let out = home.run(words.into_iter().chain(extra.iter().copied())).good();
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    let steps = report["steps"].as_array().unwrap();
    let told = steps.last().unwrap()["stdout"].as_str().unwrap();
    let kilobytes: f64 = told.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes * 1024.0 / 1e6
}

#[test]
fn answers_beyond_4_mib_are_cut_within_40_mb() {
    let cut = |number: usize, size: usize| {
        format!(
            "cut-{number}: {{check: x, mcp: call, tool: t, input: {{size: {size}}}, exit_status: 1, \
             stderr: {{contains: larger than 4 MiB}}}}\n"
        )
    };
    let steps: String = (0..8).map(|number| cut(number, 20_000_000)).collect();
    for extra in [&[][..], &["--reuse-sessions"]] {
        let most = most(&steps, extra);
        assert!(most <= 40.0, "{most} MB with {extra:?}");
    }
}
