//! What a verb's run is told as.

use crate::{judge::ended_with, order::Order, privilege::Way, run::Ran, transcript::Kept};
use pintle_core::{Block, Call, Failure, Output, Part, Resource, View};
use pintle_packfile::{Extract, Fact, Pack, ToolDef, Verb};
use serde_json::{Map, Value, json};

/// Bytes of an answer for what is not text of the program.
const ROOM: usize = 2000;

/// The answer of a run.
///
/// # Errors
/// When the program, whose digest is told, cannot be read.
pub(crate) async fn output(order: &Order<'_>, mut ran: Ran, call: &Call) -> Result<Output, Failure> {
    let mut answer = facts(order, &ran);
    extract(order, &ran, &mut answer).await?;
    let cut = texts(&ran, call.budget(), &mut answer);
    let (text, cut_text) = match call.budget() {
        Some(budget) => ran.said.both.within(budget.saturating_sub(ROOM)),
        None => (ran.said.both.text(), ran.said.both.is_cut()),
    };
    let truncated = cut || cut_text;
    answer.insert("truncated".into(), truncated.into());
    let mut view = View { blocks: vec![Block::Exact(text)] };
    if ran.said.both.is_empty() && ran.failure.is_none() {
        view = View::text(format!("`{}` said nothing and ended with {}", order.name(), ran.status));
    }
    let mut link = None;
    if truncated {
        let (told, kept) = kept_whole(order, &mut ran);
        view = view.and_text(told);
        link = kept;
    }
    let parts = link.map(|link| parts(&view, ran.failure.as_ref(), link)).unwrap_or_default();
    Ok(Output {
        outcome: ran.outcome,
        answer: Some(Value::Object(answer)),
        view,
        parts,
        failure: ran.failure,
        page: None,
        truncated,
    })
}

fn kept_whole(order: &Order<'_>, ran: &mut Ran) -> (String, Option<Resource>) {
    match ran.said.keep(&format!("{} output", order.name())) {
        Ok(Some(link)) => (format!("whole text: {}", link.uri), Some(link)),
        Ok(None) => ("the whole text was not kept: there is no state folder".to_owned(), None),
        Err(failure) => (format!("the whole text could not be kept: {failure}"), None),
    }
}

/// Text and link; where there are parts, agents are shown nothing else.
fn parts(view: &View, failure: Option<&Failure>, link: Resource) -> Vec<Part> {
    let mut view = view.clone();
    if let Some(failure) = failure {
        view = view.and_text(failure.text());
    }
    vec![Part::Text(view.plain()), Part::Link(link)]
}

fn facts(order: &Order<'_>, ran: &Ran) -> Map<String, Value> {
    let (code, signal) = ended_with(ran.status);
    let elevated = matches!(order.way, Way::Helper { .. });
    let told = json!({
        "stdout": "", "stderr": "",
        "exit_code": code, "signal": signal,
        "duration_ms": u64::try_from(ran.took.as_millis()).unwrap_or(u64::MAX),
        "truncated": false,
        "argv": order.shown(),
        "elevated": elevated,
    });
    let mut told = match told {
        Value::Object(told) => told,
        _ => Map::new(),
    };
    if ran.said.lossy {
        told.insert("lossy".into(), true.into());
    }
    if let Some((file, bytes)) = &ran.made {
        told.insert("made".into(), json!({"file": file, "bytes": bytes}));
    }
    if !ran.leftovers.is_empty() {
        told.insert("leftovers".into(), json!(ran.leftovers));
    }
    told
}

/// Puts the streams in, within half of the budget each or what fits; says whether something is left out.
fn texts(ran: &Ran, budget: Option<usize>, answer: &mut Map<String, Value>) -> bool {
    let said = &ran.said;
    let put = |answer: &mut Map<String, Value>, limit: usize| {
        let (stdout, cut_out) = said.stdout.within(limit);
        let (stderr, cut_err) = said.stderr.within(limit / 2);
        answer.insert("stdout".into(), stdout.into());
        answer.insert("stderr".into(), stderr.into());
        cut_out || cut_err
    };
    let Some(budget) = budget else {
        let cut = put(answer, usize::MAX);
        promote(&said.stdout, answer, usize::MAX);
        return cut;
    };
    // As JSON a text may take several times its bytes.
    let mut limit = budget;
    loop {
        let cut = put(answer, limit);
        let size = Value::Object(answer.clone()).to_string().len();
        if size <= budget || limit < 512 {
            promote(&said.stdout, answer, budget.saturating_sub(size));
            return cut;
        }
        limit = limit * 3 / 4;
    }
}

/// Standard output that is one JSON value, or ends in one behind a few lines, is also told as that value, where there is
/// room for it.
fn promote(stdout: &Kept, answer: &mut Map<String, Value>, room: usize) {
    if stdout.is_cut() {
        return;
    }
    let text = stdout.text();
    let object = text.lines().scan(0, |at, line| {
        let start = *at;
        *at += line.len() + 1;
        Some((start, line))
    });
    let object = object.into_iter().find(|(_, line)| line.starts_with('{')).map(|(start, _)| &text[start..]);
    for candidate in [Some(text.trim()), object].into_iter().flatten() {
        if candidate.len() < room
            && candidate.starts_with(['{', '['])
            && let Ok(value) = serde_json::from_str::<Value>(candidate)
        {
            answer.insert("json".into(), value);
            return;
        }
    }
}

/// What the pack reads out of the text, and what the house knows.
async fn extract(order: &Order<'_>, ran: &Ran, answer: &mut Map<String, Value>) -> Result<(), Failure> {
    let Extract { patterns, facts } = &order.verb.extract;
    let text = if patterns.is_empty() { String::new() } else { ran.said.stdout.text() };
    for pattern in patterns {
        let found = pattern.regex().captures(&text);
        for name in pattern.regex().capture_names().flatten() {
            let value = found.as_ref().and_then(|found| found.name(name)).map(|group| group.as_str());
            answer.insert(name.to_owned(), json!(value));
        }
    }
    for fact in facts {
        let (name, value) = match fact {
            Fact::Arch => ("arch", rustix::system::uname().machine().to_string_lossy().into_owned()),
            Fact::BinaryPath => ("binary_path", order.found.path.display().to_string()),
            Fact::Sha256 => ("sha256", order.found.sha256().await?),
        };
        answer.insert(name.to_owned(), value.into());
    }
    Ok(())
}

/// The schema of the answers of a tool.
pub(crate) fn schema(pack: &Pack, tool: &ToolDef) -> Value {
    let text = |meaning: &str| json!({"type": "string", "description": meaning});
    let absent = |kind: &str, meaning: &str| json!({"type": [kind, "null"], "description": meaning});
    let flag = |meaning: &str| json!({"type": "boolean", "description": meaning});
    let strings = |meaning: &str| json!({"type": "array", "items": {"type": "string"}, "description": meaning});
    let mut properties = json!({
        "stdout": text("What it wrote to standard output, secrets masked"),
        "stderr": text("What it wrote to standard error, secrets masked"),
        "exit_code": absent("integer", "Its exit code; null when a signal ended it"),
        "signal": absent("string", "The signal that ended it"),
        "duration_ms": {"type": "integer", "description": "From start to end"},
        "truncated": flag("Whether a text is shortened; a link leads to the whole"),
        "argv": strings("The program and its arguments"),
        "elevated": flag("Whether it got root's rights through the helper"),
        "lossy": flag("Whether bytes that are no UTF-8 were replaced"),
        "json": {"description": "Standard output as a value, where it is JSON"},
        "made": {"type": "object", "description": "The file that it made", "properties": {
            "file": text("Where"), "bytes": {"type": "integer"}}},
        "leftovers": strings("What it left mounted"),
    });
    for verb in tool.verbs(pack) {
        for name in extracted(verb) {
            properties[name] = absent("string", "Told by the program, or known of it");
        }
    }
    json!({"type": "object", "properties": properties})
}

fn extracted(verb: &Verb) -> Vec<String> {
    let groups = verb.extract.patterns.iter().flat_map(|pattern| pattern.regex().capture_names().flatten());
    let facts = verb.extract.facts.iter().map(|fact| match fact {
        Fact::Arch => "arch",
        Fact::BinaryPath => "binary_path",
        Fact::Sha256 => "sha256",
    });
    groups.chain(facts).map(str::to_owned).collect()
}
