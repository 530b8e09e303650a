//! Texts too long for an answer, kept whole where they can be read on.

use crate::{seal::random, state::StateFolder};
use pintle_core::{Code, Contents, Failure, Resource};
use std::{
    fs,
    io::{self, Read as _, Seek as _, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    time::Duration,
};

/// Prefix of the URIs.
pub(crate) const SCHEME: &str = "pintle://spill/";
/// How long a spilled text is kept.
const KEEP: Duration = Duration::from_secs(7 * 24 * 3600);
/// Most bytes of one read; `?offset=N` goes on.
const READ: u64 = 1024 * 1024;

/// A text that is kept while it comes, so that it is never whole in memory. Dropped before its end, it is forgotten.
pub struct Spilling {
    file: tempfile::NamedTempFile,
    id: String,
    bytes: u64,
}

impl Spilling {
    /// A text that is to be kept in the state folder.
    ///
    /// # Errors
    /// When there is no place for it.
    pub fn begin(state: &StateFolder) -> Result<Self, Failure> {
        let folder = state.folder("spill")?;
        forget_old(&folder);
        let id = random::<12>().iter().map(|b| format!("{b:02x}")).collect();
        let private = fs::Permissions::from_mode(0o600);
        let file = tempfile::Builder::new().prefix(".new-").permissions(private).tempfile_in(&folder);
        let file = file.map_err(|error| Failure::io(format!("keeping a text in `{}`", folder.display()), &error))?;
        Ok(Self { file, id, bytes: 0 })
    }

    /// Takes more of it; already without secrets.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&mut self, text: &str) -> Result<(), Failure> {
        self.bytes += text.len() as u64;
        self.file.write_all(text.as_bytes()).map_err(|error| self.failed(&error))
    }

    /// The resource by which the text is read.
    ///
    /// # Errors
    /// When it cannot be put in its place.
    pub fn finish(self, what: &str) -> Result<Resource, Failure> {
        let path = self.file.path().with_file_name(format!("{}.txt", self.id));
        let (id, bytes) = (self.id, self.bytes);
        self.file
            .persist(&path)
            .map_err(|error| Failure::io(format!("keeping a text as `{}`", path.display()), &error.error))?;
        Ok(resource(&id, bytes, what))
    }

    fn failed(&self, error: &io::Error) -> Failure {
        Failure::io(format!("keeping a text in `{}`", self.file.path().display()), error)
    }
}

/// Keeps a text; the resource says where.
pub(crate) fn keep(state: &StateFolder, text: &str, what: &str) -> Result<Resource, Failure> {
    let mut spilling = Spilling::begin(state)?;
    spilling.write(text)?;
    spilling.finish(what)
}

fn resource(id: &str, bytes: u64, what: &str) -> Resource {
    Resource {
        uri: format!("{SCHEME}{id}"),
        name: what.to_owned(),
        description: Some(format!("the whole text, {bytes} bytes; ?offset=N&limit=N reads a part")),
        mime: Some("text/plain".to_owned()),
        size: Some(bytes),
    }
}

/// Reads a spilled text, or a part of it.
pub(crate) fn read(state: &StateFolder, uri: &str) -> Result<Option<Vec<Contents>>, Failure> {
    let Some(rest) = uri.strip_prefix(SCHEME) else { return Ok(None) };
    let (id, query) = rest.split_once('?').unwrap_or((rest, ""));
    let number =
        |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('=')?.parse::<u64>().ok());
    let unknown =
        || Failure::new(Code::NotFound, format!("no spilled text `{uri}`")).hint("they are kept for seven days");
    if id.is_empty() || !id.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(unknown());
    }
    let file = fs::File::open(state.folder("spill")?.join(format!("{id}.txt"))).map_err(|_| unknown())?;
    let text = window(file, number("offset").unwrap_or(0), number("limit").unwrap_or(READ).min(READ))
        .map_err(|error| Failure::io(format!("reading `{uri}`"), &error))?;
    Ok(Some(vec![Contents::text(uri, "text/plain", text)]))
}

/// A part of the text, from and to character boundaries at or below what was asked for.
fn window(mut file: fs::File, offset: u64, limit: u64) -> io::Result<String> {
    let size = file.metadata()?.len();
    let (from, to) = (offset.min(size), offset.saturating_add(limit).min(size));
    // Where a character goes across the boundary, it begins at most three bytes before.
    let start = from.saturating_sub(3);
    file.seek(io::SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take((to + 1).min(size) - start).read_to_end(&mut bytes)?;
    let floor = |at: u64| {
        let mut at = usize::try_from(at - start).unwrap_or(usize::MAX).min(bytes.len());
        while at > 0 && bytes.get(at).is_some_and(|byte| (0x80..0xc0).contains(byte)) {
            at -= 1;
        }
        at
    };
    Ok(String::from_utf8_lossy(&bytes[floor(from)..floor(to)]).into_owned())
}

/// The nearest character boundary at or below `at`.
pub(crate) fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn forget_old(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let age = entry.metadata().and_then(|m| m.modified()).ok().and_then(|t| t.elapsed().ok());
        if age.is_some_and(|age| age > KEEP) {
            // Another process may be tidying too.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cw_20_a_spilled_text_is_read_back_whole_and_in_parts() {
        let temp = tempfile::tempdir().unwrap();
        let state = StateFolder::at(temp.path());
        let uri = keep(&state, "häuser", "x").unwrap().uri;
        let text = |uri: &str| read(&state, uri).unwrap().unwrap()[0].text.clone().unwrap();
        assert_eq!(text(&uri), "häuser");
        assert_eq!(text(&format!("{uri}?offset=3")), "user");
        assert_eq!(text(&format!("{uri}?offset=1&limit=1")), "", "never half a character");
        assert!(read(&state, "pintle://spill/../../etc/passwd").is_err());
        assert!(read(&state, "eggs://config").unwrap().is_none());
        assert_eq!(text(&format!("{uri}?offset=99")), "");
        let mut spilling = Spilling::begin(&state).unwrap();
        spilling.write("one ").unwrap();
        spilling.write("two").unwrap();
        let resource = spilling.finish("y").unwrap();
        assert_eq!((text(&resource.uri).as_str(), resource.size), ("one two", Some(7)));
        drop(Spilling::begin(&state).unwrap());
        assert_eq!(fs::read_dir(state.folder("spill").unwrap()).unwrap().count(), 2, "what is given up leaves nothing");
    }
}
