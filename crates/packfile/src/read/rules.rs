//! Rules of a verb, and those that a condition replaces.

use super::fields::{At, Fields, bare};
use crate::{
    Act, Confirm, Effects, Elevate, Made, OnEof, Overrides, Pattern, Preview, Progress, Rules, Success, Template,
    suggest::{did_you_mean, one_of},
};

const CONFIRM: [(&str, Confirm); 3] =
    [("nothing", Confirm::Nothing), ("plan", Confirm::Plan), ("human", Confirm::Human)];
const ELEVATE: [(&str, Elevate); 3] =
    [("always", Elevate::Always), ("never", Elevate::Never), ("refuse-root", Elevate::RefuseRoot)];
const JOB: [(&str, Option<OnEof>); 3] = [("detach", Some(OnEof::Detach)), ("kill", Some(OnEof::Kill)), ("none", None)];

/// A level of confirmation.
pub(super) fn confirm(fields: &Fields, key: &'static str) -> Option<Confirm> {
    fields.word(key, &CONFIRM)
}

/// Reads the rules that `fields` gives; templates may name `names`.
pub(super) fn read(fields: &Fields, names: &[&str]) -> Overrides {
    Overrides {
        effects: fields.texts("effects").map(|words| effects(fields, words)),
        elevate: fields.word("elevate", &ELEVATE),
        elevate_least: None,
        confirm: confirm(fields, "confirm"),
        deadline: fields.duration("deadline"),
        grace: fields.duration("grace"),
        lane: fields.text("lane").map(|lane| lane_of(fields, lane)),
        job: fields.word("job", &JOB),
        success: fields.table("success").map(|table| success(table, names)),
        progress: fields.table("progress").map(progress),
        preview: fields.table("preview").map(|table| preview(table, names)),
    }
}

/// How a verb runs that needs no privileges, when they are dropped.
pub(super) fn elevate_least(fields: &Fields) -> Option<Elevate> {
    fields.word("least_privilege", &ELEVATE)
}

/// What holds for all verbs that say nothing else.
pub(super) fn defaults(fields: &Fields, names: &[&str]) -> Rules {
    let Some(table) = fields.table("defaults") else { return Rules::default() };
    let given = Overrides {
        confirm: confirm(&table, "confirm"),
        deadline: table.duration("deadline"),
        grace: table.duration("grace"),
        success: table.table("success").map(|table| success(table, names)),
        progress: table.table("progress").map(progress),
        ..Overrides::default()
    };
    table.finish();
    given.over(&Rules::default())
}

/// The rules of a verb. What it may do, and as whom, is never left to a default.
pub(super) fn whole(fields: &Fields, given: &Overrides, defaults: &Rules) -> Rules {
    for (key, there) in [("effects", given.effects.is_some()), ("elevate", given.elevate.is_some())] {
        if !there && fields.take(key).is_none() {
            fields.report.add(fields.at(), format!("`{key}` is missing"), None);
        }
    }
    given.over(defaults)
}

/// An empty lane is none.
fn lane_of(fields: &Fields, lane: At<String>) -> Option<String> {
    if !lane.value.is_empty() && !super::pack::is_name(&lane.value, '-') {
        fields.report.add(lane.at, format!("`{}` is no name for a lane", lane.value), None);
    }
    Some(lane.value).filter(|lane| !lane.is_empty())
}

fn effects(fields: &Fields, words: Vec<At<String>>) -> Effects {
    let mut effects = Effects::default();
    for word in words {
        let act = Act::NAMES.iter().find(|(name, _)| *name == word.value);
        match (act, word.value.as_str()) {
            (Some((_, act)), _) => drop(effects.acts.insert(*act)),
            (None, "idempotent") => effects.idempotent = true,
            (None, "open-world") => effects.open_world = true,
            (None, other) => {
                let known = || Act::NAMES.iter().map(|(name, _)| *name).chain(["idempotent", "open-world"]);
                let hint = did_you_mean(other, known()).unwrap_or_else(|| format!("known: {}", one_of(known())));
                fields.report.add(word.at, format!("no effect `{other}`"), Some(hint));
            }
        }
    }
    effects
}

fn success(table: Fields, names: &[&str]) -> Success {
    let exits = |key| {
        let codes = table.integers(key)?;
        Some(
            codes
                .into_iter()
                .map(|code| {
                    if !(0..=255).contains(&code) {
                        table.report.add(table.at(), format!("{code} is no exit code"), None);
                    }
                    i32::try_from(code).unwrap_or_default()
                })
                .collect::<Vec<_>>(),
        )
    };
    let lines = |key| table.patterns(key).map(bare).unwrap_or_default();
    let made = table.table("made").and_then(|made| {
        let folder = made.template("in").map(|folder| checked(&made, folder, names));
        let glob = made.need_text("glob");
        let min_bytes = made.integer("min_bytes").map_or(1, |bytes| u64::try_from(bytes).unwrap_or(1));
        if folder.is_none() && made.take("in").is_none() {
            made.report.add(made.at(), "`in` is missing", None);
        }
        if let Some(glob) = glob.as_ref().filter(|glob| glob.value.contains('/')) {
            made.report.add(glob.at, "`glob` is a file name, not a path", None);
        }
        made.finish();
        Some(Made { folder: folder?, glob: glob?.bare(), min_bytes })
    });
    let success = Success {
        exit: exits("exit").unwrap_or_else(|| vec![0]),
        findings: exits("findings").unwrap_or_default(),
        never: lines("never"),
        must: lines("must"),
        made,
        mounts_below: table.template("mounts_below").map(|folder| checked(&table, folder, names)),
    };
    table.finish();
    success
}

fn progress(table: Fields) -> Progress {
    let with = |key, group: &str| {
        let pattern: At<Pattern> = table.pattern(key)?;
        if !group.is_empty() && !pattern.value.has_group(group) {
            table.report.add(pattern.at, format!("the pattern needs a group `(?<{group}>…)`"), None);
        }
        Some(pattern.bare())
    };
    let progress =
        Progress { total: with("total", "total"), step: with("step", ""), percent: with("percent", "percent") };
    table.finish();
    progress
}

fn preview(table: Fields, names: &[&str]) -> Preview {
    let preview = Preview {
        list: table.templates("list").into_iter().map(|path| checked(&table, path, names)).collect(),
        mounts_below: table.template("mounts_below").map(|folder| checked(&table, folder, names)),
        run: table.text("run").map(At::bare),
        note: table.text("note").map(At::bare),
    };
    table.finish();
    preview
}

/// A template whose every name is known.
fn checked(fields: &Fields, template: At<Template>, names: &[&str]) -> Template {
    for name in template.value.names().filter(|name| !names.contains(name)) {
        let hint = did_you_mean(name, names.iter().copied()).unwrap_or_else(|| format!("known: {}", names.join(", ")));
        fields.report.add(template.at, format!("nothing is called `{{{name}}}`"), Some(hint));
    }
    template.bare()
}
