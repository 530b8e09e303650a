//! `box.write`

use crate::{
    edit::{Draft, Edit, Edited, Ready, commit},
    host::{Host, Inside, off_thread},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use pintle_core::{Call, Change, Code, Effect, Failure, Permit, Prepared, Stop};
use schemars::JsonSchema;
use serde::Deserialize;

/// Write a file of the project; folders are made. Up to 4 MiB.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct WriteFile {
    /// Path in the project
    #[schemars(extend("x-cli" = {"positional": 1}))]
    path: String,
    /// Text or base64
    #[schemars(extend("x-cli" = {"stdin": ["from-stdin", "from-in"]}))]
    content: String,
    /// Of `content`
    #[serde(default)]
    encoding: Encoding,
    /// Such as 0755
    mode: Option<String>,
    /// Never overwrite
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    create_only: bool,
    /// Append
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    append: bool,
    #[serde(flatten)]
    edit: Edit,
}

/// How bytes are given as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Encoding {
    #[default]
    Text,
    Base64,
}

impl Change for WriteFile {
    type Host = Host;
    type Ready = Ready;
    type Answer = Edited;
    const NAME: &'static str = "box.write";
    const WORST: Effect = Effect::WRITE;
    const ALIASES: &'static [&'static str] = &["image.write"];

    async fn prepare(self, host: &Host, _: &Call) -> Result<Prepared<Ready>, Stop> {
        let host = host.clone();
        Ok(off_thread(move || prepare(&host, self)).await?)
    }

    async fn commit(host: &Host, ready: Ready, permit: &Permit, call: &Call) -> Result<Edited, Stop> {
        commit(host, ready, permit, call).await
    }
}

fn prepare(host: &Host, write: WriteFile) -> Result<Prepared<Ready>, Failure> {
    let inside = Inside::parse("path", &write.path)?;
    let mode = write.mode.as_deref().map(mode).transpose()?;
    let content = match write.encoding {
        Encoding::Text => write.content.into_bytes(),
        Encoding::Base64 => STANDARD.decode(write.content.split_whitespace().collect::<String>()).map_err(|error| {
            Failure::invalid_argument("content", format!("is no base64: {}", error.to_string().to_lowercase()))
        })?,
    };
    let draft = Draft::open(host, WriteFile::NAME, write.edit)?;
    let folder = draft.project.folder();
    let target = folder.locate_to_write(&inside)?;
    if write.create_only && target.exists() {
        return Err(Failure::new(Code::AlreadyExists, format!("`{inside}` is there already"))
            .hint("leave `create_only` out to replace it"));
    }
    let mut after =
        if write.append { folder.read(&target)?.map(|stored| stored.bytes).unwrap_or_default() } else { Vec::new() };
    after.extend(content);
    draft.finish(&inside, after, mode)
}

fn mode(text: &str) -> Result<u32, Failure> {
    let digits = text.trim_start_matches("0o");
    let octal = digits.len() <= 4 && digits.bytes().all(|b| (b'0'..=b'7').contains(&b));
    match u32::from_str_radix(digits, 8) {
        Ok(mode) if octal && mode <= 0o777 => Ok(mode),
        _ => Err(Failure::invalid_argument("mode", format!("`{}` is not 0000 to 0777 in octal", text.escape_debug()))),
    }
}
