//! `file`: what is at a path, and what it holds.

use std::path::PathBuf;

use futures::FutureExt;
use futures::future::BoxFuture;
use pintle_core::one_of;
use pintle_yaml::Node;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::attribute::{Exact, Wanted};
use super::{Observation, Probe, Read, Scene, Verb};
use crate::matchers::{self, Matcher};
use crate::model::sink::Sink;
use crate::model::template;
use crate::target::FileFacts;

/// Contents are looked at up to this many bytes.
const LARGEST: usize = 16 * 1024 * 1024;

const KINDS: &[&str] = &["file", "directory", "symlink", "socket", "fifo", "block", "char"];

pub(crate) struct File;

#[derive(Debug)]
struct Looks {
    path: PathBuf,
    exists: Wanted,
    mode: Option<Exact>,
    owner: Option<Exact>,
    group: Option<Exact>,
    kind: Option<Exact>,
    sha256: Option<Exact>,
    contains: Vec<Matcher>,
}

impl Verb for File {
    fn word(&self) -> &'static str {
        "file"
    }

    fn fields(&self) -> &'static [&'static str] {
        &["exists", "mode", "owner", "group_of", "filetype", "contains", "sha256"]
    }

    fn read(&self, value: Node<'_>, body: Node<'_>, sink: &mut Sink<'_>) -> Option<Read> {
        let path = sink.word(value, "`file`");
        let exists = Wanted::or_true(value, body, "exists", sink);
        if !exists.value {
            for field in ["mode", "owner", "group_of", "filetype", "contains", "sha256"] {
                if let Some((key, _)) = body.entry(field) {
                    sink.wrong(key, format!("`{field}` of a file that must not exist"));
                }
            }
        }
        let looks = Looks {
            exists,
            mode: mode(body, sink),
            owner: Exact::read(body, "owner", sink),
            group: Exact::read(body, "group_of", sink),
            kind: kind(body, sink),
            sha256: digest(body, sink),
            contains: contains(body, sink),
            path: path?.into(),
        };
        Some(Read::new(looks))
    }
}

/// Octal digits; `0o644` and `0644` are `644`.
fn mode(body: Node<'_>, sink: &mut Sink<'_>) -> Option<Exact> {
    let mut mode = Exact::read(body, "mode", sink)?;
    let digits = mode.text.trim_start_matches("0o").trim_start_matches('0');
    if template::is_dynamic(&mode.text) {
        return Some(mode);
    }
    match u32::from_str_radix(if digits.is_empty() { "0" } else { digits }, 8) {
        Ok(bits) if bits <= 0o7777 => {
            mode.text = format!("{bits:04o}");
            Some(mode)
        }
        _ => {
            if let Some(node) = body.get("mode") {
                sink.wrong_hint(node, format!("mode `{}` is not octal", mode.text), "write it like `\"0644\"`");
            }
            None
        }
    }
}

fn kind(body: Node<'_>, sink: &mut Sink<'_>) -> Option<Exact> {
    let kind = Exact::read(body, "filetype", sink)?;
    if !KINDS.contains(&kind.text.as_str()) && !template::is_dynamic(&kind.text) {
        let message = format!("filetype `{}` is none (expected {})", kind.text, one_of(KINDS.iter().copied()));
        if let Some(node) = body.get("filetype") {
            sink.wrong(node, message);
        }
        return None;
    }
    Some(kind)
}

fn digest(body: Node<'_>, sink: &mut Sink<'_>) -> Option<Exact> {
    let mut digest = Exact::read(body, "sha256", sink)?;
    digest.text = digest.text.to_ascii_lowercase();
    let right = digest.text.len() == 64 && digest.text.chars().all(|c| c.is_ascii_hexdigit());
    if !right && !template::is_dynamic(&digest.text) {
        if let Some(node) = body.get("sha256") {
            sink.wrong(node, "sha256 must be 64 hexadecimal digits");
        }
        return None;
    }
    Some(digest)
}

/// A text or a list of texts that must be in it; with operators, matchers on the content.
fn contains(body: Node<'_>, sink: &mut Sink<'_>) -> Vec<Matcher> {
    let Some((key, node)) = body.entry("contains") else { return Vec::new() };
    let has_operators = node.is_mapping() || node.items().any(|item| item.is_mapping());
    if has_operators {
        return matchers::read(node, "contains", sink);
    }
    matchers::read_operator(key, node, "file", sink).into_iter().collect()
}

impl Probe for Looks {
    fn observe<'a>(&'a self, scene: &'a Scene<'a>) -> BoxFuture<'a, Observation> {
        async move {
            let facts = match scene.target.stat(&self.path).await {
                Ok(facts) => facts,
                Err(why) => return Observation::failed(format!("file {}: {why}", self.path.display())),
            };
            let mut seen = Observation::default();
            seen.mismatches.extend(self.exists.check("exists", facts.is_some()));
            let Some(facts) = facts else { return seen };
            seen.stdout = format!("{} {:04o} {} {} {}\n", facts.kind, facts.mode, facts.owner, facts.group, facts.size);
            self.attributes(&facts, &mut seen);
            if self.sha256.is_some() || !self.contains.is_empty() {
                self.content(scene, &mut seen).await;
            }
            seen
        }
        .boxed()
    }
}

impl Looks {
    fn attributes(&self, facts: &FileFacts, seen: &mut Observation) {
        let mode = format!("{:04o}", facts.mode);
        for (wanted, subject, actual) in [
            (&self.kind, "filetype", facts.kind),
            (&self.mode, "mode", &mode),
            (&self.owner, "owner", &facts.owner),
            (&self.group, "group_of", &facts.group),
        ] {
            seen.mismatches.extend(wanted.as_ref().and_then(|wanted| wanted.check(subject, actual)));
        }
    }

    async fn content(&self, scene: &Scene<'_>, seen: &mut Observation) {
        let bytes = match scene.target.read(&self.path, LARGEST + 1).await {
            Ok(bytes) if bytes.len() > LARGEST => {
                seen.failure = Some(format!("file {}: is larger than 16 MiB", self.path.display()));
                seen.exit_status = 1;
                return;
            }
            Ok(bytes) => bytes,
            Err(why) => {
                seen.failure = Some(format!("file {}: {why}", self.path.display()));
                seen.exit_status = 1;
                return;
            }
        };
        if let Some(wanted) = &self.sha256 {
            let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            if wanted.text != digest {
                seen.mismatches.push(wanted.mismatch("sha256", Some(Value::from(digest))));
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        seen.mismatches.extend(matchers::check_all(&self.contains, "content", &text));
    }
}
