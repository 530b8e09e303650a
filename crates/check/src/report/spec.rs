//! `--report FORMAT[=FILE]`: which reports are wanted, and where they go.

use pintle_core::{Code, Failure, nearest, one_of};
use std::fmt;
use std::path::PathBuf;

/// A format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// For people at a terminal.
    Text,
    /// For programs.
    Json,
    /// Test Anything Protocol, version 14.
    Tap,
    /// JUnit XML, for CI systems.
    Junit,
    /// For the summary page of a CI job.
    Markdown,
    /// One self-contained page.
    Html,
}

impl Format {
    /// Every format, in the order in which help lists them.
    pub const ALL: [Self; 6] = [Self::Text, Self::Json, Self::Tap, Self::Junit, Self::Markdown, Self::Html];

    /// Its word on the command line.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Tap => "tap",
            Self::Junit => "junit",
            Self::Markdown => "markdown",
            Self::Html => "html",
        }
    }

    /// The format of that word.
    ///
    /// # Errors
    /// No format has that word; the error names the nearest.
    pub fn parse(word: &str) -> Result<Self, SpecError> {
        Self::ALL.into_iter().find(|format| format.word() == word).ok_or_else(|| SpecError::UnknownFormat {
            word: word.to_owned(),
            near: nearest(word, Self::ALL.map(Self::word)),
        })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Where a report goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Standard output.
    Stdout,
    /// A file, which is replaced as a whole.
    File(PathBuf),
}

/// One wanted report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// How.
    pub format: Format,
    /// Where.
    pub destination: Destination,
}

impl Spec {
    /// Reads `FORMAT` or `FORMAT=FILE`; without a file, or with `-`, it goes to standard output.
    ///
    /// # Errors
    /// An unknown format, or `FORMAT=` without a file.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let (word, file) = match text.split_once('=') {
            Some((word, file)) => (word, Some(file)),
            None => (text, None),
        };
        let format = Format::parse(word)?;
        let destination = match file {
            None | Some("-") => Destination::Stdout,
            Some("") => return Err(SpecError::NoFile { format }),
            Some(file) => Destination::File(PathBuf::from(file)),
        };
        Ok(Self { format, destination })
    }
}

/// All reports of a run: at most one to standard output, no two to the same file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reports(Vec<Spec>);

impl Default for Reports {
    /// Text to standard output.
    fn default() -> Self {
        Self(vec![Spec { format: Format::Text, destination: Destination::Stdout }])
    }
}

impl Reports {
    /// Reads every `--report`. Where none goes to standard output, text does: a run that says nothing helps nobody.
    ///
    /// # Errors
    /// The first that is wrong by itself or beside the others.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, SpecError> {
        Self::new(texts.into_iter().map(Spec::parse).collect::<Result<_, _>>()?)
    }

    /// These reports, and text to standard output where none goes there.
    ///
    /// # Errors
    /// Two to standard output, or two to one file.
    pub fn new(specs: Vec<Spec>) -> Result<Self, SpecError> {
        let mut all: Vec<Spec> = Vec::with_capacity(specs.len() + 1);
        for spec in specs {
            if let Some(first) = all.iter().find(|known| known.destination == spec.destination) {
                return Err(match spec.destination {
                    Destination::Stdout => SpecError::TwoOnStdout { first: first.format, second: spec.format },
                    Destination::File(path) => SpecError::TwoInFile { first: first.format, second: spec.format, path },
                });
            }
            all.push(spec);
        }
        if !all.iter().any(|spec| spec.destination == Destination::Stdout) {
            all.insert(0, Spec { format: Format::Text, destination: Destination::Stdout });
        }
        Ok(Self(all))
    }

    /// They, in the order given.
    #[must_use]
    pub fn specs(&self) -> &[Spec] {
        &self.0
    }

    /// The format on standard output; whoever draws progress or banners keeps off it.
    #[must_use]
    pub fn on_stdout(&self) -> Option<Format> {
        self.0.iter().find(|spec| spec.destination == Destination::Stdout).map(|spec| spec.format)
    }
}

/// Why a wanted report makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// No such format.
    #[error("unknown report format `{word}`")]
    UnknownFormat {
        /// What was written.
        word: String,
        /// The nearest format, if one is near.
        near: Option<&'static str>,
    },
    /// `FORMAT=` with nothing after it.
    #[error("report `{format}=` names no file")]
    NoFile {
        /// The format.
        format: Format,
    },
    /// Only one can go to standard output.
    #[error("reports `{first}` and `{second}` both go to standard output")]
    TwoOnStdout {
        /// Given first.
        first: Format,
        /// Given later.
        second: Format,
    },
    /// The second would replace the first.
    #[error("reports `{first}` and `{second}` both go to {}", path.display())]
    TwoInFile {
        /// Given first.
        first: Format,
        /// Given later.
        second: Format,
        /// The file.
        path: PathBuf,
    },
}

impl SpecError {
    /// What to do.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::UnknownFormat { near: Some(near), .. } => format!("did you mean `{near}`?"),
            Self::UnknownFormat { near: None, .. } => format!("formats: {}", one_of(Format::ALL.map(Format::word))),
            Self::NoFile { format } => {
                format!("write `{format}=FILE`, or `{format}` for standard output")
            }
            Self::TwoOnStdout { second, .. } => format!("give one of them a file: `{second}=FILE`"),
            Self::TwoInFile { second, .. } => format!("give `{second}` a file of its own"),
        }
    }
}

impl From<SpecError> for Failure {
    fn from(error: SpecError) -> Self {
        Self::new(Code::InvalidArgument, error.to_string()).hint(error.hint())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cw_51_formats_with_and_without_file() {
        for format in Format::ALL {
            assert_eq!(Spec::parse(format.word()), Ok(Spec { format, destination: Destination::Stdout }));
        }
        let file = |path: &str| Destination::File(PathBuf::from(path));
        assert_eq!(Spec::parse("junit=out/a=b.xml").map(|spec| spec.destination), Ok(file("out/a=b.xml")));
        assert_eq!(Spec::parse("json=-").map(|spec| spec.destination), Ok(Destination::Stdout));
    }

    #[test]
    fn cw_51_several_formats_at_once() {
        let reports = Reports::parse(["tap", "junit=a.xml", "html=a.html"]).unwrap();
        assert_eq!(reports.specs().len(), 3);
        assert_eq!(reports.on_stdout(), Some(Format::Tap));
        assert_eq!(Reports::parse(["junit=a.xml"]).unwrap().on_stdout(), Some(Format::Text));
        assert_eq!(Reports::parse([]).unwrap(), Reports::default());
    }

    #[test]
    fn mistakes_are_named_with_a_way_out() {
        let told = |texts: &[&str]| {
            let error = Reports::parse(texts.iter().copied()).unwrap_err();
            format!("{error}; {}", error.hint())
        };
        assert_eq!(told(&["junt=x"]), "unknown report format `junt`; did you mean `junit`?");
        assert_eq!(
            told(&["pdf1234"]),
            "unknown report format `pdf1234`; formats: text, json, tap, junit, markdown or html"
        );
        assert_eq!(told(&["html="]), "report `html=` names no file; write `html=FILE`, or `html` for standard output");
        assert_eq!(
            told(&["text", "json"]),
            "reports `text` and `json` both go to standard output; give one of them a file: `json=FILE`"
        );
        assert_eq!(told(&["tap=x", "json=x"]), "reports `tap` and `json` both go to x; give `json` a file of its own");
        let failure = Failure::from(Spec::parse("xml-").unwrap_err());
        assert_eq!(failure.code.exit().code(), 64);
    }
}
