//! Which packs count, and what they may ask for.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, chown, symlink},
};

use pintle_testkit::machine::ALICE;

use crate::stage::{EGGS, ask, machine, noted, refused, root};

fn pack(name: &str, words: &str, guard: &str) -> String {
    format!(
        "format = 1\nname = \"{name}\"\nsummary = \"x\"\n[program]\ncandidates = [\"{EGGS}\"]\nguard = [{guard}]\n\
         [verb.go]\nwords = [{words}]\nsummary = \"x\"\neffects = [\"write\"]\nelevate = \"always\"\n\
         [[tool]]\nname = \"{name}_go\"\nabout = \"x\"\nverb = \"go\"\n"
    )
}

fn mode(path: &str, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn s_02_only_a_pack_that_nobody_but_root_can_change_counts() {
    let Some(machine) = machine() else { return };
    let (folder, file) = ("/etc/pintle/packs", "/etc/pintle/packs/other.toml");
    machine.write(file, pack("other", "\"x\"", ""), 0o644).unwrap();
    let go = || ask(root(&machine, &["run", "other.go"]));
    assert!(go().status.success());
    assert_eq!(noted().unwrap().argv, "<x>");

    mode(file, 0o664);
    refused(&go(), "can be changed by others than root (mode 0664)");
    mode(file, 0o644);
    chown(file, Some(ALICE.1), None).unwrap();
    refused(&go(), "belongs to user");
    chown(file, Some(0), None).unwrap();
    mode(folder, 0o777);
    refused(&go(), "`/etc/pintle/packs` can be changed");
    mode(folder, 0o755);
    assert!(go().status.success());
    noted().unwrap();

    let own = machine.home(ALICE).join("other.toml");
    fs::copy(file, &own).unwrap();
    fs::remove_file(file).unwrap();
    symlink(&own, file).unwrap();
    refused(&go(), "can be changed by others than root");
    fs::remove_file(file).unwrap();
    // In a user's own folder it is not even looked for.
    let users = machine.home(ALICE).join(".config/pintle/packs/other.toml");
    machine.write(&users, pack("other", "\"x\"", ""), 0o644).unwrap();
    refused(&go(), "no pack `other`");
    machine.write(file, "format = 1\nname = \"other\"\n", 0o644).unwrap();
    refused(&go(), "the pack `other` cannot be used");
    machine.write(file, pack("another", "\"x\"", ""), 0o644).unwrap();
    refused(&go(), "no pack `other`");
}

#[test]
fn s_02_root_narrows_a_pack_that_is_built_in() {
    let Some(machine) = machine() else { return };
    machine.write("/etc/pintle/packs/eggs.toml", pack("eggs", "\"narrow\"", ""), 0o644).unwrap();
    refused(&ask(root(&machine, &["run", "eggs.remaster"])), "no verb `remaster`");
    assert!(ask(root(&machine, &["run", "eggs.go"])).status.success());
    assert_eq!(noted().unwrap().argv, "<narrow>");
}

#[test]
fn s_40_a_fixed_name_that_somebody_else_took_is_refused_and_a_free_one_is_taken() {
    let Some(machine) = machine() else { return };
    let go = || ask(root(&machine, &["run", "eggs.remaster"]));
    fs::create_dir("/tmp/coa").unwrap();
    chown("/tmp/coa", Some(ALICE.1), None).unwrap();
    refused(&go(), "`/tmp/coa` must be root's alone before anything runs as root: user 47001 made it");
    chown("/tmp/coa", Some(0), None).unwrap();
    mode("/tmp/coa", 0o777);
    refused(&go(), "others can write in it");
    fs::remove_dir("/tmp/coa").unwrap();
    let own = machine.home(ALICE).join("coa");
    fs::create_dir(&own).unwrap();
    for target in [own.as_path(), "/etc".as_ref(), "/nowhere".as_ref()] {
        symlink(target, "/tmp/coa").unwrap();
        refused(&go(), "`/tmp/coa` must be root's alone");
        fs::remove_file("/tmp/coa").unwrap();
    }
    assert!(go().status.success());
    noted().unwrap();
    let made = fs::symlink_metadata("/tmp/coa").unwrap();
    assert!(made.is_dir() && made.permissions().mode() & 0o7777 == 0o755);
    let mut rename = machine.as_user(ALICE, "/bin/mv");
    assert!(!rename.args(["/tmp/coa", "/tmp/mine"]).output().unwrap().status.success(), "nobody takes it away again");
    assert!(go().status.success());
}

#[test]
fn s_03_what_the_program_would_take_from_its_folder_must_be_roots() {
    let Some(machine) = machine() else { return };
    machine
        .write("/etc/pintle/packs/other.toml", pack("other", "\"x\"", "\"/etc/left\", \"/srv/none/x\""), 0o644)
        .unwrap();
    let go = || ask(root(&machine, &["run", "other.go"]));
    assert!(go().status.success(), "what only root can make may be absent");
    noted().unwrap();
    machine.write("/etc/left", "", 0o666).unwrap();
    refused(&go(), "`/etc/left` must be root's alone");
    mode("/etc/left", 0o644);
    assert!(go().status.success());
}
