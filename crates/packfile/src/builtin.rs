//! The packs that come with the program.

/// Name and text of every pack that comes with the program.
pub static BUILTIN: &[(&str, &str)] =
    &[("eggs", include_str!("../../../packs/eggs.toml")), ("tar", include_str!("../../../packs/tar.toml"))];
