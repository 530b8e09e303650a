//! How tool names are shown.

use std::borrow::Cow;

/// How names are shown to agents; calls accept both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameStyle {
    /// As in the seeds: `box.add-candy`.
    #[default]
    Dotted,
    /// For clients that refuse dots: `box_add_candy`.
    Underscore,
}

impl NameStyle {
    /// The name in this style.
    #[must_use]
    pub fn show(self, name: &str) -> Cow<'_, str> {
        match self {
            Self::Dotted => Cow::Borrowed(name),
            Self::Underscore if name.contains(['.', '-']) => Cow::Owned(name.replace(['.', '-'], "_")),
            Self::Underscore => Cow::Borrowed(name),
        }
    }
}
