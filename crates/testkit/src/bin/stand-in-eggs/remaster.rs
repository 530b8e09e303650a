//! `remaster`: the shape of a flight, with a file without content at its end.

use crate::{
    fault::hang,
    scene::{Ended, Scene, Trouble},
};
use pintle_testkit::eggs::Variant;
use serde_json::json;
use std::{
    fs,
    io::Write,
    time::{Instant, SystemTime},
};

pub const ARCHITECTURE: &str = "amd64";
/// The only work folder that the real program handles well.
const USUAL: &str = "/home/eggs";
/// The order of a flight on Debian.
const STEPS: [&str; 20] = [
    "mount-logic",
    "bootloader-copy",
    "generate-efi.img",
    "boot-assets",
    "generate-boot-menus",
    "inject-efi-grubcfg",
    "identity",
    "sanitize-system-files",
    "initramfs",
    "copy-kernel-initrd",
    "conf-live-sudoers",
    "polkit-policy",
    "create-live-launcher",
    "trust-agent-script",
    "trust-agent-autostart",
    "autologin-gui",
    "eggs-icon",
    "mksquashfs",
    "distro_hook_squashfs",
    "xorriso",
];
const RULE: &str = "----------------------------------------";
const MOUNTINFO: &str = "/proc/self/mountinfo";
const MIB: u64 = 1024 * 1024;

pub fn wizard(scene: &mut Scene) -> Ended {
    if !scene.has_terminal() {
        return Err(scene.fatal("the wizard asks on a terminal, and this is none"));
    }
    if !scene.is_root() {
        return Err(scene.fatal("only root may make an image"));
    }
    scene.out.coa("cancelled");
    Ok(())
}

pub fn remaster(scene: &mut Scene) -> Ended {
    if scene.on("wizard") || scene.on("interactive") {
        return wizard(scene);
    }
    let crypted = scene.on("crypted") || scene.on("cryptedclone");
    if scene.on("clone") && scene.on("crypted") {
        return Err(scene.fatal("clone and crypted: only one of them"));
    }
    if crypted && scene.family() != "debian" {
        return Err(scene.fatal(&format!("crypted: not on {}", scene.family())));
    }
    if crypted && scene.orders.no_cryptsetup {
        return Err(scene.fatal("crypted: cryptsetup-initramfs is not installed"));
    }
    let stop = scene.text("stop-after");
    // An unknown name stops nothing.
    let last = STEPS.iter().position(|step| *step == stop).map_or(STEPS.len(), |at| at + 1);
    let steps: Vec<&str> = ["bootstrap"].into_iter().chain(STEPS[..last].iter().copied()).chain(["cleanup"]).collect();
    if scene.on("debug") {
        return plan(scene, &steps, crypted);
    }
    fly(scene, &steps, crypted)
}

/// What would be done, with the passwords in it.
fn plan(scene: &Scene, steps: &[&str], crypted: bool) -> Ended {
    let password = scene.orders.password.as_deref().unwrap_or("evolution");
    let tasks: Vec<_> = steps
        .iter()
        .map(|step| match *step {
            "identity" => json!({"name": step, "user": "live", "password": password,
                "run": format!("make-user live --password {password}")}),
            "autologin-gui" => json!({"name": step, "run": format!("echo 'live:{password}' | chpasswd")}),
            "mksquashfs" if crypted => json!({"name": step, "luks_passphrase": password}),
            _ => json!({"name": step}),
        })
        .collect();
    let work = work_folder(scene)?;
    let plan = json!({"family": scene.family(), "path_live_fs": work, "plan": tasks});
    scene.out.coa("the plan, which nothing is done of");
    let text = serde_json::to_string_pretty(&plan).map_err(|why| Trouble::Broken(why.to_string()))?;
    text.lines().for_each(|line| scene.out.line(line));
    Ok(())
}

/// A path that was given, else the configuration's.
fn work_folder(scene: &Scene) -> Result<String, Trouble> {
    match scene.text("path") {
        USUAL => scene.work_folder(),
        other => Ok(other.to_owned()),
    }
}

fn fly(scene: &Scene, steps: &[&str], crypted: bool) -> Ended {
    let begun = Instant::now();
    let work = work_folder(scene)?;
    fs::create_dir_all(scene.place.at(&work)?)?;
    if crypted {
        // Without a terminal every question is answered by its default.
        scene.out.coa("passphrase: the usual one");
    }
    scene.out.line(RULE);
    scene.out.line(&format!("{} tasks to execute", steps.len()));
    let wrong = !["", "zstd", "xz", "lz4", "gzip"].contains(&scene.text("compression"));
    let fail_at = scene.orders.fail_at.as_deref().or(wrong.then_some("mksquashfs"));
    let mounts = mount_points(&work);
    for step in steps {
        scene.out.line(RULE);
        scene.out.line(&format!("Task Execution: {step}"));
        scene.out.line(RULE);
        scene.step();
        if scene.orders.hang_at.as_deref() == Some(*step) {
            hang();
        }
        match *step {
            "mount-logic" => mount(scene, &mounts)?,
            "mksquashfs" => squash(scene),
            "xorriso" => (0..=4).for_each(|quarter| {
                scene.out.line(&format!("xorriso : UPDATE : {:>6.2}% done", f64::from(quarter) * 25.0));
            }),
            "cleanup" => unmount(scene, &work, &mounts)?,
            _ => {}
        }
        if fail_at == Some(*step) {
            scene.out.line(&format!("{step}: failed"));
            scene.out.line("tearing down");
            unmount(scene, &work, &mounts)?;
            return Err(scene.fatal("the engine's work failed"));
        }
    }
    let size = if steps.contains(&"xorriso") { image(scene, &work, crypted)? } else { 0 };
    let kind = if scene.on("clone") || scene.on("cryptedclone") { "clone" } else { "live" };
    let kind = if crypted { "crypted" } else { kind };
    let seconds = begun.elapsed().as_secs();
    scene.out.coa(&format!("{kind}, {:.1} MiB, {seconds} s", size as f64 / MIB as f64));
    Ok(())
}

/// Redrawn in place, as its own program does.
fn squash(scene: &Scene) {
    for part in 0..=4_usize {
        let (done, left) = ("=".repeat(part * 5), " ".repeat(20 - part * 5));
        scene.out.bytes(format!("\r[{done}{left}] {:>6}/24000 {:>3}%", part * 6000, part * 25).as_bytes());
        scene.step();
    }
    scene.out.bytes(b"\n");
}

/// Where a flight mounts things.
fn mount_points(work: &str) -> Vec<String> {
    const BELOW: [&str; 13] =
        ["", "/usr", "/var", "/etc", "/boot", "/root", "/opt", "/srv", "/dev", "/dev/pts", "/proc", "/sys", "/run"];
    BELOW.iter().map(|below| format!("{work}/liveroot{below}")).collect()
}

/// Only lines in a file that stands for the kernel's table, where there is one.
fn mount(scene: &Scene, points: &[String]) -> Ended {
    let Some(mut table) = scene.place.read(MOUNTINFO)? else { return Ok(()) };
    for (number, point) in points.iter().enumerate() {
        table.push_str(&format!("{} 21 8:1 / {point} rw,relatime shared:1 - ext4 /dev/root rw\n", 900 + number));
    }
    Ok(scene.place.write(MOUNTINFO, &table)?)
}

fn unmount(scene: &Scene, work: &str, points: &[String]) -> Ended {
    // As the real one, it forgets its mounts below any other folder.
    if scene.orders.variant == Variant::MountsLeft || scene.text("path") != USUAL && work != USUAL {
        return Ok(());
    }
    let Some(table) = scene.place.read(MOUNTINFO)? else { return Ok(()) };
    let kept = table.lines().filter(|line| !line.split(' ').nth(4).is_some_and(|at| points.iter().any(|p| p == at)));
    let kept: String = kept.map(|line| format!("{line}\n")).collect();
    Ok(scene.place.write(MOUNTINFO, &kept)?)
}

/// A file of the asked size that takes no room, by the name that `export` looks for.
fn image(scene: &Scene, work: &str, crypted: bool) -> Result<u64, Trouble> {
    let husk = scene.orders.variant == Variant::Husk || scene.text("path") != USUAL;
    let size = match scene.orders.variant {
        Variant::Nothing => return Ok(0),
        _ if husk => 2 * MIB / 5,
        _ => scene.orders.iso_bytes.unwrap_or(236 * MIB),
    };
    let kind = if crypted { "crypted" } else { "host" };
    let (day, second) = now()?;
    let name = format!("egg-of-{}-bookworm-{kind}-{ARCHITECTURE}-{day}_{second}.iso", scene.family());
    let mut file = scene.place.create(&format!("{work}/{name}"))?;
    file.write_all(b"no image, only its name and size\n")?;
    file.set_len(size)?;
    scene.out.line(&format!("made {work}/{name}"));
    Ok(size)
}

/// Day and nanosecond since the epoch: two flights make two names.
fn now() -> Result<(u64, u128), Trouble> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let since = since.map_err(|why| Trouble::Broken(why.to_string()))?;
    Ok((since.as_secs() / 86_400, since.as_nanos() % 86_400_000_000_000))
}
