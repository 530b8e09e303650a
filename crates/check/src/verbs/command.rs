//! `command`: runs a program and looks at its exit status and its output.
//!
//! On the host a text is split as a shell would split it, and no shell runs it.

use std::collections::BTreeMap;

use futures::FutureExt;
use futures::future::BoxFuture;
use pintle_yaml::Node;

use super::{Observation, Probe, Read, Scene, Verb};
use crate::model::Dialect;
use crate::model::duration::Shown;
use crate::model::server;
use crate::model::sink::Sink;
use crate::model::template;
use crate::target::{Execution, Line};

pub(crate) struct Command;

#[derive(Debug)]
struct Runs {
    line: Line,
    in_container: bool,
    background: bool,
    env: BTreeMap<String, String>,
    input: String,
}

impl Verb for Command {
    fn word(&self) -> &'static str {
        "command"
    }

    fn fields(&self) -> &'static [&'static str] {
        &["in_container", "background", "env", "stdin", "run_as"]
    }

    fn read(&self, value: Node<'_>, body: Node<'_>, sink: &mut Sink<'_>) -> Option<Read> {
        let line = line(value, sink);
        let flag = |field: &str, absent: bool, sink: &mut Sink<'_>| match body.get(field) {
            Some(node) => sink.flag(node, field).unwrap_or(absent),
            None => absent,
        };
        let runs = Runs {
            in_container: flag("in_container", true, sink),
            background: flag("background", false, sink),
            env: body.get("env").map(|node| server::texts(node, "env", sink)).unwrap_or_default(),
            input: body.get("stdin").and_then(|node| sink.text(node, "stdin")).unwrap_or_default(),
            line: line?,
        };
        Some(Read::new(runs))
    }
}

fn line(value: Node<'_>, sink: &mut Sink<'_>) -> Option<Line> {
    if value.is_sequence() || sink.dialect == Dialect::Plan {
        let argv = server::argv(value, "`command`", sink)?;
        let text = value.as_str().unwrap_or_default();
        if let Some(operator) = shell_operator(text)
            && !template::is_dynamic(text)
        {
            sink.wrong_hint(
                value,
                format!("`command` runs without a shell, but has `{operator}`"),
                "quote it, or write `command: [sh, -c, '…']`",
            );
            return None;
        }
        return Some(Line::Words(argv));
    }
    sink.word(value, "`command`").map(Line::Text)
}

/// The first thing outside quotes that only a shell understands.
fn shell_operator(text: &str) -> Option<&'static str> {
    const OPERATORS: [&str; 10] = ["&&", "||", "|", ";", ">", "<", "&", "`", "$(", "*"];
    let mut quote = None;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (None | Some('"'), '\\') => {
                chars.next();
            }
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, _) => {
                if let Some(found) = OPERATORS.iter().find(|operator| text[at..].starts_with(**operator)) {
                    return Some(found);
                }
            }
        }
    }
    None
}

impl Probe for Runs {
    fn observe<'a>(&'a self, scene: &'a Scene<'a>) -> BoxFuture<'a, Observation> {
        async move {
            let execution = Execution {
                line: &self.line,
                outside: !self.in_container,
                background: self.background,
                env: &self.env,
                input: self.input.as_bytes(),
                limit: scene.time.left(),
                cancel: scene.cancel,
            };
            let done = match scene.target.execute(execution).await {
                Ok(done) => done,
                Err(why) => return Observation::unable(format!("command: {why}")),
            };
            let mut seen = Observation {
                stdout: done.stdout,
                stderr: done.stderr,
                exit_status: done.status,
                took: Some(done.took),
                warnings: done.warnings,
                ..Observation::default()
            };
            if done.timed_out {
                seen.failure = Some(format!("command: no end within {}", Shown(scene.time.limit)));
                seen.fatal = true;
            }
            seen
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::shell_operator;

    #[test]
    fn what_only_a_shell_understands_is_found_outside_quotes() {
        for (text, wanted) in [
            ("ls -l /tmp", None),
            ("ls | wc", Some("|")),
            ("a && b", Some("&&")),
            ("echo 'a | b' \"c;d\" e\\;f", None),
            ("echo hi > out", Some(">")),
            ("echo $(date)", Some("$(")),
            ("ls *.rs", Some("*")),
        ] {
            assert_eq!(shell_operator(text), wanted, "{text}");
        }
    }
}
