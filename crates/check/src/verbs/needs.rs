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
    value: Value,
}

/// What the value of a verb is.
#[derive(Clone, Copy, PartialEq)]
enum Value {
    /// Whatever the verb makes of it.
    Free,
    /// An absolute path in the box.
    InBox,
    /// A path in the folder of the candy.
    InCandy,
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
        if sink.count() == before {
            self.paths(value, body, sink);
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

impl Absent {
    /// Paths lie where the verb needs them.
    fn paths(&self, value: Node<'_>, body: Node<'_>, sink: &mut Sink<'_>) {
        let items = if value.is_sequence() { value.items().collect() } else { vec![value] };
        for item in items {
            match self.value {
                Value::Free => {}
                Value::InBox => in_box(self.word, item, sink),
                Value::InCandy => in_candy(self.word, item, sink),
            }
        }
        if let Some(to) = body.get("to").filter(|_| self.required.contains(&"to")) {
            in_box("to", to, sink);
        }
    }
}

fn has_parent(path: &str) -> bool {
    path.split('/').any(|part| part == "..")
}

fn in_box(what: &str, node: Node<'_>, sink: &mut Sink<'_>) {
    let Some(text) = sink.word(node, &format!("`{what}`")) else { return };
    // What a variable or the home folder stands for is known only in the box.
    let known = !text.starts_with(['~', '$']);
    if known && !text.starts_with('/') || has_parent(&text) {
        sink.wrong(node, format!("{what}: `{text}` is no absolute path without `..`"));
    }
}

fn in_candy(what: &str, node: Node<'_>, sink: &mut Sink<'_>) {
    let Some(text) = sink.word(node, &format!("`{what}`")) else { return };
    if text.starts_with('/') || has_parent(&text) {
        let message = format!("{what}: `{text}` must lie in the folder of the candy");
        sink.wrong_hint(node, message, "give a relative path without `..`");
    }
}

const fn state(word: &'static str, needs: &'static str, fields: &'static [&'static str]) -> Absent {
    Absent { word, needs, fields, required: &[], kind: Kind::State, value: Value::Free }
}

const fn live(word: &'static str, needs: &'static str) -> Absent {
    Absent { word, needs, fields: &[], required: &[], kind: Kind::Live, value: Value::Free }
}

const fn action(
    word: &'static str,
    value: Value,
    fields: &'static [&'static str],
    required: &'static [&'static str],
) -> Absent {
    Absent { word, needs: "a box build", fields, required, kind: Kind::Action, value }
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
pub(crate) const CMD: Absent = action("cmd", Value::Free, RUNNING, &[]);
pub(crate) const MKDIR: Absent = action("mkdir", Value::InBox, RUNNING, &[]);
pub(crate) const COPY: Absent = action("copy", Value::InCandy, &["to", "run_as", "mode", "cache", "env"], &["to"]);
pub(crate) const WRITE: Absent =
    action("write", Value::InBox, &["content", "run_as", "mode", "cache", "env"], &["content"]);
pub(crate) const LINK: Absent =
    action("link", Value::InBox, &["target", "run_as", "mode", "cache", "env"], &["target"]);
pub(crate) const DOWNLOAD: Absent =
    action("download", Value::Free, &["to", "extract", "run_as", "mode", "cache", "env"], &["to"]);
pub(crate) const SETCAP: Absent =
    action("setcap", Value::InBox, &["caps", "run_as", "mode", "cache", "env"], &["caps"]);
pub(crate) const BUILD: Absent = action("build", Value::Free, RUNNING, &[]);

/// What every step that is run while a box is built may say about how.
pub(crate) const RUNNING: &[&str] = &["run_as", "mode", "cache", "env"];
