//! A test that cannot run here says so: a skip that looks like a pass would hide that nothing was shown.

use std::fs::OpenOptions;
use std::io::Write;

/// Tells the runner that the test of this thread is skipped, and why. The test then returns; `cargo xtask test` counts it
/// as skipped, and with `CI` set as failed.
///
/// # Panics
/// The file that the runner named cannot be written.
#[expect(clippy::print_stderr, clippy::expect_used, reason = "for tests: people see it, and untold it must not be")]
pub fn skip(reason: &str) {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("a test without name");
    eprintln!("skipped {name}: {reason}");
    if let Some(file) = std::env::var_os("PINTLE_SKIPS") {
        let mut file = OpenOptions::new().create(true).append(true).open(file).expect("the skips file opens");
        file.write_all(format!("{name}\t{reason}\n").as_bytes()).expect("the skip is told");
    }
}
