//! The parser's syntax errors in this project's words, with advice.

/// What the parser says (a part of it), what is said instead, and what to do. `{}` stands for the
/// word at the place of the error.
const WORDS: &[(&str, &str, &str)] = &[
    ("unknown anchor", "alias `{}` names no anchor above it", "define the anchor with `&` first"),
    (
        "mapping values are not allowed",
        "a `:` is not allowed here",
        "put text that holds `: ` in quotes, or check the indentation",
    ),
    ("expected node content", "expected a value", "write a value, or close the bracket before"),
    ("unexpected end of plain scalar", "expected a value", "write a value, or close the bracket before"),
    (
        "illegal placement of ':'",
        "a `:` is not allowed here",
        "close the list above with `]`, or put text that holds `: ` in quotes",
    ),
    ("must be followed by a valid YAML whitespace", "an indicator is followed by a tab", SPACES),
    ("a tab", "a tab is not allowed here", SPACES),
    ("tab cannot", "a tab is not allowed here", SPACES),
    ("tabs disallowed", "a tab is not allowed here", SPACES),
    ("unexpected end of stream", "a quoted text is not closed", "add the closing quote"),
    ("unexpected document indicator", "a quoted text is not closed before the next document", "add the closing quote"),
    (
        "invalid indentation in quoted scalar",
        "a quoted text goes on with too little indentation",
        "indent its lines further than its key",
    ),
    ("simple key expect", "a key is without `:`", "write `key: value`, or indent the line further than its key"),
    (
        "invalid indentation",
        "the indentation fits no line above",
        "give the entries of one list or map the same indentation",
    ),
    ("wrongly indented line", "a line of block text is indented too little", "indent it as the first"),
    ("expected ',' or ']'", "expected `,` or `]` in a list", "close the list with `]`"),
    ("expected ',' or '}'", "expected `,` or `}` in a map", "close the map with `}`"),
    ("expected key", "expected a key", "give the entries of one map the same indentation"),
    ("expected '-' indicator", "expected `- `", "a list and a map cannot mix at one indentation"),
    (
        "block sequence entries are not allowed",
        "a list item is not allowed here",
        "start the list on a line of its own",
    ),
    ("only valid inside a block", "`- ` is not allowed in brackets", "separate items with `,`"),
    ("unexpected character", "`{}` cannot start plain text", "put the text in quotes"),
    (
        "invalid trailing content after",
        "text follows a closing quote",
        "a quote in quotes is doubled ('') or escaped (\\\")",
    ),
    (
        "unknown escape character",
        "an escape in this quoted text is not known",
        "double the backslash, or use single quotes",
    ),
    ("handle wasn't declared", "tag `{}` is not declared", "leave the tag out"),
    ("misplaced bracket", "a closing bracket without an opening one", "remove it"),
    ("comments must be separated", "`#` follows something at once", "put a space before the comment"),
    (
        "comment intercepting",
        "a comment cuts text of several lines",
        "put the comment behind the text, or the text in quotes",
    ),
    ("recursion limit", "brackets are nested too deep", "close them"),
    (
        "expected <document start>",
        "the document has ended before this",
        "a document is one value: one list, one map or one scalar",
    ),
];

const SPACES: &str = "use spaces";

/// Message and advice for an error; `rest` is the text from its place on.
pub(crate) fn plain_words(info: &str, rest: &str) -> (String, Option<String>) {
    let word: String = rest.chars().take_while(|c| !c.is_whitespace() && *c != ',').take(40).collect();
    match WORDS.iter().find(|(part, _, _)| info.contains(part)) {
        Some((_, message, hint)) => {
            let hint = (!hint.is_empty()).then(|| (*hint).to_owned());
            (message.replace("{}", &word), hint)
        }
        None => (format!("not YAML: {info}"), None),
    }
}
