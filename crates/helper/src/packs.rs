//! The packs that may run as root: those that only root can change, and those in this program.

use pintle_packfile::{BUILTIN, Pack, parse, trust::Root};

use crate::refused::Refused;

/// Where whoever runs the machine and packages put packs, each as `NAME.toml`. The first that is there counts, and it counts
/// more than one that is built in: so an operator narrows it. One that does not hold together is not passed over.
const FOLDERS: [&str; 2] = ["/etc/pintle/packs", "/usr/lib/pintle/packs"];
const PACK_LIMIT: u64 = 1024 * 1024;

/// The pack of that name.
pub fn find(name: &str) -> Result<Pack, Refused> {
    let root = Root::system();
    for folder in FOLDERS {
        match root.read(format!("{folder}/{name}.toml"), PACK_LIMIT) {
            Ok(bytes) => return read(name, &String::from_utf8_lossy(&bytes)),
            Err(why) if why.is_missing() => {}
            Err(why) => return Err(why.into()),
        }
    }
    match BUILTIN.iter().find(|(builtin, _)| *builtin == name) {
        Some((_, text)) => read(name, text),
        None => Err(Refused::NoPack(name.to_owned())),
    }
}

fn read(name: &str, text: &str) -> Result<Pack, Refused> {
    let pack = parse(text).map_err(|problems| Refused::Pack { name: name.to_owned(), problems })?;
    if pack.name == name { Ok(pack) } else { Err(Refused::NoPack(name.to_owned())) }
}
