//! Prompts that a person can pick in a client.

use pintle_core::{Part, Prompt, PromptArgument, PromptMessage, Stop};
use serde_json::{Map, Value};
use std::sync::Arc;

/// All prompts of the toolset.
pub(crate) fn all() -> Vec<Prompt> {
    vec![
        Prompt {
            name: "build-from-scratch".to_owned(),
            description: "Write a box from nothing: project, box, candy, packages, checks".to_owned(),
            arguments: vec![
                argument("purpose", "what the box is for", true),
                argument("base", "image to build on", false),
                argument("dir", "folder of the project", false),
            ],
            render: Arc::new(build_from_scratch),
        },
        Prompt {
            name: "debug-failing-check".to_owned(),
            description: "Find out why a check of a box fails, and mend it".to_owned(),
            arguments: vec![
                argument("box", "name of the box", true),
                argument("check", "name of the step, or what it said", false),
            ],
            render: Arc::new(debug_failing_check),
        },
    ]
}

fn argument(name: &str, description: &str, required: bool) -> PromptArgument {
    PromptArgument { name: name.to_owned(), description: description.to_owned(), required }
}

fn given<'a>(arguments: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    arguments.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}

fn user(text: String) -> Vec<PromptMessage> {
    vec![PromptMessage { assistant: false, part: Part::Text(text) }]
}

fn build_from_scratch(arguments: &Map<String, Value>) -> Result<Vec<PromptMessage>, Stop> {
    let purpose = given(arguments, "purpose").unwrap_or_default();
    let base = given(arguments, "base").map_or("an image that fits".to_owned(), |base| format!("`{base}`"));
    let dir = given(arguments, "dir").map_or("a new folder".to_owned(), |dir| format!("`{dir}`"));
    Ok(user(format!(
        "Write a box for this purpose: {purpose}\n\n\
         1. `box.new.project` in {dir}.\n\
         2. `box.new.box` with {base} as its base.\n\
         3. `box.new.candy` for each part that could be used elsewhere too.\n\
         4. Packages with `candy.add-rpm`, `-deb`, `-pac` or `-aur`, whichever the base uses; other fields with \
         `candy.set`; scripts and configuration files with `box.write`.\n\
         5. Checks that tell whether each candy does its work: nodes with `check:` and a verb, in its charly.yml. \
         Replace the one that the stub has.\n\
         6. `box.add-candy` for each candy, in the order of installation.\n\
         7. `box.validate`; mend every error it names.\n\
         8. `box.inspect`, and say what the box holds now."
    )))
}

fn debug_failing_check(arguments: &Map<String, Value>) -> Result<Vec<PromptMessage>, Stop> {
    let owner = given(arguments, "box").unwrap_or_default();
    let check = given(arguments, "check").map_or(String::new(), |check| format!(" The failing check: {check}"));
    Ok(user(format!(
        "A check of the box `{owner}` fails.{check}\n\n\
         1. `box.inspect` shows what the box is made of, `box.validate` whether its project holds together.\n\
         2. Find the node of the check with `box.cat` in the charly.yml of its candy, and read what it asserts.\n\
         3. Say whether the check or the candy is wrong, and why.\n\
         4. Mend that one, with `candy.set`, the `candy.add-…` tools or `box.write`; look at the diff first with `dry_run`.\n\
         5. `box.validate` again. Do not make a check weaker only to make it pass."
    )))
}
