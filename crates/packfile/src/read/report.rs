//! The problems found so far.

use std::cell::RefCell;

use crate::Problem;

/// The problems found so far in one text.
pub(super) struct Report<'t> {
    text: &'t str,
    found: RefCell<Vec<(usize, Problem)>>,
}

impl<'t> Report<'t> {
    pub(super) const fn new(text: &'t str) -> Self {
        Self { text, found: RefCell::new(Vec::new()) }
    }

    /// Notes a problem at a byte of the text.
    pub(super) fn add(&self, at: usize, message: impl Into<String>, hint: Option<String>) {
        let problem = Problem::at(self.text, at, message.into(), hint);
        self.found.borrow_mut().push((at, problem));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.borrow().is_empty()
    }

    /// The problems in the order of the text.
    pub(super) fn into_problems(self) -> Vec<Problem> {
        let mut found = self.found.into_inner();
        found.sort_by_key(|(at, _)| *at);
        found.into_iter().map(|(_, problem)| problem).collect()
    }
}
