//! `box.new.project`

use crate::{
    edit::{Edited, diff, lane},
    host::{Folder, Granted, Host, Inside, PROJECT_FILE, Target, Write, off_thread, shown},
};
use pintle_core::{Call, Change, Code, Digest, Door, Effect, Failure, Notice, Permit, Prepared, Scope, Stop};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::PathBuf;

/// Start a project: charly.yml, candy/ and .gitignore. Files that are there stay.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct NewProject {
    /// Its folder, made if need be
    #[schemars(extend("x-cli" = {"positional": 1}))]
    dir: String,
    /// Only show the diff
    #[schemars(extend("x-cli" = {"common": true}))]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    dry_run: bool,
}

/// A project that is ready to be made.
#[derive(Debug)]
pub(crate) struct Ready {
    folder: Folder,
    below: PathBuf,
    text: String,
    edited: Edited,
}

const IGNORED: &str = "/.build/\n/.check/\n";

impl Change for NewProject {
    type Host = Host;
    type Ready = Ready;
    type Answer = Edited;
    const NAME: &'static str = "box.new.project";
    const WORST: Effect = Effect::WRITE;
    const ALIASES: &'static [&'static str] = &["image.new.project"];

    async fn prepare(self, host: &Host, _: &Call) -> Result<Prepared<Ready>, Stop> {
        let host = host.clone();
        Ok(off_thread(move || prepare(&host, &self)).await?)
    }

    async fn commit(host: &Host, ready: Ready, permit: &Permit, call: &Call) -> Result<Edited, Stop> {
        if ready.edited.dry_run {
            return Ok(ready.edited);
        }
        let files = Files::granted(&ready, permit)?;
        let host = host.clone();
        let (mut edited, adopted) = off_thread(move || make(&host, ready, &files)).await?;
        // A command ends here, and the next one knows of no project that this one has made.
        edited.note = (call.caller().door == Door::Agents).then(|| match adopted {
            true => format!("calls without `project` act on {} from now on", edited.project),
            false => format!("name it with `project: {}`; calls without act on another one", edited.project),
        });
        if adopted {
            call.notify(Notice::ResourcesChanged);
        }
        Ok(edited)
    }
}

fn prepare(host: &Host, new: &NewProject) -> Result<Prepared<Ready>, Failure> {
    let (folder, below) = host.place_for_project(&new.dir)?;
    let root = shown(&folder.path().join(&below));
    if folder.path().join(&below).join(PROJECT_FILE).symlink_metadata().is_ok() {
        return Err(Failure::new(Code::AlreadyExists, format!("`{root}` has a {PROJECT_FILE} already"))
            .hint("it is a project: name it with the argument `project`, or choose another folder"));
    }
    let text = format!(
        "# Boxes of this project. Their candies are in candy/NAME/{PROJECT_FILE}.\nversion: {}\ndefaults:\n  registry: localhost\n  tag: auto\n",
        crate::version()
    );
    let edited = Edited {
        project: root.clone(),
        file: PROJECT_FILE.to_owned(),
        sha256: Digest::of(&text).to_string(),
        diff: diff(PROJECT_FILE, None, Some(text.as_bytes())).0,
        changed: true,
        created: true,
        dry_run: new.dry_run,
        warnings: Vec::new(),
        note: None,
    };
    let writes = !new.dry_run;
    Ok(Prepared {
        effect: if writes { Effect::WRITE } else { Effect::READ },
        scopes: if writes { vec![Scope::path(root.clone())] } else { Vec::new() },
        lanes: if writes { vec![lane(&root)] } else { Vec::new() },
        preview: format!("new project in {root}: {PROJECT_FILE}, candy/, .gitignore\n{}", edited.diff),
        seen: Digest::of_parts([root.as_bytes(), text.as_bytes()]),
        confirm: None,
        ready: Ready { folder, below, text, edited },
    })
}

/// What is to be made, each with its proof.
struct Files {
    main: Granted,
    ignore: Option<Granted>,
    candy: Granted,
}

impl Files {
    fn granted(ready: &Ready, permit: &Permit) -> Result<Self, Failure> {
        let locate = |name: &str| -> Result<Target, Failure> {
            ready.folder.locate_to_write(&Inside::of(shown(&ready.below.join(name))))
        };
        let grant = |target: Target| Granted::of(permit, &ready.folder, target);
        let ignore = locate(".gitignore")?;
        Ok(Self {
            main: grant(locate(PROJECT_FILE)?)?,
            ignore: if ignore.exists() { None } else { Some(grant(ignore)?) },
            candy: grant(locate("candy")?)?,
        })
    }
}

/// Makes the files, or none of them. True with the answer when calls without `project` mean it from now on.
fn make(host: &Host, ready: Ready, files: &Files) -> Result<(Edited, bool), Failure> {
    let Ready { folder, below, text, edited } = ready;
    let writer = host.writer();
    let write = |granted: &Granted, text: &str| {
        writer.write(&folder, granted, &Write { bytes: text.as_bytes(), mode: None, expected: None })
    };
    write(&files.main, &text)?;
    let rest = || {
        if let Some(ignore) = &files.ignore {
            write(ignore, IGNORED)?;
        }
        writer.make_folder(&folder, &files.candy)
    };
    if let Err(failure) = rest() {
        if let Some(ignore) = &files.ignore {
            // It may not have come to be written.
            let _ = writer.remove(&folder, ignore, &Digest::of(IGNORED));
        }
        writer.remove(&folder, &files.main, &Digest::of(&text))?;
        return Err(failure);
    }
    let adopted = host.adopt(&folder.path().join(below));
    Ok((edited, adopted))
}
