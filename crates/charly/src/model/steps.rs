//! The rules for one step of a plan.

use super::{
    report::{Noted, Report, kind},
    shapes::is_duration,
    verbs::{CHECKS, CONTEXTS, MCP_METHODS, MODIFIERS, MORE_MCP_METHODS, OPERATIONS, OPERATORS, PROVIDED, Value, Verb},
};
use pintle_yaml::Node;

/// What a step is to the rules about whole plans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// Whether it asserts something by a verb.
    pub probes: bool,
}

/// Judges one step.
pub fn check(file: &str, name: &str, keyword: &str, node: Node<'_>, report: &mut Report) -> Judged {
    let mut judge = Judge { file, name, report };
    let prose = node.get(keyword).filter(|prose| prose.source_text().is_some_and(|text| !text.trim().is_empty()));
    if prose.is_none_or(Node::is_null) {
        let message = format!("`{keyword}` of `{name}` says nothing");
        judge.error(node, message).hint("say in a few words what holds when the step has passed");
    }
    let find = |word: &str| verbs(keyword).find(|verb| verb.name == word);
    let is_verb = |word: &str| find(word).is_some() || PROVIDED.contains(&word);
    let mut named = node.entries().filter(|(key, _)| is_verb(key.key_text()));
    let first = named.next();
    if let (Some((first, _)), Some((second, _))) = (first, named.next()) {
        let message = format!("`{name}` has two verbs, `{}` and `{}`", first.key_text(), second.key_text());
        judge.error(second, message).hint("make a step of its own of one of them");
        return Judged { probes: true };
    }
    match first {
        Some((key, _)) if keyword == "include" => {
            judge.error(key, format!("`{name}` includes a plan, and cannot have the verb `{}`", key.key_text()));
        }
        None if keyword == "run" => {
            let known: Vec<_> = OPERATIONS.iter().map(|verb| verb.name).collect();
            let said = other_words(node, keyword).next().map_or("", |key| key.key_text());
            let otherwise = format!("use {}", pintle_core::one_of(known.iter().copied()));
            judge.error(node, format!("`{name}` runs nothing")).near(said, known.iter().copied(), &otherwise);
            return Judged::default();
        }
        _ => {}
    }
    let verb = first.and_then(|(key, _)| find(key.key_text()));
    let provided = first.is_some() && verb.is_none();
    judge.fields(node, keyword, first.map(|(key, _)| key), verb, provided);
    judge.modifiers(node);
    let live = provided || verb.is_some_and(|verb| verb.live);
    if let (Some((key, _)), true) = (first, live) {
        judge.live_context(node, key);
    }
    if let (Some(verb), Some((_, value))) = (verb, first) {
        judge.verb(verb, value, node);
    }
    Judged { probes: keyword == "check" && first.is_some() }
}

/// The verbs that a step may have; of one name, the first is meant.
fn verbs(keyword: &str) -> impl Iterator<Item = &'static Verb> {
    let operations = if keyword == "run" || keyword == "agent-run" { OPERATIONS } else { &[] };
    operations.iter().chain(CHECKS)
}

fn other_words<'a>(node: Node<'a>, keyword: &str) -> impl Iterator<Item = Node<'a>> {
    node.entries()
        .map(|(key, _)| key)
        .filter(move |key| key.key_text() != keyword && !MODIFIERS.contains(&key.key_text()))
}

struct Judge<'j> {
    file: &'j str,
    name: &'j str,
    report: &'j mut Report,
}

impl Judge<'_> {
    fn error(&mut self, node: Node<'_>, message: impl Into<String>) -> Noted<'_> {
        self.report.error(self.file, node, message)
    }

    /// Every key is known.
    fn fields(&mut self, node: Node<'_>, keyword: &str, verb_key: Option<Node<'_>>, verb: Option<&Verb>, free: bool) {
        if free {
            return;
        }
        let own = verb.map_or(&[][..], |verb| verb.fields);
        for key in other_words(node, keyword).filter(|key| verb_key.is_none_or(|verb| verb.span() != key.span())) {
            let word = key.key_text();
            if own.contains(&word) || word == "plan" {
                continue;
            }
            let words = verbs(keyword).filter(|_| verb.is_none()).map(|verb| verb.name);
            let known: Vec<&str> = own.iter().copied().chain(MODIFIERS).chain(words).collect();
            let otherwise = match verb {
                Some(verb) if !own.is_empty() => format!("`{}` takes {}", verb.name, own.join(", ")),
                _ => String::new(),
            };
            let message = format!("unknown field `{word}` in the step `{}`", self.name);
            self.error(key, message).near(word, known, &otherwise);
        }
    }

    fn modifiers(&mut self, node: Node<'_>) {
        self.contexts(node);
        for word in ["timeout", "eventually", "retry_interval", "within"] {
            if let Some(value) = node.get(word) {
                let text = value.source_text().unwrap_or_default();
                if !is_duration(text) && !text.contains("${") {
                    self.error(value, format!("`{word}` of `{}` is no duration: `{text}`", self.name))
                        .hint("write a number above zero with its unit, such as `30s`, `1m30s` or `500ms`");
                }
            }
        }
        for word in ["stdout", "stderr", "exit_status", "body"] {
            if let Some(value) = node.get(word) {
                self.matcher(word, value);
            }
        }
        if let Some(value) = node.get("skip").filter(|value| value.source_text().is_none()) {
            self.error(value, format!("`skip` is {}, not `true`, `false` or a reason", kind(value)));
        }
        for word in ["id", "tag"] {
            let lists = word == "tag";
            if let Some(value) = node.get(word).filter(|v| v.source_text().is_none() && !(lists && v.is_sequence())) {
                self.error(value, format!("`{word}` is {}, not text", kind(value)));
            }
        }
        for word in ["depends_on", "exclude_distro"] {
            if let Some(value) = node.get(word) {
                let texts = value.is_sequence() && value.items().all(|item| item.source_text().is_some());
                if !texts {
                    self.error(value, format!("`{word}` of `{}` is no list of names", self.name));
                }
            }
        }
    }

    fn contexts(&mut self, node: Node<'_>) {
        let Some(value) = node.get("context") else { return };
        if !value.is_sequence() {
            let text = value.source_text().unwrap_or("deploy");
            let message = format!("`context` of `{}` is {}, not a list", self.name, kind(value));
            self.error(value, message).hint(format!("write `context: [{text}]`"));
            return;
        }
        for item in value.items() {
            let text = item.source_text().unwrap_or_default();
            if !CONTEXTS.contains(&text) {
                let message = format!("`{text}` is no context");
                self.error(item, message).near(text, CONTEXTS, "use build, deploy or runtime");
            }
        }
    }

    /// A verb that needs a running deployment is not for the build alone.
    fn live_context(&mut self, node: Node<'_>, verb: Node<'_>) {
        let Some(value) = node.get("context").filter(|value| value.is_sequence()) else { return };
        if !value.items().any(|item| matches!(item.source_text(), Some("deploy" | "runtime"))) {
            let message = format!("{}: verb requires context:\"deploy\"", verb.key_text());
            self.error(value, message).hint("add `deploy` to `context`, or leave `context` out");
        }
    }

    /// A scalar is compared whole; a list must hold all of it; a map has one operator.
    fn matcher(&mut self, word: &str, value: Node<'_>) {
        if value.is_sequence() {
            for item in value.items() {
                self.matcher(word, item);
            }
            return;
        }
        if !value.is_mapping() {
            return;
        }
        if value.entries().len() != 1 {
            let message = format!("a matcher of `{word}` has {} operators, not one", value.entries().len());
            self.error(value, message).hint("write a list of matchers, each with one operator");
        }
        for (key, _) in value.entries().filter(|(key, _)| !OPERATORS.contains(&key.key_text())) {
            let text = key.key_text();
            let otherwise = format!("use {}", pintle_core::one_of(OPERATORS));
            self.error(key, format!("`{text}` is no operator of matchers")).near(text, OPERATORS, &otherwise);
        }
    }

    fn verb(&mut self, verb: &Verb, value: Node<'_>, node: Node<'_>) {
        for field in verb.required.iter().filter(|field| node.get(field).is_none()) {
            self.error(value, format!("{}: requires modifier \"{field}\"", verb.name));
        }
        let text = value.source_text().unwrap_or_default();
        match verb.value {
            Value::Free => {}
            Value::InBox => self.absolute(verb.name, value),
            Value::InCandy => {
                if text.starts_with('/') || text.split('/').any(|part| part == "..") {
                    self.error(value, format!("{}: `{text}` must lie in the folder of the candy", verb.name))
                        .hint("give a relative path without `..`");
                }
            }
            Value::McpMethod => self.mcp(text, value, node),
        }
        if let Some(to) = node.get("to").filter(|_| verb.required.contains(&"to")) {
            self.absolute("to", to);
        }
    }

    fn absolute(&mut self, word: &str, value: Node<'_>) {
        let text = value.source_text().unwrap_or_default();
        let variable = text.starts_with('~') || text.starts_with('$');
        if !text.starts_with('/') && !variable || text.split('/').any(|part| part == "..") {
            self.error(value, format!("{word}: `{text}` is no absolute path without `..`"));
        }
    }

    fn mcp(&mut self, method: &str, value: Node<'_>, node: Node<'_>) {
        let more = MORE_MCP_METHODS.iter().map(|(name, _)| *name);
        if !MCP_METHODS.into_iter().chain(more.clone()).any(|known| known == method) {
            let message = format!("mcp: unknown method `{method}` (allowed: {})", MCP_METHODS.join(", "));
            let also = format!("beside those there are {}", more.clone().collect::<Vec<_>>().join(", "));
            self.error(value, message).near(method, MCP_METHODS.into_iter().chain(more), &also);
        }
        let needed = MORE_MCP_METHODS.iter().filter_map(|(name, field)| Some((*name, (*field)?)));
        for (of, field) in needed.chain([("call", "tool"), ("read", "uri")]) {
            let given = node.get(field).is_some_and(|value| !value.is_null() && value.source_text() != Some(""));
            if method == of && !given {
                self.error(value, format!("mcp: {of} requires modifier \"{field}\""));
            }
        }
        let Some(input) = node.get("input").filter(|input| !input.is_mapping()) else { return };
        let text = input.source_text().unwrap_or_default();
        let object = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text);
        // What stands in a variable is known only when the step runs.
        if let (Err(error), false) = (object, text.contains("${")) {
            self.error(input, format!("mcp: `input` of `{}` is no JSON object: {error}", self.name))
                .hint("write `'{\"key\": \"value\"}'` or a map");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pintle_yaml::{Document, Limits};

    fn judged(text: &str) -> (Judged, Vec<String>, Vec<String>) {
        let document = Document::parse(text, Limits::default()).unwrap();
        let mut report = Report::default();
        let keyword = super::super::fields::STEPS.into_iter().find(|word| document.root().get(word).is_some()).unwrap();
        let judged = check("f", "s", keyword, document.root(), &mut report);
        let hints = report.errors.iter().filter_map(|problem| problem.hint.clone()).collect();
        (judged, report.errors.iter().map(ToString::to_string).collect(), hints)
    }

    fn only(text: &str, message: &str) {
        assert_eq!(judged(text).1, [message], "{text}");
    }

    #[test]
    fn ch_012_ch_013_ch_091_steps_of_the_mcp_verb_with_sibling_fields_fit() {
        for text in [
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
        ] {
            let (judged, errors, _) = judged(text);
            assert_eq!(errors, [""; 0], "{text}");
            assert!(judged.probes, "{text}");
        }
    }

    #[test]
    fn ch_085_ch_086_an_mcp_step_for_the_build_alone_is_refused() {
        only("{check: p, mcp: ping, context: [build]}", "f:1:32: mcp: verb requires context:\"deploy\"");
        for context in ["[deploy]", "[runtime]", "[build, deploy]"] {
            assert_eq!(judged(&format!("{{check: p, mcp: ping, context: {context}}}")).1, [""; 0], "{context}");
        }
    }

    #[test]
    fn ch_016_contexts_are_a_list_of_three_words() {
        only("{check: p, file: /x, context: deploy}", "f:1:31: `context` of `s` is text, not a list");
        only("{check: p, file: /x, context: [depoly]}", "f:1:32: `depoly` is no context");
    }

    #[test]
    fn ch_088_an_unknown_method_lists_the_seven() {
        let (_, errors, hints) = judged("{check: p, mcp: list-tool}");
        assert_eq!(
            errors,
            [
                "f:1:17: mcp: unknown method `list-tool` (allowed: ping, servers, list-tools, list-resources, list-prompts, call, read)"
            ]
        );
        assert_eq!(hints, ["did you mean `list-tools`?"]);
    }

    #[test]
    fn ch_089_ch_090_call_needs_a_tool_and_read_a_uri() {
        only("{check: p, mcp: call}", "f:1:17: mcp: call requires modifier \"tool\"");
        only("{check: p, mcp: read}", "f:1:17: mcp: read requires modifier \"uri\"");
        only("{check: p, mcp: get-prompt}", "f:1:17: mcp: get-prompt requires modifier \"prompt\"");
    }

    #[test]
    fn ch_093_an_unknown_field_is_refused_with_the_nearest_known_one() {
        let (_, errors, hints) = judged("{check: p, mcp: call, tool: t, inptu: '{}'}");
        assert_eq!(errors, ["f:1:32: unknown field `inptu` in the step `s`"]);
        assert_eq!(hints, ["did you mean `input`?"]);
        let (_, errors, hints) = judged("{check: p, fiel: /x}");
        assert_eq!(errors, ["f:1:12: unknown field `fiel` in the step `s`"]);
        assert_eq!(hints, ["did you mean `file`?"]);
    }

    #[test]
    fn ch_074_ch_078_durations_and_matchers_are_judged_with_their_place() {
        only("{check: p, file: /x, timeout: 30}", "f:1:31: `timeout` of `s` is no duration: `30`");
        only("{check: p, command: x, stdout: {contain: a}}", "f:1:33: `contain` is no operator of matchers");
        only(
            "{check: p, command: x, stdout: {contains: a, equals: b}}",
            "f:1:32: a matcher of `stdout` has 2 operators, not one",
        );
    }

    #[test]
    fn operations_say_where_from_and_where_to() {
        for text in [
            "{run: p, cmd: make}",
            "{run: p, copy: etc/x, to: /etc/x, mode: '0644'}",
            "{run: p, write: /etc/x, content: hello}",
            "{run: p, mcp: call, tool: t, capture: answer, skip: not yet}",
            "{check: p, mcp: get-prompt, prompt: x, json: [{at: /a, equals: 1}], within: 200ms}",
            "{check: p, plugin: x, plugin_input: {}}",
            "{check: p, cdp: list, anything: goes}",
            "{agent-check: look around}",
            "{include: '@github.com/o/r:v1'}",
        ] {
            assert_eq!(judged(text).1, [""; 0], "{text}");
        }
        only("{run: p}", "f:1:1: `s` runs nothing");
        only("{run: p, copy: ../x, to: /x}", "f:1:16: copy: `../x` must lie in the folder of the candy");
        only("{run: p, copy: x}", "f:1:16: copy: requires modifier \"to\"");
        only("{run: p, mkdir: etc}", "f:1:17: mkdir: `etc` is no absolute path without `..`");
        only("{run: p, cmd: a, mkdir: /b}", "f:1:18: `s` has two verbs, `cmd` and `mkdir`");
        only("{check: '', file: /x}", "f:1:1: `check` of `s` says nothing");
        only(
            "{check: p, mcp: call, tool: t, input: '[1]'}",
            "f:1:39: mcp: `input` of `s` is no JSON object: invalid type: sequence, expected a map at line 1 column 0",
        );
    }
}
