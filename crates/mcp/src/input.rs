//! Questions to the client, in both eras, and the sealed state that carries answers from round to round.

use pintle_core::{Digest, InputKind, InputRequest};
use rmcp::{
    ErrorData,
    model::{
        ClientCapabilities, InputRequests, InputRequiredResult, InputResponses, JsonObject, RequestStateCodec,
        SealOptions,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{collections::BTreeMap, time::Duration};

/// How long a client may take to come back with answers.
pub(crate) const VALID: Duration = Duration::from_secs(10 * 60);
/// Most questions and answers that one call may gather.
const MOST_ANSWERS: usize = 64;
/// Keys of questions whose answers are a person's yes begin so: they count only if we asked, and lately.
const CONFIRMATION: &str = "confirm-";

/// What travels sealed to the client and back.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Round {
    /// Answers of earlier rounds.
    answers: BTreeMap<String, Value>,
    /// Keys asked for in the last round.
    asked: Vec<String>,
}

impl Round {
    /// What a repeated call brings along: answers of all rounds so far.
    ///
    /// # Errors
    /// `-32602` when the state is not ours, is for another call or caller, or is too old.
    pub(crate) fn open(
        codec: &RequestStateCodec,
        binding: &Digest,
        state: Option<&str>,
        responses: Option<InputResponses>,
    ) -> Result<Self, ErrorData> {
        let mut round: Self = match state {
            None => Self::default(),
            Some(state) => codec.open_json_with(state, binding.as_str().as_bytes()).map_err(|why| {
                let message = format!("`requestState` cannot be taken: {why}; call again without it");
                ErrorData::invalid_params(message, None)
            })?,
        };
        for (key, answer) in responses.unwrap_or_default() {
            let asked = round.asked.contains(&key);
            // Keys that nobody asked for are ignored, as are answers that are no result at all.
            let wanted = asked || (state.is_none() && !key.starts_with(CONFIRMATION));
            if wanted && answer.is_object() && round.answers.len() < MOST_ANSWERS {
                round.answers.insert(key, answer);
            }
        }
        round.asked.clear();
        Ok(round)
    }

    /// The answer to that question, if it was given.
    pub(crate) fn answer(&self, key: &str) -> Option<&Value> {
        self.answers.get(key)
    }

    /// What the client is to answer next.
    pub(crate) fn ask(
        &self,
        codec: &RequestStateCodec,
        binding: &Digest,
        questions: &[InputRequest],
    ) -> Result<InputRequiredResult, ErrorData> {
        let requests = requests(questions)?;
        let round = Self { answers: self.answers.clone(), asked: questions.iter().map(|q| q.key.clone()).collect() };
        let options = SealOptions::new().associated_data(binding.as_str().as_bytes()).ttl(VALID);
        let state = codec.seal_json_with(&round, &options).map_err(|why| cannot_ask(&why))?;
        Ok(InputRequiredResult::new(Some(requests), Some(state)))
    }
}

/// Questions as the newer protocol carries them, by their keys.
pub(crate) fn requests(questions: &[InputRequest]) -> Result<InputRequests, ErrorData> {
    let mut requests = InputRequests::new();
    for question in questions {
        let (method, params) = wire(&question.kind);
        let request = json!({"method": method, "params": params});
        requests.insert(question.key.clone(), serde_json::from_value(request).map_err(|why| cannot_ask(&why))?);
    }
    Ok(requests)
}

fn cannot_ask(why: &dyn std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(format!("cannot ask: {why}"), None)
}

/// Method and parameters of a question.
pub(crate) fn wire(kind: &InputKind) -> (&'static str, Value) {
    match kind {
        InputKind::Form { message, schema } => {
            ("elicitation/create", json!({"mode": "form", "message": message, "requestedSchema": schema}))
        }
        InputKind::Url { message, url } => {
            ("elicitation/create", json!({"mode": "url", "message": message, "url": url}))
        }
        InputKind::Sample(params) => ("sampling/createMessage", params.clone()),
        InputKind::Roots => ("roots/list", json!({})),
    }
}

/// The same as a request of the older protocol, which names pages to open.
pub(crate) fn legacy_wire(question: &InputRequest) -> (&'static str, Value) {
    let (method, mut params) = wire(&question.kind);
    if let InputKind::Url { url, .. } = &question.kind {
        params["elicitationId"] = Digest::of_parts([question.key.as_bytes(), url.as_bytes()]).as_str()[..16].into();
    }
    (method, params)
}

/// Whether the client declared that it can answer this kind of question.
pub(crate) fn can_answer(capabilities: &ClientCapabilities, kind: &InputKind) -> bool {
    let elicitation = capabilities.elicitation.as_ref();
    match kind {
        // An empty declaration means forms.
        InputKind::Form { .. } => elicitation.is_some_and(|e| e.form.is_some() || e.url.is_none()),
        InputKind::Url { .. } => elicitation.is_some_and(|e| e.url.is_some()),
        InputKind::Sample(_) => capabilities.sampling.is_some(),
        InputKind::Roots => capabilities.roots.is_some(),
    }
}

/// Whether a person behind the client can be shown a form.
pub(crate) fn can_ask(capabilities: &ClientCapabilities) -> bool {
    can_answer(capabilities, &InputKind::Form { message: String::new(), schema: Value::Null })
}

/// What a client would have to declare to answer these kinds.
pub(crate) fn needed<'a>(kinds: impl IntoIterator<Item = &'a InputKind>) -> Value {
    let mut needed = json!({});
    for kind in kinds {
        match kind {
            InputKind::Form { .. } => needed["elicitation"]["form"] = json!({}),
            InputKind::Url { .. } => needed["elicitation"]["url"] = json!({}),
            InputKind::Sample(_) => needed["sampling"] = json!({}),
            InputKind::Roots => needed["roots"] = json!({}),
        }
    }
    needed
}

/// The error for a call that needs more than the client declared.
pub(crate) fn missing(needed: &Value, method: &str) -> ErrorData {
    let kinds: Vec<&str> = needed.as_object().into_iter().flatten().map(|(kind, _)| kind.as_str()).collect();
    ErrorData::new(
        rmcp::model::ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY,
        format!("{method} needs a client that declares {}", kinds.join(" and ")),
        Some(json!({ "requiredCapabilities": needed })),
    )
}

/// What a sealed state is bound to: who calls what with which arguments.
pub(crate) fn binding(principal: &str, method: &str, name: &str, arguments: Option<&JsonObject>) -> Digest {
    let arguments = arguments.map_or_else(|| json!({}), |arguments| Value::Object(arguments.clone()));
    let arguments = Digest::of_json(&arguments);
    Digest::of_parts([principal, method, name, arguments.as_str()].map(str::as_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(key: &str) -> InputRequest {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        InputRequest { key: key.into(), kind: InputKind::Form { message: "?".into(), schema } }
    }
    fn responses(keys: &[&str]) -> Option<InputResponses> {
        Some(keys.iter().map(|key| ((*key).to_owned(), json!({"action": "accept"}))).collect())
    }

    #[test]
    fn answers_gather_over_rounds_and_nothing_forged_is_taken() {
        let codec = RequestStateCodec::new_unchecked([7; 32]);
        let (mine, other) = (Digest::of("mine"), Digest::of("other"));
        let first = Round::default().ask(&codec, &mine, &[question("one")]).unwrap();
        let state = first.request_state.unwrap();
        let second = Round::open(&codec, &mine, Some(&state), responses(&["one", "forged"])).unwrap();
        assert!(second.answer("one").is_some() && second.answer("forged").is_none());
        let state = second.ask(&codec, &mine, &[question("two")]).unwrap().request_state.unwrap();
        let third = Round::open(&codec, &mine, Some(&state), responses(&["two"])).unwrap();
        assert!(third.answer("one").is_some() && third.answer("two").is_some());
        assert_eq!(Round::open(&codec, &other, Some(&state), None).unwrap_err().code.0, -32602, "another call");
        assert_eq!(Round::open(&codec, &mine, Some(&format!("{state}x")), None).unwrap_err().code.0, -32602);
        let elsewhere = RequestStateCodec::new_unchecked([8; 32]);
        assert_eq!(Round::open(&elsewhere, &mine, Some(&state), None).unwrap_err().code.0, -32602, "another server");
    }

    #[test]
    fn a_yes_counts_only_if_we_asked_for_it() {
        let codec = RequestStateCodec::new_unchecked([7; 32]);
        let mine = Digest::of("mine");
        let unasked = Round::open(&codec, &mine, None, responses(&["confirm-ab", "name"])).unwrap();
        assert!(unasked.answer("confirm-ab").is_none() && unasked.answer("name").is_some());
        let state = Round::default().ask(&codec, &mine, &[question("confirm-ab")]).unwrap().request_state.unwrap();
        let asked = Round::open(&codec, &mine, Some(&state), responses(&["confirm-ab"])).unwrap();
        assert!(asked.answer("confirm-ab").is_some());
    }

    #[test]
    fn only_what_was_declared_can_be_asked() {
        let declared = |value: Value| serde_json::from_value::<ClientCapabilities>(value).unwrap();
        assert!(can_ask(&declared(json!({"elicitation": {}}))));
        assert!(can_ask(&declared(json!({"elicitation": {"form": {}, "url": {}}}))));
        assert!(!can_ask(&declared(json!({"elicitation": {"url": {}}}))));
        assert!(!can_ask(&declared(json!({"sampling": {}}))));
        assert_eq!(needed([&InputKind::Roots]), json!({"roots": {}}));
    }
}
