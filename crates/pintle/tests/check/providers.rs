//! Verbs carried out by programs of their own, ours among them.

use crate::{
    fixture,
    home::{Home, pintle},
};

#[test]
fn ch_005_ch_007_our_own_binary_carries_out_steps_with_an_empty_path() {
    let home = Home::new();
    let server = fixture::listening(home.path());
    home.write(
        "work/plan.yml",
        "a: {check: x, mcp: call, tool: trial.echo, input: {text: '${T}'}, stdout: [{matches: ^hi}, {contains: there}]}
b: {check: x, mcp: call, tool: trial.echo, stdout: bye}
vars: {T: hi there}
",
    );
    let provider = format!("mcp=env -i PATH= '{}' check-provider", pintle().display());
    let outside = home.run(["check", "run", "plan.yml", "--url", &server.url, "--provider", &provider]);
    let inside = home.run(["check", "run", "plan.yml", "--url", &server.url]);
    assert_eq!((outside.code, inside.code), (2, 2), "{}{}", outside.out, outside.err);
    let plain = |text: &str| {
        // Times differ.
        text.lines().filter(|line| !line.contains(" ms")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(plain(&outside.out), plain(&inside.out), "the same verdicts with the same places");
    assert!(outside.out.contains("plan.yml:2:"), "{}", outside.out);
}

#[test]
fn ch_006_a_provider_that_crashes_fails_its_step_and_no_other() {
    let home = Home::new();
    home.write("work/good.sh", "read step; printf '{\"status\": \"pass\", \"message\": \"\"}\\n'\n");
    home.write("work/bad.sh", "read step; echo dying >&2; kill -9 $$\n");
    home.write("work/nonsense.sh", "echo what\n");
    home.write(
        "work/plan.yml",
        "a: {check: x, bad: now}\nb: {check: x, nonsense: now}\nc: {check: x, good: now}\nd: {check: x, command: 'true'}\n",
    );
    let mut words = vec!["check".to_owned(), "run".into(), "plan.yml".into(), "--report".into(), "json".into()];
    for word in ["good", "bad", "nonsense"] {
        words.extend(["--provider".to_owned(), format!("{word}=sh {word}.sh")]);
    }
    let ran = home.run(&words);
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let status: Vec<_> =
        json["steps"].as_array().unwrap().iter().map(|step| step["status"].as_str().unwrap()).collect();
    assert_eq!(status, ["failed", "failed", "passed", "passed"], "{json}");
    assert!(json["steps"][0]["message"].as_str().unwrap().contains("dying"), "{json}");
}

#[test]
fn the_provider_is_not_a_command_for_people() {
    let home = Home::new();
    assert_eq!(home.run(["check-provider", "x"]).code, 64);
    assert_eq!(home.fed(["check-provider"], "").good(), "");
    let answer = home.fed(["check-provider"], "nonsense\n").good();
    assert!(answer.starts_with("{\"status\":\"error\""), "{answer}");
    assert!(!home.run(["--help"]).good().contains("check-provider"));
    for text in ["mcp", "=x", "a b=x", "mcp=", "mcp='x"] {
        home.write("work/plan.yml", "a: {check: x, command: 'true'}\n");
        assert_eq!(home.run(["check", "run", "plan.yml", "--provider", text]).code, 64, "{text}");
    }
}
