//! From trees to entities: which node is a box or candy, and which nodes belong to it.

use super::{
    fields::{self, Field},
    report::{Report, kind},
    source::Source,
};
use pintle_yaml::Node;
use std::collections::HashMap;

/// What an entity is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntityKind {
    /// An image to be built.
    Box,
    /// A layer of such images.
    Candy,
    /// A deployment.
    Pod,
}

impl EntityKind {
    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Box => "box",
            Self::Candy => "candy",
            Self::Pod => "pod",
        }
    }

    /// Its fields.
    #[must_use]
    pub fn fields(self) -> &'static [Field] {
        match self {
            Self::Box => fields::BOX,
            Self::Candy => fields::CANDY,
            Self::Pod => fields::POD,
        }
    }
}

/// A box, candy or deployment.
#[derive(Clone, Debug)]
pub struct Entity<'a> {
    /// What it is.
    pub kind: EntityKind,
    /// Its name.
    pub name: &'a str,
    /// The file it stands in.
    pub file: &'a str,
    /// The node of its name.
    pub key: Node<'a>,
    /// The discriminator as written: a box may be a `candy` with a base.
    pub word: &'a str,
    /// The value of the discriminator.
    pub body: Node<'a>,
    /// Nodes that belong to it, nested or flat, in the order of the file.
    pub children: Vec<Child<'a>>,
}

/// A node that belongs to an entity.
#[derive(Clone, Debug)]
pub struct Child<'a> {
    /// Its name.
    pub name: &'a str,
    /// The node of its name.
    pub key: Node<'a>,
    /// Whether it stands within the node of the entity.
    pub nested: bool,
    /// What it holds.
    pub content: Content<'a>,
}

/// What a child holds.
#[derive(Clone, Copy, Debug)]
pub enum Content<'a> {
    /// One field.
    Field {
        /// The word as written.
        word: &'a str,
        /// Its value.
        value: Node<'a>,
    },
    /// A step of the plan.
    Step {
        /// Its keyword.
        keyword: &'a str,
        /// The whole step.
        node: Node<'a>,
    },
}

/// A field of an entity in one of the places where it can stand.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a, 'e> {
    /// The node of the word.
    pub key: Node<'a>,
    /// The word as written.
    pub word: &'a str,
    /// Its value.
    pub value: Node<'a>,
    /// The child it stands in; absent when it stands in the body.
    pub child: Option<&'e Child<'a>>,
}

impl<'a> Entity<'a> {
    /// Every place where a field of that name stands.
    #[must_use]
    pub fn places(&self, name: &str) -> Vec<Found<'a, '_>> {
        let Some(field) = fields::find(self.kind.fields(), name) else { return Vec::new() };
        let means = |word: &str| field.name == word || field.also.contains(&word);
        let body = self.body.entries().filter(|(key, _)| means(key.key_text()));
        let body = body.map(|(key, value)| Found { key, word: key.key_text(), value, child: None });
        let children = self.children.iter().filter_map(|child| match child.content {
            Content::Field { word, value } if means(word) => {
                Some(Found { key: child.key, word, value, child: Some(child) })
            }
            _ => None,
        });
        body.chain(children).collect()
    }

    /// The value of a field, from the first place where it stands.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<Node<'a>> {
        self.places(name).first().map(|found| found.value)
    }

    /// Its steps.
    pub fn steps(&self) -> impl Iterator<Item = (&Child<'a>, &'a str, Node<'a>)> {
        self.children.iter().filter_map(|child| match child.content {
            Content::Step { keyword, node } => Some((child, keyword, node)),
            Content::Field { .. } => None,
        })
    }
}

/// Every entity of a project.
#[derive(Clone, Debug, Default)]
pub struct Model<'a> {
    /// In the order of files and lines.
    pub entities: Vec<Entity<'a>>,
    by_name: HashMap<(EntityKind, &'a str), usize>,
}

impl<'a> Model<'a> {
    /// Reads the files; what cannot be placed is reported.
    #[must_use]
    pub fn read(sources: &'a [Source], report: &mut Report) -> Self {
        let mut entities: Vec<Entity<'a>> = Vec::new();
        for source in sources {
            match &source.tree {
                Ok(tree) => entities.extend(read_file(&source.file, tree.root(), report)),
                Err(problems) => report.errors.extend(problems.iter().cloned()),
            }
        }
        let mut by_name = HashMap::new();
        for (index, entity) in entities.iter().enumerate() {
            by_name.entry((entity.kind, entity.name)).or_insert(index);
        }
        Self { entities, by_name }
    }

    /// The entities of one kind.
    pub fn of(&self, kind: EntityKind) -> impl Iterator<Item = &Entity<'a>> {
        self.entities.iter().filter(move |entity| entity.kind == kind)
    }

    /// An entity by kind and name; the first, where a name is there twice.
    #[must_use]
    pub fn get(&self, kind: EntityKind, name: &str) -> Option<&Entity<'a>> {
        self.entities.get(*self.by_name.get(&(kind, name))?)
    }
}

fn read_file<'a>(file: &'a str, root: Node<'a>, report: &mut Report) -> Vec<Entity<'a>> {
    if !root.is_mapping() && !root.is_null() {
        report.error(file, root, format!("the file is {}, not a map of nodes", kind(root)));
        return Vec::new();
    }
    let mut entities = Vec::new();
    let mut flat = Vec::new();
    for (key, value) in root.entries() {
        let name = key.key_text();
        if fields::DIRECTIVES.contains(&name) {
            continue;
        }
        if name == "plan" {
            no_plan(file, key, report);
            continue;
        }
        match classify(file, key, value, report) {
            Some(Class::Entity { kind, word, body }) => {
                let children = nested(file, word, value, report);
                entities.push(Entity { kind, name, file, key, word, body, children });
            }
            Some(Class::Content(content)) => {
                flat.push(Child { name, key, nested: false, content });
            }
            None => {}
        }
    }
    for child in flat {
        attach(file, child, &mut entities, report);
    }
    for entity in &mut entities {
        entity.children.sort_by_key(|child| child.key.span().start);
    }
    entities
}

enum Class<'a> {
    Entity { kind: EntityKind, word: &'a str, body: Node<'a> },
    Content(Content<'a>),
}

fn classify<'a>(file: &str, key: Node<'a>, value: Node<'a>, report: &mut Report) -> Option<Class<'a>> {
    let name = key.key_text();
    if !value.is_mapping() {
        let message = format!("`{name}` is {}; a node is a map that says what it is", kind(value));
        let otherwise = "write it as `NAME: {box: …}`, `{candy: …}`, `{check: …}` or one field";
        report.error(file, key, message).near(name, fields::DIRECTIVES, otherwise);
        return None;
    }
    let words: Vec<(Node<'a>, Node<'a>)> = value.entries().collect();
    for (word, _) in words.iter().filter(|(word, _)| word.key_text() == "plan") {
        no_plan(file, *word, report);
    }
    let is_step = |word: &str| fields::STEPS.contains(&word);
    let says_what = |word: &str| is_step(word) || fields::ENTITIES.contains(&word);
    let saying: Vec<_> = words.iter().filter(|(word, _)| says_what(word.key_text())).copied().collect();
    match saying.as_slice() {
        [(first, _), (second, _), ..] => {
            let message =
                format!("`{name}` is a `{}` and a `{}`; a node is one thing", first.key_text(), second.key_text());
            report.error(file, *second, message).hint("make a node of its own of one of them");
            return None;
        }
        [(word, _)] if is_step(word.key_text()) => {
            return Some(Class::Content(Content::Step { keyword: word.key_text(), node: value }));
        }
        [(word, body)] => return entity_class(file, *word, *body, &words, report),
        [] => {}
    }
    let mut named = words.iter().filter(|(word, _)| fields::is_field(word.key_text()));
    let Some((word, field)) = named.next().copied() else {
        let known = fields::ENTITIES.iter().chain(&fields::STEPS).copied();
        let said = words.first().map_or("", |(word, _)| word.key_text());
        let otherwise = "a node holds one of `box`, `candy`, `pod`, `check`, `run`, `include` or one field";
        report.error(file, key, format!("`{name}` does not say what it is")).near(said, known, otherwise);
        return None;
    };
    for (other, _) in words.iter().filter(|(other, _)| other.span() != word.span()) {
        let message =
            format!("`{}` stands beside `{}` in `{name}`; a node holds one field", other.key_text(), word.key_text());
        report.error(file, *other, message).hint("give each field a node of its own");
    }
    Some(Class::Content(Content::Field { word: word.key_text(), value: field }))
}

fn entity_class<'a>(
    file: &str,
    word: Node<'a>,
    body: Node<'a>,
    words: &[(Node<'a>, Node<'a>)],
    report: &mut Report,
) -> Option<Class<'a>> {
    let text = word.key_text();
    if text == "candy" && body.is_sequence() {
        for (other, _) in words.iter().filter(|(other, _)| other.span() != word.span()) {
            let message = format!("`{}` stands beside a list of candies; a node holds one field", other.key_text());
            report.error(file, *other, message).hint("give each field a node of its own");
        }
        return Some(Class::Content(Content::Field { word: text, value: body }));
    }
    if !body.is_mapping() && !body.is_null() {
        report.error(file, body, format!("`{text}` is {}, not a map", kind(body)));
        return None;
    }
    let kind = match text {
        "box" => EntityKind::Box,
        "pod" => EntityKind::Pod,
        _ if body.get("base").is_some() => EntityKind::Box,
        _ => EntityKind::Candy,
    };
    Some(Class::Entity { kind, word: text, body })
}

/// The nodes within the node of an entity.
fn nested<'a>(file: &'a str, word: &str, node: Node<'a>, report: &mut Report) -> Vec<Child<'a>> {
    let mut children = Vec::new();
    for (key, value) in node.entries().filter(|(key, _)| key.key_text() != word && key.key_text() != "plan") {
        let name = key.key_text();
        if fields::is_field(name) {
            let message = format!("`{name}` stands beside `{word}`; a node holds one of them");
            report.error(file, key, message).hint(format!("move it into the value of `{word}:`"));
            continue;
        }
        match classify(file, key, value, report) {
            Some(Class::Content(content)) => children.push(Child { name, key, nested: true, content }),
            Some(Class::Entity { kind, .. }) => {
                let message = format!("`{name}` is a {} within another node", kind.word());
                report.error(file, key, message).hint("move it to the top of a file");
            }
            None => {}
        }
    }
    children
}

/// Gives a node at the top of the file to its entity: the only one, else the one with the longest matching name.
fn attach<'a>(file: &str, child: Child<'a>, entities: &mut [Entity<'a>], report: &mut Report) {
    let only = entities.len() == 1;
    let begins = |entity: &Entity<'_>| child.name.strip_prefix(entity.name).is_some_and(|rest| rest.starts_with('-'));
    let fits = |entity: &Entity<'_>| only || begins(entity);
    let field = matches!(child.content, Content::Field { .. }) && !fields::is_discriminator(child.name);
    if only
        && field
        && !entities.iter().any(begins)
        && let Some(near) = pintle_core::nearest(child.name, fields::DIRECTIVES)
    {
        let message =
            format!("`{}` is no directive, and as a node it would need the name of a box or candy", child.name);
        report.error(file, child.key, message).hint(format!("did you mean `{near}`?"));
        return;
    }
    let owner = entities.iter_mut().filter(|entity| fits(entity)).max_by_key(|entity| entity.name.len());
    if let Some(owner) = owner {
        owner.children.push(child);
        return;
    }
    let message = format!("`{}` belongs to no box or candy of this file", child.name);
    let names: Vec<_> = entities.iter().map(|entity| format!("`{}-…`", entity.name)).collect();
    let noted = report.error(file, child.key, message);
    if names.is_empty() {
        noted.hint("the file has none; add the node of one");
    } else {
        noted.hint(format!("name it {}", pintle_core::one_of(names.iter().map(String::as_str))));
    }
}

fn no_plan(file: &str, key: Node<'_>, report: &mut Report) {
    report
        .error(file, key, "`plan` is no key of project files")
        .hint("write each step as a node of its own at the top of the file: `NAME: {check: …, VERB: …}`");
}
