//! Verbs that need something a host alone does not have. They are read and checked like all others; run without what
//! they need, they fail their own step and say what is missing.

use futures::FutureExt;
use futures::future::BoxFuture;
use pintle_yaml::Node;

use super::{Observation, Probe, Read, Scene, Verb};
use crate::model::Keyword;
use crate::model::sink::Sink;

/// Fails its step with what is missing.
#[derive(Debug)]
pub(crate) struct Needs {
    pub(crate) word: String,
    pub(crate) what: String,
}

impl Probe for Needs {
    fn observe<'a>(&'a self, _scene: &'a Scene<'a>) -> BoxFuture<'a, Observation> {
        async move { Observation::failed(format!("{}: needs {}", self.word, self.what)) }.boxed()
    }
}

/// The part of a step that only an agent can do.
pub(crate) fn agent(keyword: Keyword) -> Read {
    Read::new(Needs { word: keyword.word().to_owned(), what: "an agent".to_owned() })
}

/// A verb of this kind.
pub(crate) struct Absent {
    word: &'static str,
    needs: &'static str,
    fields: &'static [&'static str],
    /// Fields without which the step makes no sense.
    required: &'static [&'static str],
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Looks at a system.
    State,
    /// Looks into a box that runs; the value is a method, the fields are its provider's.
    Live,
    /// Does something while a box is built.
    Action,
}

impl Verb for Absent {
    fn word(&self) -> &'static str {
        self.word
    }

    fn fields(&self) -> &'static [&'static str] {
        self.fields
    }

    fn is_live(&self) -> bool {
        self.kind == Kind::Live
    }

    fn is_action(&self) -> bool {
        self.kind == Kind::Action
    }

    fn takes_any_field(&self) -> bool {
        self.kind == Kind::Live
    }

    fn read(&self, value: Node<'_>, body: Node<'_>, sink: &mut Sink<'_>) -> Option<Read> {
        let before = sink.count();
        if self.kind != Kind::Action || !value.is_sequence() {
            sink.word(value, &format!("`{}`", self.word));
        }
        for field in self.required {
            if body.get(field).is_none() {
                sink.wrong(value, format!("{}: requires modifier \"{field}\"", self.word));
            }
        }
        for flag in ["running", "enabled", "installed", "extract", "cache"] {
            if let Some(node) = body.get(flag).filter(|_| self.fields.contains(&flag)) {
                // `extract` and `cache` may also say where to.
                if !matches!(flag, "extract" | "cache") {
                    sink.flag(node, flag);
                }
            }
        }
        if sink.count() > before {
            return None;
        }
        let method = self.is_live().then(|| value.key_text().to_owned());
        let probe = Needs { word: self.word.to_owned(), what: self.needs.to_owned() };
        Some(Read { method, ..Read::new(probe) })
    }
}

const fn state(word: &'static str, needs: &'static str, fields: &'static [&'static str]) -> Absent {
    Absent { word, needs, fields, required: &[], kind: Kind::State }
}

const fn live(word: &'static str, needs: &'static str) -> Absent {
    Absent { word, needs, fields: &[], required: &[], kind: Kind::Live }
}

const fn action(word: &'static str, fields: &'static [&'static str], required: &'static [&'static str]) -> Absent {
    Absent { word, needs: "a box build", fields, required, kind: Kind::Action }
}

pub(crate) const SERVICE: Absent = state("service", "a box with a service manager", &["running", "enabled"]);
pub(crate) const PACKAGE: Absent =
    state("package", "a box with a package manager", &["installed", "version", "package_map"]);
pub(crate) const KUBE: Absent = live("kube", "a cluster provider");
pub(crate) const CDP: Absent = live("cdp", "a running box with a browser");
pub(crate) const WL: Absent = live("wl", "a running box with a Wayland compositor");
pub(crate) const DBUS: Absent = live("dbus", "a running box with a message bus");
pub(crate) const VNC: Absent = live("vnc", "a running box with a VNC server");
pub(crate) const TMUX: Absent = live("tmux", "a running box with tmux");
pub(crate) const RECORD: Absent = live("record", "a running box with a recorder");
pub(crate) const ADB: Absent = live("adb", "an Android device");
pub(crate) const APPIUM: Absent = live("appium", "an Appium server");
pub(crate) const SPICE: Absent = live("spice", "a virtual machine with SPICE");
pub(crate) const LIBVIRT: Absent = live("libvirt", "a libvirt host");
pub(crate) const CMD: Absent = action("cmd", ACTION, &[]);
pub(crate) const MKDIR: Absent = action("mkdir", ACTION, &[]);
pub(crate) const COPY: Absent = action("copy", &["to", "run_as", "mode", "cache", "env"], &["to"]);
pub(crate) const WRITE: Absent = action("write", &["content", "run_as", "mode", "cache", "env"], &["content"]);
pub(crate) const LINK: Absent = action("link", &["target", "run_as", "mode", "cache", "env"], &["target"]);
pub(crate) const DOWNLOAD: Absent = action("download", &["to", "extract", "run_as", "mode", "cache", "env"], &["to"]);
pub(crate) const SETCAP: Absent = action("setcap", &["caps", "run_as", "mode", "cache", "env"], &["caps"]);
pub(crate) const BUILD: Absent = action("build", ACTION, &[]);

const ACTION: &[&str] = &["run_as", "mode", "cache", "env"];
