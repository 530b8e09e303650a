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
/// # Errors
/// Why not, as a fragment.
pub fn base(reference: &str) -> Result<(), String> {
    let odd = |c: char| c.is_whitespace() || c.is_control() || "\"'`$;&|\\".contains(c);
    if reference.is_empty() || reference.starts_with('-') || reference.chars().any(odd) {
        return Err(format!("`{}` is no image reference", reference.escape_debug()));
    }
    Ok(())
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
        assert!(base("quay.io/fedora/fedora:43").is_ok() && base("").is_err() && base("a b").is_err());
        assert!(is_remote("@github.com/o/r/candy/x:v1") && !is_remote("@x") && !is_remote("x"));
    }
}
