//! `[[resource]]`.

use indexmap::IndexMap;

use super::{
    fields::{At, Fields, bare},
    pack,
};
use crate::{HostProbe, ResourceDef, Source, Verb, suggest::did_you_mean};

const PROBES: [(&str, HostProbe); 1] = [("distribution", HostProbe::Distribution)];

/// Bytes of a resource where the pack does not say.
const MOST_BYTES: u64 = 1 << 20;

/// Reads one resource.
pub(super) fn read(fields: Fields, verbs: &IndexMap<String, Verb>) -> Option<ResourceDef> {
    let uri = fields.need_text("uri");
    if let Some(uri) = uri.as_ref().filter(|uri| {
        !uri.value.split_once("://").is_some_and(|(scheme, rest)| {
            pack::is_name(scheme, '-') && !rest.is_empty() && rest.chars().all(|c| c.is_ascii_graphic())
        })
    }) {
        fields.report.add(uri.at, format!("`{}` is no URI", uri.value), Some("such as `eggs://config`".into()));
    }
    let files = fields.texts("files");
    for file in files.iter().flatten() {
        pack::absolute(&fields, file);
    }
    let verb = fields.text("verb");
    if let Some(name) = &verb {
        match verbs.get(&name.value) {
            Some(verb) if verb.worst().is_read() && verb.options.values().all(|option| !option.required) => {}
            Some(_) => {
                let message = format!("a resource only reads and has no arguments: `{}` does not fit", name.value);
                fields.report.add(name.at, message, None);
            }
            None => {
                let hint = did_you_mean(&name.value, verbs.keys().map(String::as_str));
                fields.report.add(name.at, format!("no verb `{}`", name.value), hint);
            }
        }
    }
    let probe = fields.word("probe", &PROBES);
    let source = match (files, verb, probe) {
        (Some(files), None, None) => Some(Source::Files(bare(files))),
        (None, Some(verb), None) => Some(Source::Verb(verb.bare())),
        (None, None, Some(probe)) => Some(Source::Probe(probe)),
        _ => {
            fields.report.add(fields.at(), "a resource has one of `files`, `verb` and `probe`", None);
            None
        }
    };
    let name = fields.text("name").map(At::bare);
    let about = fields.text("about").map(At::bare).unwrap_or_default();
    let mime = fields.text("mime").map_or_else(|| "text/plain".to_owned(), At::bare);
    let mask = fields.boolean("mask").unwrap_or(true);
    let max_bytes = fields.integer("max_bytes").map_or(MOST_BYTES, |bytes| u64::try_from(bytes).unwrap_or(MOST_BYTES));
    let extra = fields.boolean("extra").unwrap_or(false);
    fields.finish();
    let uri = uri?.bare();
    let name = name.unwrap_or_else(|| uri.split("://").nth(1).unwrap_or_default().to_owned());
    Some(ResourceDef { name, about, mime, source: source?, mask, max_bytes, extra, uri })
}
