//! `sysinstall`: refuses outside a live system, and has no way to a disk.

use crate::{
    place::new_file,
    scene::{Ended, Scene, Trouble},
};
use std::{io::Write, path::Path};

/// A folder that only a live system has.
const LIVE: [&str; 5] =
    ["/run/live/medium", "/lib/live/mount/medium", "/run/archiso/bootmnt", "/run/miso/bootmnt", "/run/initramfs/live"];

/// Calamares where it is installed and there is a screen, else krill.
pub fn choose(scene: &mut Scene) -> Ended {
    if scene.orders.calamares && std::env::var_os("DISPLAY").is_some() { calamares(scene) } else { krill(scene) }
}

pub fn krill(scene: &mut Scene) -> Ended {
    live(scene)?;
    let system = scene.text("fstype").to_owned();
    if !["ext4", "btrfs"].contains(&system.as_str()) {
        return Err(scene.fatal(&format!("file system {system}: neither ext4 nor btrfs")));
    }
    if !scene.on("unattended") {
        if !scene.has_terminal() {
            return Err(scene.fatal("krill asks on a terminal, and this is none"));
        }
        scene.out.coa("nothing was chosen");
        return Ok(());
    }
    let Some(disk) = &scene.orders.disk else {
        return Err(scene.fatal("given up: a stand-in erases no disk"));
    };
    for left in (1..=10).rev() {
        scene.out.coa(&format!("the first disk is erased in {left} s"));
        scene.step();
    }
    erase(disk, &system)?;
    scene.out.coa("installed; a real machine would power off now");
    Ok(())
}

pub fn calamares(scene: &mut Scene) -> Ended {
    live(scene)?;
    if !scene.orders.calamares {
        return Err(scene.fatal("calamares is not installed"));
    }
    scene.place.write("/var/log/calamares-install.log", "calamares was started\n")?;
    scene.out.coa("calamares was started");
    Ok(())
}

/// A file that was not there before stands for the disk; what is there, a device above all, is an error.
fn erase(disk: &Path, system: &str) -> Ended {
    let mut file = new_file(disk).map_err(|why| Trouble::Broken(format!("{}: {why}", disk.display())))?;
    writeln!(file, "an installation on {system}")?;
    Ok(())
}

fn live(scene: &Scene) -> Ended {
    if LIVE.iter().any(|folder| scene.place.is_folder(folder)) {
        return Ok(());
    }
    Err(scene.fatal("this is no live system, so there is nothing to install from"))
}
