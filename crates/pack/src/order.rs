//! One call of a verb, ready to run: what, as whom, and what it will do as a person reads it.

use crate::{
    guard,
    host::Host,
    listing,
    load::Loaded,
    places::Places,
    privilege::{self, Way},
    program::Found,
    run,
};
use pintle_core::{Call, Digest, Effect, Failure, Lane, Scope};
use pintle_packfile::{Act, Arguments, Effects, Elevate, Folder, Preview, Rules, Verb};
use std::path::PathBuf;

/// Most bytes that a plan shows of what a verb said that was run for it.
const SHOWN: usize = 6 * 1024;

/// One call of a verb, ready to run.
pub(crate) struct Order<'a> {
    pub(crate) host: &'a Host,
    pub(crate) loaded: &'a Loaded,
    pub(crate) verb: &'a Verb,
    pub(crate) arguments: &'a Arguments,
    pub(crate) rules: Rules,
    pub(crate) found: Found,
    pub(crate) way: Way,
}

/// What a call will do, for policy and people to judge.
pub(crate) struct Outlook {
    pub(crate) effect: Effect,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) lanes: Vec<Lane>,
    pub(crate) preview: String,
    pub(crate) seen: Digest,
}

impl<'a> Order<'a> {
    /// Finds the program and the way by which it runs. Nothing but the question who the program is has been started.
    ///
    /// # Errors
    /// Code `unavailable` without a program or without root's rights, `denied` where it must not run like this.
    pub(crate) async fn new(
        host: &'a Host,
        loaded: &'a Loaded,
        verb: &'a Verb,
        arguments: &'a Arguments,
        rules: Rules,
    ) -> Result<Self, Failure> {
        privilege::check(host.surroundings(), loaded, verb, rules.elevate)?;
        let as_root = rules.elevate == Elevate::Always;
        let found = host.finder().find(loaded, host.surroundings(), as_root).await?;
        let way = privilege::way(host.surroundings(), loaded, verb, rules.elevate, &found)?;
        // The helper looks for itself; another program of the operator's own is theirs to answer for.
        if as_root && way == Way::Direct && !found.by_operator {
            guard::check(&loaded.pack.program.guard)?;
        }
        Ok(Self { host, loaded, verb, arguments, rules, found, way })
    }

    /// The program and its arguments, as it gets them.
    pub(crate) fn argv(&self) -> Vec<String> {
        let program = self.found.path.display().to_string();
        std::iter::once(program).chain(self.verb.argv(self.arguments)).collect()
    }

    /// The same with what must not be shown masked.
    pub(crate) fn shown(&self) -> Vec<String> {
        let mut argv = serde_json::Value::from(self.argv());
        self.loaded.pack.mask.value(&mut argv);
        let words = argv.as_array().into_iter().flatten().filter_map(serde_json::Value::as_str);
        words.map(str::to_owned).collect()
    }

    /// As messages name it: `eggs remaster`.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.loaded.pack.name, self.verb.words.join(" ")).trim_end().to_owned()
    }

    /// The folder in which the program runs; none for the caller's own.
    pub(crate) fn directory(&self) -> Option<PathBuf> {
        let elevated = self.rules.elevate == Elevate::Always;
        (elevated || self.verb.folder == Folder::Root).then(|| PathBuf::from("/"))
    }

    pub(crate) fn places(&self) -> Places<'_> {
        Places::new(self.loaded, self.arguments, self.host.surroundings())
    }

    /// What it will do. Looks at files and mounts, and runs a verb that only reads where the pack says so.
    ///
    /// # Errors
    /// When that verb fails, which asks for the same as this one, or mounts cannot be looked at.
    pub(crate) async fn outlook(&self, call: &Call) -> Result<Outlook, Failure> {
        let places = self.places();
        let mut text = format!("{}\n{}", self.shown().join(" "), self.way.told(self.host.surroundings()));
        if let Some(note) = &self.rules.preview.note {
            text.push_str(&format!("\n{note}"));
        }
        text.push_str(&self.files(&places)?);
        text.push_str(&self.mounts(&places)?);
        text.push_str(&self.rehearsal(call).await?);
        let way = format!("{:?}", self.way);
        let state = self.found.state();
        let seen =
            Digest::of_parts([text.as_bytes(), way.as_bytes(), state.as_bytes(), self.argv().join("\0").as_bytes()]);
        Ok(Outlook {
            effect: effect_of(&self.rules.effects),
            scopes: vec![self.scope(&places)?],
            lanes: self.lanes(&places),
            preview: text,
            seen,
        })
    }

    fn files(&self, places: &Places<'_>) -> Result<String, Failure> {
        let mut text = String::new();
        for template in &self.rules.preview.list {
            let Some((told, real)) = places.path(template)? else { continue };
            let files = match listing::of_path(&real) {
                Ok(files) => files,
                Err(error) => {
                    text.push_str(&format!("\n{}", Failure::io(format!("{told} cannot be looked at"), &error).message));
                    continue;
                }
            };
            text.push_str(&format!("\n{told}:{}", if files.is_empty() { " none" } else { "" }));
            for file in files {
                text.push_str(&format!("\n  {}  {}", listing::size(file.size), file.path.display()));
            }
        }
        Ok(text)
    }

    fn mounts(&self, places: &Places<'_>) -> Result<String, Failure> {
        let Some(template) = &self.rules.preview.mounts_below else { return Ok(String::new()) };
        let Some((told, _)) = places.path(template)? else { return Ok(String::new()) };
        let mounts = places.mounts(template)?;
        let mut text = format!("\nmounts below {told}:{}", if mounts.is_empty() { " none" } else { "" });
        for mount in mounts.iter() {
            text.push_str(&format!("\n  {}  {} ({})", mount.point.display(), mount.source, mount.kind));
        }
        Ok(text)
    }

    /// What another verb says of the same arguments: what a costume would do, say.
    async fn rehearsal(&self, call: &Call) -> Result<String, Failure> {
        let Preview { run: Some(name), .. } = &self.rules.preview else { return Ok(String::new()) };
        let Some(verb) = self.loaded.pack.verb(name) else { return Ok(String::new()) };
        let given = self.arguments.to_map().into_iter().filter(|(name, _)| verb.options.contains_key(name)).collect();
        let arguments = verb.check(&given).map_err(|refusals| crate::tool::refused(&self.name(), &refusals))?;
        let rules = verb.rules(&arguments).into_owned();
        if rules.effects.changes() {
            return Ok(String::new());
        }
        let order = Box::pin(Order::new(self.host, self.loaded, verb, &arguments, rules)).await?;
        let ran = Box::pin(run::run(&order, call, false)).await?;
        if let Some(failure) = ran.failure {
            return Err(failure);
        }
        let (said, _) = ran.said.both.within(SHOWN);
        let said: Vec<String> = said.lines().map(|line| format!("  {line}")).collect();
        Ok(format!("\n{} says:\n{}", order.shown().join(" "), said.join("\n")))
    }

    /// Where it acts, as policy files name it: the folder that is its own, else the whole machine.
    fn scope(&self, places: &Places<'_>) -> Result<Scope, Failure> {
        let rules = &self.rules;
        let folder = rules.success.mounts_below.as_ref().or(rules.preview.mounts_below.as_ref());
        let folder = folder.map(|template| places.path(template)).transpose()?.flatten();
        Ok(Scope::path(folder.map_or_else(|| "/".to_owned(), |(told, _)| told)))
    }

    fn lanes(&self, places: &Places<'_>) -> Vec<Lane> {
        let at = places.root().folder().map(|folder| format!("{}:", folder.display())).unwrap_or_default();
        let name = |lane: &String| Lane::exclusive(format!("pack:{}:{at}{lane}", self.loaded.pack.name));
        self.rules.lane.iter().map(name).collect()
    }
}

/// The effects of a pack in the words of the house.
pub(crate) fn effect_of(effects: &Effects) -> Effect {
    let act = |act: &Act| match act {
        Act::Write => Effect::WRITE,
        Act::Destroy => Effect::DESTROY,
        Act::Execute => Effect::EXECUTE,
        Act::Disclose => Effect::DISCLOSE,
    };
    let all = effects.acts.iter().map(act).fold(Effect::READ, Effect::and);
    let all = if effects.idempotent { all.idempotent() } else { all };
    if effects.open_world { all.open_world() } else { all }
}
