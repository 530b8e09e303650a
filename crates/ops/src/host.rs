//! What the operations act on: the fleet, and the present moment.

use jiff::Timestamp;
use pintle_fleet::{Fleet, FleetOptions};

/// The clusters of this machine, and a clock that tests can stop.
pub struct Host {
    fleet: Fleet,
    now: Option<Timestamp>,
}

impl Host {
    /// Over the clusters that these options lead to. Reads nothing and asks nobody yet.
    #[must_use]
    pub fn new(options: FleetOptions) -> Self {
        Self { fleet: Fleet::new(options), now: None }
    }

    /// With a clock that stands still: ages in answers are then always the same.
    #[must_use]
    pub fn at(mut self, now: Timestamp) -> Self {
        self.now = Some(now);
        self
    }

    /// The clusters.
    #[must_use]
    pub fn fleet(&self) -> &Fleet {
        &self.fleet
    }

    /// The present moment.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now.unwrap_or_else(Timestamp::now)
    }
}
