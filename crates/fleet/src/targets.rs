//! Which clusters a call is about, as arguments.

use pintle_core::Failure;
use schemars::JsonSchema;
use serde::Deserialize;

/// The arguments that every operation over clusters takes; flattened into its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Targets {
    /// Contexts: names, globs or `all`; default: the current one
    #[schemars(extend("x-cli" = {"common": true}))]
    pub clusters: Vec<String>,
    /// One context; older form of `clusters`
    #[schemars(extend("x-cli" = {"common": true, "hidden": true}))]
    pub cluster: Option<String>,
}

/// What a call means that names no cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unnamed {
    /// The current context: reads of ops.
    #[default]
    Current,
    /// Every context: reads of deploy.
    All,
}

impl Targets {
    /// What `clusters` and `cluster` mean, told once in the instructions of a toolset whose reads default to the
    /// current context; the schemas of its tools do not repeat it.
    pub const INSTRUCTIONS: &'static str = "`clusters` takes context names, globs and `all`; without it the current \
        context is asked. `cluster` is the older form for one name.";

    /// One context by name.
    #[must_use]
    pub fn one(name: impl Into<String>) -> Self {
        Self { clusters: vec![name.into()], cluster: None }
    }

    /// Every context.
    #[must_use]
    pub fn all() -> Self {
        Self::one(ALL)
    }

    /// The words asked for, empty ones left out.
    ///
    /// # Errors
    /// Code `invalid_argument` when both arguments are given.
    pub(crate) fn words(&self) -> Result<Vec<&str>, Failure> {
        let several: Vec<&str> = self.clusters.iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
        match self.cluster.as_deref().filter(|word| !word.is_empty()) {
            None => Ok(several),
            Some(one) if several.is_empty() => Ok(vec![one]),
            Some(_) => Err(Failure::invalid_argument("cluster", "is given together with `clusters`")
                .hint("`cluster` is the older form of `clusters`: leave it out")),
        }
    }
}

/// The word for every context.
pub(crate) const ALL: &str = "all";

#[cfg(test)]
mod tests {
    use super::*;
    use pintle_core::schema;
    use serde_json::json;

    /// Lists.
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Lists {
        #[serde(flatten)]
        targets: Targets,
    }

    #[test]
    fn the_schema_costs_a_model_few_bytes() {
        let (_, schema) = schema::arguments_of::<Lists>();
        assert_eq!(
            schema::for_agents(&schema)["properties"],
            json!({"clusters": {"type": "array", "items": {"type": "string"}}, "cluster": {"type": "string"}})
        );
    }

    #[test]
    fn empty_words_are_absent_and_both_spellings_are_refused() {
        let targets = |clusters: &[&str], cluster: Option<&str>| Targets {
            clusters: clusters.iter().map(|c| (*c).to_owned()).collect(),
            cluster: cluster.map(str::to_owned),
        };
        assert_eq!(targets(&[], Some("")).words().unwrap(), Vec::<&str>::new());
        assert_eq!(targets(&["", "a"], Some("")).words().unwrap(), ["a"]);
        assert_eq!(targets(&[], Some("a b")).words().unwrap(), ["a b"]);
        assert!(targets(&["a"], Some("b")).words().unwrap_err().message.contains("together with `clusters`"));
    }
}
