//! How every operation that edits one file of a project works: read, edit in memory, judge, show, write.

use crate::{
    host::{
        Entry, FILE_LIMIT, Granted, Host, Inside, Kept, Project, Stored, Target, Write, off_thread, scope, too_large,
    },
    model::{self, Entity, EntityKind, Model, Report, Source, validate::newer},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use pintle_core::{Answer, Call, Code, Digest, Effect, Failure, Lane, Notice, Permit, Prepared, Problem, Stop, View};
use pintle_yaml::{EditError, Editor, Limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What every writing operation takes beside its own arguments.
///
/// `skip_serializing_if` keeps `default: false` out of the schema, where it says nothing and costs bytes in each tool.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Edit {
    /// Project folder
    #[schemars(extend("x-cli" = {"common": true}))]
    pub project: Option<String>,
    /// Only show the diff
    #[schemars(extend("x-cli" = {"common": true}))]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// sha256 the file must have
    #[schemars(extend("x-cli" = {"common": true}))]
    pub if_match: Option<String>,
    /// Even if it adds an error
    #[schemars(extend("x-cli" = {"common": true}))]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
}

/// What an edit has done, or would do.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Edited {
    /// The project's folder.
    pub project: String,
    /// The file, relative to it.
    pub file: String,
    /// SHA-256 of the file after the edit.
    pub sha256: String,
    /// Unified diff; empty when nothing changes.
    pub diff: String,
    /// Whether the file changes.
    pub changed: bool,
    /// Whether it was not there before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub created: bool,
    /// Whether nothing was written because that was asked for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// Errors that were there before, and what may not be meant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What else there is to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Answer for Edited {
    fn view(&self) -> View {
        let done = match (self.changed, self.created, self.dry_run) {
            (false, ..) => "nothing to change",
            (true, true, false) => "written",
            (true, true, true) => "would be written",
            (true, false, false) => "changed",
            (true, false, true) => "would change",
        };
        let mut lines = vec![format!("{}: {done}", self.file)];
        lines.extend(self.note.clone());
        if !self.diff.is_empty() {
            lines.push(self.diff.trim_end_matches('\n').to_owned());
        }
        lines.extend(self.warnings.iter().map(|warning| format!("warning: {warning}")));
        View::text(lines.join("\n"))
    }
}

/// An edit that is ready to be written.
#[derive(Debug)]
pub struct Ready {
    project: Project,
    target: Target,
    before: Option<Stored>,
    after: Vec<u8>,
    mode: Option<u32>,
    tool: &'static str,
    edited: Edited,
}

/// A project read for an edit.
pub(crate) struct Draft {
    pub(crate) project: Project,
    pub(crate) sources: Vec<Source>,
    edit: Edit,
    tool: &'static str,
}

impl Draft {
    /// Reads the project that the edit means.
    pub(crate) fn open(host: &Host, tool: &'static str, edit: Edit) -> Result<Self, Failure> {
        let project = host.project(edit.project.as_deref())?;
        let sources = project.sources()?;
        if !edit.force {
            refuse_newer(&sources)?;
        }
        Ok(Self { project, sources, edit, tool })
    }

    /// A box or candy by name; where it is missing, files that do not parse may be why.
    pub(crate) fn find<'m, 'a>(
        &self,
        model: &'m Model<'a>,
        kind: EntityKind,
        name: &str,
        argument: &str,
    ) -> Result<&'m Entity<'a>, Failure> {
        find(&self.sources, model, kind, name, argument)
    }

    /// Edits the text of a YAML file that is there.
    pub(crate) fn yaml(
        &self,
        file: &str,
        change: impl FnOnce(&mut Editor) -> Result<bool, EditError>,
    ) -> Result<Vec<u8>, Failure> {
        let tree = match self.sources.iter().find(|source| source.file == file).map(|source| &source.tree) {
            Some(Ok(tree)) => tree,
            Some(Err(problems)) => return Err(unparsed(file, problems)),
            None => return Err(Failure::new(Code::NotFound, format!("`{file}` is not there"))),
        };
        edit_text(file, tree.text(), change)
    }

    /// Judges the project as it would be with the new bytes, and makes the edit ready.
    pub(crate) fn finish(self, file: &Inside, after: Vec<u8>, mode: Option<u32>) -> Result<Prepared<Ready>, Failure> {
        let folder = self.project.folder();
        let target = folder.locate_to_write(file)?;
        let before = folder.read(&target)?;
        if after.len() > FILE_LIMIT {
            return Err(too_large(file.as_str()));
        }
        self.still_as_read(file, before.as_ref())?;
        check_match(self.edit.if_match.as_deref(), file, before.as_ref())?;
        let mode = mode.filter(|mode| before.as_ref().is_none_or(|stored| stored.mode != *mode));
        let same = before.as_ref().is_some_and(|stored| stored.bytes == after);
        let changed = !same || mode.is_some();
        let name = self.source_name(file, &target);
        let warnings = if same { Vec::new() } else { self.judge(&name, &after)? };
        let (diff, note) = diff(file.as_str(), before.as_ref().map(|stored| stored.bytes.as_slice()), Some(&after));
        let edited = Edited {
            project: self.project.shown(),
            file: file.to_string(),
            sha256: Digest::of(&after).to_string(),
            diff,
            changed,
            created: before.is_none(),
            dry_run: self.edit.dry_run,
            warnings,
            note: note.or_else(|| mode.filter(|_| same).map(|mode| format!("mode becomes {mode:04o}"))),
        };
        let writes = changed && !self.edit.dry_run;
        let old = before.as_ref().map_or(&[][..], |stored| &stored.bytes);
        let seen = Digest::of_parts([
            target.path().as_os_str().as_encoded_bytes(),
            &[u8::from(before.is_some())],
            old,
            &after,
            format!("{mode:?}").as_bytes(),
        ]);
        Ok(Prepared {
            effect: if writes { Effect::WRITE } else { Effect::READ },
            scopes: if writes { vec![scope(folder, &target)] } else { Vec::new() },
            lanes: if writes { vec![lane(&self.project.shown())] } else { Vec::new() },
            preview: edited.view().plain(),
            seen,
            confirm: None,
            ready: Ready { project: self.project, target, before, after, mode, tool: self.tool, edited },
        })
    }

    /// The edit was made on what was read first; somebody may have written since.
    fn still_as_read(&self, file: &Inside, before: Option<&Stored>) -> Result<(), Failure> {
        let read = self.sources.iter().find(|source| source.file == file.as_str());
        let Some(tree) = read.and_then(|source| source.tree.as_ref().ok()) else { return Ok(()) };
        if before.is_some_and(|stored| stored.bytes == tree.text().as_bytes()) {
            return Ok(());
        }
        Err(Failure::new(Code::Moved, format!("`{file}` changes while it is being edited")).retryable())
    }

    /// The name under which the file is read as part of the project: it may be the target of a link.
    fn source_name(&self, file: &Inside, target: &Target) -> String {
        if self.sources.iter().any(|source| source.file == file.as_str()) {
            return file.to_string();
        }
        let same = |source: &&Source| {
            self.project.folder().locate(&Inside::of(source.file.clone())).is_ok_and(|other| other == *target)
        };
        self.sources.iter().find(same).map_or_else(|| file.to_string(), |source| source.file.clone())
    }

    /// Refuses what adds an error; gives what is told as warnings.
    fn judge(&self, file: &str, after: &[u8]) -> Result<Vec<String>, Failure> {
        let changed = self.project.sources_with(Some((file, after)))?;
        if !changed.iter().any(|source| source.file == file) {
            return Ok(Vec::new());
        }
        let (_, old) = model::validate(&self.sources);
        let (_, new) = model::validate(&changed);
        let added = model::added(&self.sources, &changed, &old, &new);
        if added.is_empty() || self.edit.force {
            return Ok(warnings(&new, file));
        }
        let count = if added.len() == 1 { "an error".to_owned() } else { format!("{} errors", added.len()) };
        Err(Failure::new(Code::Invalid, format!("`{file}` is not changed: that would add {count}"))
            .problems(added)
            .hint("`force` writes it all the same"))
    }
}

/// A box or candy by name; where it is missing, files that do not parse may be why.
pub(crate) fn find<'m, 'a>(
    sources: &[Source],
    model: &'m Model<'a>,
    kind: EntityKind,
    name: &str,
    argument: &str,
) -> Result<&'m Entity<'a>, Failure> {
    model::places::find(model, kind, name, argument).map_err(|failure| {
        let broken = sources.iter().find_map(|source| Some((&source.file, source.tree.as_ref().err()?)));
        broken.map_or(failure, |(file, problems)| unparsed(file, problems))
    })
}

/// Most warnings that an answer names one by one.
const WARNINGS: usize = 20;

fn warnings(report: &Report, file: &str) -> Vec<String> {
    let own = report.warnings.iter().filter(|problem| problem.file.as_deref() == Some(file));
    let all: Vec<&Problem> = report.errors.iter().chain(own).collect();
    let mut told: Vec<String> = all.iter().take(WARNINGS).map(|problem| problem.to_string()).collect();
    if all.len() > WARNINGS {
        told.push(format!("and {} more, see `box.validate`", all.len() - WARNINGS));
    }
    told
}

/// Edits a text that stands or will stand in `file`.
pub(crate) fn edit_text(
    file: &str,
    text: &str,
    change: impl FnOnce(&mut Editor) -> Result<bool, EditError>,
) -> Result<Vec<u8>, Failure> {
    let mut editor = Editor::new(text, Limits::default())
        .map_err(|problems| unparsed(file, &model::source::told(file, problems)))?;
    change(&mut editor).map_err(|error| {
        let problems = model::source::told(file, [error.problem()]);
        Failure::new(Code::Invalid, format!("`{file}` is not changed: {error}")).problems(problems)
    })?;
    Ok(editor.into_text().into_bytes())
}

/// The failure of whatever needs a file that does not parse.
pub(crate) fn unparsed(file: &str, problems: &[Problem]) -> Failure {
    Failure::new(Code::Invalid, format!("`{file}` does not parse"))
        .problems(problems.iter().cloned())
        .hint("`box.cat` shows it, `box.write` replaces it")
}

/// Fails when a file is of a newer version than this program knows.
pub(crate) fn refuse_newer(sources: &[Source]) -> Result<(), Failure> {
    for source in sources {
        if let Some((node, theirs)) = newer(source) {
            let (place, own) = (node.pos(), crate::version());
            let problem = Problem::new(format!("version {theirs}, and this program knows {own}"));
            return Err(Failure::new(Code::Invalid, format!("`{}` is newer than this program", source.file))
                .problem(problem.at(&source.file, place.line, place.column))
                .hint("use a newer release of this program"));
        }
    }
    Ok(())
}

pub(crate) fn check_match(wanted: Option<&str>, file: &Inside, before: Option<&Stored>) -> Result<(), Failure> {
    let Some(wanted) = wanted.map(|text| text.trim_start_matches("sha256:").to_ascii_lowercase()) else {
        return Ok(());
    };
    let now = before.map(|stored| Digest::of(&stored.bytes));
    if now.as_ref().is_some_and(|now| now.as_str() == wanted) {
        return Ok(());
    }
    let is = now.as_ref().map_or("is not there".to_owned(), |now| format!("has sha256 {now}"));
    Err(Failure::new(Code::Moved, format!("`{file}` is not as `if_match` says: it {is}"))
        .hint("read it again, then repeat the edit with its sha256")
        .details(serde_json::json!({"sha256": now})))
}

/// The lane of everybody who writes to a project.
pub(crate) fn lane(project: &str) -> Lane {
    Lane::new(format!("project:{project}"))
}

/// A unified diff, where `None` is a file that is not there; a note instead where the bytes are no text.
pub(crate) fn diff(file: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> (String, Option<String>) {
    if before == after {
        return (String::new(), None);
    }
    let text = |bytes: Option<&'_ [u8]>| bytes.map_or(Some(String::new()), |b| String::from_utf8(b.to_vec()).ok());
    let (Some(old), Some(new)) = (text(before), text(after)) else {
        return (String::new(), Some(format!("not text, {} bytes", after.map_or(0, <[u8]>::len))));
    };
    let header = |side: &str, bytes: Option<&[u8]>| bytes.map_or("/dev/null".to_owned(), |_| format!("{side}/{file}"));
    // Two large texts with nothing in common could take minutes; after this, the diff is only less small.
    let diff = similar::TextDiff::configure().timeout(Duration::from_secs(1)).diff_lines(old.as_str(), new.as_str());
    (diff.unified_diff().context_radius(2).header(&header("a", before), &header("b", after)).to_string(), None)
}

/// Writes what is ready.
pub(crate) async fn commit(host: &Host, ready: Ready, permit: &Permit, call: &Call) -> Result<Edited, Stop> {
    if !ready.edited.changed || ready.edited.dry_run {
        return Ok(ready.edited);
    }
    let granted = Granted::of(permit, ready.project.folder(), ready.target.clone())?;
    let host = host.clone();
    let edited = off_thread(move || write(&host, ready, &granted)).await?;
    let uri = crate::resources::uri_of_file(&edited.file);
    call.notify(if edited.created { Notice::ResourcesChanged } else { Notice::ResourceUpdated(uri) });
    Ok(edited)
}

/// Keeps what was there, then writes.
fn write(host: &Host, ready: Ready, granted: &Granted) -> Result<Edited, Failure> {
    let folder = ready.project.folder();
    let kept = record(host, &ready)?;
    let expected = ready.before.as_ref().map(|stored| Digest::of(&stored.bytes));
    let same = ready.before.as_ref().is_some_and(|stored| stored.bytes == ready.after);
    let done = match ready.mode {
        Some(mode) if same => host.writer().set_mode(folder, granted, mode),
        mode => {
            let write = Write { bytes: &ready.after, mode, expected: expected.as_ref() };
            host.writer().write(folder, granted, &write)
        }
    };
    if let Err(failure) = done {
        host.journal().drop(&kept)?;
        return Err(failure);
    }
    Ok(ready.edited)
}

fn record(host: &Host, ready: &Ready) -> Result<Kept, Failure> {
    let entry = Entry {
        tool: ready.tool.to_owned(),
        time: jiff::Timestamp::now().to_string(),
        file: ready.edited.file.clone(),
        before: ready.before.as_ref().map(|stored| STANDARD.encode(&stored.bytes)),
        mode: ready.before.as_ref().map(|stored| stored.mode),
        after: Digest::of(&ready.after),
    };
    host.journal().record(ready.project.path(), entry)
}
