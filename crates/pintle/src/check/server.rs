//! Which server is meant: the flags that `check` and `mcp` share.

use clap::{Arg, ArgAction, ArgMatches, ValueHint, builder::PossibleValuesParser};
use pintle_check::{Server, resolve};
use pintle_client::{Error, Fault, Headers, Http};
use pintle_core::{Code, Failure, Redactor};
use pintle_process::SpawnError;
use std::collections::BTreeMap;

const HEADING: &str = "Server";

/// The flags.
pub(crate) fn flags() -> Vec<Arg> {
    let value = |id: &'static str, name: &'static str, help: &'static str| {
        Arg::new(id).long(id).value_name(name).action(ArgAction::Set).help(help)
    };
    let all = [
        value(
            "stdio",
            "CMD",
            "Start this command and speak on its standard streams; quotes group words, no shell runs",
        )
        .value_hint(ValueHint::CommandString)
        .conflicts_with("url"),
        value("url", "URL", "Reach a server on the network").value_hint(ValueHint::Url),
        value("transport", "WORD", "With --url: auto, http (Streamable HTTP) or sse (its forerunner) [default: auto]")
            .value_parser(PossibleValuesParser::new(["auto", "http", "sse"]))
            .hide_possible_values(true),
        value("header", "NAME: VALUE", "With --url: send this header; ${env:NAME} and ${file:PATH} are kept secret")
            .action(ArgAction::Append),
        value("env", "NAME[=VALUE]", "With --stdio: set this variable; without VALUE it is ours, kept secret")
            .action(ArgAction::Append),
    ];
    all.into_iter().map(|arg| arg.help_heading(HEADING)).collect()
}

/// The server that was named, if one was.
///
/// # Errors
/// Code `invalid_argument`: a command, URL, header or variable that cannot be used.
pub(crate) fn named(matches: &ArgMatches) -> Result<Option<Server>, Failure> {
    let word = |id: &str| matches.get_one::<String>(id).map(String::as_str);
    let words = |id: &str| matches.get_many::<String>(id).into_iter().flatten().map(String::as_str);
    let misplaced = |flags: &[&str], wanted: &str| match flags.iter().find(|flag| words(flag).next().is_some()) {
        Some(flag) => Err(wrong(format!("`--{flag}` needs `--{wanted}`"))),
        None => Ok(()),
    };
    let mut server = match (word("stdio"), word("url")) {
        (Some(text), _) => {
            misplaced(&["transport", "header"], "url")?;
            let argv = argv("--stdio", text)?;
            let name = argv[0].rsplit('/').next().unwrap_or_default().to_owned();
            Server::stdio(name, argv)
        }
        (None, Some(text)) => {
            misplaced(&["env"], "stdio")?;
            let http = Http::new(text).map_err(|error| wrong(format!("`--url {text}`: {}", error.fault)))?;
            // A plan's URL may hold variables, the command line's is taken as it is.
            Server::url(http.url.host_str().unwrap_or_default(), text.replace("${", "$${"))
        }
        (None, None) => {
            misplaced(&["transport", "header"], "url")?;
            misplaced(&["env"], "stdio")?;
            return Ok(None);
        }
    };
    server.transport = word("transport").filter(|word| *word != "auto").unwrap_or_default().to_owned();
    for text in words("header") {
        let (name, value) = header(text)?;
        once("header", &mut server.headers, name, value)?;
    }
    for text in words("env") {
        let (name, value) = variable(text)?;
        once("env", &mut server.env, name, value)?;
    }
    Ok(Some(server))
}

/// The server that was named.
///
/// # Errors
/// As [`named`], and when none was.
pub(crate) fn demanded(matches: &ArgMatches) -> Result<Server, Failure> {
    named(matches)?.ok_or_else(|| wrong("no server is named").hint("give `--stdio CMD` or `--url URL`"))
}

/// The server with its secrets in place, and what masks them.
///
/// # Errors
/// Code `invalid_argument`: a secret that is not there.
pub(crate) fn resolved(server: &Server) -> Result<(Server, Redactor), Failure> {
    let (server, secrets) = resolve(server).map_err(wrong)?;
    let mut redactor = Redactor::new();
    for secret in &secrets {
        redactor.add(secret.name(), secret.expose());
    }
    redactor.prepare();
    Ok((server, redactor))
}

/// What a failure of the client means to people and, as its code, to a shell: 64 what was asked for makes no sense,
/// 1 nothing could be started, 130 interrupted, 2 the server failed.
pub(crate) fn failed(error: &Error, redactor: &Redactor) -> (Failure, u8) {
    let (code, exit) = match &error.fault {
        Fault::Usage(_) | Fault::Transport(_) => (Code::InvalidArgument, 64),
        Fault::Spawn(cause) if !matches!(**cause, SpawnError::System { .. }) => (Code::Unavailable, 1),
        Fault::Cancelled => (Code::Cancelled, 130),
        Fault::Timeout { .. } => (Code::TimedOut, 2),
        Fault::Unreachable(_) => (Code::Unreachable, 2),
        _ => (Code::Remote, 2),
    };
    let failure = Failure::new(code, redactor.text(&pintle_core::Foreign::one_line(&error.to_string())).into_owned());
    let failure = match &error.fault {
        Fault::Spawn(_) => failure.hint("is it installed, and on the PATH?"),
        Fault::Timeout { .. } => failure.hint("`--deadline` gives it more time"),
        Fault::Unauthorized { .. } => failure.hint("`--header 'Authorization: Bearer ${env:TOKEN}'` brings a token"),
        _ => failure,
    };
    (failure, exit)
}

/// Splits a command as a shell would.
///
/// # Errors
/// Code `invalid_argument`: a quote without end, or no word at all.
pub(crate) fn argv(flag: &str, text: &str) -> Result<Vec<String>, Failure> {
    match shlex::split(text) {
        Some(words) if words.first().is_some_and(|word| !word.is_empty()) => Ok(words),
        Some(_) => Err(wrong(format!("`{flag}` names no program"))),
        None => Err(wrong(format!("`{flag}` has a quote without end: `{text}`"))),
    }
}

fn wrong(message: impl Into<String>) -> Failure {
    Failure::new(Code::InvalidArgument, message)
}

fn header(text: &str) -> Result<(String, String), Failure> {
    let shape = || wrong(format!("`--header` must be NAME: VALUE, and `{}` is not", name_of(text)));
    let (name, value) = text.split_once(':').ok_or_else(shape)?;
    let (name, value) = (name.trim(), value.trim());
    Headers::default().add(name, "").map_err(|error| wrong(format!("`--header`: {}", error.fault)))?;
    Ok((name.to_owned(), value.to_owned()))
}

/// The part of a text that is no value.
fn name_of(text: &str) -> &str {
    text.split([':', '=', ' ']).next().unwrap_or_default()
}

fn variable(text: &str) -> Result<(String, String), Failure> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, value.to_owned()),
        None if std::env::var_os(text).is_some() => (text, format!("${{env:{text}}}")),
        None => {
            return Err(wrong(format!("`--env {text}`: the environment variable is not set"))
                .hint(format!("set it, or write `--env {text}=VALUE`")));
        }
    };
    if name.is_empty() || name.contains('\0') {
        return Err(wrong("`--env` must be NAME or NAME=VALUE"));
    }
    Ok((name.to_owned(), value))
}

fn once(flag: &str, all: &mut BTreeMap<String, String>, name: String, value: String) -> Result<(), Failure> {
    match all.insert(name.clone(), value) {
        Some(_) => Err(wrong(format!("`--{flag}` names `{name}` twice"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Command;
    use pintle_check::Address;

    fn given(words: &[&str]) -> Result<Option<Server>, String> {
        let command = Command::new("x").no_binary_name(true).args(flags());
        named(&command.try_get_matches_from(words).unwrap()).map_err(|failure| failure.message)
    }

    #[test]
    fn a_command_is_split_as_a_shell_would_and_never_expanded() {
        let server = given(&["--stdio", r#"srv 'two words' a\ b "c" $HOME ${X}"#]).unwrap().unwrap();
        let Address::Stdio(argv) = resolve(&server).unwrap().0.address else { panic!("not stdio") };
        assert_eq!(argv, ["srv", "two words", "a b", "c", "$HOME", "${X}"]);
        assert_eq!(given(&["--stdio", "a 'b"]).unwrap_err(), "`--stdio` has a quote without end: `a 'b`");
        assert_eq!(given(&["--stdio", " "]).unwrap_err(), "`--stdio` names no program");
    }

    #[test]
    fn what_belongs_to_the_other_transport_is_refused() {
        assert_eq!(given(&["--stdio", "x", "--header", "A: b"]).unwrap_err(), "`--header` needs `--url`");
        assert_eq!(given(&["--url", "http://h/", "--env", "A=b"]).unwrap_err(), "`--env` needs `--stdio`");
        assert_eq!(given(&["--transport", "sse"]).unwrap_err(), "`--transport` needs `--url`");
        assert_eq!(given(&[]), Ok(None));
    }

    #[test]
    fn refusals_show_no_value() {
        for (words, wanted) in [
            (["--url", "http://h/", "--header", "Token=hush"], "`--header` must be NAME: VALUE, and `Token` is not"),
            (["--url", "http://h/", "--header", "a b: hush"], "`--header`: header \"a b\": the name is not valid"),
            (["--stdio", "x", "--env", "=hush"], "`--env` must be NAME or NAME=VALUE"),
        ] {
            assert_eq!(given(&words).unwrap_err(), wanted);
        }
        assert!(given(&["--url", "ftp://h/"]).unwrap_err().starts_with("`--url ftp://h/`: bad URL"));
    }
}
