//! Why arguments are refused.

use thiserror::Error;

/// One argument, or one pair of arguments, that a verb or tool does not take.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{pointer}: {reason}")]
pub struct Refusal {
    /// JSON pointer into the arguments of the call, empty for the call as a whole.
    pub pointer: String,
    /// Why.
    #[source]
    pub reason: Reason,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Why an argument is refused. Every text is a lower-case fragment.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the texts say it")]
pub enum Reason {
    #[error("no such parameter: `{0}`")]
    Unknown(String),
    #[error("`{0}` is required")]
    Missing(String),
    #[error("must be {0}")]
    Type(&'static str),
    #[error("must be one of {0}")]
    NotOneOf(String),
    #[error("must match {0}")]
    Pattern(String),
    #[error("must be at least {0}")]
    Small(i64),
    #[error("must be at most {0}")]
    Large(i64),
    #[error("only `{value}` is taken: {because}")]
    Only { value: String, because: String },
    #[error("{0} exclude one another")]
    Exclusive(String),
    #[error("refused: {0}")]
    Refused(String),
    #[error("goes with {with} only, not with {not}")]
    Elsewhere { with: String, not: String },
    #[error("must not be empty")]
    Empty,
    #[error("must not hold a NUL character")]
    Nul,
    #[error("must not begin with a dash: the program would take it for an option")]
    LeadingDash,
    #[error("is too long: one argument has at most {0} bytes")]
    LongArgument(usize),
    #[error("the arguments are too long: all together have at most {0} bytes")]
    LongVector(usize),
    #[error("`{0}` is given, but `{1}` before it is not")]
    Gap(String, String),
    #[error("`{0}` is given twice")]
    Twice(String),
    #[error("quotes and backslashes are not read here, and control characters neither")]
    Quotes,
    #[error("names no command")]
    NoCommand,
    #[error("no such command here: `{0}`")]
    UnknownCommand(String),
    #[error("`{command}` has no option `{option}`")]
    UnknownOption { command: String, option: String },
    #[error("`{0}` needs a value")]
    NoValue(String),
    #[error("`{0}` takes no value")]
    UnwantedValue(String),
    #[error("`{command}` takes no further word: `{word}`")]
    ExtraWord { command: String, word: String },
    #[error("`{0}` {1}")]
    InCommand(String, Box<Reason>),
}

impl Refusal {
    /// A refusal of the parameter with that name.
    pub(crate) fn of(name: &str, reason: Reason) -> Self {
        Self { pointer: format!("/{}", name.replace('~', "~0").replace('/', "~1")), reason, hint: None }
    }

    /// A refusal of the call as a whole.
    pub(crate) const fn whole(reason: Reason) -> Self {
        Self { pointer: String::new(), reason, hint: None }
    }

    /// The same with a hint.
    pub(crate) fn hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_escaped() {
        let refusal = Refusal::of("a/b~c", Reason::Nul);
        assert_eq!(refusal.to_string(), "/a~1b~0c: must not hold a NUL character");
    }
}
