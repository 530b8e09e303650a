//! Tool packs: a program of somebody else, described as data.
//!
//! A pack says where the program is found and how it is known to be the right one, which of its commands may run (the
//! *verbs*), what each verb takes, what it does to the machine, and how the verbs are offered (the *tools* and
//! *resources*). This crate reads that description, checks arguments against it and makes argument vectors. It starts
//! nothing, and opens nothing but a file that root trusts ([`trust`]); no string that it makes is meant for a shell.
//!
//! It knows no other crate of ours, since the small program that runs verbs as root is made of it: that program reads
//! the same pack and checks the same arguments again, by the same code.
//!
//! ```
//! use pintle_packfile::{Asked, parse};
//! use serde_json::json;
//!
//! let pack = parse(
//!     r#"
//!     format = 1
//!     name = "ls"
//!     summary = "Lists folders"
//!     program.candidates = ["/usr/bin/ls"]
//!
//!     [verb.list]
//!     effects = []
//!     elevate = "never"
//!     dashdash = true
//!     options.all = { flag = "--all", type = "boolean", about = "also names that begin with a dot" }
//!     options.path = { position = 1, type = "string" }
//!
//!     [[tool]]
//!     name = "list_folder"
//!     about = "lists a folder"
//!     verb = "list"
//!     "#,
//! )
//! .unwrap();
//! let asked = json!({"all": true, "path": "-x"});
//! let Asked::Verb(verb, arguments) = pack.tools[0].resolve(&pack, asked.as_object().unwrap()).unwrap() else { panic!() };
//! assert_eq!(verb.argv(&arguments), ["--all", "--", "-x"]);
//! ```

mod arguments;
mod builtin;
mod condition;
mod effects;
mod grammar;
mod mask;
mod option;
mod pack;
mod pattern;
mod problem;
mod read;
mod refusal;
mod resource;
mod rules;
mod schema;
mod suggest;
mod template;
mod tool;
pub mod trust;
mod verb;

pub use arguments::Arguments;
pub use builtin::BUILTIN;
pub use condition::Condition;
pub use effects::{Act, Effects};
pub use mask::{MASKED, Mask};
pub use option::{Join, Kind, Only, OptionDef, Spelling};
pub use pack::{Pack, Probe, Program, ValueSource};
pub use pattern::Pattern;
pub use problem::Problem;
pub use read::parse;
pub use refusal::{Reason, Refusal};
pub use resource::{HostProbe, ResourceDef, Source};
pub use rules::{Confirm, Elevate, Made, OnEof, Preview, Progress, Rules, Success};
pub use template::Template;
pub use tool::{Asked, Parameter, Shape, ToolDef};
pub use verb::{Case, Extract, Fact, Folder, Overrides, Refused, Verb};
