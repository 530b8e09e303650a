//! `wardrobe`: real folders of costumes, none of which is ever put on.

use crate::scene::{Ended, Scene, Trouble};
use std::{fs, io, path::PathBuf};

fn costumes(scene: &Scene) -> Result<PathBuf, Trouble> {
    let home = match &scene.orders.home {
        Some(home) => home.clone(),
        None => scene.place.at("/home/artisan")?,
    };
    Ok(home.join(".oa-wardrobe/costumes"))
}

/// With colours wherever it prints to, as the real one.
pub fn list(scene: &mut Scene) -> Ended {
    let folder = costumes(scene)?;
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(why) if why.kind() == io::ErrorKind::NotFound => {
            return Err(scene.fatal("there is no wardrobe yet: get it"));
        }
        Err(why) => return Err(why.into()),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    scene.out.coa(&format!("{} costumes", names.len()));
    for name in names {
        let text = fs::read_to_string(folder.join(&name).join("index.yaml")).unwrap_or_default();
        let about = text.lines().find_map(|line| line.strip_prefix("description:")).unwrap_or_default();
        scene.out.line(&format!("\x1b[1;36m{name}\x1b[0m\x1b[2m -{about}\x1b[0m"));
    }
    Ok(())
}

/// Makes one costume where the real one would fetch many; a wardrobe that is there is left alone.
pub fn get(scene: &mut Scene) -> Ended {
    let folder = costumes(scene)?;
    if folder.is_dir() {
        scene.out.coa("the wardrobe is there already");
        return Ok(());
    }
    fs::create_dir_all(folder.join("colibri"))?;
    fs::write(folder.join("colibri/index.yaml"), "name: colibri\ndescription: a light desktop\n")?;
    scene.out.coa("got the wardrobe");
    Ok(())
}

/// As the real one, it does not look where the name leads.
pub fn show(scene: &mut Scene) -> Ended {
    let text = costume(scene)?;
    text.lines().for_each(|line| scene.out.line(line));
    Ok(())
}

/// Tells what would be done, and leaves a file that says so.
pub fn wear(scene: &mut Scene) -> Ended {
    let text = costume(scene)?;
    let name = scene.words[0].clone();
    let commands = text.lines().skip_while(|line| line.trim() != "cmds:").skip(1);
    for command in commands.map_while(|line| line.trim().strip_prefix("- ")) {
        scene.out.coa(&format!("would run as root: {command}"));
        scene.step();
    }
    let accessories = if scene.on("no-acc") { "without" } else { "with" };
    scene.place.write("/var/lib/worn", &format!("{name} {accessories} accessories\n"))?;
    scene.out.coa(&format!("{name} is worn"));
    Ok(())
}

fn costume(scene: &Scene) -> Result<String, Trouble> {
    let name = &scene.words[0];
    let file = costumes(scene)?.join(name).join("index.yaml");
    fs::read_to_string(file).map_err(|_| scene.fatal(&format!("{name}: no such costume")))
}
