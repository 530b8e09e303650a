//! What all sessions of one server share.

use crate::{ServerOptions, listing::Tools, notices::Notices, tasks};
use pintle_core::Door;
use pintle_dispatch::Catalog;
use rmcp::model::{CacheScope, Implementation, RequestStateCodec, ServerCapabilities, ServerConfig};
use std::time::Duration;
use tokio_util::{
    sync::CancellationToken,
    task::{TaskTracker, task_tracker::TaskTrackerToken},
};

/// The door whose tools are served here.
pub(crate) const DOOR: Door = Door::Agents;
/// How long a client may rely on a list.
const LIST_FRESH: Duration = Duration::from_secs(60);

/// One server: a catalogue, how it shows itself, and what its sessions share.
pub(crate) struct Server {
    pub(crate) catalog: Catalog,
    pub(crate) options: ServerOptions,
    pub(crate) tools: Tools,
    pub(crate) notices: Notices,
    /// Seals what a client must send back together with its answers to questions.
    pub(crate) states: RequestStateCodec,
    config: ServerConfig,
    principal: String,
    cache_scope: CacheScope,
    stopped: CancellationToken,
    running: TaskTracker,
}

impl Server {
    /// `principal` is the caller where the transport does not know a better one; `private` is whether callers differ.
    pub(crate) fn new(catalog: Catalog, options: ServerOptions, principal: String, private: bool) -> Self {
        Self {
            tools: Tools::new(&catalog, options.output_schemas),
            config: config(&catalog, &options),
            catalog,
            options,
            notices: Notices::default(),
            states: RequestStateCodec::new_unchecked(random_key()),
            principal,
            cache_scope: if private { CacheScope::Private } else { CacheScope::Public },
            stopped: CancellationToken::new(),
            running: TaskTracker::new(),
        }
    }

    pub(crate) fn config(&self) -> ServerConfig {
        self.config.clone()
    }

    pub(crate) fn principal(&self) -> &str {
        &self.principal
    }

    /// Hints for lists: the same for every connection, so whoever shares an authorisation may share them.
    pub(crate) fn list_cache(&self) -> (u64, CacheScope) {
        (u64::try_from(LIST_FRESH.as_millis()).unwrap_or(u64::MAX), self.cache_scope)
    }

    /// Held by a call while it runs.
    pub(crate) fn running(&self) -> TaskTrackerToken {
        self.running.token()
    }

    /// Resolves once no call runs.
    pub(crate) async fn idle(&self) {
        self.running.close();
        self.running.wait().await;
    }

    /// Cancels what still runs and ends subscriptions.
    pub(crate) fn stop(&self) {
        self.stopped.cancel();
    }

    pub(crate) fn stopped(&self) -> &CancellationToken {
        &self.stopped
    }
}

fn config(catalog: &Catalog, options: &ServerOptions) -> ServerConfig {
    #[expect(deprecated, reason = "clients of the older protocol still expect logging")]
    let capabilities = ServerCapabilities::builder()
        .enable_tools()
        .enable_tool_list_changed()
        .enable_resources()
        .enable_resources_list_changed()
        .enable_resources_subscribe()
        .enable_prompts()
        .enable_prompts_list_changed()
        .enable_completions()
        .enable_logging();
    let capabilities = match tasks::jobs(catalog) {
        Some(_) => capabilities.enable_tasks().build(),
        None => capabilities.build(),
    };
    let mut config = ServerConfig::new(capabilities)
        .with_server_info(Implementation::new(catalog.server_name(), options.version.clone()));
    let instructions = instructions(catalog);
    if !instructions.is_empty() {
        config = config.with_instructions(instructions);
    }
    config
}

fn instructions(catalog: &Catalog) -> String {
    let mut parts: Vec<&str> = catalog.toolsets().map(|t| t.instructions.trim()).filter(|t| !t.is_empty()).collect();
    if catalog.may_plan() {
        parts.push(
            "Changes are planned first: an answer with outcome `planned` has changed nothing yet. \
             Look at its preview, then send the same call again with `plan_token`.",
        );
    }
    if catalog.may_start_jobs() {
        parts.push(
            "Tools that take `wait` run their changes as jobs: with `wait: false` the call answers at once with the job's \
             id, and the resource job://ID tells the rest.",
        );
    }
    if catalog.may_page() {
        parts.push("Where an answer has `next_cursor`, the same call with it as `cursor` gives the next page.");
    }
    parts.join("\n\n")
}

fn random_key() -> [u8; 32] {
    let mut key = [0; 32];
    if getrandom::fill(&mut key).is_err() {
        // A guessable key would let clients write their own answers into sealed states.
        std::process::abort();
    }
    key
}
