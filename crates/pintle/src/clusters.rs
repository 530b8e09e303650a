//! Which clusters there are and how to reach them: kubectl's inherited flags. They stand before the command, as a
//! command may have an argument of the same name.

use clap::{Arg, ArgAction, ArgMatches, ValueHint};
use pintle_cli::Invocation;
use pintle_core::{Failure, Secret, Spec};
use pintle_fleet::{FleetOptions, Impersonation, Overrides};
use serde::{Deserialize, Serialize};
use std::{path::PathBuf, sync::Arc};

const KUBECONFIG: &str = "kubeconfig";

/// What was said about clusters.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Said(Vec<(String, Vec<String>)>);

/// Name, placeholder, meaning of each flag with a value.
const VALUES: [(&str, &str, &str); 13] = [
    (KUBECONFIG, "FILE", "The kubeconfig, instead of KUBECONFIG and ~/.kube/config"),
    ("context", "NAME", "The current context"),
    ("cluster", "NAME", "The kubeconfig's cluster entry for the current context"),
    ("user", "NAME", "The kubeconfig's user entry for the current context"),
    ("namespace", "NAME", "The default namespace of the current context; in front of a command, its namespace"),
    ("server", "URL", "The API server of the current context"),
    ("token", "TOKEN", "Bearer token for the current context, instead of its credentials"),
    ("as", "USER", "Act as that user in the current context"),
    ("as-group", "GROUP", "Act as that group, too; may be repeated"),
    ("as-uid", "UID", "Act with that user id"),
    ("tls-server-name", "NAME", "Name that the API server's certificate must have"),
    ("certificate-authority", "FILE", "PEM file of who vouches for the API server's certificate"),
    ("request-timeout", "TIME", "For everything that one call asks of one cluster, such as `30s`"),
];

const INSECURE: &str = "insecure-skip-tls-verify";

/// The flags. `short` also makes `-n` and `-s` of them, as kubectl does.
pub(crate) fn flags(short: bool) -> Vec<Arg> {
    let valued = VALUES.map(|(name, value, help)| {
        let action = if name == "as-group" { ArgAction::Append } else { ArgAction::Set };
        let arg = Arg::new(name).long(name).value_name(value).action(action).help(help);
        let arg = if name == KUBECONFIG || name == "certificate-authority" {
            arg.value_hint(ValueHint::FilePath)
        } else {
            arg
        };
        match name {
            "namespace" if short => arg.short('n'),
            "server" if short => arg.short('s'),
            _ => arg,
        }
    });
    let insecure = Arg::new(INSECURE)
        .long(INSECURE)
        .action(ArgAction::SetTrue)
        .help("Do not check the API server's certificate; anybody on the way can then be it");
    valued.into_iter().chain([insecure]).map(|arg| arg.help_heading("Clusters")).collect()
}

impl Said {
    /// From what clap found.
    pub(crate) fn matched(matches: &ArgMatches) -> Self {
        let mut said: Vec<(String, Vec<String>)> = VALUES
            .iter()
            .filter_map(|(name, ..)| {
                let values = matches.get_many::<String>(name)?.cloned().collect();
                Some(((*name).to_owned(), values))
            })
            .collect();
        if matches.get_flag(INSECURE) {
            said.push((INSECURE.to_owned(), Vec::new()));
        }
        Self(said)
    }

    /// Whether something was said that must not be written down.
    pub(crate) fn holds_secret(&self) -> bool {
        !self.all("token").is_empty()
    }

    /// A namespace in front of the command is that of the command, where it takes one and nothing was said behind it.
    pub(crate) fn fill_in<'a>(&self, call: &mut Invocation, specs: impl IntoIterator<Item = &'a Spec>) {
        let spec = specs.into_iter().find(|spec| spec.name == call.tool);
        let takes = spec.is_some_and(|spec| spec.input["properties"].get("namespace").is_some());
        if let Some(namespace) = self.last("namespace").filter(|_| takes) {
            call.arguments.entry("namespace").or_insert_with(|| namespace.into());
        }
    }

    fn last(&self, name: &str) -> Option<String> {
        self.all(name).last().cloned()
    }

    fn all(&self, name: &str) -> &[String] {
        self.0.iter().find(|(known, _)| known == name).map_or(&[], |(_, values)| values)
    }

    /// The host that reaches these clusters. Nothing is read and nobody asked yet.
    ///
    /// # Errors
    /// Code `invalid_argument` for a time that is none, or groups without a user.
    pub(crate) fn host(&self) -> Result<Arc<pintle_ops::Host>, Failure> {
        let mut options = FleetOptions::of_process();
        options.kubeconfig = self.last(KUBECONFIG).map(PathBuf::from);
        if let Some(time) = self.last("request-timeout") {
            options.call_deadline = pintle_cli::duration(&time)
                .map_err(|why| Failure::invalid_argument("--request-timeout", format!("`{time}`: {why}")))?;
            options.connect_deadline = options.connect_deadline.min(options.call_deadline);
        }
        options.overrides = Overrides {
            context: self.last("context"),
            cluster: self.last("cluster"),
            user: self.last("user"),
            namespace: self.last("namespace"),
            server: self.last("server"),
            token: self.last("token").map(|token| Secret::new("--token", token)),
            impersonate: self.impersonation()?,
            tls_server_name: self.last("tls-server-name"),
            certificate_authority: self.last("certificate-authority").map(PathBuf::from),
            insecure_skip_tls_verify: self.0.iter().any(|(name, _)| name == INSECURE),
        };
        Ok(Arc::new(pintle_ops::Host::new(options)))
    }

    fn impersonation(&self) -> Result<Option<Impersonation>, Failure> {
        let (groups, uid) = (self.all("as-group").to_vec(), self.last("as-uid"));
        match self.last("as") {
            Some(user) => Ok(Some(Impersonation { user, groups, uid, ..Impersonation::default() })),
            None if groups.is_empty() && uid.is_none() => Ok(None),
            None => Err(Failure::invalid_argument("--as-group", "needs `--as USER`")),
        }
    }
}
