//! What variables stand for when a step starts.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::{Path, PathBuf};

use pintle_core::{Secret, nearest};
use serde_json::Value;

use super::options::RunOptions;
use crate::model::template::{self, Found, Lookup};
use crate::model::{Dialect, Plan, Server};

/// A file that a variable names is read up to this many bytes.
const FILE: u64 = 64 * 1024;
/// Variables may use variables this many levels deep.
const DEEPEST: usize = 8;

/// Variables as one step sees them.
pub(super) struct Scope<'a> {
    pub(super) plan: &'a Plan,
    pub(super) options: &'a RunOptions,
    pub(super) captures: &'a HashMap<String, Value>,
    /// Secrets met inside variables that use others.
    pub(super) met: RefCell<Vec<Secret>>,
    depth: RefCell<usize>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(plan: &'a Plan, options: &'a RunOptions, captures: &'a HashMap<String, Value>) -> Self {
        Self { plan, options, captures, met: RefCell::default(), depth: RefCell::default() }
    }

    fn nested(&self, name: &str, text: &str) -> Result<Found, String> {
        if !template::is_dynamic(text) {
            return Ok(Found::Text(text.to_owned()));
        }
        if *self.depth.borrow() >= DEEPEST {
            return Err(format!("variable `{name}` uses itself, or others too deep"));
        }
        *self.depth.borrow_mut() += 1;
        let mut secrets = Vec::new();
        let expanded = template::expand(text, self, &mut secrets);
        *self.depth.borrow_mut() -= 1;
        self.met.borrow_mut().append(&mut secrets);
        expanded.map(Found::Text)
    }

    fn known(&self) -> BTreeMap<&str, ()> {
        let captures = self.captures.keys().map(String::as_str);
        let vars = self.plan.vars.iter().map(|(name, _)| name.as_str());
        captures.chain(vars).chain(self.options.vars.keys().map(String::as_str)).map(|name| (name, ())).collect()
    }
}

/// A server with its variables replaced where there is no plan: only `${env:NAME}` and `${file:PATH}` are known then.
pub(crate) fn resolve(server: &Server) -> Result<(Server, Vec<Secret>), String> {
    let plan = Plan {
        file: String::new(),
        directory: PathBuf::new(),
        source: String::new(),
        dialect: Dialect::Plan,
        servers: Vec::new(),
        vars: Vec::new(),
        timeout: None,
        steps: Vec::new(),
    };
    let options = RunOptions::default();
    let captures = HashMap::new();
    let mut secrets = Vec::new();
    let server = server.expanded(&Scope::new(&plan, &options, &captures), &mut secrets)?;
    Ok((server, secrets))
}

impl Lookup for Scope<'_> {
    fn find(&self, name: &str, argument: Option<&str>) -> Result<Found, String> {
        match (name, argument) {
            ("env", Some(variable)) => environment(variable),
            ("file", Some(path)) => file(&self.plan.directory, path),
            (_, None) if self.captures.contains_key(name) => Ok(match &self.captures[name] {
                Value::String(text) => Found::Text(text.clone()),
                other => Found::Value(other.clone()),
            }),
            (_, None) if self.options.vars.contains_key(name) => self.nested(name, &self.options.vars[name]),
            _ => {
                let own = self.plan.vars.iter().find(|(known, _)| known == name && argument.is_none());
                if let Some((_, text)) = own {
                    return self.nested(name, text);
                }
                if let Some(found) = self.options.target.variable(name, argument) {
                    return found.map(Found::Text);
                }
                let shown = argument.map_or_else(|| name.to_owned(), |argument| format!("{name}:{argument}"));
                Err(match nearest(name, self.known().into_keys()) {
                    Some(near) => format!("`${{{shown}}}` is not known here (did you mean `${{{near}}}`?)"),
                    None => format!("`${{{shown}}}` is not known here"),
                })
            }
        }
    }
}

fn environment(name: &str) -> Result<Found, String> {
    match std::env::var(name) {
        Ok(value) => Ok(Found::Secret(Secret::new(name, value))),
        Err(std::env::VarError::NotPresent) => Err(format!("the environment variable `{name}` is not set")),
        Err(std::env::VarError::NotUnicode(_)) => Err(format!("the environment variable `{name}` is not UTF-8")),
    }
}

/// The text of a file without its last newline.
fn file(directory: &Path, name: &str) -> Result<Found, String> {
    let wrong = |why: String| format!("file `{name}`: {why}");
    let file = std::fs::File::open(directory.join(name)).map_err(|error| wrong(error.to_string()))?;
    let mut text = String::new();
    file.take(FILE + 1).read_to_string(&mut text).map_err(|error| wrong(error.to_string()))?;
    if text.len() as u64 > FILE {
        return Err(wrong("is larger than 64 KiB".into()));
    }
    let end = text.trim_end_matches(['\r', '\n']).len();
    text.truncate(end);
    Ok(Found::Secret(Secret::new(name, text)))
}
