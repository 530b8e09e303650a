//! A command in one line, for documents and hints.

use crate::{
    arguments::{Parameter, Shape, parameters},
    tree::words_of,
};
use pintle_core::Spec;

/// The words of a tool's command with what it needs: `box new box NAME --base BASE`. `before` stands in front.
#[must_use]
pub fn usage_of(spec: &Spec, before: &str) -> String {
    let mut words: Vec<String> = before.split_whitespace().map(str::to_owned).collect();
    words.extend(words_of(spec));
    let all = parameters(spec);
    words.extend(all.iter().filter(|p| p.positional).map(positional));
    for flag in all.iter().filter(|p| !p.positional && p.required) {
        let Some(long) = &flag.long else { continue };
        words.push(format!("--{long}"));
        if flag.shape != Shape::Switch {
            words.push(flag.value_name());
        }
    }
    words.join(" ")
}

fn positional(parameter: &Parameter<'_>) -> String {
    let many = matches!(parameter.shape, Shape::Many | Shape::OneOrMany | Shape::Map);
    let name = format!("{}{}", parameter.value_name(), if many { "..." } else { "" });
    if parameter.required { name } else { format!("[{name}]") }
}
