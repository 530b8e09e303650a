//! Who we are to a server: headers and certificates, renewed when they change.

use crate::{
    Cause, FleetOptions, Material,
    cluster::{Bounds, off_thread},
    exec::{Granted, Plugin, Plugins},
    profile::Profile,
    source::Stamp,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use http::{HeaderMap, HeaderName, HeaderValue, header::AUTHORIZATION};
use pintle_core::{Call, Secret};
use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// A token file is read again after this time even if it looks the same: a mounted one may be replaced in odd ways.
const REREAD: Duration = Duration::from_secs(60);

/// The credential of one context.
pub(crate) struct Credential {
    options: Arc<FleetOptions>,
    plugin: Option<Arc<Plugin>>,
    file: Mutex<Option<FileToken>>,
}

struct FileToken {
    path: PathBuf,
    stamp: Stamp,
    read: Instant,
    token: Secret,
}

/// A credential as one request uses it.
#[derive(Clone, Default)]
pub(crate) struct Presented {
    /// Value of `Authorization`.
    authorization: Option<HeaderValue>,
    /// What a plug-in gave, so that it can be told that the server refused it.
    granted: Option<Arc<Granted>>,
}

impl Presented {
    /// The certificate that the connection must have been made with; `None` for that of the kubeconfig.
    pub(crate) fn certificate(&self) -> Option<&(Vec<u8>, Secret)> {
        self.granted.as_ref()?.certificate.as_ref()
    }

    pub(crate) fn add_to(&self, headers: &mut HeaderMap) {
        if let Some(value) = &self.authorization {
            headers.insert(AUTHORIZATION, value.clone());
        }
    }
}

impl Credential {
    pub(crate) fn new(profile: &Profile, options: &Arc<FleetOptions>, plugins: &Plugins) -> Self {
        let user = &profile.user;
        // As with kubectl: what is written down is stronger than a plug-in.
        let written = user.token.is_some() || user.token_file.is_some() || user.username.is_some();
        let plugin = user.exec.as_ref().filter(|_| !written).map(|exec| plugins.of(exec, &profile.cluster));
        Self { options: Arc::clone(options), plugin, file: Mutex::default() }
    }

    /// Whether a second try may present something else.
    pub(crate) fn can_renew(&self, profile: &Profile) -> bool {
        self.plugin.is_some() || profile.user.token_file.is_some() || profile.certificate_may_change()
    }

    /// The credential as it is now; `refused` is one that the server did not accept.
    pub(crate) async fn present(
        &self,
        profile: &Profile,
        bounds: &Bounds,
        refused: Option<&Presented>,
    ) -> Result<Presented, Cause> {
        let user = &profile.user;
        if let Some(path) = &user.token_file {
            match self.of_file(path, refused.is_some()).await {
                Ok(token) => return bearer(&known(&bounds.call, &token)),
                Err(cause) if user.token.is_none() => return Err(cause),
                // As with kubectl, the token beside the file is for when there is no file.
                Err(_) => {}
            }
        }
        if let Some(token) = &user.token {
            return bearer(token);
        }
        if let Some(name) = &user.username {
            let password = user.password.as_ref().map(Secret::expose).unwrap_or_default();
            let packed = bounds.call.secret("basic credential", STANDARD.encode(format!("{name}:{password}")));
            return header("Basic", &packed);
        }
        let (Some(plugin), Some(exec)) = (&self.plugin, &user.exec) else { return Ok(Presented::default()) };
        let refused = refused.and_then(|refused| refused.granted.as_ref());
        let granted = plugin.credential(exec, &profile.cluster, &self.options, bounds, refused).await?;
        if let Some((_, key)) = &granted.certificate {
            known(&bounds.call, key);
        }
        let presented = match &granted.token {
            Some(token) => bearer(&known(&bounds.call, token))?,
            None => Presented::default(),
        };
        Ok(Presented { granted: Some(granted), ..presented })
    }

    /// The token in a file, read again when the file looks different, or has not been looked into for a minute.
    async fn of_file(&self, path: &Path, again: bool) -> Result<Secret, Cause> {
        let wanted = path.to_owned();
        let kept = {
            let kept = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            kept.as_ref()
                .filter(|kept| !again && kept.path == wanted && kept.read.elapsed() < REREAD)
                .map(|kept| (kept.stamp, kept.token.clone()))
        };
        let read = off_thread(move || {
            let stamp = Stamp::of(&wanted)?;
            if let Some((known, token)) = kept.filter(|(known, _)| *known == stamp) {
                return Ok((known, token, false));
            }
            let text = std::fs::read_to_string(&wanted)?;
            Ok((stamp, Secret::new("token of the token file", text.trim()), true))
        });
        let result: std::io::Result<(Stamp, Secret, bool)> = read.await?;
        let (stamp, token, fresh) = result.map_err(|error| Cause::BadConfig {
            why: format!("token file {} cannot be read: {error}", path.display()),
            hint: Some("check `tokenFile` in the kubeconfig".to_owned()),
        })?;
        if token.expose().is_empty() {
            return Err(Cause::BadConfig { why: format!("token file {} is empty", path.display()), hint: None });
        }
        if fresh {
            let kept = FileToken { path: path.to_owned(), stamp, read: Instant::now(), token: token.clone() };
            *self.file.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
        }
        Ok(token)
    }
}

/// Makes a secret known to the call's redactor before it is used.
fn known(call: &Call, secret: &Secret) -> Secret {
    call.secret(secret.name(), secret.expose())
}

/// Makes the secrets of the kubeconfig's entries known to the call's redactor.
pub(crate) fn make_known(profile: &Profile, call: &Call) {
    let user = &profile.user;
    // Only with a user and password in it is a proxy's address a secret.
    let proxy = profile.cluster.proxy_url.as_ref().filter(|url| url.expose().contains('@'));
    for secret in [user.token.as_ref(), user.password.as_ref(), proxy].into_iter().flatten() {
        known(call, secret);
    }
    if let Some(Material::Data(key)) = &user.client_key
        && let Ok(text) = std::str::from_utf8(key)
    {
        let _ = call.secret("client key of the kubeconfig", text);
    }
    // The variables of a plug-in are left out: they go to no server, and most are words such as a profile's name, which
    // would be masked wherever they stand.
}

fn bearer(token: &Secret) -> Result<Presented, Cause> {
    header("Bearer", token)
}

fn header(scheme: &str, secret: &Secret) -> Result<Presented, Cause> {
    let mut value = HeaderValue::try_from(format!("{scheme} {}", secret.expose())).map_err(|_| Cause::BadConfig {
        why: format!("{} holds characters that no header can carry", secret.name()),
        hint: Some("look for line ends or blanks in it".to_owned()),
    })?;
    value.set_sensitive(true);
    Ok(Presented { authorization: Some(value), granted: None })
}

/// The headers that make the server let us act as somebody else.
pub(crate) fn impersonate(profile: &Profile, headers: &mut HeaderMap) -> Result<(), Cause> {
    let Some(whom) = &profile.impersonate else { return Ok(()) };
    let mut add = |name: &str, value: &str| {
        let bad = |_: ()| Cause::BadConfig { why: format!("{name} cannot be sent as a header"), hint: None };
        let key = HeaderName::try_from(name).map_err(|_| bad(()))?;
        headers.append(key, HeaderValue::try_from(value).map_err(|_| bad(()))?);
        Ok(())
    };
    add("impersonate-user", &whom.user)?;
    for group in &whom.groups {
        add("impersonate-group", group)?;
    }
    if let Some(uid) = &whom.uid {
        add("impersonate-uid", uid)?;
    }
    for (key, values) in &whom.extra {
        let key = percent_encoding::utf8_percent_encode(key, percent_encoding::NON_ALPHANUMERIC);
        for value in values {
            add(&format!("impersonate-extra-{key}"), value)?;
        }
    }
    Ok(())
}
