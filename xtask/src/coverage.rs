//! Which rows of the specification a passing test names.
//!
//! A test names a row by having its id in its path, `tests::ch_110_ch_111_names_…`; several ids in one name count
//! each. Only tests that ran and passed count.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::{
    End, Trouble,
    place::Place,
    results::{Outcome, Results},
};

/// The families of rows, in the order of the summary.
const FAMILIES: [&str; 8] = ["ch", "cw", "kt", "kw", "eg", "s", "si", "an"];

/// One row of `spec/rows.toml`.
#[derive(Debug, Deserialize)]
struct Row {
    must: String,
    at: String,
}

pub fn command(place: &Place, arguments: &[String]) -> Result<End, Trouble> {
    let families: Vec<&str> =
        if arguments.is_empty() { FAMILIES.to_vec() } else { arguments.iter().map(String::as_str).collect() };
    if let Some(unknown) = families.iter().find(|family| !FAMILIES.contains(family)) {
        return Err(Trouble::Usage(format!("`{unknown}` is no family of rows; there are {}", FAMILIES.join(", "))));
    }
    let rows = rows(place)?;
    let results = Results::read(place)?;
    if results.tests.is_empty() {
        return Err(Trouble::Other("no results yet: run `cargo xtask test` first".into()));
    }
    let named = named(&rows, &results);

    for family in &families {
        for (id, row) in rows.iter().filter(|(id, _)| family_of(id) == *family) {
            if !named.contains(id.as_str()) {
                println!("{id}\t{}\t{}", row.at, row.must);
            }
        }
    }
    println!();
    if !results.whole {
        println!("the last whole run is older than some of these results: some tests ran alone since");
    }
    let mut total = (0, 0);
    for family in &families {
        let all = rows.keys().filter(|id| family_of(id) == *family).count();
        let shown = named.iter().filter(|id| family_of(id) == *family).count();
        total = (total.0 + shown, total.1 + all);
        println!("{family}\t{shown} of {all}");
    }
    println!("rows\t{} of {} named by a passing test", total.0, total.1);
    let unknown = unknown(&rows, &results);
    for (id, test) in &unknown {
        println!("`{test}` names {id}, which spec/rows.toml does not have");
    }
    Ok(if unknown.is_empty() { End::Good } else { End::Bad })
}

fn rows(place: &Place) -> Result<BTreeMap<String, Row>, Trouble> {
    let path = place.root.join("spec/rows.toml");
    let text = std::fs::read_to_string(&path).map_err(Trouble::file("read", &path))?;
    toml::from_str(&text).map_err(|why| Trouble::Other(format!("`{}` does not parse: {why}", path.display())))
}

fn family_of(id: &str) -> &str {
    id.split_once('_').map_or(id, |(family, _)| family)
}

/// The ids that passed tests name.
fn named<'a>(rows: &'a BTreeMap<String, Row>, results: &Results) -> BTreeSet<&'a str> {
    results
        .tests
        .iter()
        .filter(|test| test.outcome == Outcome::Passed)
        .flat_map(|test| ids_in(&test.name, rows))
        .collect()
}

/// The rows that a test path names: at every word the longest id that begins there, so that `an_6_03` does not also
/// name a row `an_6`.
fn ids_in<'a>(path: &str, rows: &'a BTreeMap<String, Row>) -> Vec<&'a str> {
    let mut found = Vec::new();
    for segment in path.split("::") {
        let words: Vec<&str> = segment.split('_').collect();
        let mut at = 0;
        while at < words.len() {
            let longest = (at + 1..=words.len()).rev().find_map(|end| {
                rows.get_key_value(words[at..end].join("_").as_str()).map(|(id, _)| (end, id.as_str()))
            });
            match longest {
                Some((end, id)) => {
                    found.push(id);
                    at = end;
                }
                None => at += 1,
            }
        }
    }
    found
}

/// Ids of a numbered family in test names that no row has: most likely a typing error. `kt` rows have names, not
/// numbers, so a wrong one cannot be told from an ordinary word.
fn unknown(rows: &BTreeMap<String, Row>, results: &Results) -> BTreeMap<String, String> {
    let numbered = ["ch", "cw", "kw", "eg", "s", "si"];
    let mut unknown = BTreeMap::new();
    for test in &results.tests {
        for segment in test.name.split("::") {
            let words: Vec<&str> = segment.split('_').collect();
            for pair in words.windows(2) {
                let number = !pair[1].is_empty() && pair[1].bytes().all(|byte| byte.is_ascii_digit());
                let id = format!("{}_{}", pair[0], pair[1]);
                if number && numbered.contains(&pair[0]) && !rows.contains_key(&id) {
                    unknown.insert(id, test.name.clone());
                }
            }
        }
    }
    unknown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Tested;

    fn rows_of(ids: &[&str]) -> BTreeMap<String, Row> {
        ids.iter().map(|id| ((*id).to_owned(), Row { must: String::new(), at: String::new() })).collect()
    }

    fn results(tests: &[(&str, Outcome)]) -> Results {
        let tests = tests
            .iter()
            .map(|(name, outcome)| Tested {
                package: "p".into(),
                target: "lib".into(),
                name: (*name).to_owned(),
                outcome: *outcome,
                reason: None,
            })
            .collect();
        Results { whole: true, tests }
    }

    #[test]
    fn a_name_may_hold_several_ids_and_the_longest_counts() {
        let rows = rows_of(&["ch_110", "ch_111", "an_6", "an_6_03", "s_13", "kt_find_pod_issues"]);
        assert_eq!(ids_in("box::tests::ch_110_ch_111_names_are_checked", &rows), ["ch_110", "ch_111"]);
        assert_eq!(ids_in("an_6_03_stdout", &rows), ["an_6_03"]);
        assert_eq!(ids_in("kt_find_pod_issues_groups", &rows), ["kt_find_pod_issues"]);
        assert_eq!(ids_in("checks_13_things", &rows), Vec::<&str>::new());
    }

    #[test]
    fn only_a_passed_test_shows_a_row() {
        let rows = rows_of(&["ch_001", "ch_002", "ch_003"]);
        let results =
            results(&[("ch_001_a", Outcome::Passed), ("ch_002_b", Outcome::Failed), ("ch_003_c", Outcome::Skipped)]);
        assert_eq!(named(&rows, &results).into_iter().collect::<Vec<_>>(), ["ch_001"]);
    }

    #[test]
    fn an_id_that_no_row_has_is_told() {
        let rows = rows_of(&["ch_001"]);
        let results = results(&[("ch_1_a", Outcome::Passed), ("ch_001_b", Outcome::Passed)]);
        assert_eq!(unknown(&rows, &results).keys().collect::<Vec<_>>(), ["ch_1"]);
    }
}
