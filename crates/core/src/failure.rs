//! Why something did not happen, and what a person can do about it.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What a failure means to a shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0
    Ok,
    /// 1: the operation failed.
    Failed,
    /// 2: checks failed, or findings with `--fail-on`.
    Checks,
    /// 3: some targets failed.
    Partial,
    /// 64: the caller asked for something that makes no sense.
    Usage,
    /// 69: what it takes is not here.
    Unavailable,
    /// 77: refused by policy, or not confirmed.
    Denied,
    /// 130: interrupted.
    Interrupted,
}

impl Exit {
    /// The number.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failed => 1,
            Self::Checks => 2,
            Self::Partial => 3,
            Self::Usage => 64,
            Self::Unavailable => 69,
            Self::Denied => 77,
            Self::Interrupted => 130,
        }
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal => $exit:ident;)*) => {
        /// The kind of a failure, for programs: a stable word.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code { $($(#[$doc])* $name,)* }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Code] = &[$(Code::$name,)*];

            /// The word in answers.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$name => $text,)* }
            }

            /// What it means to a shell.
            #[must_use]
            pub const fn exit(self) -> Exit {
                match self { $(Code::$name => Exit::$exit,)* }
            }
        }
    };
}

codes! {
    /// No tool of that name.
    UnknownTool = "unknown_tool" => Usage;
    /// An argument is missing, unknown, or not of its type.
    InvalidArgument = "invalid_argument" => Usage;
    /// The thing named does not exist.
    NotFound = "not_found" => Failed;
    /// It is there already.
    AlreadyExists = "already_exists" => Failed;
    /// It changed since it was read, or since it was planned.
    Moved = "moved" => Failed;
    /// What was read does not hold together.
    Invalid = "invalid" => Failed;
    /// No project to act on.
    NoProject = "no_project" => Failed;
    /// The path leads out of where the operation may act.
    OutsideProject = "outside_project" => Denied;
    /// Refused by policy, or by a person.
    Denied = "denied" => Denied;
    /// Needs a plan token or an approval first.
    NotConfirmed = "not_confirmed" => Denied;
    /// A plan token or cursor that is not ours, is too old, or was used.
    BadToken = "bad_token" => Denied;
    /// A program or service that it takes is not here.
    Unavailable = "unavailable" => Unavailable;
    /// Needs a terminal, and there is none.
    NeedsTerminal = "needs_terminal" => Unavailable;
    /// Needs an answer from a person, and the client cannot ask.
    NeedsInput = "needs_input" => Denied;
    /// The time was up.
    TimedOut = "timed_out" => Failed;
    /// Cancelled by the caller.
    Cancelled = "cancelled" => Interrupted;
    /// Something else is using it.
    Busy = "busy" => Failed;
    /// Reading or writing failed: disk full, read-only, no rights.
    Io = "io" => Failed;
    /// Over a limit of size, depth or count.
    TooLarge = "too_large" => Failed;
    /// A target could not be reached.
    Unreachable = "unreachable" => Failed;
    /// The other side answered with an error.
    Remote = "remote" => Failed;
    /// A fault of ours: an operation panicked or broke its own contract.
    Internal = "internal" => Failed;
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = std::borrow::Cow::<str>::deserialize(deserializer)?;
        let known = Self::ALL.iter().copied().find(|code| code.as_str() == word);
        known.ok_or_else(|| serde::de::Error::custom(format!("unknown code `{word}`")))
    }
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// One of several things that are wrong, with its place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// File, relative to the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Column from 1, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// JSON pointer into the arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// What is wrong, in lower case.
    pub message: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Problem {
    /// A problem without a place.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    /// With the JSON pointer of the argument.
    #[must_use]
    pub fn at_pointer(mut self, pointer: impl Into<String>) -> Self {
        self.pointer = Some(pointer.into());
        self
    }

    /// With a place in a file; line and column from 1.
    #[must_use]
    pub fn at(mut self, file: impl Into<String>, line: usize, column: usize) -> Self {
        self.file = Some(file.into());
        self.line = Some(line);
        self.column = Some(column);
        self
    }

    /// With something to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:")?;
            if let Some(line) = self.line {
                write!(f, "{line}:{}:", self.column.unwrap_or(1))?;
            }
            f.write_str(" ")?;
        } else if let Some(pointer) = self.pointer.as_deref().filter(|p| !p.is_empty()) {
            write!(f, "{pointer}: ")?;
        }
        f.write_str(&self.message)
    }
}

/// Why an operation failed.
///
/// The message is a lower-case fragment: what failed, on what, why. Hints are things to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The kind, for programs.
    pub code: Code,
    /// What failed, on what, why.
    pub message: String,
    /// Things to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// Every single thing that is wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
    /// Whether the same call may succeed later.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retryable: bool,
    /// What else a program may want to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Box<serde_json::Value>>,
}

impl Failure {
    /// A failure of that kind.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hints: Vec::new(), problems: Vec::new(), retryable: false, details: None }
    }

    /// An argument that makes no sense.
    #[must_use]
    pub fn invalid_argument(name: &str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self::new(Code::InvalidArgument, format!("argument `{name}`: {message}"))
            .problem(Problem::new(message).at_pointer(format!("/{name}")))
    }

    /// Reading or writing failed.
    #[must_use]
    pub fn io(what: impl fmt::Display, error: &std::io::Error) -> Self {
        Self::new(Code::Io, format!("{what}: {}", describe_io(error)))
    }

    /// With something to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// With a hint that names the nearest known word, if one is near.
    #[must_use]
    pub fn did_you_mean<'a>(self, word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Self {
        match crate::nearest(word, candidates) {
            Some(near) => self.hint(format!("did you mean `{near}`?")),
            None => self,
        }
    }

    /// With one more problem.
    #[must_use]
    pub fn problem(mut self, problem: Problem) -> Self {
        self.problems.push(problem);
        self
    }

    /// With these problems.
    #[must_use]
    pub fn problems(mut self, problems: impl IntoIterator<Item = Problem>) -> Self {
        self.problems.extend(problems);
        self
    }

    /// Which may succeed when tried again.
    #[must_use]
    pub fn retryable(mut self) -> Self {
        self.retryable = true;
        self
    }

    /// With a value for programs.
    #[must_use]
    pub fn details(mut self, details: serde_json::Value) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    /// Cuts whatever in it is longer than `limit` bytes; a message repeats the words of a call, and those may be long.
    pub fn shorten(&mut self, limit: usize) {
        let of_problems = self.problems.iter_mut().flat_map(|problem| {
            std::iter::once(&mut problem.message)
                .chain(&mut problem.hint)
                .chain(&mut problem.file)
                .chain(&mut problem.pointer)
        });
        for text in std::iter::once(&mut self.message).chain(&mut self.hints).chain(of_problems) {
            if text.len() > limit {
                let end = (0..=limit).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
                let left = text.len() - end;
                text.truncate(end);
                text.push_str(&format!("… ({left} bytes left out)"));
            }
        }
    }

    /// Message, problems and hints as lines, as both doors show them.
    #[must_use]
    pub fn text(&self) -> String {
        let mut lines = vec![self.message.clone()];
        let several =
            self.problems.len() > 1 || self.problems.first().is_some_and(|p| !self.message.ends_with(&p.message));
        for problem in self.problems.iter().filter(|_| several) {
            lines.push(format!("  {problem}"));
            lines.extend(problem.hint.iter().map(|hint| format!("    hint: {hint}")));
        }
        if !several {
            lines.extend(self.problems.iter().filter_map(|p| p.hint.as_ref()).map(|hint| format!("hint: {hint}")));
        }
        lines.extend(self.hints.iter().map(|hint| format!("hint: {hint}")));
        lines.join("\n")
    }
}

fn describe_io(error: &std::io::Error) -> String {
    let text = error.to_string();
    let plain = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = plain.chars();
    match chars.next() {
        Some(first) if chars.clone().next().is_some_and(char::is_lowercase) => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => plain.to_owned(),
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_lists_every_problem_with_its_place_and_hint() {
        let failure = Failure::new(Code::Invalid, "charly.yml has 2 errors")
            .problem(Problem::new("`base` is missing").at("charly.yml", 3, 5).hint("set `base`"))
            .problem(Problem::new("unknown key `candi`").at("charly.yml", 4, 5))
            .hint("`box validate` lists them");
        assert_eq!(
            failure.text(),
            "charly.yml has 2 errors\n  charly.yml:3:5: `base` is missing\n    hint: set `base`\n  charly.yml:4:5: unknown key `candi`\nhint: `box validate` lists them"
        );
        let one = Failure::invalid_argument("name", "must not be empty");
        assert_eq!(one.text(), "argument `name`: must not be empty");
        assert_eq!(serde_json::to_value(&one).unwrap()["problems"][0]["pointer"], "/name");
    }

    #[test]
    fn what_a_failure_repeats_of_a_call_can_be_cut() {
        let long = "ä".repeat(1000);
        let mut failure = Failure::invalid_argument(&long, long.clone()).hint(long.clone());
        failure.problems[0].hint = Some(long.clone());
        failure.shorten(101);
        let told = serde_json::to_string(&failure).unwrap();
        assert!(told.len() < 1000 && told.contains("ä… (1900 bytes left out)"), "{told}");
        let before = failure.clone();
        failure.shorten(200);
        assert_eq!(failure, before, "what is short stays");
    }

    #[test]
    fn codes_are_words_and_unique() {
        let mut seen = std::collections::BTreeSet::new();
        for code in Code::ALL {
            assert!(code.as_str().chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{code:?}");
            assert!(seen.insert(code.as_str()));
        }
    }

    #[test]
    fn io_errors_read_as_fragments() {
        let error = std::io::Error::from_raw_os_error(28);
        assert_eq!(Failure::io("writing `a`", &error).message, "writing `a`: no space left on device");
    }
}
