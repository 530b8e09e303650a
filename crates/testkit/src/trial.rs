//! One operation of each shape that is hard to serve right.

mod ask;
mod counts;
mod disclose;
mod echo;
mod fan_out;
mod hang;
mod noisy;
mod panic;
mod pieces;
mod reckless;
mod rows;
mod silent;
mod stream;
mod terminal;
mod text;
mod write;

pub(crate) use pieces::PNG;

use crate::dummy_tools;
use pintle_core::{Confirm, Tool, Toolset, change, query};
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

/// What the trial operations act on; tests look at it and meddle with it.
#[derive(Debug)]
pub struct World {
    value: Mutex<String>,
    writes: AtomicUsize,
    counting: AtomicUsize,
    hanging: AtomicUsize,
    cancelled: AtomicUsize,
}

impl Default for World {
    fn default() -> Self {
        Self {
            value: Mutex::new("first".to_owned()),
            writes: AtomicUsize::new(0),
            counting: AtomicUsize::new(0),
            hanging: AtomicUsize::new(0),
            cancelled: AtomicUsize::new(0),
        }
    }
}

impl World {
    /// The secret that must not leave unasked.
    pub const SECRET: &str = "canary-5f2b9c7d1e";

    /// The one thing that can be changed.
    #[must_use]
    pub fn value(&self) -> String {
        self.value.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes it behind everybody's back.
    pub fn meddle(&self, value: &str) {
        value.clone_into(&mut self.value.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// How often an operation has written.
    #[must_use]
    pub fn writes(&self) -> usize {
        self.writes.load(Ordering::SeqCst)
    }

    /// How many calls hang right now.
    #[must_use]
    pub fn hanging(&self) -> usize {
        self.hanging.load(Ordering::SeqCst)
    }

    /// How many hanging calls were told that nobody waits for them any more.
    #[must_use]
    pub fn cancelled(&self) -> usize {
        self.cancelled.load(Ordering::SeqCst)
    }
}

/// The trial operations over that world, and `dummies` plain ones.
#[must_use]
pub fn trial_toolset(world: &Arc<World>, dummies: usize) -> Toolset {
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        query::<fan_out::FanOut>(world),
        change::<write::Write>(world),
        change::<reckless::Reckless>(world),
        query::<stream::Stream>(world),
        query::<disclose::Disclose>(world),
        echo::tool(),
        query::<pieces::Pieces>(world),
        query::<terminal::Terminal>(world),
        query::<hang::Hang>(world),
        query::<panic::Panic>(world),
        query::<noisy::Noisy>(world),
        query::<rows::ManyRows>(world),
        query::<text::LongText>(world),
        query::<silent::Silent>(world),
        query::<ask::AskName>(world),
        query::<counts::Counts>(world),
    ];
    tools.extend(dummy_tools(dummies));
    Toolset {
        name: "trial",
        server_name: "pintle-trial",
        summary: "operations of every hard shape",
        instructions: "These tools exist to be tried; they change nothing but a value in memory.",
        confirm: Confirm::Plan,
        tools,
        resources: None,
        prompts: Vec::new(),
        completions: None,
    }
}
