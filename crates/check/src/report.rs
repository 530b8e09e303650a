//! Reports on a run: each format is a pure function from [`RunOutcome`] to text, in a file of its own.
//!
//! What a report says about a failure comes from `explain`; the formats only lay it out. Secrets are masked in the data
//! before anything is rendered ([`masked`]), since a mask put into rendered markup could break it.

mod annotations;
mod diff;
mod explain;
mod html;
mod json;
mod junit;
mod markdown;
mod masked;
mod records;
mod shown;
mod spec;
mod tap;
mod text;
mod write;

use crate::outcome::RunOutcome;

pub use annotations::annotations;
pub use html::html;
pub use json::json;
pub use junit::junit;
pub use markdown::markdown;
pub use masked::masked;
pub use records::{Recorded, Records, Unrecorded};
pub use spec::{Destination, Format, Reports, Spec, SpecError};
pub use tap::tap;
pub use text::text;
pub use write::{Trouble, Unwritten};

/// How a report for a terminal looks; files take the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether the text format may use colour, which never is the only sign.
    pub color: bool,
    /// Columns of the terminal; the text format moves long messages to lines of their own then.
    pub width: Option<usize>,
}

/// The run in one format.
///
/// # Errors
/// When JUnit cannot be serialised, which no run is known to cause.
pub fn render(format: Format, run: &RunOutcome, options: Options) -> Result<String, RenderError> {
    match format {
        Format::Text => Ok(text(run, options)),
        Format::Json => json(run),
        Format::Tap => Ok(tap(run)),
        Format::Junit => junit(run),
        Format::Markdown => Ok(markdown(run)),
        Format::Html => Ok(html(run)),
    }
}

/// Why a report could not be made from a run.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The JSON serialiser refused.
    #[error("write the run as json: {0}")]
    Json(#[from] serde_json::Error),
    /// The XML serialiser refused.
    #[error("write the run as junit: {0}")]
    Junit(#[from] quick_junit::SerializeError),
}
