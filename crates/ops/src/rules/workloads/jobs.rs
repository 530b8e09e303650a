//! Jobs: given up, still trying, or done after all.

use crate::rules::{
    finding::{Finding, ObjectRef, Severity, sort},
    pods::JobState,
    roll_up::controller,
};
use k8s_openapi::api::batch::v1::{Job, JobCondition};
use std::collections::HashMap;

/// How a Job is doing. `SuccessCriteriaMet` and `FailureTarget` come before the final condition and say the same.
#[must_use]
pub fn state(job: &Job) -> JobState {
    if condition(job, "Complete").is_some() || condition(job, "SuccessCriteriaMet").is_some() {
        JobState::Complete
    } else if condition(job, "Failed").is_some() || condition(job, "FailureTarget").is_some() {
        JobState::Failed
    } else {
        JobState::Running
    }
}

fn condition<'a>(job: &'a Job, kind: &str) -> Option<&'a JobCondition> {
    job.status.as_ref()?.conditions.iter().flatten().find(|c| c.type_ == kind && c.status == "True")
}

/// What is wrong with these Jobs, worst first. A Job that failed before a later one of the same CronJob succeeded is
/// history; so are pods that failed before their Job succeeded.
#[must_use]
pub fn examine<J: std::borrow::Borrow<Job>>(jobs: &[J]) -> Vec<Finding> {
    let mut last_success: HashMap<ObjectRef, jiff::Timestamp> = HashMap::new();
    let jobs = || jobs.iter().map(std::borrow::Borrow::borrow);
    for job in jobs().filter(|j| state(j) == JobState::Complete) {
        if let (Some(owner), Some(started)) = (cron_job_of(job), started(job)) {
            let entry = last_success.entry(owner).or_insert(started);
            *entry = started.max(*entry);
        }
    }
    let recovered = |job: &Job| {
        let later = cron_job_of(job).and_then(|owner| last_success.get(&owner).copied());
        later.is_some() && later > started(job)
    };
    let mut found: Vec<Finding> = jobs().filter(|job| !recovered(job)).filter_map(examine_one).collect();
    sort(&mut found);
    found
}

fn started(job: &Job) -> Option<jiff::Timestamp> {
    job.status.as_ref().and_then(|s| s.start_time.as_ref()).or(job.metadata.creation_timestamp.as_ref()).map(|t| t.0)
}

fn cron_job_of(job: &Job) -> Option<ObjectRef> {
    let owner = controller(&job.metadata).filter(|o| o.kind == "CronJob")?;
    Some(ObjectRef { kind: "CronJob".into(), namespace: job.metadata.namespace.clone(), name: owner.name.clone() })
}

fn examine_one(job: &Job) -> Option<Finding> {
    let object = ObjectRef::of("Job", &job.metadata);
    let status = job.status.as_ref()?;
    let failed = status.failed.unwrap_or(0);
    match state(job) {
        JobState::Complete => None,
        JobState::Failed => {
            let condition = condition(job, "Failed").or_else(|| condition(job, "FailureTarget"))?;
            let (words, next) = why(condition.reason.as_deref().unwrap_or(""));
            Some(
                Finding::new("job/failed", Severity::High, object, words)
                    .shown_by_option("status.conditions[Failed].reason", condition.reason.as_deref())
                    .shown_by_option("status.conditions[Failed].message", condition.message.as_deref())
                    .shown_by("status.failed", failed)
                    .since(condition.last_transition_time.as_ref())
                    .next(next),
            )
        }
        JobState::Running if job.spec.as_ref().and_then(|s| s.suspend) == Some(true) => None,
        JobState::Running if failed > 0 => {
            let limit = job.spec.as_ref().and_then(|s| s.backoff_limit).unwrap_or(6);
            Some(
                Finding::new("job/retrying", Severity::Low, object, format!("tries again after {failed} failed pods"))
                    .shown_by("status.failed", failed)
                    .shown_by("spec.backoffLimit", limit)
                    .since(status.start_time.as_ref())
                    .next("read the log of a failed pod before the retries are used up"),
            )
        }
        JobState::Running => None,
    }
}

fn why(reason: &str) -> (&'static str, &'static str) {
    match reason {
        "BackoffLimitExceeded" => ("gave up after its retries", "read the log of its last pod; then run it anew"),
        "DeadlineExceeded" => {
            ("ran longer than its activeDeadlineSeconds", "raise activeDeadlineSeconds, or find out what takes so long")
        }
        "PodFailurePolicy" => ("failed by its pod failure policy", "the message names the rule and the exit code"),
        "MaxFailedIndexesExceeded" | "FailedIndexes" => {
            ("has too many failed indexes", "status.failedIndexes names them")
        }
        _ => ("failed", "read the log of its last pod; then run it anew"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use serde_json::{Value, json};

    fn job(name: &str, started: i64, owner: Option<&str>, status: Value) -> Job {
        let mut value =
            json!({"metadata": {"name": name, "namespace": "n"}, "spec": {"template": {}}, "status": status});
        value["status"]["startTime"] = json!(ago(started));
        if let Some(owner) = owner {
            value["metadata"]["ownerReferences"] =
                json!([{"apiVersion": "batch/v1", "kind": "CronJob", "name": owner, "uid": "1", "controller": true}]);
        }
        from(value)
    }

    fn complete(failed: i32) -> Value {
        json!({"succeeded": 1, "failed": failed, "conditions": [{"type": "Complete", "status": "True"}]})
    }

    fn failed(reason: &str) -> Value {
        json!({"failed": 7, "conditions": [{"type": "Failed", "status": "True", "reason": reason}]})
    }

    #[test]
    fn an_1_5_job_that_was_retried_and_succeeded_is_fine_and_one_that_gave_up_is_found() {
        assert_eq!(examine(&[job("a", 60, None, complete(3))]), []);
        for reason in ["BackoffLimitExceeded", "DeadlineExceeded", "PodFailurePolicy", "MaxFailedIndexesExceeded", ""] {
            assert_eq!(ids(&examine(&[job("a", 60, None, failed(reason))])), ["job/failed"], "{reason}");
        }
    }

    #[test]
    fn an_2_1_a_later_success_of_the_same_cron_job_makes_an_older_failure_history() {
        let old = job("c-1", 7_200, Some("c"), failed("BackoffLimitExceeded"));
        let good = job("c-2", 3_600, Some("c"), complete(0));
        assert_eq!(examine(&[old.clone(), good.clone()]), []);
        let new = job("c-3", 60, Some("c"), failed("BackoffLimitExceeded"));
        let found = examine(&[old.clone(), good.clone(), new]);
        assert_eq!((found.len(), found[0].object.name.as_str()), (1, "c-3"));
        let other = job("d-1", 7_200, Some("d"), failed("BackoffLimitExceeded"));
        assert_eq!(examine(&[other, good]).len(), 1, "another CronJob's success says nothing");
    }

    #[test]
    fn an_2_1_retries_are_told_mildly_and_suspended_jobs_not_at_all() {
        let retrying = job("a", 60, None, json!({"failed": 2, "active": 1}));
        assert_eq!(examine(std::slice::from_ref(&retrying))[0].severity, Severity::Low);
        let mut suspended = retrying;
        suspended.spec.as_mut().unwrap().suspend = Some(true);
        assert_eq!(examine(&[suspended]), []);
        assert_eq!(examine(&[Job::default()]), []);
    }

    #[test]
    fn jobs_on_their_way_to_an_end_are_taken_for_ended() {
        let status = |kind: &str| json!({"conditions": [{"type": kind, "status": "True"}]});
        assert_eq!(state(&job("a", 1, None, status("SuccessCriteriaMet"))), JobState::Complete);
        assert_eq!(state(&job("a", 1, None, status("FailureTarget"))), JobState::Failed);
        assert_eq!(state(&job("a", 1, None, json!({}))), JobState::Running);
    }
}
