//! Orders from the file beside the program and from variables.

use pintle_testkit::eggs::{ORDER_VARIABLE, ORDERS_FILE, Orders};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// The folder that the program lies in, through any link.
pub fn beside() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|why| format!("its own place: {why}"))?;
    program.parent().map(Path::to_path_buf).ok_or_else(|| "its own place has no folder".to_owned())
}

/// What the file says, then what variables say.
pub fn orders(beside: &Path) -> Result<Orders, String> {
    let file = beside.join(ORDERS_FILE);
    let mut said: Map<String, Value> = match std::fs::read(&file) {
        Ok(text) => serde_json::from_slice(&text).map_err(|why| format!("{}: {why}", file.display()))?,
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => Map::new(),
        Err(why) => return Err(format!("{}: {why}", file.display())),
    };
    for (name, value) in std::env::vars() {
        if let Some(order) = name.strip_prefix(ORDER_VARIABLE) {
            let value = serde_json::from_str(&value).unwrap_or(Value::String(value));
            said.insert(order.to_ascii_lowercase(), value);
        }
    }
    serde_json::from_value(Value::Object(said)).map_err(|why| format!("orders: {why}"))
}
