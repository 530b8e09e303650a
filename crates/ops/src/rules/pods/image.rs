//! Why an image does not come: told apart from what the container runtime wrote.

/// Why a pull fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PullFailure {
    /// 401, 403: no credentials, or wrong ones.
    Denied,
    /// 404: no such repository or tag. Registries say so too when credentials are missing.
    NotFound,
    /// 429.
    RateLimited,
    /// The registry's certificate is not trusted.
    Certificate,
    /// No image for this machine's architecture.
    Architecture,
    /// Name not found, refused, timed out.
    Unreachable,
    /// The node's disk is full.
    NoSpace,
    /// Anything else.
    Other,
}

impl PullFailure {
    /// What is wrong, as a fragment.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Denied => "the registry refuses the credentials",
            Self::NotFound => "the registry has no such image",
            Self::RateLimited => "the registry limits the rate of pulls",
            Self::Certificate => "the registry's certificate is not trusted",
            Self::Architecture => "the image has no variant for the node's architecture",
            Self::Unreachable => "the registry cannot be reached",
            Self::NoSpace => "the node has no room for the image",
            Self::Other => "the image cannot be pulled",
        }
    }

    /// What to do.
    #[must_use]
    pub const fn next(self) -> &'static str {
        match self {
            Self::Denied => "check imagePullSecrets of the pod and of its service account",
            Self::NotFound => "check repository and tag; a private repository answers the same without credentials",
            Self::RateLimited => "pull with credentials, or through a mirror",
            Self::Certificate => "give the nodes the registry's CA",
            Self::Architecture => "build the image for the node's architecture, or select other nodes",
            Self::Unreachable => "check the registry's name, DNS, proxy and firewall from the node",
            Self::NoSpace => "free the node's disk; look for disk pressure",
            Self::Other => "read the runtime's message in the pod's events: `get_warning_events`",
        }
    }
}

/// Classifies a runtime's message about a failed pull.
#[must_use]
pub fn pull_failure(message: &str) -> PullFailure {
    let lower = message.to_ascii_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
    if has(&["toomanyrequests", "429", "rate limit"]) {
        PullFailure::RateLimited
    } else if has(&["x509", "certificate", "tls:"]) {
        PullFailure::Certificate
    } else if has(&[
        "no matching manifest",
        "no match for platform",
        "does not match the specified platform",
        "exec format",
    ]) {
        PullFailure::Architecture
    } else if has(&["no space left"]) {
        PullFailure::NoSpace
    } else if has(&["manifest unknown", "404", "name unknown", "not found: manifest"]) {
        PullFailure::NotFound
    } else if has(&["unauthorized", "authentication required", "401", "403", "forbidden", "denied", "no basic auth"]) {
        PullFailure::Denied
    } else if has(&["no such host", "connection refused", "timeout", "deadline exceeded", "unreachable", "dial tcp"]) {
        PullFailure::Unreachable
    } else if has(&["not found"]) {
        PullFailure::NotFound
    } else {
        PullFailure::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_2_1_pull_failures_are_told_apart() {
        for (message, expected) in [
            (
                "failed to authorize: failed to fetch oauth token: unexpected status: 401 Unauthorized",
                PullFailure::Denied,
            ),
            ("pull access denied, repository does not exist or may require authorization", PullFailure::Denied),
            ("manifest unknown: manifest unknown", PullFailure::NotFound),
            ("failed to resolve reference \"r.io/a:1\": r.io/a:1: not found", PullFailure::NotFound),
            ("toomanyrequests: You have reached your pull rate limit", PullFailure::RateLimited),
            (
                "tls: failed to verify certificate: x509: certificate signed by unknown authority",
                PullFailure::Certificate,
            ),
            ("no match for platform in manifest: not found", PullFailure::Architecture),
            ("dial tcp: lookup r.example on 10.0.0.10:53: no such host", PullFailure::Unreachable),
            ("write /var/lib/x: no space left on device", PullFailure::NoSpace),
            ("something else", PullFailure::Other),
        ] {
            assert_eq!(pull_failure(message), expected, "{message}");
        }
    }
}
