//! The verbs of steps and the fields that each of them takes.

/// A verb.
pub struct Verb {
    /// Its word.
    pub name: &'static str,
    /// Fields beside the modifiers that every step takes.
    pub fields: &'static [&'static str],
    /// Fields of these that must be there.
    pub required: &'static [&'static str],
    /// Whether it runs only against a running deployment.
    pub live: bool,
    /// What its value is, for verbs that work on files.
    pub value: Value,
}

/// What the value of a verb is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// Whatever the verb makes of it.
    Free,
    /// An absolute path in the box.
    InBox,
    /// A path in the folder of the candy.
    InCandy,
    /// A method of the `mcp` verb.
    McpMethod,
}

const fn verb(name: &'static str, fields: &'static [&'static str]) -> Verb {
    Verb { name, fields, required: &[], live: false, value: Value::Free }
}

const fn operation(
    name: &'static str,
    value: Value,
    fields: &'static [&'static str],
    required: &'static [&'static str],
) -> Verb {
    Verb { name, fields, required, live: false, value }
}

/// The methods of the `mcp` verb that the seed has.
pub const MCP_METHODS: [&str; 7] = ["ping", "servers", "list-tools", "list-resources", "list-prompts", "call", "read"];

/// Those that came later, each with the field that it needs, if any.
pub const MORE_MCP_METHODS: [(&str, Option<&str>); 5] = [
    ("get-prompt", Some("prompt")),
    ("list-templates", None),
    ("complete", Some("argument")),
    ("snapshot", Some("snapshot")),
    ("raw", Some("send")),
];

const MCP_FIELDS: &[&str] = &[
    "tool",
    "uri",
    "input",
    "mcp_name",
    "prompt",
    "argument",
    "snapshot",
    "count",
    "not_tools",
    "send",
    "receive",
    "notifications",
    "handshake",
    "listen",
];

/// Verbs that assert something.
pub const CHECKS: &[Verb] = &[
    verb("file", &["exists", "mode", "owner", "group_of", "filetype", "contains", "sha256"]),
    verb("command", &["in_container", "background", "env", "stdin", "run_as"]),
    verb("service", &["running", "enabled"]),
    verb("port", &["listening", "reachable", "ip"]),
    verb("process", &["running"]),
    verb("package", &["installed", "version", "package_map"]),
    verb("addr", &["reachable"]),
    verb(
        "http",
        &[
            "status",
            "body",
            "header",
            "method",
            "request_header",
            "request_body",
            "no_follow_redirects",
            "allow_insecure",
        ],
    ),
    verb("dns", &["resolvable", "addrs"]),
    Verb { name: "mcp", fields: MCP_FIELDS, required: &[], live: true, value: Value::McpMethod },
    verb("plugin", &["plugin_input"]),
];

/// Verbs that do something while a box is built. A `run:` step may use those that assert too, for what they do.
pub const OPERATIONS: &[Verb] = &[
    operation("cmd", Value::Free, RUNNING, &[]),
    operation("command", Value::Free, &["in_container", "background", "env", "stdin", "run_as", "mode", "cache"], &[]),
    operation("mkdir", Value::InBox, RUNNING, &[]),
    operation("copy", Value::InCandy, &["to", "run_as", "mode", "cache", "env"], &["to"]),
    operation("write", Value::InBox, &["content", "run_as", "mode", "cache", "env"], &["content"]),
    operation("link", Value::InBox, &["target", "run_as", "mode", "cache", "env"], &["target"]),
    operation("download", Value::Free, &["to", "extract", "run_as", "mode", "cache", "env"], &["to"]),
    operation("setcap", Value::InBox, &["caps", "run_as", "mode", "cache", "env"], &["caps"]),
    operation("build", Value::Free, RUNNING, &[]),
];

const RUNNING: &[&str] = &["run_as", "mode", "cache", "env"];

/// Verbs of providers outside this program: known as words, with fields that only the provider knows.
pub const PROVIDED: [&str; 11] =
    ["adb", "appium", "cdp", "dbus", "kube", "libvirt", "record", "spice", "tmux", "vnc", "wl"];

/// Fields that every step takes.
pub const MODIFIERS: [&str; 19] = [
    "context",
    "timeout",
    "eventually",
    "retry_interval",
    "exit_status",
    "stdout",
    "stderr",
    "id",
    "tag",
    "skip",
    "exclude_distro",
    "capture",
    "depends_on",
    "mask",
    "json",
    "tool_error",
    "error",
    "within",
    "stdout_pure",
];

/// The contexts that a step can name.
pub const CONTEXTS: [&str; 3] = ["build", "deploy", "runtime"];

/// Operators of matchers.
pub const OPERATORS: [&str; 10] =
    ["equals", "not_equals", "contains", "not_contains", "matches", "not_matches", "lt", "le", "gt", "ge"];
