//! From the parser's character counts to byte offsets, and a copy of the text for the parser.

use crate::lex;
use crate::place::BOM;

/// Bytes that all tries together may ask the parser to read again.
const MOST_WORK: usize = 32 * 1024 * 1024;

/// The text as the parser gets it: without byte order mark, and with closing brackets that start a
/// line pushed right where the parser wants them so.
///
/// The specification wants the closing bracket of
///
/// ```text
/// key: [
///   "a"
/// ]
/// ```
///
/// to stand further right than `key`; so does the parser, if the last item is in quotes. People write it all
/// the same and every other reader takes it. White space before a bracket has no meaning, so the
/// parser may see one space more than there is.
pub(crate) struct Shadow<'t> {
    text: &'t str,
    base: usize,
    /// The parser's copy; none while it is the text itself.
    copy: Option<String>,
    /// Offsets in the text before which a space was put, rising.
    shifts: Vec<usize>,
    guess: Guess,
}

/// Where many brackets need a push, all further ones get it at once.
enum Guess {
    NotYet,
    /// The shifts that are certain.
    Made(Vec<usize>),
    Withdrawn,
}

/// Brackets pushed one by one before guessing.
const FEW: usize = 8;

impl<'t> Shadow<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let base = if text.starts_with(BOM) { BOM.len() } else { 0 };
        Self { text, base, copy: None, shifts: Vec::new(), guess: Guess::NotYet }
    }

    /// Pushes the bracket at an offset of the text right. False when it was or when it would be
    /// one try too many.
    pub(crate) fn shift(&mut self, at: usize) -> bool {
        let work = self.text.len().saturating_mul(self.shifts.len());
        if self.shifts.contains(&at) || (work > MOST_WORK && !matches!(self.guess, Guess::Made(_))) {
            return false;
        }
        self.shifts.push(at);
        if self.shifts.len() > FEW && matches!(self.guess, Guess::NotYet) {
            self.guess = Guess::Made(self.shifts.clone());
            let brackets = self.text.char_indices().filter(|(_, c)| matches!(c, ']' | '}'));
            let later = brackets.map(|(offset, _)| offset).filter(|offset| *offset > at);
            self.shifts.extend(later.filter(|offset| lex::first_on_line(self.text, *offset)));
        }
        self.rebuild();
        true
    }

    /// Takes the guess back after a text did not parse with it. True when there was one.
    pub(crate) fn withdraw_guess(&mut self) -> bool {
        let Guess::Made(certain) = std::mem::replace(&mut self.guess, Guess::Withdrawn) else { return false };
        self.shifts = certain;
        self.rebuild();
        true
    }

    /// Takes guessed pushes back that fall into these bytes. True when there were some.
    pub(crate) fn keep_out_of(&mut self, texts: &[std::ops::Range<usize>]) -> bool {
        if !matches!(self.guess, Guess::Made(_)) {
            return false;
        }
        let before = self.shifts.len();
        self.shifts.retain(|shift| {
            let next = texts.partition_point(|text| text.end <= *shift);
            !texts.get(next).is_some_and(|text| text.contains(shift))
        });
        self.rebuild();
        self.shifts.len() < before
    }

    fn rebuild(&mut self) {
        self.shifts.sort_unstable();
        let mut copy = String::with_capacity(self.text.len() + self.shifts.len());
        let mut from = self.base;
        for shift in &self.shifts {
            copy.push_str(self.text.get(from..*shift).unwrap_or_default());
            copy.push(' ');
            from = *shift;
        }
        copy.push_str(self.text.get(from..).unwrap_or_default());
        self.copy = Some(copy);
    }

    pub(crate) fn offsets(&self) -> ByteOffsets<'_> {
        let body = match &self.copy {
            Some(copy) => copy,
            None => self.text.get(self.base..).unwrap_or_default(),
        };
        ByteOffsets::new(body, self.base, &self.shifts)
    }
}

/// Offsets in characters of the parser's copy to offsets in bytes of the text.
pub(crate) struct ByteOffsets<'t> {
    body: &'t str,
    base: usize,
    /// Byte offset of every 256th character; empty when all are ASCII.
    marks: Vec<usize>,
    shifts: &'t [usize],
}

const MARK_STEP: usize = 256;

impl<'t> ByteOffsets<'t> {
    fn new(body: &'t str, base: usize, shifts: &'t [usize]) -> Self {
        let marks = if body.is_ascii() {
            Vec::new()
        } else {
            body.char_indices().step_by(MARK_STEP).map(|(at, _)| at).collect()
        };
        Self { body, base, marks, shifts }
    }

    /// What the parser reads.
    pub(crate) fn body(&self) -> &'t str {
        self.body
    }

    /// The offset in the text of a character of the body; behind its end the end.
    pub(crate) fn of(&self, index: usize) -> usize {
        let at = self.base + self.in_body(index);
        // The n-th shift, counted from 0, stands behind n spaces that the text has not.
        let (mut low, mut high) = (0, self.shifts.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.shifts[middle] + middle < at { low = middle + 1 } else { high = middle }
        }
        at - low
    }

    fn in_body(&self, index: usize) -> usize {
        if self.marks.is_empty() {
            return index.min(self.body.len());
        }
        let Some(mark) = self.marks.get(index / MARK_STEP) else { return self.body.len() };
        let rest = self.body.get(*mark..).unwrap_or_default();
        let step = rest.char_indices().nth(index % MARK_STEP).map_or(rest.len(), |(at, _)| at);
        mark + step
    }
}
