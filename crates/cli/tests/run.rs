//! What a call prints, where, and how it ends.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod trial;

use pintle_cli::{Commands, Console, Parsed, Terminal};
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
}

struct Full(io::ErrorKind);

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Ran {
    code: u8,
    out: String,
    err: String,
}

async fn with(words: &[&str], terminal: Terminal, typed: &'static str, out: Option<Box<dyn Write + Send>>) -> Ran {
    let catalog = trial::catalog();
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let specs = catalog.specs(Door::People).map(|(_, spec)| spec);
    let Parsed::Call(call) = Commands::new("trial", "", specs).parse(&words).unwrap() else { panic!("a call") };
    let (stdout, stderr) = (Buffer::default(), Buffer::default());
    let writer = out.unwrap_or_else(|| Box::new(stdout.clone()));
    let input = Box::new(io::BufReader::new(typed.as_bytes()));
    let console = Console::new(writer, Box::new(stderr.clone()), input, terminal, &call.options);
    let caller = Caller { door: Door::People, principal: "somebody".into() };
    let code = pintle_cli::run(&catalog, &call, &Arc::new(console), caller).await;
    Ran { code, out: stdout.text(), err: stderr.text() }
}

async fn piped(words: &[&str]) -> Ran {
    with(words, Terminal::default(), "", None).await
}

const TERMINAL: Terminal = Terminal { input: true, output: true, error: true, width: Some(40), colors: true };

#[tokio::test]
async fn data_goes_to_stdout_in_every_form() {
    let text = piped(&["list", "boxes"]).await;
    assert_eq!((text.code, text.out.as_str(), text.err.as_str()), (0, "NAME  STATE\nweb   up\ndb    down\n", ""));
    let json = piped(&["list", "boxes", "--output", "json"]).await;
    assert_eq!(json.out, "[\n  {\n    \"name\": \"web\"\n  },\n  {\n    \"name\": \"db\"\n  }\n]\n");
    assert_eq!(piped(&["list", "boxes", "--output", "yaml"]).await.out, "- name: web\n- name: db\n");
    assert_eq!(piped(&["say", "exact"]).await.out, "a\r\nb");
    assert_eq!(piped(&["picture"]).await.out, "a picture\n[image image/png, 3 bytes]\n");
}

#[tokio::test]
async fn failures_go_to_stderr_and_exit_codes_follow() {
    let failed = piped(&["validate"]).await;
    let told = "error: charly.yml has 2 errors\n  charly.yml:3:5: no base\n  charly.yml:4:1: no name\n";
    assert_eq!((failed.code, failed.out.as_str(), failed.err.as_str()), (1, "", told));
    let json = piped(&["validate", "--output", "json"]).await;
    assert_eq!((json.code, json.err.as_str()), (1, told));
    assert!(json.out.contains("\"outcome\": \"failed\"") && json.out.contains("\"line\": 3"), "{}", json.out);
    let partial = piped(&["ask-all"]).await;
    assert_eq!((partial.code, partial.out.as_str()), (3, "one answered\n"));
    assert_eq!(partial.err, "error: 1 of 2 clusters did not answer\nhint: try again\n");
    assert_eq!(piped(&["find", "issues"]).await.code, 0);
    assert_eq!(piped(&["find", "issues", "--fail-on", "findings"]).await.code, 2);
}

#[tokio::test]
async fn cw_19_a_call_gives_up_at_its_deadline() {
    let late = piped(&["say", "text", "--wait", "--deadline", "20ms"]).await;
    assert_eq!(late.code, 1);
    assert!(late.err.starts_with("error: say.text did not end within its limit of 20 ms\n"), "{}", late.err);
}

#[tokio::test]
async fn colours_are_for_terminals_and_never_the_only_sign() {
    let shown = with(&["list", "boxes"], TERMINAL, "", None).await;
    assert!(shown.out.starts_with("\u{1b}[1mNAME  STATE\u{1b}[0m\n"), "{:?}", shown.out);
    let plain = with(&["list", "boxes"], Terminal { colors: false, ..TERMINAL }, "", None).await;
    assert!(plain.out.starts_with("NAME  STATE\n"));
    let never = with(&["validate", "--color", "never"], TERMINAL, "", None).await;
    assert!(never.err.starts_with("error: ") && !never.err.contains('\u{1b}'));
    assert!(piped(&["validate", "--color", "always"]).await.err.contains("\u{1b}["));
    assert_eq!(with(&["foreign"], TERMINAL, "", None).await.out, "red\n", "nobody else commands the terminal");
}

#[tokio::test]
async fn a_change_is_asked_about_on_a_terminal_and_refused_without() {
    let nobody = piped(&["change"]).await;
    assert_eq!(nobody.code, 77);
    assert_eq!(nobody.out, "change will write:\n- old\n+ new\n");
    assert_eq!(
        nobody.err,
        "error: nothing was changed: this needs a yes first\nhint: run it on a terminal, or with --yes\n"
    );
    let json = piped(&["change", "--output", "json"]).await;
    assert!(json.code == 77 && json.out.contains("\"preview\": \"- old\\n+ new\\n\""), "{}", json.out);
    assert_eq!(piped(&["change", "--yes"]).await.out, "changed\n");
    let yes = with(&["change"], TERMINAL, "y\n", None).await;
    assert_eq!((yes.code, yes.out.as_str()), (0, "changed\n"));
    assert_eq!(yes.err, "`trial change` will write:\n- old\n+ new\ngo on? [y/N] ");
    for typed in ["n\n", "\n", ""] {
        let no = with(&["change"], TERMINAL, typed, None).await;
        assert_eq!((no.code, no.out.as_str()), (77, ""));
        assert!(no.err.ends_with("not confirmed\n"), "{}", no.err);
    }
}

#[tokio::test]
async fn rows_are_shown_as_they_come_and_once() {
    let text = piped(&["follow"]).await;
    assert_eq!((text.out.as_str(), text.err.as_str()), ("first\nsecond\n2 lines\n", "warning: mind the gap\n"));
    let json = piped(&["follow", "--output", "json", "--quiet"]).await;
    assert_eq!((json.out.as_str(), json.err.as_str()), ("[\n  \"first\",\n  \"second\"\n]\n", ""));
}

#[tokio::test]
async fn cw_18_what_needs_a_terminal_says_so_without_one() {
    let none = piped(&["attach"]).await;
    assert_eq!(none.code, 69);
    assert_eq!(none.err, "error: this needs a terminal, and there is none\nhint: use `say.text`\n");
    assert_eq!(with(&["attach"], TERMINAL, "", None).await.code, 0, "the program ran");
}

#[tokio::test]
async fn a_reader_that_goes_is_no_failure_and_a_full_disk_is() {
    let gone = with(&["list", "boxes"], Terminal::default(), "", Some(Box::new(Full(io::ErrorKind::BrokenPipe)))).await;
    assert_eq!((gone.code, gone.err.as_str()), (0, ""));
    let full =
        with(&["list", "boxes"], Terminal::default(), "", Some(Box::new(Full(io::ErrorKind::StorageFull)))).await;
    assert_eq!((full.code, full.err.as_str()), (1, "error: writing the answer: no storage space\n"));
}
