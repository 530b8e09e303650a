//! What names may look like.

use crate::model::fields;

/// Whether a box or candy may have this name: it becomes part of image and folder names.
///
/// # Errors
/// Why not, as a fragment.
pub fn entity(name: &str) -> Result<(), String> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
    let ends_well = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    let shown = name.escape_debug();
    if name.is_empty() {
        return Err("a name must not be empty".to_owned());
    }
    if name.len() > 128 {
        return Err(format!("a name of {} characters is too long; 128 are allowed", name.chars().count()));
    }
    if !name.chars().all(allowed) || !ends_well(name.chars().next()) || !ends_well(name.chars().last()) {
        return Err(format!(
            "`{shown}` is no name for a box or candy: lower-case letters, digits, and `-`, `_`, `.` between them"
        ));
    }
    if fields::DIRECTIVES.contains(&name) || fields::is_discriminator(name) {
        return Err(format!("`{shown}` is a word of the file format, so nothing can have it as its name"));
    }
    Ok(())
}

/// Whether a package may be called this.
///
/// # Errors
/// Why not, as a fragment.
pub fn package(name: &str) -> Result<(), String> {
    let shown = name.escape_debug();
    if name.is_empty() {
        return Err("a package name must not be empty".to_owned());
    }
    // What begins with a dash would be an option of the package manager.
    if name.starts_with('-') {
        return Err(format!("`{shown}` is no package name: it begins with a dash"));
    }
    let odd = |c: char| c.is_whitespace() || c.is_control() || "\"'`$;&|\\".contains(c);
    if name.chars().any(odd) {
        return Err(format!("`{shown}` is no package name: it holds a blank or a character of the shell"));
    }
    Ok(())
}

/// Whether a box may be built on this: an image reference, another box, or `scratch`.
///
/// A reference is `[HOST[:PORT]/]PATH[:TAG][@DIGEST]` as registries and podman take it; each of the other two has the
/// form of a path.
///
/// # Errors
/// Why not, as a fragment.
pub fn base(reference: &str) -> Result<(), String> {
    let (name, digest) = match reference.split_once('@') {
        Some((name, digest)) => (name, Some(digest)),
        None => (reference, None),
    };
    let (name, tag) = match name.rsplit_once(':') {
        // A colon before a slash is that of a port.
        Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
        _ => (name, None),
    };
    let (host, path) = match name.split_once('/') {
        Some((host, path)) if host.contains(['.', ':']) || host == "localhost" => (Some(host), path),
        _ => (None, name),
    };
    let fits = host.is_none_or(is_host)
        && path.split('/').all(is_path_component)
        && tag.is_none_or(is_tag)
        && digest.is_none_or(is_digest);
    if fits { Ok(()) } else { Err(format!("`{}` is no image reference", reference.escape_debug())) }
}

fn is_host(host: &str) -> bool {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
        _ => (host, None),
    };
    let six = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    let named = six.map_or_else(
        || !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-.".contains(&b)),
        |six| six.parse::<std::net::Ipv6Addr>().is_ok(),
    );
    named && port.is_none_or(|port| port.parse::<u16>().is_ok())
}

/// Lower-case letters and digits, with `.`, one or two `_`, or dashes between them.
fn is_path_component(part: &str) -> bool {
    let inner = |c: char| matches!(c, '.' | '_' | '-');
    !part.is_empty()
        && !part.starts_with(inner)
        && !part.ends_with(inner)
        && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b))
}

fn is_tag(tag: &str) -> bool {
    !tag.is_empty()
        && tag.len() <= 128
        && !tag.starts_with(['.', '-'])
        && tag.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

fn is_digest(digest: &str) -> bool {
    digest.split_once(':').is_some_and(|(algorithm, hex)| {
        let digits = match algorithm {
            "sha256" => 64,
            "sha512" => 128,
            _ => return false,
        };
        hex.len() == digits && hex.bytes().all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase())
    })
}

/// Whether an entry of a candy list means a candy of another repository: `@host/owner/repo/path:ref`.
#[must_use]
pub fn is_remote(entry: &str) -> bool {
    entry.starts_with('@') && entry.contains('/') && !entry.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_images_and_package_managers_would_choke_on_are_refused() {
        for name in ["web", "web-svc", "a1", "1a", "a.b_c"] {
            assert_eq!(entity(name), Ok(()), "{name}");
        }
        for name in
            ["", "Web", "web-", "-web", "we b", "web/x", "..", "defaults", "box", "volumes", "ä", &"a".repeat(129)]
        {
            assert!(entity(name).is_err(), "{name}");
        }
        for name in ["openssh-server", "@development-tools", "nginx=1.2", "lib32-glibc", "g++", "python3.11"] {
            assert_eq!(package(name), Ok(()), "{name}");
        }
        for name in ["", "--root=/", "a b", "a\nb", "a;b", "$(x)"] {
            assert!(package(name).is_err(), "{name}");
        }
        assert!(is_remote("@github.com/o/r/candy/x:v1") && !is_remote("@x") && !is_remote("x"));
    }

    #[test]
    fn a_base_is_a_reference_that_podman_would_take() {
        let digest = format!("q/f@sha256:{}", "0a".repeat(32));
        for reference in [
            "quay.io/fedora/fedora:43",
            "scratch",
            "web",
            "a.b_c",
            "lab/web:v1.0-Rc_2",
            "localhost/lab/web:auto",
            "localhost:5000/web",
            "127.0.0.1:5000/web",
            "[::1]:5000/web:1",
            "Host.example/a__b/c--d",
            &digest,
        ] {
            assert_eq!(base(reference), Ok(()), "{reference}");
        }
        for reference in [
            "",
            " ",
            "a b",
            "-x",
            ":tag",
            "q/f:",
            "q/f:a b",
            "q/f:.x",
            "Q/F:1",
            "q//f",
            "q/f/",
            "/q/f",
            "http://x/y:1",
            "é/x:1",
            "q/f@sha256:abc",
            "q/f@",
            "q/f@md5:00",
            "h.x:port/a",
            "[::x]:1/a",
            "$(x)",
        ] {
            assert!(base(reference).is_err(), "{reference}");
        }
    }
}
