//! What was asked of a cluster.

/// One request, as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Upper case.
    pub method: String,
    /// Without the query.
    pub path: String,
    /// As it was written, without the question mark; empty when there was none.
    pub query: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// `HTTP/1.1`, `HTTP/2.0`.
    pub protocol: String,
    /// Which connection to the server, from 1.
    pub connection: u64,
}

impl Recorded {
    /// A header's value; the first when there are several.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// A parameter of the query with its escapes undone.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<String> {
        super::access::parameters(&self.query).into_iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Whether it only looks: a `GET` that opens no session into a container.
    #[must_use]
    pub fn reads(&self) -> bool {
        let session = ["/exec", "/attach", "/portforward", "/proxy"];
        self.method == "GET" && !session.iter().any(|end| self.path.ends_with(end) || self.path.contains("/proxy/"))
    }
}
