//! A digest of the state that an operation saw.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fmt;

/// SHA-256, shown as 64 hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    /// The digest of some bytes.
    #[must_use]
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        let hash = Sha256::digest(bytes.as_ref());
        Self(hash.iter().fold(String::with_capacity(64), |mut text, byte| {
            use fmt::Write as _;
            let _ = write!(text, "{byte:02x}");
            text
        }))
    }

    /// The digest of several parts, each bounded so that `["ab", "c"]` and `["a", "bc"]` differ.
    #[must_use]
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut whole = Vec::new();
        for part in parts {
            whole.extend_from_slice(&(part.len() as u64).to_be_bytes());
            whole.extend_from_slice(part);
        }
        Self::of(whole)
    }

    /// The digest of a JSON value with sorted keys, so that key order does not matter.
    #[must_use]
    pub fn of_json(value: &serde_json::Value) -> Self {
        let mut text = String::new();
        canonical(value, &mut text);
        Self::of(text)
    }

    /// The 64 digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn canonical(value: &serde_json::Value, out: &mut String) {
    use serde_json::Value;
    match value {
        Value::Object(map) => {
            let mut keys: Vec<_> = map.keys().collect();
            keys.sort();
            out.push('{');
            for key in keys {
                out.push_str(&Value::String(key.clone()).to_string());
                out.push(':');
                canonical(&map[key], out);
                out.push(',');
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for item in items {
                canonical(item, out);
                out.push(',');
            }
            out.push(']');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({}…)", &self.0[..12])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn order_of_keys_does_not_matter_but_bounds_do() {
        assert_eq!(Digest::of_json(&json!({"a": 1, "b": [2]})), Digest::of_json(&json!({"b": [2], "a": 1})));
        assert_ne!(Digest::of_json(&json!([1, 2])), Digest::of_json(&json!([2, 1])));
        assert_ne!(Digest::of_parts([b"ab".as_slice(), b"c"]), Digest::of_parts([b"a".as_slice(), b"bc"]));
        assert_eq!(Digest::of("").as_str(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}
