//! The packs that come with the program, and texts of packs that are wrong.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod arguments;
mod coverage;
mod eggs;
mod exec;
mod hostile;
mod manual;
mod problems;
mod schemas;
mod tar;

use pintle_packfile::{Arguments, Asked, BUILTIN, Pack, Refusal, Verb, parse};
use serde_json::Value;

/// A built-in pack with its extras.
fn whole(name: &str) -> Pack {
    let (_, text) = BUILTIN.iter().find(|(known, _)| *known == name).unwrap();
    parse(text).unwrap_or_else(|problems| {
        panic!("{name}: {}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    })
}

/// A pack of one verb `do` with these lines, and one tool.
fn small(verb: &str) -> Pack {
    let text = format!(
        "format = 1\nname = \"p\"\nsummary = \"s\"\nprogram.candidates = [\"/usr/bin/p\"]\n\
         [verb.do]\neffects = []\nelevate = \"never\"\n{verb}\n[[tool]]\nname = \"do\"\nabout = \"a\"\nverb = \"do\"\n"
    );
    parse(&text).unwrap_or_else(|problems| {
        panic!("{text}\n{}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    })
}

fn ask<'p>(pack: &'p Pack, tool: &str, arguments: Value) -> Result<(&'p Verb, Arguments), Vec<Refusal>> {
    let tool = pack.tool(tool).unwrap();
    match tool.resolve(pack, arguments.as_object().unwrap())? {
        Asked::Verb(verb, arguments) => Ok((verb, arguments)),
        Asked::Resource(resource) => panic!("asked for {}", resource.uri),
    }
}

fn argv(pack: &Pack, tool: &str, arguments: Value) -> Vec<String> {
    let (verb, checked) = ask(pack, tool, arguments).unwrap();
    verb.argv(&checked)
}

/// Pointer and reason of each refusal.
fn refusals(pack: &Pack, tool: &str, arguments: Value) -> Vec<String> {
    let asked = ask(pack, tool, arguments.clone());
    let refusals = asked.err().unwrap_or_else(|| panic!("{tool} takes {arguments}"));
    refusals.iter().map(ToString::to_string).collect()
}
