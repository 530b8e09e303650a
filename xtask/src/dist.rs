//! `cargo xtask dist`: the programs as they are given away: static files, small; `pintle`, and beside it the helper that a rule of
//! sudo may grant.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::place::Place;
use crate::{End, Trouble, run};

/// What `pintle` may weigh, in bytes of the budget's megabytes.
pub const LIMIT: u64 = 25_000_000;
/// What the helper may weigh: whatever root runs is meant to be small.
const HELPER_LIMIT: u64 = 5_000_000;

/// Named, so that the flags below reach the program and not the macros that compile it.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Where the program lies once it is built.
pub fn program(place: &Place) -> PathBuf {
    built(place, "pintle")
}

fn built(place: &Place, name: &str) -> PathBuf {
    place.target.join(TARGET).join("dist").join(name)
}

pub fn command(place: &Place) -> Result<End, Trouble> {
    let complaint = build(place)?;
    if let Some(complaint) = &complaint {
        eprintln!("xtask: {complaint}");
    } else {
        for path in [program(place), built(place, "pintle-helper")] {
            println!("{} ({} bytes, static)", path.display(), size(&path)?);
        }
    }
    Ok(if complaint.is_some() { End::Bad } else { End::Good })
}

/// Builds it and looks at it; what is wrong with it, if anything.
pub fn build(place: &Place) -> Result<Option<String>, Trouble> {
    if !cfg!(all(target_arch = "x86_64", target_env = "gnu")) {
        return Ok(Some(format!("the static program is built on {TARGET} only")));
    }
    let mut cargo = run::cargo(&place.root);
    cargo.args(["build", "--quiet", "--locked", "--profile", "dist"]);
    cargo.args(["--package", "pintle", "--package", "pintle-helper"]);
    cargo.args(["--target", TARGET]);
    cargo.args(["--config", &format!("target.{TARGET}.rustflags=[\"-C\", \"target-feature=+crt-static\"]")]);
    if !run::loud(&mut cargo)? {
        return Ok(Some("the program does not compile".into()));
    }
    for (name, limit) in [("pintle", LIMIT), ("pintle-helper", HELPER_LIMIT)] {
        let path = built(place, name);
        let file = std::fs::read(&path).map_err(Trouble::file("read", &path))?;
        if interpreter(&file) != Some(false) {
            return Ok(Some(format!("`{}` is not static: it asks for a dynamic linker", path.display())));
        }
        if file.len() as u64 > limit {
            return Ok(Some(format!("`{}` has {} bytes, more than {limit}", path.display(), file.len())));
        }
    }
    let path = program(place);
    // what a static program can get wrong: names of hosts and users, which the C library looks up
    for arguments in [&["--version"][..], &["quickstart"]] {
        run::taken(Command::new(&path).args(arguments))?;
    }
    Ok(None)
}

fn size(path: &Path) -> Result<u64, Trouble> {
    Ok(std::fs::metadata(path).map_err(Trouble::file("look at", path))?.len())
}

/// Whether a 64-bit little-endian ELF file has a segment that names a dynamic linker (PT_INTERP); none when it is no such file.
fn interpreter(file: &[u8]) -> Option<bool> {
    const PT_INTERP: u32 = 3;
    let number = |at: usize, width: usize| -> Option<u64> {
        let mut bytes = [0; 8];
        bytes[..width].copy_from_slice(file.get(at..at.checked_add(width)?)?);
        Some(u64::from_le_bytes(bytes))
    };
    if !file.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let (table, width, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    let kinds = (0..count).map(|index| {
        let at = usize::try_from(table.checked_add(index.checked_mul(width)?)?).ok()?;
        number(at, 4)
    });
    let kinds: Vec<u64> = kinds.collect::<Option<_>>()?;
    Some(kinds.contains(&u64::from(PT_INTERP)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_asks_for_a_linker_is_told_from_one_that_does_not() {
        let mut elf = vec![0; 64 + 2 * 56];
        elf[..6].copy_from_slice(b"\x7fELF\x02\x01");
        (elf[32], elf[54], elf[56]) = (64, 56, 2);
        assert_eq!(interpreter(&elf), Some(false));
        elf[64 + 56] = 3;
        assert_eq!(interpreter(&elf), Some(true));
        elf.truncate(100);
        assert_eq!(interpreter(&elf), None);
        assert_eq!(interpreter(b"#!/bin/sh"), None);
    }
}
