//! Images that are not pinned.

use super::Look;
use crate::rules::finding::{Finding, Severity};

/// An image's name taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageName<'a> {
    /// Registry, where the name has one: its first part has a dot or a colon, or is `localhost`.
    pub registry: Option<&'a str>,
    /// Repository without registry.
    pub repository: &'a str,
    /// Tag.
    pub tag: Option<&'a str>,
    /// Digest with its algorithm.
    pub digest: Option<&'a str>,
}

/// Takes an image's name apart. A colon in the registry is its port, not a tag.
#[must_use]
pub fn parse_image(name: &str) -> ImageName<'_> {
    let (rest, digest) = name.split_once('@').map_or((name, None), |(rest, digest)| (rest, Some(digest)));
    let last = rest.rfind('/').map_or(0, |at| at + 1);
    let (path, tag) = match rest[last..].split_once(':') {
        Some((short, tag)) => (&rest[..last + short.len()], Some(tag)),
        None => (rest, None),
    };
    let (registry, repository) = match path.split_once('/') {
        Some((first, rest)) if first.contains(['.', ':']) || first == "localhost" => (Some(first), rest),
        _ => (None, path),
    };
    ImageName { registry, repository, tag, digest }
}

/// `latest` or no tag is another image tomorrow; a tag without digest may be.
pub(super) fn check(look: &Look<'_>, found: &mut Vec<Finding>) {
    for c in look.containers() {
        let Some(image) = c.image.filter(|i| !i.is_empty()) else { continue };
        let name = parse_image(image);
        if name.digest.is_some() {
            continue;
        }
        let moving = matches!(name.tag, None | Some("latest"));
        let (id, severity, words) = if moving {
            ("security/image-latest", Severity::Medium, "runs whatever `latest` is at the time")
        } else {
            ("security/image-no-digest", Severity::Info, "its image's tag can be moved")
        };
        found.push(
            look.find(id, severity, words)
                .in_container(c.name)
                .shown_by(c.path("image"), image)
                .shown_by_option(c.path("imagePullPolicy"), c.image_pull_policy)
                .next("name the image by digest, or at least by a tag that is never moved"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use serde_json::json;

    #[test]
    fn an_2_2_extended_image_names_are_taken_apart() {
        let parts = |name| {
            let i = parse_image(name);
            (i.registry, i.repository, i.tag, i.digest)
        };
        assert_eq!(parts("nginx"), (None, "nginx", None, None));
        assert_eq!(parts("library/nginx:1.27"), (None, "library/nginx", Some("1.27"), None));
        assert_eq!(parts("localhost:5000/a/b"), (Some("localhost:5000"), "a/b", None, None));
        assert_eq!(parts("r.example/a:1@sha256:0"), (Some("r.example"), "a", Some("1"), Some("sha256:0")));
        assert_eq!(parts("localhost/a:latest"), (Some("localhost"), "a", Some("latest"), None));
    }

    #[test]
    fn an_2_2_extended_images_by_latest_by_tag_and_by_digest() {
        for (image, id) in [
            ("nginx", Some("security/image-latest")),
            ("localhost:5000/nginx", Some("security/image-latest")),
            ("nginx:latest", Some("security/image-latest")),
            ("nginx:1.27", Some("security/image-no-digest")),
            ("nginx:latest@sha256:0", None),
        ] {
            let found = examine_spec(json!({"containers": [
                {"name": "a", "image": image, "securityContext": {"readOnlyRootFilesystem": true}}]}));
            assert_eq!(found.first().map(|f| f.id), id, "{image}");
        }
    }
}
