//! The right to change something, given out in one place only.

use crate::{Code, Effect, Failure, Scope};
use std::sync::atomic::{AtomicBool, Ordering};

static CLAIMED: AtomicBool = AtomicBool::new(false);

/// The only source of permits. There is one in a process, and the dispatch crate holds it.
#[derive(Debug)]
pub struct Authority(());

impl Authority {
    /// The authority, for the first who asks in this process; `None` for everybody else.
    #[must_use]
    pub fn claim() -> Option<Self> {
        (!CLAIMED.swap(true, Ordering::AcqRel)).then_some(Self(()))
    }

    /// A permit for these effects in these scopes.
    #[must_use]
    pub fn permit(&self, effect: Effect, scopes: Vec<Scope>) -> Permit {
        Permit { effect, scopes }
    }
}

/// Proof that policy was asked and said yes. Whoever changes anything demands one and checks it.
///
/// It cannot be made outside of [`Authority`]:
///
/// ```compile_fail
/// let permit = pintle_core::Permit { effect: pintle_core::Effect::WRITE, scopes: vec![] };
/// ```
#[derive(Debug)]
pub struct Permit {
    effect: Effect,
    scopes: Vec<Scope>,
}

impl Permit {
    /// Whether this permit allows `effect` on `scope`; a failure of code `denied` otherwise.
    ///
    /// # Errors
    /// When an effect or the scope is not covered.
    pub fn check(&self, effect: Effect, scope: &Scope) -> Result<(), Failure> {
        if effect.within(self.effect) && self.scopes.iter().any(|mine| mine.covers(scope)) {
            return Ok(());
        }
        Err(Failure::new(Code::Denied, format!("no permit to {} {scope}", effect.names().join(" and ")))
            .hint("this is a fault of the operation: what it does is not what it prepared"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_authority_and_permits_fail_closed() {
        let authority = Authority::claim().unwrap();
        assert!(Authority::claim().is_none());
        let permit = authority.permit(Effect::WRITE, vec![Scope::path("/p")]);
        assert!(permit.check(Effect::WRITE, &Scope::path("/p/a")).is_ok());
        assert_eq!(permit.check(Effect::DESTROY, &Scope::path("/p/a")).unwrap_err().code, Code::Denied);
        assert_eq!(permit.check(Effect::WRITE, &Scope::path("/q")).unwrap_err().code, Code::Denied);
        let nowhere = authority.permit(Effect::WRITE, vec![]);
        assert!(nowhere.check(Effect::WRITE, &Scope::path("/p")).is_err(), "no scope covers nothing");
    }
}
