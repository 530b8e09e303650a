//! A read with more rows than one answer may hold.

use super::World;
use pintle_core::{Answer, Call, CutRows, Query, Row, Rows, Stop, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Lists many rows.
#[derive(Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct ManyRows {
    /// How many.
    #[schemars(range(max = 100_000))]
    count: u32,
}

impl Default for ManyRows {
    fn default() -> Self {
        Self { count: 5000 }
    }
}

#[derive(Serialize, JsonSchema)]
struct One {
    name: String,
    note: String,
}

impl Row for One {
    fn key(&self) -> String {
        self.name.clone()
    }
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Many {
    rows: Rows<One>,
}

impl Query for ManyRows {
    type Host = World;
    type Answer = Many;
    const NAME: &str = "trial.rows";
    const PAGED: bool = true;

    async fn run(self, _: &World, _: &Call) -> Result<Many, Stop> {
        let one = |n: u32| One { name: format!("row-{n:06}"), note: "quite an ordinary row".to_owned() };
        Ok(Many { rows: Rows::new((0..self.count).map(one).collect()) })
    }
}

impl Answer for Many {
    fn view(&self) -> View {
        View::table(["NAME", "NOTE"], self.rows.iter().map(|row| vec![row.name.clone(), row.note.clone()]))
    }

    fn rows(&mut self) -> Option<&mut dyn CutRows> {
        Some(&mut self.rows)
    }
}
