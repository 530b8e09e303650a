//! Ctrl-C: once cancels the call, twice waits for nothing. A process of its own, because the signal is for all of it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod trial;

use pintle_cli::{Commands, Console, Options, Parsed, Terminal};
use pintle_core::{Caller, Door};
use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
};

#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Buffer {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    /// Once `word` has been written.
    async fn says(&self, word: &str) {
        while !self.text().contains(word) {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }
}

fn interrupt() {
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::INT).unwrap();
}

/// Runs the command, lets `disturb` happen beside it, and gives code and standard error.
async fn disturbed(words: &[&str], disturb: impl AsyncFnOnce(&Buffer, &Buffer)) -> (u8, String) {
    let catalog = trial::catalog();
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let specs = catalog.specs(Door::People).map(|(_, spec)| spec);
    let Parsed::Call(call) = Commands::new("trial", "", specs).parse(&words).unwrap() else { panic!("a call") };
    let (out, err) = (Buffer::default(), Buffer::default());
    let console = Console::new(
        Box::new(out.clone()),
        Box::new(err.clone()),
        Box::new(io::empty()),
        Terminal::default(),
        &Options::default(),
    );
    let console = Arc::new(console);
    let caller = Caller { door: Door::People, principal: "somebody".into() };
    let (code, ()) = tokio::join!(pintle_cli::run(&catalog, &call, &console, caller), disturb(&out, &err));
    (code, err.text())
}

#[tokio::test]
async fn the_first_cancels_and_the_second_waits_for_nothing() {
    let (code, told) = disturbed(&["say", "text", "--wait"], async |out, _| {
        out.says("waiting").await;
        interrupt();
    })
    .await;
    assert_eq!(code, 130);
    assert!(told.starts_with("cancelling; once more to wait for nothing\nerror: "), "{told}");

    let (code, told) = disturbed(&["stubborn"], async |out, err| {
        out.says("waiting").await;
        interrupt();
        err.says("cancelling").await;
        interrupt();
    })
    .await;
    assert_eq!((code, told.as_str()), (130, "cancelling; once more to wait for nothing\n"));
}
