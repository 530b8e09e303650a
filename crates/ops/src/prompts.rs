//! The slash commands of the seed as prompts, as far as the tools here serve them.

use pintle_core::{Part, Prompt, PromptArgument, PromptMessage};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A slash command: name, what it is for, and its steps; `{where}` stands for the chosen clusters and namespace.
struct Command {
    name: &'static str,
    description: &'static str,
    namespace: bool,
    steps: &'static str,
}

/// Names of all prompts.
pub(crate) const NAMES: [&str; 5] = ["k8s-health", "k8s-issues", "k8s-security", "k8s-analyze", "k8s-audit-kubeconfig"];

const COMMANDS: [Command; 5] = [
    Command {
        name: "k8s-health",
        description: "Check the health of clusters and say what is wrong with them",
        namespace: false,
        steps: "1. `get_cluster_health` {where}.\n\
            2. For each cluster that is not healthy: `get_nodes` and `get_warning_events` there.\n\
            3. Say which clusters are well, which are not and why, and which could not be reached.",
    },
    Command {
        name: "k8s-issues",
        description: "Find what is broken: pods, workloads, and what the events say",
        namespace: true,
        steps: "1. `find_pod_issues` and `find_deployment_issues` {where}.\n\
            2. For the worst findings: `describe_pod`, and `get_pod_logs` with `previous: true` where a container crashes.\n\
            3. Say for each problem its cause, on what evidence, and the next step. Change nothing.",
    },
    Command {
        name: "k8s-security",
        description: "Look for workloads that open the node or the cluster",
        namespace: true,
        steps: "1. `check_security_issues` {where}.\n\
            2. `check_resource_limits` there: a pod without limits can starve its node.\n\
            3. Group the findings by workload, worst first, and say what to change in its manifest. Change nothing.",
    },
    Command {
        name: "k8s-analyze",
        description: "Analyse a namespace: what runs there, who owns it, what is wrong",
        namespace: true,
        steps: "1. `analyze_namespace` {where}; without a namespace ask which one is meant.\n\
            2. `find_resource_owners` and `find_pod_issues` there.\n\
            3. Sum up: what runs, who owns it, quotas that are nearly used up, and what needs attention first.",
    },
    Command {
        name: "k8s-audit-kubeconfig",
        description: "Audit the kubeconfig: contexts that are dead, double or broken",
        namespace: false,
        steps: "1. `audit_kubeconfig`.\n\
            2. Say which contexts answer, which do not and why. What merely does not answer may be behind a VPN: \
            propose no deletion for it.\n\
            3. Show the commands that the tool gives for what is broken or unused; run none of them.",
    },
];

/// All prompts.
pub(crate) fn all() -> Vec<Prompt> {
    COMMANDS
        .iter()
        .map(|command| {
            let mut arguments = vec![argument("clusters", "contexts, globs or `all`; the current one when left out")];
            if command.namespace {
                arguments.push(argument("namespace", "one namespace; all when left out"));
            }
            Prompt {
                name: command.name.to_owned(),
                description: command.description.to_owned(),
                arguments,
                render: Arc::new(|given| Ok(vec![render(command, given)])),
            }
        })
        .collect()
}

fn argument(name: &str, description: &str) -> PromptArgument {
    PromptArgument { name: name.to_owned(), description: description.to_owned(), required: false }
}

fn render(command: &Command, given: &Map<String, Value>) -> PromptMessage {
    let word = |name: &str| given.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let clusters = match word("clusters") {
        Some(clusters) => format!("with `clusters: {clusters}`"),
        None => "on the current context".to_owned(),
    };
    let namespace = word("namespace").map(|name| format!(" and `namespace: {name}`")).unwrap_or_default();
    let text = command.steps.replace("{where}", &format!("{clusters}{namespace}"));
    PromptMessage { assistant: false, part: Part::Text(format!("{}.\n\n{text}", command.description)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn prompts_name_what_was_chosen() {
        assert_eq!(all().iter().map(|prompt| prompt.name.as_str()).collect::<Vec<_>>(), NAMES);
        let Value::Object(given) = json!({"clusters": "prod-*", "namespace": "web"}) else { panic!() };
        for prompt in all() {
            let messages = (prompt.render)(&given).unwrap();
            let Part::Text(text) = &messages[0].part else { panic!("a text") };
            assert!(!text.contains("{where}"), "{text}");
        }
        let issues = (all()[1].render)(&given).unwrap();
        assert!(
            matches!(&issues[0].part, Part::Text(text) if text.contains("`clusters: prod-*` and `namespace: web`"))
        );
    }
}
