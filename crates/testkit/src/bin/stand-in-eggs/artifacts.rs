//! What becomes of images and packages: `destroy` and `export`.

use crate::{
    remaster::ARCHITECTURE,
    scene::{Ended, Scene, Trouble},
};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

const LOG: &str = "/var/log/oa-tools.log";

/// Removes the work folder with all its images, unless something is still in use there.
pub fn destroy(scene: &mut Scene) -> Ended {
    let work = "/home/eggs";
    if scene.orders.busy {
        return Err(scene.fatal(&format!("{work}: still in use, nothing was removed")));
    }
    let folder = scene.place.at(work)?;
    if folder.is_dir() {
        fs::remove_dir_all(&folder)?;
    }
    scene.step();
    scene.out.coa(&format!("removed {work}"));
    match fs::remove_file(scene.place.at(LOG)?) {
        Err(why) if why.kind() != io::ErrorKind::NotFound => scene.out.error(&format!("{LOG}: {why}")),
        _ => {}
    }
    Ok(())
}

/// The newest image of this machine.
pub fn export_iso(scene: &mut Scene) -> Ended {
    let work = scene.work_folder()?;
    let folder = scene.place.at(&work)?;
    let images = files(&folder, |name| {
        name.starts_with("egg-of-") && name.contains(&format!("-{ARCHITECTURE}-")) && name.ends_with(".iso")
    })?;
    match images.last() {
        Some(newest) => send(scene, "root@the-usual-host", std::slice::from_ref(newest)),
        None => Err(scene.fatal(&format!("{work}: no image"))),
    }
}

/// The packages of the working directory.
pub fn export_pkg(scene: &mut Scene) -> Ended {
    let ending = match scene.family() {
        "debian" => ".deb",
        "fedora" | "opensuse" => ".rpm",
        "alpine" => ".apk",
        _ => ".pkg.tar.zst",
    };
    let packages = files(Path::new("."), |name| name.ends_with(ending))?;
    if packages.is_empty() {
        return Err(scene.fatal(&format!("no package ({ending}) here")));
    }
    send(scene, "root@the-usual-host", &packages)
}

/// The log and the last plan, where they are.
pub fn export_log(scene: &mut Scene) -> Ended {
    let mut found = Vec::new();
    for file in [LOG, "/tmp/coa/plan.json", "/tmp/coa/failed.yaml"] {
        let at = scene.place.at(file)?;
        if at.is_file() {
            found.push(at);
        }
    }
    if found.is_empty() {
        return Err(scene.fatal("no log to send"));
    }
    let target = format!("{}@{}:{}", scene.text("user"), scene.text("ip"), scene.text("dir"));
    send(scene, &target, &found)
}

/// A folder stands for the far end, whoever that is.
fn send(scene: &Scene, target: &str, files: &[PathBuf]) -> Ended {
    if scene.orders.transfer_fails {
        scene.out.error(&format!("{target}: no answer"));
        return Ok(());
    }
    let folder = match &scene.orders.export_to {
        Some(folder) => folder.clone(),
        None => scene.place.at("/exported")?,
    };
    if scene.on("clean") && folder.is_dir() {
        fs::remove_dir_all(&folder)?;
        scene.out.coa(&format!("{target}: older ones removed"));
    }
    fs::create_dir_all(&folder)?;
    for file in files {
        let name = file.file_name().ok_or_else(|| Trouble::Broken(format!("{}: no name", file.display())))?;
        fs::copy(file, folder.join(name))?;
        scene.out.coa(&format!("{target}: sent {}", name.to_string_lossy()));
        scene.step();
    }
    Ok(())
}

/// Oldest first.
fn files(folder: &Path, wanted: impl Fn(&str) -> bool) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(why) => return Err(why),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        if wanted(&entry.file_name().to_string_lossy()) && entry.file_type()?.is_file() {
            found.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}
