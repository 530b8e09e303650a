//! How the stand-in is told to behave.

use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::PathBuf};

/// What holds for every call; a default is an ordinary Debian machine where all goes well.
///
/// Orders lie as JSON in `orders.json` beside the program, since the program under test empties the environment. Without it,
/// each can be given by a variable too, `EGGS_STAND_IN_` and its name in capitals: JSON, or else a bare word.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Orders {
    /// The folder taken for `/`; `root` beside the program when absent.
    pub root: Option<PathBuf>,
    /// The home whose `.oa-wardrobe` is read; `/home/artisan` of the root when absent.
    pub home: Option<PathBuf>,
    /// Who runs the program; asked of the system when absent.
    pub euid: Option<u32>,
    /// What `version` says; `26.8.22` when absent.
    pub version: Option<String>,
    /// Speaks as the older program of the same name, which has no `[coa]`.
    pub legacy: bool,
    /// Family of the distribution; `debian` when absent.
    pub family: Option<String>,
    /// The package that encrypted images need is not there.
    pub no_cryptsetup: bool,
    /// The live user's password, which a plan shows; `evolution` when absent.
    pub password: Option<String>,
    /// How long a step of a long command takes, in milliseconds.
    pub step_ms: u64,
    /// The step of a flight that fails.
    pub fail_at: Option<String>,
    /// The step of a flight that never ends.
    pub hang_at: Option<String>,
    /// Size of the image in bytes, without content on the disk; 236 MiB when absent.
    pub iso_bytes: Option<u64>,
    /// What becomes of a flight that seems to go well.
    pub variant: Variant,
    /// Something is still in use below the work folder.
    pub busy: bool,
    /// Calamares is installed.
    pub calamares: bool,
    /// The new file that an unattended installation writes in place of a disk; without it the installation is given up.
    pub disk: Option<PathBuf>,
    /// The folder that stands for the far end of an export; `/exported` of the root when absent.
    pub export_to: Option<PathBuf>,
    /// The copy to the far end fails, which the real program only logs.
    pub transfer_fails: bool,
    /// The packager fails, which the real program only logs.
    pub packager_fails: bool,
    /// Misbehaviour by command, such as `tools skel`; `*` is every command.
    pub faults: BTreeMap<String, Fault>,
}

impl Orders {
    /// These orders, with a fault of one command.
    #[must_use]
    pub fn fault(mut self, command: &str, fault: Fault) -> Self {
        self.faults.insert(command.to_owned(), fault);
        self
    }

    /// The fault of a command, given by its words.
    #[must_use]
    pub fn fault_of(&self, command: &str) -> Fault {
        self.faults.get(command).or_else(|| self.faults.get("*")).cloned().unwrap_or_default()
    }
}

/// What becomes of a flight that says it went well.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// An image of a plausible size, and nothing stays mounted.
    #[default]
    Whole,
    /// An image of 0.4 MiB.
    Husk,
    /// An image of a plausible size, and mounts that stay.
    MountsLeft,
    /// No image.
    Nothing,
}

/// How one command misbehaves. What is not said is as usual.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Fault {
    /// Never ends, once it has printed what it is told to.
    pub hang: bool,
    /// Does not heed SIGTERM, SIGINT or SIGHUP.
    pub ignore_term: bool,
    /// Leaves a process behind that keeps its output open so many seconds, in the same process group.
    pub grandchild_secs: Option<u64>,
    /// The process left behind has a process group of its own.
    pub grandchild_own_group: bool,
    /// Printed before anything else, in this order.
    pub noise: Vec<Noise>,
    /// The noise goes to standard error.
    pub noise_on_stderr: bool,
    /// So many MiB of lines, the noise's companion.
    pub print_mib: u64,
    /// Asks something of the terminal, else of its input.
    pub read_terminal: bool,
    /// Closes its standard output and goes on for so many milliseconds.
    pub close_stdout_ms: Option<u64>,
    /// Ends by this signal in place of doing its work.
    pub die_by: Option<i32>,
    /// Waits so many milliseconds after each few bytes that it prints.
    pub drip_ms: u64,
    /// Prints its last line without an end.
    pub partial_line: bool,
    /// Prints an `[ERROR]` line after its work.
    pub says_error: bool,
    /// Ends with this code whatever it did.
    pub exit_code: Option<u8>,
}

/// What no program should print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Noise {
    /// Bytes that are no UTF-8.
    InvalidUtf8,
    /// A NUL inside a line.
    Nul,
    /// Colours, a title, a cleared screen, a cursor that moves.
    Ansi,
    /// Lines that could be taken for messages of the protocol.
    JsonRpc,
    /// One line of 10 MiB.
    LongLine,
}

/// What the stand-in of `sudo` does, from `sudo.json` beside it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SudoOrders {
    /// Who calls; `artisan` when absent.
    pub user: Option<String>,
    /// Whether a password would be asked for.
    pub mode: SudoMode,
    /// The command lines that are allowed, to the word; every one when absent.
    pub policy: Option<Vec<Vec<String>>>,
    /// Variables that are set for the command, as a stand-in cannot make it root.
    pub pass: BTreeMap<String, String>,
}

/// Whether a password would be asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SudoMode {
    /// What is allowed runs.
    #[default]
    NoPassword,
    /// Nothing runs without a password, which a stand-in never gets.
    Password,
}
