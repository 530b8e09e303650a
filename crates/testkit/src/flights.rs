//! Work that takes long, and says how far it is: tools that run as jobs.

use pintle_core::{
    Answer, Call, Change, Code, Confirm, Digest, Effect, Failure, InputKind, InputRequest, Lane, LogLevel, OnEof,
    Permit, Prepared, Scope, Stop, Toolset, View, change,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{
    fs,
    io::Write as _,
    sync::Arc,
    time::{Duration, Instant},
};

/// The tools: `trial.flight` goes on when its client is gone, `trial.errand` ends with it.
#[must_use]
pub fn flights_toolset(confirm: Confirm) -> Toolset {
    let nothing = Arc::new(());
    Toolset {
        name: "flights",
        server_name: "pintle-flights",
        summary: "work that takes long",
        instructions: "",
        confirm,
        tools: vec![change::<Flight>(&nothing), change::<Errand>(&nothing)],
        resources: None,
        prompts: Vec::new(),
        completions: None,
    }
}

/// Writes a line into a file at each step; goes on when its client is gone.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Flight {
    #[serde(flatten)]
    course: Course,
}

/// Writes a line into a file at each step; ends with its client.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Errand {
    #[serde(flatten)]
    course: Course,
}

/// Where it goes.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Course {
    /// The file that gets the lines
    file: String,
    /// How many steps
    #[serde(default = "one")]
    steps: u32,
    /// Milliseconds of each step
    #[serde(default)]
    step_ms: u64,
    /// Whether it asks for a name on its way
    #[serde(default)]
    ask: bool,
    /// Whether it only tells what it would do
    #[serde(default)]
    dry_run: bool,
    /// Something that nobody else may see
    #[serde(default)]
    #[schemars(extend("x-cli" = {"secret": true}))]
    password: Option<String>,
}

fn one() -> u32 {
    1
}

/// What came of it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Landed {
    steps: u32,
    /// The process that did it
    pid: u32,
    /// Who was named
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

impl Course {
    fn prepare(self) -> Result<Prepared<Self>, Stop> {
        let before = match fs::read(&self.file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(Failure::io(format!("reading `{}`", self.file), &error).into()),
        };
        Ok(Prepared {
            effect: if self.dry_run { Effect::READ } else { Effect::WRITE },
            scopes: vec![Scope::path(self.file.clone())],
            lanes: if self.dry_run { Vec::new() } else { vec![Lane::exclusive(format!("flight:{}", self.file))] },
            preview: format!("{} lines into {}", self.steps, self.file),
            seen: Digest::of(before),
            confirm: None,
            ready: self,
        })
    }

    async fn commit(self, permit: &Permit, call: &Call) -> Result<Landed, Stop> {
        let landed = |name| Landed { steps: self.steps, pid: std::process::id(), name };
        if self.dry_run {
            return Ok(landed(None));
        }
        permit.check(Effect::WRITE, &Scope::path(self.file.clone()))?;
        let _secrets = self.password.as_ref().map(|password| call.secret("password", password.clone()));
        let mut name = None;
        for step in 1..=self.steps {
            let pause = Duration::from_millis(self.step_ms);
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = call.cancelled() => {
                    self.write("cancelled")?;
                    return Err(Failure::new(Code::Cancelled, format!("turned back at step {step}")).into());
                }
            }
            if self.ask && step == 1 {
                name = Some(ask_name(call).await?);
            }
            self.write(&format!("step {step}"))?;
            let secret = self.password.as_deref().unwrap_or("nothing");
            call.log(LogLevel::Info, "flight", json!(format!("step {step}, and {secret} to hide")));
            call.progress(f64::from(step), Some(f64::from(self.steps)), &format!("step {step} of {}", self.steps));
        }
        Ok(landed(name))
    }

    fn write(&self, line: &str) -> Result<(), Failure> {
        let file = fs::File::options().create(true).append(true).open(&self.file);
        file.and_then(|mut file| writeln!(file, "{line}"))
            .map_err(|error| Failure::io(format!("writing `{}`", self.file), &error))
    }
}

async fn ask_name(call: &Call) -> Result<String, Stop> {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    let kind = InputKind::Form { message: "who flies?".to_owned(), schema };
    let asked = Instant::now();
    let answers = call.ask(vec![InputRequest { key: "name".to_owned(), kind }]).await?;
    let name = answers.first().and_then(|answer| answer.value["content"]["name"].as_str()).unwrap_or("nobody");
    call.log(LogLevel::Info, "flight", json!(format!("answered after {} ms", asked.elapsed().as_millis())));
    Ok(name.to_owned())
}

impl Change for Flight {
    type Host = ();
    type Ready = Course;
    type Answer = Landed;
    const NAME: &str = "trial.flight";
    const WORST: Effect = Effect::WRITE;
    const DEADLINE: Duration = Duration::from_secs(600);
    const JOB: Option<OnEof> = Some(OnEof::Detach);

    async fn prepare(self, (): &(), _: &Call) -> Result<Prepared<Course>, Stop> {
        self.course.prepare()
    }

    async fn commit((): &(), course: Course, permit: &Permit, call: &Call) -> Result<Landed, Stop> {
        course.commit(permit, call).await
    }
}

impl Change for Errand {
    type Host = ();
    type Ready = Course;
    type Answer = Landed;
    const NAME: &str = "trial.errand";
    const WORST: Effect = Effect::WRITE;
    const DEADLINE: Duration = Duration::from_secs(600);
    const JOB: Option<OnEof> = Some(OnEof::Kill);

    async fn prepare(self, (): &(), _: &Call) -> Result<Prepared<Course>, Stop> {
        self.course.prepare()
    }

    async fn commit((): &(), course: Course, permit: &Permit, call: &Call) -> Result<Landed, Stop> {
        course.commit(permit, call).await
    }
}

impl Answer for Landed {
    fn view(&self) -> View {
        View::text(format!("{} steps", self.steps))
    }
}
