//! Steps where other files hold them: in a box or candy, in an image's label.

use std::path::Path;

use pintle_yaml::{Node, Problem};
use serde_json::Value;

use crate::model::plan::refuse_list;
use crate::model::sink::Sink;
use crate::model::{Dialect, Step, copy, step};
use crate::registry::Registry;

/// Reads one node as a step of a box or candy file: `name` is its key, `body` its value. Whether the node stands at the
/// top level or below its candy does not matter.
///
/// # Errors
/// Everything that is wrong with it, in the order of the text.
pub fn read_step(name: Node<'_>, body: Node<'_>, directory: &Path, registry: &Registry) -> Result<Step, Vec<Problem>> {
    let mut sink = Sink::new(Dialect::Candy, directory);
    let read = step::read(name, body, registry, &mut sink);
    let problems = sink.finish();
    match read {
        Some(step) if problems.is_empty() => Ok(step),
        _ => Err(problems),
    }
}

/// What is wrong with a node as a step of a box or candy file.
#[must_use]
pub fn validate_step(name: Node<'_>, body: Node<'_>, registry: &Registry) -> Vec<Problem> {
    read_step(name, body, Path::new(""), registry).err().unwrap_or_default()
}

/// What to say about a key that holds a list of steps, which no file may have: `plan`, `steps`, `checks`, `tests`.
#[must_use]
pub fn refuse_step_list(key: Node<'_>, value: Node<'_>) -> Option<Problem> {
    let mut sink = Sink::new(Dialect::Candy, Path::new(""));
    refuse_list(key, value, &mut sink);
    sink.finish().into_iter().next()
}

/// Reads a step that was kept as JSON in an image's label. The rules of files hold for it, too.
///
/// # Errors
/// What is wrong with it, in one fragment.
pub fn read_labelled_step(name: &str, fields: &Value, registry: &Registry) -> Result<Step, String> {
    copy::read(name, fields, &[], Dialect::Candy, Path::new(""), registry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pintle_yaml::{Document, Limits};
    use serde_json::json;

    /// Messages about the first node of a text.
    fn problems(yaml: &str) -> Vec<String> {
        let document = Document::parse(yaml, Limits::default()).unwrap();
        let (name, body) = document.root().entries().next().unwrap();
        validate_step(name, body, &Registry::new()).into_iter().map(|problem| problem.message).collect()
    }

    #[test]
    fn ch_086_a_live_step_needs_the_deploy_context() {
        for verb in ["mcp: ping", "cdp: status", "wl: status", "dbus: list", "vnc: status"] {
            let word = verb.split(':').next().unwrap();
            let text = format!("a: {{check: x, {verb}, context: [build]}}");
            assert_eq!(problems(&text), [format!("{word}: verb requires context:\"deploy\"")]);
            for context in ["", ", context: [deploy]", ", context: [runtime]", ", context: [build, deploy]"] {
                assert_eq!(problems(&format!("a: {{check: x, {verb}{context}}}")), [""; 0], "{verb}{context}");
            }
        }
    }

    #[test]
    fn ch_085_ch_009_a_live_step_without_context_runs_in_deploy() {
        use crate::model::Context;
        let labelled = |fields| read_labelled_step("a", &fields, &Registry::new()).unwrap();
        for verb in ["mcp", "cdp", "wl", "dbus", "vnc"] {
            assert_eq!(labelled(json!({"check": "x", verb: "ping"})).contexts(), [Context::Deploy], "{verb}");
        }
        assert!(labelled(json!({"check": "x", "file": "/a"})).contexts().is_empty());
    }

    #[test]
    fn ch_089_ch_090_required_modifiers() {
        assert_eq!(problems("a: {check: x, mcp: call}"), ["mcp: call requires modifier \"tool\""]);
        assert_eq!(problems("a: {check: x, mcp: read}"), ["mcp: read requires modifier \"uri\""]);
        assert_eq!(problems("a: {check: x, mcp: call, tool: }"), ["mcp: call requires modifier \"tool\""]);
    }

    #[test]
    fn ch_091_the_other_methods_need_nothing_and_take_a_server_name() {
        for method in ["ping", "servers", "list-tools", "list-resources", "list-prompts"] {
            for more in ["", ", mcp_name: jupyter"] {
                assert_eq!(problems(&format!("a: {{check: x, mcp: {method}{more}}}")), [""; 0], "{method}");
            }
            let told = problems(&format!("a: {{check: x, mcp: {method}, tool: t}}"));
            assert_eq!(told, [format!("mcp: {method} takes no `tool` (call does)")]);
        }
    }

    #[test]
    fn ch_088_an_unknown_method_lists_the_known_ones() {
        let document = Document::parse("a: {check: x, mcp: pong}", Limits::default()).unwrap();
        let (name, body) = document.root().entries().next().unwrap();
        let told = validate_step(name, body, &Registry::new());
        assert_eq!(told[0].message, "mcp: unknown method \"pong\"");
        let hint = told[0].hint.clone().unwrap();
        for method in ["ping", "servers", "list-tools", "list-resources", "list-prompts", "call", "read"] {
            assert!(hint.contains(method), "{hint}");
        }
    }

    #[test]
    fn ch_088_a_method_with_a_typo_has_the_near_one_first() {
        let document = Document::parse("a: {check: x, mcp: list-tool}", Limits::default()).unwrap();
        let (name, body) = document.root().entries().next().unwrap();
        let hint = validate_step(name, body, &Registry::new())[0].hint.clone().unwrap();
        assert!(hint.starts_with("did you mean `list-tools`? methods: ping, servers, "), "{hint}");
    }

    #[test]
    fn ch_092_rules_hold_for_steps_from_a_label() {
        let told = read_labelled_step("a", &json!({"check": "x", "mcp": "call"}), &Registry::new()).unwrap_err();
        assert_eq!(told, "mcp: call requires modifier \"tool\"");
        let told = read_labelled_step("a", &json!({"check": "x", "mcp": "read"}), &Registry::new()).unwrap_err();
        assert_eq!(told, "mcp: read requires modifier \"uri\"");
    }

    #[test]
    fn ch_011_a_list_of_steps_is_refused_with_what_to_do() {
        let document = Document::parse("plan:\n  - check: x\n", Limits::default()).unwrap();
        let (key, value) = document.root().entries().next().unwrap();
        let told = refuse_step_list(key, value).unwrap();
        assert_eq!(told.message, "there is no `plan` key: steps are nodes with a name");
        assert!(told.hint.unwrap().contains("`NAME: {check: …}`"));
    }

    #[test]
    fn ch_015_an_mcp_check_is_a_probe_and_a_run_is_none() {
        let labelled = |fields| read_labelled_step("a", &fields, &Registry::new()).unwrap();
        assert!(labelled(json!({"check": "x", "mcp": "ping"})).is_probe());
        assert!(!labelled(json!({"run": "x", "mcp": "ping"})).is_probe());
        assert!(!labelled(json!({"agent-check": "is it pretty"})).is_probe());
    }

    #[test]
    fn actions_and_the_long_form_of_a_verb_are_read() {
        assert_eq!(problems("a: {run: x, mkdir: /srv, mode: '0755'}"), [""; 0]);
        assert_eq!(problems("a: {check: x, mkdir: /srv}"), ["`mkdir` acts and asserts nothing"]);
        assert_eq!(problems("a: {run: x, copy: a}"), ["copy: requires modifier \"to\""]);
        assert_eq!(problems("a: {run: x, copy: etc/x, to: /etc/x, mode: '0644'}"), [""; 0]);
        assert_eq!(problems("a: {run: x, copy: ../a, to: /a}"), ["copy: `../a` must lie in the folder of the candy"]);
        assert_eq!(problems("a: {run: x, copy: a, to: a}"), ["to: `a` is no absolute path without `..`"]);
        assert_eq!(problems("a: {run: x, mkdir: etc}"), ["mkdir: `etc` is no absolute path without `..`"]);
        assert_eq!(
            problems("a: {run: x, mkdir: [/a, ~/b, '$HOME/c', /d/../e]}"),
            ["mkdir: `/d/../e` is no absolute path without `..`"]
        );
        assert_eq!(problems("a: {check: x, plugin: mcp, plugin_input: {method: call, tool: t}}"), [""; 0]);
        assert_eq!(
            problems("a: {check: x, plugin: mcp, plugin_input: {method: call}}"),
            ["mcp: call requires modifier \"tool\""]
        );
        assert_eq!(problems("a: {check: x, service: nginx, running: true}"), [""; 0]);
        assert_eq!(problems("a: {run: x, command: make, run_as: root, cache: /c, mode: '0755'}"), [""; 0]);
        assert_eq!(
            problems("a: {check: x, command: make, cache: /c}"),
            ["field `cache` belongs to the verb `cmd`, not to `command`"]
        );
    }

    #[test]
    fn the_text_of_a_shell_may_have_its_own_dollar_and_brace() {
        assert_eq!(problems("a: {run: x, cmd: 'echo ${#all[@]} ${A:-b}'}"), [""; 0]);
        assert_eq!(problems("a: {check: x, command: 'echo ${#all[@]}'}"), [""; 0]);
        assert_eq!(problems("a: {check: x, mcp: call, tool: '${#all}'}").len(), 1);
    }

    #[test]
    fn ch_093_a_step_without_verb_takes_no_unknown_field_either() {
        assert_eq!(problems("a: {agent-check: look around, tag: slow}"), [""; 0]);
        assert_eq!(problems("a: {agent-check: look around, http: 'http://x', status: 200}"), [""; 0]);
        assert_eq!(problems("a: {include: '@github.com/o/r:v1'}"), [""; 0]);
        assert_eq!(problems("a: {agent-run: look around, contxt: [deploy]}"), ["unknown field `contxt`"]);
        assert_eq!(problems("a: {include: other, mcp: ping}"), ["`a` includes a plan, and cannot have the verb `mcp`"]);
    }

    #[test]
    fn ch_016_contexts_are_a_list() {
        assert_eq!(problems("a: {check: x, file: /x, context: deploy}"), ["context must be a list, not one word"]);
        assert_eq!(problems("a: {check: x, file: /x, context: [build, deploy, runtime]}"), [""; 0]);
        assert_eq!(problems("a: {check: x, file: /x, context: [depoly]}"), ["unknown context `depoly`"]);
    }
}
