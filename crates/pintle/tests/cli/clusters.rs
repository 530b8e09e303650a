//! `kubestellar-ops`: the words of the seed, on fake clusters.

use crate::home::{Home, done, pintle};
use pintle_testkit::kube::{FakeCluster, Mode, Objects};
use serde_json::Value;
use std::{
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::fs::symlink,
    path::PathBuf,
    process::Stdio,
    sync::OnceLock,
};

/// Servers live in a runtime of their own, since the program under test is waited for.
fn runtime() -> &'static tokio::runtime::Runtime {
    static RUNTIME: OnceLock<tokio::runtime::Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap())
}

struct Place {
    home: Home,
    program: PathBuf,
    kubeconfig: String,
    live: FakeCluster,
}

impl Place {
    /// A live cluster with two names, and one that is gone.
    fn new() -> Self {
        let home = Home::new();
        let program = home.path().join("kubestellar-ops");
        symlink(pintle(), &program).unwrap();
        let (live, gone) = runtime().block_on(async {
            let live = FakeCluster::start(Objects::new().pods(25)).await.unwrap();
            let gone = FakeCluster::setup(Objects::new()).mode(Mode::Gone).start().await.unwrap();
            (live, gone)
        });
        let path = home.path().join("kube.config");
        live.kubeconfig(["arn:aws:eks:eu-west-1:1:cluster/a", "ein Öl"])
            .and(gone.kubeconfig(["gone"]))
            .write(&path)
            .unwrap();
        Self { home, program, kubeconfig: path.display().to_string(), live }
    }

    fn run(&self, words: &[&str]) -> crate::home::Ran {
        done(&mut self.home.command_of(&self.program, words))
    }
}

#[test]
fn kw_71_kubectls_flags_stand_before_the_command_and_work_or_are_refused() {
    let place = Place::new();
    let config = place.kubeconfig.as_str();
    let list = place.run(&["--kubeconfig", config, "clusters", "list"]).good();
    assert!(
        list.starts_with("CURRENT  NAME") && list.contains("*        arn:aws:eks:eu-west-1:1:cluster/a  kubeconfig"),
        "{list}"
    );
    assert!(place.live.requests().is_empty(), "a list asks nobody");
    let other =
        place.run(&["--context=ein Öl", "--kubeconfig", config, "clusters", "list", "--source", "kubeconfig"]).good();
    assert!(other.contains("*        ein Öl"), "{other}");
    place
        .run(&["--kubeconfig", config, "--as", "auditor", "--as-group", "readers", "get-pods", "-n", "team-00"])
        .good();
    let requests = place.live.requests();
    let last = requests.last().unwrap();
    assert_eq!((last.header("impersonate-user"), last.header("impersonate-group")), (Some("auditor"), Some("readers")));
    assert_eq!(last.path, "/api/v1/namespaces/team-00/pods");
    for (words, namespace) in [
        (&["-n", "team-01", "get-pods"][..], "team-01"),
        (&["--namespace=team-01", "find-pod-issues"], "team-01"),
        (&["-n", "team-01", "get-pods", "-n", "team-02"], "team-02"),
    ] {
        place.run(&[&["--kubeconfig", config], words].concat()).good();
        let asked = place.live.requests().iter().rfind(|asked| asked.path.ends_with("/pods")).unwrap().path.clone();
        assert_eq!(asked, format!("/api/v1/namespaces/{namespace}/pods"), "{words:?}");
    }
    // A command without namespaces takes none.
    place.run(&["--kubeconfig", config, "-n", "team-01", "get-nodes"]).good();
    for words in [
        &["get-pods", "--kubeconfig", config][..],
        &["--client-key", "x", "get-pods"],
        &["--as-group", "x", "get-pods"],
    ] {
        let refused = place.run(words);
        assert_eq!((refused.code, refused.out.as_str()), (64, ""), "{words:?}: {}", refused.err);
    }
    let behind = place.run(&["get-pods", "--kubeconfig", config]).err;
    assert!(behind.contains("hint: write `kubestellar-ops --kubeconfig FILE get-pods …`"), "{behind}");
    let help = place.run(&["--help"]).good();
    let flags = help.split("\nClusters:\n").nth(1).unwrap();
    for flag in
        ["--kubeconfig <FILE>", "--context <NAME>", "-n, --namespace <NAME>", "--as <USER>", "--request-timeout"]
    {
        assert!(flags.contains(flag), "{flag}: {help}");
    }
    let help = place.run(&["clusters", "health", "--help"]).good();
    assert!(help.contains("`clusters health --all-clusters` all of them"), "{help}");
}

#[test]
fn kw_71_without_a_kubeconfig_every_command_that_needs_one_ends_alike() {
    let home = Home::new();
    let tools = home.run(["tools", "--toolset", "ops", "--output", "json"]).json();
    let mut asked = 0;
    for tool in tools.as_array().unwrap() {
        let words = tool["command"].as_str().unwrap().split(' ').skip(1).map(|word| match word {
            "NAME" | "NAMESPACE" | "KIND" => "x",
            word => word,
        });
        let ran = home.run(words);
        assert_eq!(ran.code, 69, "{tool}: {}{}", ran.out, ran.err);
        assert!(
            ran.err.starts_with("error: no kubeconfig: there is no context to ask\nhint: set KUBECONFIG"),
            "{}",
            ran.err
        );
        asked += 1;
    }
    assert_eq!(asked, 17);
}

#[test]
fn what_agents_are_told_to_call_people_are_told_to_type() {
    let place = Place::new();
    let crash = serde_json::json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "default", "name": "bad",
        "creationTimestamp": "2026-01-01T00:00:00Z"}, "spec": {"nodeName": "node-01", "containers": [{"name": "app", "image": "web:1"}]},
        "status": {"phase": "Running", "containerStatuses": [{"name": "app", "ready": false, "restartCount": 7,
            "state": {"waiting": {"reason": "CrashLoopBackOff"}},
            "lastState": {"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": "2026-01-01T23:00:00Z"}}}]}});
    place.live.apply(crash);
    let words = ["--kubeconfig", &place.kubeconfig, "find-pod-issues", "-n", "default"];
    let shown = place.run(&words).good();
    assert!(
        shown.contains("`kubestellar-ops get-pod-logs bad --namespace default --container app --previous`"),
        "{shown}"
    );
    let value = place.run(&[&words[..], &["--output", "json"]].concat()).json().to_string();
    assert!(value.contains("`get_pod_logs name=bad namespace=default container=app previous=true`"), "{value}");
}

#[test]
fn kt_list_clusters_kt_get_cluster_health_the_commands_of_the_seed_work_as_typed() {
    let place = Place::new();
    let run = |words: &[&str]| place.run(&[&["--kubeconfig", &place.kubeconfig], words].concat());
    let one = run(&["clusters", "health"]).good();
    assert!(one.contains("Status: Healthy") && one.contains("Nodes: 20/20 ready"), "{one}");
    let named = run(&["clusters", "health", "gone"]);
    assert!(
        named.out.contains("Status: Unhealthy") && named.out.contains("refuses connections"),
        "{}{}",
        named.out,
        named.err
    );
    let all = run(&["clusters", "health", "--all-clusters", "--output", "json"]).json();
    assert_eq!(all["totals"]["skipped"], 1, "two names of one cluster: {all}");
    assert_eq!(all["clusters"].as_array().unwrap().len(), 3);
    assert!(
        run(&["get_cluster_health", "--clusters", "ein Öl"]).good().contains("Healthy"),
        "a tool answers to its name"
    );
    for words in [&["version"][..], &["--version"]] {
        assert!(place.run(words).good().starts_with("pintle "), "{words:?}");
    }
    let typo = run(&["clusters", "helth"]);
    assert!(typo.code == 64 && typo.err.contains("did you mean `kubestellar-ops clusters health`?"), "{}", typo.err);
    let prose = run(&["why", "is", "it", "slow"]);
    assert_eq!((prose.code, prose.out.as_str()), (64, ""), "kw_46: nothing is sent anywhere: {}", prose.err);
    let by_word = place.home.run(["ops", "--kubeconfig", &place.kubeconfig, "clusters", "list"]).good();
    assert_eq!(by_word, run(&["clusters", "list"]).good());
}

/// Lines to a server, and its answers; the input stays open until they are all there.
fn spoken(place: &Place, words: &[&str], lines: &[&str]) -> Vec<Value> {
    let mut command = place.home.command_of(&place.program, words);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let answers = BufReader::new(child.stdout.take().unwrap()).lines();
    writeln!(input, "{}", lines.join("\n")).unwrap();
    let asked = lines.iter().filter(|line| line.contains("\"id\"")).count();
    let answers = answers.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let answers = answers.filter(|answer| answer.get("id").is_some()).take(asked).collect();
    drop(input);
    assert!(child.wait().unwrap().success());
    answers
}

#[test]
fn kt_list_clusters_the_server_starts_without_a_kubeconfig_and_says_what_to_do() {
    let place = Place::new();
    let smoke = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"get_pods","arguments":{"cluster":""}}}"#,
    ];
    let answers = spoken(&place, &["--mcp-server"], &smoke);
    // Answers come as they are ready.
    let first = answers.iter().find(|answer| answer["id"] == 1).unwrap();
    assert_eq!(first["result"]["serverInfo"]["name"], "kubestellar-ops");
    assert_eq!(
        answers.iter().find(|answer| answer["id"] == 2).unwrap()["result"]["tools"].as_array().unwrap().len(),
        17,
        "those of the seed and no other"
    );
    let called = answers.iter().find(|answer| answer["id"] == 3).unwrap();
    assert_eq!(called["result"]["isError"], true);
    let text = called["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("no kubeconfig") && text.contains("set KUBECONFIG"), "{text}");
    let answers = spoken(&place, &["--kubeconfig", &place.kubeconfig, "--mcp-server"], &smoke);
    let called = answers.iter().find(|answer| answer["id"] == 3).unwrap();
    assert_eq!(called["result"]["structuredContent"]["answer"]["totals"]["rows"], 25, "{called}");
    fs::remove_file(&place.kubeconfig).unwrap();
}

/// As the seed's guide has it, in a folder with `bin`.
const SMOKE: &str = r#"printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}' | ./bin/kubestellar-ops --mcp-server"#;

#[test]
fn kw_49_the_smoke_line_of_the_seed_works_as_typed_through_links() {
    let home = Home::new();
    let bin = home.work().join("bin");
    fs::create_dir(&bin).unwrap();
    home.run(["link", "bin"]).good();
    assert_eq!(fs::read_link(bin.join("kubestellar-ops")).unwrap(), fs::canonicalize(pintle()).unwrap());
    let typed = done(home.command_of("/bin/sh".as_ref(), ["-c", SMOKE]).stdin(Stdio::null()));
    let lines: Vec<&str> = typed.out.lines().collect();
    assert_eq!((typed.code, lines.len()), (0, 1), "{}{}", typed.out, typed.err);
    let answer: Value = serde_json::from_str(lines[0]).unwrap();
    assert_eq!((&answer["id"], &answer["result"]["serverInfo"]["name"]), (&1.into(), &"kubestellar-ops".into()));
    assert!(answer["result"]["capabilities"]["tools"].is_object(), "{answer}");
}

#[test]
fn kw_73_one_program_serves_clusters_over_http_and_needs_no_other() {
    let place = Place::new();
    let token = place.home.write("token", "a-long-enough-token-for-this\n");
    fs::set_permissions(&token, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let file = token.display().to_string();
    let words =
        ["--listen", "127.0.0.1:0", "--toolset", "ops", "--token-file", &file, "--kubeconfig", &place.kubeconfig];
    // Nothing is found on the path: no git, no kubectl, no helm.
    let server = crate::listening::Listening::start(&place.home, &words, Some(("PATH", "/nowhere")));
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_pods","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}}}"#;
    let headers = "Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: get_pods\r\n";
    assert_eq!(server.post("/mcp", headers, call).0, 401, "and asks who comes");
    let known = format!("Authorization: Bearer a-long-enough-token-for-this\r\n{headers}");
    let (status, answer) = server.post("/mcp", &known, call);
    assert!(status == 200 && answer.contains(r#""rows":25"#), "{answer}");
}

#[test]
fn names_of_clusters_namespaces_and_pods_are_completed_in_a_shell() {
    let place = Place::new();
    let script = place.run(&["completions", "bash"]).good();
    place.home.write("completions", &script);
    let typed = |rest: &str| {
        let line = format!("{} --kubeconfig {} {rest}", place.program.display(), place.kubeconfig);
        // As bash calls it: the command's name, the word before the cursor, the one before that.
        let ask = r#"source "$HOME/completions"
            COMP_LINE=$1; COMP_POINT=${#COMP_LINE}; read -ra COMP_WORDS <<< "$COMP_LINE "; COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            _ops_values "$2" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            printf '%s\n' "${COMPREPLY[@]}""#;
        let program = place.program.display().to_string();
        let words = ["--norc", "-c", ask, "bash", &line, &program];
        done(&mut place.home.command_of("/bin/bash".as_ref(), words)).good()
    };
    assert_eq!(typed("get-pods --clusters ein"), "ein\\ Öl\n");
    assert_eq!(typed("get-pods --clusters arn:aws:e"), "eks:eu-west-1:1:cluster/a\n", "bash keeps what is before");
    assert!(place.live.requests().is_empty(), "contexts stand in the file");
    assert_eq!(typed("get-pods -n team-0").lines().next(), Some("team-00"));
    assert_eq!(typed("find-pod-issues --namespace=team-00"), "team-00\n");
    let pods = typed("describe-pod -n team-00 ");
    let all = place.run(&["--kubeconfig", &place.kubeconfig, "get-pods", "-n", "team-00", "--output", "json"]).json();
    let names: Vec<_> = all["rows"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(pods.lines().collect::<Vec<_>>(), names);
    assert!(typed("list-resources deploy").starts_with("deployments\n"));
    assert!(typed("get-po").contains("get-pods"), "commands are completed as before");
    assert!(typed("get-pods --clus").contains("--clusters"), "and flags");
}
