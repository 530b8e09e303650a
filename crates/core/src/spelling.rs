//! Old spellings of arguments, by table.

use crate::{Code, Failure, Problem};
use serde_json::{Map, Value};

/// What older callers write, and what it means now. Everything not named here is taken as it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spellings {
    /// Old name, new name.
    pub renames: &'static [(&'static str, &'static str)],
    /// Arguments that may come as `"true"` or `"false"`.
    pub booleans: &'static [&'static str],
    /// Arguments for which an empty text means absent.
    pub empty_is_absent: &'static [&'static str],
    /// Lists that may come as a single value.
    pub singles: &'static [&'static str],
}

impl Spellings {
    /// No old spellings.
    pub const NONE: Self = Self { renames: &[], booleans: &[], empty_is_absent: &[], singles: &[] };

    /// Rewrites the arguments to today's spelling. A `null` means absent for every tool.
    ///
    /// # Errors
    /// When an argument is given in both spellings.
    pub fn apply(&self, arguments: &mut Map<String, Value>) -> Result<(), Failure> {
        arguments.retain(|_, value| !value.is_null());
        for (old, new) in self.renames {
            if !arguments.contains_key(*old) {
                continue;
            }
            if arguments.contains_key(*new) {
                let message = format!("`{old}` is the older name of `{new}`; both were given");
                return Err(Failure::new(Code::InvalidArgument, message.clone())
                    .problem(Problem::new(message).at_pointer(format!("/{old}")))
                    .hint(format!("leave out `{old}`")));
            }
            let renamed: Map<_, _> = std::mem::take(arguments)
                .into_iter()
                .map(|(key, value)| (if key == *old { (*new).to_owned() } else { key }, value))
                .collect();
            *arguments = renamed;
        }
        for name in self.booleans {
            if let Some(value @ Value::String(_)) = arguments.get_mut(*name) {
                match value.as_str() {
                    Some("true") => *value = Value::Bool(true),
                    Some("false") => *value = Value::Bool(false),
                    _ => {}
                }
            }
        }
        for name in self.empty_is_absent {
            if arguments.get(*name).and_then(Value::as_str) == Some("") {
                arguments.shift_remove(*name);
            }
        }
        for name in self.singles {
            if let Some(value) = arguments.get_mut(*name).filter(|v| !v.is_array()) {
                *value = Value::Array(vec![value.take()]);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const OLD: Spellings = Spellings {
        renames: &[("image", "box")],
        booleans: &["all"],
        empty_is_absent: &["namespace"],
        singles: &["clusters"],
    };

    fn applied(value: Value) -> Result<Value, Failure> {
        let Value::Object(mut map) = value else { panic!("an object") };
        OLD.apply(&mut map).map(|()| Value::Object(map))
    }

    #[test]
    fn kw_54_kw_55_old_forms_are_rewritten_and_nothing_else() {
        let old = json!({"image": "web", "all": "true", "namespace": "", "clusters": "prod", "extra": null});
        assert_eq!(applied(old).unwrap(), json!({"box": "web", "all": true, "clusters": ["prod"]}));
        let kept = json!({"box": "", "all": "yes", "clusters": ["a"]});
        assert_eq!(applied(kept.clone()).unwrap(), kept);
    }

    #[test]
    fn both_spellings_in_one_call_are_an_error() {
        let failure = applied(json!({"image": "a", "box": "b"})).unwrap_err();
        assert_eq!(failure.code, Code::InvalidArgument);
        assert!(failure.message.contains("`image`") && failure.message.contains("`box`"));
    }
}
