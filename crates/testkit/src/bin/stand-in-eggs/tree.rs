//! The command tree of `eggs`, as data.

use crate::{
    artifacts, install, other, remaster,
    scene::{Ended, Scene},
    tools, wardrobe,
};

/// A command and those below it.
pub struct Command {
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub summary: &'static str,
    pub hidden: bool,
    pub flags: &'static [Flag],
    /// Flags that the commands below have too.
    pub inherited: &'static [Flag],
    pub arguments: Arguments,
    pub rights: Rights,
    pub children: &'static [Command],
    /// Without it the command only shows its help, with exit code 0.
    pub run: Option<fn(&mut Scene) -> Ended>,
}

pub struct Flag {
    pub name: &'static str,
    pub short: Option<char>,
    pub kind: Kind,
    pub hidden: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Switch,
    /// With its default.
    Text(&'static str),
}

pub enum Arguments {
    /// Extra words are ignored.
    Any,
    Exactly(usize),
}

/// Who may run a command, as far as the real program looks.
pub enum Rights {
    Anyone,
    Root,
    RootUnless(&'static str),
    RootWith(&'static str),
}

impl Command {
    pub fn called(&self, word: &str) -> bool {
        self.name == word || self.aliases.contains(&word)
    }
}

const BASE: Command = Command {
    name: "",
    aliases: &[],
    summary: "",
    hidden: false,
    flags: &[],
    inherited: &[],
    arguments: Arguments::Any,
    rights: Rights::Anyone,
    children: &[],
    run: None,
};

const fn switch(name: &'static str) -> Flag {
    Flag { name, short: None, kind: Kind::Switch, hidden: false }
}

const fn text(name: &'static str, usual: &'static str) -> Flag {
    Flag { name, short: None, kind: Kind::Text(usual), hidden: false }
}

const fn short(letter: char, flag: Flag) -> Flag {
    Flag { short: Some(letter), ..flag }
}

const fn hidden(flag: Flag) -> Flag {
    Flag { hidden: true, ..flag }
}

pub static HELP: Flag = short('h', switch("help"));

pub static ROOT: Command = Command {
    name: "coa",
    summary: "makes a live image of the running system",
    flags: &[short('v', switch("version"))],
    children: &[
        Command {
            name: "remaster",
            summary: "makes an image of this system",
            flags: &[
                text("path", "/home/eggs"),
                short('w', switch("wizard")),
                hidden(short('i', switch("interactive"))),
                switch("clone"),
                switch("crypted"),
                hidden(switch("cryptedclone")),
                text("compression", ""),
                text("stop-after", ""),
                switch("debug"),
                text("fdt", ""),
            ],
            rights: Rights::RootUnless("debug"),
            run: Some(remaster::remaster),
            ..BASE
        },
        Command {
            name: "wizard",
            summary: "asks, then makes an image",
            flags: &[text("path", "/home/eggs")],
            run: Some(remaster::wizard),
            ..BASE
        },
        Command {
            name: "config",
            summary: "edits the configuration",
            rights: Rights::Root,
            run: Some(other::config),
            ..BASE
        },
        Command { name: "adapt", summary: "fits the screen", run: Some(other::adapt), ..BASE },
        Command {
            name: "sysinstall",
            summary: "installs the live system",
            inherited: &[switch("unattended"), text("fstype", "ext4")],
            rights: Rights::Root,
            run: Some(install::choose),
            children: &[
                Command {
                    name: "krill",
                    summary: "installs from a text screen",
                    rights: Rights::Root,
                    run: Some(install::krill),
                    ..BASE
                },
                Command {
                    name: "calamares",
                    summary: "installs from a window",
                    rights: Rights::Root,
                    run: Some(install::calamares),
                    ..BASE
                },
            ],
            ..BASE
        },
        Command {
            name: "destroy",
            aliases: &["kill"],
            summary: "removes the work folder with all its images",
            rights: Rights::Root,
            run: Some(artifacts::destroy),
            ..BASE
        },
        Command {
            name: "export",
            summary: "copies what was made to another machine",
            inherited: &[switch("clean")],
            children: &[
                Command { name: "iso", summary: "the newest image", run: Some(artifacts::export_iso), ..BASE },
                Command { name: "pkg", summary: "packages", run: Some(artifacts::export_pkg), ..BASE },
                Command {
                    name: "log",
                    summary: "logs",
                    flags: &[
                        short('u', text("user", "artisan")),
                        short('i', text("ip", "192.168.1.2")),
                        short('d', text("dir", "/home/artisan")),
                    ],
                    run: Some(artifacts::export_log),
                    ..BASE
                },
            ],
            ..BASE
        },
        TOOLS,
        Command { name: "version", summary: "tells the version", run: Some(other::version), ..BASE },
        WARDROBE,
        MCP,
        COMPLETION,
        Command { name: "ell", summary: "one step of the engine", hidden: true, run: Some(other::ell), ..BASE },
        Command {
            name: "_gen_docs",
            summary: "writes manuals",
            hidden: true,
            flags: &[text("target", "./docs")],
            run: Some(other::gen_docs),
            ..BASE
        },
        Command { name: "help", summary: "help about a command", ..BASE },
    ],
    ..BASE
};

const TOOLS: Command = Command {
    name: "tools",
    summary: "odds and ends",
    children: &[
        Command { name: "build", summary: "makes packages", run: Some(tools::build), ..BASE },
        Command {
            name: "clean",
            summary: "empties caches",
            flags: &[short('v', switch("verbose"))],
            rights: Rights::Root,
            run: Some(tools::clean),
            ..BASE
        },
        Command {
            name: "grub40",
            summary: "a boot entry for an image",
            flags: &[short('w', switch("write"))],
            arguments: Arguments::Exactly(1),
            rights: Rights::RootWith("write"),
            run: Some(tools::grub40),
            ..BASE
        },
        Command {
            name: "repo",
            summary: "adds or removes the package source",
            arguments: Arguments::Exactly(1),
            rights: Rights::Root,
            run: Some(tools::repo),
            ..BASE
        },
        Command {
            name: "skel",
            summary: "makes /etc/skel from a user's home",
            flags: &[short('u', text("user", ""))],
            run: Some(tools::skel),
            ..BASE
        },
    ],
    ..BASE
};

const WARDROBE: Command = Command {
    name: "wardrobe",
    summary: "costumes for a system",
    hidden: true,
    children: &[
        Command { name: "list", summary: "which there are", run: Some(wardrobe::list), ..BASE },
        Command { name: "get", summary: "fetches the wardrobe", run: Some(wardrobe::get), ..BASE },
        Command {
            name: "show",
            summary: "what a costume holds",
            arguments: Arguments::Exactly(1),
            run: Some(wardrobe::show),
            ..BASE
        },
        Command {
            name: "wear",
            summary: "puts a costume on",
            flags: &[switch("no-acc"), switch("no-firm")],
            arguments: Arguments::Exactly(1),
            rights: Rights::Root,
            run: Some(wardrobe::wear),
            ..BASE
        },
    ],
    ..BASE
};

const MCP: Command = Command {
    name: "mcp",
    summary: "serves agents",
    children: &[
        Command { name: "start", summary: "serves", run: Some(other::mcp_start), ..BASE },
        Command { name: "stop", summary: "ends servers", run: Some(other::mcp_stop), ..BASE },
        Command { name: "status", summary: "tells how things are", run: Some(other::mcp_status), ..BASE },
        Command { name: "enable", summary: "sets up", rights: Rights::Root, run: Some(other::mcp_change), ..BASE },
        Command { name: "disable", summary: "undoes that", rights: Rights::Root, run: Some(other::mcp_change), ..BASE },
    ],
    ..BASE
};

const fn shell(name: &'static str) -> Command {
    const FLAGS: &[Flag] = &[switch("no-descriptions")];
    Command { name, summary: "for this shell", flags: FLAGS, run: Some(other::completion), ..BASE }
}

const COMPLETION: Command = Command {
    name: "completion",
    summary: "completion for a shell",
    hidden: true,
    arguments: Arguments::Exactly(0),
    children: &[shell("bash"), shell("zsh"), shell("fish"), shell("powershell")],
    ..BASE
};
