//! Supervised children.
//!
//! Every child of pintle is started here, and nowhere else. What is promised about one:
//!
//! - **No shell.** A program and its arguments, as bytes; nothing is split, globbed or expanded.
//! - **Its own session and process group.** A signal meant for the child reaches everything it started,
//!   except what left the group on purpose. ([`Spawn::attached`] is for people at a terminal and stays in ours.)
//! - **A clean environment.** What [`Environment`] holds and nothing else.
//! - **It ends when we end**, unless it was [detached](Spawn::detached) for that purpose. Dropping a [`Child`]
//!   kills its group and reaps it. If pintle itself is killed, the kernel sends the child the death signal
//!   ([`Spawn::death_signal`]) and its standard input ends. Programs that gain privilege on exec (setuid) lose
//!   the death signal: for those, which we cannot signal either, only the end of input is left
//!   ([`Run::hold_input`]).
//! - **Output is bounded.** [`Spawn::run`] keeps the head and the tail of both pipes, reads them at once, and
//!   can keep the full text in a file.
//! - **A process is known by more than its number.** [`Identity`]: number, start, boot and file; signals go to a
//!   descriptor of that very process.
//! - **Cancelling works.** TERM to the group, a grace period, KILL to the group, wait: the [`Ladder`].

mod bounded;
mod capture;
mod child;
mod environment;
mod fork;
mod identity;
mod piped;
mod spawn;
mod text;

pub use bounded::{Cut, Output, Text};
pub use capture::{Captured, Ended, Observer, Run, Stream};
pub use child::{Child, Exit, Ladder, Status, Stopped};
pub use environment::Environment;
pub use identity::{Identity, Now, boot_id};
pub use piped::{Piped, StderrTail};
pub use spawn::{DeathSignal, Spawn, SpawnError, find_program};
pub use text::{collapse_progress, strip_ansi};

/// The writing end of a child's standard input.
pub type Stdin = tokio::net::unix::pipe::Sender;
/// The reading end of a child's standard output.
pub type Stdout = tokio::net::unix::pipe::Receiver;
