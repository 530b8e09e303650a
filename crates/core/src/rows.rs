//! The only part of an answer that may be large, and how it is cut.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One row of a large answer.
pub trait Row: Serialize + JsonSchema + Send + 'static {
    /// Its place in the order; unique within the answer.
    fn key(&self) -> String;
}

/// Rows in the order of their keys.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub struct Rows<T>(Vec<T>);

impl<T: Row> Rows<T> {
    /// Sorts the rows by key.
    #[must_use]
    pub fn new(mut rows: Vec<T>) -> Self {
        rows.sort_by_cached_key(Row::key);
        Self(rows)
    }
}

impl<T> Rows<T> {
    /// The rows.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.0.iter()
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// Where a page ended: what a cursor carries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// Key of the last row shown.
    pub last_key: String,
    /// Continue token of the source, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// The cutting of rows, without their type.
pub trait CutRows {
    /// How many rows.
    fn count(&self) -> usize;
    /// Drops every row up to and including that key.
    fn drop_through(&mut self, key: &str);
    /// Keeps the first `count` rows; gives the key of the last one kept.
    fn keep(&mut self, count: usize) -> Option<String>;
    /// Bytes of each row as JSON.
    fn sizes(&self) -> Vec<usize>;
}

impl<T: Row> CutRows for Rows<T> {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn drop_through(&mut self, key: &str) {
        self.0.retain(|row| row.key().as_str() > key);
    }

    fn keep(&mut self, count: usize) -> Option<String> {
        self.0.truncate(count);
        self.0.last().map(Row::key)
    }

    fn sizes(&self) -> Vec<usize> {
        // A row that cannot be serialised fails the whole answer later, so its size does not matter here.
        self.0.iter().map(|row| length(row).map_or(0, |bytes| bytes + 1)).collect()
    }
}

/// Bytes of something as JSON, which is not kept: thousands of rows are measured of which dozens are shown.
pub(crate) fn length(value: &impl Serialize) -> Result<usize, serde_json::Error> {
    struct Counter(usize);
    impl std::io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    serde_json::to_writer(&mut counter, value)?;
    Ok(counter.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, JsonSchema)]
    struct Name(String);
    impl Row for Name {
        fn key(&self) -> String {
            self.0.clone()
        }
    }

    #[test]
    fn rows_are_sorted_cut_and_taken_up_again() {
        let all = || Rows::new(["c", "a", "b"].map(|n| Name(n.to_owned())).into());
        let mut first = all();
        assert_eq!(first.keep(2).as_deref(), Some("b"));
        let mut rest = all();
        rest.drop_through("b");
        assert_eq!(rest.iter().map(|n| n.0.as_str()).collect::<Vec<_>>(), ["c"]);
        assert_eq!(rest.sizes(), [4]);
    }
}
