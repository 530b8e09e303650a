//! The two kinds of operations, and how they become tools.

use crate::{
    Answer, Ask, BoxFuture, Call, Code, Confirm, Digest, Doors, Effect, Failure, Gate, Lane, Lazy, OnEof, Output, Page,
    PageEnd, Permit, Scope, Spec, Spellings, Stop, Tool, rows::length, schema,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::{future::Future, marker::PhantomData, sync::Arc, time::Duration};

/// An operation that only looks. The type is the arguments: its doc comments are the help, its `Default` the defaults.
pub trait Query: DeserializeOwned + JsonSchema + Send + 'static {
    /// What it acts on.
    type Host: Send + Sync + 'static;
    /// What it answers.
    type Answer: Answer;
    /// Its name.
    const NAME: &'static str;
    /// `READ`, or `DISCLOSE` where secrets leave; flags as they are.
    const EFFECT: Effect = Effect::READ;
    /// Older names.
    const ALIASES: &'static [&'static str] = &[];
    /// Older spellings of arguments.
    const SPELLINGS: Spellings = Spellings::NONE;
    /// Through which doors.
    const DOORS: Doors = Doors::Both;
    /// Whether the answer has rows that may need several pages.
    const PAGED: bool = false;
    /// How long it may take.
    const DEADLINE: Duration = Duration::from_secs(60);

    /// Looks and answers.
    fn run(self, host: &Self::Host, call: &Call) -> impl Future<Output = Result<Self::Answer, Stop>> + Send;
}

/// A change that is ready to be made.
#[derive(Debug)]
pub struct Prepared<R> {
    /// What it will do; within `WORST`. `READ` when there is nothing to do.
    pub effect: Effect,
    /// Where.
    pub scopes: Vec<Scope>,
    /// Which writers it must not meet.
    pub lanes: Vec<Lane>,
    /// The change as a person reads it.
    pub preview: String,
    /// What it rests on.
    pub seen: Digest,
    /// What this very call needs first, where that differs from what its tool needs; see [`Ask::confirm`].
    pub confirm: Option<Confirm>,
    /// What `commit` needs.
    pub ready: R,
}

impl<R> Prepared<R> {
    fn ask(&self) -> Ask<'_> {
        Ask {
            effect: self.effect,
            scopes: &self.scopes,
            preview: &self.preview,
            seen: &self.seen,
            confirm: self.confirm,
            lanes: &self.lanes,
        }
    }
}

/// An operation that changes something, in two halves.
pub trait Change: DeserializeOwned + JsonSchema + Send + 'static {
    /// What it acts on.
    type Host: Send + Sync + 'static;
    /// What `prepare` hands to `commit`.
    type Ready: Send + 'static;
    /// What it answers.
    type Answer: Answer;
    /// Its name.
    const NAME: &'static str;
    /// The worst it can do; published.
    const WORST: Effect;
    /// Older names.
    const ALIASES: &'static [&'static str] = &[];
    /// Older spellings of arguments.
    const SPELLINGS: Spellings = Spellings::NONE;
    /// Through which doors.
    const DOORS: Doors = Doors::Both;
    /// How long it may take.
    const DEADLINE: Duration = Duration::from_secs(60);
    /// Whether a call that changes something runs as a job; see [`Spec::job`].
    const JOB: Option<OnEof> = None;

    /// Finds out what would happen, and changes nothing.
    fn prepare(
        self,
        host: &Self::Host,
        call: &Call,
    ) -> impl Future<Output = Result<Prepared<Self::Ready>, Stop>> + Send;

    /// Makes it happen.
    fn commit(
        host: &Self::Host,
        ready: Self::Ready,
        permit: &Permit,
        call: &Call,
    ) -> impl Future<Output = Result<Self::Answer, Stop>> + Send;
}

/// A [`Query`] as a tool.
#[must_use]
pub fn query<Q: Query>(host: &Arc<Q::Host>) -> Arc<dyn Tool> {
    const { assert!(!Q::EFFECT.changes(), "a query that changes something is a Change") }
    let mut spec = describe::<Q, Q::Answer>(Q::NAME, Q::EFFECT);
    spec.aliases = Q::ALIASES;
    spec.spellings = Q::SPELLINGS;
    spec.doors = Q::DOORS;
    spec.paged = Q::PAGED;
    spec.deadline = Q::DEADLINE;
    Arc::new(AsQuery::<Q> { spec, host: Arc::clone(host), kind: PhantomData })
}

/// A [`Change`] as a tool.
#[must_use]
pub fn change<C: Change>(host: &Arc<C::Host>) -> Arc<dyn Tool> {
    let mut spec = describe::<C, C::Answer>(C::NAME, C::WORST);
    spec.aliases = C::ALIASES;
    spec.spellings = C::SPELLINGS;
    spec.doors = C::DOORS;
    spec.deadline = C::DEADLINE;
    if let Some(on_eof) = C::JOB {
        spec = spec.as_job(on_eof);
    }
    Arc::new(AsChange::<C> { spec, host: Arc::clone(host), kind: PhantomData })
}

fn describe<T: JsonSchema + 'static, A: JsonSchema + 'static>(name: &str, worst: Effect) -> Spec {
    let both = Lazy::new(schema::arguments_of::<T>);
    let of_input = both.clone();
    let mut spec = Spec::new(name, Lazy::new(move || both.0.clone()), Lazy::new(move || of_input.1.clone()), worst);
    spec.output = Lazy::new(|| Some(schema::answer_of::<A>()));
    spec
}

struct AsQuery<Q: Query> {
    spec: Spec,
    host: Arc<Q::Host>,
    kind: PhantomData<fn() -> Q>,
}

impl<Q: Query> Tool for AsQuery<Q> {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn call<'a>(&'a self, arguments: Value, gate: &'a dyn Gate, call: &'a Call) -> BoxFuture<'a, Result<Output, Stop>> {
        Box::pin(async move {
            let query: Q = parse(arguments)?;
            let seen = Digest::of("");
            gate.admit(Ask { effect: Q::EFFECT, ..Ask::read(&seen) }).await?;
            finish(query.run(&self.host, call).await?, call)
        })
    }
}

struct AsChange<C: Change> {
    spec: Spec,
    host: Arc<C::Host>,
    kind: PhantomData<fn() -> C>,
}

impl<C: Change> AsChange<C> {
    async fn prepare(&self, arguments: Value, call: &Call) -> Result<Prepared<C::Ready>, Stop> {
        let mut tries = 1;
        let prepared = loop {
            match parse::<C>(arguments.clone())?.prepare(&self.host, call).await {
                // Another writer came between two looks; nothing was changed, so it is looked at afresh.
                Err(Stop::Failed(failure)) if raced(&failure) && tries < LOOKS => tries += 1,
                done => break done?,
            }
        };
        if prepared.effect.within(C::WORST) {
            return Ok(prepared);
        }
        let found = prepared.effect.names().join("+");
        Err(Failure::new(Code::Internal, format!("{} prepared {found}, which it does not publish", C::NAME)).into())
    }
}

impl<C: Change> Tool for AsChange<C> {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn call<'a>(&'a self, arguments: Value, gate: &'a dyn Gate, call: &'a Call) -> BoxFuture<'a, Result<Output, Stop>> {
        Box::pin(async move {
            let mut prepared = self.prepare(arguments.clone(), call).await?;
            let mut admission = gate.admit(prepared.ask()).await?;
            let lanes = std::mem::take(&mut prepared.lanes);
            let _held = gate.hold(&lanes).await?;
            if !lanes.is_empty() {
                // Another writer may have been first: what was prepared before our turn came is looked at again.
                let again = self.prepare(arguments, call).await?;
                if again.seen != prepared.seen {
                    if admission.confirmed {
                        return Err(moved(C::NAME).into());
                    }
                    admission = gate.admit(again.ask()).await?;
                }
                prepared = again;
            }
            finish(C::commit(&self.host, prepared.ready, &admission.permit, call).await?, call)
        })
    }
}

/// How often something that changes while it is looked at is looked at, before that is told.
const LOOKS: u32 = 5;

fn raced(failure: &Failure) -> bool {
    failure.code == Code::Moved && failure.retryable
}

fn moved(name: &str) -> Failure {
    Failure::new(Code::Moved, format!("{name}: what the plan rests on has changed since"))
        .hint("call again without `plan_token` for a new plan")
}

fn parse<T: DeserializeOwned>(arguments: Value) -> Result<T, Failure> {
    // The catalogue has validated against the schema, so this finds only what a schema cannot say.
    serde_json::from_value(arguments).map_err(|error| Failure::new(Code::InvalidArgument, error.to_string()))
}

fn finish<A: Answer>(mut answer: A, call: &Call) -> Result<Output, Stop> {
    let page = fit(&mut answer, call)?;
    Ok(Output {
        outcome: answer.outcome(),
        view: answer.view(),
        parts: answer.parts(),
        failure: answer.failure(),
        answer: Some(to_value(&answer)?),
        page,
        truncated: false,
    })
}

fn to_value<A: Answer>(answer: &A) -> Result<Value, Failure> {
    serde_json::to_value(answer).map_err(|error| untold(&error))
}

fn untold(error: &serde_json::Error) -> Failure {
    Failure::new(Code::Internal, format!("the answer cannot be told: {error}"))
}

/// Cuts the rows so that value and text both stay within the budget of the call.
fn fit<A: Answer>(answer: &mut A, call: &Call) -> Result<Option<PageEnd>, Failure> {
    let token = answer.continue_token();
    let Some(rows) = answer.rows() else { return Ok(None) };
    if let Some(page) = call.page() {
        rows.drop_through(&page.last_key);
    }
    let total = rows.count();
    let sizes = rows.sizes();
    let mut kept = total;
    let mut last_key = None;
    if let Some(budget) = call.budget() {
        let whole = length(answer).map_err(|error| untold(&error))?;
        let frame = whole.saturating_sub(sizes.iter().sum());
        let mut used = frame;
        kept = sizes
            .iter()
            .take_while(|size| {
                used += **size;
                used <= budget
            })
            .count()
            .max(total.min(1));
        while let Some(rows) = answer.rows() {
            last_key = rows.keep(kept);
            if kept <= 1 || answer.view().plain().len() <= budget {
                break;
            }
            kept = kept * 3 / 4;
        }
    }
    if kept == total && token.is_none() {
        return Ok(None);
    }
    let last_key = match last_key {
        Some(key) => key,
        None => answer
            .rows()
            .and_then(|rows| {
                let count = rows.count();
                rows.keep(count)
            })
            .unwrap_or_default(),
    };
    Ok(Some(PageEnd { page: Page { last_key, token }, left: (kept < total).then(|| total - kept) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Exact;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Changes something that others change, too.
    #[derive(serde::Deserialize, JsonSchema)]
    struct Contested {
        /// Times that somebody else is first
        races: u32,
    }

    impl Change for Contested {
        type Host = AtomicU32;
        type Ready = ();
        type Answer = Exact;
        const NAME: &'static str = "contested";
        const WORST: Effect = Effect::WRITE;

        async fn prepare(self, looks: &AtomicU32, _: &Call) -> Result<Prepared<()>, Stop> {
            if looks.fetch_add(1, Ordering::Relaxed) < self.races {
                return Err(Failure::new(Code::Moved, "changed while it was read").retryable().into());
            }
            let seen = Digest::of("");
            let (scopes, lanes, preview) = (Vec::new(), Vec::new(), String::new());
            Ok(Prepared { effect: Effect::WRITE, scopes, lanes, preview, seen, confirm: None, ready: () })
        }

        async fn commit(_: &AtomicU32, (): (), _: &Permit, _: &Call) -> Result<Exact, Stop> {
            unreachable!("the gate lets nothing through")
        }
    }

    struct Closed;

    impl Gate for Closed {
        fn admit<'a>(&'a self, _: Ask<'a>) -> BoxFuture<'a, Result<crate::Admission, Stop>> {
            Box::pin(async { Err(Failure::new(Code::Denied, "closed").into()) })
        }
        fn hold<'a>(&'a self, _: &'a [Lane]) -> BoxFuture<'a, Result<Box<dyn std::any::Any + Send>, Failure>> {
            Box::pin(async { Ok(Box::new(()) as _) })
        }
    }

    async fn ends(races: u32) -> Code {
        let tool = change::<Contested>(&Arc::default());
        match tool.call(serde_json::json!({"races": races}), &Closed, &Call::detached()).await {
            Err(Stop::Failed(failure)) => failure.code,
            _ => panic!("it must fail"),
        }
    }

    #[tokio::test]
    async fn what_changes_while_it_is_looked_at_is_looked_at_again_and_not_for_ever() {
        assert_eq!(ends(0).await, Code::Denied);
        assert_eq!(ends(4).await, Code::Denied, "the fifth look succeeds and reaches the gate");
        assert_eq!(ends(5).await, Code::Moved);
    }
}
