//! Texts too long for an answer, kept whole where they can be read on.

use crate::{
    seal::random,
    state::{StateFolder, write_private},
};
use pintle_core::{Code, Contents, Failure, Resource};
use std::{fs, path::Path, time::Duration};

/// Prefix of the URIs.
pub(crate) const SCHEME: &str = "pintle://spill/";
/// How long a spilled text is kept.
const KEEP: Duration = Duration::from_secs(7 * 24 * 3600);
/// Most bytes of one read; `?offset=N` goes on.
const READ: usize = 1024 * 1024;

/// Keeps a text; the resource says where.
pub(crate) fn keep(state: &StateFolder, text: &str, what: &str) -> Result<Resource, Failure> {
    let folder = state.folder("spill")?;
    forget_old(&folder);
    let id: String = random::<12>().iter().map(|b| format!("{b:02x}")).collect();
    let path = folder.join(format!("{id}.txt"));
    write_private(&path, text.as_bytes())
        .map_err(|error| Failure::io(format!("keeping the whole text in `{}`", path.display()), &error))?;
    Ok(Resource {
        uri: format!("{SCHEME}{id}"),
        name: what.to_owned(),
        description: Some(format!("the whole text, {} bytes; ?offset=N&limit=N reads a part", text.len())),
        mime: Some("text/plain".to_owned()),
        size: Some(text.len() as u64),
    })
}

/// Reads a spilled text, or a part of it.
pub(crate) fn read(state: &StateFolder, uri: &str) -> Result<Option<Vec<Contents>>, Failure> {
    let Some(rest) = uri.strip_prefix(SCHEME) else { return Ok(None) };
    let (id, query) = rest.split_once('?').unwrap_or((rest, ""));
    let number = |name: &str| {
        query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('=')?.parse::<usize>().ok())
    };
    let unknown =
        || Failure::new(Code::NotFound, format!("no spilled text `{uri}`")).hint("they are kept for seven days");
    if id.is_empty() || !id.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(unknown());
    }
    let text = fs::read_to_string(state.folder("spill")?.join(format!("{id}.txt"))).map_err(|_| unknown())?;
    let from = floor(&text, number("offset").unwrap_or(0).min(text.len()));
    let to = floor(&text, from.saturating_add(number("limit").unwrap_or(READ).min(READ)).min(text.len()));
    Ok(Some(vec![Contents::text(uri, "text/plain", &text[from..to])]))
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
    }
}
