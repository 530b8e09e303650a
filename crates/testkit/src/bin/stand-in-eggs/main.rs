//! A stand-in for `eggs`: its command tree, its refusals, its exit codes, and none of its powers.
//!
//! What it does is ordered by `orders.json` beside it, and each call is noted in `calls.jsonl` there. It writes only
//! below one folder, which it takes for the system's root, and starts nothing but itself.

mod artifacts;
mod cobra;
mod fault;
mod help;
mod install;
mod note;
mod order;
mod other;
mod place;
mod remaster;
mod say;
mod scene;
mod tools;
mod tree;
mod wardrobe;

use scene::{Scene, Trouble};
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(ended) = fault::left_behind() {
        return ended;
    }
    match run() {
        Ok(code) => code,
        Err(why) => {
            say::complain(&format!("stand-in-eggs: {why}"));
            // A code of no class of the real program: a test that is set up wrongly must not look like a refusal.
            ExitCode::from(99)
        }
    }
}

/// # Errors
/// The stand-in cannot play: its orders make no sense, or its files cannot be written.
fn run() -> Result<ExitCode, String> {
    let argv: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let beside = order::beside()?;
    let orders = order::orders(&beside)?;
    note::note(&beside, &argv, &orders)?;
    let words = argv.get(1..).unwrap_or_default();
    let found = cobra::read(&tree::ROOT, words);
    let fault = orders.fault_of(&found.name());
    let out = say::Out::new(&fault);
    fault::before(&fault, &out)?;
    let mut scene = Scene::new(&beside, &orders, out)?;
    let ended = scene.play(found);
    fault::after(&fault, &scene.out)?;
    let code = match ended {
        Ok(()) => 0,
        Err(Trouble::Broken(why)) => return Err(why),
        Err(_) => 1,
    };
    Ok(ExitCode::from(fault.exit_code.unwrap_or(code)))
}
