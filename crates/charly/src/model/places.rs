//! Where an edit goes: from the words of a caller to a path in a file.

use super::{
    fields,
    nodes::{Entity, EntityKind, Model},
};
use pintle_core::{Code, Failure, Problem};
use pintle_yaml::{Path, Segment};

/// A path in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The file, relative to the project.
    pub file: String,
    /// The path from its root.
    pub path: Path,
    /// What must go instead when the path's end is deleted: the node that holds nothing else.
    pub whole: Option<Path>,
}

/// Words that older callers use for fields.
fn today(word: &str) -> &str {
    match word {
        "layers" | "layer" => "candy",
        other => other,
    }
}

/// Where a path of `box.set` leads: literal from the root of `charly.yml`, but `boxes.NAME` and `images.NAME` mean the
/// body of that box, wherever it stands.
///
/// # Errors
/// When there is no such box, or its field stands in two places.
pub fn of_box_path(model: &Model<'_>, literal: bool, path: &Path) -> Result<Spot, Failure> {
    let [Segment::Key(first), Segment::Key(name), rest @ ..] = path.segments() else { return Ok(plain(path)) };
    if literal || !["boxes", "images"].contains(&first.as_str()) {
        return Ok(plain(path));
    }
    of_field(find(model, EntityKind::Box, name, "path")?, rest)
}

fn plain(path: &Path) -> Spot {
    Spot { file: crate::host::PROJECT_FILE.to_owned(), path: path.clone(), whole: None }
}

/// Where a path relative to the body of an entity leads: to the node that has the field already, else into the body.
///
/// # Errors
/// When the field stands in two places.
pub fn of_field(entity: &Entity<'_>, rest: &[Segment]) -> Result<Spot, Failure> {
    let body = Path::of_keys([entity.name, entity.word]);
    let at = |path: Path, whole| Spot { file: entity.file.to_owned(), path, whole };
    let Some((first, rest)) = rest.split_first() else { return Ok(at(body, None)) };
    let Segment::Key(word) = first else { return Ok(at(body.join(first.clone()), None)) };
    let word = today(word);
    let go_on = |path: Path| rest.iter().fold(path, |path, segment| path.join(segment.clone()));
    match entity.places(word).as_slice() {
        [] => {
            let name = fields::find(entity.kind.fields(), word).map_or(word, |field| field.name);
            Ok(at(go_on(body.key(name)), None))
        }
        [found] => match found.child {
            None => Ok(at(go_on(body.key(found.word)), None)),
            Some(child) => {
                let node =
                    if child.nested { Path::of_keys([entity.name, child.name]) } else { Path::of_keys([child.name]) };
                let whole = rest.is_empty().then(|| node.clone());
                Ok(at(go_on(node.key(found.word)), whole))
            }
        },
        [first, second, ..] => {
            let message = format!("`{word}` of `{}` stands in two places", entity.name);
            let problem = |found: &super::nodes::Found<'_, '_>| {
                let place = found.key.pos();
                Problem::new("one of them").at(entity.file, place.line, place.column)
            };
            Err(Failure::new(Code::Invalid, message)
                .problem(problem(first))
                .problem(problem(second))
                .hint("keep one of them; `box.cat` and `box.write` show and write the file"))
        }
    }
}

/// An entity by name.
///
/// # Errors
/// Code `not_found` with the nearest name.
pub fn find<'m, 'a>(
    model: &'m Model<'a>,
    kind: EntityKind,
    name: &str,
    argument: &str,
) -> Result<&'m Entity<'a>, Failure> {
    model.get(kind, name).ok_or_else(|| {
        let names: Vec<_> = model.of(kind).map(|entity| entity.name).collect();
        let failure =
            Failure::new(Code::NotFound, format!("argument `{argument}`: no {} `{name}` in the project", kind.word()))
                .did_you_mean(name, names.iter().copied());
        if names.is_empty() {
            return failure.hint(format!("make one with `box.new.{}`", kind.word()));
        }
        failure.hint(format!("there {} {}", if names.len() == 1 { "is" } else { "are" }, names.join(", ")))
    })
}
