//! All tools of a process, and the one way to call them.

use crate::{
    Events, NameStyle, ReadOnly, Request, Settings,
    approvals::Approvals,
    audit::Audit,
    bounds,
    gate::{Admitted, PathGate},
    jobs::{self, Jobs},
    lanes::Lanes,
    policy::Verdict,
    port::{Judge, Port},
    running,
    seal::Sealer,
    spill,
    validate::Validator,
};
use pintle_core::{
    Call, Caller, Code, Confirm, Contents, Digest, Door, Doors, Effect, Failure, Lazy, Outcome, Output, Page, Prompt,
    PromptMessage, Reference, Reply, Resource, ResourceTemplate, Spec, Stop, Tool, Toolset, View, WAIT,
    envelope_schema, nearest, schema,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::{Duration, Instant},
};

const CURSOR: &str = "cursor";
const PLAN_TOKEN: &str = "plan_token";
/// How long whoever types waits for what may be typed next.
const TYPING: Duration = Duration::from_secs(1);
const AUDIT_URI: &str = "pintle://audit";

/// All tools of a process; cheap to clone.
#[derive(Clone)]
pub struct Catalog {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) settings: Settings,
    pub(crate) sealer: Sealer,
    pub(crate) lanes: Lanes,
    pub(crate) approvals: Option<Approvals>,
    /// Where state is kept; they can be looked at even where none can be started.
    pub(crate) jobs: Option<Jobs>,
    audit: Option<Audit>,
    audit_failed: OnceLock<()>,
    toolsets: Vec<Family>,
    entries: Vec<Arc<Entry>>,
    by_name: HashMap<String, usize>,
}

struct Family {
    toolset: Toolset,
}

/// One tool with all that is known before it is called.
pub(crate) struct Entry {
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) confirm: Confirm,
    toolset: &'static str,
    validator: Validator,
    listed: OnceLock<Listed>,
    pub(crate) takes_plan: bool,
}

/// The four hints of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Hints {
    /// Nothing changes and nothing secret leaves.
    pub read_only_hint: bool,
    /// Something may be lost.
    pub destructive_hint: bool,
    /// A second equal call changes nothing more.
    pub idempotent_hint: bool,
    /// It talks to systems that nobody here configured.
    pub open_world_hint: bool,
}

impl Hints {
    fn of(spec: &Spec) -> Self {
        let listed = spec.mutating;
        Self {
            read_only_hint: spec.worst.is_read(),
            destructive_hint: spec.worst.has(Effect::DESTROY) || listed == Some(true),
            idempotent_hint: spec.worst.is_idempotent(),
            open_world_hint: spec.worst.is_open_world(),
        }
    }
}

/// A tool as it is shown to agents.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Name in the chosen style.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Schema of the arguments, without the hints for people.
    pub input: Value,
    /// Schema of the envelope with its answer.
    pub output: Value,
    /// The four hints.
    pub hints: Hints,
    /// The toolset it is of.
    pub toolset: &'static str,
}

#[derive(Serialize, Deserialize)]
struct Cursor {
    tool: String,
    matches: Digest,
    page: Page,
}

impl Catalog {
    /// A catalogue of these toolsets.
    ///
    /// # Errors
    /// When two tools have one name in some style, or the audit cannot be written.
    pub fn new(toolsets: Vec<Toolset>, settings: Settings) -> Result<Self, Failure> {
        let audit = match (&settings.audit, &settings.state) {
            (Some(path), _) => Some(Audit::to(path.clone(), true)?),
            // Without a place of the operator's own choosing the audit is kept where state can be kept.
            (None, Some(state)) => {
                state.folder("").ok().map(|f| Audit::to(f.join("audit.jsonl"), false)).transpose()?
            }
            (None, None) => None,
        };
        let jobs = settings.state.clone().map(|state| Jobs::new(state, settings.jobs.clone()));
        let lanes = settings.lanes.as_ref().or(settings.state.as_ref()).filter(|folder| folder.folder("lanes").is_ok());
        let mut inner = Inner {
            sealer: Sealer::new(settings.state.as_ref()),
            lanes: Lanes::new(lanes.cloned(), jobs.clone()),
            jobs,
            approvals: settings.state.clone().map(Approvals::new),
            audit,
            audit_failed: OnceLock::new(),
            settings,
            toolsets: Vec::new(),
            entries: Vec::new(),
            by_name: HashMap::new(),
        };
        for toolset in toolsets {
            for tool in &toolset.tools {
                inner.add(&toolset, tool)?;
            }
            inner.toolsets.push(Family { toolset });
        }
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The toolsets, in the order given.
    pub fn toolsets(&self) -> impl Iterator<Item = &Toolset> {
        self.inner.toolsets.iter().map(|family| &family.toolset)
    }

    /// The jobs of this state folder: to look at, answer and cancel. None where no state is kept.
    #[must_use]
    pub fn jobs(&self) -> Option<&Jobs> {
        self.inner.jobs.as_ref()
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.inner
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    /// Name of a server that serves this catalogue.
    #[must_use]
    pub fn server_name(&self) -> &'static str {
        let mut seeds = self.toolsets().filter(|t| t.name != "extra");
        match (seeds.next(), seeds.next()) {
            (Some(only), None) => only.server_name,
            _ => "pintle",
        }
    }

    /// The tools that agents see, in stable order.
    pub fn listed(&self) -> impl Iterator<Item = &Listed> {
        self.inner.entries.iter().filter(|e| e.serves(Door::Agents)).map(|entry| entry.listed(&self.inner.settings))
    }

    /// The names of the tools that agents see, in the same order; cheaper than the tools themselves.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let style = self.inner.settings.name_style;
        self.inner
            .entries
            .iter()
            .filter(|e| e.serves(Door::Agents))
            .map(move |entry| style.show(&entry.tool.spec().name).into_owned())
    }

    /// The tool that agents see under exactly that name.
    #[must_use]
    pub fn listed_as(&self, name: &str) -> Option<&Listed> {
        let entry = self.inner.find(name, Door::Agents)?;
        Some(entry.listed(&self.inner.settings)).filter(|listed| listed.name == name)
    }

    /// Whether some tool that agents see may answer with a plan.
    #[must_use]
    pub fn may_plan(&self) -> bool {
        self.inner.entries.iter().any(|entry| entry.takes_plan && entry.serves(Door::Agents))
    }

    /// Whether some tool may go on as a job.
    #[must_use]
    pub fn may_start_jobs(&self) -> bool {
        self.inner.entries.iter().any(|entry| entry.tool.spec().job.is_some())
            && self.inner.jobs.as_ref().is_some_and(Jobs::starts)
    }

    /// Whether some tool that agents see answers page by page.
    #[must_use]
    pub fn may_page(&self) -> bool {
        self.inner.entries.iter().any(|entry| entry.tool.spec().paged && entry.serves(Door::Agents))
    }

    /// Specifications of the tools that one door shows, with their toolset, in stable order.
    pub fn specs(&self, door: Door) -> impl Iterator<Item = (&'static str, &Spec)> {
        self.inner.entries.iter().filter(move |e| e.serves(door)).map(|entry| (entry.toolset, entry.tool.spec()))
    }

    /// The tool of that name, alias or other spelling, if that door shows it.
    #[must_use]
    pub fn find(&self, name: &str, door: Door) -> Option<&Spec> {
        self.inner.find(name, door).map(|entry| entry.tool.spec())
    }

    /// Calls a tool: the only way to run one. A call that becomes a job is waited for, unless [`Request::wait`] or the
    /// argument `wait` says no: then the outcome is `started`, with the job's id.
    pub async fn call(&self, request: Request) -> Reply {
        let begun = Instant::now();
        let Some(entry) = self.inner.find(&request.tool, request.caller.door) else {
            return Reply::failed(self.inner.unknown(&request.tool, request.caller.door));
        };
        let entry = Arc::clone(entry);
        let limit = request.deadline.unwrap_or(entry.tool.spec().deadline);
        let deadline = Some(begun + limit);
        // A child token: the call can be ended from here without cancelling whatever else the door hangs on its own.
        let judge = self.judge(&entry.tool.spec().name, entry.tool.spec().worst);
        let port = Arc::new(Port::new(request.cancel.child_token(), deadline, Arc::clone(&request.events), judge));
        let mut trace = Trace::default();
        let result = self.attempt(&entry, &request, &port, limit, &mut trace).await;
        let job = match &result {
            Err(Stop::Started(job)) => Some(job.clone()),
            _ => None,
        };
        let reply = self.reply(&entry, &request, &port, result, &trace);
        self.audit(&entry, &request, &reply, &trace, begun);
        match job {
            Some(job) if request.wait.or(trace.wait).unwrap_or(true) => self.follow(&request, &job).await,
            Some(job) => {
                self.tell_of(&request, &job);
                reply
            }
            None => reply,
        }
    }

    async fn attempt(
        &self,
        entry: &Arc<Entry>,
        request: &Request,
        port: &Arc<Port>,
        limit: Duration,
        trace: &mut Trace,
    ) -> Result<Output, Stop> {
        let spec = entry.tool.spec();
        let mut arguments = request.arguments.clone();
        trace.shown = shown(&arguments, &spec.input);
        let taken = |name: &str, arguments: &mut Map<String, Value>| -> Result<Option<String>, Failure> {
            match arguments.shift_remove(name) {
                None | Some(Value::Null) => Ok(None),
                Some(Value::String(text)) => Ok(Some(text)),
                Some(_) => Err(Failure::invalid_argument(name, "must be a string")),
            }
        };
        let plan_token = if entry.takes_plan { taken(PLAN_TOKEN, &mut arguments)? } else { None };
        let cursor = if spec.paged { taken(CURSOR, &mut arguments)? } else { None };
        trace.wait = if spec.job.is_some() { wait(&mut arguments)? } else { None };
        spec.spellings.apply(&mut arguments)?;
        trace.shown = shown(&arguments, &spec.input);
        learn_secrets(&arguments, &spec.input, port);
        let given = arguments.clone();
        let arguments = Value::Object(arguments);
        entry.validator.check(&spec.name, &arguments)?;
        if self.inner.settings.policy.on_tool(&spec.name) == Some(Verdict::Deny) {
            return Err(Failure::new(Code::Denied, format!("policy does not allow {}", spec.name))
                .hint("the operator's policy file decides this")
                .into());
        }
        trace.matches = Some(Digest::of_parts([spec.name.as_bytes(), Digest::of_json(&arguments).as_str().as_bytes()]));
        let matches = trace.matches.clone().unwrap_or_else(|| Digest::of(""));
        if spec.job.is_some() && request.job.is_none() {
            if let Some(waiting) = self.jobs().and_then(|jobs| jobs.asking(&matches, &request.caller)) {
                return Err(Stop::Started(waiting));
            }
            if request.wait.or(trace.wait) == Some(false) && !self.jobs().is_some_and(Jobs::starts) {
                return Err(Failure::new(Code::Unavailable, "nothing can go on as a job here")
                    .hint("call without `wait`; jobs need a folder for state: set HOME or XDG_STATE_HOME")
                    .into());
            }
        }
        let page = cursor.map(|cursor| self.inner.page(&spec.name, &matches, &cursor)).transpose()?;
        let gate = Arc::new(PathGate {
            inner: Arc::clone(&self.inner),
            entry: Arc::clone(entry),
            caller: request.caller.clone(),
            port: Arc::clone(port),
            matches,
            shown: trace.shown.clone(),
            plan_token,
            arguments: given,
            budget: request.budget,
            deadline: request.deadline,
            job: request.job.clone(),
            admitted: Mutex::default(),
        });
        let call = Call::new(Arc::clone(port) as _, request.caller.clone(), page, request.budget);
        let result = running::run(Arc::clone(&entry.tool), arguments, Arc::clone(&gate), call, port, limit).await;
        trace.admitted = gate.admitted.lock().unwrap_or_else(PoisonError::into_inner).clone();
        result
    }

    fn reply(
        &self,
        entry: &Entry,
        request: &Request,
        port: &Port,
        result: Result<Output, Stop>,
        trace: &Trace,
    ) -> Reply {
        let spec = entry.tool.spec();
        let mut reply = match result {
            Ok(output) => self.answered(spec, output, trace, request.caller.door),
            Err(Stop::Failed(failure)) => Reply::failed(failure),
            Err(Stop::Planned(plan)) => planned(spec, plan, request.caller.door),
            Err(Stop::Asked(asked)) => Reply {
                outcome: Outcome::Planned,
                view: View::text("answers are needed first"),
                asked,
                ..Reply::default()
            },
            Err(Stop::Started(job)) => jobs::started_as(&spec.name, &job),
            Err(Stop::Attach(attach)) if request.caller.door == Door::People => {
                Reply { attach: Some(attach), ..Reply::default() }
            }
            Err(Stop::Attach(attach)) => Reply::failed(
                Failure::new(Code::NeedsTerminal, format!("{} needs a terminal", spec.name)).hint(attach.instead),
            ),
        };
        redact(&mut reply, port);
        if let Some(budget) = request.budget {
            bounds::bound(&mut reply, budget, self.inner.settings.state.as_ref(), &spec.name);
        }
        reply
    }

    fn answered(&self, spec: &Spec, output: Output, trace: &Trace, door: Door) -> Reply {
        let is_error = match output.outcome {
            Outcome::Failed => true,
            Outcome::Partial => spec.worst.changes(),
            _ => false,
        };
        let cursor = output.page.as_ref().and_then(|end| {
            let matches = trace.matches.clone()?;
            let cursor = Cursor { tool: spec.name.clone(), matches, page: end.page.clone() };
            Some(self.inner.sealer.seal(CURSOR, None, &cursor))
        });
        let mut view = output.view;
        if let (Some(end), Some(_)) = (&output.page, &cursor) {
            let left = end.left.map_or_else(|| "more rows".to_owned(), |left| format!("{left} more rows"));
            // People are told by their door how the next page is asked for.
            let how = if door == Door::Agents { ": call again with `cursor`" } else { "" };
            view = view.and_text(format!("{left}{how}"));
        }
        if let Some(failure) = &output.failure {
            view = view.and_text(failure.text());
        }
        Reply {
            outcome: output.outcome,
            answer: output.answer,
            failure: output.failure,
            truncated: cursor.is_some() || output.truncated,
            next_cursor: cursor,
            view,
            parts: output.parts,
            is_error,
            ..Reply::default()
        }
    }

    fn audit(&self, entry: &Entry, request: &Request, reply: &Reply, trace: &Trace, begun: Instant) {
        let Some(audit) = &self.inner.audit else { return };
        let admitted = trace.admitted.as_ref();
        let mut line = json!({
            "time": jiff::Timestamp::now().to_string(),
            "door": request.caller.door,
            "principal": request.caller.principal,
            "client": request.client,
            "tool": entry.tool.spec().name,
            "arguments": trace.shown,
            "effects": admitted.map_or_else(|| entry.tool.spec().worst.names(), |a| a.effect.names()),
            "outcome": reply.outcome,
            "ms": u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            "answer_sha256": reply.answer.as_ref().map(|a| Digest::of(a.to_string())),
        });
        if let Some(admitted) = admitted.filter(|a| a.effect.changes()) {
            line["scopes"] = json!(admitted.scopes);
            line["confirmed"] = json!(admitted.confirmed);
        }
        if let Some(failure) = &reply.failure {
            line["code"] = json!(failure.code);
        }
        if let Some(job) = reply.job.as_deref().or(request.job.as_ref().map(|job| job.id.as_str())) {
            line["job"] = json!(job);
        }
        self.write_down(audit, &line, request);
    }

    fn write_down(&self, audit: &Audit, line: &Value, request: &Request) {
        if let Err(failure) = audit.write(line) {
            // Told once: the call is over and must not fail for it, but nobody should believe it was written down.
            if self.inner.audit_failed.set(()).is_ok() {
                request.events.log(pintle_core::LogLevel::Error, "audit", json!(failure.message));
            }
        }
    }

    /// Every resource that can be listed.
    ///
    /// # Errors
    /// When a toolset cannot list its own.
    pub async fn resources(&self, request: &Request) -> Result<Vec<Resource>, Failure> {
        let call = self.plain_call(request);
        let mut all = Vec::new();
        for resources in self.toolsets().filter_map(|t| t.resources.as_ref()) {
            all.extend(resources.list(&call).await?);
        }
        // Whoever takes the place of another lists what that lists; what we add is there on request.
        let lists_own = self.server_name() == "pintle" || self.toolsets().any(|toolset| toolset.name == "extra");
        if self.inner.audit.is_some() && lists_own {
            all.push(Resource {
                uri: AUDIT_URI.to_owned(),
                name: "audit".to_owned(),
                description: Some("the last calls, one JSON line each, secrets masked".to_owned()),
                mime: Some("application/jsonl".to_owned()),
                size: None,
            });
        }
        if let Some(jobs) = self.jobs() {
            all.extend(jobs.resources(&request.caller)?);
        }
        Ok(all)
    }

    /// Templates of the resources that are not listed.
    #[must_use]
    pub fn resource_templates(&self) -> Vec<ResourceTemplate> {
        let mut all: Vec<_> =
            self.toolsets().filter_map(|t| t.resources.as_ref()).flat_map(|r| r.templates()).collect();
        all.push(ResourceTemplate {
            template: format!("{}{{id}}", spill::SCHEME),
            name: "spilled text".to_owned(),
            description: Some("the whole of a text that was too long for an answer".to_owned()),
            mime: Some("text/plain".to_owned()),
        });
        if self.may_start_jobs() {
            all.extend(jobs::templates());
        }
        all
    }

    /// Reads a resource: redacted and audited like a call.
    ///
    /// # Errors
    /// Code `not_found` when there is none of that URI, or what went wrong.
    pub async fn read(&self, uri: &str, request: &Request) -> Result<Vec<Contents>, Failure> {
        let begun = Instant::now();
        let port = self.plain_port(request);
        let call = Call::new(Arc::clone(&port) as _, request.caller.clone(), None, request.budget);
        let result = self.read_from(uri, &call).await;
        let redactor = port.redactor();
        let result = result.map(|mut contents| {
            for text in contents.iter_mut().filter_map(|c| c.text.as_mut()) {
                if let Cow::Owned(masked) = redactor.text(text) {
                    *text = masked;
                }
            }
            contents
        });
        if let Some(audit) = &self.inner.audit {
            let code = result.as_ref().err().map(|failure| failure.code);
            let line = json!({
                "time": jiff::Timestamp::now().to_string(), "door": request.caller.door,
                "principal": request.caller.principal, "client": request.client, "resource": redactor.text(uri), "effects": ["read"],
                "outcome": if code.is_none() { "ok" } else { "failed" }, "code": code,
                "ms": u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)});
            self.write_down(audit, &line, request);
        }
        result
    }

    async fn read_from(&self, uri: &str, call: &Call) -> Result<Vec<Contents>, Failure> {
        if uri == AUDIT_URI
            && let Some(audit) = &self.inner.audit
        {
            let text = std::fs::read_to_string(audit.path()).unwrap_or_default();
            let from = text.len().saturating_sub(call.budget().unwrap_or(usize::MAX));
            let from = text[spill::floor(&text, from)..]
                .find('\n')
                .filter(|_| from > 0)
                .map_or(0, |at| spill::floor(&text, from) + at + 1);
            return Ok(vec![Contents::text(uri, "application/jsonl", &text[from..])]);
        }
        if let Some(state) = &self.inner.settings.state
            && let Some(contents) = spill::read(state, uri)?
        {
            return Ok(contents);
        }
        if let Some(contents) = self.jobs().map(|jobs| jobs.read(uri, call.caller())).transpose()?.flatten() {
            return Ok(contents);
        }
        for resources in self.toolsets().filter_map(|t| t.resources.as_ref()) {
            if let Some(contents) = resources.read(uri, call).await? {
                return Ok(contents);
            }
        }
        Err(Failure::new(Code::NotFound, format!("no resource `{uri}`"))
            .hint("resources/list and resources/templates/list name them"))
    }

    /// Every prompt.
    pub fn prompts(&self) -> impl Iterator<Item = &Prompt> {
        self.toolsets().flat_map(|t| &t.prompts)
    }

    /// The messages of a prompt. `answers` are those to what it asked before, by the keys of the questions.
    ///
    /// # Errors
    /// When there is no such prompt, an argument is missing or unknown, or it must ask first.
    pub fn prompt(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        answers: &Map<String, Value>,
    ) -> Result<(&Prompt, Vec<PromptMessage>), Stop> {
        let prompt = self.prompts().find(|p| p.name == name).ok_or_else(|| {
            Failure::new(Code::NotFound, format!("no prompt `{name}`"))
                .did_you_mean(name, self.prompts().map(|p| p.name.as_str()))
        })?;
        for argument in prompt.arguments.iter().filter(|a| a.required) {
            if arguments.get(&argument.name).is_none_or(Value::is_null) {
                return Err(Failure::invalid_argument(&argument.name, "is missing").into());
            }
        }
        for key in arguments.keys() {
            if !prompt.arguments.iter().any(|a| a.name == *key) {
                return Err(Failure::invalid_argument(key, "is not one of this prompt's")
                    .did_you_mean(key, prompt.arguments.iter().map(|a| a.name.as_str()))
                    .into());
            }
        }
        let mut known = arguments.clone();
        known.extend(answers.iter().map(|(key, value)| (key.clone(), value.clone())));
        Ok((prompt, (prompt.render)(&known)?))
    }

    /// Values for an argument that is being typed, as far as policy lets the caller read them. Whoever types waits for
    /// a second at most, if the request says nothing else: what is not known by then is not offered.
    pub async fn complete(
        &self,
        reference: &Reference,
        argument: &str,
        value: &str,
        others: &Map<String, Value>,
        request: &Request,
    ) -> Vec<String> {
        let tool = match reference {
            Reference::Tool(name) => self.inner.find(name, request.caller.door).map(|entry| entry.tool.spec()),
            Reference::Prompt(_) | Reference::Resource(_) => None,
        };
        let (name, worst) = tool.map_or(("", Effect::READ), |spec| (spec.name.as_str(), spec.worst));
        if tool.is_some() && self.inner.settings.policy.on_tool(name) == Some(Verdict::Deny) {
            return Vec::new();
        }
        let limit = request.deadline.unwrap_or(TYPING);
        let port = Arc::new(Port::new(
            request.cancel.child_token(),
            Some(Instant::now() + limit),
            Arc::clone(&request.events),
            self.judge(name, worst),
        ));
        let call = Call::new(Arc::clone(&port) as _, request.caller.clone(), None, request.budget);
        let offered = async {
            for completions in self.toolsets().filter_map(|t| t.completions.as_ref()) {
                if let Some(values) = completions.complete(reference, argument, value, others, &call).await {
                    return values;
                }
            }
            Vec::new()
        };
        let mut values = tokio::select! {
            values = tokio::time::timeout(limit, offered) => values.unwrap_or_default(),
            () = request.cancel.cancelled() => Vec::new(),
        };
        let redactor = port.redactor();
        for value in &mut values {
            if let Cow::Owned(masked) = redactor.text(value) {
                *value = masked;
            }
        }
        values
    }

    fn plain_port(&self, request: &Request) -> Arc<Port> {
        Arc::new(Port::new(
            request.cancel.child_token(),
            request.deadline.map(|d| Instant::now() + d),
            Arc::clone(&request.events),
            self.judge("", Effect::READ),
        ))
    }

    /// Policy as a running operation may ask it: whether it may read in a scope that it finds only while it runs. No
    /// name stands for what is read without a tool.
    fn judge(&self, tool: &str, worst: Effect) -> Judge {
        let (inner, tool) = (Arc::clone(&self.inner), tool.to_owned());
        let effect = if worst.changes() { Effect::READ } else { worst };
        Box::new(move |scope| {
            let what = if tool.is_empty() { "this" } else { &tool };
            let scopes = std::slice::from_ref(scope);
            match inner.settings.policy.on_scopes(&tool, effect, scopes, Verdict::Allow) {
                Verdict::Allow | Verdict::Confirm(Confirm::Nothing) => Ok(()),
                Verdict::Deny => {
                    Err(Failure::new(Code::Denied, format!("policy does not allow {what} to read on {scope}"))
                        .hint("the operator's policy file decides this"))
                }
                Verdict::Confirm(_) => Err(Failure::new(
                    Code::Denied,
                    format!("policy wants a yes before {what} reads on {scope}, and a read asks nobody"),
                )
                .hint("a rule with `effect = \"write\"` leaves reads alone")),
            }
        })
    }

    fn plain_call(&self, request: &Request) -> Call {
        Call::new(self.plain_port(request) as _, request.caller.clone(), None, request.budget)
    }
}

/// What is learned on the way, for the answer and the audit.
#[derive(Default)]
struct Trace {
    shown: Value,
    matches: Option<Digest>,
    admitted: Option<Admitted>,
    wait: Option<bool>,
}

/// Takes the word about waiting out of the arguments.
fn wait(arguments: &mut Map<String, Value>) -> Result<Option<bool>, Failure> {
    match arguments.shift_remove(WAIT) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(wait)) => Ok(Some(wait)),
        Some(Value::String(word)) if word == "true" || word == "false" => Ok(Some(word == "true")),
        Some(_) => Err(Failure::invalid_argument(WAIT, "must be true or false")),
    }
}

impl Inner {
    fn add(&mut self, toolset: &Toolset, tool: &Arc<dyn Tool>) -> Result<(), Failure> {
        let spec = tool.spec();
        let listed = match self.settings.read_only {
            ReadOnly::No => true,
            ReadOnly::Listed => spec.mutating.map_or_else(|| spec.worst.is_read(), |mutating| !mutating),
            ReadOnly::Strict => spec.worst.is_read(),
        };
        let wanted =
            self.settings.tools.as_ref().is_none_or(|globs| {
                globs.is_match(&spec.name) || globs.is_match(&*NameStyle::Underscore.show(&spec.name))
            });
        if !listed || !wanted {
            return Ok(());
        }
        let confirm = spec.confirm.unwrap_or(toolset.confirm);
        let takes_plan = self.settings.policy.may_need(
            &spec.name,
            Confirm::Plan,
            if spec.worst.changes() { confirm } else { Confirm::Nothing },
        );
        let index = self.entries.len();
        let underscore = NameStyle::Underscore.show(&spec.name).into_owned();
        let mut names = vec![spec.name.clone(), underscore];
        for alias in spec.aliases {
            names.push((*alias).to_owned());
            names.push(NameStyle::Underscore.show(alias).into_owned());
        }
        names.dedup();
        for name in names {
            if let Some(other) = self.by_name.insert(name.clone(), index)
                && other != index
            {
                let other = &self.entries[other].tool.spec().name;
                return Err(Failure::new(
                    Code::Internal,
                    format!("`{}` and `{other}` are both called `{name}`", spec.name),
                ));
            }
        }
        self.entries.push(Arc::new(Entry {
            tool: Arc::clone(tool),
            confirm,
            toolset: toolset.name,
            validator: Validator::new(Lazy::new({
                let input = spec.input.clone();
                move || schema::for_agents(&input)
            })),
            listed: OnceLock::new(),
            takes_plan,
        }));
        Ok(())
    }

    fn find(&self, name: &str, door: Door) -> Option<&Arc<Entry>> {
        self.by_name.get(name).map(|index| &self.entries[*index]).filter(|entry| entry.serves(door))
    }

    fn unknown(&self, name: &str, door: Door) -> Failure {
        let known = self.entries.iter().filter(|e| e.serves(door)).map(|e| e.tool.spec().name.as_str());
        let failure = Failure::new(Code::UnknownTool, format!("unknown tool `{name}`"));
        match nearest(name, known) {
            Some(near) => failure.hint(format!(
                "did you mean `{}`?",
                if door == Door::Agents { self.settings.name_style.show(near) } else { near.into() }
            )),
            None => {
                failure.hint(if door == Door::Agents { "tools/list names them" } else { "`pintle tools` lists them" })
            }
        }
    }

    fn page(&self, tool: &str, matches: &Digest, cursor: &str) -> Result<Page, Failure> {
        let again = "call without `cursor` for the first page";
        let opened = self.sealer.open::<Cursor>(CURSOR, cursor).map_err(|f| f.hint(again))?;
        if opened.body.tool != tool || opened.body.matches != *matches {
            return Err(Failure::new(Code::BadToken, "this cursor is for another call").hint(again));
        }
        Ok(opened.body.page)
    }
}

impl Entry {
    fn serves(&self, door: Door) -> bool {
        match self.tool.spec().doors {
            Doors::Both => true,
            Doors::People => door == Door::People,
            Doors::Agents => door == Door::Agents,
        }
    }

    fn listed(&self, settings: &Settings) -> &Listed {
        self.listed.get_or_init(|| {
            let spec = self.tool.spec();
            let mut input = if spec.raw_schema { (*spec.input).clone() } else { schema::for_agents(&spec.input) };
            // what they mean is told once, by the door
            if let Some(properties) = input.get_mut("properties").and_then(Value::as_object_mut) {
                if self.takes_plan {
                    properties.insert(PLAN_TOKEN.into(), json!({"type": "string"}));
                }
                if spec.paged {
                    properties.insert(CURSOR.into(), json!({"type": "string"}));
                }
            }
            let mut description = (*spec.description).clone();
            if spec.mutating == Some(true) {
                description.push_str(&format!(" [destructive: {}]", spec.worst.names().join("+")));
            }
            Listed {
                name: settings.name_style.show(&spec.name).into_owned(),
                description,
                input,
                output: envelope_schema(spec.output.as_ref()),
                hints: Hints::of(spec),
                toolset: self.toolset,
            }
        })
    }
}

fn planned(spec: &Spec, plan: pintle_core::Plan, door: Door) -> Reply {
    let how = match (&plan.token, &plan.approval) {
        (Some(_), _) => "nothing was changed yet: call again with `plan_token` to do it".to_owned(),
        (None, Some(id)) => {
            format!("nothing was changed yet: a person must run `pintle approve {id}`, then call again")
        }
        (None, None) if door == Door::People => "nothing was changed: run it on a terminal, or with --yes".to_owned(),
        (None, None) => "nothing was changed".to_owned(),
    };
    let view = View::text(format!("{} will {}:", spec.name, plan.effects.join(" and ")))
        .and_text(plan.preview.clone())
        .and_text(how);
    Reply { outcome: Outcome::Planned, plan: Some(plan), view, ..Reply::default() }
}

fn redact(reply: &mut Reply, port: &Port) {
    let redactor = port.redactor();
    if redactor.is_empty() {
        return;
    }
    let mask = |text: &mut String| {
        if let Cow::Owned(masked) = redactor.text(text) {
            *text = masked;
        }
    };
    if let Some(answer) = reply.answer.as_mut() {
        redactor.value(answer);
    }
    reply.view.each_text(mask);
    if let Some(failure) = reply.failure.as_mut() {
        mask(&mut failure.message);
        failure.hints.iter_mut().for_each(mask);
        for problem in &mut failure.problems {
            mask(&mut problem.message);
            problem.hint.iter_mut().for_each(mask);
        }
        if let Some(details) = failure.details.as_deref_mut() {
            redactor.value(details);
        }
    }
    if let Some(plan) = reply.plan.as_mut() {
        mask(&mut plan.preview);
    }
    for part in &mut reply.parts {
        match part {
            pintle_core::Part::Text(text) => mask(text),
            pintle_core::Part::Resource(contents) => contents.text.iter_mut().for_each(mask),
            pintle_core::Part::Link(link) => {
                mask(&mut link.uri);
                link.description.iter_mut().for_each(mask);
            }
            pintle_core::Part::Image { .. } | pintle_core::Part::Audio { .. } => {}
        }
    }
    for asked in &mut reply.asked {
        if let pintle_core::InputKind::Form { message, .. } | pintle_core::InputKind::Url { message, .. } =
            &mut asked.kind
        {
            mask(message);
        }
    }
}

/// Names of arguments that are secrets: `"x-cli": {"secret": true}` in the schema.
fn secret_arguments(input: &Value) -> impl Iterator<Item = &str> {
    let properties = input.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .filter(|(_, s)| s[schema::FOR_PEOPLE]["secret"] == true)
        .map(|(name, _)| name.as_str())
}

fn learn_secrets(arguments: &Map<String, Value>, input: &Value, port: &Port) {
    use pintle_core::CallPort as _;
    for name in secret_arguments(input) {
        if let Some(value) = arguments.get(name).and_then(Value::as_str) {
            port.register_secret(name, value);
        }
    }
}

/// The arguments as audit and approvals show them: secrets masked, long texts by length and digest.
fn shown(arguments: &Map<String, Value>, input: &Value) -> Value {
    let mut shown = arguments.clone();
    for name in secret_arguments(input) {
        if let Some(value) = shown.get_mut(name) {
            *value = json!(format!("‹secret {name}›"));
        }
    }
    for name in [PLAN_TOKEN, CURSOR, WAIT] {
        shown.shift_remove(name);
    }
    let mut shown = Value::Object(shown);
    shorten(&mut shown);
    shown
}

fn shorten(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > 1000 => {
            *text = format!("‹{} bytes, sha256 {}›", text.len(), Digest::of(&*text))
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Object(map) => map.values_mut().for_each(shorten),
        _ => {}
    }
}

impl Catalog {
    /// A request to read or list with nothing but a caller and a door.
    #[must_use]
    pub fn reading(caller: Caller, events: Arc<dyn Events>) -> Request {
        let mut request = Request::new("", Map::new(), caller);
        request.events = events;
        request
    }
}
