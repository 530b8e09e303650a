//! The manual for authors of packs against the reader.

use pintle_packfile::{Asked, parse};
use serde_json::json;

const MANUAL: &str = include_str!("../../../../docs/packs.md");

/// A pack with an unknown key in every table that there is.
const STRANGE: &str = r#"zzzzzzzzzzzz = 1
format = 1
name = "p"
summary = "s"
program = { candidates = ["/p"], zzzzzzzzzzzz = 1, probe = { zzzzzzzzzzzz = 1 } }
values.v = { key = "/k", default = "d", zzzzzzzzzzzz = 1 }
mask = { zzzzzzzzzzzz = 1 }
defaults = { zzzzzzzzzzzz = 1 }
[verb.do]
words = ["do"]
zzzzzzzzzzzz = 1
effects = []
elevate = "never"
options.o = { flag = "--o", type = "string", zzzzzzzzzzzz = 1 }
success = { zzzzzzzzzzzz = 1, made = { in = "/", glob = "*", zzzzzzzzzzzz = 1 } }
progress = { zzzzzzzzzzzz = 1 }
preview = { zzzzzzzzzzzz = 1 }
extract = { zzzzzzzzzzzz = 1 }
refuse = [{ given = ["o"], because = "b", zzzzzzzzzzzz = 1 }]
when = [{ given = ["o"], zzzzzzzzzzzz = 1 }]
[[tool]]
name = "t"
about = "a"
zzzzzzzzzzzz = 1
choose = { parameter = "c", verbs = { do = "do" }, zzzzzzzzzzzz = 1 }
rest = { parameter = "r", zzzzzzzzzzzz = 1 }
[[tool]]
name = "u"
about = "a"
command = { parameter = "c", verbs = ["do"], zzzzzzzzzzzz = 1 }
[[tool]]
name = "v"
about = "a"
read = { parameter = "c", zzzzzzzzzzzz = 1 }
[[resource]]
uri = "p://x"
verb = "do"
zzzzzzzzzzzz = 1
"#;

#[test]
fn every_key_that_is_read_is_in_the_manual() {
    let problems = parse(STRANGE).unwrap_err();
    assert_eq!(problems.len(), STRANGE.matches("zzzzzzzzzzzz").count(), "{problems:#?}");
    for problem in problems {
        let hint = problem.hint.unwrap();
        for key in hint.strip_prefix("known here: ").unwrap_or_else(|| panic!("{hint}")).split(", ") {
            let told = [format!("`{key}`"), format!("`{key} = "), format!("{{ {key} = "), format!(", {key} = ")];
            assert!(told.iter().any(|told| MANUAL.contains(told)), "the manual does not tell of `{key}`");
        }
    }
}

#[test]
fn the_example_of_the_manual_does_what_the_manual_says() {
    let text = MANUAL.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let pack = parse(text).unwrap_or_else(|problems| panic!("{problems:?}"));
    let asked = json!({"depth": 1, "paths": ["-x"]});
    let Asked::Verb(verb, arguments) = pack.tools[0].resolve(&pack, asked.as_object().unwrap()).unwrap() else {
        panic!("a verb is asked for");
    };
    let command = format!("{} {}", pack.program.candidates[0], verb.argv(&arguments).join(" "));
    assert!(MANUAL.contains(&format!("`{command}`")), "{command}");
    assert!(MANUAL.contains(&format!("`{asked}`").replace(':', ": ").replace(",\"", ", \"")), "{asked}");
}
