//! What the `Warning` header of a pod says: which controls it breaks, and in which containers.

/// A control that the server says is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forbidden {
    /// The words before the parenthesis.
    pub reason: String,
    /// The containers named within it.
    pub containers: Vec<String>,
}

/// The controls of one header value; none when it warns of something else.
pub fn parse(header: &str) -> Option<Vec<Forbidden>> {
    let text = header.strip_prefix("299 - \"")?.strip_suffix('"')?.replace("\\\"", "\"").replace("\\\\", "\\");
    let (_, list) = text.strip_prefix("would violate PodSecurity \"")?.split_once("\": ")?;
    let mut found = Vec::new();
    let mut rest = list;
    while !rest.is_empty() {
        let (item, after) = split(rest);
        let (reason, detail) = match item.split_once(" (") {
            Some((reason, detail)) => (reason, detail),
            None => (item, ""),
        };
        found.push(Forbidden { reason: reason.to_owned(), containers: containers(detail) });
        rest = after;
    }
    Some(found)
}

/// The first item of a list, and what comes after its comma. Commas within parentheses are the detail's own.
fn split(list: &str) -> (&str, &str) {
    let mut depth = 0_usize;
    for (at, letter) in list.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => return (&list[..at], list[at + 1..].trim_start()),
            _ => {}
        }
    }
    (list, "")
}

fn containers(detail: &str) -> Vec<String> {
    let mut names = Vec::new();
    for word in ["container \"", "containers \""] {
        for (at, _) in detail.match_indices(word) {
            let mut rest = &detail[at + word.len()..];
            while let Some((name, after)) = rest.split_once('"') {
                names.push(name.to_owned());
                match after.strip_prefix(", \"") {
                    Some(next) => rest = next,
                    None => break,
                }
            }
        }
    }
    names
}

#[test]
fn an_2_2_a_warning_is_read_control_by_control() {
    let header = r#"299 - "would violate PodSecurity \"restricted:latest\": privileged (containers \"a\", \"b\" must not set securityContext.privileged=true), host namespaces (hostNetwork=true, hostPID=true), runAsNonRoot != true (pod or container \"b\" must set securityContext.runAsNonRoot=true)""#;
    let of = |reason: &str, names: &[&str]| Forbidden {
        reason: reason.to_owned(),
        containers: names.iter().map(ToString::to_string).collect(),
    };
    let expected = [of("privileged", &["a", "b"]), of("host namespaces", &[]), of("runAsNonRoot != true", &["b"])];
    assert_eq!(parse(header).unwrap(), expected);
    assert_eq!(parse(r#"299 - "metadata.annotations[x]: deprecated since v1.30""#), None);
}
