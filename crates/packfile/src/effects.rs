//! What a verb may do to the world, in the words of policy files.

use std::collections::BTreeSet;

/// One kind of effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Act {
    /// Changes something that can be changed back.
    Write,
    /// Removes something, or overwrites what cannot be brought back.
    Destroy,
    /// Runs code that the caller supplies.
    Execute,
    /// Lets a secret leave.
    Disclose,
}

impl Act {
    /// All of them with their names in packs and policy files.
    pub const NAMES: [(&str, Self); 4] =
        [("write", Self::Write), ("destroy", Self::Destroy), ("execute", Self::Execute), ("disclose", Self::Disclose)];

    /// The name in packs and policy files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Destroy => "destroy",
            Self::Execute => "execute",
            Self::Disclose => "disclose",
        }
    }
}

/// A set of effects with two flags. The empty set only reads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Effects {
    /// What it does; empty means that it only looks.
    pub acts: BTreeSet<Act>,
    /// Whether a second equal call changes nothing more.
    pub idempotent: bool,
    /// Whether it reaches systems that nobody here configured.
    pub open_world: bool,
}

impl Effects {
    /// Whether nothing changes, nothing runs and nothing secret leaves.
    #[must_use]
    pub fn is_read(&self) -> bool {
        self.acts.is_empty()
    }

    /// Whether something may change or run.
    #[must_use]
    pub fn changes(&self) -> bool {
        self.acts.iter().any(|act| *act != Act::Disclose)
    }

    /// Both sets together; idempotent only if both are (a read is).
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self {
            acts: self.acts.union(&other.acts).copied().collect(),
            idempotent: (self.idempotent || !self.changes()) && (other.idempotent || !other.changes()),
            open_world: self.open_world || other.open_world,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unions_keep_the_worst() {
        let read = Effects::default();
        let write = Effects { acts: [Act::Write].into(), idempotent: true, open_world: false };
        let destroy = Effects { acts: [Act::Destroy].into(), idempotent: false, open_world: true };
        assert!(read.is_read() && !read.changes() && write.changes());
        assert!(read.and(&write).idempotent, "reading is idempotent");
        let all = write.and(&destroy);
        assert_eq!(all.acts, [Act::Write, Act::Destroy].into());
        assert!(!all.idempotent && all.open_world);
        assert!(Act::NAMES.iter().all(|(name, act)| act.name() == *name));
    }
}
