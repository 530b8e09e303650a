//! The people's door: commands built from the schemas of the tools, and answers as a terminal shows them.
//!
//! Nothing here knows a toolset. [`Commands`] turns words into an [`Invocation`]: the name of a tool and one JSON value
//! of arguments, the same value that an MCP client would send. [`run`] hands it to the catalogue and shows the answer:
//! data on standard output, failures and progress on standard error, and an exit code.
//!
//! Only the chosen tool's schema becomes a command line; finding it among hundreds costs a walk over their names.

mod arguments;
mod call;
mod collect;
mod commands;
mod console;
mod events;
mod generate;
mod help;
mod options;
mod refusal;
mod render;
mod run;
mod tree;
mod typing;
mod usage;
mod value;
mod wording;
mod yaml;

pub use call::{call_command, parse_call};
pub use commands::{Commands, Invocation, Parsed};
pub use console::{Console, Terminal};
pub use generate::{completions, man_page, man_pages};
pub use options::{Color, Form, Options, duration, globals, leading_flags};
pub use refusal::refusal_of;
pub use run::{run, show_failure};
pub use typing::Typing;
pub use usage::usage_of;
pub use value::value_of;
