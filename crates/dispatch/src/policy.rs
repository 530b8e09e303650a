//! The operator's rules.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use pintle_core::{Confirm, Effect, Scope};
use serde::Deserialize;
use std::{fmt, path::Path};

/// Rules in order; the first that matches wins.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    tool: Option<GlobSet>,
    effect: Option<Vec<Effect>>,
    cluster: Option<GlobSet>,
    namespace: Option<GlobSet>,
    kind: Option<GlobSet>,
    path: Option<GlobSet>,
    verdict: Verdict,
}

/// What a rule says, from mild to strict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// Go on.
    Allow,
    /// Confirm first.
    Confirm(Confirm),
    /// No.
    Deny,
}

/// What is wrong with a policy file, as `FILE:LINE:COLUMN: message`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError(String);

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PolicyError {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    rule: Vec<toml::Spanned<FileRule>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileRule {
    tool: Option<Words>,
    effect: Option<Words>,
    cluster: Option<Words>,
    namespace: Option<Words>,
    kind: Option<Words>,
    path: Option<Words>,
    allow: Option<bool>,
    confirm: Option<String>,
}

/// One word or a list of them.
struct Words(Vec<String>);

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Words;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of texts")
            }
            fn visit_str<E>(self, text: &str) -> Result<Words, E> {
                Ok(Words(vec![text.to_owned()]))
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Words, A::Error> {
                let mut words = Vec::new();
                while let Some(word) = seq.next_element()? {
                    words.push(word);
                }
                Ok(Words(words))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl Policy {
    /// Reads a policy file. Any key or word that is not known is an error: a typo must not open a door.
    ///
    /// # Errors
    /// What is wrong, with file, line and column.
    pub fn parse(text: &str, file: &Path) -> Result<Self, PolicyError> {
        let at = |offset: usize, message: &str| {
            let before = &text[..offset.min(text.len())];
            let line = before.matches('\n').count() + 1;
            let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
            PolicyError(format!("{}:{line}:{column}: {message}", file.display()))
        };
        let parsed: File = toml::from_str(text)
            .map_err(|error| at(error.span().map_or(0, |span| span.start), &error.message().replace('\n', " ")))?;
        let rules = parsed.rule.into_iter().map(|rule| {
            let start = rule.span().start;
            Rule::from_file(rule.into_inner()).map_err(|message| at(start, &message))
        });
        Ok(Self { rules: rules.collect::<Result<_, _>>()? })
    }

    /// The verdict on the tool alone, where some rule decides whatever effect and scope turn out to be.
    pub(crate) fn on_tool(&self, tool: &str) -> Option<Verdict> {
        let first = self.rules.iter().find(|rule| matches(&rule.tool, Some(tool)))?;
        first.is_unconditional().then_some(first.verdict)
    }

    /// The strictest verdict over all scopes, `default` where no rule matches.
    pub(crate) fn on_scopes(&self, tool: &str, effect: Effect, scopes: &[Scope], default: Verdict) -> Verdict {
        let nowhere = [Scope::default()];
        let scopes = if scopes.is_empty() { &nowhere[..] } else { scopes };
        let verdicts = scopes.iter().map(|scope| {
            let rule = self.rules.iter().find(|rule| rule.matches(tool, effect, scope));
            rule.map_or(default, |rule| rule.verdict)
        });
        verdicts.max().unwrap_or(default)
    }

    /// Whether some call of the tool may need that confirmation.
    pub(crate) fn may_need(&self, tool: &str, confirm: Confirm, default: Confirm) -> bool {
        for rule in self.rules.iter().filter(|rule| matches(&rule.tool, Some(tool))) {
            if rule.verdict == Verdict::Confirm(confirm) {
                return true;
            }
            if rule.is_unconditional() {
                return false;
            }
        }
        default == confirm
    }
}

impl Rule {
    fn from_file(file: FileRule) -> Result<Self, String> {
        let verdict = match (file.allow, file.confirm.as_deref()) {
            (Some(true), None) => Verdict::Allow,
            (Some(false), None) => Verdict::Deny,
            (None, Some("plan")) => Verdict::Confirm(Confirm::Plan),
            (None, Some("human")) => Verdict::Confirm(Confirm::Human),
            (None, Some(other)) => return Err(format!("`confirm` must be \"plan\" or \"human\", not \"{other}\"")),
            (Some(_), Some(_)) => return Err("a rule has `allow` or `confirm`, not both".to_owned()),
            (None, None) => return Err("a rule needs `allow = true`, `allow = false`, or `confirm`".to_owned()),
        };
        let effect = file.effect.map(|words| {
            let named = |word: &String| {
                Effect::named(word).ok_or_else(|| {
                    format!("`effect` must be read, write, destroy, execute or disclose, not \"{word}\"")
                })
            };
            words.0.iter().map(named).collect::<Result<Vec<_>, _>>()
        });
        Ok(Self {
            tool: globs("tool", file.tool, false)?,
            effect: effect.transpose()?,
            cluster: globs("cluster", file.cluster, false)?,
            namespace: globs("namespace", file.namespace, false)?,
            kind: globs("kind", file.kind, false)?,
            path: globs("path", file.path, true)?,
            verdict,
        })
    }

    fn is_unconditional(&self) -> bool {
        self.effect.is_none() && !self.is_scoped()
    }

    fn is_scoped(&self) -> bool {
        [&self.cluster, &self.namespace, &self.kind, &self.path].iter().any(|globs| globs.is_some())
    }

    fn matches(&self, tool: &str, effect: Effect, scope: &Scope) -> bool {
        matches(&self.tool, Some(tool))
            && self.effect.as_ref().is_none_or(|effects| effects.iter().any(|e| effect.has(*e)))
            && matches(&self.cluster, scope.cluster.as_deref())
            && matches(&self.namespace, scope.namespace.as_deref())
            && matches(&self.kind, scope.kind.as_deref())
            && matches(&self.path, scope.path.as_deref())
    }
}

fn matches(globs: &Option<GlobSet>, value: Option<&str>) -> bool {
    match (globs, value) {
        (None, _) => true,
        (Some(globs), Some(value)) => globs.is_match(value),
        (Some(_), None) => false,
    }
}

fn globs(key: &str, words: Option<Words>, is_path: bool) -> Result<Option<GlobSet>, String> {
    let Some(words) = words else { return Ok(None) };
    if words.0.is_empty() {
        return Err(format!("`{key}` is an empty list: it would match nothing"));
    }
    let mut set = GlobSetBuilder::new();
    for word in &words.0 {
        let glob = GlobBuilder::new(word).literal_separator(is_path).build();
        set.add(glob.map_err(|error| format!("`{key}`: {error}"))?);
        if is_path {
            let beneath = format!("{}/**", word.trim_end_matches('/'));
            set.add(
                GlobBuilder::new(&beneath)
                    .literal_separator(true)
                    .build()
                    .map_err(|error| format!("`{key}`: {error}"))?,
            );
        }
    }
    set.build().map(Some).map_err(|error| format!("`{key}`: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(text: &str) -> Policy {
        Policy::parse(text, Path::new("policy.toml")).unwrap()
    }
    fn refused(text: &str) -> String {
        Policy::parse(text, Path::new("policy.toml")).unwrap_err().to_string()
    }

    #[test]
    fn the_first_match_wins_and_the_strictest_scope_decides() {
        let policy = policy(
            "[[rule]]\ntool = \"delete_*\"\nallow = false\n\n[[rule]]\ncluster = [\"prod-*\"]\neffect = \"write\"\nconfirm = \"human\"\n\n[[rule]]\npath = \"/srv\"\nallow = true\n",
        );
        let on =
            |tool, effect, scopes: &[Scope]| policy.on_scopes(tool, effect, scopes, Verdict::Confirm(Confirm::Plan));
        assert_eq!(policy.on_tool("delete_app"), Some(Verdict::Deny));
        assert_eq!(policy.on_tool("scale_app"), None, "depends on effect and scope");
        let (prod, dev) = (Scope::cluster("prod-eu"), Scope::cluster("dev"));
        assert_eq!(on("scale_app", Effect::WRITE, std::slice::from_ref(&dev)), Verdict::Confirm(Confirm::Plan));
        assert_eq!(on("scale_app", Effect::WRITE, &[dev, prod.clone()]), Verdict::Confirm(Confirm::Human));
        assert_eq!(on("scale_app", Effect::READ, &[prod]), Verdict::Confirm(Confirm::Plan), "the default");
        assert_eq!(on("box.set", Effect::WRITE, &[Scope::path("/srv/web/charly.yml")]), Verdict::Allow);
        assert_eq!(on("box.set", Effect::WRITE, &[Scope::path("/srvx")]), Verdict::Confirm(Confirm::Plan));
        assert!(policy.may_need("scale_app", Confirm::Human, Confirm::Nothing));
        assert!(!policy.may_need("delete_app", Confirm::Human, Confirm::Human), "it is denied outright");
    }

    #[test]
    fn typos_are_refused_with_their_place() {
        assert!(
            refused("[[rule]]\ntoool = \"x\"\nallow = true\n").starts_with("policy.toml:2:1: unknown field `toool`")
        );
        assert!(refused("[[rules]]\nallow = true\n").starts_with("policy.toml:1:3: unknown field `rules`"));
        assert!(refused("[[rule]]\nconfirm = \"maybe\"\n").contains("`confirm` must be"));
        assert!(refused("[[rule]]\ntool = \"x\"\n").contains("needs `allow"));
        assert!(refused("[[rule]]\ntool = []\nallow = false\n").contains("empty list"));
        assert!(refused("[[rule]]\neffect = \"wirte\"\nallow = false\n").contains("\"wirte\""));
        assert!(refused("[[rule]]\ntool = \"[\"\nallow = false\n").contains("`tool`"));
        assert!(refused("[[rule]\n").starts_with("policy.toml:1:"));
    }
}
