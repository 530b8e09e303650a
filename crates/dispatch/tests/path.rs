//! The one path, walked with small operations: what every tool gets without asking for it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use pintle_core::{
    Answer, Call, Caller, Change, Code, Confirm, CutRows, Digest, Door, Effect, Failure, InputRequest, InputResponse,
    Lane, Outcome, Permit, Plan, Prepared, Query, Reply, Row, Rows, Scope, Spellings, Stop, Toolset, View, change,
    query,
};
use pintle_dispatch::{Approvals, Catalog, Decision, Events, Policy, ReadOnly, Request, Settings, StateFolder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

#[derive(Default)]
struct World {
    replicas: AtomicU32,
    /// Set by whoever moves the state between a plan and its commit.
    moved_by: Mutex<Option<u32>>,
}

#[derive(Serialize, JsonSchema)]
struct Said(Value);
impl Answer for Said {
    fn view(&self) -> View {
        View::text(self.0.as_str().map_or_else(|| self.0.to_string(), str::to_owned))
    }
}

/// Changes how many there are.
#[derive(Deserialize, JsonSchema)]
struct Scale {
    app: String,
    replicas: u32,
    #[serde(default)]
    dry_run: bool,
}
impl Change for Scale {
    type Host = World;
    type Ready = u32;
    type Answer = Said;
    const NAME: &'static str = "scale_app";
    const WORST: Effect = Effect::WRITE.idempotent();
    const SPELLINGS: Spellings = Spellings { renames: &[("name", "app")], ..Spellings::NONE };
    async fn prepare(self, world: &World, _: &Call) -> Result<Prepared<u32>, Stop> {
        let now = world.replicas.load(Ordering::SeqCst);
        let effect = if self.dry_run || now == self.replicas { Effect::READ } else { Effect::WRITE };
        Ok(Prepared {
            effect,
            scopes: vec![Scope::cluster(self.app)],
            lanes: vec![Lane::new("apps")],
            preview: format!("{now} -> {}", self.replicas),
            seen: Digest::of(now.to_string()),
            confirm: None,
            ready: self.replicas,
        })
    }
    async fn commit(world: &World, ready: u32, permit: &Permit, _: &Call) -> Result<Said, Stop> {
        permit.check(Effect::WRITE, &Scope::cluster("web"))?;
        if let Some(moved) = world.moved_by.lock().unwrap().take() {
            world.replicas.store(moved, Ordering::SeqCst);
        }
        world.replicas.store(ready, Ordering::SeqCst);
        Ok(Said(json!(format!("{ready} replicas"))))
    }
}

/// Says what it is told, in several ways.
#[derive(Deserialize, JsonSchema)]
struct Echo {
    how: String,
    #[serde(default)]
    #[schemars(extend("x-cli" = {"secret": true}))]
    password: Option<String>,
}
impl Query for Echo {
    type Host = World;
    type Answer = Said;
    const NAME: &'static str = "echo";
    async fn run(self, _: &World, call: &Call) -> Result<Said, Stop> {
        match self.how.as_str() {
            "panic" => panic!("as told"),
            "hang" => std::future::pending().await,
            "wait" => {
                call.cancelled().await;
                Err(Failure::new(Code::Cancelled, "stopped after row 3").into())
            }
            "secret" => {
                let secret = call.secret("TOKEN", "s3cret-value");
                call.emit(&json!({"row": secret.expose()}));
                Ok(Said(json!({"token": secret.expose(), "error": format!("bad {}", secret.expose())})))
            }
            "password" => Ok(Said(json!(format!("got {}", self.password.unwrap_or_default())))),
            "long" => Ok(Said(json!("x".repeat(200_000)))),
            other => {
                if let Some(cluster) = other.strip_prefix("reach ") {
                    call.allows(&Scope::cluster(cluster))?;
                }
                Ok(Said(json!(other)))
            }
        }
    }
}

/// Tells a secret.
#[derive(Deserialize, JsonSchema)]
struct Tell {}
impl Query for Tell {
    type Host = World;
    type Answer = Said;
    const NAME: &'static str = "tell";
    const EFFECT: Effect = Effect::DISCLOSE;
    async fn run(self, _: &World, _: &Call) -> Result<Said, Stop> {
        Ok(Said(json!("the secret")))
    }
}

#[derive(Serialize, JsonSchema)]
struct Number {
    key: String,
    text: String,
}
impl Row for Number {
    fn key(&self) -> String {
        self.key.clone()
    }
}
#[derive(Serialize, JsonSchema)]
struct Numbers {
    total: usize,
    numbers: Rows<Number>,
}
impl Answer for Numbers {
    fn view(&self) -> View {
        View::table(["KEY"], self.numbers.iter().map(|n| vec![n.key.clone()]))
    }
    fn rows(&mut self) -> Option<&mut dyn CutRows> {
        Some(&mut self.numbers)
    }
}
/// Lists numbers.
#[derive(Deserialize, JsonSchema)]
struct Count {
    to: usize,
}
impl Query for Count {
    type Host = World;
    type Answer = Numbers;
    const NAME: &'static str = "count";
    const PAGED: bool = true;
    async fn run(self, _: &World, _: &Call) -> Result<Numbers, Stop> {
        let row = |n: usize| Number { key: format!("{n:06}"), text: "some text to fill the row".to_owned() };
        Ok(Numbers { total: self.to, numbers: Rows::new((0..self.to).map(row).collect()) })
    }
}

fn toolset(world: &Arc<World>, confirm: Confirm) -> Toolset {
    Toolset {
        name: "trial",
        server_name: "trial",
        summary: "",
        instructions: "",
        confirm,
        tools: vec![change::<Scale>(world), query::<Echo>(world), query::<Tell>(world), query::<Count>(world)],
        resources: None,
        prompts: Vec::new(),
        completions: None,
    }
}

struct Bench {
    world: Arc<World>,
    catalog: Catalog,
    _temp: tempfile::TempDir,
    state: StateFolder,
}

impl Bench {
    fn new(confirm: Confirm, change: impl FnOnce(&mut Settings)) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let state = StateFolder::at(temp.path().join("state"));
        let mut settings = Settings { state: Some(state.clone()), ..Settings::default() };
        change(&mut settings);
        let world = Arc::new(World::default());
        let catalog = Catalog::new(vec![toolset(&world, confirm)], settings).unwrap();
        Self { world, catalog, _temp: temp, state }
    }
    fn request(tool: &str, arguments: Value, door: Door) -> Request {
        let Value::Object(arguments) = arguments else { panic!("an object") };
        Request::new(tool, arguments, Caller { door, principal: "tester".to_owned() })
    }
    async fn agent(&self, tool: &str, arguments: Value) -> Reply {
        self.catalog.call(Self::request(tool, arguments, Door::Agents)).await
    }
    fn audit(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.state.path().join("audit.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn code(reply: &Reply) -> Option<Code> {
    reply.failure.as_ref().map(|f| f.code)
}

#[tokio::test]
async fn old_spellings_aliases_and_unknown_tools() {
    let bench = Bench::new(Confirm::Nothing, |_| {});
    let reply = bench.agent("scale_app", json!({"name": "web", "replicas": 2, "dry_run": null})).await;
    assert_eq!(reply.outcome, Outcome::Ok, "{:?}", reply.failure);
    assert_eq!(bench.world.replicas.load(Ordering::SeqCst), 2);
    let unknown = bench.agent("scale_apps", json!({})).await;
    assert_eq!((code(&unknown), unknown.exit().code()), (Some(Code::UnknownTool), 64));
    assert_eq!(unknown.failure.unwrap().hints, ["did you mean `scale_app`?"]);
}

#[tokio::test]
async fn a_plan_is_carried_out_once_for_the_same_call_and_the_same_state() {
    let bench = Bench::new(Confirm::Plan, |_| {});
    let arguments = json!({"app": "web", "replicas": 5});
    let planned = bench.agent("scale_app", arguments.clone()).await;
    let plan = planned.plan.unwrap();
    assert_eq!((planned.outcome, planned.is_error, plan.preview.as_str()), (Outcome::Planned, false, "0 -> 5"));
    assert_eq!(bench.world.replicas.load(Ordering::SeqCst), 0, "nothing was changed");
    let token = plan.token.unwrap();
    let with = |replicas: u32| json!({"app": "web", "replicas": replicas, "plan_token": token});
    assert_eq!(code(&bench.agent("scale_app", with(6)).await), Some(Code::BadToken), "other arguments");
    bench.world.replicas.store(1, Ordering::SeqCst);
    assert_eq!(code(&bench.agent("scale_app", with(5)).await), Some(Code::Moved), "the state has moved");
    bench.world.replicas.store(0, Ordering::SeqCst);
    assert_eq!(bench.agent("scale_app", with(5)).await.outcome, Outcome::Ok);
    bench.world.replicas.store(0, Ordering::SeqCst);
    assert_eq!(code(&bench.agent("scale_app", with(5)).await), Some(Code::BadToken), "once only");
    let mut other = Bench::request("scale_app", with(5), Door::Agents);
    other.caller.principal = "somebody else".to_owned();
    assert_eq!(code(&bench.catalog.call(other).await), Some(Code::BadToken));
    let dry = bench.agent("scale_app", json!({"app": "web", "replicas": 9, "dry_run": true})).await;
    assert_ne!(dry.outcome, Outcome::Planned, "a dry run is a read and needs no plan");
}

#[tokio::test]
async fn where_nothing_would_change_nobody_is_asked() {
    for word in ["plan", "human"] {
        let policy = format!("[[rule]]\ntool = \"scale_*\"\nconfirm = \"{word}\"\n");
        let policy = Policy::parse(&policy, Path::new("p")).unwrap();
        let bench = Bench::new(Confirm::Nothing, |s| s.policy = policy);
        for door in [Door::Agents, Door::People] {
            let asks = async |replicas: u32| {
                let request = Bench::request("scale_app", json!({"app": "web", "replicas": replicas}), door);
                bench.catalog.call(request).await.outcome == Outcome::Planned
            };
            assert!(asks(5).await && !asks(0).await, "{word}: there are none already");
        }
    }
}

#[tokio::test]
async fn without_a_permit_for_the_scope_a_commit_fails_closed() {
    let bench = Bench::new(Confirm::Nothing, |_| {});
    let reply = bench.agent("scale_app", json!({"app": "other", "replicas": 3})).await;
    assert_eq!(code(&reply), Some(Code::Denied), "the commit checks `web`, the permit says `other`");
    assert_eq!(bench.world.replicas.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn cw_64_a_person_approves_out_of_band_where_the_client_cannot_ask() {
    let policy = Policy::parse("[[rule]]\ntool = \"scale_*\"\nconfirm = \"human\"\n", Path::new("p")).unwrap();
    let bench = Bench::new(Confirm::Nothing, |s| s.policy = policy);
    let arguments = json!({"app": "web", "replicas": 4});
    let first = bench.agent("scale_app", arguments.clone()).await;
    let id = first.plan.unwrap().approval.unwrap();
    assert_eq!(bench.agent("scale_app", arguments.clone()).await.plan.unwrap().approval.as_deref(), Some(id.as_str()));
    Approvals::new(bench.state.clone()).decide(&id, Decision::Approved).unwrap();
    assert_eq!(bench.agent("scale_app", arguments.clone()).await.outcome, Outcome::Ok);
    bench.world.replicas.store(0, Ordering::SeqCst);
    assert_eq!(bench.agent("scale_app", arguments).await.outcome, Outcome::Planned, "one yes, one call");
}

struct Asked(bool);
impl Events for Asked {
    fn can_ask(&self) -> bool {
        true
    }
    fn ask(&self, requests: Vec<InputRequest>) -> pintle_core::BoxFuture<'_, Result<Vec<InputResponse>, Stop>> {
        let value = json!({"action": "accept", "content": {"confirm": self.0}});
        Box::pin(async move {
            Ok(requests.into_iter().map(|r| InputResponse { key: r.key, value: value.clone() }).collect())
        })
    }
    fn confirm<'a>(&'a self, _: &'a Plan) -> pintle_core::BoxFuture<'a, Option<bool>> {
        Box::pin(async { Some(self.0) })
    }
}

#[tokio::test]
async fn a_person_is_asked_through_the_client_or_on_the_terminal() {
    let bench = Bench::new(Confirm::Human, |_| {});
    for (door, yes) in [(Door::Agents, true), (Door::Agents, false), (Door::People, true), (Door::People, false)] {
        bench.world.replicas.store(0, Ordering::SeqCst);
        let mut request = Bench::request("scale_app", json!({"app": "web", "replicas": 7}), door);
        request.events = Arc::new(Asked(yes));
        let reply = bench.catalog.call(request).await;
        assert_eq!(reply.outcome == Outcome::Ok, yes, "{door:?} {yes}");
        assert_eq!(bench.world.replicas.load(Ordering::SeqCst), if yes { 7 } else { 0 });
    }
    let alone =
        bench.catalog.call(Bench::request("scale_app", json!({"app": "web", "replicas": 8}), Door::People)).await;
    assert_eq!(
        (alone.outcome, alone.exit().code()),
        (Outcome::Planned, 77),
        "never allowed because nobody could be asked"
    );
}

#[tokio::test]
async fn policy_denies_tools_and_scopes() {
    let policy =
        "[[rule]]\ntool = \"echo\"\nallow = false\n[[rule]]\ncluster = \"prod*\"\neffect = \"write\"\nallow = false\n";
    let bench = Bench::new(Confirm::Nothing, |s| s.policy = Policy::parse(policy, Path::new("p")).unwrap());
    let denied = bench.agent("echo", json!({"how": "hi"})).await;
    assert_eq!((code(&denied), denied.exit().code()), (Some(Code::Denied), 77));
    assert_eq!(code(&bench.agent("scale_app", json!({"app": "prod-eu", "replicas": 1})).await), Some(Code::Denied));
    assert_eq!(bench.agent("scale_app", json!({"app": "web", "replicas": 1})).await.outcome, Outcome::Ok);
}

#[tokio::test]
async fn a_running_read_is_told_where_it_may_read() {
    let policy = "[[rule]]\ncluster = \"prod*\"\neffect = \"write\"\nconfirm = \"human\"\n\
        [[rule]]\ncluster = \"prod-eu\"\nallow = false\n[[rule]]\ncluster = \"prod-us\"\nconfirm = \"human\"\n";
    let bench = Bench::new(Confirm::Human, |s| s.policy = Policy::parse(policy, Path::new("p")).unwrap());
    let reach = async |cluster: &str| bench.agent("echo", json!({"how": format!("reach {cluster}")})).await;
    for free in ["dev", "prod-asia"] {
        assert_eq!(reach(free).await.outcome, Outcome::Ok, "{free}: a rule about writes leaves reads alone");
    }
    for (cluster, why) in
        [("prod-eu", "does not allow echo to read on prod-eu"), ("prod-us", "wants a yes before echo")]
    {
        let denied = reach(cluster).await;
        assert_eq!((code(&denied), denied.exit().code()), (Some(Code::Denied), 77));
        assert!(denied.failure.as_ref().unwrap().message.contains(why), "{denied:?}");
    }
}

#[tokio::test]
async fn ch_129_cw_09_read_only_servers_do_not_know_what_changes() {
    for mode in [ReadOnly::Listed, ReadOnly::Strict] {
        let bench = Bench::new(Confirm::Nothing, |s| s.read_only = mode);
        let names: Vec<_> = bench.catalog.listed().map(|l| l.name.as_str()).collect();
        assert_eq!(names, ["echo", "count"], "neither the change nor the disclosing read");
        assert_eq!(code(&bench.agent("scale_app", json!({})).await), Some(Code::UnknownTool));
    }
}

#[tokio::test]
async fn cw_10_secrets_are_masked_on_every_way_out_and_disclosing_reads_refused() {
    #[derive(Default)]
    struct Rows(Mutex<Vec<Value>>);
    impl Events for Rows {
        fn row(&self, row: Value) {
            self.0.lock().unwrap().push(row);
        }
    }
    let bench = Bench::new(Confirm::Nothing, |_| {});
    let rows = Arc::new(Rows::default());
    let mut request = Bench::request("echo", json!({"how": "secret"}), Door::Agents);
    request.events = Arc::<Rows>::clone(&rows);
    let reply = bench.catalog.call(request).await;
    let password = bench.agent("echo", json!({"how": "password", "password": "hunter2!"})).await;
    let all = format!(
        "{} {} {:?} {} {}",
        reply.envelope(),
        reply.view.plain(),
        rows.0.lock().unwrap(),
        password.envelope(),
        Value::from(bench.audit())
    );
    assert!(!all.contains("s3cret") && !all.contains("hunter2"), "{all}");
    assert!(all.contains("‹secret TOKEN›") && all.contains("‹secret password›"));
    assert_eq!(code(&bench.agent("tell", json!({})).await), Some(Code::Denied));
    let allowed = Bench::new(Confirm::Nothing, |s| s.allow_secrets = true);
    assert_eq!(allowed.agent("tell", json!({})).await.outcome, Outcome::Ok);
}

#[tokio::test]
async fn ch_147_cw_19_panics_deadlines_and_cancels_end_one_call_only() {
    let bench = Bench::new(Confirm::Nothing, |_| {});
    let panicked = bench.agent("echo", json!({"how": "panic"})).await;
    assert_eq!(code(&panicked), Some(Code::Internal));
    assert!(panicked.is_error && panicked.failure.unwrap().message.contains("as told"));
    let mut hanging = Bench::request("echo", json!({"how": "hang"}), Door::Agents);
    hanging.deadline = Some(Duration::from_millis(300));
    let late = bench.catalog.call(hanging).await;
    assert_eq!(code(&late), Some(Code::TimedOut));
    assert!(late.failure.unwrap().message.contains("300 ms"), "the limit is named");
    let mut request = Bench::request("echo", json!({"how": "wait"}), Door::Agents);
    request.deadline = Some(Duration::from_secs(60));
    let cancel = request.cancel.clone();
    let (reply, ()) = tokio::join!(bench.catalog.call(request), async move {
        tokio::time::sleep(Duration::from_millis(30)).await;
        cancel.cancel();
    });
    assert_eq!(reply.failure.unwrap().message, "stopped after row 3", "what the operation says of it");
    assert_eq!(bench.agent("echo", json!({"how": "still here"})).await.outcome, Outcome::Ok);
}

#[tokio::test]
async fn an_6_03_rows_are_cut_by_key_and_a_cursor_goes_on() {
    let bench = Bench::new(Confirm::Nothing, |_| {});
    let mut seen = Vec::new();
    let mut cursor: Option<String> = None;
    let mut pages = 0;
    loop {
        let mut arguments = json!({"to": 2000});
        if let Some(cursor) = &cursor {
            arguments["cursor"] = json!(cursor);
        }
        let reply = bench.agent("count", arguments).await;
        let answer = reply.answer.unwrap();
        assert!(
            answer.to_string().len() <= Request::AGENT_BUDGET
                && reply.view.plain().len() <= Request::AGENT_BUDGET + 100
        );
        assert_eq!(answer["total"], 2000);
        seen.extend(answer["numbers"].as_array().unwrap().iter().map(|n| n["key"].as_str().unwrap().to_owned()));
        assert_eq!(reply.truncated, reply.next_cursor.is_some());
        pages += 1;
        cursor = reply.next_cursor;
        if cursor.is_none() {
            break;
        }
        assert!(pages < 50, "it ends");
    }
    assert!(pages > 2);
    assert_eq!(seen, (0..2000).map(|n| format!("{n:06}")).collect::<Vec<_>>(), "nothing lost, nothing twice");
    let page = bench.agent("count", json!({"to": 2000})).await.next_cursor.unwrap();
    assert_eq!(code(&bench.agent("count", json!({"to": 2001, "cursor": page})).await), Some(Code::BadToken));
    assert_eq!(code(&bench.agent("count", json!({"to": 5, "cursor": "junk"})).await), Some(Code::BadToken));
    let people = bench.catalog.call(Bench::request("count", json!({"to": 2000}), Door::People)).await;
    assert_eq!(people.answer.unwrap()["numbers"].as_array().unwrap().len(), 2000, "people get all");
}

#[tokio::test]
async fn cw_20_long_texts_are_spilled_and_linked() {
    let bench = Bench::new(Confirm::Nothing, |_| {});
    let reply = bench.agent("echo", json!({"how": "long"})).await;
    assert!(reply.truncated);
    let Some(pintle_core::Part::Link(link)) = reply.parts.last() else { panic!("a link: {:?}", reply.parts) };
    let reading = Bench::request("", json!({}), Door::Agents);
    let whole = bench.catalog.read(&link.uri, &reading).await.unwrap();
    assert_eq!(whole[0].text.as_ref().unwrap().len(), 200_000);
}

#[tokio::test]
async fn cw_27_the_audit_tells_who_did_what_and_how_it_ended() {
    let bench = Bench::new(Confirm::Nothing, |_| {});
    bench.agent("scale_app", json!({"app": "web", "replicas": 2})).await;
    bench.agent("scale_app", json!({"app": "web"})).await;
    let lines = bench.audit();
    assert_eq!(lines.len(), 2);
    assert_eq!(
        (&lines[0]["tool"], &lines[0]["principal"], &lines[0]["door"], &lines[0]["effects"], &lines[0]["outcome"]),
        (&json!("scale_app"), &json!("tester"), &json!("agents"), &json!(["write"]), &json!("ok"))
    );
    assert_eq!(lines[0]["scopes"], json!([{"cluster": "web"}]));
    assert_eq!((&lines[1]["outcome"], &lines[1]["code"]), (&json!("failed"), &json!("invalid_argument")));
}

#[tokio::test]
async fn cw_14_names_in_both_styles_are_taken_and_the_chosen_one_is_shown() {
    let bench = Bench::new(Confirm::Plan, |s| s.name_style = pintle_dispatch::NameStyle::Underscore);
    let listed: Vec<_> = bench.catalog.listed().collect();
    let scale = listed.iter().find(|l| l.name == "scale_app").unwrap();
    assert!(scale.input["properties"]["plan_token"].is_object(), "a change under `plan` shows the argument");
    assert!(listed.iter().find(|l| l.name == "count").unwrap().input["properties"]["cursor"].is_object());
    assert!(listed.iter().find(|l| l.name == "echo").unwrap().input["properties"].get("plan_token").is_none());
    assert!(!listed.iter().any(|l| l.input.to_string().contains("x-cli")));
}
