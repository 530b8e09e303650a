//! What is wrong with a pack is told with its place and what was meant.

use pintle_packfile::{BUILTIN, parse};
use proptest::prelude::*;

const SOUND: &str = r#"format = 1
name = "p"
summary = "s"
program.candidates = ["/usr/bin/p"]
[values.dir]
files = ["/etc/p.toml"]
key = "/dir"
default = "/srv"
[mask]
members = "secret"
[verb.do]
words = ["do"]
effects = ["write"]
elevate = "never"
options.size = { flag = "--size", type = "string", enum = ["low", "high"] }
options.path = { position = 1, type = "string" }
success = { made = { in = "{dir}", glob = "*" } }
when = [{ match = { size = "low" }, confirm = "plan" }]
[verb.look]
effects = []
elevate = "never"
[[tool]]
name = "p_do"
about = "a"
verb = "do"
[[tool]]
name = "p_look"
about = "a"
verb = "look"
[[resource]]
uri = "p://x"
verb = "look"
"#;

/// The problems after one change of the sound pack.
fn told(from: &str, to: &str) -> Vec<String> {
    assert_eq!(SOUND.matches(from).count(), 1, "{from}");
    match parse(&SOUND.replace(from, to)) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn every_mistake_has_its_place_and_a_hint() {
    parse(SOUND).unwrap();
    let mut wrong = Vec::new();
    for (from, to, wanted) in [
        ("format = 1", "format = 2", "1:10: this program reads format 1"),
        (
            "name = \"p\"\n",
            "name = \"P\"\n",
            "2:8: `P` is no name for a pack (at most 32 lower-case letters, digits and `-`, a letter first)",
        ),
        ("summary", "sumary", "1:1: `summary` is missing\n3:1: unknown key `sumary` (did you mean `summary`?)"),
        (
            "program.candidates",
            "program.candidate",
            "4:1: `candidates` names no path\n4:9: unknown key `candidate` (did you mean `candidates`?)",
        ),
        ("/usr/bin/p", "bin/../p", "4:23: `bin/../p` is no plain absolute path"),
        ("key = \"/dir\"", "key = \"dir\"", "7:7: `key` is a JSON pointer and begins with `/`"),
        ("\"secret\"", "\"(\"", "10:11: bad pattern: unclosed group"),
        ("effects = [\"write\"]", "effects = [\"wirte\"]", "13:12: no effect `wirte` (did you mean `write`?)"),
        ("effects = [\"write\"]\n", "", "11:7: `effects` is missing"),
        (
            "elevate = \"never\"\noptions",
            "elevate = \"nevr\"\noptions",
            "14:11: `elevate` must be always, never or refuse-root, not `nevr` (did you mean `never`?)",
        ),
        (
            "type = \"string\", enum",
            "typ = \"string\", enum",
            "15:16: option `size` has no `type`\n15:35: unknown key `typ` (did you mean `type`?)",
        ),
        ("flag = \"--size\"", "flag = \"size\"", "15:25: `size` is no spelling of an option"),
        ("position = 1", "position = 2", "16:9: positions run from 1 without gaps, each once"),
        ("position = 1", "flag = \"--size\"", "16:9: `--size` is spelt by `size` and by `path`"),
        ("\"{dir}\"", "\"{dri}\"", "17:27: nothing is called `{dri}` (did you mean `dir`?)"),
        ("glob = \"*\"", "glob = \"a/*\"", "17:43: `glob` is a file name, not a path"),
        ("size = \"low\"", "size = \"lo\"", "18:28: option `size` cannot have this value"),
        ("match = { size", "match = { sise", "18:21: no option `sise` (did you mean `size`?)"),
        ("match = { size = \"low\" }", "given = []", "18:9: the condition asks nothing (give `match` or `given`)"),
        ("confirm = \"plan\"", "confirm = 1", "18:47: `confirm` must be a string"),
        (
            "verb = \"do\"",
            "verb = \"od\"",
            "1:1: verb `do` is offered by no tool and no resource\n25:8: no verb `od` (did you mean `do`?)",
        ),
        ("name = \"p_look\"", "name = \"p_do\"", "26:1: `p_do` is there twice"),
        (
            "\"look\"\n[[resource]]",
            "\"look\"\nread = { parameter = \"x\" }\n[[resource]]",
            "26:1: a tool has one of `verb`, `choose`, `command` and `read`",
        ),
        ("uri = \"p://x\"", "uri = \"x\"", "31:7: `x` is no URI (such as `eggs://config`)"),
        (
            "uri = \"p://x\"\nverb = \"look\"",
            "uri = \"p://x\"\nverb = \"do\"",
            "32:8: a resource only reads and has no arguments: `do` does not fit",
        ),
        (
            "about = \"a\"\nverb = \"look\"",
            "about = \"a\"\ncommand = { parameter = \"c\", verbs = [\"do\", \"look\", \"do\"] }",
            "29:45: verb `look` has no words that a command could begin with\n29:53: `do` begins `do` and `do`",
        ),
        ("[verb.look]", "[verb.look]\nextra = true", "1:1: tool `p_look` is no extra, but everything that it runs is"),
        ("[mask]", "[mask", "9:6: unclosed table, expected `]`"),
    ] {
        let told = told(from, to).join("\n");
        if told != wanted {
            wrong.push(format!("{to}\n   told: {told}\n wanted: {wanted}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn several_mistakes_are_told_at_once_in_the_order_of_the_text() {
    let text =
        SOUND.replace("summary", "sumary").replace("\"secret\"", "\"(\"").replace("verb = \"do\"", "verb = \"od\"");
    let lines: Vec<usize> = parse(&text).unwrap_err().iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [1, 1, 3, 10, 25]);
}

#[test]
fn no_argument_takes_the_name_of_one_that_every_call_has() {
    for name in ["wait", "plan_token"] {
        let told_of = |from: &str, to: &str| {
            let told = told(from, &to.replace("NAME", name));
            assert!(
                told.iter().any(|one| one.contains(&format!("`{name}` is an argument that every call has"))),
                "{told:?}"
            );
        };
        told_of("options.path = {", "options.NAME = {");
        told_of("verb = \"do\"\n", "command = { parameter = \"NAME\", verbs = [\"do\"] }\n");
        told_of("verb = \"do\"\n", "choose = { parameter = \"NAME\", verbs = { do = \"do\" } }\n");
        let rest = "choose = { parameter = \"x\", verbs = { do = \"do\" } }\nrest = { parameter = \"NAME\" }\n";
        told_of("verb = \"do\"\n", rest);
    }
}

#[test]
fn an_option_that_can_take_nothing_is_a_mistake() {
    let size =
        |keys: &str| told("options.path = { position = 1, type = \"string\" }", &format!("options.n = {{ {keys} }}"));
    for keys in [
        "flag = \"--n\", type = \"integer\", minimum = 5, maximum = 1",
        "flag = \"--n\", type = \"count\", minimum = 11",
        "position = 1, type = \"strings\", minimum = 2, maximum = 1",
    ] {
        assert!(size(keys).iter().any(|one| one.contains("option `n` takes nothing")), "{keys}");
    }
    assert_eq!(size("flag = \"--n\", type = \"integer\", minimum = 1, maximum = 1"), Vec::<String>::new());
}

#[test]
fn no_variable_that_decides_what_code_runs_is_handed_on() {
    for name in ["PATH", "LD_PRELOAD", "BASH_ENV", "IFS", "PYTHONPATH", "A B", ""] {
        let told = told("[verb.look]\n", &format!("[verb.look]\npass = [\"HOME\", {name:?}]\n"));
        assert!(told.len() == 1 || name.is_empty(), "{name}: {told:?}");
        assert!(told[0].starts_with("20:17: "), "{told:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Whatever the text is, reading it ends with a pack or with problems that lie in it.
    #[test]
    fn no_text_upsets_the_reader(at in 0usize..4000, cut in 0usize..40, insert in "[\\[\\]{}=\"'.\n#a-z0-9-]{0,6}") {
        for (_, text) in BUILTIN.iter().copied().chain([("sound", SOUND)]) {
            let start = (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap();
            let end = ((start + cut).min(text.len())..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap();
            let changed = format!("{}{insert}{}", &text[..start], &text[end..]);
            if let Err(problems) = parse(&changed) {
                prop_assert!(!problems.is_empty());
                for problem in problems {
                    prop_assert!(problem.line <= changed.matches('\n').count() + 1 && !problem.message.is_empty());
                }
            }
        }
    }
}
