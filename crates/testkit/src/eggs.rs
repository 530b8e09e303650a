//! A stand-in for `eggs`, for tests that may not run the real one.
//!
//! The program `stand-in-eggs` has the whole command tree of the real one, its exit codes and its tags, but works only
//! in a folder of its own: it mounts nothing, opens no socket and can touch no disk. [`Installed`] lays it out in a
//! temporary folder as `eggs` with its link `coa` and a `sudo` that is none; [`Orders`] tell it how to behave, [`Call`] is
//! what it noted of each call, and [`Root`] is the system that it and the program under test take for the real one.

mod call;
mod installed;
mod orders;
mod root;

pub use call::{Call, Stdin, take_work};
pub use installed::{Installed, SudoCall};
pub use orders::{Fault, Noise, Orders, SudoMode, SudoOrders, Variant};
pub use root::Root;

/// The tools of the seed, in its order.
pub const TOOLS: [&str; 8] = [
    "eggs_remaster",
    "eggs_wardrobe",
    "eggs_sysinstall",
    "eggs_export",
    "eggs_tools",
    "eggs_destroy",
    "eggs_version",
    "eggs_exec",
];

/// What the names of variables that give orders begin with; the rest is the name of the order in capitals.
pub const ORDER_VARIABLE: &str = "EGGS_STAND_IN_";
/// Where orders lie, beside the program.
pub const ORDERS_FILE: &str = "orders.json";
/// Where calls are noted, beside the program, one JSON object a line.
pub const CALLS_FILE: &str = "calls.jsonl";
/// Where the orders of the stand-in of `sudo` lie, beside it.
pub const SUDO_ORDERS_FILE: &str = "sudo.json";
/// Where the stand-in of `sudo` notes its calls, beside it.
pub const SUDO_CALLS_FILE: &str = "sudo-calls.jsonl";
