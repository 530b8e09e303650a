//! The last bound: whatever an operation gives back, what leaves is not larger than was asked for.

use crate::{spill, state::StateFolder};
use pintle_core::{Part, Reply, View};
use serde_json::Value;

/// Cuts text and value to the budget; what is cut is spilled and linked.
pub(crate) fn bound(reply: &mut Reply, budget: usize, state: Option<&StateFolder>, tool: &str) {
    if let Some(failure) = reply.failure.as_mut() {
        failure.shorten(budget / 8);
    }
    let text = reply.view.plain();
    let mut spilled_text = None;
    if text.len() > budget {
        spilled_text = Some(text.clone());
        reply.view = View::text(head_and_tail(&text, budget));
        reply.truncated = true;
    }
    let mut spilled_value = None;
    if let Some(answer) = reply.answer.as_mut() {
        let whole = answer.to_string();
        if whole.len() > budget {
            // Long strings first: a file or log inside an answer shrinks, and the rest of the answer stays whole.
            let mut limit = budget / 2;
            while limit > 64 && answer.to_string().len() > budget {
                shorten(answer, limit);
                limit /= 2;
            }
            if answer.to_string().len() > budget {
                *answer = Value::String(head_and_tail(&whole, budget - 1024.min(budget / 4)));
            }
            reply.truncated = true;
            spilled_value = Some(whole);
        }
    }
    let Some(state) = state else { return };
    let (whole, what) = match (spilled_text, spilled_value) {
        (Some(text), _) => (text, "text"),
        (None, Some(value)) => (value, "value"),
        (None, None) => return,
    };
    match spill::keep(state, &whole, &format!("{tool} {what}")) {
        Ok(link) => {
            reply.view = std::mem::take(&mut reply.view).and_text(format!("whole {what}: {}", link.uri));
            if reply.parts.is_empty() {
                reply.parts.push(Part::Text(reply.view.plain()));
            }
            reply.parts.push(Part::Link(link));
        }
        Err(failure) => {
            let note = format!("the whole {what} could not be kept: {failure}");
            reply.view = std::mem::take(&mut reply.view).and_text(note);
        }
    }
}

fn shorten(value: &mut Value, limit: usize) {
    match value {
        Value::String(text) if text.len() > limit => *text = head_and_tail(text, limit),
        Value::Array(items) => items.iter_mut().for_each(|item| shorten(item, limit)),
        Value::Object(map) => map.values_mut().for_each(|item| shorten(item, limit)),
        _ => {}
    }
}

/// The first two thirds and the last third of what fits, with a line between that says how much is left out.
pub(crate) fn head_and_tail(text: &str, budget: usize) -> String {
    if text.len() <= budget {
        return text.to_owned();
    }
    let room = budget.saturating_sub(64);
    let head = spill::floor(text, room * 2 / 3);
    let mut tail = text.len() - room / 3;
    while !text.is_char_boundary(tail) {
        tail += 1;
    }
    format!("{}\n… {} bytes left out …\n{}", &text[..head], tail - head, &text[tail..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_6_03_nothing_larger_than_the_budget_leaves_and_the_whole_can_be_read() {
        let temp = tempfile::tempdir().unwrap();
        let state = StateFolder::at(temp.path());
        let long = "0123456789ä".repeat(10_000);
        let mut reply = Reply {
            view: View::exact(long.clone()),
            answer: Some(json!({"text": long, "sha256": "abc"})),
            ..Reply::default()
        };
        bound(&mut reply, 25_000, Some(&state), "box.cat");
        assert!(reply.truncated);
        let answer = reply.answer.as_ref().unwrap();
        assert!(answer.to_string().len() <= 25_000 && answer["sha256"] == "abc", "small fields stay");
        let Some(Part::Link(link)) = reply.parts.last() else { panic!("a link") };
        let whole = spill::read(&state, &link.uri).unwrap().unwrap();
        assert_eq!(whole[0].text.as_deref(), Some(long.as_str()));
        let Some(Part::Text(text)) = reply.parts.first() else { panic!("a text") };
        assert!(text.len() < 25_200 && text.contains("bytes left out"));
    }

    #[test]
    fn a_failure_does_not_carry_back_what_was_sent() {
        let word = "x".repeat(1_000_000);
        let mut reply = Reply::failed(pintle_core::Failure::invalid_argument(&word, format!("`{word}` is unknown")));
        bound(&mut reply, 25_000, None, "x");
        assert!(reply.envelope().to_string().len() <= 25_000);
        assert!(reply.view.plain().len() <= 25_000);
    }

    #[test]
    fn many_small_values_are_cut_too() {
        let mut reply = Reply { answer: Some(json!((0..9000).collect::<Vec<_>>())), ..Reply::default() };
        bound(&mut reply, 1000, None, "x");
        assert!(reply.answer.unwrap().to_string().len() <= 1000 && reply.truncated);
    }
}
