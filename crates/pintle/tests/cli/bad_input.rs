//! Whatever is wrong is named, with its place and a remedy; the exit code fits, and no file has changed.

use crate::home::Home;
use std::{
    fmt::Write as _,
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    process::Stdio,
};

/// Runs each line and writes down what it says, as a person would see it.
fn transcript(home: &Home, lines: &[&[&str]]) -> String {
    let before = home.files();
    let mut told = String::new();
    for words in lines {
        let shown = words.iter().map(|word| if word.len() > 60 { "…" } else { word });
        let ran = home.run(*words);
        let _ = writeln!(told, "$ pintle {}", shown.collect::<Vec<_>>().join(" "));
        let _ = write!(told, "{}{}", ran.out, ran.err);
        let _ = writeln!(told, "exit {}\n", ran.code);
        assert_ne!(ran.code, 0, "{words:?}: {}", ran.out);
    }
    assert_eq!(home.files(), before, "no file changed");
    home.plain(&told)
}

/// Compares with the golden file; `PINTLE_BLESS=1` writes it anew.
#[track_caller]
fn golden(name: &str, told: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli").join(name);
    if std::env::var_os("PINTLE_BLESS").is_some() {
        fs::write(&path, told).unwrap();
    }
    let known = fs::read_to_string(&path).unwrap_or_default();
    let differs = told.lines().zip(known.lines()).find(|(told, known)| told != known);
    assert!(told == known, "{}: {differs:?}\n{told}", path.display());
}

#[test]
fn cw_17_every_message_names_the_thing_the_place_and_a_remedy() {
    let home = Home::with_project();
    let deep = format!("{{\"path\": {}{}}}", "[".repeat(1000), "]".repeat(1000));
    home.write("work/bad/charly.yml", "version: 2026.100.0000\nweb:\n  box: {base: [}\n");
    home.write("work/new/charly.yml", "version: 2999.001.0000\n");
    home.write("outside/secret.txt", "secret");
    symlink(home.path().join("outside"), home.work().join("link")).unwrap();
    home.write("typo.toml", "[[rule]]\ntoool = \"box.*\"\nallow = true\n");
    home.write("empty.toml", "[[rule]]\ntool = \"box.*\"\n");
    let token = home.write("token", "a-long-enough-token-for-this\n");
    fs::set_permissions(token, fs::Permissions::from_mode(0o644)).unwrap();
    let deep_words = ["call", "box.set", "--json", &deep];
    let lines: Vec<&[&str]> = vec![
        // Commands and tools that are not there.
        &["quickstrat"],
        &["aprove", "x"],
        &["box", "validate"],
        &["zzz"],
        &["charly", "bxo"],
        &["charly", "box", "valdate"],
        &["charly", "box.valdate"],
        &["call", "box.valdate"],
        &["mcp", "srve"],
        &["completions", "tcsh"],
        &["docs-data", "x"],
        // Arguments.
        &["charly", "box", "new", "box"],
        &["charly", "box", "new", "box", "db", "--bas", "x"],
        &["charly", "box", "new", "box", "db", "--base"],
        &["charly", "box", "new", "box", "db", "x", "--base", "y"],
        &["charly", "box", "write", "a", "--content", "x", "--encoding", "base46"],
        &["charly", "box", "inspect", "-x"],
        &["call", "box.inspect", "bxo=web"],
        &["call", "box.inspect"],
        &["call", "box.inspect", "web"],
        &["call", "box.inspect", "box=web", "image=web"],
        &["call", "box.new.box", "--json", "{\"name\": 5, \"base\": [], \"candies\": \"a\", \"wrong\": 1}"],
        &["call", "box.set", "--json", "{\"path\": \"a\", \"value\": 1e400}"],
        &["call", "box.set", "--json", "{\"path\": \"a\\u0000b\", \"value\": \"1\"}"],
        &["call", "box.set", "--json", "{"],
        &["call", "box.set", "--json", "@no/such/file"],
        &deep_words,
        &["charly", "box", "validate", "--deadline", "5"],
        &["charly", "box", "validate", "--output", "xml"],
        &["charly", "--outptu", "json", "box", "validate"],
        // Things that are not there, and paths that leave the project.
        &["charly", "box", "inspect", "wbe"],
        &["charly", "box", "add-candy", "web", "none"],
        &["charly", "box", "cat", "none.txt"],
        &["charly", "box", "cat", "../outside/secret.txt"],
        &["charly", "box", "cat", "/etc/passwd"],
        &["charly", "box", "cat", "link/secret.txt"],
        &["charly", "box", "write", "link/new.txt", "--content", "x"],
        &["charly", "box", "new", "box", "web", "--base", "scratch"],
        &["charly", "box", "new", "project", "."],
        &["charly", "box", "new", "project", "/proc/none/project"],
        &["charly", "-C", "/no/such/folder", "box", "validate"],
        // Projects that do not hold.
        &["charly", "-C", "bad", "box", "validate"],
        &["charly", "-C", "bad", "box", "set", "web.box.base", "scratch"],
        &["charly", "-C", "new", "box", "validate"],
        // The server.
        &["mcp", "serve", "--stdio", "--listen", "127.0.0.1:0"],
        &["mcp", "serve", "--read-only", "--strict-read-only"],
        &["mcp", "serve", "--stdio", "--toolset", "chraly"],
        &["mcp", "serve", "--stdio", "--toolset", "deploy"],
        &["mcp", "serve", "--stdio", "--toolset", "charly,"],
        &["mcp", "serve", "--stdio", "--tools", "box.lst.*"],
        &["mcp", "serve", "--stdio", "--tools", "box.["],
        &["mcp", "serve", "--stdio", "--tools", "box.valdate"],
        &["mcp", "serve", "--stdio", "--name-style", "camel"],
        &["mcp", "serve", "--stdio", "--policy", "../typo.toml"],
        &["mcp", "serve", "--stdio", "--policy", "../empty.toml"],
        &["mcp", "serve", "--stdio", "--policy", "../none.toml"],
        &["mcp", "serve", "--stdio", "--audit", "/no/such/folder/audit"],
        &["mcp", "serve", "--listen", "nonsense"],
        &["mcp", "serve", "--listen", ":0"],
        &["mcp", "serve", "--listen", "127.0.0.1:0", "--path", "mcp"],
        &["mcp", "serve", "--listen", "127.0.0.1:0", "--token-file", "../token"],
        &["mcp", "serve", "--listen", "127.0.0.1:0", "--token-file", "../none"],
        &["mcp", "serve", "--listen", "127.0.0.1:0", "--allowed-origin", "example.org"],
        &["mcp", "serve", "--stdoi"],
        // The house.
        &["approve", "nothere"],
        &["deny", "../../key"],
        &["tools", "--toolset", "chraly"],
        &["link", "/no/such/folder"],
    ];
    let told = transcript(&home, &lines);
    golden("messages.txt", &told);
    assert!(!told.contains("secret\n"), "what lies outside stays outside");
}

#[test]
fn a_port_in_use_is_named() {
    let home = Home::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let busy = home.run(["mcp", "serve", "--listen", &address]);
    assert_eq!(busy.code, 1);
    let told = format!("error: listening on {address}: address already in use\nhint: ");
    assert!(busy.err.starts_with(&told), "{}", busy.err);
}

#[test]
fn words_that_are_not_utf_8_are_refused() {
    use std::os::unix::ffi::OsStrExt;
    let home = Home::new();
    let odd = std::ffi::OsStr::from_bytes(b"a\xff");
    let ran = home.run([std::ffi::OsStr::new("charly"), odd]);
    assert_eq!((ran.code, ran.err.as_str()), (64, "error: argument 2 is not UTF-8: `a\u{fffd}`\n"));
}

#[test]
fn ch_148_many_writers_at_once_lose_nothing() {
    let home = Home::with_project();
    home.run(["charly", "box", "new", "candy", "svc"]).good();
    let package = |index: usize| format!("package-{index}");
    let children: Vec<_> = (0..12)
        .map(|index| home.command(["charly", "candy", "add-rpm", "svc", &package(index)]).stdout(Stdio::null()).spawn())
        .collect();
    for child in children {
        assert!(child.unwrap().wait().unwrap().success());
    }
    let text = fs::read_to_string(home.work().join("candy/svc/charly.yml")).unwrap();
    for index in 0..12 {
        assert!(text.contains(&format!("- {}\n", package(index))), "{index}: {text}");
    }
    assert!(home.run(["charly", "box", "validate"]).good().starts_with("valid"));
}

#[test]
fn no_home_is_told_with_what_to_do() {
    let home = Home::new();
    // This user has an entry in the file of users, or the message says what to set.
    let ran =
        crate::home::done(home.command(["charly", "version"]).env_remove("HOME").env("XDG_STATE_HOME", home.path()));
    assert_eq!(ran.code, 0, "{}", ran.err);
}
