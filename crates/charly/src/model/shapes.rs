//! What the values of fields look like.

use super::{
    fields, names,
    report::{Noted, Report, kind},
};
use crate::version::CalVer;
use pintle_yaml::Node;
use std::collections::HashMap;

/// What a value looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Anything; judged by whoever uses it.
    Any,
    /// A scalar that is read as text.
    Text,
    /// A boolean.
    Bool,
    /// A user or group number.
    Id,
    /// `YYYY.DDD.HHMM`.
    CalVer,
    /// `testing`, `working` or `broken`.
    Status,
    /// An image reference, another box, or `scratch`.
    Base,
    /// One word or a list of them.
    Words,
    /// A list of package formats.
    Formats,
    /// A list of candies.
    Candies,
    /// `KEY=VALUE` lines or a map; never `PATH`.
    Env,
    /// Ports, one or a list.
    Ports,
    /// A list of `{name, path}`.
    Volumes,
    /// A list of services.
    Services,
    /// A list of `{name, url, transport}`.
    Provides,
    /// A list of `{name, description, default}`.
    Needs,
    /// `{packages: […], …}`.
    Packages,
    /// A list of package names.
    PackageNames,
    /// Packages by distribution.
    DistroPackages,
}

/// The steps of a candy's life.
pub const STATUSES: [&str; 3] = ["working", "testing", "broken"];

/// The words for transports that are read.
pub const TRANSPORTS: [&str; 4] = ["http", "streamable", "streamable-http", "sse"];

/// Judges the value of a field.
pub fn check(shape: Shape, file: &str, word: &str, value: Node<'_>, report: &mut Report) {
    let mut judge = Judge { file, word, report };
    match shape {
        Shape::Any => {}
        Shape::Text => drop(judge.text(value)),
        Shape::Bool => {
            if value.as_bool().is_none() {
                judge.is_not(value, "`true` or `false`");
            }
        }
        Shape::Id => {
            if value.as_u64().is_none_or(|id| id > u64::from(u32::MAX) - 1) {
                judge.is_not(value, "a user or group number");
            }
        }
        Shape::CalVer => judge.calver(value),
        Shape::Status => {
            if let Some(text) = judge.text(value).filter(|text| !STATUSES.contains(text)) {
                let message = format!("`{text}` is no status");
                judge.error(value, message).near(text, STATUSES, "use working, testing or broken");
            }
        }
        Shape::Base => {
            if let Some(Err(message)) = judge.text(value).map(names::base) {
                judge.error(value, message);
            }
        }
        Shape::Words => drop(judge.texts(value, true)),
        Shape::Formats => {
            for (node, text) in judge.texts(value, true) {
                if !fields::FORMATS.contains(&text) {
                    let message = format!("`{text}` is no package format");
                    judge.error(node, message).near(text, fields::FORMATS, "use rpm, deb, pac or aur");
                }
            }
        }
        Shape::Candies => judge.candies(value),
        Shape::Env => judge.env(value),
        Shape::Ports => judge.ports(value),
        Shape::Volumes => judge.volumes(value),
        Shape::Services => judge.services(value),
        Shape::Provides => judge.provides(value),
        Shape::Needs => judge.needs(value),
        Shape::Packages => judge.packages(value),
        Shape::PackageNames => judge.package_names(value),
        Shape::DistroPackages => judge.distro_packages(value),
    }
}

struct Judge<'j> {
    file: &'j str,
    word: &'j str,
    report: &'j mut Report,
}

impl Judge<'_> {
    fn error(&mut self, node: Node<'_>, message: impl Into<String>) -> Noted<'_> {
        self.report.error(self.file, node, message)
    }

    fn is_not(&mut self, node: Node<'_>, wanted: &str) {
        let message = format!("`{}` is {}, not {wanted}", self.word, kind(node));
        self.error(node, message);
    }

    /// The text of a scalar that is there.
    fn text<'a>(&mut self, node: Node<'a>) -> Option<&'a str> {
        match node.source_text() {
            Some(text) if !node.is_null() && !text.is_empty() => Some(text),
            _ if node.is_null() || node.source_text().is_some() => {
                let message = format!("`{}` is empty", self.word);
                self.error(node, message);
                None
            }
            _ => {
                self.is_not(node, "text");
                None
            }
        }
    }

    /// The texts of a list; of a single scalar too, where that is allowed.
    fn texts<'a>(&mut self, node: Node<'a>, single: bool) -> Vec<(Node<'a>, &'a str)> {
        if node.is_sequence() {
            return node.items().filter_map(|item| Some((item, self.text(item)?))).collect();
        }
        if single && node.source_text().is_some() && !node.is_null() {
            return self.text(node).map(|text| (node, text)).into_iter().collect();
        }
        if !node.is_null() {
            self.is_not(node, "a list");
        }
        Vec::new()
    }

    /// The maps of a list.
    fn maps<'a>(&mut self, node: Node<'a>) -> Vec<Node<'a>> {
        if !node.is_sequence() {
            if !node.is_null() {
                self.is_not(node, "a list");
            }
            return Vec::new();
        }
        let (maps, others): (Vec<_>, Vec<_>) = node.items().partition(|item| item.is_mapping());
        for other in others {
            let message = format!("an item of `{}` is {}, not a map", self.word, kind(other));
            self.error(other, message);
        }
        maps
    }

    /// The text of a key that must be there.
    fn required<'a>(&mut self, map: Node<'a>, key: &str) -> Option<(Node<'a>, &'a str)> {
        match map.get(key) {
            Some(node) => self.text(node).map(|text| (node, text)),
            None => {
                let message = format!("an item of `{}` has no `{key}`", self.word);
                self.error(map, message);
                None
            }
        }
    }

    fn known_keys(&mut self, map: Node<'_>, known: &[&str]) {
        for (key, _) in map.entries().filter(|(key, _)| !known.contains(&key.key_text())) {
            let text = key.key_text();
            let message = format!("unknown key `{text}` in `{}`", self.word);
            let otherwise = format!("it has {}", known.join(", "));
            self.error(key, message).near(text, known.iter().copied(), &otherwise);
        }
    }

    /// Names that must differ within the list.
    fn unique(&mut self, named: &[(Node<'_>, &str)]) {
        let mut seen = HashMap::new();
        for (node, name) in named {
            if let Some(first) = seen.insert(*name, *node) {
                let message = format!("`{name}` is in `{}` twice, also at {}:{}", self.word, self.file, first.pos());
                self.error(*node, message);
            }
        }
    }

    fn calver(&mut self, node: Node<'_>) {
        if let Some(text) = self.text(node).filter(|text| CalVer::parse(text).is_none()) {
            let message = format!("`{text}` is no version");
            self.error(node, message).hint("a version is YYYY.DDD.HHMM: year, day of the year, hour and minute");
        }
    }

    fn candies(&mut self, node: Node<'_>) {
        for (item, text) in self.texts(node, false) {
            if text.starts_with('@') && !names::is_remote(text) {
                let message = format!("`{text}` is no candy of another repository");
                self.error(item, message).hint("write `@host/owner/repo/path:ref`");
            }
        }
    }

    fn env(&mut self, node: Node<'_>) {
        let mut named = Vec::new();
        if node.is_mapping() {
            for (key, value) in node.entries() {
                if value.source_text().is_none() {
                    self.is_not(value, "text");
                }
                named.push((key, key.key_text()));
            }
        } else {
            for (item, text) in self.texts(node, false) {
                match text.split_once('=') {
                    Some((name, _)) => named.push((item, name)),
                    None => self.error(item, format!("`{text}` is not KEY=VALUE")).hint("write `KEY=VALUE`"),
                }
            }
        }
        for (node, name) in &named {
            let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if *name == "PATH" {
                self.error(*node, "`PATH` must not be set").hint("list folders under `path_append`");
            } else if name.is_empty() || !name.chars().all(fits) || name.starts_with(|c: char| c.is_ascii_digit()) {
                self.error(*node, format!("`{name}` is no name of a variable"));
            }
        }
        self.unique(&named);
    }

    fn ports(&mut self, node: Node<'_>) {
        for (item, text) in self.texts(node, true) {
            let parts: Vec<&str> = text.split(':').collect();
            let number = |text: &str| text.parse::<u16>().is_ok_and(|port| port > 0);
            let word =
                |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphabetic() || "+-".contains(c));
            let fits = match parts.as_slice() {
                [port] => number(port),
                [before, port] => number(port) && (number(before) || word(before)),
                [address, host, port] => number(port) && number(host) && address.parse::<std::net::IpAddr>().is_ok(),
                _ => false,
            };
            if !fits {
                self.error(item, format!("`{text}` is no port")).hint("write `8080`, `udp:53` or `8080:80`");
            }
        }
    }

    fn volumes(&mut self, node: Node<'_>) {
        let mut named = Vec::new();
        for map in self.maps(node) {
            self.known_keys(map, &["name", "path"]);
            if let Some((node, name)) = self.required(map, "name") {
                let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
                if !name.chars().all(fits) || name.starts_with('-') {
                    let message = format!("`{name}` is no name of a volume");
                    self.error(node, message).hint("lower-case letters, digits and hyphens");
                }
                named.push((node, name));
            }
            let path = self.required(map, "path");
            if let Some((node, path)) = path.filter(|(_, path)| !path.starts_with(['/', '~'])) {
                self.error(node, format!("the path `{path}` of a volume is not absolute"));
            }
        }
        self.unique(&named);
    }

    fn services(&mut self, node: Node<'_>) {
        let mut named = Vec::new();
        for map in self.maps(node) {
            named.extend(self.required(map, "name"));
            match (map.get("exec"), map.entry("use_packaged")) {
                (None, None) => {
                    self.error(map, "a service needs `exec` or `use_packaged`");
                }
                (Some(_), Some((key, _))) => {
                    self.error(key, "a service has `exec` or `use_packaged`, not both");
                }
                (Some(exec), None) => drop(self.text(exec)),
                (None, Some(_)) => {}
            }
        }
        self.unique(&named);
    }

    fn provides(&mut self, node: Node<'_>) {
        let mut named = Vec::new();
        for map in self.maps(node) {
            self.known_keys(map, &["name", "url", "transport", "headers", "tls", "description"]);
            named.extend(self.required(map, "name"));
            if let Some((node, url)) = self.required(map, "url") {
                self.url(node, url);
            }
            if let Some(node) = map.get("transport").filter(|node| !node.is_null()) {
                let text = node.source_text().unwrap_or_default();
                if !TRANSPORTS.contains(&text.to_ascii_lowercase().as_str()) {
                    let message = format!("`{text}` is no transport (expected http or sse)");
                    self.error(node, message).near(text, TRANSPORTS, "use http or sse");
                }
            }
        }
        self.unique(&named);
    }

    fn url(&mut self, node: Node<'_>, url: &str) {
        if !url.starts_with("http://") && !url.starts_with("https://") {
            self.error(node, format!("`{url}` is no http or https address"));
        }
        let mut rest = url;
        while let Some(start) = rest.find("{{") {
            let Some(length) = rest[start..].find("}}") else {
                self.error(node, format!("`{url}` has a template that does not end"));
                return;
            };
            let inner = rest[start + 2..start + length].trim();
            let port = |prefix: &str| inner.strip_prefix(prefix).is_some_and(|port| port.trim().parse::<u16>().is_ok());
            if inner != ".ContainerName" && !port(".HostPort ") && !port(".ContainerPort ") {
                self.error(node, format!("`{{{{{inner}}}}}` is no known template"))
                    .hint("known are {{.ContainerName}}, {{.HostPort N}} and {{.ContainerPort N}}");
            }
            rest = &rest[start + length + 2..];
        }
    }

    fn needs(&mut self, node: Node<'_>) {
        let mut named = Vec::new();
        for map in self.maps(node) {
            self.known_keys(map, &["name", "description", "default"]);
            named.extend(self.required(map, "name"));
        }
        self.unique(&named);
    }

    fn packages(&mut self, node: Node<'_>) {
        if node.is_null() {
            return;
        }
        if !node.is_mapping() {
            let message = format!("`{}` is {}, not a map", self.word, kind(node));
            self.error(node, message).hint("write `packages: [NAME]` below it");
            return;
        }
        self.known_keys(node, &["packages", "package", "repo", "copr", "option", "exclude"]);
        match (node.entry("package"), node.entry("packages")) {
            (Some((one, _)), Some((other, _))) => {
                let message =
                    format!("`package` and `packages` are the same field, also at {}:{}", self.file, other.pos());
                self.error(one, message).hint("keep one of them");
            }
            (Some((_, list)), None) | (None, Some((_, list))) => self.package_names(list),
            (None, None) => {}
        }
    }

    fn package_names(&mut self, node: Node<'_>) {
        for (item, text) in self.texts(node, false) {
            if let Err(message) = names::package(text) {
                self.error(item, message);
            }
        }
    }

    fn distro_packages(&mut self, node: Node<'_>) {
        if !node.is_mapping() {
            if !node.is_null() {
                self.is_not(node, "a map from distribution to packages");
            }
            return;
        }
        for (key, value) in node.entries() {
            if value.is_sequence() {
                self.package_names(value);
            } else if value.is_mapping() {
                for name in ["package", "packages"] {
                    if let Some(list) = value.get(name) {
                        self.package_names(list);
                    }
                }
                if let Some(aur) = value.get("aur") {
                    self.packages(aur);
                }
            } else if !value.is_null() {
                let message = format!("`{}` is {}, not a map with `package`", key.key_text(), kind(value));
                self.error(value, message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pintle_yaml::{Document, Limits};

    fn judged(shape: Shape, text: &str) -> Vec<String> {
        let document = Document::parse(text, Limits::default()).unwrap();
        let mut report = Report::default();
        check(shape, "f", "w", document.root(), &mut report);
        report.errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_shape_takes_what_fits_and_names_what_does_not() {
        let good: &[(Shape, &[&str])] = &[
            (Shape::Text, &["x", "5", "true"]),
            (Shape::Bool, &["true"]),
            (Shape::Id, &["1000", "0"]),
            (Shape::CalVer, &["2026.100.0000"]),
            (Shape::Status, &["working"]),
            (Shape::Base, &["scratch", "quay.io/fedora/fedora:43"]),
            (Shape::Words, &["x", "[x, y]"]),
            (Shape::Formats, &["[rpm, deb]", "rpm"]),
            (Shape::Candies, &["[web, '@github.com/o/r/candy/x:v1']", "[]", ""]),
            (Shape::Env, &["[A=1, B_2=x=y]", "{A: 1, B: ''}"]),
            (Shape::Ports, &["8080", "[8080, 'udp:53', '8080:80', '127.0.0.1:8080:80']"]),
            (Shape::Volumes, &["[{name: data, path: /data}]"]),
            (Shape::Services, &["[{name: a, exec: /bin/a, restart: always}, {name: b, use_packaged: sshd}]"]),
            (
                Shape::Provides,
                &["[{name: a, url: 'http://{{.ContainerName}}:{{.HostPort 80}}/', transport: Streamable-HTTP}]"],
            ),
            (Shape::Needs, &["[{name: a, description: b, default: 1}]"]),
            (Shape::Packages, &["{packages: [a], repo: x}", "{package: }", ""]),
            (Shape::DistroPackages, &["{fedora: {package: [a]}, 'debian,ubuntu': [b], arch: {aur: {package: [c]}}}"]),
        ];
        for (shape, texts) in good {
            for text in *texts {
                assert_eq!(judged(*shape, text), [""; 0], "{shape:?} {text}");
            }
        }
        for (shape, text, message) in [
            (Shape::Text, "", "f:1:1: `w` is empty"),
            (Shape::Text, "[a]", "f:1:1: `w` is a list, not text"),
            (Shape::Bool, "yes", "f:1:1: `w` is text, not `true` or `false`"),
            (Shape::Id, "-1", "f:1:1: `w` is an integer, not a user or group number"),
            (Shape::CalVer, "1.0", "f:1:1: `1.0` is no version"),
            (Shape::Status, "workng", "f:1:1: `workng` is no status"),
            (Shape::Base, "a b", "f:1:1: `a b` is no image reference"),
            (Shape::Formats, "[rmp]", "f:1:2: `rmp` is no package format"),
            (Shape::Candies, "web", "f:1:1: `w` is text, not a list"),
            (Shape::Candies, "['@x']", "f:1:2: `@x` is no candy of another repository"),
            (Shape::Env, "[A]", "f:1:2: `A` is not KEY=VALUE"),
            (Shape::Env, "{PATH: /x}", "f:1:2: `PATH` must not be set"),
            (Shape::Env, "[A=1, A=2]", "f:1:7: `A` is in `w` twice, also at f:1:2"),
            (Shape::Env, "[1A=1]", "f:1:2: `1A` is no name of a variable"),
            (Shape::Ports, "70000", "f:1:1: `70000` is no port"),
            (Shape::Ports, "[0]", "f:1:2: `0` is no port"),
            (Shape::Volumes, "[{name: Data, path: /d}]", "f:1:9: `Data` is no name of a volume"),
            (Shape::Volumes, "[{name: data, path: d}]", "f:1:21: the path `d` of a volume is not absolute"),
            (Shape::Volumes, "[{name: data}]", "f:1:2: an item of `w` has no `path`"),
            (Shape::Volumes, "[x]", "f:1:2: an item of `w` is text, not a map"),
            (Shape::Services, "[{name: a}]", "f:1:2: a service needs `exec` or `use_packaged`"),
            (
                Shape::Services,
                "[{name: a, exec: b, use_packaged: c}]",
                "f:1:21: a service has `exec` or `use_packaged`, not both",
            ),
            (
                Shape::Provides,
                "[{name: a, url: 'http://x', transport: ftp}]",
                "f:1:40: `ftp` is no transport (expected http or sse)",
            ),
            (Shape::Provides, "[{name: a, url: 'http://{{.Host}}/'}]", "f:1:17: `{{.Host}}` is no known template"),
            (Shape::Needs, "[{nam: a}]", "f:1:2: an item of `w` has no `name`"),
            (Shape::Packages, "[a]", "f:1:1: `w` is a list, not a map"),
            (Shape::Packages, "{packages: [--root]}", "f:1:13: `--root` is no package name: it begins with a dash"),
            (
                Shape::Packages,
                "{packages: [], package: []}",
                "f:1:16: `package` and `packages` are the same field, also at f:1:2",
            ),
            (Shape::DistroPackages, "{fedora: x}", "f:1:10: `fedora` is text, not a map with `package`"),
        ] {
            let told = judged(shape, text);
            assert!(told.contains(&message.to_owned()), "{shape:?} {text}: {told:?}");
        }
    }
}
