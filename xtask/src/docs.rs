//! `cargo xtask docs`: the pages under `docs/tools`, one a toolset, made from what the binary says of itself.
//!
//! The data is what `pintle docs-data` prints: the same schemas and descriptions that both doors use.

mod page;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde::Deserialize;
use serde_json::Value;

use crate::{End, Trouble, place::Place, run};

/// What the binary prints.
#[derive(Debug, Deserialize)]
struct Data {
    tools: Vec<Tool>,
}

/// One operation as both doors show it.
#[derive(Debug, Deserialize)]
pub struct Tool {
    toolset: String,
    name: String,
    #[serde(default)]
    title: Option<String>,
    description: String,
    /// Words of what it may do: `read`, `write`, …
    effects: Vec<String>,
    /// The MCP annotations.
    #[serde(default)]
    hints: Value,
    input_schema: Value,
    #[serde(default)]
    output_schema: Value,
    /// The words a person types, without `pintle`; none for tools that agents alone have.
    #[serde(default)]
    command: Option<String>,
}

pub fn command(place: &Place, arguments: &[String]) -> Result<End, Trouble> {
    match arguments {
        [] => {
            build(place)?;
            write(place)?;
            Ok(End::Good)
        }
        [flag] if flag == "--check" => {
            build(place)?;
            let files = drifted(place)?;
            for file in &files {
                println!("{file} is not what `cargo xtask docs` writes");
            }
            Ok(if files.is_empty() { End::Good } else { End::Bad })
        }
        other => Err(Trouble::Usage(format!("`docs` does not take `{}`", other.join(" ")))),
    }
}

fn build(place: &Place) -> Result<(), Trouble> {
    let mut cargo = run::cargo(&place.root);
    cargo.args(["build", "--quiet", "--release", "--locked", "--package", "pintle", "--bin", "pintle"]);
    if run::loud(&mut cargo)? {
        return Ok(());
    }
    Err(Trouble::Other("the binary does not compile".into()))
}

/// The folder of the pages, from the root.
const FOLDER: &str = "docs/tools";

/// Every page by its file name.
fn pages(place: &Place) -> Result<BTreeMap<String, String>, Trouble> {
    let binary = place.release("pintle");
    let output = run::taken(Command::new(&binary).arg("docs-data"))?;
    let data: Data = serde_json::from_slice(&output)
        .map_err(|why| Trouble::Other(format!("`{} docs-data` prints other data: {why}", binary.display())))?;
    Ok(render(&data))
}

fn render(data: &Data) -> BTreeMap<String, String> {
    let mut toolsets: BTreeMap<&str, Vec<&Tool>> = BTreeMap::new();
    for tool in &data.tools {
        toolsets.entry(&tool.toolset).or_default().push(tool);
    }
    toolsets
        .into_iter()
        .map(|(toolset, mut tools)| {
            tools.sort_by(|a, b| a.name.cmp(&b.name));
            (format!("{toolset}.md"), page::render(toolset, &tools))
        })
        .collect()
}

/// The pages in the tree, and whatever else lies in their folder under a page's ending.
fn present(place: &Place) -> Result<Vec<PathBuf>, Trouble> {
    let folder = place.root.join(FOLDER);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(why) => return Err(Trouble::file("read", &folder)(why)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(Trouble::file("read", &folder))?.path();
        if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
    Ok(found)
}

/// The files whose content differs from what would be written, by their path from the root.
pub fn drifted(place: &Place) -> Result<Vec<String>, Trouble> {
    let pages = pages(place)?;
    let mut drifted: Vec<String> = pages
        .iter()
        .filter(|(name, text)| {
            fs::read_to_string(place.root.join(FOLDER).join(name)).map_or(true, |found| &found != *text)
        })
        .map(|(name, _)| format!("{FOLDER}/{name}"))
        .collect();
    for path in present(place)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !pages.contains_key(&name) {
            drifted.push(format!("{FOLDER}/{name}"));
        }
    }
    Ok(drifted)
}

fn write(place: &Place) -> Result<(), Trouble> {
    let folder = place.root.join(FOLDER);
    let pages = pages(place)?;
    fs::create_dir_all(&folder).map_err(Trouble::file("make", &folder))?;
    for path in present(place)? {
        if !path.file_name().is_some_and(|name| pages.contains_key(name.to_string_lossy().as_ref())) {
            fs::remove_file(&path).map_err(Trouble::file("remove", &path))?;
        }
    }
    for (name, text) in pages {
        let path = folder.join(&name);
        fs::write(&path, text).map_err(Trouble::file("write", &path))?;
        println!("{FOLDER}/{name}");
    }
    Ok(())
}
