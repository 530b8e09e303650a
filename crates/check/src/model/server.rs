//! Servers that `mcp` steps talk to.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use pintle_core::Secret;
use pintle_yaml::Node;
use serde::{Deserialize, Serialize};

use super::sink::Sink;
use super::template::{self, Lookup};

/// Where a server is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Address {
    /// Program and arguments of a server on standard streams.
    Stdio(Vec<String>),
    /// The endpoint of a server on the network.
    Url(String),
}

/// A server as a plan, a label or a command line declares it.
///
/// Values of headers and variables may be secrets once they are expanded: `Debug` shows names only.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// Its name, for `mcp_name`.
    pub name: String,
    /// Where it is.
    pub address: Address,
    /// The transport's word as declared; empty for none. Judged when dialled.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub transport: String,
    /// Sent with every request.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// What a child finds in its environment beside the usual.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// How the certificate is judged.
    #[serde(default)]
    pub tls: Tls,
}

/// How a server's certificate is judged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tls {
    /// PEM file with the only authorities to trust; relative to the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
    /// The name demanded of the certificate instead of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sni: Option<String>,
    /// Takes any certificate.
    #[serde(default)]
    pub insecure: bool,
}

impl Server {
    /// A server on standard streams.
    #[must_use]
    pub fn stdio(name: impl Into<String>, argv: Vec<String>) -> Self {
        Self::at(name, Address::Stdio(argv))
    }

    /// A server on the network.
    #[must_use]
    pub fn url(name: impl Into<String>, url: impl Into<String>) -> Self {
        Self::at(name, Address::Url(url.into()))
    }

    fn at(name: impl Into<String>, address: Address) -> Self {
        Self {
            name: name.into(),
            address,
            transport: String::new(),
            headers: BTreeMap::new(),
            env: BTreeMap::new(),
            tls: Tls::default(),
        }
    }

    /// Where it is, for people: a URL without query and user, a program without its arguments.
    #[must_use]
    pub fn endpoint(&self) -> String {
        match &self.address {
            Address::Stdio(argv) => format!("stdio:{}", argv.first().map_or("", String::as_str)),
            Address::Url(text) => match url::Url::parse(text) {
                Ok(url) => format!("{}{}", url.origin().ascii_serialization(), url.path()),
                Err(_) => text.clone(),
            },
        }
    }

    /// The transport's word as `servers` prints it.
    #[must_use]
    pub fn transport_word(&self) -> &str {
        match &self.address {
            Address::Stdio(_) => "stdio",
            Address::Url(_) if self.transport.is_empty() => "http",
            Address::Url(_) => &self.transport,
        }
    }

    /// The address and every value with its variables replaced. A command line is left as it is: what it says to a
    /// shell would be mistaken for variables, and secrets belong into `env`.
    pub(crate) fn expanded(&self, lookup: &dyn Lookup, secrets: &mut Vec<Secret>) -> Result<Self, String> {
        let mut server = self.clone();
        let url = match &mut server.address {
            Address::Url(url) => Some(url),
            Address::Stdio(_) => None,
        };
        for text in url.into_iter().chain(server.headers.values_mut()).chain(server.env.values_mut()) {
            *text = template::expand(text, lookup, secrets).map_err(|why| format!("server `{}`: {why}", self.name))?;
        }
        Ok(server)
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("name", &self.name)
            .field("endpoint", &self.endpoint())
            .field("transport", &self.transport)
            .field("headers", &self.headers.keys())
            .field("env", &self.env.keys())
            .field("tls", &self.tls)
            .finish()
    }
}

const FIELDS: &[&str] = &["stdio", "url", "transport", "headers", "env", "tls"];

/// Reads `servers:`.
pub(crate) fn read_all(node: Node<'_>, sink: &mut Sink<'_>) -> Vec<Server> {
    let entries = sink.map(node, "servers");
    entries.into_iter().filter_map(|(key, body)| read(key, body, sink)).collect()
}

fn read(key: Node<'_>, body: Node<'_>, sink: &mut Sink<'_>) -> Option<Server> {
    let name = key.key_text().to_owned();
    if name.is_empty() {
        sink.wrong(key, "a server needs a name");
    }
    let before = sink.count();
    let what = format!("server `{name}`");
    let mut server = Server::at(name, Address::Stdio(Vec::new()));
    let mut addresses = Vec::new();
    for (field, value) in sink.known_map(body, &what, FIELDS) {
        match field {
            "stdio" => addresses.extend(argv(value, "stdio", sink).map(Address::Stdio)),
            "url" => addresses.extend(url(value, sink).map(Address::Url)),
            "transport" => server.transport = transport(value, sink).unwrap_or_default(),
            "headers" => server.headers = texts(value, "headers", sink),
            "env" => server.env = environment(value, sink),
            "tls" => server.tls = tls(value, sink),
            _ => {}
        }
    }
    let told = sink.count() > before;
    match (addresses.len(), body.get("stdio").is_some() || body.get("url").is_some()) {
        (1, _) => server.address = addresses.remove(0),
        (0, false) if !told => sink.wrong_hint(key, format!("{what} has no address"), "add `stdio:` or `url:`"),
        (2.., _) => sink.wrong(key, format!("{what} has both `stdio` and `url`")),
        _ => {}
    }
    if matches!(server.address, Address::Stdio(_)) && body.get("stdio").is_some() && body.get("transport").is_some() {
        sink.wrong(key, format!("{what} is on stdio and takes no `transport`"));
    }
    (sink.count() == before).then_some(server)
}

/// A command line: a text split as a shell would, or a list.
pub(crate) fn argv(node: Node<'_>, what: &str, sink: &mut Sink<'_>) -> Option<Vec<String>> {
    if node.is_sequence() {
        let words: Vec<_> = node.items().filter_map(|item| sink.text(item, what)).collect();
        if words.first().is_none_or(String::is_empty) {
            sink.wrong(node, format!("{what} names no program"));
            return None;
        }
        return Some(words);
    }
    let text = sink.word(node, what)?;
    match shlex::split(&text) {
        Some(words) if !words.is_empty() => Some(words),
        Some(_) => {
            sink.wrong(node, format!("{what} names no program"));
            None
        }
        None => {
            sink.wrong(node, format!("{what} has a quote without end: `{text}`"));
            None
        }
    }
}

fn url(node: Node<'_>, sink: &mut Sink<'_>) -> Option<String> {
    let text = sink.word(node, "url")?;
    if template::is_dynamic(&text) {
        return Some(text);
    }
    match url::Url::parse(&text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.host().is_some() => Some(text),
        Ok(url) => {
            sink.wrong(node, format!("url `{text}` is `{}`, not http or https", url.scheme()));
            None
        }
        Err(why) => {
            sink.wrong(node, format!("url `{text}` is none: {why}"));
            None
        }
    }
}

fn transport(node: Node<'_>, sink: &mut Sink<'_>) -> Option<String> {
    let word = sink.text(node, "transport")?;
    if word.parse::<pintle_client::Transport>().is_err() {
        sink.wrong(node, format!("unsupported mcp transport \"{word}\" (expected http or sse)"));
        return None;
    }
    Some(word)
}

/// A map of texts.
pub(crate) fn texts(node: Node<'_>, what: &str, sink: &mut Sink<'_>) -> BTreeMap<String, String> {
    let entries = sink.map(node, what);
    entries
        .into_iter()
        .filter_map(|(key, value)| {
            Some((key.key_text().to_owned(), sink.text(value, &format!("{what} `{}`", key.key_text()))?))
        })
        .collect()
}

/// A map, or a list of `NAME=value`.
fn environment(node: Node<'_>, sink: &mut Sink<'_>) -> BTreeMap<String, String> {
    if !node.is_sequence() {
        return texts(node, "env", sink);
    }
    let mut all = BTreeMap::new();
    for item in node.items() {
        let Some(text) = sink.word(item, "env") else { continue };
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => {
                all.insert(name.to_owned(), value.to_owned());
            }
            _ => sink.wrong(item, format!("env `{text}` is not NAME=value")),
        }
    }
    all
}

fn tls(node: Node<'_>, sink: &mut Sink<'_>) -> Tls {
    let mut tls = Tls::default();
    for (field, value) in sink.known_map(node, "tls", &["ca_file", "sni", "insecure"]) {
        match field {
            "ca_file" => tls.ca_file = sink.word(value, "ca_file").map(PathBuf::from),
            "sni" => tls.sni = sink.word(value, "sni"),
            _ => tls.insecure = sink.flag(value, "insecure").unwrap_or_default(),
        }
    }
    tls
}
