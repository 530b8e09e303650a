//! A family of tools with what belongs to it.

use crate::{BoxFuture, Call, Failure, Stop, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A family of tools, resources and prompts.
pub struct Toolset {
    /// Its word in `--toolset` and as first word of a command: `charly`, `ops`.
    pub name: &'static str,
    /// Name of a server that serves this toolset alone.
    pub server_name: &'static str,
    /// One line of what it is for.
    pub summary: &'static str,
    /// What an agent should know before it calls.
    pub instructions: &'static str,
    /// What changes need before they run, where no policy file says otherwise.
    pub confirm: Confirm,
    /// The tools.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Things to read.
    pub resources: Option<Arc<dyn Resources>>,
    /// Prompts.
    pub prompts: Vec<Prompt>,
    /// Completion of arguments.
    pub completions: Option<Arc<dyn Completions>>,
}

/// What a change needs before it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confirm {
    /// Nothing.
    #[default]
    Nothing,
    /// A plan first, then the same call with its token: guards against mistakes.
    Plan,
    /// A person's yes.
    Human,
}

/// Something that can be read, as listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resource {
    /// Its URI.
    pub uri: String,
    /// Short name.
    pub name: String,
    /// What it is.
    pub description: Option<String>,
    /// MIME type.
    pub mime: Option<String>,
    /// Bytes, if known.
    pub size: Option<u64>,
}

/// A family of resources, by URI template (RFC 6570, level 1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceTemplate {
    /// Such as `charly://candy/{name}`.
    pub template: String,
    /// Short name.
    pub name: String,
    /// What it is.
    pub description: Option<String>,
    /// MIME type.
    pub mime: Option<String>,
}

/// What a resource holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contents {
    /// Its URI.
    pub uri: String,
    /// MIME type.
    pub mime: Option<String>,
    /// Text, where it is text.
    pub text: Option<String>,
    /// Base64, where it is not.
    pub blob: Option<String>,
}

impl Contents {
    /// Text of that MIME type.
    #[must_use]
    pub fn text(uri: impl Into<String>, mime: &str, text: impl Into<String>) -> Self {
        Self { uri: uri.into(), mime: Some(mime.to_owned()), text: Some(text.into()), blob: None }
    }

    /// Base64 of that MIME type.
    #[must_use]
    pub fn blob(uri: impl Into<String>, mime: &str, blob: impl Into<String>) -> Self {
        Self { uri: uri.into(), mime: Some(mime.to_owned()), text: None, blob: Some(blob.into()) }
    }
}

/// Where resources come from.
pub trait Resources: Send + Sync {
    /// Those that can be listed, in stable order.
    fn list<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Vec<Resource>, Failure>>;
    /// Templates for the rest.
    fn templates(&self) -> Vec<ResourceTemplate>;
    /// The contents; `None` when the URI is not of this family.
    fn read<'a>(&'a self, uri: &'a str, call: &'a Call) -> BoxFuture<'a, Result<Option<Vec<Contents>>, Failure>>;
}

/// A prompt that a person can pick.
#[derive(Clone)]
pub struct Prompt {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its arguments.
    pub arguments: Vec<PromptArgument>,
    /// The messages for these arguments; required ones are there, and so are answers to what it asked, by their keys.
    pub render: Render,
}

/// Makes the messages of a prompt from its arguments. Where something is missing that the person knows, it stops with
/// [`Stop::Asked`]: the door asks and comes again, each answer among the arguments under the key of its question.
pub type Render = Arc<dyn Fn(&Map<String, Value>) -> Result<Vec<PromptMessage>, Stop> + Send + Sync>;

/// An argument of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// What it means.
    pub description: String,
    /// Whether it must be given.
    pub required: bool,
}

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptMessage {
    /// Whether the assistant says it; otherwise the user does.
    pub assistant: bool,
    /// What is said.
    pub part: crate::Part,
}

/// What a completion is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// An argument of the prompt of that name.
    Prompt(String),
    /// A variable of the resource template of that URI.
    Resource(String),
    /// An argument of the tool of that name; asked by the people's door.
    Tool(String),
}

/// Completes arguments.
pub trait Completions: Send + Sync {
    /// Values for `argument` that begin like `value`; `others` are the arguments known so far. `None`: not mine. What
    /// policy does not let this call read is not offered; whoever types waits a moment only, so the call is short.
    fn complete<'a>(
        &'a self,
        reference: &'a Reference,
        argument: &'a str,
        value: &'a str,
        others: &'a Map<String, Value>,
        call: &'a Call,
    ) -> BoxFuture<'a, Option<Vec<String>>>;
}
