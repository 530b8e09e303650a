//! `box.cat`

use super::box_write::Encoding;
use crate::host::{Host, Inside, off_thread};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use pintle_core::{Answer, Call, Code, Digest, Failure, Query, Stop, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Show a file of the project.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct Cat {
    /// Path in the project
    #[schemars(extend("x-cli" = {"positional": 1}))]
    path: String,
    /// `base64` for what is no text
    #[serde(default)]
    encoding: Encoding,
    /// Project folder
    #[schemars(extend("x-cli" = {"common": true}))]
    project: Option<String>,
}

/// A file.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Shown {
    /// The project's folder.
    project: String,
    /// The file, relative to it.
    file: String,
    /// SHA-256 of the file.
    sha256: String,
    /// Bytes in it.
    size: usize,
    /// Permission bits, octal.
    mode: String,
    /// How `content` is given.
    encoding: Encoding,
    /// What it holds.
    content: String,
}

impl Answer for Shown {
    fn view(&self) -> View {
        View::exact(self.content.clone())
    }
}

impl Query for Cat {
    type Host = Host;
    type Answer = Shown;
    const NAME: &'static str = "box.cat";
    const ALIASES: &'static [&'static str] = &["image.cat"];

    async fn run(self, host: &Host, _: &Call) -> Result<Shown, Stop> {
        let host = host.clone();
        Ok(off_thread(move || run(&host, &self)).await?)
    }
}

fn run(host: &Host, cat: &Cat) -> Result<Shown, Failure> {
    let inside = Inside::parse("path", &cat.path)?;
    let project = host.project(cat.project.as_deref())?;
    let Some(stored) = project.read(&inside)? else {
        let failure = Failure::new(Code::NotFound, format!("`{inside}` is not in the project {}", project.shown()));
        let there = project.beside(&inside);
        return Err(failure.did_you_mean(inside.as_str(), there.iter().map(String::as_str)));
    };
    let content = match cat.encoding {
        Encoding::Base64 => STANDARD.encode(&stored.bytes),
        Encoding::Text => std::str::from_utf8(&stored.bytes)
            .map_err(|error| {
                Failure::new(Code::Invalid, format!("`{inside}` is no text: byte {} is not UTF-8", error.valid_up_to()))
                    .hint("ask for `encoding: base64`")
            })?
            .to_owned(),
    };
    Ok(Shown {
        project: project.shown(),
        file: inside.to_string(),
        sha256: Digest::of(&stored.bytes).to_string(),
        size: stored.bytes.len(),
        mode: format!("{:04o}", stored.mode),
        encoding: cat.encoding,
        content,
    })
}
