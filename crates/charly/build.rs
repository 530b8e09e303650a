//! Stamps the version: the time of the commit, never earlier than the date in `released`, and the commit itself.

use std::{env, fs, path::Path, process::Command};

fn main() {
    println!("cargo:rerun-if-env-changed=SOURCE_DATE_EPOCH");
    println!("cargo:rerun-if-changed=released");
    let root = Path::new("../..");
    // A debug build keeps the version it was first built with: it need not be compiled again after every commit.
    let released_build = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    for watched in ["HEAD", "logs/HEAD"].iter().filter(|_| released_build) {
        let path = root.join(".git").join(watched);
        if path.exists() {
            println!("cargo:rerun-if-changed={}", path.display());
        }
    }
    let released = fs::read_to_string("released").ok().and_then(|text| seconds_of(text.trim()));
    let built = env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.parse().ok());
    let committed = || git(root, &["log", "-1", "--format=%ct"])?.parse().ok();
    let seconds: i64 = built.or_else(committed).unwrap_or(0).clamp(released.unwrap_or(0), LATEST);
    println!("cargo:rustc-env=CHARLY_CALVER={}", calver(seconds));
    let commit = git(root, &["rev-parse", "--short=12", "HEAD"]).unwrap_or_default();
    println!("cargo:rustc-env=CHARLY_COMMIT={commit}");
}

/// The end of the year 9999: no later time has a version.
const LATEST: i64 = 253_402_300_799;

/// What git says, where there is a git and a repository.
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Seconds since 1970 of a `YYYY-MM-DDTHH:MM:SSZ`.
fn seconds_of(text: &str) -> Option<i64> {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<i64>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let days = (1970..year).map(length_of_year).sum::<i64>() + days_before(year, month) + day - 1;
    Some(days * 86_400 + number(11..13)? * 3600 + number(14..16)? * 60 + number(17..19)?)
}

/// `YYYY.DDD.HHMM` of a time.
fn calver(seconds: i64) -> String {
    let (mut day, time) = (seconds / 86_400, seconds % 86_400);
    let mut year = 1970;
    while day >= length_of_year(year) {
        day -= length_of_year(year);
        year += 1;
    }
    format!("{year}.{:03}.{:02}{:02}", day + 1, time / 3600, time % 3600 / 60)
}

fn length_of_year(year: i64) -> i64 {
    if is_leap(year) { 366 } else { 365 }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_before(year: i64, month: i64) -> i64 {
    let lengths = [31, if is_leap(year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    lengths.iter().zip(1..month).map(|(length, _)| length).sum()
}
