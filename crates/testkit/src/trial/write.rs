//! A planned write whose state can move under it.

use super::World;
use pintle_core::{Answer, Call, Change, Digest, Effect, Lane, Permit, Prepared, Scope, Stop, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::{PoisonError, atomic::Ordering};

const PLACE: &str = "/trial/value";

/// Sets the value of the trial world.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Write {
    /// The new value.
    value: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Written {
    before: String,
    after: String,
}

impl Change for Write {
    type Host = World;
    type Ready = String;
    type Answer = Written;
    const NAME: &str = "trial.write";
    const WORST: Effect = Effect::WRITE.idempotent();

    async fn prepare(self, world: &World, _: &Call) -> Result<Prepared<String>, Stop> {
        let now = world.value();
        Ok(Prepared {
            effect: Effect::WRITE.idempotent(),
            scopes: vec![Scope::path(PLACE)],
            lanes: vec![Lane::new("trial:value")],
            preview: format!("-{now}\n+{}", self.value),
            seen: Digest::of_parts([now.as_bytes(), self.value.as_bytes()]),
            confirm: None,
            ready: self.value,
        })
    }

    async fn commit(world: &World, value: String, permit: &Permit, _: &Call) -> Result<Written, Stop> {
        permit.check(Effect::WRITE, &Scope::path(PLACE))?;
        let mut held = world.value.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *held, value.clone());
        world.writes.fetch_add(1, Ordering::SeqCst);
        Ok(Written { before, after: value })
    }
}

impl Answer for Written {
    fn view(&self) -> View {
        View::text(format!("{} is now {}", self.before, self.after))
    }
}
