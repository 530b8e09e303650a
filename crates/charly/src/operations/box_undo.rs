//! `box.undo`

use crate::{
    edit::{Edit, Edited, check_match, diff, lane},
    host::{Entry, Granted, Host, Inside, Kept, Project, Stored, Target, Write, off_thread, scope},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use pintle_core::{Answer as _, Call, Change, Code, Digest, Effect, Failure, Notice, Permit, Prepared, Stop};
use schemars::JsonSchema;
use serde::Deserialize;

/// Take back the last edit of a project: its file becomes what it was, byte for byte.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct Undo {
    #[serde(flatten)]
    edit: Edit,
}

/// An edit that is ready to be taken back.
#[derive(Debug)]
pub(crate) struct Ready {
    project: Project,
    target: Target,
    now: Option<Stored>,
    then: Option<Vec<u8>>,
    kept: Kept,
    /// Entries above it whose edits were never made.
    void: Vec<Kept>,
    edited: Edited,
}

impl Change for Undo {
    type Host = Host;
    type Ready = Ready;
    type Answer = Edited;
    const NAME: &'static str = "box.undo";
    const WORST: Effect = Effect::WRITE;

    async fn prepare(self, host: &Host, _: &Call) -> Result<Prepared<Ready>, Stop> {
        let host = host.clone();
        Ok(off_thread(move || prepare(&host, &self.edit)).await?)
    }

    async fn commit(host: &Host, ready: Ready, permit: &Permit, call: &Call) -> Result<Edited, Stop> {
        if ready.edited.dry_run {
            return Ok(ready.edited);
        }
        let granted = Granted::of(permit, ready.project.folder(), ready.target.clone())?;
        let host = host.clone();
        let edited = off_thread(move || take_back(&host, ready, &granted)).await?;
        call.notify(Notice::ResourcesChanged);
        Ok(edited)
    }
}

fn prepare(host: &Host, edit: &Edit) -> Result<Prepared<Ready>, Failure> {
    let project = host.project(edit.project.as_deref())?;
    let mut void = Vec::new();
    for kept in host.journal().entries(project.path())? {
        let file = Inside::parse("file", &kept.entry.file)?;
        let target = project.folder().locate_to_write(&file)?;
        let now = project.folder().read(&target)?;
        let then = before(&kept.entry)?;
        let bytes = now.as_ref().map(|stored| stored.bytes.as_slice());
        let as_made = bytes.is_some_and(|bytes| Digest::of(bytes) == kept.entry.after);
        let mode_only = as_made && bytes == then.as_deref();
        if bytes == then.as_deref() && !mode_only {
            // A crash came between the journal and the file.
            void.push(kept);
            continue;
        }
        if !as_made && (!edit.force || then.is_none()) {
            return Err(Failure::new(
                Code::Moved,
                format!("`{file}` was changed since `{}` edited it", kept.entry.tool),
            )
            .hint("`force` restores it all the same, where it was there before; `dry_run` shows what would be lost"));
        }
        check_match(edit.if_match.as_deref(), &file, now.as_ref())?;
        return Ok(ready(project, target, now, then, kept, void, edit.dry_run));
    }
    Err(Failure::new(Code::NotFound, format!("no edit of {} is left to take back", project.shown())))
}

fn before(entry: &Entry) -> Result<Option<Vec<u8>>, Failure> {
    let decoded = entry.before.as_ref().map(|text| STANDARD.decode(text)).transpose();
    decoded.map_err(|error| Failure::new(Code::Invalid, format!("the journal of edits is damaged: {error}")))
}

fn ready(
    project: Project,
    target: Target,
    now: Option<Stored>,
    then: Option<Vec<u8>>,
    kept: Kept,
    void: Vec<Kept>,
    dry_run: bool,
) -> Prepared<Ready> {
    let entry = &kept.entry;
    let bytes = now.as_ref().map(|stored| stored.bytes.as_slice());
    let (diff, other) = diff(&entry.file, bytes, then.as_deref());
    let note = format!("takes back `{}` of {}", entry.tool, entry.time);
    let edited = Edited {
        project: project.shown(),
        file: entry.file.clone(),
        sha256: then.as_ref().map(|bytes| Digest::of(bytes).to_string()).unwrap_or_default(),
        diff,
        changed: true,
        created: now.is_none(),
        dry_run,
        warnings: Vec::new(),
        note: Some(other.map_or(note.clone(), |other| format!("{note}; {other}"))),
    };
    Prepared {
        effect: if dry_run { Effect::READ } else { Effect::WRITE },
        scopes: if dry_run { Vec::new() } else { vec![scope(project.folder(), &target)] },
        lanes: if dry_run { Vec::new() } else { vec![lane(&project.shown())] },
        preview: edited.view().plain(),
        seen: Digest::of_parts([
            entry.file.as_bytes(),
            entry.time.as_bytes(),
            bytes.unwrap_or_default(),
            then.as_deref().unwrap_or_default(),
        ]),
        confirm: None,
        ready: Ready { project, target, now, then, kept, void, edited },
    }
}

fn take_back(host: &Host, ready: Ready, granted: &Granted) -> Result<Edited, Failure> {
    let folder = ready.project.folder();
    let expected = ready.now.as_ref().map(|stored| Digest::of(&stored.bytes));
    let forced = expected.as_ref().is_some_and(|now| *now != ready.kept.entry.after);
    if let (true, Some(now), Some(then)) = (forced, &ready.now, &ready.then) {
        // What others have written since is kept in turn.
        host.journal().record(
            ready.project.path(),
            Entry {
                tool: Undo::NAME.to_owned(),
                time: jiff::Timestamp::now().to_string(),
                file: ready.kept.entry.file.clone(),
                before: Some(STANDARD.encode(&now.bytes)),
                mode: Some(now.mode),
                after: Digest::of(then),
            },
        )?;
    }
    match (&ready.then, &expected) {
        (Some(bytes), _) => {
            let write = Write { bytes, mode: ready.kept.entry.mode, expected: expected.as_ref() };
            host.writer().write(folder, granted, &write)?;
        }
        (None, Some(expected)) => host.writer().remove(folder, granted, expected)?,
        (None, None) => {}
    }
    for kept in ready.void.iter().chain([&ready.kept]) {
        host.journal().drop(kept)?;
    }
    Ok(ready.edited)
}
