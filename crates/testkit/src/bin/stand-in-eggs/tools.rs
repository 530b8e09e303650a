//! `tools`.

use crate::{
    place::new_file,
    scene::{Ended, Scene},
};
use std::{io::Write, path::Path};

/// Packages what a folder `build` of the working directory holds.
pub fn build(scene: &mut Scene) -> Ended {
    if scene.is_root() {
        return Err(scene.fatal("packages are not built as root"));
    }
    if !Path::new("build").is_dir() {
        return Err(scene.fatal("there is no folder build here"));
    }
    if scene.orders.packager_fails {
        scene.out.error("the packager failed");
        return Ok(());
    }
    let name = format!("penguins-eggs_{}_amd64.deb", scene.version());
    match new_file(Path::new(&name)) {
        Ok(mut file) => file.write_all(b"a package that installs nothing\n")?,
        Err(why) => return Err(scene.fatal(&format!("{name}: {why}"))),
    }
    scene.out.coa(&format!("made {name}"));
    Ok(())
}

pub fn clean(scene: &mut Scene) -> Ended {
    for part in ["package caches", "root's histories", "the journal", "the page cache"] {
        if scene.on("verbose") {
            scene.out.line(&format!("looking at {part}"));
        }
        scene.step();
        scene.out.coa(&format!("emptied {part}"));
    }
    Ok(())
}

const BEGIN: &str = "# begin of eggs";
const END: &str = "# end of eggs";

/// Prints an entry, or puts it between its markers.
pub fn grub40(scene: &mut Scene) -> Ended {
    let iso = scene.words[0].clone();
    if !Path::new(&iso).is_file() {
        return Err(scene.fatal(&format!("{iso}: no such image")));
    }
    // As the real one, it knows only one kind of image.
    let entry = format!("menuentry \"{iso}\" {{\n  loopback loop \"{iso}\"\n  linux (loop)/live/vmlinuz boot=live\n}}");
    if !scene.on("write") {
        scene.out.line(&entry);
        return Ok(());
    }
    let file = "/etc/grub.d/40_custom";
    let before = scene.place.read(file)?.unwrap_or_else(|| "#!/bin/sh\n".to_owned());
    let kept = match (before.find(BEGIN), before.find(END)) {
        (Some(from), Some(to)) if from < to => {
            format!("{}{}", &before[..from], before[to + END.len()..].trim_start_matches('\n'))
        }
        _ => before,
    };
    scene.place.write(file, &format!("{kept}{BEGIN}\n{entry}\n{END}\n"))?;
    scene.out.coa(&format!("wrote {file}"));
    Ok(())
}

pub fn repo(scene: &mut Scene) -> Ended {
    let source = "/etc/apt/sources.list.d/penguins-eggs.sources";
    match scene.words[0].as_str() {
        "add" => {
            scene.place.write(source, "Types: deb\n")?;
            scene.out.coa("package source added");
        }
        "rm" | "remove" => {
            if scene.place.read(source)?.is_some() {
                std::fs::remove_file(scene.place.at(source)?)?;
            }
            scene.out.coa("package source removed");
        }
        other => return Err(scene.fatal(&format!("{other}: neither add nor rm"))),
    }
    Ok(())
}

/// As the real one, it says the same whether or not it could do anything.
pub fn skel(scene: &mut Scene) -> Ended {
    if scene.is_root() {
        let user = match scene.text("user") {
            "" => std::env::var("SUDO_USER").unwrap_or_default(),
            user => user.to_owned(),
        };
        scene.place.write("/etc/skel/.made-from", &format!("{user}\n"))?;
    }
    scene.out.coa("/etc/skel was made anew");
    Ok(())
}
