//! `remaster`.

use crate::stage::{Ran, as_root, command, installed, run};
use pintle_testkit::eggs::{Installed, Orders, Variant};
use std::process::Stdio;

fn steps(ran: &Ran) -> Vec<&str> {
    ran.out.lines().filter_map(|line| line.strip_prefix("Task Execution: ")).collect()
}

fn flight(orders: &Orders, words: &[&str]) -> (Installed, Ran) {
    let installed = installed(orders);
    let ran = run(&installed, &[&["remaster"], words].concat());
    (installed, ran)
}

/// Size of the only image, and the room it takes, in bytes.
fn image(installed: &Installed) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    let images = installed.root().images().unwrap();
    assert_eq!(images.len(), 1, "{images:?}");
    let known = installed.root().at("/home/eggs").join(&images[0]).metadata().unwrap();
    (known.len(), known.blocks() * 512)
}

#[test]
fn si_06_a_flight_has_22_steps_and_ends_with_an_image_that_takes_no_room() {
    let (installed, ran) = flight(&as_root(), &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let steps = steps(&ran);
    assert_eq!(steps.len(), 22);
    assert!(ran.out.contains("\n22 tasks to execute\n"));
    assert_eq!((steps[0], steps[18], steps[21]), ("bootstrap", "mksquashfs", "cleanup"));
    assert!(ran.out.contains(" 75%") && ran.out.contains(" 75.00% done"), "both tell how far they are");
    let last = ran.out.lines().last().unwrap();
    assert!(last.starts_with("[coa] live, 236.0 MiB, ") && last.ends_with(" s"), "{last}");
    let (size, room) = image(&installed);
    assert_eq!(size, 236 * 1024 * 1024);
    assert!(room < 100_000, "{room}");
    let name = &installed.root().images().unwrap()[0];
    assert!(name.starts_with("egg-of-debian-bookworm-host-amd64-"), "{name}");
    assert_eq!(installed.root().mounts().unwrap(), ["/"], "nothing stays mounted");
}

#[test]
fn si_06_each_stop_is_obeyed_and_an_unknown_one_is_ignored() {
    for (stop, count) in [("mount-logic", 3), ("identity", 9), ("mksquashfs", 20), ("xorriso", 22), ("coa-initrd", 22)]
    {
        let (installed, ran) = flight(&as_root(), &["--stop-after", stop]);
        assert_eq!((ran.code, steps(&ran).len()), (0, count), "{stop}");
        assert_eq!(steps(&ran).last(), Some(&"cleanup"), "everything is unmounted after a stop");
        assert!(ran.out.contains(&format!("\n{count} tasks to execute\n")), "{stop}");
        assert_eq!(installed.root().images().unwrap().len(), usize::from(count == 22), "{stop}");
        assert_eq!(installed.root().mounts().unwrap(), ["/"]);
    }
}

#[test]
fn si_06_a_plan_is_json_with_the_password_in_it() {
    let orders = Orders { euid: Some(1000), password: Some("hunter2".into()), ..Orders::default() };
    let (installed, ran) = flight(&orders, &["--debug", "--crypted"]);
    let (first, plan) = ran.out.split_once('\n').unwrap();
    assert!(first.starts_with("[coa] "));
    let plan: serde_json::Value = serde_json::from_str(plan).unwrap();
    assert_eq!(plan["plan"].as_array().unwrap().len(), 22);
    let text = plan.to_string();
    for shown in [
        "\"password\":\"hunter2\"",
        "--password hunter2",
        "echo 'live:hunter2' | chpasswd",
        "\"luks_passphrase\":\"hunter2\"",
    ] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    assert!(installed.root().images().unwrap().is_empty());
}

#[test]
fn si_06_a_failing_step_tears_down_and_ends_with_an_error() {
    for words in [&["--compression", "brotli"][..], &[]] {
        let orders = Orders { fail_at: words.is_empty().then(|| "mksquashfs".to_owned()), ..as_root() };
        let (installed, ran) = flight(&orders, words);
        assert_eq!(ran.code, 1);
        assert_eq!(steps(&ran).last(), Some(&"mksquashfs"));
        assert!(ran.err.starts_with("\n[ERROR] "), "{}", ran.err);
        assert!(installed.root().images().unwrap().is_empty());
        assert_eq!(installed.root().mounts().unwrap(), ["/"]);
    }
}

#[test]
fn si_06_variants_look_like_success() {
    let (installed, ran) = flight(&Orders { variant: Variant::Husk, ..as_root() }, &[]);
    assert_eq!((ran.code, image(&installed).0 / 1024), (0, 409));
    let (installed, ran) = flight(&Orders { variant: Variant::MountsLeft, ..as_root() }, &[]);
    assert_eq!((ran.code, installed.root().mounts().unwrap().len()), (0, 14));
    let (installed, ran) = flight(&Orders { variant: Variant::Nothing, ..as_root() }, &[]);
    assert_eq!((ran.code, installed.root().images().unwrap().len()), (0, 0));
    // The real program does both of itself anywhere else.
    let (installed, ran) = flight(&as_root(), &["--path", "/srv/nest"]);
    assert_eq!((ran.code, installed.root().mounts().unwrap().len()), (0, 14));
}

#[test]
fn si_06_it_flies_where_the_configuration_says() {
    let installed = installed(&as_root());
    installed.root().write("/etc/penguins-eggs.d/custom.yaml", "remaster:\n  work_dir: \"/srv/eggs\"\n").unwrap();
    assert_eq!(run(&installed, &["remaster"]).code, 0);
    assert!(installed.root().images().unwrap().is_empty());
    assert_eq!(installed.root().at("/srv/eggs").read_dir().unwrap().count(), 1);
}

#[test]
fn si_06_killed_in_flight_it_leaves_its_mounts() {
    let installed = installed(&Orders { hang_at: Some("identity".into()), ..as_root() });
    let mut child = command(&installed, &["remaster"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    assert!(lines.any(|line| line.unwrap() == "Task Execution: identity"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(installed.root().mounts().unwrap().len(), 14);
}

#[test]
fn si_06_crypted_needs_its_family_and_its_package() {
    for orders in [Orders { family: Some("fedora".into()), ..as_root() }, Orders { no_cryptsetup: true, ..as_root() }] {
        assert_eq!(flight(&orders, &["--crypted"]).1.code, 1);
    }
    let (installed, ran) = flight(&as_root(), &["--crypted"]);
    assert!(ran.code == 0 && ran.out.contains("passphrase: the usual one"), "it asks nobody");
    assert!(installed.root().images().unwrap()[0].contains("-crypted-"));
}
