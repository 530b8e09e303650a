//! Why a cluster did not answer as hoped, as a type; every sentence about it stands here.

use pintle_core::{Code, Failure, Foreign};
use schemars::JsonSchema;
use serde::Serialize;
use std::{fmt, time::Duration};

/// Longest text of a server that a message repeats, in characters.
const SAID_LIMIT: usize = 400;

/// What went wrong with one cluster.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cluster `{cluster}`: {cause}")]
pub struct ClusterError {
    /// The context's name.
    pub cluster: String,
    /// What went wrong.
    pub cause: Cause,
}

/// Kinds of what goes wrong with a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The kubeconfig's entries for it cannot be used.
    BadConfig {
        /// What is wrong.
        why: String,
        /// What to do.
        hint: Option<String>,
    },
    /// The name of the server does not resolve.
    Dns {
        /// The host asked for.
        host: String,
        /// The resolver's words.
        why: String,
    },
    /// Something answered at that address: no.
    Refused {
        /// Host and port.
        address: String,
    },
    /// No way there, or the connection broke.
    Unreachable {
        /// Host and port, or the server's URL.
        address: String,
        /// Why.
        why: String,
    },
    /// The time was up.
    TimedOut {
        /// What was waited for.
        stage: Stage,
        /// How long.
        after: Duration,
    },
    /// The server's certificate does not convince.
    BadCertificate {
        /// In what way.
        fault: CertificateFault,
        /// Host that was expected.
        host: String,
        /// More words, where there are any.
        why: String,
    },
    /// 401: the server does not know us.
    Unauthorized {
        /// The server's words.
        said: String,
    },
    /// 403: the server knows us and refuses.
    Forbidden {
        /// The server's words.
        said: String,
    },
    /// The credential plug-in is not installed.
    PluginMissing {
        /// Its command.
        program: String,
        /// How to install it, in the words of the kubeconfig.
        install: Option<String>,
    },
    /// The credential plug-in did not give a credential. Its output is not repeated: it may hold one.
    PluginFailed {
        /// Its command.
        program: String,
        /// In what way.
        fault: PluginFault,
    },
    /// 410: what was asked for is no longer kept.
    Gone {
        /// The server's words.
        said: String,
    },
    /// 404.
    NotFound {
        /// What was looked for.
        what: String,
        /// The server's words.
        said: String,
    },
    /// 429 or 503 for longer than we may wait.
    Busy {
        /// Status.
        status: u16,
        /// The server's words.
        said: String,
    },
    /// Any other status that is no success: a selector that does not parse, a fault of the server.
    Rejected {
        /// Status.
        status: u16,
        /// The server's words.
        said: String,
    },
    /// The answer is not what the API promises.
    BadAnswer {
        /// Path asked for.
        path: String,
        /// What is wrong with it; no piece of the answer itself.
        why: String,
    },
    /// The answer is larger than is accepted.
    TooLarge {
        /// Path asked for.
        path: String,
        /// Bytes accepted.
        limit: usize,
    },
    /// The caller has given up.
    Cancelled,
}

/// What was waited for when the time was up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Resolving the server's name.
    Resolve,
    /// A TCP connection.
    Connect,
    /// The proxy's connection to the server.
    Proxy,
    /// The TLS or HTTP/2 handshake.
    Handshake,
    /// The credential plug-in.
    Plugin,
    /// Other requests of ours to the same cluster.
    Turn,
    /// An answer.
    Answer,
    /// The rest of an answer.
    Body,
}

/// What is wrong with a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertificateFault {
    /// It is no longer valid.
    Expired,
    /// It is not valid yet.
    NotYetValid,
    /// Nobody whom we trust has signed it.
    UnknownCa,
    /// It is for another host.
    WrongHost,
    /// It has been revoked.
    Revoked,
    /// The server does not accept ours.
    OursRefused,
    /// Something else.
    Other,
}

/// What is wrong with a run of a credential plug-in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PluginFault {
    /// It says that it needs a terminal (`interactiveMode: Always`).
    NeedsTerminal,
    /// It did not end in time.
    TimedOut(Duration),
    /// It ended badly: with what status.
    Ended(String),
    /// Its answer is no `ExecCredential`: what is wrong, without the answer.
    Junk(String),
    /// It cannot be run.
    NotRun(String),
}

impl Cause {
    /// The kind as a stable word.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::BadConfig { .. } => "bad_config",
            Self::Dns { .. } => "dns",
            Self::Refused { .. } => "refused",
            Self::Unreachable { .. } => "unreachable",
            Self::TimedOut { .. } => "timed_out",
            Self::BadCertificate { .. } => "bad_certificate",
            Self::Unauthorized { .. } => "unauthorized",
            Self::Forbidden { .. } => "forbidden",
            Self::PluginMissing { .. } => "plugin_missing",
            Self::PluginFailed { .. } => "plugin_failed",
            Self::Gone { .. } => "gone",
            Self::NotFound { .. } => "not_found",
            Self::Busy { .. } => "busy",
            Self::Rejected { .. } => "rejected",
            Self::BadAnswer { .. } => "bad_answer",
            Self::TooLarge { .. } => "too_large",
            Self::Cancelled => "cancelled",
        }
    }

    /// A finer word, where the kind has several.
    #[must_use]
    pub const fn detail(&self) -> Option<&'static str> {
        Some(match self {
            Self::BadCertificate { fault, .. } => match fault {
                CertificateFault::Expired => "expired",
                CertificateFault::NotYetValid => "not_yet_valid",
                CertificateFault::UnknownCa => "unknown_ca",
                CertificateFault::WrongHost => "wrong_host",
                CertificateFault::Revoked => "revoked",
                CertificateFault::OursRefused => "ours_refused",
                CertificateFault::Other => return None,
            },
            Self::TimedOut { stage, .. } => stage.word(),
            Self::PluginFailed { fault, .. } => match fault {
                PluginFault::NeedsTerminal => "needs_terminal",
                PluginFault::TimedOut(_) => "timed_out",
                PluginFault::Ended(_) => "ended",
                PluginFault::Junk(_) => "junk",
                PluginFault::NotRun(_) => "not_run",
            },
            _ => return None,
        })
    }

    /// The code of a whole call that fails for this reason.
    #[must_use]
    pub const fn failure_code(&self) -> Code {
        match self {
            Self::BadConfig { .. } => Code::Invalid,
            Self::Dns { .. } | Self::Refused { .. } | Self::Unreachable { .. } | Self::BadCertificate { .. } => {
                Code::Unreachable
            }
            Self::TimedOut { .. } => Code::TimedOut,
            Self::PluginMissing { .. } => Code::Unavailable,
            Self::Gone { .. } => Code::Moved,
            Self::NotFound { .. } => Code::NotFound,
            Self::Rejected { status: 400, .. } => Code::InvalidArgument,
            Self::Busy { .. } => Code::Busy,
            Self::TooLarge { .. } => Code::TooLarge,
            Self::Cancelled => Code::Cancelled,
            Self::Unauthorized { .. }
            | Self::Forbidden { .. }
            | Self::PluginFailed { .. }
            | Self::Rejected { .. }
            | Self::BadAnswer { .. } => Code::Remote,
        }
    }

    /// What a person can do.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::BadConfig { hint, .. } => return hint.clone(),
            Self::Dns { .. } => "check `server` in the kubeconfig, and whether its network or VPN is up".to_owned(),
            Self::Refused { .. } => {
                "check whether the API server runs and whether `server` has the right port".to_owned()
            }
            Self::Unreachable { .. } => "check the network or VPN on the way to this cluster".to_owned(),
            Self::TimedOut { stage, .. } => match stage {
                Stage::Resolve | Stage::Connect | Stage::Proxy | Stage::Handshake => {
                    "check the network or VPN on the way to this cluster".to_owned()
                }
                Stage::Plugin => "run the plug-in once by hand: it may wait for a login; then call again".to_owned(),
                Stage::Turn | Stage::Answer | Stage::Body => {
                    "a namespace or a selector makes the answer smaller".to_owned()
                }
            },
            Self::BadCertificate { fault, .. } => match fault {
                CertificateFault::Expired => "renew the API server's certificate",
                CertificateFault::NotYetValid => "check the clocks of this machine and of the server",
                CertificateFault::UnknownCa => {
                    "check `certificate-authority-data` in the kubeconfig; the cluster may have been made anew"
                }
                CertificateFault::WrongHost => "set `tls-server-name` in the kubeconfig to a name in the certificate",
                CertificateFault::OursRefused => "renew the client certificate in the kubeconfig",
                CertificateFault::Revoked | CertificateFault::Other => return None,
            }
            .to_owned(),
            Self::Unauthorized { .. } => "log in again, or renew the credential in the kubeconfig".to_owned(),
            Self::Forbidden { .. } => "ask the cluster's owner for that right".to_owned(),
            Self::PluginMissing { program, install } => match install {
                Some(words) => words.clone(),
                None => format!("install `{program}`, or put its folder into PATH"),
            },
            Self::PluginFailed { program, fault } => match fault {
                PluginFault::NeedsTerminal => {
                    format!("a server has no terminal: log in by hand, or let `{program}` work without one")
                }
                PluginFault::TimedOut(_) | PluginFault::Ended(_) | PluginFault::Junk(_) => {
                    format!("run `{program}` by hand to see what it says; it may wait for a login")
                }
                PluginFault::NotRun(_) => return None,
            },
            Self::Busy { .. } => "call again in a minute".to_owned(),
            Self::TooLarge { .. } => "a namespace or a selector makes the answer smaller".to_owned(),
            Self::Gone { .. } => "call again".to_owned(),
            Self::Rejected { status: 400, .. } => "check the selectors and names that were given".to_owned(),
            Self::NotFound { .. } | Self::Rejected { .. } | Self::BadAnswer { .. } | Self::Cancelled => return None,
        })
    }

    /// Whether the same call may succeed later without anybody doing anything.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. }
                | Self::Refused { .. }
                | Self::TimedOut { .. }
                | Self::Busy { .. }
                | Self::Gone { .. }
        )
    }
}

impl Stage {
    const fn word(self) -> &'static str {
        match self {
            Self::Resolve => "resolve",
            Self::Connect => "connect",
            Self::Proxy => "proxy",
            Self::Handshake => "handshake",
            Self::Plugin => "plugin",
            Self::Turn => "turn",
            Self::Answer => "answer",
            Self::Body => "body",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Resolve => "the server's address",
            Self::Connect => "a connection",
            Self::Proxy => "the proxy",
            Self::Handshake => "the TLS handshake",
            Self::Plugin => "the credential plug-in",
            Self::Turn => "other requests to the same cluster",
            Self::Answer => "an answer",
            Self::Body => "the rest of an answer",
        })
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadConfig { why, .. } => f.write_str(why),
            Self::Dns { host, why } => write!(f, "host `{host}` does not resolve: {why}"),
            Self::Refused { address } => write!(f, "{address} refuses connections"),
            Self::Unreachable { address, why } => write!(f, "{address} cannot be reached: {why}"),
            Self::TimedOut { stage, after } => write!(f, "waited {} for {stage}", seconds(*after)),
            Self::BadCertificate { fault, host, why } => certificate(f, *fault, host, why),
            Self::Unauthorized { said } => with_words(f, "the server does not accept the credential (401)", said),
            Self::Forbidden { said } => with_words(f, "forbidden (403)", said),
            Self::PluginMissing { program, .. } => write!(f, "credential plug-in `{program}` is not installed"),
            Self::PluginFailed { program, fault } => {
                write!(f, "credential plug-in `{program}` ")?;
                match fault {
                    PluginFault::NeedsTerminal => f.write_str("says that it always needs a terminal"),
                    PluginFault::TimedOut(limit) => write!(f, "did not end within {}", seconds(*limit)),
                    PluginFault::Ended(how) => write!(f, "ended with {how}"),
                    PluginFault::Junk(why) => write!(f, "gave no credential: {why}"),
                    PluginFault::NotRun(why) => write!(f, "cannot be run: {why}"),
                }
            }
            Self::Gone { said } => with_words(f, "no longer there (410)", said),
            // The server's own words name the object better than its path does.
            Self::NotFound { said, .. } if said.ends_with("not found") && !said.ends_with("page not found") => {
                f.write_str(said)
            }
            Self::NotFound { what, said } => with_words(f, &format!("{what} not found"), said),
            Self::Busy { status, said } => with_words(f, &format!("the server is busy ({status})"), said),
            Self::Rejected { status, said } => {
                with_words(f, &format!("the server refused the request ({status})"), said)
            }
            Self::BadAnswer { path, why } => write!(f, "the answer to {path} does not hold together: {why}"),
            Self::TooLarge { path, limit } => write!(f, "the answer to {path} is larger than {limit} bytes"),
            Self::Cancelled => f.write_str("cancelled by the caller"),
        }
    }
}

fn certificate(f: &mut fmt::Formatter<'_>, fault: CertificateFault, host: &str, why: &str) -> fmt::Result {
    match fault {
        CertificateFault::Expired => write!(f, "the certificate of {host} has expired"),
        CertificateFault::NotYetValid => write!(f, "the certificate of {host} is not valid yet"),
        CertificateFault::UnknownCa => write!(f, "the certificate of {host} is signed by an unknown authority"),
        CertificateFault::WrongHost => write!(f, "the certificate is not for {host}"),
        CertificateFault::Revoked => write!(f, "the certificate of {host} has been revoked"),
        CertificateFault::OursRefused => return with_words(f, &format!("{host} does not accept our certificate"), why),
        CertificateFault::Other => return with_words(f, &format!("the certificate of {host} cannot be verified"), why),
    }?;
    if why.is_empty() { Ok(()) } else { write!(f, " ({why})") }
}

fn with_words(f: &mut fmt::Formatter<'_>, what: &str, said: &str) -> fmt::Result {
    f.write_str(what)?;
    if said.is_empty() { Ok(()) } else { write!(f, ": {said}") }
}

/// `5 s`, `1.5 s`, `200 ms`.
pub(crate) fn seconds(time: Duration) -> String {
    match (time.as_secs(), time.subsec_millis()) {
        (0, millis) => format!("{millis} ms"),
        (secs, 0) => format!("{secs} s"),
        (secs, millis) => format!("{secs}.{} s", millis / 100),
    }
}

/// Foreign words for a message: one line, bounded.
pub(crate) fn said(text: &str) -> String {
    let mut line = Foreign::one_line(text);
    if let Some((at, _)) = line.char_indices().nth(SAID_LIMIT) {
        line.truncate(at);
        line.push('…');
    }
    line
}

/// An error of a cluster as answers tell it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Told {
    /// Its kind.
    pub code: &'static str,
    /// A finer kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<&'static str>,
    /// What failed, why.
    pub message: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl From<&Cause> for Told {
    fn from(cause: &Cause) -> Self {
        Self { code: cause.code(), detail: cause.detail(), message: cause.to_string(), hint: cause.hint() }
    }
}

impl From<ClusterError> for Failure {
    fn from(error: ClusterError) -> Self {
        let mut failure = Self::new(error.cause.failure_code(), error.to_string());
        failure.hints.extend(error.cause.hint());
        failure.retryable = error.cause.is_retryable();
        let mut details = serde_json::json!({"cluster": error.cluster, "error": error.cause.code()});
        if let Some(detail) = error.cause.detail() {
            details["detail"] = detail.into();
        }
        failure.details(details)
    }
}

impl From<ClusterError> for pintle_core::Stop {
    fn from(error: ClusterError) -> Self {
        Self::Failed(error.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_cluster_the_kind_and_what_to_do() {
        let cause = Cause::BadCertificate {
            fault: CertificateFault::WrongHost,
            host: "10.0.0.1".to_owned(),
            why: "it is for `api.example`".to_owned(),
        };
        let failure = Failure::from(ClusterError { cluster: "prod eu".to_owned(), cause: cause.clone() });
        assert_eq!(failure.message, "cluster `prod eu`: the certificate is not for 10.0.0.1 (it is for `api.example`)");
        assert_eq!(failure.hints, ["set `tls-server-name` in the kubeconfig to a name in the certificate"]);
        assert_eq!(failure.code, Code::Unreachable);
        let told = serde_json::to_value(Told::from(&cause)).unwrap();
        assert_eq!((told["code"].as_str(), told["detail"].as_str()), (Some("bad_certificate"), Some("wrong_host")));
    }

    #[test]
    fn kw_48_words_of_a_server_are_one_bounded_line_without_controls() {
        let words = said(&format!("\x1b[31mno\x1b[0m\nway{}", "x".repeat(1000)));
        assert!(words.starts_with("no wayxxx") && words.ends_with('…') && words.chars().count() == SAID_LIMIT + 1);
    }

    #[test]
    fn what_is_not_found_is_named_as_the_server_names_it() {
        let shown = |said: &str| Cause::NotFound { what: "/api/v1/x".to_owned(), said: said.to_owned() }.to_string();
        assert_eq!(shown("pods \"web\" not found"), "pods \"web\" not found");
        assert_eq!(shown("404 page not found"), "/api/v1/x not found: 404 page not found");
        assert_eq!(shown(""), "/api/v1/x not found");
    }

    #[test]
    fn times_read_well() {
        let shown = [200, 5000, 1500].map(|ms| seconds(Duration::from_millis(ms)));
        assert_eq!(shown, ["200 ms", "5 s", "1.5 s"]);
    }
}
