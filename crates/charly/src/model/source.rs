//! One file of a project: its text and, if it parses, its tree.

use pintle_core::Problem;
use pintle_yaml::{Document, Limits};

/// A YAML file of the project.
#[derive(Clone, Debug)]
pub struct Source {
    /// Path relative to the project.
    pub file: String,
    /// The tree, or everything that keeps the text from being one.
    pub tree: Result<Document, Vec<Problem>>,
}

impl Source {
    /// Reads the bytes of a file.
    #[must_use]
    pub fn new(file: impl Into<String>, bytes: &[u8]) -> Self {
        let file = file.into();
        let tree = Document::parse_bytes(bytes, Limits::default()).map_err(|problems| told(&file, problems));
        Self { file, tree }
    }
}

/// Problems of a text as problems of the file that holds it.
#[must_use]
pub fn told(file: &str, problems: impl IntoIterator<Item = pintle_yaml::Problem>) -> Vec<Problem> {
    problems
        .into_iter()
        .map(|problem| {
            let told = Problem::new(problem.message).at(file, problem.line, problem.column);
            Problem { hint: problem.hint, ..told }
        })
        .collect()
}
