//! CronJobs: suspended, never started, or without success.

use super::age;
use crate::rules::finding::{Finding, ObjectRef, Severity, age_text, sort};
use jiff::Timestamp;
use k8s_openapi::api::batch::v1::CronJob;

/// A CronJob that has started no job for that long after it was made is told, in seconds.
const FIRST_START: i64 = 26 * 3_600;

/// The controller looks every 10 seconds: with a shorter deadline it may miss every schedule.
const SHORTEST_DEADLINE: i64 = 10;

/// What is wrong with a CronJob, worst first. The schedule itself is not evaluated.
#[must_use]
pub fn examine(cron: &CronJob, now: Timestamp) -> Vec<Finding> {
    let spec = &cron.spec;
    let find = |id, severity, message: String| {
        Finding::new(id, severity, ObjectRef::of("CronJob", &cron.metadata), message)
            .shown_by("spec.schedule", &spec.schedule)
    };
    if spec.suspend == Some(true) {
        return vec![
            find("cronjob/suspended", Severity::Info, "is suspended".to_owned())
                .shown_by("spec.suspend", true)
                .next("set spec.suspend to false when it should run again"),
        ];
    }
    let status = cron.status.as_ref();
    let scheduled = status.and_then(|s| s.last_schedule_time.as_ref());
    let succeeded = status.and_then(|s| s.last_successful_time.as_ref());
    let active = status.and_then(|s| s.active.as_ref()).map_or(0, Vec::len);
    let created = age(cron.metadata.creation_timestamp.as_ref(), now).unwrap_or(0);
    let mut found = Vec::new();
    match (scheduled, succeeded) {
        (None, _) if created > FIRST_START => found.push(
            find(
                "cronjob/never-started",
                Severity::Low,
                format!("has started no job since it was made {} ago", age_text(created)),
            )
            .since(cron.metadata.creation_timestamp.as_ref())
            .next("compare schedule and time zone with what you expect; a rare schedule explains it"),
        ),
        (Some(start), None) if active == 0 => found.push(
            find("cronjob/never-succeeded", Severity::High, "has started jobs, and none has succeeded".to_owned())
                .shown_by("status.lastScheduleTime", crate::rules::finding::Moment::from(start))
                .next("look at its jobs: `find_deployment_issues` tells failed ones"),
        ),
        (Some(start), Some(success)) if active == 0 && success.0 < start.0 => found.push(
            find("cronjob/last-run-failed", Severity::Medium, "its last run has not succeeded".to_owned())
                .shown_by("status.lastScheduleTime", crate::rules::finding::Moment::from(start))
                .shown_by("status.lastSuccessfulTime", crate::rules::finding::Moment::from(success))
                .since(Some(start))
                .next("look at its newest job"),
        ),
        _ => {}
    }
    if spec.starting_deadline_seconds.is_some_and(|s| s < SHORTEST_DEADLINE) {
        found.push(
            find(
                "cronjob/short-deadline",
                Severity::Medium,
                "may never start: its starting deadline is shorter than the controller's period".to_owned(),
            )
            .shown_by_option("spec.startingDeadlineSeconds", spec.starting_deadline_seconds)
            .next("set startingDeadlineSeconds to 10 or more"),
        );
    }
    sort(&mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use serde_json::{Value, json};

    fn cron(spec: Value, status: Value) -> CronJob {
        let mut value = json!({"metadata": {"name": "c", "namespace": "n", "creationTimestamp": ago(200_000)},
            "spec": {"schedule": "0 * * * *", "jobTemplate": {}}, "status": status});
        for (key, v) in spec.as_object().unwrap() {
            value["spec"][key] = v.clone();
        }
        from(value)
    }

    #[test]
    fn an_2_1_cron_jobs_suspended_never_started_and_without_success_are_told() {
        let good = json!({"lastScheduleTime": ago(600), "lastSuccessfulTime": ago(500)});
        assert_eq!(examine(&cron(json!({}), good.clone()), now()), []);
        assert_eq!(ids(&examine(&cron(json!({"suspend": true}), json!({})), now())), ["cronjob/suspended"]);
        assert_eq!(ids(&examine(&cron(json!({}), json!({})), now())), ["cronjob/never-started"]);
        let none = json!({"lastScheduleTime": ago(600)});
        assert_eq!(ids(&examine(&cron(json!({}), none), now())), ["cronjob/never-succeeded"]);
        let last = json!({"lastScheduleTime": ago(600), "lastSuccessfulTime": ago(4_000)});
        assert_eq!(ids(&examine(&cron(json!({}), last), now())), ["cronjob/last-run-failed"]);
        let running =
            json!({"lastScheduleTime": ago(6), "lastSuccessfulTime": ago(4_000), "active": [{"name": "c-1"}]});
        assert_eq!(examine(&cron(json!({}), running), now()), []);
        assert_eq!(
            ids(&examine(&cron(json!({"startingDeadlineSeconds": 5}), good), now())),
            ["cronjob/short-deadline"]
        );
    }
}
