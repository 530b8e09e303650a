//! A tool made of a pack's data.

use crate::{
    answer,
    host::Host,
    load::Loaded,
    order::{Order, Outlook, effect_of},
    resources, run,
};
use pintle_core::{
    Ask, BoxFuture, Call, Code, Confirm, Digest, Failure, Gate, Lazy, OnEof, Output, Problem, Spec, Stop, Tool, View,
};
use pintle_packfile::{Arguments, Asked, Pack, Refusal, Rules, Shape, ToolDef, Verb};
use serde_json::{Map, Value, json};
use std::{sync::Arc, time::Duration};

/// What a tool needs besides the time of its verb: the question who the program is, files, a digest.
const AROUND: Duration = Duration::from_secs(20);

/// A tool made of a pack's data.
pub(crate) struct PackTool {
    spec: Spec,
    host: Arc<Host>,
    loaded: Loaded,
    tool: ToolDef,
}

impl PackTool {
    /// The tool of that definition.
    pub(crate) fn new(host: &Arc<Host>, loaded: &Loaded, tool: &ToolDef) -> Self {
        Self { spec: spec(&loaded.pack, tool), host: Arc::clone(host), loaded: loaded.clone(), tool: tool.clone() }
    }

    async fn run(&self, arguments: Value, gate: &dyn Gate, call: &Call) -> Result<Output, Stop> {
        let arguments = match arguments {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        let asked = self.tool.resolve(&self.loaded.pack, &arguments);
        match asked.map_err(|refusals| refused(&self.spec.name, &refusals))? {
            Asked::Verb(verb, arguments) => {
                let rules = self.tool.rules(verb, &arguments);
                if rules.effects.changes() {
                    self.change(verb, &arguments, &rules, gate, call).await
                } else {
                    self.look(verb, &arguments, rules, gate, call).await
                }
            }
            Asked::Resource(resource) => {
                admit_read(gate, &Rules::default()).await?;
                let contents = resources::read(&self.host, &self.loaded, resource, call).await?;
                let text = contents.text.clone().unwrap_or_default();
                Ok(Output {
                    answer: Some(json!({"uri": contents.uri, "mime": contents.mime, "text": text})),
                    view: View::exact(text),
                    ..Output::default()
                })
            }
        }
    }

    async fn look(
        &self,
        verb: &Verb,
        arguments: &Arguments,
        rules: Rules,
        gate: &dyn Gate,
        call: &Call,
    ) -> Result<Output, Stop> {
        admit_read(gate, &rules).await?;
        let order = Order::new(&self.host, &self.loaded, verb, arguments, rules).await?;
        let ran = run::run(&order, call, true).await?;
        Ok(answer::output(&order, ran, call).await?)
    }

    /// In the two halves of every change: what it will do, the gate, the lanes, another look, and then the act.
    async fn change(
        &self,
        verb: &Verb,
        arguments: &Arguments,
        rules: &Rules,
        gate: &dyn Gate,
        call: &Call,
    ) -> Result<Output, Stop> {
        let order = Order::new(&self.host, &self.loaded, verb, arguments, rules.clone()).await?;
        let outlook = order.outlook(call).await?;
        let mut admission = gate.admit(ask(&outlook, rules)).await?;
        let _held = gate.hold(&outlook.lanes).await?;
        // Somebody else may have been first while our turn came.
        let order = Order::new(&self.host, &self.loaded, verb, arguments, rules.clone()).await?;
        let again = order.outlook(call).await?;
        if again.seen != outlook.seen {
            if admission.confirmed {
                return Err(moved(&self.spec.name).into());
            }
            admission = gate.admit(ask(&again, rules)).await?;
        }
        for scope in &again.scopes {
            admission.permit.check(again.effect, scope)?;
        }
        let ran = run::run(&order, call, true).await?;
        Ok(answer::output(&order, ran, call).await?)
    }
}

impl Tool for PackTool {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn call<'a>(&'a self, arguments: Value, gate: &'a dyn Gate, call: &'a Call) -> BoxFuture<'a, Result<Output, Stop>> {
        Box::pin(self.run(arguments, gate, call))
    }
}

async fn admit_read(gate: &dyn Gate, rules: &Rules) -> Result<(), Stop> {
    let seen = Digest::of("");
    gate.admit(Ask { effect: effect_of(&rules.effects), ..Ask::read(&seen) }).await?;
    Ok(())
}

fn ask<'a>(outlook: &'a Outlook, rules: &Rules) -> Ask<'a> {
    Ask {
        effect: outlook.effect,
        scopes: &outlook.scopes,
        preview: &outlook.preview,
        seen: &outlook.seen,
        confirm: Some(confirm_of(rules.confirm)),
        lanes: &outlook.lanes,
    }
}

fn moved(name: &str) -> Failure {
    Failure::new(Code::Moved, format!("{name}: what the plan rests on has changed since"))
        .hint("call again without `plan_token` for a new plan")
}

fn confirm_of(confirm: pintle_packfile::Confirm) -> Confirm {
    match confirm {
        pintle_packfile::Confirm::Nothing => Confirm::Nothing,
        pintle_packfile::Confirm::Plan => Confirm::Plan,
        pintle_packfile::Confirm::Human => Confirm::Human,
    }
}

/// Everything that a tool or verb does not take, with its places.
pub(crate) fn refused(name: &str, refusals: &[Refusal]) -> Failure {
    let problem = |refusal: &Refusal| {
        let problem = Problem::new(refusal.reason.to_string()).at_pointer(refusal.pointer.clone());
        match &refusal.hint {
            Some(hint) => problem.hint(hint),
            None => problem,
        }
    };
    let message = match refusals {
        [only] if only.pointer.is_empty() => format!("{name}: {}", only.reason),
        [only] => format!("argument `{}`: {}", only.pointer.trim_start_matches('/'), only.reason),
        several => format!("{name}: {} of its arguments are refused", several.len()),
    };
    Failure::new(Code::InvalidArgument, message).problems(refusals.iter().map(problem))
}

fn spec(pack: &Arc<Pack>, tool: &ToolDef) -> Spec {
    let input = {
        let (pack, tool) = (Arc::clone(pack), tool.clone());
        Lazy::new(move || {
            let mut schema = tool.schema(&pack);
            schema["x-cli"] = json!({"command": words(&pack.name, &tool.name)});
            schema
        })
    };
    let mut spec = Spec::new(tool.name.clone(), tool.about.clone(), input, effect_of(&tool.worst(pack)));
    spec.output = {
        let (pack, tool) = (Arc::clone(pack), tool.clone());
        Lazy::new(move || {
            Some(match tool.shape {
                Shape::Read { .. } => json!({"type": "object", "properties": {
                    "uri": {"type": "string"}, "mime": {"type": "string"}, "text": {"type": "string"}}}),
                _ => answer::schema(&pack, &tool),
            })
        })
    };
    let rules = || {
        let least = tool.confirm_changes;
        tool.verbs(pack).into_iter().flat_map(Verb::all_rules).map(move |mut rules| {
            if let Some(least) = least.filter(|_| rules.effects.changes()) {
                rules.confirm = rules.confirm.max(least);
            }
            rules
        })
    };
    // A tool of which some call needs a plan must have room for its token, whatever its other calls need.
    let needs = rules().filter(|rules| rules.effects.changes()).map(|rules| confirm_of(rules.confirm));
    let needs: Vec<Confirm> = needs.collect();
    spec.confirm = Some(match needs.iter().max() {
        Some(_) if needs.contains(&Confirm::Plan) => Confirm::Plan,
        most => most.copied().unwrap_or_default(),
    });
    let longest = rules().map(|rules| rules.deadline + rules.grace).max().unwrap_or_default();
    spec.deadline = longest + AROUND;
    spec.grace = rules().map(|rules| rules.grace).max().unwrap_or_default() + Duration::from_secs(5);
    match tool.job(pack) {
        Some(pintle_packfile::OnEof::Kill) => spec.as_job(OnEof::Kill),
        Some(pintle_packfile::OnEof::Detach) => spec.as_job(OnEof::Detach),
        None => spec,
    }
}

/// The words of its command: the name of the pack is said already.
fn words(pack: &str, tool: &str) -> String {
    let own = tool.strip_prefix(pack).and_then(|rest| rest.strip_prefix('_')).filter(|rest| !rest.is_empty());
    own.unwrap_or(tool).replace('_', "-")
}
