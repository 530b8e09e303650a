//! The words of project files: directives, node kinds, and the fields of boxes and candies.

use super::shapes::Shape;

/// Keys of a file that are no nodes.
pub const DIRECTIVES: [&str; 5] = ["version", "repo", "import", "discover", "defaults"];

/// Words that make a node a step of a plan.
pub const STEPS: [&str; 5] = ["check", "run", "agent-check", "agent-run", "include"];

/// Words that make a node an entity.
pub const ENTITIES: [&str; 3] = ["box", "candy", "pod"];

/// A field: its name, other spellings that are read too, and what its value looks like.
pub struct Field {
    /// The spelling that is written.
    pub name: &'static str,
    /// Spellings that are read too.
    pub also: &'static [&'static str],
    /// What its value looks like.
    pub shape: Shape,
}

const fn field(name: &'static str, shape: Shape) -> Field {
    Field { name, also: &[], shape }
}

const fn spelled(name: &'static str, also: &'static [&'static str], shape: Shape) -> Field {
    Field { name, also, shape }
}

/// Fields of a box.
pub const BOX: &[Field] = &[
    field("base", Shape::Base),
    field("from", Shape::Base),
    field("candy", Shape::Candies),
    field("distro", Shape::Words),
    field("build", Shape::Formats),
    field("registry", Shape::Text),
    field("tag", Shape::Text),
    field("platform", Shape::Words),
    field("user", Shape::Text),
    field("uid", Shape::Id),
    field("gid", Shape::Id),
    field("env", Shape::Env),
    field("network", Shape::Text),
    field("init", Shape::Text),
    field("enabled", Shape::Bool),
    field("alias", Shape::Any),
    field("merge", Shape::Any),
    field("security", Shape::Any),
    field("description", Shape::Text),
    field("version", Shape::CalVer),
    field("status", Shape::Status),
    spelled("port", &["ports"], Shape::Ports),
    spelled("volume", &["volumes"], Shape::Volumes),
];

/// Fields of a candy.
pub const CANDY: &[Field] = &[
    field("version", Shape::CalVer),
    field("description", Shape::Text),
    field("status", Shape::Status),
    field("candy", Shape::Candies),
    spelled("require", &["requires"], Shape::Candies),
    field("rpm", Shape::Packages),
    field("deb", Shape::Packages),
    field("pac", Shape::Packages),
    field("aur", Shape::Packages),
    spelled("package", &["packages"], Shape::PackageNames),
    field("distro", Shape::DistroPackages),
    field("env", Shape::Env),
    field("path_append", Shape::Words),
    spelled("port", &["ports"], Shape::Ports),
    spelled("volume", &["volumes"], Shape::Volumes),
    spelled("service", &["services"], Shape::Services),
    spelled("mcp_provide", &["mcp_provides"], Shape::Provides),
    spelled("mcp_require", &["mcp_requires"], Shape::Needs),
    spelled("mcp_accept", &["mcp_accepts"], Shape::Needs),
    spelled("env_require", &["env_requires"], Shape::Needs),
    spelled("env_accept", &["env_accepts"], Shape::Needs),
    spelled("secret_require", &["secret_requires"], Shape::Needs),
    spelled("secret_accept", &["secret_accepts"], Shape::Needs),
    spelled("env_provide", &["env_provides"], Shape::Env),
    field("secret", Shape::Any),
    field("hook", Shape::Any),
    field("data", Shape::Any),
    field("extract", Shape::Any),
    field("route", Shape::Any),
    field("alias", Shape::Any),
    field("security", Shape::Any),
    field("artifact", Shape::Any),
];

/// Fields of a deployment, which mostly stand in the file of a host.
pub const POD: &[Field] = &[
    field("image", Shape::Text),
    field("description", Shape::Text),
    field("env", Shape::Env),
    field("network", Shape::Text),
    field("enabled", Shape::Bool),
    field("port_mode", Shape::Text),
    spelled("port", &["ports"], Shape::Ports),
    spelled("volume", &["volumes"], Shape::Any),
    field("security", Shape::Any),
];

/// The field of a table that a word means.
#[must_use]
pub fn find(fields: &'static [Field], word: &str) -> Option<&'static Field> {
    fields.iter().find(|field| field.name == word || field.also.contains(&word))
}

/// Whether a word can make a node a node of one field.
#[must_use]
pub fn is_field(word: &str) -> bool {
    [BOX, CANDY, POD].iter().any(|fields| find(fields, word).is_some())
}

/// Whether a word says what a node is.
#[must_use]
pub fn is_discriminator(word: &str) -> bool {
    STEPS.contains(&word) || ENTITIES.contains(&word) || is_field(word)
}

/// The four package formats.
pub const FORMATS: [&str; 4] = ["rpm", "deb", "pac", "aur"];
