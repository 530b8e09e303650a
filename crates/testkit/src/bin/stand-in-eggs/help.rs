//! Help, in our own words.

use crate::{
    cobra::flags_of,
    say::Out,
    tree::{Command, Kind},
};

pub fn help(path: &[&'static Command], out: &Out) {
    out.line(path[path.len() - 1].summary);
    out.line("");
    usage(path).lines().for_each(|line| out.line(line));
}

/// The commands and flags that are not hidden.
pub fn usage(path: &[&'static Command]) -> String {
    let command = path[path.len() - 1];
    let words: Vec<&str> = path.iter().map(|command| command.name).collect();
    let mut text = format!("Usage:\n  {} [flags]\n", words.join(" "));
    let shown: Vec<&Command> = command.children.iter().filter(|child| !child.hidden).collect();
    if !shown.is_empty() {
        text.push_str("\nCommands:\n");
        for child in shown {
            text.push_str(&format!("  {:<12} {}\n", child.name, child.summary));
        }
    }
    text.push_str("\nFlags:\n");
    for flag in flags_of(path).filter(|flag| !flag.hidden) {
        let short = flag.short.map_or("    ".to_owned(), |letter| format!("-{letter}, "));
        let kind = match flag.kind {
            Kind::Switch => String::new(),
            Kind::Text("") => " string".to_owned(),
            Kind::Text(usual) => format!(" string (default \"{usual}\")"),
        };
        text.push_str(&format!("  {short}--{}{kind}\n", flag.name));
    }
    text
}
