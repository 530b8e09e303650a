//! The process's only source of permits.

use pintle_core::{Authority, Code, Effect, Failure, Permit, Scope};
use std::sync::OnceLock;

static AUTHORITY: OnceLock<Option<Authority>> = OnceLock::new();

/// A permit; fails closed when somebody else claimed the authority first.
pub(crate) fn permit(effect: Effect, scopes: &[Scope]) -> Result<Permit, Failure> {
    match AUTHORITY.get_or_init(Authority::claim) {
        Some(authority) => Ok(authority.permit(effect, scopes.to_vec())),
        None => Err(Failure::new(Code::Internal, "permits are given out elsewhere in this process")),
    }
}
