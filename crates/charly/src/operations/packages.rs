//! What the four `candy.add-…` tools share: where packages of a format go.

use crate::{
    edit::{Draft, Edit, Ready},
    host::{Host, Inside},
    model::{self, Entity, EntityKind, names, places, resolve},
};
use pintle_core::{Failure, Prepared};
use pintle_yaml::{Node, Segment, Yaml};

/// One operation that adds packages of one family; the four differ in nothing but the words.
macro_rules! operation {
    ($(#[$about:meta])* $type:ident, $name:literal, $older:literal, $family:literal) => {
        $(#[$about])*
        #[derive(Clone, Debug, serde::Deserialize, schemars::JsonSchema)]
        pub(crate) struct $type {
            /// Candy
            #[schemars(extend("x-cli" = {"positional": 1}))]
            name: String,
            /// Packages
            #[schemars(length(min = 1), extend("x-cli" = {"positional": 2}))]
            packages: Vec<String>,
            #[serde(flatten)]
            edit: $crate::edit::Edit,
        }

        impl pintle_core::Change for $type {
            type Host = $crate::host::Host;
            type Ready = $crate::edit::Ready;
            type Answer = $crate::edit::Edited;
            const NAME: &'static str = $name;
            const WORST: pintle_core::Effect = pintle_core::Effect::WRITE.idempotent();
            const ALIASES: &'static [&'static str] = &[$older];
            const SPELLINGS: pintle_core::Spellings =
                pintle_core::Spellings { singles: &["packages"], ..pintle_core::Spellings::NONE };

            async fn prepare(
                self,
                host: &Self::Host,
                _: &pintle_core::Call,
            ) -> Result<pintle_core::Prepared<Self::Ready>, pintle_core::Stop> {
                let host = host.clone();
                let work = move || {
                    $crate::operations::packages::prepare(
                        &host,
                        Self::NAME,
                        $family,
                        &self.name,
                        &self.packages,
                        self.edit,
                    )
                };
                Ok($crate::host::off_thread(work).await?)
            }

            async fn commit(
                host: &Self::Host,
                ready: Self::Ready,
                permit: &pintle_core::Permit,
                call: &pintle_core::Call,
            ) -> Result<Self::Answer, pintle_core::Stop> {
                $crate::edit::commit(host, ready, permit, call).await
            }
        }
    };
}
pub(crate) use operation;

/// Adds packages to a candy, those it has apart.
pub(crate) fn prepare(
    host: &Host,
    tool: &'static str,
    format: &str,
    candy: &str,
    packages: &[String],
    edit: Edit,
) -> Result<Prepared<Ready>, Failure> {
    for (index, package) in packages.iter().enumerate() {
        names::package(package).map_err(|message| Failure::invalid_argument(&format!("packages/{index}"), message))?;
    }
    let draft = Draft::open(host, tool, edit)?;
    let (spot, new) = {
        let model = model::read(&draft.sources);
        let candy = draft.find(&model, EntityKind::Candy, candy, "name")?;
        let rest = list(candy, format);
        let spot = places::of_field(candy, &rest)?;
        (spot, missing(&there(candy, &rest), packages))
    };
    let text =
        draft.yaml(&spot.file, |editor| if new.is_empty() { Ok(false) } else { editor.append(&spot.path, &new) })?;
    draft.finish(&Inside::of(spot.file), text, None)
}

/// Where the packages of a format stand in this candy, from its body: the section of the format, or of a distribution
/// that uses it, where the candy lists packages by distribution.
fn list(candy: &Entity<'_>, format: &str) -> Vec<Segment> {
    let keys = |keys: &[&str]| keys.iter().map(|key| Segment::Key((*key).to_owned())).collect();
    let distro = candy.field("distro").filter(|node| node.is_mapping());
    let Some(distro) = distro.filter(|_| candy.field(format).is_none()) else {
        let section = candy.field(format);
        return keys(&[format, spelled(section, "packages")]);
    };
    let tag = distro.entries().map(|(tag, value)| (tag.key_text(), value)).find(|(tag, _)| resolve::is_of(tag, format));
    let (tag, value) = match tag {
        Some((tag, value)) => (tag, Some(value)),
        None => (family(format), None),
    };
    if format == "aur" {
        let section = value.and_then(|value| value.get("aur"));
        return keys(&["distro", tag, "aur", spelled(section, "package")]);
    }
    if value.is_some_and(Node::is_sequence) {
        return keys(&["distro", tag]);
    }
    keys(&["distro", tag, spelled(value, "package")])
}

/// The spelling of the list of packages that a section has, else the one to write.
fn spelled(section: Option<Node<'_>>, usual: &'static str) -> &'static str {
    let has = |word: &str| section.is_some_and(|section| section.get(word).is_some());
    ["packages", "package"].into_iter().find(|word| has(word)).unwrap_or(usual)
}

fn family(format: &str) -> &'static str {
    match format {
        "rpm" => "fedora",
        "deb" => "debian,ubuntu",
        _ => "arch",
    }
}

/// The packages that stand there now.
fn there<'a>(candy: &Entity<'a>, path: &[Segment]) -> Vec<&'a str> {
    let mut keys = path.iter().filter_map(|segment| match segment {
        Segment::Key(key) => Some(key.as_str()),
        _ => None,
    });
    let first = keys.next().and_then(|field| candy.field(field));
    let list = keys.fold(first, |node, key| node?.get(key));
    list.into_iter().flat_map(Node::items).filter_map(Node::source_text).collect()
}

fn missing(there: &[&str], packages: &[String]) -> Vec<Yaml> {
    let mut new: Vec<&str> = Vec::new();
    for package in packages {
        if !there.contains(&package.as_str()) && !new.contains(&package.as_str()) {
            new.push(package);
        }
    }
    new.into_iter().map(Yaml::from).collect()
}
