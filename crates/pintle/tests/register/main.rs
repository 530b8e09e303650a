//! `pintle register` as a person types it, with the program itself as the server of the entries.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod home;
mod proof;
mod users;
