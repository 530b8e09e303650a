//! The operations of the house: tools, doctor, link, approvals.

use crate::home::{Home, pintle};
use serde_json::json;
use std::{fs, os::unix::fs::symlink};

#[test]
fn tools_lists_every_tool_with_its_command() {
    let home = Home::new();
    let all = home.run(["tools", "--output", "json"]).json();
    let set = all.as_array().unwrap().iter().find(|tool| tool["name"] == "box.set").unwrap();
    assert_eq!(set["command"], "pintle charly box set PATH [VALUE]");
    assert_eq!((&set["toolset"], &set["effects"]), (&json!("charly"), &json!(["write"])));
    let extra = home.run(["tools", "--toolset", "extra", "--output", "json"]).json();
    assert!(extra.as_array().unwrap().iter().all(|tool| tool["toolset"] == "extra"));
    let text = home.run(["tools"]).good();
    assert!(text.starts_with("TOOLSET        TOOL") && text.contains("\ncharly, extra  box.undo"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("ops ") && line.contains(" get_pods ")), "{text}");
    assert!(home.run(["charly", "box.validate", "--help"]).good().contains("Usage: pintle charly box.validate"));
}

#[test]
fn help_in_front_is_help_behind() {
    let home = Home::new();
    for (words, command) in [
        (&["charly", "box", "set"][..], "Usage: pintle charly box set"),
        (&["charly", "box"], "Usage: pintle charly box"),
        (&["ops", "clusters", "health"], "Usage: pintle ops clusters health"),
        (&["mcp", "serve"], "Usage: pintle mcp serve"),
        (&["check", "run"], "Usage: pintle check run"),
        (&["link"], "Usage: pintle link"),
    ] {
        let asked = home.run([&["help"], words].concat()).good();
        assert!(asked.contains(command), "{words:?}: {asked}");
        assert_eq!(asked, home.run([words, &["--help"]].concat()).good());
    }
    assert_eq!(home.run(["charly", "help", "box", "set"]).good(), home.run(["charly", "box", "set", "--help"]).good());
    let wrong = home.run(["help", "chraly"]);
    assert!(wrong.code == 64 && wrong.err.contains("did you mean `pintle charly`?"), "{}", wrong.err);
    assert_eq!(home.run(["charly", "--version"]).good(), home.run(["charly", "version"]).good());
}

#[test]
fn where_no_client_is_one_line_says_so() {
    let home = Home::new();
    let dry = home.run(["register", "--dry-run"]);
    assert!(dry.code == 1 && dry.err.starts_with("error: no client was found here\nhint: "), "{}{}", dry.out, dry.err);
    for words in [&["unregister"][..], &["unregister", "--dry-run"]] {
        assert_eq!(home.run(words).good(), "nothing to do: no client has an entry of ours\n");
    }
    let doctor = home.run(["doctor", "--clients"]).good();
    assert!(
        doctor.ends_with("\nno client was found here: `pintle clients` tells where they are looked for\n"),
        "{doctor}"
    );
    let help = home.run(["register", "--help"]).good();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("On a terminal it asks first; without one it writes at once"), "{help}");
}

#[test]
fn doctor_tells_what_works_here_and_what_to_do_otherwise() {
    let home = Home::new();
    let bin = home.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let fake = home.write("bin/podman", "#!/bin/sh\necho podman version 9.9\n");
    fs::set_permissions(&fake, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let look = |words: &[&str]| crate::home::done(home.command(words).env("PATH", &bin));
    let found = look(&["doctor", "--output", "json"]).json();
    let podman = &found["programs"][0];
    assert_eq!((&podman["name"], &podman["version"]), (&json!("podman"), &json!("podman version 9.9")));
    let docker = &found["programs"][1];
    assert_eq!((&docker["name"], docker.get("path")), (&json!("docker"), None), "it is not in PATH");
    assert_eq!(found["toolsets"][0]["name"], "charly");
    assert_eq!((&found["toolsets"][0]["works"], &found["toolsets"][2]["works"]), (&json!(true), &json!(false)));
    assert_eq!(found["toolsets"][1]["works"], false, "there is no kubeconfig");
    assert!(found["toolsets"][1]["note"].as_str().unwrap().contains("`--kubeconfig FILE` before the command"));
    let kubeconfig = json!({"clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c"}}]});
    home.write(".kube/config", &kubeconfig.to_string());
    assert_eq!(look(&["doctor", "--output", "json"]).json()["toolsets"][1]["works"], true, "and now there is one");
    let state = home.path().join(".local/state/pintle");
    assert_eq!(found["state"], json!({"path": state.display().to_string()}));
    let text = look(&["doctor"]).good();
    assert!(text.contains("docker") && text.contains("not installed") && text.contains("cannot work"), "{text}");
    assert_eq!(look(&["doctor", "--fail-on", "findings"]).code, 2, "some toolsets have nothing in this build");
}

#[test]
fn link_installs_the_names_and_never_over_what_is_not_ours() {
    let home = Home::new();
    let bin = home.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let dir = bin.display().to_string();
    home.run(["link", &dir]).good();
    for name in ["charly", "kubestellar-ops"] {
        assert_eq!(fs::read_link(bin.join(name)).unwrap(), pintle().canonicalize().unwrap());
    }
    assert!(!bin.join("kubestellar-deploy").exists(), "a name that does nothing is not installed");
    assert!(!bin.join("eggs").exists(), "the real program has that name");
    let again = home.run(["link", &dir, "--eggs", "--output", "json"]).json();
    assert_eq!((again["made"].as_array().unwrap().len(), again["kept"].as_array().unwrap().len()), (1, 2));
    assert!(again["notes"][0].as_str().unwrap().contains("eggs"), "it says what becomes of the real one");
    let other = home.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("charly"), "mine").unwrap();
    symlink("/usr/bin/true", other.join("kubestellar-ops")).unwrap();
    let refused = home.run(["link", &other.display().to_string()]);
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("other/charly` is there already and is not ours"), "{}", refused.err);
    assert!(refused.err.contains("other/kubestellar-ops` is there already and is not ours"), "{}", refused.err);
    assert_eq!(fs::read_to_string(other.join("charly")).unwrap(), "mine");
    fs::remove_file(other.join("charly")).unwrap();
    assert_eq!(home.run(["link", &other.display().to_string()]).code, 1);
    assert!(!other.join("charly").exists(), "all or nothing");
    assert_eq!(home.run(["link", "/no/such/folder"]).code, 1);
}

/// One server over stdio, one call; what it answered.
fn called(home: &Home, policy: &str) -> serde_json::Value {
    let input = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"box.set","arguments":{"path":"web.box.base","value":"scratch"}}}"#,
        "\n"
    );
    let ran = home.fed(["mcp", "serve", "--stdio", "--policy", policy], input);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let lines = ran.out.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let answer = lines.into_iter().find(|message| message["id"] == 2).unwrap();
    answer["result"]["structuredContent"].clone()
}

#[test]
fn cw_64_agents_propose_and_people_decide() {
    let home = Home::with_project();
    let policy = home.write("policy.toml", "[[rule]]\ntool = \"box.*\"\neffect = \"write\"\nconfirm = \"human\"\n");
    let policy = policy.display().to_string();
    let before = home.files();
    let planned = called(&home, &policy);
    assert_eq!(planned["outcome"], "planned");
    let id = planned["plan"]["approval"].as_str().unwrap().to_owned();
    assert_eq!(home.files(), before, "nothing was changed yet");

    let waiting = home.run(["approvals", "--output", "json"]).json();
    assert_eq!(waiting[0]["id"], id.as_str());
    assert_eq!((&waiting[0]["tool"], &waiting[0]["arguments"]["value"]), (&json!("box.set"), &json!("scratch")));
    assert!(waiting[0]["asked"].as_str().unwrap().ends_with('Z'));
    let text = home.run(["approvals"]).good();
    assert!(text.contains(&id) && text.contains("+    base: scratch"), "people see what would happen: {text}");

    assert_eq!(home.run(["approve", "nothere"]).code, 1);
    assert_eq!(home.run(["deny", &id]).good(), format!("denied {id}: box.set\n"));
    assert_eq!(called(&home, &policy)["failure"]["code"], "denied");

    let id = called(&home, &policy)["plan"]["approval"].as_str().unwrap().to_owned();
    assert_eq!(home.run(["approve", &id]).good(), format!("approved {id}: box.set\n"));
    assert_eq!(home.run(["approvals", "--output", "json"]).json(), json!([]));
    assert_eq!(called(&home, &policy)["outcome"], "ok");
    assert!(home.run(["charly", "box", "cat", "charly.yml"]).good().contains("base: scratch"));
    assert_eq!(home.run(["approve", &id]).code, 1, "a yes is used up");
    let audit = fs::read_to_string(home.path().join(".local/state/pintle/audit.jsonl")).unwrap();
    let said = |line: &&str| line.contains("\"approve\"") && line.contains("\"ok\"");
    let line = audit.lines().find(said).unwrap_or_else(|| panic!("{audit}"));
    assert!(line.contains("\"door\":\"people\"") && line.contains(&id), "cw_27: the yes is written down: {line}");
}
