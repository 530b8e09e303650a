//! By which names a server may be addressed, and from which pages: a web page that rebinds its name to this machine
//! still sends its own name.

use pintle_core::{Code, Failure};
use std::net::{IpAddr, SocketAddr};

/// Names of this machine to itself.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// What is allowed in `Host` and `Origin`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Allowed {
    /// `HOST`, at any port, or `HOST:PORT`.
    pub(crate) hosts: Vec<String>,
    /// `SCHEME://HOST` with `:PORT` or `:*`.
    pub(crate) origins: Vec<String>,
}

impl Allowed {
    /// The list for a server at `address` on a machine called `machine`, with what the operator adds.
    ///
    /// # Errors
    /// When a name or origin of the operator's cannot be read.
    pub(crate) fn new(
        address: SocketAddr,
        machine: &str,
        hosts: &[String],
        origins: &[String],
    ) -> Result<Self, Failure> {
        let mut allowed: Vec<String> = LOOPBACK.map(str::to_owned).into();
        if !address.ip().is_loopback() {
            if !address.ip().is_unspecified() {
                allowed.push(shown(address.ip()));
            }
            // In a container this is the name by which its neighbours know it.
            if !machine.is_empty() && machine != "localhost" {
                allowed.push(machine.to_owned());
            }
        }
        let mut known_origins: Vec<String> =
            allowed.iter().flat_map(|host| ["http", "https"].map(|scheme| format!("{scheme}://{host}:*"))).collect();
        for host in hosts {
            let host = host_pattern(host)?;
            if !allowed.contains(&host) {
                allowed.push(host);
            }
        }
        for origin in origins {
            known_origins.push(origin_pattern(origin)?);
        }
        Ok(Self { hosts: allowed, origins: known_origins })
    }
}

fn shown(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    }
}

fn host_pattern(host: &str) -> Result<String, Failure> {
    let any_port = host.strip_suffix(":*").unwrap_or(host);
    let readable = any_port.parse::<::http::uri::Authority>().is_ok_and(|authority| !authority.as_str().contains('@'));
    if any_port.is_empty() || !readable || any_port.contains('*') {
        return Err(Failure::new(Code::InvalidArgument, format!("--allowed-host `{host}`: is not a host"))
            .hint("write `HOST`, `HOST:PORT` or `HOST:*`"));
    }
    Ok(any_port.to_owned())
}

fn origin_pattern(origin: &str) -> Result<String, Failure> {
    let refused = || {
        Failure::new(Code::InvalidArgument, format!("--allowed-origin `{origin}`: is not an origin"))
            .hint("write `https://HOST`, with `:PORT` or `:*` where it differs")
    };
    let base = origin.strip_suffix(":*").unwrap_or(origin).trim_end_matches('/');
    let uri: ::http::Uri = base.parse().map_err(|_| refused())?;
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else { return Err(refused()) };
    if uri.path() != "/" && !uri.path().is_empty() || authority.as_str().contains(['*', '@']) {
        return Err(refused());
    }
    let port = match (origin.ends_with(":*"), authority.port_u16(), scheme) {
        (true, None, _) => "*".to_owned(),
        (false, Some(port), _) => port.to_string(),
        (false, None, "https") => "443".to_owned(),
        (false, None, "http") => "80".to_owned(),
        _ => return Err(refused()),
    };
    Ok(format!("{scheme}://{}:{port}", authority.host()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(address: &str, hosts: &[&str], origins: &[&str]) -> Result<Allowed, Failure> {
        let own = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        Allowed::new(address.parse().unwrap(), "box-web", &own(hosts), &own(origins))
    }

    #[test]
    fn cw_08_an_6_14_names_follow_from_the_address_and_the_operator() {
        let local = allowed("127.0.0.1:18765", &[], &[]).unwrap();
        assert_eq!(local.hosts, ["localhost", "127.0.0.1", "[::1]"]);
        assert!(local.origins.contains(&"http://localhost:*".to_owned()));
        let wide =
            allowed("0.0.0.0:18765", &["web.example:*"], &["https://app.example", "http://x.example:81"]).unwrap();
        assert_eq!(wide.hosts, ["localhost", "127.0.0.1", "[::1]", "box-web", "web.example"]);
        assert!(wide.origins.ends_with(&["https://app.example:443".to_owned(), "http://x.example:81".to_owned()]));
        assert!(allowed("[fd00::1]:1", &[], &[]).unwrap().hosts.contains(&"[fd00::1]".to_owned()));
    }

    #[test]
    fn what_is_no_host_or_origin_is_refused_by_name() {
        for host in ["", "a b", "*", "*.example", "me@host"] {
            assert!(allowed("127.0.0.1:1", &[host], &[]).unwrap_err().message.contains("--allowed-host"), "{host}");
        }
        for origin in ["app.example", "https://", "https://a/b", "ftp://x", "https://*"] {
            let failure = allowed("127.0.0.1:1", &[], &[origin]).unwrap_err();
            assert!(failure.message.contains("--allowed-origin"), "{origin}");
        }
    }
}
