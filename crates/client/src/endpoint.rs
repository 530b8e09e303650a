//! Where a server is.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use http::{HeaderMap, HeaderName, HeaderValue};
use pintle_process::Environment;
use url::Url;

use crate::error::{Error, Fault, Stage};

/// Where a server is and how it is spoken to.
#[derive(Debug, Clone)]
pub enum Endpoint {
    /// A program that speaks on its standard streams.
    Stdio(Stdio),
    /// A server on the network.
    Url(Http),
}

/// A server's program.
#[derive(Clone)]
pub struct Stdio {
    /// Program (a path, or a name looked up in `PATH`) and arguments.
    pub argv: Vec<OsString>,
    /// The child's whole environment.
    pub environment: Environment,
    /// The child's working directory; ours if none.
    pub directory: Option<PathBuf>,
}

impl Stdio {
    /// A program with arguments, a clean environment, in our directory.
    pub fn new<A: Into<OsString>>(argv: impl IntoIterator<Item = A>) -> Self {
        Self { argv: argv.into_iter().map(Into::into).collect(), environment: Environment::clean(), directory: None }
    }
}

impl fmt::Debug for Stdio {
    /// Arguments may hold secrets: only the program is shown.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Stdio")
            .field("program", &self.argv.first())
            .field("environment", &self.environment)
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}

/// A server on the network.
#[derive(Clone)]
pub struct Http {
    /// The MCP endpoint, `http` or `https`.
    pub url: Url,
    /// How it speaks.
    pub transport: Transport,
    /// Sent with every request.
    pub headers: Headers,
    /// How its certificate is judged.
    pub tls: Tls,
}

impl Http {
    /// A server at a URL, transport found out, no extra headers.
    ///
    /// # Errors
    /// A text that is no `http` or `https` URL.
    pub fn new(url: &str) -> Result<Self, Error> {
        let wrong = |why: String| Error::new(Stage::Connect, Fault::Usage(why));
        let url = Url::parse(url).map_err(|error| wrong(format!("bad URL: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(wrong(format!("bad URL: {} is neither http nor https", url.scheme())));
        }
        Ok(Self { url, transport: Transport::Auto, headers: Headers::default(), tls: Tls::default() })
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Http")
            .field("url", &shown(&self.url))
            .field("transport", &self.transport)
            .field("headers", &self.headers)
            .field("tls", &self.tls)
            .finish()
    }
}

/// A URL without what may be secret in it: user, password, query, fragment.
pub(crate) fn shown(url: &Url) -> String {
    format!("{}{}", url.origin().ascii_serialization(), url.path())
}

/// How a server on the network speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Transport {
    /// Streamable HTTP, and the older HTTP+SSE if the server turns out not to know it.
    #[default]
    Auto,
    /// Streamable HTTP only.
    Http,
    /// HTTP+SSE of 2024-11-05 only.
    Sse,
}

impl FromStr for Transport {
    type Err = Error;

    /// Upper and lower case do not matter; empty, `streamable` and `streamable-http` mean `http`.
    fn from_str(word: &str) -> Result<Self, Error> {
        match word.to_ascii_lowercase().as_str() {
            "" | "http" | "streamable" | "streamable-http" => Ok(Self::Http),
            "sse" => Ok(Self::Sse),
            "auto" => Ok(Self::Auto),
            _ => Err(Error::new(Stage::Connect, Fault::Transport(word.to_owned()))),
        }
    }
}

/// Headers sent with every request. Every value counts as secret: none is ever shown.
#[derive(Clone, Default)]
pub struct Headers(HeaderMap);

impl Headers {
    /// Adds one header.
    ///
    /// # Errors
    /// A name or value that HTTP does not allow; the message does not hold the value.
    pub fn add(&mut self, name: &str, value: &str) -> Result<(), Error> {
        let wrong =
            |what: &str| Error::new(Stage::Connect, Fault::Usage(format!("header {name:?}: the {what} is not valid")));
        let header = HeaderName::from_str(name.trim()).map_err(|_| wrong("name"))?;
        let mut value = HeaderValue::from_str(value).map_err(|_| wrong("value"))?;
        value.set_sensitive(true);
        self.0.append(header, value);
        Ok(())
    }

    pub(crate) fn map(&self) -> &HeaderMap {
        &self.0
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_set().entries(self.0.keys()).finish()
    }
}

/// How the server's certificate is judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tls {
    /// PEM file with the only certificate authorities to trust; the system's if none.
    pub ca_file: Option<PathBuf>,
    /// The name sent as SNI and demanded of the certificate, instead of the URL's host.
    pub server_name: Option<String>,
    /// Takes any certificate. The connection is then open to whoever sits in between.
    pub insecure: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ch_065_ch_066_ch_069_transport_words() {
        for word in ["", "http", "HTTP", "streamable", "Streamable-HTTP"] {
            assert_eq!(word.parse::<Transport>().unwrap(), Transport::Http, "{word}");
        }
        assert_eq!("SSE".parse::<Transport>().unwrap(), Transport::Sse);
        assert_eq!("auto".parse::<Transport>().unwrap(), Transport::Auto);
    }

    #[test]
    fn ch_068_an_unknown_transport_is_named() {
        assert_eq!(
            "WebSocket".parse::<Transport>().unwrap_err().to_string(),
            "connect: unsupported mcp transport \"WebSocket\" (expected http or sse)"
        );
    }

    #[test]
    fn secrets_are_in_no_debug_text() {
        let mut http = Http::new("https://user:hush@example.org/mcp?key=hush").unwrap();
        http.headers.add("Authorization", "Bearer hush").unwrap();
        let mut stdio = Stdio::new(["server", "--token=hush"]);
        stdio.environment = Environment::empty().set("TOKEN", "hush");
        for endpoint in [Endpoint::Url(http), Endpoint::Stdio(stdio)] {
            let shown = format!("{endpoint:?}");
            assert!(!shown.contains("hush"), "{shown}");
        }
    }

    #[test]
    fn a_bad_header_is_named_without_its_value() {
        let error = Headers::default().add("X-Key", "hu\nsh").unwrap_err();
        assert_eq!(error.to_string(), "connect: header \"X-Key\": the value is not valid");
    }

    #[test]
    fn only_http_urls_are_taken() {
        assert!(Http::new("ftp://example.org/x").is_err());
        assert!(Http::new("not a url").is_err());
    }
}
