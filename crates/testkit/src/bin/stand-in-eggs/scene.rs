//! One call, once its words are read.

use crate::{
    cobra::{Found, Read},
    help,
    place::Place,
    say::{Out, complain},
    tree::Rights,
};
use pintle_testkit::eggs::Orders;
use std::{collections::BTreeMap, io, path::Path, time::Duration};

/// Why a call ends with something other than 0; told by whoever makes it.
#[derive(Debug)]
pub enum Trouble {
    /// The real program refuses or fails in this way.
    Told,
    /// The stand-in cannot play.
    Broken(String),
}

impl From<io::Error> for Trouble {
    fn from(why: io::Error) -> Self {
        Self::Broken(why.to_string())
    }
}

pub type Ended = Result<(), Trouble>;

/// What a command acts on.
pub struct Scene<'a> {
    pub orders: &'a Orders,
    pub place: Place,
    pub out: Out,
    /// The command's words.
    pub command: Vec<&'static str>,
    /// Its arguments.
    pub words: Vec<String>,
    flags: BTreeMap<&'static str, String>,
}

impl<'a> Scene<'a> {
    pub fn new(beside: &Path, orders: &'a Orders, out: Out) -> Result<Self, String> {
        let root = orders.root.clone().unwrap_or_else(|| beside.join("root"));
        let place = Place::new(&root).map_err(|why| format!("{}: {why}", root.display()))?;
        Ok(Self { orders, place, out, command: Vec::new(), words: Vec::new(), flags: BTreeMap::new() })
    }

    /// Does what the words ask for.
    pub fn play(&mut self, found: Found) -> Ended {
        self.command = found.path.iter().skip(1).map(|command| command.name).collect();
        let command = found.command();
        match found.read {
            Read::Help => {
                help::help(&found.path, &self.out);
                return Ok(());
            }
            Read::Version => {
                self.out.line(&format!("coa version {}", self.version()));
                return Ok(());
            }
            Read::Wrong(why) => return Err(self.usage(&found.path, &why)),
            Read::Ready { words, flags } => (self.words, self.flags) = (words, flags),
        }
        let Some(run) = command.run else {
            help::help(&found.path, &self.out);
            return Ok(());
        };
        let root = match command.rights {
            Rights::Anyone => false,
            Rights::Root => true,
            Rights::RootUnless(flag) => !self.on(flag),
            Rights::RootWith(flag) => self.on(flag),
        };
        if root && !self.is_root() {
            return Err(self.needs_root());
        }
        run(self)
    }

    pub fn is_root(&self) -> bool {
        self.orders.euid.unwrap_or_else(|| rustix::process::geteuid().as_raw()) == 0
    }

    pub fn version(&self) -> &str {
        self.orders.version.as_deref().unwrap_or("26.8.22")
    }

    pub fn family(&self) -> &str {
        self.orders.family.as_deref().unwrap_or("debian")
    }

    /// A switch that was given.
    pub fn on(&self, flag: &str) -> bool {
        self.flags.get(flag).is_some_and(|value| value == "true")
    }

    /// The value of a flag, or its default.
    pub fn text(&self, flag: &str) -> &str {
        self.flags.get(flag).map_or("", String::as_str)
    }

    /// Whether there is somebody to ask.
    pub fn has_terminal(&self) -> bool {
        rustix::termios::isatty(io::stdin()) && rustix::termios::isatty(io::stdout())
    }

    /// The time that a step takes.
    pub fn step(&self) {
        if self.orders.step_ms > 0 {
            std::thread::sleep(Duration::from_millis(self.orders.step_ms));
        }
    }

    /// The work folder of the configuration, as a path of the system.
    pub fn work_folder(&self) -> Result<String, Trouble> {
        let text = self.place.read("/etc/penguins-eggs.d/custom.yaml")?.unwrap_or_default();
        let value = text.lines().find_map(|line| line.trim().strip_prefix("work_dir:"));
        let value = value.map(|value| value.trim().trim_matches(['"', '\'']).to_owned());
        Ok(value.filter(|value| !value.is_empty()).unwrap_or_else(|| "/home/eggs".to_owned()))
    }

    /// An error that ends the call.
    pub fn fatal(&self, why: &str) -> Trouble {
        complain("");
        self.out.error(why);
        Trouble::Told
    }

    fn needs_root(&self) -> Trouble {
        let command = self.command.join(" ");
        self.out.warning(&format!("{command}: only root may do this"));
        self.out.coa(&format!("Run: sudo coa {command}"));
        Trouble::Told
    }

    fn usage(&self, path: &[&'static crate::tree::Command], why: &str) -> Trouble {
        complain(&format!("Error: {why}"));
        complain(&help::usage(path));
        complain(&format!("\x1b[31m[ERROR]\x1b[0m {why}"));
        Trouble::Told
    }
}
