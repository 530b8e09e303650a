//! The one line that is read, and the call that it asks for.

use std::{io, time::Duration};

use pintle_packfile::{Elevate, Pack};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::refused::Refused;

/// More than every argument vector that the kernel takes needs as JSON.
const LINE_LIMIT: usize = 1024 * 1024;
/// Whoever calls has the line ready; this is for one who never sends it.
const LINE_WAIT: Duration = Duration::from_secs(30);
/// Letters of the name of a pack or verb.
const NAME_LIMIT: usize = 64;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    arguments: Map<String, Value>,
}

/// A call that passed every check of the pack.
pub struct Call {
    /// The arguments of the program.
    pub argv: Vec<String>,
    /// How long it may take to end after a TERM.
    pub grace: Duration,
    /// What it has for itself on this machine while it runs.
    pub lane: Option<String>,
}

impl Call {
    pub fn checked(pack: &Pack, verb: &str, arguments: &Map<String, Value>) -> Result<Self, Refused> {
        let name = format!("{}.{verb}", pack.name);
        let verb = pack.verb(verb).ok_or_else(|| Refused::NoVerb { pack: pack.name.clone(), verb: verb.to_owned() })?;
        if !verb.may_elevate() {
            return Err(Refused::NotElevated(name));
        }
        let arguments = verb.check(arguments).map_err(Refused::Arguments)?;
        let rules = verb.rules(&arguments);
        if rules.elevate != Elevate::Always {
            return Err(Refused::NotElevated(name));
        }
        Ok(Self { argv: verb.argv(&arguments), grace: rules.grace, lane: rules.lane.clone() })
    }
}

/// The pack and the verb of `PACK.VERB`. Nothing in them can lead out of a folder.
pub fn names(call: &str) -> Result<(&str, &str), Refused> {
    let plain = |name: &str| {
        (1..=NAME_LIMIT).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte))
    };
    match call.split_once('.') {
        Some((pack, verb)) if plain(pack) && plain(verb) => Ok((pack, verb)),
        _ => Err(Refused::Name(call.chars().take(2 * NAME_LIMIT).flat_map(char::escape_debug).collect())),
    }
}

/// Reads the line from standard input and leaves the input open.
pub fn read() -> Result<Map<String, Value>, Refused> {
    let stdin = io::stdin();
    let wait = Timespec { tv_sec: LINE_WAIT.as_secs().cast_signed(), tv_nsec: 0 };
    let mut line = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&wait)) {
            Ok(0) => return Err(Refused::Request("did not come in time")),
            Ok(_) => {}
            Err(Errno::INTR) => return Err(Refused::Request("was broken off by a signal")),
            Err(error) => return Err(Refused::system("waiting for the request")(error)),
        }
        let count = match rustix::io::read(&stdin, &mut chunk) {
            Ok(count) => count,
            Err(Errno::INTR | Errno::AGAIN) => continue,
            Err(error) => return Err(Refused::system("reading the request")(error)),
        };
        let end = chunk[..count].iter().position(|byte| *byte == b'\n');
        line.extend_from_slice(&chunk[..end.unwrap_or(count)]);
        if line.len() > LINE_LIMIT {
            return Err(Refused::Request("is too long"));
        }
        match end {
            Some(end) if end + 1 < count => return Err(Refused::Request("goes on after its line")),
            Some(_) => return parsed(&line),
            None if count == 0 => return Err(Refused::Request("ended before its line did")),
            None => {}
        }
    }
}

fn parsed(line: &[u8]) -> Result<Map<String, Value>, Refused> {
    let request: Request = serde_json::from_slice(line).map_err(Refused::Json)?;
    Ok(request.arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s_02_only_plain_names_are_looked_for() {
        assert_eq!(names("eggs.remaster").unwrap(), ("eggs", "remaster"));
        for call in
            ["eggs", "eggs.", ".x", "../x.y", "eggs.a.b", "eggs./x", "e\0.x", "Eggs.x", "eggs.x y", &"a".repeat(99)]
        {
            assert!(matches!(names(call), Err(Refused::Name(_))), "{call:?}");
        }
    }

    #[test]
    fn s_33_a_request_is_one_object_of_arguments_and_nothing_else() {
        assert_eq!(parsed(br#"{"arguments": {"clone": true}}"#).unwrap()["clone"], true);
        for line in [&b""[..], b"[]", b"{}", br#"{"arguments": []}"#, br#"{"arguments": {}, "argv": ["ell"]}"#, b"\xff"]
        {
            assert!(matches!(parsed(line), Err(Refused::Json(_))), "{line:?}");
        }
    }
}
