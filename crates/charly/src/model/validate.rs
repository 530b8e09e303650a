//! Every rule about a project, in one run.

use super::{
    fields, names,
    nodes::{Content, Entity, EntityKind, Model},
    report::{Report, kind},
    resolve, shapes,
    shapes::Shape,
    source::Source,
    steps,
};
use crate::{
    host::{Inside, PROJECT_FILE},
    version::{CalVer, version},
};
use pintle_check::Registry;
use pintle_yaml::Node;
use std::collections::HashMap;

/// Reads a project for those who want to know what is in it, not what is wrong with it.
#[must_use]
pub fn read(sources: &[Source]) -> Model<'_> {
    Model::read(sources, &mut Report::default())
}

/// Reads and judges a project.
#[must_use]
pub fn validate(sources: &[Source]) -> (Model<'_>, Report) {
    let mut report = Report::default();
    let model = Model::read(sources, &mut report);
    for source in sources {
        if let Ok(tree) = &source.tree {
            directives(&source.file, tree.root(), &mut report);
        }
    }
    unique_names(&model, &mut report);
    let registry = Registry::new();
    for entity in &model.entities {
        judge_name(entity, &mut report);
        judge_fields(entity, &mut report);
        let probes = judge_steps(entity, &registry, &mut report);
        match entity.kind {
            EntityKind::Box => judge_box(&model, entity, &mut report),
            EntityKind::Candy => judge_candy(&model, entity, probes, &mut report),
            EntityKind::Pod => {}
        }
    }
    report.sort();
    (model, report)
}

/// The version of a file, if it is newer than this program can read.
#[must_use]
pub fn newer(source: &Source) -> Option<(Node<'_>, CalVer)> {
    let root = source.tree.as_ref().ok()?.root();
    let node = root.get("version")?;
    let theirs = CalVer::parse(node.source_text()?)?;
    (Some(theirs) > CalVer::parse(version())).then_some((node, theirs))
}

fn directives(file: &str, root: Node<'_>, report: &mut Report) {
    let main = file == PROJECT_FILE;
    for (key, value) in root.entries() {
        let word = key.key_text();
        if !fields::DIRECTIVES.contains(&word) {
            continue;
        }
        if !main && word != "version" && word != "repo" {
            report.error(file, key, format!("`{word}` belongs in charly.yml at the top of the project"));
            continue;
        }
        match word {
            "version" => {
                shapes::check(Shape::CalVer, file, word, value, report);
                let theirs = value.source_text().and_then(CalVer::parse);
                if theirs > CalVer::parse(version()) {
                    let message = format!(
                        "the file is of version {}, newer than this program, which knows {}",
                        value.source_text().unwrap_or_default(),
                        version()
                    );
                    report.error(file, value, message).hint("use a newer release of this program");
                }
            }
            "repo" => shapes::check(Shape::Text, file, word, value, report),
            "defaults" => defaults(file, value, report),
            "discover" => discover(file, value, report),
            _ => imports(file, value, report),
        }
    }
}

fn defaults(file: &str, value: Node<'_>, report: &mut Report) {
    const KNOWN: [(&str, Shape); 7] = [
        ("registry", Shape::Text),
        ("tag", Shape::Text),
        ("platform", Shape::Words),
        ("build", Shape::Formats),
        ("builder", Shape::Any),
        ("jobs", Shape::Id),
        ("merge", Shape::Any),
    ];
    if !value.is_mapping() && !value.is_null() {
        report.error(file, value, format!("`defaults` is {}, not a map", kind(value)));
    }
    for (key, value) in value.entries() {
        let word = key.key_text();
        match KNOWN.iter().find(|(known, _)| *known == word) {
            Some((_, shape)) => shapes::check(*shape, file, word, value, report),
            None => report.error(file, key, format!("unknown key `{word}` in `defaults`")).near(
                word,
                KNOWN.iter().map(|(known, _)| *known),
                "it has registry, tag, platform, build, builder, jobs, merge",
            ),
        }
    }
}

fn discover(file: &str, value: Node<'_>, report: &mut Report) {
    if !value.is_sequence() {
        report.error(file, value, format!("`discover` is {}, not a list of `{{path: …}}`", kind(value)));
    }
    for item in value.items() {
        let path = item.get("path").unwrap_or(item);
        let text = path.source_text().unwrap_or_default();
        if let Err(why) = inside(text) {
            report.error(file, path, format!("`discover`: {why}"));
        }
        for (key, _) in item.entries().filter(|(key, _)| !["path", "recursive"].contains(&key.key_text())) {
            let word = key.key_text();
            report.error(file, key, format!("unknown key `{word}` in `discover`")).near(
                word,
                ["path", "recursive"],
                "",
            );
        }
        if let Some(value) = item.get("recursive").filter(|value| value.as_bool().is_none()) {
            report.error(file, value, format!("`recursive` is {}, not `true` or `false`", kind(value)));
        }
    }
}

/// Whether a path stays in the project; why not, as a fragment.
fn inside(path: &str) -> Result<(), String> {
    let told = |failure: pintle_core::Failure| failure.message.split_once("`: ").map(|(_, why)| why.to_owned());
    Inside::parse("path", path).map(drop).map_err(|failure| told(failure).unwrap_or_else(|| "is no path".to_owned()))
}

fn imports(file: &str, value: Node<'_>, report: &mut Report) {
    if !value.is_sequence() {
        report.error(file, value, format!("`import` is {}, not a list of `NAME: SOURCE`", kind(value)));
    }
    for item in value.items() {
        let mut named = item.entries().map(|(_, source)| source);
        let source = if item.is_mapping() { named.next().filter(|_| named.next().is_none()) } else { Some(item) };
        let text = source.and_then(Node::source_text).filter(|text| !text.is_empty());
        match text {
            None => {
                report.error(file, item, "an import is `NAME: '@host/owner/repo:ref'` or a file of the project");
            }
            Some(text) if !text.starts_with('@') => {
                if let Err(why) = inside(text) {
                    report.error(file, source.unwrap_or(item), format!("`import`: {why}"));
                }
            }
            Some(_) => {}
        }
    }
}

fn unique_names(model: &Model<'_>, report: &mut Report) {
    let mut seen: HashMap<(EntityKind, &str), &Entity<'_>> = HashMap::new();
    for entity in &model.entities {
        if let Some(first) = seen.get(&(entity.kind, entity.name)) {
            let place = format!("{}:{}", first.file, first.key.pos());
            let message = format!("the {} `{}` is there twice, also at {place}", entity.kind.word(), entity.name);
            report.error(entity.file, entity.key, message).hint("rename one of them");
        } else {
            seen.insert((entity.kind, entity.name), entity);
        }
    }
}

fn judge_name(entity: &Entity<'_>, report: &mut Report) {
    if let Err(message) = names::entity(entity.name) {
        report.error(entity.file, entity.key, message);
    }
}

fn judge_fields(entity: &Entity<'_>, report: &mut Report) {
    let table = entity.kind.fields();
    let body = entity.body.entries().map(|(key, value)| (key, key.key_text(), value));
    let children = entity.children.iter().filter_map(|child| match child.content {
        Content::Field { word, value } => Some((child.key, word, value)),
        Content::Step { .. } => None,
    });
    for (key, word, value) in body.chain(children) {
        match fields::find(table, word) {
            Some(field) => shapes::check(field.shape, entity.file, word, value, report),
            None if word == "plan" => report
                .error(entity.file, key, "`plan` is no key of project files")
                .hint("write each step as a node of its own at the top of the file: `NAME: {check: …, VERB: …}`"),
            None => report
                .error(
                    entity.file,
                    key,
                    format!("unknown key `{word}` in the {} `{}`", entity.kind.word(), entity.name),
                )
                .near(word, table.iter().map(|field| field.name), ""),
        }
    }
    for field in table {
        let places = entity.places(field.name);
        if let [first, .., last] = places.as_slice() {
            let message = format!(
                "`{}` of `{}` stands in two places, also at {}:{}",
                field.name,
                entity.name,
                entity.file,
                first.key.pos()
            );
            report.error(entity.file, last.key, message).hint("keep one of them");
        }
    }
}

/// Judges the steps; gives how many of them assert something.
fn judge_steps(entity: &Entity<'_>, registry: &Registry, report: &mut Report) -> usize {
    let mut probes = 0;
    let mut ids: HashMap<&str, Node<'_>> = HashMap::new();
    for (child, keyword, node) in entity.steps() {
        report.errors.extend(steps::problems(entity.file, child.key, node, registry));
        probes += usize::from(keyword == "check");
        let id = node.get("id").and_then(Node::source_text).unwrap_or(child.name);
        if let Some(first) = ids.insert(id, child.key) {
            let message = format!("two steps have the id `{id}`, also the one at {}:{}", entity.file, first.pos());
            report.error(entity.file, child.key, message).hint("give one of them another `id`");
        }
    }
    probes
}

fn judge_box(model: &Model<'_>, owner: &Entity<'_>, report: &mut Report) {
    if owner.field("base").is_none() && owner.field("from").is_none() {
        report
            .error(owner.file, owner.key, format!("the box `{}` has no `base`", owner.name))
            .hint("add `base: IMAGE`, the name of another box, or `scratch`");
    }
    known_candies(model, owner, "candy", report);
    if let (Some(way), Some(base)) = (resolve::base_cycle(model, owner), owner.field("base")) {
        report.error(owner.file, base, format!("the box is based on itself: {}", way.join(" → ")));
    }
}

fn judge_candy(model: &Model<'_>, candy: &Entity<'_>, probes: usize, report: &mut Report) {
    for field in ["version", "description"] {
        if candy.field(field).is_none() {
            let hint = if field == "version" {
                format!("add `version: {}`", version())
            } else {
                "add one line that says what it is".to_owned()
            };
            report.error(candy.file, candy.key, format!("the candy `{}` has no `{field}`", candy.name)).hint(hint);
        }
    }
    if probes == 0 {
        report.error(candy.file, candy.key, format!("the candy `{}` has no check", candy.name)).hint(format!(
            "add a node such as `{}-there: {{check: it is there, file: /PATH, exists: true}}`",
            candy.name
        ));
    }
    known_candies(model, candy, "candy", report);
    known_candies(model, candy, "require", report);
    if let Some(way) = resolve::candy_cycle(model, candy) {
        report.error(candy.file, candy.key, format!("the candy needs itself: {}", way.join(" → ")));
    }
    installs_something(candy, report);
    one_list_only(candy, report);
}

fn known_candies(model: &Model<'_>, owner: &Entity<'_>, field: &str, report: &mut Report) {
    let mut seen = HashMap::new();
    for (node, name) in resolve::listed(owner, field) {
        if !resolve::is_known(model, name) && !name.starts_with('@') {
            let known = model.of(EntityKind::Candy).map(|candy| candy.name);
            report
                .error(
                    owner.file,
                    node,
                    format!("unknown candy `{name}` in the {} `{}`", owner.kind.word(), owner.name),
                )
                .near(name, known, &format!("make it with `box.new.candy`, in candy/{name}/charly.yml"));
        }
        if let Some(first) = seen.insert(name, node) {
            let first: Node<'_> = first;
            report.warning(
                owner.file,
                node,
                format!("`{name}` is listed twice, also at {}:{}", owner.file, first.pos()),
            );
        }
    }
}

/// A candy that is only composed of others may install nothing itself.
fn installs_something(candy: &Entity<'_>, report: &mut Report) {
    const INSTALLS: [&str; 12] =
        ["candy", "rpm", "deb", "pac", "aur", "package", "distro", "service", "extract", "data", "artifact", "env"];
    let runs = candy.steps().any(|(_, keyword, _)| keyword == "run");
    if !runs && !INSTALLS.iter().any(|field| candy.field(field).is_some()) {
        report
            .warning(candy.file, candy.key, format!("the candy `{}` installs nothing", candy.name))
            .hint("list packages, add `run:` steps, or compose it of others under `candy`");
    }
}

/// What a candy requires it need not accept too.
fn one_list_only(candy: &Entity<'_>, report: &mut Report) {
    for kind in ["mcp", "env", "secret"] {
        let names = |list: &str| {
            let places = candy.places(&format!("{kind}_{list}"));
            let items: Vec<_> = places.iter().flat_map(|found| found.value.items()).collect();
            items.into_iter().filter_map(|item| item.get("name")).collect::<Vec<_>>()
        };
        let required = names("require");
        for name in names("accept") {
            if let Some(other) = required.iter().find(|other| other.source_text() == name.source_text()) {
                let message = format!(
                    "`{}` is required and accepted, also at {}:{}",
                    name.source_text().unwrap_or_default(),
                    candy.file,
                    other.pos()
                );
                report.error(candy.file, name, message).hint("keep it in one of the two lists");
            }
        }
    }
}
