//! Files of the system that a pack is about, which may be another than the one we run on.

use serde_json::Value;
use std::{
    fs,
    io::{self, Read},
    path::{Component, Path, PathBuf},
};

/// Most bytes of one file that are read.
pub(crate) const LARGEST: u64 = 1024 * 1024;

/// Where the system begins: `/`, or the folder that the operator's variable names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Root(Option<PathBuf>);

impl Root {
    /// A system that lies in a folder.
    pub(crate) fn at(folder: impl Into<PathBuf>) -> Self {
        Self(Some(folder.into()))
    }

    /// The folder, unless it is `/`.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.0.as_deref()
    }

    /// Where an absolute path of that system lies here.
    pub(crate) fn real(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        match &self.0 {
            Some(folder) => folder.join(path.strip_prefix("/").unwrap_or(path)),
            None => path.to_owned(),
        }
    }

    /// The folder by both of its names; a program that does not know of another root says the one, its kernel the other.
    pub(crate) fn names_of(&self, path: impl AsRef<Path>) -> Vec<PathBuf> {
        let real = self.real(&path);
        if self.0.is_some() { vec![real, path.as_ref().to_owned()] } else { vec![real] }
    }
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unread {
    /// Reading failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is no regular file: a pipe would hold whoever reads it for ever.
    #[error("it is not a regular file")]
    Special,
    /// It is larger than anything that is meant to be read here.
    #[error("it has {0} bytes; {LARGEST} are read at most")]
    Large(u64),
}

impl Unread {
    /// Whether it is just not there.
    pub(crate) fn is_absent(&self) -> bool {
        matches!(self, Self::Io(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory))
    }
}

/// All bytes of a regular file of bounded size.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Unread> {
    let about = fs::metadata(path)?;
    if !about.is_file() {
        return Err(Unread::Special);
    }
    if about.len() > LARGEST {
        return Err(Unread::Large(about.len()));
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 {
        size if size > LARGEST => Err(Unread::Large(size)),
        _ => Ok(bytes),
    }
}

/// The value at a JSON pointer of the first of these files that has one, with the file. YAML by default, JSON and TOML by
/// their endings. A file that does not parse says nothing.
pub(crate) fn setting(root: &Root, files: &[String], pointer: &str) -> Option<(Value, String)> {
    files.iter().find_map(|file| {
        let text = String::from_utf8(read(&root.real(file)).ok()?).ok()?;
        let value = match Path::new(file).extension().and_then(|ending| ending.to_str()) {
            Some("json") => serde_json::from_str(&text).ok()?,
            Some("toml") => toml::from_str::<Value>(&text).ok()?,
            _ => pintle_yaml::Document::parse(&text, pintle_yaml::Limits::default()).ok()?.to_json(),
        };
        Some((value.pointer(pointer)?.clone(), file.clone()))
    })
}

/// A folder that may be looked into and compared: absolute, without a way up, and not the root itself.
pub(crate) fn is_plain_folder(path: &str) -> bool {
    let path = Path::new(path);
    path.is_absolute()
        && path.components().count() > 1
        && path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use super::*;

    #[test]
    fn eg_038_the_first_file_that_says_it_is_asked_in_each_of_four_forms() {
        let temp = tempfile::tempdir().unwrap();
        let root = Root::at(temp.path());
        fs::create_dir(temp.path().join("etc")).unwrap();
        let files: Vec<String> = ["conf", "yaml", "json", "toml"].map(|ending| format!("/etc/custom.{ending}")).into();
        let ask = || {
            setting(&root, &files, "/remaster/work_dir").map(|(value, file)| (value.as_str().unwrap().to_owned(), file))
        };
        assert_eq!(ask(), None);
        for (ending, text) in [
            ("toml", "[remaster]\nwork_dir = \"/of/toml\"\n"),
            ("json", "{\"remaster\": {\"work_dir\": \"/of/json\"}}"),
            ("yaml", "remaster:\n  work_dir: /of/yaml # here\n"),
        ] {
            fs::write(temp.path().join(format!("etc/custom.{ending}")), text).unwrap();
            assert_eq!(ask(), Some((format!("/of/{ending}"), format!("/etc/custom.{ending}"))));
        }
        // What does not say it, or does not parse, is passed over.
        fs::write(temp.path().join("etc/custom.conf"), "remaster: {user: live}").unwrap();
        fs::write(temp.path().join("etc/custom.yaml"), "remaster: [").unwrap();
        assert_eq!(ask().unwrap().0, "/of/json");
    }

    #[test]
    fn pipes_and_large_files_are_not_read() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("f");
        assert!(read(&file).unwrap_err().is_absent());
        fs::File::create(&file).unwrap().set_len(LARGEST + 1).unwrap();
        assert!(matches!(read(&file), Err(Unread::Large(_))));
        assert!(matches!(read(temp.path()), Err(Unread::Special)));
        let pipe = temp.path().join("p");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
        assert!(matches!(read(&pipe), Err(Unread::Special)), "nobody waits for a writer");
        assert!(is_plain_folder("/home/eggs") && !is_plain_folder("/") && !is_plain_folder("/home/../etc"));
        assert!(!is_plain_folder("home/eggs"));
    }
}
