//! Reading the text of a pack. Every problem is reported with its place, as many at once as can be.

mod condition;
mod fields;
mod option;
mod pack;
mod report;
mod resource;
mod rules;
mod tool;
mod verb;

use toml::de::DeTable;

use crate::{Pack, Problem};
use fields::Fields;
use report::Report;

/// Reads the text of a pack.
///
/// # Errors
/// Everything that is wrong with it, in the order of the text.
pub fn parse(text: &str) -> Result<Pack, Vec<Problem>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let report = Report::new(text);
    for error in errors {
        let at = error.span().map_or(0, |span| span.start);
        report.add(at, error.message().trim(), None);
    }
    if report.is_empty() {
        let pack = pack::read(Fields::new(table.get_ref(), 0, &report));
        if let (Some(pack), true) = (pack, report.is_empty()) {
            return Ok(pack);
        }
    }
    Err(report.into_problems())
}
