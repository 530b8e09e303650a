//! `--tools GLOB,…`

use globset::{Glob, GlobSet, GlobSetBuilder};
use pintle_core::{Code, Failure, Toolset, nearest};
use pintle_dispatch::NameStyle;

/// The patterns as one set.
pub(crate) fn globs(patterns: &[String]) -> Result<GlobSet, Failure> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(glob(pattern)?);
    }
    set.build().map_err(|error| Failure::new(Code::InvalidArgument, format!("`--tools`: {error}")))
}

fn glob(pattern: &str) -> Result<Glob, Failure> {
    Glob::new(pattern).map_err(|error| {
        Failure::new(Code::InvalidArgument, format!("`--tools`: `{pattern}` is no pattern: {}", error.kind()))
    })
}

/// Refuses a pattern that matches no tool: it is a typo, and what it was meant to leave in would be missing.
pub(crate) fn check(patterns: &[String], toolsets: &[Toolset]) -> Result<(), Failure> {
    let names: Vec<&str> =
        toolsets.iter().flat_map(|toolset| &toolset.tools).map(|tool| tool.spec().name.as_str()).collect();
    for pattern in patterns {
        let matcher = glob(pattern)?.compile_matcher();
        if names.iter().any(|name| matcher.is_match(name) || matcher.is_match(&*NameStyle::Underscore.show(name))) {
            continue;
        }
        let failure = Failure::new(Code::InvalidArgument, format!("`--tools`: no tool matches `{pattern}`"));
        return Err(match nearest(pattern, names.iter().copied()) {
            Some(near) => failure.hint(format!("did you mean `{near}`?")),
            None => failure.hint("`pintle tools` lists them"),
        });
    }
    Ok(())
}
