//! `pintle check` and `pintle mcp` as people and CI systems meet them: the built program, files, exit codes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test that cannot go on fails, a skip is told"
)]

#[path = "../cli/home.rs"]
#[expect(dead_code, reason = "the tests of the command line use the rest")]
mod home;
#[path = "../clients/served.rs"]
#[expect(dead_code, reason = "the clients' tests use the rest")]
mod served;
#[path = "../clients/tools.rs"]
mod tools;

mod bad_input;
mod endings;
mod fixture;
mod forms;
mod init;
mod manual;
mod memory;
mod others;
mod probe;
mod providers;
mod quickstart;
mod records;
mod reports;
mod secrets;
