//! `cargo xtask bench`: the budgets, measured; a rival's figure beside ours where one runs here.
//!
//! It judges no time: a slow machine is no defect. It ends with 1 only when something could not be measured.

mod http;
mod measure;
mod stdio;

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::{End, Trouble, place::Place, run, tools};

/// Which side of the budget is the good one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    Less,
    More,
}

/// The same figure of another program.
#[derive(Debug, Clone)]
pub struct Rival {
    pub name: &'static str,
    pub value: f64,
}

/// One figure.
#[derive(Debug, Clone)]
pub struct Line {
    pub name: String,
    pub unit: &'static str,
    /// What the budget is about: the median, or the tail where the name says p99.
    pub value: f64,
    /// The 99th percentile of the same samples, where there were several.
    pub p99: Option<f64>,
    pub budget: Option<f64>,
    pub better: Better,
    pub rivals: Vec<Rival>,
}

impl Line {
    /// A figure that should be small.
    pub fn new(name: impl Into<String>, unit: &'static str, value: f64) -> Self {
        Self { name: name.into(), unit, value, p99: None, budget: None, better: Better::Less, rivals: Vec::new() }
    }

    /// The median of samples, with their tail.
    pub fn of(name: impl Into<String>, unit: &'static str, samples: &Samples) -> Self {
        Self { p99: Some(samples.p99()), ..Self::new(name, unit, samples.median()) }
    }

    pub fn budget(self, budget: f64) -> Self {
        Self { budget: Some(budget), ..self }
    }

    pub fn at_least(self, budget: f64) -> Self {
        Self { budget: Some(budget), better: Better::More, ..self }
    }

    pub fn rival(mut self, name: &'static str, value: Option<f64>) -> Self {
        self.rivals.extend(value.map(|value| Rival { name, value }));
        self
    }

    fn within(&self) -> Option<bool> {
        self.budget.map(|budget| match self.better {
            Better::Less => self.value <= budget,
            Better::More => self.value >= budget,
        })
    }

    fn text(&self) -> String {
        let mut text = format!("{:<52} {:>10} {}", self.name, figure(self.value), self.unit);
        if let Some(p99) = self.p99 {
            text.push_str(&format!(", p99 {}", figure(p99)));
        }
        if let (Some(budget), Some(within)) = (self.budget, self.within()) {
            let sign = if self.better == Better::Less { "≤" } else { "≥" };
            let verdict = if within { "within" } else { "OVER" };
            text.push_str(&format!(", budget {sign} {}: {verdict}", figure(budget)));
        }
        for rival in &self.rivals {
            let ratio = self.value / rival.value;
            text.push_str(&format!("; {} {}, ratio {}", rival.name, figure(rival.value), figure(ratio)));
        }
        text
    }

    fn json(&self) -> Value {
        let mut value =
            json!({"name": self.name, "unit": self.unit, "value": rounded(self.value), "budget": self.budget});
        if self.better == Better::More {
            value["better"] = json!("more");
        }
        if let Some(p99) = self.p99 {
            value["p99"] = json!(rounded(p99));
        }
        // the best one is the rival; the others stay in the printed line
        let best = |a: &&Rival, b: &&Rival| match self.better {
            Better::Less => a.value.total_cmp(&b.value),
            Better::More => b.value.total_cmp(&a.value),
        };
        if let Some(rival) = self.rivals.iter().min_by(best) {
            value["rival"] = json!({"name": rival.name, "value": rounded(rival.value)});
        }
        value
    }
}

/// To a thousandth of the unit: more digits would only be noise.
fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

/// Three significant digits, no exponent.
fn figure(value: f64) -> String {
    let digits = if value.abs() >= 100.0 {
        0
    } else if value.abs() >= 10.0 {
        1
    } else if value.abs() >= 1.0 {
        2
    } else {
        3
    };
    format!("{value:.digits$}")
}

/// Measured values of one thing.
#[derive(Debug, Clone)]
pub struct Samples(Vec<f64>);

impl Samples {
    /// Sorts the values; there must be at least one.
    pub fn new(mut values: Vec<f64>) -> Result<Self, Trouble> {
        if values.is_empty() {
            return Err(Trouble::Other("nothing was measured".into()));
        }
        values.sort_by(f64::total_cmp);
        Ok(Self(values))
    }

    pub fn median(&self) -> f64 {
        let middle = self.0.len() / 2;
        if self.0.len() % 2 == 1 { self.0[middle] } else { (self.0[middle - 1] + self.0[middle]) / 2.0 }
    }

    /// The value that 99 of 100 do not exceed (nearest rank).
    pub fn p99(&self) -> f64 {
        let rank = (self.0.len() * 99).div_ceil(100);
        self.0[rank.max(1) - 1]
    }
}

/// What measures need: our programs, the rivals' programs, an empty home.
pub struct Bench<'a> {
    pub place: &'a Place,
    /// A folder of its own for homes, projects and state; gone at the end.
    pub scratch: tempfile::TempDir,
}

impl Bench<'_> {
    pub fn pintle(&self) -> PathBuf {
        self.place.release("pintle")
    }

    pub fn fixture(&self) -> PathBuf {
        self.place.release("mcp-fixture")
    }

    /// A rival's program, where it is installed for this processor.
    pub fn rival(&self, program: &str) -> Option<PathBuf> {
        let path = self.place.tools.join("bin").join(program);
        path.exists().then_some(path)
    }
}

pub fn command(place: &Place, arguments: &[String]) -> Result<End, Trouble> {
    let mut json_file = None;
    let mut only = None;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let target = match word.as_str() {
            "--json" => &mut json_file,
            "--only" => &mut only,
            other => return Err(Trouble::Usage(format!("`bench` does not take `{other}`"))),
        };
        let value = words.next().ok_or_else(|| Trouble::Usage(format!("`{word}` needs a value")))?;
        *target = Some(value.clone());
    }
    tools::install(place)?;
    let mut cargo = run::cargo(&place.root);
    cargo.args([
        "build",
        "--quiet",
        "--release",
        "--locked",
        "--package",
        "pintle",
        "--package",
        "pintle-testkit",
        "--bins",
    ]);
    if !run::loud(&mut cargo)? {
        return Err(Trouble::Other("the programs do not compile".into()));
    }
    let scratch = tempfile::tempdir().map_err(Trouble::file("make", std::path::Path::new("a temporary folder")))?;
    let bench = Bench { place, scratch };

    let mut lines = Vec::new();
    let mut missed = false;
    for (name, measure) in measure::ALL {
        if only.as_ref().is_some_and(|word| !name.contains(word.as_str())) {
            continue;
        }
        match measure(&bench) {
            Ok(found) => {
                for line in &found {
                    println!("{}", line.text());
                }
                lines.extend(found);
            }
            Err(why) => {
                missed = true;
                println!("{name}: not measured: {why}");
            }
        }
    }
    if let Some(file) = json_file {
        let path = PathBuf::from(&file);
        let values: Vec<Value> = lines.iter().map(Line::json).collect();
        let mut text = serde_json::to_string_pretty(&values).map_err(|why| Trouble::Other(why.to_string()))?;
        text.push('\n');
        std::fs::write(&path, text).map_err(Trouble::file("write", &path))?;
    }
    Ok(if missed { End::Bad } else { End::Good })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_the_nearest_rank() {
        let samples = Samples::new((1..=200).map(f64::from).collect()).expect("values");
        assert!((samples.p99() - 198.0).abs() < f64::EPSILON);
        assert!((samples.median() - 100.5).abs() < f64::EPSILON);
        let one = Samples::new(vec![7.0]).expect("a value");
        assert!((one.p99() - 7.0).abs() < f64::EPSILON);
    }

    #[test]
    fn a_line_tells_budget_and_rival() {
        let line = Line::new("first answer", "ms", 5.0).budget(10.0).rival("slow", Some(50.0)).rival("absent", None);
        assert!(line.text().contains("budget ≤ 10.0: within; slow 50.0, ratio 0.100"), "{}", line.text());
        assert_eq!(line.json()["rival"], json!({"name": "slow", "value": 50.0}));
        let few = Line::new("calls", "/s", 5.0).at_least(10.0);
        assert!(few.text().contains("≥ 10.0: OVER"), "{}", few.text());
    }
}
