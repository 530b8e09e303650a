//! `link`

use crate::{house::House, personality::Personality};
use pintle_core::{
    Answer, Call, Change, Code, Digest, Doors, Effect, Failure, Permit, Prepared, Problem, Scope, Stop, View,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

/// Install the names of the toolsets as links to this program.
///
/// Only links of ours are replaced, and only names that do something in this build are made. `eggs` is left out unless
/// it is asked for: the real program has that name, and gets everything but `eggs mcp` passed on.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct LinkNames {
    /// Folder of the links, such as ~/.local/bin
    #[schemars(extend("x-cli" = {"positional": 1}))]
    dir: String,
    /// Install `eggs` as well
    #[serde(default)]
    eggs: bool,
}

/// The links.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Linked {
    /// The program that they lead to.
    program: String,
    /// Links that were made or replaced.
    made: Vec<String>,
    /// Links that were right already.
    kept: Vec<String>,
    /// What a person should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

impl Answer for Linked {
    fn view(&self) -> View {
        let lines = self.made.iter().map(|link| format!("{link} -> {}", self.program));
        let kept = self.kept.iter().map(|link| format!("{link} is right already"));
        View::text(lines.chain(kept).chain(self.notes.iter().cloned()).collect::<Vec<_>>().join("\n"))
    }
}

/// Links that are ready to be made.
#[derive(Debug)]
pub(crate) struct Ready {
    folder: PathBuf,
    program: PathBuf,
    links: Vec<(PathBuf, Found)>,
    notes: Vec<String>,
}

/// What stands in the place of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Nothing,
    Right,
    Older,
}

fn found(link: &Path, program: &Path) -> Result<Found, Failure> {
    match fs::symlink_metadata(link) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(Failure::io(format!("looking at `{}`", link.display()), &error)),
        Ok(metadata) if !metadata.is_symlink() => return Err(somebody_elses(link)),
        Ok(_) => {}
    }
    let target = fs::read_link(link).map_err(|error| Failure::io(format!("reading `{}`", link.display()), &error))?;
    if target == program {
        return Ok(Found::Right);
    }
    if target.file_name() == program.file_name() { Ok(Found::Older) } else { Err(somebody_elses(link)) }
}

fn somebody_elses(link: &Path) -> Failure {
    Failure::new(Code::AlreadyExists, format!("`{}` is there already and is not ours", link.display()))
}

/// What the name `eggs` in that folder does to the real one: nothing is put in front of it unsaid.
fn shadowing(folder: &Path) -> Vec<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let same = |known: &PathBuf| fs::canonicalize(known).is_ok_and(|known| known == folder);
    let place = std::env::split_paths(&path).position(|known| same(&known));
    let real = crate::eggs::real();
    let behind = |real: &Path| std::env::split_paths(&path).position(|known| Some(known.as_path()) == real.parent());
    let note = match (&real, place) {
        (None, _) => "there is no other eggs here: only `eggs mcp` does something".to_owned(),
        (Some(real), None) => format!("`{}` is not in PATH: `eggs` stays {}", folder.display(), real.display()),
        (Some(real), Some(place)) if behind(real).is_some_and(|behind| behind < place) => {
            format!("{} comes first in PATH: `eggs` stays that one", real.display())
        }
        (Some(real), Some(_)) => format!("`eggs` is this program now; all but `eggs mcp` goes to {}", real.display()),
    };
    vec![note]
}

fn prepare(dir: &str, eggs: bool) -> Result<Prepared<Ready>, Failure> {
    let folder = fs::canonicalize(dir).map_err(|error| {
        Failure::io(format!("opening the folder `{dir}`"), &error).hint("name a folder that is there and in your PATH")
    })?;
    let program = std::env::current_exe().map_err(|error| Failure::io("finding this program's own path", &error))?;
    let wanted = |personality: &Personality| match personality {
        // What it passes on works without a toolset.
        Personality::Eggs => eggs,
        other => other.works(),
    };
    let names = Personality::ALL.into_iter().filter(wanted);
    let mut links = Vec::new();
    let mut problems = Vec::new();
    for name in names.map(Personality::program) {
        let link = folder.join(name);
        match found(&link, &program) {
            Ok(found) => links.push((link, found)),
            Err(failure) => problems.push(Problem::new(failure.message)),
        }
    }
    if !problems.is_empty() {
        return Err(Failure::new(Code::AlreadyExists, "nothing was linked")
            .problems(problems)
            .hint("move it away, or choose another folder"));
    }
    let changes: Vec<_> = links.iter().filter(|(_, found)| *found != Found::Right).collect();
    let notes = if eggs { shadowing(&folder) } else { Vec::new() };
    let lines = changes.iter().map(|(link, _)| format!("{} -> {}", link.display(), program.display()));
    let preview: String = lines.chain(notes.iter().cloned()).map(|line| line + "\n").collect();
    Ok(Prepared {
        effect: if changes.is_empty() { Effect::READ } else { Effect::WRITE },
        scopes: vec![Scope::path(folder.display().to_string())],
        lanes: Vec::new(),
        seen: Digest::of(&preview),
        preview,
        confirm: None,
        ready: Ready { folder, program, links, notes },
    })
}

fn commit(ready: &Ready, permit: &Permit) -> Result<Linked, Failure> {
    let mut linked = Linked {
        program: ready.program.display().to_string(),
        made: Vec::new(),
        kept: Vec::new(),
        notes: ready.notes.clone(),
    };
    for (link, found) in &ready.links {
        let shown = link.display().to_string();
        if *found == Found::Right {
            linked.kept.push(shown);
            continue;
        }
        permit.check(Effect::WRITE, &Scope::path(shown.clone()))?;
        let failed = |error: io::Error| Failure::io(format!("linking `{shown}`"), &error);
        if *found == Found::Older {
            // Beside it first, then over it: the name is never missing.
            let beside = ready.folder.join(format!(".pintle-link-{}", std::process::id()));
            symlink(&ready.program, &beside).map_err(failed)?;
            fs::rename(&beside, link).map_err(failed)?;
        } else {
            symlink(&ready.program, link).map_err(failed)?;
        }
        linked.made.push(shown);
    }
    Ok(linked)
}

impl Change for LinkNames {
    type Host = House;
    type Ready = Ready;
    type Answer = Linked;
    const NAME: &'static str = "link";
    const WORST: Effect = Effect::WRITE.idempotent();
    const DOORS: Doors = Doors::People;

    async fn prepare(self, _: &House, _: &Call) -> Result<Prepared<Ready>, Stop> {
        Ok(prepare(&self.dir, self.eggs)?)
    }

    async fn commit(_: &House, ready: Ready, permit: &Permit, _: &Call) -> Result<Linked, Stop> {
        Ok(commit(&ready, permit)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_ours_is_replaced() {
        let temp = tempfile::tempdir().unwrap();
        let program = Path::new("/opt/pintle");
        let at = |name: &str| temp.path().join(name);
        symlink(program, at("right")).unwrap();
        symlink("/old/pintle", at("older")).unwrap();
        symlink("/usr/bin/true", at("other")).unwrap();
        fs::write(at("file"), "x").unwrap();
        assert_eq!(found(&at("none"), program).unwrap(), Found::Nothing);
        assert_eq!(found(&at("right"), program).unwrap(), Found::Right);
        assert_eq!(found(&at("older"), program).unwrap(), Found::Older);
        for name in ["other", "file"] {
            assert_eq!(found(&at(name), program).unwrap_err().code, Code::AlreadyExists, "{name}");
        }
    }
}
