//! One kubeconfig file, with the place of whatever is wrong in it. Keys that are not known are left alone: cloud
//! tools keep their own.

use super::{ClusterEntry, ContextEntry, Exec, InteractiveMode, Kubeconfig, Material, Origin, UserEntry, twice};
use crate::Impersonation;
use base64::{Engine, engine::general_purpose::STANDARD};
use pintle_core::{Code, Failure, Problem, Secret};
use pintle_yaml::{Document, Limits, Node};
use std::{
    collections::{BTreeMap, btree_map::Entry},
    path::{Path, PathBuf},
};

/// Reads one file's bytes. Relative paths in it start at its folder.
///
/// # Errors
/// Code `invalid` with every problem and its file, line and column.
pub(crate) fn read(bytes: &[u8], file: &Path) -> Result<Kubeconfig, Failure> {
    let document = Document::parse_bytes(bytes, Limits::default()).map_err(|problems| {
        broken(
            file,
            problems.into_iter().map(|p| {
                let problem = Problem::new(p.message).at(file.display().to_string(), p.line, p.column);
                match p.hint {
                    Some(hint) => problem.hint(hint),
                    None => problem,
                }
            }),
        )
    })?;
    let mut reader = Reader { file, problems: Vec::new(), config: Kubeconfig::default() };
    reader.config.files.push(file.to_owned());
    reader.root(document.root());
    if reader.problems.is_empty() { Ok(reader.config) } else { Err(broken(file, reader.problems)) }
}

fn broken(file: &Path, problems: impl IntoIterator<Item = Problem>) -> Failure {
    Failure::new(Code::Invalid, format!("kubeconfig {} cannot be read", file.display()))
        .problems(problems)
        .hint("`kubectl config view` reads the same files")
}

struct Reader<'a> {
    file: &'a Path,
    problems: Vec<Problem>,
    config: Kubeconfig,
}

impl Reader<'_> {
    fn root(&mut self, root: Node<'_>) {
        if root.is_null() {
            return;
        }
        if !root.is_mapping() {
            return self.wrong(root, format!("a kubeconfig is a map, not a {}", root.kind_name()));
        }
        if let Some(kind) = root.get("kind").filter(|kind| !kind.is_null() && kind.as_str() != Some("Config")) {
            self.wrong(kind, "`kind` of a kubeconfig is `Config`".to_owned());
        }
        self.config.current = self.text(root, "current-context");
        let contexts = self.named(root, "contexts", "context", Self::context);
        let clusters = self.named(root, "clusters", "cluster", Self::cluster);
        let users = self.named(root, "users", "user", Self::user);
        (self.config.contexts, self.config.clusters, self.config.users) = (contexts, clusters, users);
    }

    /// A list of `{name, <key>: {…}}`; of two entries with one name the first counts.
    fn named<E>(
        &mut self,
        root: Node<'_>,
        list: &str,
        key: &str,
        read: fn(&mut Self, Node<'_>, Origin) -> E,
    ) -> BTreeMap<String, E> {
        let mut entries = BTreeMap::new();
        let mut places: BTreeMap<String, Origin> = BTreeMap::new();
        for item in self.items(root, list) {
            let Some(name) = self.text(item, "name").filter(|name| !name.is_empty()) else {
                self.wrong(item, format!("an entry of `{list}` has no `name`"));
                continue;
            };
            let origin = self.origin(item);
            match places.entry(name.clone()) {
                Entry::Occupied(first) => {
                    self.config.notes.push(twice(key, &name, first.get(), &origin));
                    continue;
                }
                Entry::Vacant(free) => {
                    free.insert(origin.clone());
                }
            }
            match item.get(key).filter(|body| !body.is_null()) {
                Some(body) if !body.is_mapping() => {
                    self.wrong(body, format!("`{key}` must be a map, not a {}", body.kind_name()));
                }
                // An entry without a body says nothing, as with kubectl.
                Some(body) => {
                    let entry = read(self, body, origin);
                    entries.insert(name, entry);
                }
                None => {
                    let entry = read(self, item.get(key).unwrap_or(item), origin);
                    entries.insert(name, entry);
                }
            }
        }
        entries
    }

    fn context(&mut self, body: Node<'_>, origin: Origin) -> ContextEntry {
        ContextEntry {
            cluster: self.text(body, "cluster").unwrap_or_default(),
            user: self.text(body, "user").unwrap_or_default(),
            namespace: self.text(body, "namespace").filter(|namespace| !namespace.is_empty()),
            origin,
        }
    }

    fn cluster(&mut self, body: Node<'_>, origin: Origin) -> ClusterEntry {
        let exec_extension = self.items(body, "extensions").into_iter().find_map(|item| {
            let is_it = item.get("name").and_then(Node::as_str) == Some("client.authentication.k8s.io/exec");
            item.get("extension").filter(|_| is_it).map(Node::to_json)
        });
        ClusterEntry {
            server: self.text(body, "server").unwrap_or_default(),
            tls_server_name: self.text(body, "tls-server-name").filter(|name| !name.is_empty()),
            insecure_skip_tls_verify: self.boolean(body, "insecure-skip-tls-verify"),
            certificate_authority: self.material(body, "certificate-authority"),
            proxy_url: self.secret(body, "proxy-url", "proxy of the kubeconfig"),
            exec_extension,
            origin,
        }
    }

    fn user(&mut self, body: Node<'_>, origin: Origin) -> UserEntry {
        let token_file = self.text(body, "tokenFile").filter(|file| !file.is_empty()).map(|file| self.absolute(&file));
        let exec = self.map(body, "exec").map(|exec| self.exec(exec));
        let auth_provider = self.map(body, "auth-provider").and_then(|provider| self.text(provider, "name"));
        UserEntry {
            token: self.secret(body, "token", "token of the kubeconfig"),
            token_file,
            username: self.text(body, "username").filter(|name| !name.is_empty()),
            password: self.secret(body, "password", "password of the kubeconfig"),
            client_certificate: self.material(body, "client-certificate"),
            client_key: self.material(body, "client-key"),
            exec,
            impersonate: self.impersonation(body),
            auth_provider,
            origin,
        }
    }

    fn impersonation(&mut self, body: Node<'_>) -> Option<Impersonation> {
        let user = self.text(body, "as").filter(|user| !user.is_empty())?;
        let groups = self.texts(body, "as-groups");
        let uid = self.text(body, "as-uid").filter(|uid| !uid.is_empty());
        let mut extra = BTreeMap::new();
        if let Some(fields) = self.map(body, "as-user-extra") {
            for (key, _) in fields.entries() {
                extra.insert(key.key_text().to_owned(), self.texts(fields, key.key_text()));
            }
        }
        Some(Impersonation { user, groups, uid, extra })
    }

    fn exec(&mut self, body: Node<'_>) -> Exec {
        let command = self.text(body, "command").unwrap_or_default();
        if command.is_empty() {
            self.wrong(body, "`exec` has no `command`".to_owned());
        }
        let command = if command.contains('/') { self.absolute(&command) } else { PathBuf::from(command) };
        let interactive_mode = match self.text(body, "interactiveMode").as_deref() {
            None | Some("" | "IfAvailable") => InteractiveMode::IfAvailable,
            Some("Never") => InteractiveMode::Never,
            Some("Always") => InteractiveMode::Always,
            Some(_) => {
                let place = body.get("interactiveMode").unwrap_or(body);
                self.wrong(place, "`interactiveMode` must be Never, IfAvailable or Always".to_owned());
                InteractiveMode::Never
            }
        };
        let mut env = Vec::new();
        for item in self.items(body, "env") {
            if let Some(name) = self.text(item, "name").filter(|name| !name.is_empty()) {
                let value = self.text(item, "value").unwrap_or_default();
                let secret = Secret::new(format!("{name} of the plug-in"), value);
                env.push((name, secret));
            }
        }
        Exec {
            command,
            args: self.texts(body, "args"),
            env,
            api_version: self.text(body, "apiVersion").unwrap_or_default(),
            install_hint: self.text(body, "installHint").filter(|hint| !hint.is_empty()),
            provide_cluster_info: self.boolean(body, "provideClusterInfo"),
            interactive_mode,
        }
    }

    /// `KEY-data` in base64, else the file `KEY`.
    fn material(&mut self, body: Node<'_>, key: &str) -> Option<Material> {
        let data_key = format!("{key}-data");
        if let Some(text) = self.text(body, &data_key).filter(|text| !text.is_empty()) {
            let packed: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
            return match STANDARD.decode(packed) {
                Ok(bytes) => Some(Material::Data(bytes)),
                Err(_) => {
                    let place = body.get(&data_key).unwrap_or(body);
                    self.wrong(place, format!("`{data_key}` is not base64"));
                    None
                }
            };
        }
        self.text(body, key).filter(|file| !file.is_empty()).map(|file| Material::File(self.absolute(&file)))
    }

    fn absolute(&self, path: &str) -> PathBuf {
        self.file.parent().map_or_else(|| PathBuf::from(path), |folder| folder.join(path))
    }

    fn secret(&mut self, body: Node<'_>, key: &str, name: &str) -> Option<Secret> {
        self.text(body, key).filter(|value| !value.is_empty()).map(|value| Secret::new(name, value))
    }

    /// The text of a scalar; what looks like a number or boolean is taken as written.
    fn text(&mut self, body: Node<'_>, key: &str) -> Option<String> {
        let node = body.get(key).filter(|node| !node.is_null())?;
        match node.source_text() {
            Some(text) => Some(text.to_owned()),
            None => {
                self.wrong(node, format!("`{key}` must be a text, not a {}", node.kind_name()));
                None
            }
        }
    }

    fn boolean(&mut self, body: Node<'_>, key: &str) -> bool {
        let Some(node) = body.get(key).filter(|node| !node.is_null()) else { return false };
        // kubectl reads the booleans of YAML 1.1.
        match node.source_text().map(str::to_ascii_lowercase).as_deref() {
            Some("true" | "yes" | "on" | "y") => true,
            Some("false" | "no" | "off" | "n") => false,
            _ => {
                self.wrong(node, format!("`{key}` must be true or false"));
                false
            }
        }
    }

    fn map<'d>(&mut self, body: Node<'d>, key: &str) -> Option<Node<'d>> {
        let node = body.get(key).filter(|node| !node.is_null())?;
        if !node.is_mapping() {
            self.wrong(node, format!("`{key}` must be a map, not a {}", node.kind_name()));
            return None;
        }
        Some(node)
    }

    fn items<'d>(&mut self, body: Node<'d>, key: &str) -> Vec<Node<'d>> {
        let Some(node) = body.get(key).filter(|node| !node.is_null()) else { return Vec::new() };
        if !node.is_sequence() {
            self.wrong(node, format!("`{key}` must be a list, not a {}", node.kind_name()));
        }
        node.items().collect()
    }

    fn texts(&mut self, body: Node<'_>, key: &str) -> Vec<String> {
        let mut texts = Vec::new();
        for item in self.items(body, key) {
            match item.source_text() {
                Some(text) => texts.push(text.to_owned()),
                None => self.wrong(item, format!("an item of `{key}` must be a text, not a {}", item.kind_name())),
            }
        }
        texts
    }

    fn origin(&self, node: Node<'_>) -> Origin {
        let place = node.pos();
        Origin { file: self.file.to_owned(), line: place.line, column: place.column }
    }

    fn wrong(&mut self, node: Node<'_>, message: String) {
        let place = node.pos();
        self.problems.push(Problem::new(message).at(self.file.display().to_string(), place.line, place.column));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Kubeconfig, Failure> {
        read(text.as_bytes(), Path::new("/k/config"))
    }

    fn problems(text: &str) -> Vec<String> {
        parse(text).unwrap_err().problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn everything_that_kubectl_knows_is_read() {
        let config = parse(
            "apiVersion: v1\nkind: Config\ncurrent-context: a\nunknown: {x: 1}\ncontexts:\n- name: a\n  context: {cluster: c, user: u, namespace: web}\n\
             clusters:\n- name: c\n  cluster:\n    server: https://api:6443\n    tls-server-name: api.example\n    insecure-skip-tls-verify: yes\n    certificate-authority: pki/ca.crt\n    proxy-url: socks5://u:pw@bastion\n    disable-compression: true\n    extensions:\n    - name: client.authentication.k8s.io/exec\n      extension: {audience: x}\n\
             users:\n- name: u\n  user:\n    token: 12345\n    tokenFile: /run/token\n    username: ann\n    password: secret-word\n    client-certificate-data: Y2VydA==\n    client-key: key.pem\n    as: bob\n    as-groups: [g1, g2]\n    as-uid: '7'\n    as-user-extra: {scopes: [view]}\n    exec:\n      apiVersion: client.authentication.k8s.io/v1\n      command: ./bin/login\n      args: [a, b]\n      env: [{name: K, value: V}]\n      interactiveMode: Never\n      provideClusterInfo: true\n      installHint: brew install login\n",
        )
        .unwrap();
        assert_eq!(config.current.as_deref(), Some("a"));
        assert_eq!(config.contexts["a"].namespace.as_deref(), Some("web"));
        assert_eq!(config.contexts["a"].origin.to_string(), "/k/config:6:3");
        let cluster = config.cluster_of("a").unwrap();
        assert!(cluster.insecure_skip_tls_verify, "the booleans of YAML 1.1");
        assert_eq!(cluster.certificate_authority, Some(Material::File("/k/pki/ca.crt".into())), "relative to its file");
        assert_eq!(cluster.exec_extension.as_ref().unwrap()["audience"], "x");
        let user = config.user_of("a").unwrap();
        assert_eq!(user.token.as_ref().unwrap().expose(), "12345", "a number is a text here");
        assert_eq!(user.client_certificate, Some(Material::Data(b"cert".to_vec())));
        assert_eq!(user.client_key, Some(Material::File("/k/key.pem".into())));
        let whom = user.impersonate.as_ref().unwrap();
        assert_eq!((whom.user.as_str(), whom.groups.len(), whom.uid.as_deref()), ("bob", 2, Some("7")));
        let exec = user.exec.as_ref().unwrap();
        assert_eq!(exec.command, PathBuf::from("/k/./bin/login"));
        assert_eq!((exec.interactive_mode, exec.provide_cluster_info), (InteractiveMode::Never, true));
        let shown = format!("{config:?}");
        for secret in ["12345", "secret-word", "u:pw", "\"V\"", "cert\""] {
            assert!(!shown.contains(secret), "{secret} in {shown}");
        }
    }

    #[test]
    fn kw_62_names_are_whatever_people_use() {
        for name in [
            "arn:aws:eks:eu-west-1:123456789012:cluster/prod",
            "admin@kubernetes",
            "gke_project_europe-west1-b_main",
            "default/api-host:6443/kube:admin",
            "Büro Süd – 日本 🚀",
            "[x]*{y}",
            "a\u{1}b",
            "../../etc",
        ] {
            let quoted = serde_json::to_string(name).unwrap();
            let config = parse(&format!("contexts: [{{name: {quoted}, context: {{cluster: c}}}}]\n")).unwrap();
            assert_eq!(config.names().collect::<Vec<_>>(), [name]);
        }
    }

    #[test]
    fn what_is_wrong_has_its_file_line_and_column() {
        let table = [
            ("contexts: [\n", "/k/config:2:1: "),
            ("a: b: c\n", "/k/config:1:5: "),
            ("- x\n", "/k/config:1:1: a kubeconfig is a map, not a list"),
            ("kind: Pod\n", "/k/config:1:7: `kind` of a kubeconfig is `Config`"),
            ("contexts: {a: b}\n", "/k/config:1:11: `contexts` must be a list, not a map"),
            ("contexts:\n- context: {}\n", "/k/config:2:3: an entry of `contexts` has no `name`"),
            ("clusters:\n- name: c\n  cluster: [x]\n", "/k/config:3:12: `cluster` must be a map, not a list"),
            ("clusters:\n- name: c\n  cluster: {server: [x]}\n", "/k/config:3:21: `server` must be a text, not a list"),
            (
                "clusters:\n- name: c\n  cluster:\n    insecure-skip-tls-verify: maybe\n",
                "/k/config:4:31: `insecure-skip-tls-verify` must be true or false",
            ),
            (
                "clusters:\n- name: c\n  cluster: {certificate-authority-data: '%%'}\n",
                "/k/config:3:41: `certificate-authority-data` is not base64",
            ),
            ("users:\n- name: u\n  user: {exec: {}}\n", "/k/config:3:16: `exec` has no `command`"),
            (
                "users:\n- name: u\n  user: {exec: {command: x, interactiveMode: Often}}\n",
                "/k/config:3:46: `interactiveMode` must be Never, IfAvailable or Always",
            ),
        ];
        for (text, wanted) in table {
            let found = problems(text);
            assert!(found[0].starts_with(wanted), "{text}: {found:?}");
        }
        assert!(read(b"current-context: \xff\n", Path::new("/k/config")).unwrap_err().problems[0].line == Some(1));
    }

    #[test]
    fn a_problem_does_not_repeat_a_secret() {
        let text = "users:\n- name: u\n  user:\n    token: &x [hush-hush-hush]\n    client-key-data: hush!hush!hush\n";
        let told = parse(text).unwrap_err().text();
        assert!(told.contains("`token` must be a text") && told.contains("`client-key-data` is not base64"), "{told}");
        assert!(!told.contains("hush"), "{told}");
    }

    #[test]
    fn of_two_entries_with_one_name_the_first_counts_and_that_is_told() {
        let config =
            parse("contexts:\n- name: a\n  context: {cluster: c1}\n- name: a\n  context: {cluster: c2}\n").unwrap();
        assert_eq!(config.contexts["a"].cluster, "c1");
        assert_eq!(config.notes, ["context `a` is at /k/config:2:3 and again at /k/config:4:3; the first counts"]);
    }

    #[test]
    fn nothing_is_an_empty_kubeconfig() {
        for text in ["", "{}", "contexts: null\nclusters: []\n", "---\n"] {
            assert!(parse(text).unwrap().contexts.is_empty());
        }
    }
}
