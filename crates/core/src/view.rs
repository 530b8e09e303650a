//! An answer as people read it, before a door knows how wide the terminal is.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Blocks from top to bottom.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct View {
    /// The blocks.
    pub blocks: Vec<Block>,
}

/// One block of a view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Block {
    /// Prose or lines.
    Text(String),
    /// Rows and columns.
    Table(Table),
    /// Bytes that must come out as they are, with no newline added.
    Exact(String),
}

/// Rows and columns; a door fits them to its width.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// Column names, upper case by convention.
    pub columns: Vec<String>,
    /// Cells, as many as columns.
    pub rows: Vec<Vec<String>>,
}

impl View {
    /// Lines of text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { blocks: vec![Block::Text(text.into())] }
    }

    /// Exact bytes.
    #[must_use]
    pub fn exact(text: impl Into<String>) -> Self {
        Self { blocks: vec![Block::Exact(text.into())] }
    }

    /// A table alone.
    #[must_use]
    pub fn table<'a>(columns: impl IntoIterator<Item = &'a str>, rows: impl IntoIterator<Item = Vec<String>>) -> Self {
        Self::default().and_table(columns, rows)
    }

    /// With more text below.
    #[must_use]
    pub fn and_text(mut self, text: impl Into<String>) -> Self {
        self.blocks.push(Block::Text(text.into()));
        self
    }

    /// With a table below.
    #[must_use]
    pub fn and_table<'a>(
        mut self,
        columns: impl IntoIterator<Item = &'a str>,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Self {
        self.blocks.push(Block::Table(Table {
            columns: columns.into_iter().map(str::to_owned).collect(),
            rows: rows.into_iter().collect(),
        }));
        self
    }

    /// The compact form for models and pipes: columns apart by two spaces, no lines drawn, nothing cut.
    #[must_use]
    pub fn plain(&self) -> String {
        let mut out = String::new();
        for block in &self.blocks {
            if !out.is_empty() && !out.ends_with('\n') {
                out.push('\n');
            }
            match block {
                Block::Text(text) => out.push_str(text.trim_end_matches('\n')),
                Block::Exact(text) => out.push_str(text),
                Block::Table(table) => out.push_str(&plain_table(table)),
            }
        }
        out
    }

    /// Whether there is nothing to show.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blocks.iter().all(|block| match block {
            Block::Text(text) | Block::Exact(text) => text.is_empty(),
            Block::Table(table) => table.rows.is_empty(),
        })
    }

    /// Applies `change` to every text in it.
    pub fn each_text(&mut self, mut change: impl FnMut(&mut String)) {
        for block in &mut self.blocks {
            match block {
                Block::Text(text) | Block::Exact(text) => change(text),
                Block::Table(table) => table.rows.iter_mut().flatten().for_each(&mut change),
            }
        }
    }

    /// Indented JSON of a value, for answers whose text is their value.
    #[must_use]
    pub fn json(value: &Value) -> Self {
        Self::text(serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string()))
    }
}

fn plain_table(table: &Table) -> String {
    let mut widths: Vec<usize> = table.columns.iter().map(|c| c.chars().count()).collect();
    for row in &table.rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &[String]| {
        let mut line = String::new();
        for (cell, width) in cells.iter().zip(&widths) {
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', width + 2 - cell.chars().count()));
        }
        line.trim_end().to_owned()
    };
    std::iter::once(&table.columns).chain(&table.rows).map(|cells| line(cells)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_form_aligns_columns_and_keeps_exact_bytes() {
        let view = View::text("two boxes\n")
            .and_table(["NAME", "BASE"], [vec!["a".into(), "x".into()], vec!["longer".into(), "y".into()]]);
        assert_eq!(view.plain(), "two boxes\nNAME    BASE\na       x\nlonger  y");
        assert_eq!(View::exact("no newline\n\n").plain(), "no newline\n\n");
        assert!(View::exact("").is_empty() && !view.is_empty());
    }
}
