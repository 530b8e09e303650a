//! The worked example ends with a plan of checks.

use crate::home::Home;

#[test]
fn quickstart_ends_with_a_plan_that_holds_for_its_own_server() {
    let home = Home::new();
    let out = home.run(["quickstart", "--dir", "."]).good();
    let (_, proof) = out.split_once("# a plan of checks").expect("the plan is told");
    assert!(proof.contains("4 steps: 4 passed, 0 failed, 0 skipped"), "{proof}");
    // What is shown is the plan itself: it runs as it stands.
    let shown = proof.lines().skip(1).take_while(|line| !line.is_empty());
    let plan: String = shown.map(|line| format!("{}\n", line.strip_prefix("  ").unwrap())).collect();
    home.write("work/plan.yml", &plan);
    let server = format!("'{}' mcp serve --stdio --toolset charly --dir hello", crate::home::pintle().display());
    home.run(["check", "run", "plan.yml", "--stdio", &server]).good();
    let broken = plan.replace("openssh-server", "nginx");
    home.write("work/plan.yml", &broken);
    assert_eq!(home.run(["check", "run", "plan.yml", "--stdio", &server]).code, 2, "and it can fail");
}
