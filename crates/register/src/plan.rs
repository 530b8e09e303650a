//! What would become of one file.

use crate::{
    choose::Goal,
    edit::{self, Refusal, Spot},
    files::Located,
    host::Host,
    journal::Done,
};
use pintle_core::{Code, Digest, Failure, Foreign};
use serde_json::Value;
use std::{collections::HashMap, path::PathBuf};

/// A file with its bytes before and after.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) goal: Goal,
    pub(crate) at: Located,
    /// None when there is no file.
    pub(crate) before: Option<Vec<u8>>,
    /// None when the file is to go.
    pub(crate) after: Option<Vec<u8>>,
    /// Our entry before and after.
    pub(crate) earlier: Option<Value>,
    pub(crate) entry: Option<Value>,
    /// Folders to remove with the file, outermost first.
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) notes: Vec<String>,
}

/// Files as earlier plans of the same act leave them.
pub(crate) type Pending = HashMap<PathBuf, Option<Vec<u8>>>;

/// What is to stand in the file.
#[derive(Clone, Debug)]
pub(crate) struct Wish {
    pub(crate) name: String,
    pub(crate) toolsets: Vec<&'static str>,
    /// Variables to refer to.
    pub(crate) environment: Vec<String>,
    pub(crate) force: bool,
}

impl Planned {
    pub(crate) fn changes(&self) -> bool {
        self.before != self.after
    }

    pub(crate) fn client(&self) -> &'static str {
        self.goal.client.id
    }

    /// As a unified diff.
    pub(crate) fn diff(&self) -> String {
        let text = |bytes: &Option<Vec<u8>>| String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
        let (before, after) = (text(&self.before), text(&self.after));
        let name = |there: bool| if there { self.at.path.display().to_string() } else { "/dev/null".to_owned() };
        let diff = similar::TextDiff::from_lines(&before, &after);
        let (old, new) = (name(self.before.is_some()), name(self.after.is_some()));
        diff.unified_diff().context_radius(2).header(&old, &new).to_string()
    }

    /// For the journal.
    pub(crate) fn done(&self, name: &str) -> Done {
        Done {
            client: self.client().to_owned(),
            path: self.at.path.clone(),
            fence: self.goal.fence.clone(),
            format: self.goal.format().name().to_owned(),
            key: self.goal.client.key.iter().map(|key| (*key).to_owned()).collect(),
            listed: self.goal.client.listed(),
            name: name.to_owned(),
            before: self.before.as_ref().map(Digest::of),
            after: self.after.as_ref().map(Digest::of),
            earlier: self.earlier.clone(),
            entry: self.entry.clone(),
            folders: Vec::new(),
        }
    }
}

impl Goal {
    pub(crate) fn spot<'a>(&self, name: &'a str) -> Spot<'a> {
        Spot { format: self.format(), container: self.client.key, name, listed: self.client.listed() }
    }
}

/// The bytes of a file, as earlier plans leave it.
pub(crate) fn bytes_of(at: &Located, pending: &Pending) -> Result<Option<Vec<u8>>, Failure> {
    match pending.get(&at.real()) {
        Some(bytes) => Ok(bytes.clone()),
        None => at.read(),
    }
}

/// The text of those bytes.
pub(crate) fn text_of<'a>(at: &Located, bytes: Option<&'a [u8]>) -> Result<&'a str, Failure> {
    let bytes = bytes.unwrap_or_default();
    std::str::from_utf8(bytes).map_err(|error| {
        let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]).into_owned();
        let place = edit::Place::of(&before, before.len());
        refused(at, &Refusal::Malformed { place, message: "this is not UTF-8".to_owned() })
    })
}

/// Why a file stays as it is.
pub(crate) fn refused(at: &Located, refusal: &Refusal) -> Failure {
    let file = at.path.display().to_string();
    let problem = refusal.problem(&file);
    Failure::new(Code::Invalid, format!("{file}:{}: {refusal}", refusal.place())).problem(problem)
}

fn hard_linked(at: &Located) -> Failure {
    Failure::new(Code::Invalid, format!("`{}` has several names (hard links)", at.path.display()))
        .hint("`--force` writes it in place, so that all of them see the change")
}

/// The file with our entry in it.
pub(crate) fn put(host: &Host, goal: Goal, wish: &Wish, pending: &Pending) -> Result<Planned, Failure> {
    let at = goal.located()?;
    let before = bytes_of(&at, pending)?;
    let text = text_of(&at, before.as_deref())?;
    let spot = goal.spot(&wish.name);
    let told = |refusal: Refusal| refused(&at, &refusal);
    let words = host.words(&wish.toolsets, goal.client.strict_names);
    let mut entry = goal.shape.entry(&wish.name, &words);
    if !goal.client.env.add(&mut entry, &wish.environment) {
        let message = format!("{} has no way to name a variable without its value", goal.client.name);
        return Err(Failure::new(Code::Invalid, message).hint("leave out `--env`, or this client"));
    }
    let earlier = edit::find(text, &spot).map_err(told)?;
    let ours = |entry: &Value| goal.shape.words(entry).is_some_and(|words| host.is_ours(&words));
    let cleared;
    let base = match &earlier {
        Some(other) if !ours(other) => {
            if !wish.force {
                return Err(foreign(&goal, &at, &wish.name, other));
            }
            cleared = edit::take_out(text, &spot).map_err(told)?.unwrap_or_default();
            &cleared
        }
        _ => text,
    };
    let after = edit::put(base, &spot, &entry, goal.client.starter).map_err(told)?;
    let after = if after == base && base != text { text.to_owned() } else { after };
    if after.as_bytes() != before.as_deref().unwrap_or_default() && at.hard_linked && !wish.force {
        return Err(hard_linked(&at));
    }
    let entry = edit::find(&after, &spot).map_err(told)?;
    let mut notes = goal.notes.clone();
    if goal.format() == crate::clients::Format::Json
        && let Some(place) = edit::lenient(text)
    {
        let client = goal.client.name;
        notes.push(format!("a comment or trailing comma at {place}: {client} may refuse the file because of it"));
    }
    let after = Some(after.into_bytes());
    Ok(Planned { goal, at, before, after, earlier, entry, folders: Vec::new(), notes })
}

fn foreign(goal: &Goal, at: &Located, name: &str, entry: &Value) -> Failure {
    let shown = match goal.shape.words(entry) {
        Some(words) => Foreign::one_line(&words.join(" ")),
        None => "something that starts no program".to_owned(),
    };
    Failure::new(
        Code::AlreadyExists,
        format!("`{}` has an entry `{name}` that is not ours: {shown}", at.path.display()),
    )
    .hint("`--name` chooses another key, `--force` replaces it")
}

/// The file without our entry: exactly as it was before us, where it is as we left it. None when nothing of ours is there.
pub(crate) fn take_out(
    host: &Host,
    goal: Goal,
    name: &str,
    force: bool,
    asked: bool,
    pending: &Pending,
) -> Result<Option<Planned>, Failure> {
    let at = goal.located()?;
    let Some(before) = bytes_of(&at, pending)? else { return Ok(None) };
    // A file that does not have the word cannot have the entry, well-formed or not.
    if !String::from_utf8_lossy(&before).contains(name) {
        return Ok(None);
    }
    let text = text_of(&at, Some(&before))?;
    let spot = goal.spot(name);
    let told = |refusal: Refusal| refused(&at, &refusal);
    let Some(earlier) = edit::find(text, &spot).map_err(told)? else { return Ok(None) };
    if !force && !goal.shape.words(&earlier).is_some_and(|words| host.is_ours(&words)) {
        return if asked { Err(foreign(&goal, &at, name, &earlier)) } else { Ok(None) };
    }
    if at.hard_linked && !force {
        return Err(hard_linked(&at));
    }
    let origin = host.journal()?.origin(&goal.path, goal.client.key, name, &before)?;
    // Our own entry of longer ago is not what was before us.
    let ours = |entry: &Value| goal.shape.words(entry).is_some_and(|words| host.is_ours(&words));
    let entry_of = |bytes: &Option<Vec<u8>>| match bytes {
        Some(bytes) => edit::find(&String::from_utf8_lossy(bytes), &spot),
        None => Ok(None),
    };
    let origin = origin.filter(|origin| entry_of(&origin.bytes).is_ok_and(|entry| !entry.as_ref().is_some_and(ours)));
    let (after, folders, note) = match origin {
        Some(origin) => (origin.bytes, origin.folders, None),
        None => {
            let text = edit::take_out(text, &spot).map_err(told)?.unwrap_or_else(|| text.to_owned());
            let note = "the file was changed since: only our entry was taken out".to_owned();
            (Some(text.into_bytes()), Vec::new(), Some(note))
        }
    };
    let entry = entry_of(&after).map_err(told)?;
    let back = entry.is_some().then(|| format!("the entry `{name}` that was there before us is back"));
    let notes = goal.notes.iter().cloned().chain(note).chain(back).collect();
    Ok(Some(Planned { goal, at, before: Some(before), after, earlier: Some(earlier), entry, folders, notes }))
}
