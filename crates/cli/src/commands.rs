//! From words to a call.

use crate::{
    arguments::{Parameter, parameters},
    collect::collect,
    help,
    options::{CURSOR, Options, flag_length, globals},
    refusal::refusal_near,
    tree::Node,
};
use clap::{
    Arg, ArgMatches, ColorChoice, Command,
    error::{ContextKind, ContextValue, ErrorKind},
};
use pintle_core::{Code, Failure, Spec, nearest};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The commands of one program: those of one toolset.
#[derive(Debug)]
pub struct Commands<'a> {
    program: String,
    about: String,
    specs: Vec<&'a Spec>,
    extras: Vec<Arg>,
    leading: Vec<Arg>,
    colored: bool,
    tree: Node,
}

/// What words mean.
#[derive(Debug)]
pub enum Parsed {
    /// Help that was asked for.
    Help(String),
    /// A group was named, but none of its commands: its help.
    Incomplete(String),
    /// A call.
    Call(Box<Invocation>),
}

/// A call as it was typed.
#[derive(Clone, Debug, PartialEq)]
pub struct Invocation {
    /// The tool's name.
    pub tool: String,
    /// The words of the command, program first.
    pub command: String,
    /// The same value that an MCP client would send.
    pub arguments: Map<String, Value>,
    /// What was said for the command as such.
    pub options: Options,
    /// What was said for the program as such: values by id of the flag, empty for a bare flag.
    pub extras: BTreeMap<String, Vec<String>>,
}

impl<'a> Commands<'a> {
    /// The commands that those tools make. `program` is what people type before them (`pintle charly`), `about` tells
    /// in one line what it is for.
    pub fn new(
        program: impl Into<String>,
        about: impl Into<String>,
        specs: impl IntoIterator<Item = &'a Spec>,
    ) -> Self {
        let specs: Vec<&Spec> = specs.into_iter().collect();
        let tree = Node::of(&specs);
        Self {
            program: program.into(),
            about: about.into(),
            specs,
            extras: Vec::new(),
            leading: Vec::new(),
            colored: false,
            tree,
        }
    }

    /// With flags that belong to the program as such and may stand before and behind every command.
    #[must_use]
    pub fn with_extras(mut self, extras: Vec<Arg>) -> Self {
        self.extras = extras;
        self
    }

    /// With flags that stand before a command only, and that somebody else takes off: help lists them, and whoever writes
    /// one behind is told.
    #[must_use]
    pub fn with_leading(mut self, leading: Vec<Arg>) -> Self {
        self.leading = leading;
        self
    }

    /// With help in colours.
    #[must_use]
    pub fn colored(mut self, colored: bool) -> Self {
        self.colored = colored;
        self
    }

    /// What these words mean; the program's own name is not among them.
    ///
    /// # Errors
    /// Code `unknown_tool` or `invalid_argument`.
    pub fn parse(&self, words: &[String]) -> Result<Parsed, Failure> {
        let mut node = &self.tree;
        let mut path = self.program.clone();
        let mut before: Vec<String> = Vec::new();
        let mut at = 0;
        let mut help_word = false;
        let flags = self.flags();
        while let Some(word) = words.get(at) {
            if word.starts_with('-') && word.len() > 1 {
                // A tool that has commands below it takes what is none of them.
                if node.tool.is_some() {
                    break;
                }
                if matches!(word.as_str(), "-h" | "--help") {
                    return Ok(Parsed::Help(self.group_help(node, &path)));
                }
                let length = flag_length(word, &flags);
                if node.default.is_some() && length.is_none() {
                    break;
                }
                let Some(length) = length else { return Err(self.not_a_flag(word, &path)) };
                before.extend(words[at..].iter().take(length).cloned());
                at += length;
                continue;
            }
            if word == "help" && at == 0 && node.child("help").is_none() {
                help_word = true;
            } else if let Some((name, child)) = node.child(word) {
                path = format!("{path} {name}");
                node = child;
            } else if let Some(spec) = self.by_name(word).filter(|_| std::ptr::eq(node, &self.tree)) {
                let path = format!("{path} {word}");
                return self.leaf(spec, &path, before, &words[at + 1..], help_word);
            } else if node.default.is_some() || node.tool.is_some() {
                break;
            } else {
                return Err(self.unknown(node, word, &path));
            }
            at += 1;
            if node.children.is_empty() {
                break;
            }
        }
        match node.tool.or(node.default).map(|index| self.specs[index]) {
            Some(spec) if node.children.is_empty() || at < words.len() || !help_word => {
                self.leaf(spec, &path, before, &words[at.min(words.len())..], help_word)
            }
            _ if help_word => Ok(Parsed::Help(self.group_help(node, &path))),
            _ => Ok(Parsed::Incomplete(self.group_help(node, &path))),
        }
    }

    /// The whole tree as a clap command, for completions and manual pages.
    #[must_use]
    pub fn tree(&self, name: &str) -> Command {
        help::whole(&self.tree, &self.specs, name, &self.about, &self.extras)
    }

    fn leaf(
        &self,
        spec: &Spec,
        path: &str,
        mut before: Vec<String>,
        rest: &[String],
        help: bool,
    ) -> Result<Parsed, Failure> {
        let all = parameters(spec);
        let name = path.split_whitespace().last().unwrap_or(path);
        let color = if self.colored { ColorChoice::Always } else { ColorChoice::Never };
        let mut command =
            help::leaf(spec, name, &all, &self.extras).bin_name(path.to_owned()).no_binary_name(true).color(color);
        if !self.leading.is_empty() {
            let note = format!("Flags of `{} --help` stand before the command.", self.program);
            let notes = command.get_after_help().map(|notes| format!("{notes}\n{note}")).unwrap_or(note);
            command = command.after_help(notes);
        }
        before.extend(rest.iter().cloned());
        if help {
            before = vec!["--help".to_owned()];
        }
        let flags: Vec<String> = command.get_arguments().filter_map(|arg| arg.get_long().map(str::to_owned)).collect();
        let matches = match command.try_get_matches_from(&before) {
            Ok(matches) => matches,
            Err(error) if error.kind() == ErrorKind::DisplayHelp => return Ok(Parsed::Help(self.shown(&error))),
            Err(error) => {
                let placed = all.iter().filter(|p| p.positional).map(|p| p.name.replace('_', "-"));
                let placed: Vec<String> = placed.collect();
                if let Some(failure) = self.stands_before(&error, path) {
                    return Err(failure);
                }
                return Err(refusal_near(&error, path, &flags, &placed));
            }
        };
        self.invocation(spec, path, &all, &matches).map(|call| Parsed::Call(Box::new(call)))
    }

    /// What is to be said of a flag that belongs before the command.
    fn stands_before(&self, error: &clap::Error, path: &str) -> Option<Failure> {
        let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return None };
        let word = word.split(['=', ' ']).next().filter(|_| error.kind() == ErrorKind::UnknownArgument)?;
        let named = |arg: &&Arg| {
            word.strip_prefix("--").map_or_else(
                || word.strip_prefix('-').is_some_and(|rest| arg.get_short().is_some_and(|c| rest.starts_with(c))),
                |long| arg.get_long() == Some(long),
            )
        };
        let arg = self.leading.iter().find(named)?;
        let behind = path.strip_prefix(&self.program).unwrap_or_default();
        let value = match arg.get_value_names() {
            Some([name, ..]) if arg.get_action().takes_values() => format!(" {name}"),
            _ => String::new(),
        };
        Some(
            Failure::new(Code::InvalidArgument, format!("`{word}` stands before the command"))
                .hint(format!("write `{} {word}{value}{behind} …`", self.program)),
        )
    }

    fn invocation(
        &self,
        spec: &Spec,
        path: &str,
        all: &[Parameter<'_>],
        matches: &ArgMatches,
    ) -> Result<Invocation, Failure> {
        let again = |failure: Failure| failure.hint(format!("`{path} --help` tells what it takes"));
        let mut arguments = collect(all, matches).map_err(again)?;
        if let Some(cursor) = matches.try_get_one::<String>(CURSOR).ok().flatten() {
            arguments.insert("cursor".to_owned(), cursor.clone().into());
        }
        Ok(Invocation {
            tool: spec.name.clone(),
            command: path.to_owned(),
            arguments,
            options: Options::of(matches)?,
            extras: self.extras_of(matches),
        })
    }

    fn extras_of(&self, matches: &ArgMatches) -> BTreeMap<String, Vec<String>> {
        extras_of(&self.extras, matches)
    }

    pub(crate) fn root(&self) -> &Node {
        &self.tree
    }

    pub(crate) fn spec(&self, index: usize) -> &'a Spec {
        self.specs[index]
    }

    pub(crate) fn by_name(&self, word: &str) -> Option<&'a Spec> {
        let flat = |name: &str| name.replace(['.', '-'], "_");
        let same = |name: &str| name == word || flat(name) == word;
        self.specs.iter().copied().find(|spec| same(&spec.name) || spec.aliases.iter().any(|alias| same(alias)))
    }

    /// Flags that may stand before the command.
    pub(crate) fn flags(&self) -> Vec<Arg> {
        globals(&BTreeSet::new(), false).into_iter().chain(self.extras.iter().cloned()).collect()
    }

    fn not_a_flag(&self, word: &str, path: &str) -> Failure {
        let bare = word.split('=').next().unwrap_or(word).trim_start_matches('-');
        let flags = self.flags();
        let known: Vec<&str> = flags.iter().filter_map(Arg::get_long).collect();
        let failure =
            Failure::new(Code::InvalidArgument, format!("unknown flag `{word}` before a command of `{path}`"));
        let failure = match nearest(bare, known) {
            Some(near) => failure.hint(format!("did you mean `--{near}`?")),
            None => failure,
        };
        failure.hint(format!("flags of a command stand behind it; `{path} --help` lists the commands"))
    }

    fn unknown(&self, node: &Node, word: &str, path: &str) -> Failure {
        let failure = Failure::new(Code::UnknownTool, format!("unknown command `{path} {word}`"));
        let near = node.near(word).map(|near| format!("{path} {near}")).or_else(|| {
            let names = self.specs.iter().map(|spec| spec.name.as_str());
            nearest(word, names).filter(|_| std::ptr::eq(node, &self.tree)).map(|name| format!("{path} {name}"))
        });
        let failure = match near {
            Some(near) => failure.hint(format!("did you mean `{near}`?")),
            None => failure,
        };
        failure.hint(format!("`{path} --help` lists the commands"))
    }

    fn group_help(&self, node: &Node, path: &str) -> String {
        let root = std::ptr::eq(node, &self.tree);
        let about = if root {
            self.about.clone()
        } else {
            let inner = path.strip_prefix(&self.program).unwrap_or(path).trim();
            format!("Commands of `{inner}`")
        };
        let leading = if root { self.leading.as_slice() } else { &[] };
        let flags: Vec<Arg> = self.extras.iter().chain(leading).cloned().collect();
        let mut command = help::group(node, &self.specs, path, &about, &flags);
        let text = command.render_help();
        if self.colored { text.ansi().to_string() } else { text.to_string() }
    }

    fn shown(&self, error: &clap::Error) -> String {
        let text = error.render();
        if self.colored { text.ansi().to_string() } else { text.to_string() }
    }
}

/// What was said with flags of the program as such, by their ids.
pub(crate) fn extras_of(extras: &[Arg], matches: &ArgMatches) -> BTreeMap<String, Vec<String>> {
    let mut said = BTreeMap::new();
    for extra in extras {
        let id = extra.get_id().as_str();
        let known = matches.try_contains_id(id).unwrap_or(false);
        if !known || matches.value_source(id) != Some(clap::parser::ValueSource::CommandLine) {
            continue;
        }
        let values = if extra.get_action().takes_values() {
            matches.try_get_many::<String>(id).ok().flatten().into_iter().flatten().cloned().collect()
        } else {
            Vec::new()
        };
        said.insert(id.to_owned(), values);
    }
    said
}
