//! Where everything that is wrong with a project is gathered: all of it in one run.

use pintle_core::Problem;
use pintle_yaml::Node;

/// Errors and warnings, in the order of files and lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What makes the project invalid.
    pub errors: Vec<Problem>,
    /// What may be meant, but probably is not.
    pub warnings: Vec<Problem>,
}

impl Report {
    /// Notes an error at a node.
    pub fn error(&mut self, file: &str, node: Node<'_>, message: impl Into<String>) -> Noted<'_> {
        self.errors.push(at(file, node, message));
        Noted(self.errors.last_mut())
    }

    /// Notes a warning at a node.
    pub fn warning(&mut self, file: &str, node: Node<'_>, message: impl Into<String>) -> Noted<'_> {
        self.warnings.push(at(file, node, message));
        Noted(self.warnings.last_mut())
    }

    /// Puts everything in the order of files and lines.
    pub fn sort(&mut self) {
        for list in [&mut self.errors, &mut self.warnings] {
            list.sort_by(|a, b| (&a.file, a.line, a.column, &a.message).cmp(&(&b.file, b.line, b.column, &b.message)));
            list.dedup();
        }
    }
}

/// A problem just noted, to which a hint may be added.
pub struct Noted<'r>(Option<&'r mut Problem>);

impl Noted<'_> {
    /// With something to do.
    pub fn hint(self, hint: impl Into<String>) {
        if let Some(problem) = self.0 {
            problem.hint = Some(hint.into());
        }
    }

    /// With the nearest known word, if one is near; else with `otherwise`, if there is something to say.
    pub fn near<'a>(self, word: &str, known: impl IntoIterator<Item = &'a str>, otherwise: &str) {
        match pintle_core::nearest(word, known) {
            Some(near) => self.hint(format!("did you mean `{near}`?")),
            None if otherwise.is_empty() => {}
            None => self.hint(otherwise),
        }
    }
}

fn at(file: &str, node: Node<'_>, message: impl Into<String>) -> Problem {
    let place = node.pos();
    Problem::new(message).at(file, place.line, place.column)
}

/// `a map`, `an integer`, `text`: a node's kind as messages say it.
#[must_use]
pub fn kind(node: Node<'_>) -> String {
    match node.kind_name() {
        word @ ("text" | "null") => word.to_owned(),
        word @ "integer" => format!("an {word}"),
        word => format!("a {word}"),
    }
}
