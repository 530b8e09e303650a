//! Sealed texts: what we gave out and must recognise when it comes back.

use crate::state::{StateFolder, create_private};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use pintle_core::{Code, Failure};
use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sha2::Sha256;
use std::{
    collections::HashMap,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// Seals and opens; each text is good for one purpose, until it expires.
pub(crate) struct Sealer {
    key: [u8; 32],
    /// Where used single-use texts are remembered across processes.
    used_in: Option<PathBuf>,
    used_here: Mutex<HashMap<String, u64>>,
}

#[derive(Serialize, Deserialize)]
struct Sealed<T> {
    /// Purpose.
    p: String,
    /// Expiry, seconds since the epoch; 0 for none.
    e: u64,
    /// Unique.
    n: String,
    /// Body.
    b: T,
}

pub(crate) struct Opened<T> {
    pub(crate) body: T,
    nonce: String,
    expires: u64,
}

impl Sealer {
    /// With the user's key from the state folder, so that another process of the same user knows our texts; with a
    /// key of this process where there is no such folder.
    pub(crate) fn new(state: Option<&StateFolder>) -> Self {
        let kept = state.and_then(|state| Some((user_key(state)?, state.folder("used").ok()?)));
        let (key, used_in) = match kept {
            Some((key, used)) => (key, Some(used)),
            None => (random(), None),
        };
        Self { key, used_in, used_here: Mutex::default() }
    }

    pub(crate) fn seal<T: Serialize>(&self, purpose: &str, valid: Option<Duration>, body: &T) -> String {
        let expires = valid.map_or(0, |valid| now() + valid.as_secs().max(1));
        let sealed = Sealed { p: purpose.to_owned(), e: expires, n: URL_SAFE_NO_PAD.encode(random::<12>()), b: body };
        let payload = URL_SAFE_NO_PAD.encode(serde_json::to_vec(&sealed).unwrap_or_default());
        let tag = URL_SAFE_NO_PAD.encode(self.mac(payload.as_bytes()).finalize().into_bytes());
        format!("{payload}.{tag}")
    }

    pub(crate) fn open<T: DeserializeOwned>(&self, purpose: &str, text: &str) -> Result<Opened<T>, Failure> {
        let not_ours = || Failure::new(Code::BadToken, format!("this {purpose} is not one of ours"));
        let (payload, tag) = text.split_once('.').ok_or_else(not_ours)?;
        let tag = URL_SAFE_NO_PAD.decode(tag).map_err(|_| not_ours())?;
        self.mac(payload.as_bytes()).verify_slice(&tag).map_err(|_| not_ours())?;
        let bytes = URL_SAFE_NO_PAD.decode(payload).map_err(|_| not_ours())?;
        let sealed: Sealed<T> = serde_json::from_slice(&bytes).map_err(|_| not_ours())?;
        if sealed.p != purpose {
            return Err(not_ours());
        }
        if sealed.e != 0 && now() > sealed.e {
            return Err(Failure::new(Code::BadToken, format!("this {purpose} has expired")));
        }
        Ok(Opened { body: sealed.b, nonce: sealed.n, expires: sealed.e })
    }

    /// Marks an opened text as used; fails the second time, also in another process.
    pub(crate) fn spend<T>(&self, purpose: &str, opened: &Opened<T>) -> Result<(), Failure> {
        let used = || Failure::new(Code::BadToken, format!("this {purpose} was used before"));
        if let Some(folder) = &self.used_in {
            forget_expired(folder);
            return match create_private(&folder.join(format!("{}-{}", opened.expires, opened.nonce)), b"") {
                Ok(()) => Ok(()),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Err(used()),
                Err(error) => Err(Failure::io(
                    format!("remembering in `{}` that the {purpose} was used", folder.display()),
                    &error,
                )),
            };
        }
        let mut seen = self.used_here.lock().unwrap_or_else(PoisonError::into_inner);
        let now = now();
        seen.retain(|_, expires| *expires >= now);
        match seen.insert(opened.nonce.clone(), opened.expires) {
            None => Ok(()),
            Some(_) => Err(used()),
        }
    }

    fn mac(&self, bytes: &[u8]) -> Hmac<Sha256> {
        // The hash's block is 64 bytes; HMAC fills a shorter key with zeros just so.
        let mut block = [0; 64];
        block[..32].copy_from_slice(&self.key);
        let mut mac = Hmac::<Sha256>::new(&block.into());
        mac.update(bytes);
        mac
    }
}

fn forget_expired(folder: &std::path::Path) {
    let now = now();
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let expires = name.to_str().and_then(|n| n.split_once('-')).and_then(|(e, _)| e.parse::<u64>().ok());
        if expires.is_some_and(|expires| expires < now) {
            // Another process may be tidying too: whoever comes second finds nothing, which is what we want.
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn user_key(state: &StateFolder) -> Option<[u8; 32]> {
    let folder = state.folder("").ok()?;
    let path = folder.join("key");
    let read = || fs::read(&path).ok().and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
    read().or_else(|| {
        let made: [u8; 32] = random();
        let temporary = path.with_extension(format!("{:x}", u64::from_be_bytes(random())));
        let written = create_private(&temporary, &made).and_then(|()| File::open(&temporary)?.sync_all());
        if written.is_ok() {
            // A hard link is made only if nobody was first; either way the file that is there now is the key.
            let _ = fs::hard_link(&temporary, &path);
            if read().is_none() {
                let _ = mended(&folder, &temporary, &path);
            }
        }
        let _ = fs::remove_file(&temporary);
        read()
    })
}

/// Puts a key in the place of one that is none, as a machine that went down may leave it: what it sealed is lost either
/// way, and with it there nothing that one process seals could be opened by another. One at a time, so that all take the same.
fn mended(folder: &Path, temporary: &Path, path: &Path) -> io::Result<()> {
    let turn = File::open(folder)?;
    rustix::fs::flock(&turn, FlockOperation::LockExclusive)?;
    if fs::metadata(path)?.is_file() && fs::read(path)?.len() != 32 {
        fs::rename(temporary, path)?;
    }
    Ok(())
}

pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    if getrandom::fill(&mut bytes).is_err() {
        // Without randomness nothing may be sealed; a predictable key would open every door.
        std::process::abort();
    }
    bytes
}

pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tampering_other_purposes_expiry_and_second_use_are_refused() {
        let sealer = Sealer::new(None);
        let text = sealer.seal("plan token", Some(Duration::from_secs(60)), &"body");
        let opened = sealer.open::<String>("plan token", &text).unwrap_or_else(|f| panic!("{f}"));
        assert_eq!(opened.body, "body");
        assert!(sealer.spend("plan token", &opened).is_ok());
        assert_eq!(sealer.spend("plan token", &opened).unwrap_err().code, Code::BadToken);
        assert!(sealer.open::<String>("cursor", &text).is_err());
        let mut bytes = text.clone().into_bytes();
        for at in [0, 10, bytes.len() - 2] {
            bytes[at] ^= 1;
            assert!(sealer.open::<String>("plan token", &String::from_utf8_lossy(&bytes)).is_err(), "byte {at}");
            bytes[at] ^= 1;
        }
        assert!(Sealer::new(None).open::<String>("plan token", &text).is_err(), "another key");
        let old = Sealed { p: "cursor".to_owned(), e: 1, n: "n".to_owned(), b: "x" };
        let payload = URL_SAFE_NO_PAD.encode(serde_json::to_vec(&old).unwrap());
        let tag = URL_SAFE_NO_PAD.encode(sealer.mac(payload.as_bytes()).finalize().into_bytes());
        let failure = sealer.open::<String>("cursor", &format!("{payload}.{tag}")).err().unwrap();
        assert!(failure.message.contains("expired"));
    }

    #[test]
    fn another_process_of_the_same_user_knows_our_texts_and_what_was_used() {
        let temp = tempfile::tempdir().unwrap();
        let state = StateFolder::at(temp.path().join("state"));
        let (one, two) = (Sealer::new(Some(&state)), Sealer::new(Some(&state)));
        let text = one.seal("plan token", Some(Duration::from_secs(60)), &1);
        let opened = two.open::<u8>("plan token", &text).unwrap_or_else(|f| panic!("{f}"));
        assert!(two.spend("plan token", &opened).is_ok());
        assert!(one.spend("plan token", &opened).is_err());
    }

    #[test]
    fn a_key_that_is_none_is_replaced_by_one_that_all_processes_know() {
        for broken in [&b""[..], b"short", &[7; 33]] {
            let temp = tempfile::tempdir().unwrap();
            let state = StateFolder::at(temp.path().join("state"));
            fs::write(state.folder("").unwrap().join("key"), broken).unwrap();
            let keys: Vec<[u8; 32]> = std::thread::scope(|scope| {
                let all: Vec<_> = (0..8).map(|_| scope.spawn(|| Sealer::new(Some(&state)).key)).collect();
                all.into_iter().map(|one| one.join().unwrap()).collect()
            });
            assert!(keys.iter().all(|key| *key == keys[0]), "{broken:?}");
            let left: Vec<_> = fs::read_dir(state.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            assert_eq!(left.len(), 2, "only the key and what was used: {left:?}");
        }
    }
}
