//! One step of a plan: its rules are those of the check engine, told with their place in the project.

use pintle_check::{Registry, validate_step};
use pintle_core::Problem;
use pintle_yaml::Node;

/// Everything that is wrong with a step; `name` is its key. A key `plan` in it is told where nodes are read.
#[must_use]
pub fn problems(file: &str, name: Node<'_>, step: Node<'_>, registry: &Registry) -> Vec<Problem> {
    let plan = step.entry("plan").map(|(key, _)| key.pos());
    let found = validate_step(name, step, registry).into_iter().filter(|found| Some(found.place()) != plan);
    found
        .map(|found| {
            let problem = Problem::new(found.message).at(file, found.line, found.column);
            Problem { hint: found.hint, ..problem }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pintle_yaml::{Document, Limits};

    /// What is wrong with `s: {…}`, each with its hint.
    fn judged(body: &str) -> Vec<(String, String)> {
        let document = Document::parse(&format!("s: {body}"), Limits::default()).unwrap();
        let (name, step) = document.root().entries().next().unwrap();
        let problems = problems("f", name, step, &Registry::new());
        problems.into_iter().map(|found| (found.to_string(), found.hint.unwrap_or_default())).collect()
    }

    fn only(body: &str, message: &str) {
        let told: Vec<String> = judged(body).into_iter().map(|(message, _)| message).collect();
        assert_eq!(told, [message], "{body}");
    }

    #[test]
    fn ch_012_ch_013_ch_091_steps_of_the_mcp_verb_with_sibling_fields_fit() {
        for body in [
            "{check: p, mcp: ping}",
            "{check: p, mcp: servers, mcp_name: jupyter}",
            "{check: p, mcp: list-tools, stdout: [{contains: a}, {contains: b}], timeout: 10s}",
            "{check: p, mcp: list-resources, stderr: {equals: ''}}",
            "{check: p, mcp: list-prompts, exit_status: 0}",
            "{check: p, mcp: call, tool: t}",
            "{check: p, mcp: call, tool: t, input: '{\"a\": 1}', exit_status: 1}",
            "{check: p, mcp: call, tool: t, input: {a: 1}}",
            "{check: p, mcp: call, tool: t, input: '{\"a\": \"${NAME}\"'}",
            "{check: p, mcp: read, uri: 'file:///x', eventually: 1m, retry_interval: 500ms}",
            "{check: p, mcp: get-prompt, prompt: x, json: [{at: /a, equals: 1}], within: 200ms}",
            "{run: p, mcp: call, tool: t, capture: answer, skip: not yet}",
            "{run: p, cmd: make}",
            "{check: p, cdp: list, anything: goes}",
        ] {
            assert_eq!(judged(body), [], "{body}");
        }
    }

    #[test]
    fn ch_085_ch_086_an_mcp_step_for_the_build_alone_is_refused() {
        only("{check: p, mcp: ping, context: [build]}", "f:1:35: mcp: verb requires context:\"deploy\"");
        for context in ["[deploy]", "[runtime]", "[build, deploy]"] {
            assert_eq!(judged(&format!("{{check: p, mcp: ping, context: {context}}}")), [], "{context}");
        }
    }

    #[test]
    fn ch_016_contexts_are_a_list_of_three_words() {
        only("{check: p, file: /x, context: deploy}", "f:1:34: context must be a list, not one word");
        only("{check: p, file: /x, context: [depoly]}", "f:1:35: unknown context `depoly`");
    }

    #[test]
    fn ch_088_an_unknown_method_lists_the_known_ones() {
        let told = judged("{check: p, mcp: list-tool}");
        assert_eq!(told[0].0, "f:1:20: mcp: unknown method \"list-tool\"");
        for word in
            ["did you mean `list-tools`?", "ping, servers, list-tools, list-resources, list-prompts, call, read"]
        {
            assert!(told[0].1.contains(word), "{}", told[0].1);
        }
    }

    #[test]
    fn ch_089_ch_090_call_needs_a_tool_and_read_a_uri() {
        only("{check: p, mcp: call}", "f:1:20: mcp: call requires modifier \"tool\"");
        only("{check: p, mcp: read}", "f:1:20: mcp: read requires modifier \"uri\"");
        only("{check: p, mcp: get-prompt}", "f:1:20: mcp: get-prompt requires modifier \"prompt\"");
    }

    #[test]
    fn ch_093_an_unknown_field_is_refused_with_the_nearest_known_one() {
        for (body, message, hint) in [
            ("{check: p, mcp: call, tool: t, inptu: '{}'}", "f:1:35: unknown field `inptu`", "did you mean `input`?"),
            ("{check: p, fiel: /x}", "f:1:15: unknown verb or field `fiel`", "did you mean `file`?"),
        ] {
            assert_eq!(judged(body), [(message.to_owned(), hint.to_owned())]);
        }
    }

    #[test]
    fn ch_074_ch_078_durations_and_matchers_are_judged_with_their_place() {
        only("{check: p, file: /x, timeout: 30}", "f:1:34: timeout `30` has no unit");
        only("{check: p, command: x, stdout: {contain: a}}", "f:1:36: unknown operator `contain`");
        only(
            "{check: p, command: x, stdout: {contains: a, equals: b}}",
            "f:1:49: stdout has two operators in one map: `contains` and `equals`",
        );
    }

    #[test]
    fn a_plan_in_a_step_is_told_once_where_nodes_are_read() {
        assert_eq!(judged("{check: p, file: /x, plan: []}"), []);
        only("{run: p, cmd: a, mkdir: /b}", "f:1:21: a step has one verb, not `cmd` and `mkdir`");
        only("{run: p}", "f:1:1: step `s` has no verb");
        only("{check: '', file: /x}", "f:1:12: `check` is empty");
    }
}
