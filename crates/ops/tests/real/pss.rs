//! Pod Security Standards beside a real server: what our rules say of a pod is what its admission says, in the same
//! order, pod by pod and version by version.
//!
//! Each pod is created with `dryRun=All` in a namespace labelled with the level and version to warn of; the server's
//! words are in the `Warning` header. Our rules judge the object that the server answers with, since defaults are part
//! of what it judged.

mod case;
mod host;
mod kernel;
mod mixes;
mod server;
mod user;
mod volumes;
mod warning;

use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt, stream};
use pintle_ops::rules::pss::{Level, NEWEST, Version, check};
use pintle_testkit::cluster::shared;

use case::Case;
use server::{Judged, Server};

/// Versions between whose neighbours nothing changes are left out; the last is newer than the server.
const MINORS: [u32; 23] =
    [0, 7, 8, 18, 19, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, NEWEST + 60];
/// Requests in flight: the server has few cores to answer with.
const AT_ONCE: usize = 6;

/// Where each control's verdict changes, as the standards say: id, level to look at, minor version.
const CHANGES: [(&str, Level, u32); 20] = [
    ("allowPrivilegeEscalation", Level::Restricted, 8),
    ("allowPrivilegeEscalation", Level::Restricted, 25),
    ("capabilities_baseline", Level::Restricted, 22),
    ("capabilities_restricted", Level::Restricted, 22),
    ("capabilities_restricted", Level::Restricted, 25),
    ("hostProbesAndHostLifecycle", Level::Baseline, 34),
    ("hostProbesAndHostLifecycle", Level::Restricted, 34),
    ("procMount", Level::Baseline, 35),
    ("procMount_restricted", Level::Restricted, 35),
    ("runAsNonRoot", Level::Restricted, 35),
    ("runAsUser", Level::Restricted, 23),
    ("runAsUser", Level::Restricted, 35),
    ("seLinuxOptions", Level::Baseline, 31),
    ("seccompProfile_baseline", Level::Baseline, 19),
    ("seccompProfile_restricted", Level::Restricted, 19),
    ("seccompProfile_restricted", Level::Restricted, 25),
    ("sysctls", Level::Baseline, 27),
    ("sysctls", Level::Baseline, 29),
    ("sysctls", Level::Baseline, 32),
    ("sysctls", Level::Baseline, 37),
];

fn cases() -> Vec<Case> {
    let mut all = host::cases();
    all.extend(kernel::cases());
    all.extend(user::cases());
    all.extend(volumes::cases());
    all.extend(mixes::cases());
    all
}

/// The versions to try a case with: around each change that may concern it, the newest, and one more that differs from
/// case to case, so that every version meets many pods.
fn versions(index: usize, case: &Case) -> Vec<Version> {
    let mut minors: BTreeSet<u32> = case.changes.iter().flat_map(|minor| [minor - 1, *minor]).collect();
    minors.insert(MINORS[index % MINORS.len()]);
    minors.into_iter().map(Version::Minor).chain([Version::Latest]).collect()
}

/// What was compared.
#[derive(Default)]
struct Compared {
    pods: BTreeSet<usize>,
    allowed: usize,
    forbidden: usize,
    versions: BTreeMap<String, usize>,
    /// (control, level, pod) → versions at which it was broken, and all at which the pod was judged.
    broken: BTreeMap<(&'static str, Level, usize), BTreeSet<u32>>,
    judged: BTreeMap<(Level, usize), BTreeSet<u32>>,
    faults: Vec<String>,
}

impl Compared {
    fn add(&mut self, index: usize, case: &Case, level: Level, version: Version, judged: &Judged) {
        let ours = check(&judged.spec, &judged.annotations, level, version);
        let our_reasons: Vec<&str> = ours.iter().map(|v| v.reason.as_str()).collect();
        let their_reasons: Vec<&str> = judged.forbidden.iter().map(|f| f.reason.as_str()).collect();
        let place = format!("{} at {level}:{version}", case.label);
        if our_reasons != their_reasons {
            self.faults.push(format!("{place}: we say {our_reasons:?}, the server {their_reasons:?}"));
        }
        for (ours, theirs) in ours.iter().zip(&judged.forbidden) {
            for name in &theirs.containers {
                if !ours.places.iter().any(|place| place.container.as_ref() == Some(name)) {
                    self.faults.push(format!("{place}: {} in container {name} is not among ours", ours.control));
                }
            }
        }
        self.pods.insert(index);
        *self.versions.entry(version.to_string()).or_default() += 1;
        *(if their_reasons.is_empty() { &mut self.allowed } else { &mut self.forbidden }) += 1;
        if let Version::Minor(minor) = version {
            self.judged.entry((level, index)).or_default().insert(minor);
            for violation in ours {
                self.broken.entry((violation.control, level, index)).or_default().insert(minor);
            }
        }
    }

    /// Whether some pod was judged right before and at a version, and broke the control at one of both alone.
    fn saw(&self, control: &str, level: Level, minor: u32) -> bool {
        self.judged.iter().any(|((l, pod), at)| {
            let is_broken = |m| {
                let key = self.broken.iter().find(|((c, l, p), _)| (*c, *l, p) == (control, level, pod));
                key.is_some_and(|(_, minors)| minors.contains(&m))
            };
            *l == level && at.contains(&(minor - 1)) && at.contains(&minor) && is_broken(minor - 1) != is_broken(minor)
        })
    }
}

#[test]
fn kt_check_security_issues_an_2_2_as_the_server_judges_each_pod() {
    let Some(clusters) = shared() else { return };
    let cases = cases();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let compared = runtime.block_on(async {
        let server = Server::new(clusters, &clusters.contexts()[0]).await;
        let levels = [Level::Baseline, Level::Restricted];
        let minors = MINORS.into_iter().map(Version::Minor).chain([Version::Latest]);
        let spots: Vec<_> = minors.flat_map(|version| levels.map(|level| (level, version))).collect();
        stream::iter(&spots).for_each_concurrent(AT_ONCE, |(level, version)| server.prepare(*level, *version)).await;
        let work = cases.iter().enumerate().flat_map(|(index, case)| {
            let spots = versions(index, case).into_iter().flat_map(|v| levels.map(|level| (level, v)));
            spots.map(move |(level, version)| (index, case, level, version))
        });
        let mut answers = stream::iter(work.collect::<Vec<_>>())
            .map(|(index, case, level, version)| {
                let server = &server;
                async move { (index, case, level, version, server.judge(case, level, version).await) }
            })
            .buffer_unordered(AT_ONCE);
        let mut compared = Compared::default();
        while let Some((index, case, level, version, answer)) = answers.next().await {
            match answer {
                Ok(judged) => compared.add(index, case, level, version, &judged),
                Err(why) => compared.faults.push(format!("{} cannot be tried: {why}", case.label)),
            }
        }
        compared
    });
    summary(&compared);
    let faults: BTreeSet<&String> = compared.faults.iter().collect();
    let first: Vec<&str> = faults.iter().take(60).map(|f| f.as_str()).collect();
    assert!(faults.is_empty(), "{} disagreements:\n{}", faults.len(), first.join("\n"));
    assert!(compared.pods.len() >= 300, "only {} pods", compared.pods.len());
    assert!(compared.allowed >= 300, "only {} allowed", compared.allowed);
    let unseen: Vec<_> =
        CHANGES.iter().filter(|(control, level, minor)| !compared.saw(control, *level, *minor)).collect();
    assert!(unseen.is_empty(), "no pod shows the change of {unseen:?}");
    let controls: BTreeSet<&str> = compared.broken.keys().map(|(control, ..)| *control).collect();
    assert_eq!(controls.len(), 19, "controls that were broken: {controls:?}");
}

#[expect(clippy::print_stdout, reason = "how much was compared is part of the proof")]
fn summary(compared: &Compared) {
    println!(
        "pods compared: {}, verdicts: {} allowed and {} forbidden, versions: {:?}",
        compared.pods.len(),
        compared.allowed,
        compared.forbidden,
        compared.versions
    );
}
