//! What an operation may do to the world.

use std::fmt;

/// A set of effects with two flags.
///
/// The empty set is [`Effect::READ`]: nothing changes and nothing secret leaves. `WORST` of an operation is published;
/// what its `prepare` finds must lie [`within`](Effect::within) it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Effect(u8);

const ACTS: u8 = 0b0000_1111;
const IDEMPOTENT: u8 = 0b0001_0000;
const OPEN_WORLD: u8 = 0b0010_0000;

impl Effect {
    /// Only looks.
    pub const READ: Self = Self(0);
    /// Changes something that can be changed back.
    pub const WRITE: Self = Self(1);
    /// Removes something, or overwrites what cannot be brought back.
    pub const DESTROY: Self = Self(2);
    /// Runs code that the caller supplies.
    pub const EXECUTE: Self = Self(4);
    /// Lets a secret leave.
    pub const DISCLOSE: Self = Self(8);

    /// Both sets together; the idempotent flag stays only if both have it.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(((self.0 | other.0) & !IDEMPOTENT) | (self.0 & other.0 & IDEMPOTENT))
    }

    /// The same effect, where a second equal call changes nothing more.
    #[must_use]
    pub const fn idempotent(self) -> Self {
        Self(self.0 | IDEMPOTENT)
    }

    /// The same effect, reaching systems beyond this machine and its configured clusters.
    #[must_use]
    pub const fn open_world(self) -> Self {
        Self(self.0 | OPEN_WORLD)
    }

    /// Whether every act of `self` is among those of `worst`.
    #[must_use]
    pub const fn within(self, worst: Self) -> bool {
        self.0 & !worst.0 & ACTS == 0
    }

    /// Whether the acts of `other` are all in this set; `has(READ)` is true only for pure reads.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        if other.0 & ACTS == 0 { self.is_read() } else { self.0 & other.0 & ACTS == other.0 & ACTS }
    }

    /// Whether nothing changes, nothing runs and nothing secret leaves.
    #[must_use]
    pub const fn is_read(self) -> bool {
        self.0 & ACTS == 0
    }

    /// Whether something may change or run: a permit is needed.
    #[must_use]
    pub const fn changes(self) -> bool {
        self.0 & (ACTS & !Self::DISCLOSE.0) != 0
    }

    /// Whether repeating the call changes nothing more; true for reads.
    #[must_use]
    pub const fn is_idempotent(self) -> bool {
        self.0 & IDEMPOTENT != 0 || !self.changes()
    }

    /// Whether the operation talks to systems that nobody here configured.
    #[must_use]
    pub const fn is_open_world(self) -> bool {
        self.0 & OPEN_WORLD != 0
    }

    /// The acts by name, `["read"]` for the empty set.
    #[must_use]
    pub fn names(self) -> Vec<&'static str> {
        let all = [
            (Self::WRITE, "write"),
            (Self::DESTROY, "destroy"),
            (Self::EXECUTE, "execute"),
            (Self::DISCLOSE, "disclose"),
        ];
        let named: Vec<_> = all.into_iter().filter(|(e, _)| self.has(*e)).map(|(_, n)| n).collect();
        if named.is_empty() { vec!["read"] } else { named }
    }

    /// The effect of that name, as policy files write it.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "read" => Self::READ,
            "write" => Self::WRITE,
            "destroy" => Self::DESTROY,
            "execute" => Self::EXECUTE,
            "disclose" => Self::DISCLOSE,
            _ => return None,
        })
    }
}

impl fmt::Debug for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names().join("+"))?;
        if self.0 & IDEMPOTENT != 0 {
            f.write_str(" idempotent")?;
        }
        if self.is_open_world() {
            f.write_str(" open-world")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_and_flags() {
        let both = Effect::WRITE.idempotent().and(Effect::DESTROY);
        assert!(both.has(Effect::WRITE) && both.has(Effect::DESTROY) && !both.has(Effect::READ));
        assert!(!both.is_idempotent(), "idempotent only if both are");
        assert!(Effect::READ.within(Effect::WRITE) && !Effect::WRITE.within(Effect::DESTROY));
        assert!(Effect::DISCLOSE.is_idempotent() && !Effect::DISCLOSE.is_read() && !Effect::DISCLOSE.changes());
        assert_eq!(Effect::READ.names(), ["read"]);
        assert_eq!(format!("{:?}", Effect::WRITE.and(Effect::DISCLOSE).open_world()), "write+disclose open-world");
        for name in ["read", "write", "destroy", "execute", "disclose"] {
            assert_eq!(Effect::named(name).unwrap().names(), [name]);
        }
    }
}
