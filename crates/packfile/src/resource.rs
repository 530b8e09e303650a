//! What a pack offers for reading.

/// One resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceDef {
    /// Its address, such as `eggs://config`.
    pub uri: String,
    /// Short name for people.
    pub name: String,
    /// What it holds.
    pub about: String,
    /// MIME type.
    pub mime: String,
    /// Where it comes from.
    pub source: Source,
    /// Whether secrets are masked in it.
    pub mask: bool,
    /// Bytes that are given at most.
    pub max_bytes: u64,
    /// Whether it is there only when extras are asked for.
    pub extra: bool,
}

/// Where a resource comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The first of these files that exists.
    Files(Vec<String>),
    /// The output of a verb without arguments.
    Verb(String),
    /// Something that the house knows by itself. With the MIME type `application/json` it is given as JSON.
    Probe(HostProbe),
}

/// What the house knows by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostProbe {
    /// Distribution, kernel, and whether this is a live system.
    Distribution,
}
