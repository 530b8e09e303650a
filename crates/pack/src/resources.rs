//! What packs offer for reading: files of the program, what a verb says, and what the house knows.

use crate::{distribution::Status, files, host::Host, load::Loaded, order::Order, run};
use base64::{Engine, engine::general_purpose::STANDARD};
use pintle_core::{BoxFuture, Call, Code, Contents, Failure, Foreign, Problem, Resource, ResourceTemplate, Resources};
use pintle_packfile::{HostProbe, ResourceDef, Source};
use serde_json::Map;
use std::sync::Arc;

/// The resources of one pack.
pub(crate) struct PackResources {
    pub(crate) host: Arc<Host>,
    pub(crate) loaded: Loaded,
}

impl Resources for PackResources {
    fn list<'a>(&'a self, _: &'a Call) -> BoxFuture<'a, Result<Vec<Resource>, Failure>> {
        let all = self.loaded.pack.resources.iter().map(|resource| Resource {
            uri: resource.uri.clone(),
            name: resource.name.clone(),
            description: Some(resource.about.clone()).filter(|about| !about.is_empty()),
            mime: Some(resource.mime.clone()),
            size: None,
        });
        let all = all.collect();
        Box::pin(async { Ok(all) })
    }

    fn templates(&self) -> Vec<ResourceTemplate> {
        Vec::new()
    }

    fn read<'a>(&'a self, uri: &'a str, call: &'a Call) -> BoxFuture<'a, Result<Option<Vec<Contents>>, Failure>> {
        Box::pin(async move {
            let Some(resource) = self.loaded.pack.resources.iter().find(|resource| resource.uri == uri) else {
                return Ok(None);
            };
            Ok(Some(vec![read(&self.host, &self.loaded, resource, call).await?]))
        })
    }
}

/// What a resource holds now.
///
/// # Errors
/// Code `not_found`, `io`, `too_large`, or why its verb failed.
pub(crate) async fn read(
    host: &Host,
    loaded: &Loaded,
    resource: &ResourceDef,
    call: &Call,
) -> Result<Contents, Failure> {
    match &resource.source {
        Source::Files(paths) => of_files(host, loaded, resource, paths),
        Source::Verb(verb) => of_verb(host, loaded, resource, verb, call).await,
        Source::Probe(HostProbe::Distribution) => {
            let status = Status::look(&host.surroundings().root_of(&loaded.pack.program));
            let text = if resource.mime == "application/json" {
                serde_json::to_string_pretty(&status)
                    .map_err(|error| Failure::new(Code::Internal, format!("telling the status: {error}")))?
            } else {
                status.text()
            };
            Ok(Contents::text(&resource.uri, &resource.mime, text))
        }
    }
}

/// The first file that is there. Where there could have been several, its first line says which it is.
fn of_files(host: &Host, loaded: &Loaded, resource: &ResourceDef, paths: &[String]) -> Result<Contents, Failure> {
    let root = host.surroundings().root_of(&loaded.pack.program);
    for path in paths {
        let real = root.real(path);
        let bytes = match files::read(&real) {
            Ok(bytes) => bytes,
            Err(error) if error.is_absent() => continue,
            Err(files::Unread::Io(error)) => {
                return Err(Failure::io(format!("reading `{}`", real.display()), &error));
            }
            Err(error) => {
                let code = if matches!(error, files::Unread::Large(_)) { Code::TooLarge } else { Code::Io };
                return Err(Failure::new(code, format!("`{}` is not read: {error}", real.display())));
            }
        };
        if bytes.len() as u64 > resource.max_bytes {
            let told =
                format!("`{}` has {} bytes; {} are given at most", real.display(), bytes.len(), resource.max_bytes);
            return Err(Failure::new(Code::TooLarge, told));
        }
        return Ok(contents(loaded, resource, bytes, (paths.len() > 1).then_some(path)));
    }
    let problems = paths
        .iter()
        .map(|path| Problem { file: Some(root.real(path).display().to_string()), ..Problem::new("is not there") });
    Err(Failure::new(Code::NotFound, format!("`{}` has nothing to read yet", resource.uri)).problems(problems))
}

fn contents(loaded: &Loaded, resource: &ResourceDef, bytes: Vec<u8>, from: Option<&String>) -> Contents {
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        // Byte for byte, where nothing must be masked; a secret in what is no text cannot be found.
        Err(error) if !resource.mask => {
            return Contents::blob(&resource.uri, "application/octet-stream", STANDARD.encode(error.as_bytes()));
        }
        Err(error) => Foreign::from_bytes(error.as_bytes()).text,
    };
    let text = if resource.mask { loaded.pack.mask.text(&text).into_owned() } else { text };
    let text = match from {
        Some(path) => format!("# {path}\n{text}"),
        None => text,
    };
    Contents::text(&resource.uri, &resource.mime, text)
}

/// What a verb says, by the same runner as everything else.
async fn of_verb(
    host: &Host,
    loaded: &Loaded,
    resource: &ResourceDef,
    verb: &str,
    call: &Call,
) -> Result<Contents, Failure> {
    let verb = loaded.pack.verb(verb).ok_or_else(|| {
        Failure::new(Code::Internal, format!("`{}` names the verb `{verb}`, which there is not", resource.uri))
    })?;
    let arguments = verb.check(&Map::new()).map_err(|refusals| crate::tool::refused(&resource.uri, &refusals))?;
    let rules = verb.rules(&arguments).into_owned();
    if rules.effects.changes() {
        let told = format!("`{}` would run `{}`, which changes something", resource.uri, verb.name);
        return Err(Failure::new(Code::Internal, told));
    }
    let order = Order::new(host, loaded, verb, &arguments, rules).await?;
    let ran = run::run(&order, call, false).await?;
    match ran.failure {
        Some(failure) => Err(failure),
        None => {
            let limit = usize::try_from(resource.max_bytes).unwrap_or(usize::MAX);
            Ok(Contents::text(&resource.uri, &resource.mime, ran.said.stdout.within(limit).0))
        }
    }
}
