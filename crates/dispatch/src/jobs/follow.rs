//! A call that waits for its job: what the job tells is passed on, what it asks is asked, and its answer is the call's.

use super::{
    JobState, Jobs,
    events::Told,
    inbox,
    record::{Kept, Record},
};
use crate::{Catalog, Request};
use pintle_core::{Code, Failure, Notice, OnEof, Outcome, Reply, Stop, View};

/// Why following ended before the job did.
enum Left {
    Cancelled,
    Gone,
}

impl Catalog {
    /// Follows the job until it ends, the client cancels, or the client is gone.
    pub(crate) async fn follow(&self, request: &Request, id: &str) -> Reply {
        let Some(jobs) = self.jobs() else { return Reply::failed(super::unknown(id)) };
        let record = match jobs.find(id, &request.caller) {
            Ok(record) => record,
            Err(failure) => return Reply::failed(failure),
        };
        let mut leave = Leave { jobs, record: &record, armed: record.on_eof == OnEof::Kill };
        let left = tokio::select! {
            reply = passed_on(jobs, &record, request) => {
                leave.armed = false;
                return reply;
            }
            () = request.cancel.cancelled() => Left::Cancelled,
            () = request.gone.cancelled() => Left::Gone,
        };
        // A door that ends cancels what it serves; that is not what a client asked for.
        if matches!(left, Left::Gone) || request.gone.is_cancelled() {
            return started(&record);
        }
        leave.armed = false;
        match jobs.cancel(id, &request.caller).await {
            Ok(_) => result(jobs, &record),
            Err(failure) => Reply::failed(failure),
        }
    }

    /// Tells the door's clients of the job as it goes on without a call.
    pub(crate) fn tell_of(&self, request: &Request, id: &str) {
        let Some(mut watch) = self.jobs().and_then(|jobs| jobs.watch(id, &request.caller).ok()) else { return };
        let events = std::sync::Arc::clone(&request.events);
        let uri = format!("{}{id}", super::URI);
        events.notice(Notice::ResourcesChanged);
        tokio::spawn(async move {
            let mut last = Some(JobState::Working);
            while let Some(status) = watch.next().await {
                if last.replace(status.state) != Some(status.state) {
                    events.notice(Notice::ResourceUpdated(uri.clone()));
                }
            }
        });
    }
}

/// Ends a job that must not outlive its client, however following ended.
struct Leave<'a> {
    jobs: &'a Jobs,
    record: &'a Record,
    armed: bool,
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        if self.armed {
            // Where it cannot be told, it sees for itself that its server is gone.
            let _ = super::cancel::tell(self.jobs, self.record);
        }
    }
}

/// The answer of a call whose job goes on.
pub(crate) fn started_as(tool: &str, id: &str) -> Reply {
    Reply {
        outcome: Outcome::Started,
        view: View::text(format!("{tool} goes on as job {id}; {}{id} tells how it stands", super::URI)),
        job: Some(id.to_owned()),
        ..Reply::default()
    }
}

fn started(record: &Record) -> Reply {
    started_as(&record.tool, &record.id)
}

fn result(jobs: &Jobs, record: &Record) -> Reply {
    let folder = jobs.folder_of(&record.id);
    match Kept::read(&folder) {
        Some(kept) => kept.into_reply(),
        None => match super::status::of(&folder, record) {
            Some(status) if status.state.is_final() => Reply::failed(status.failure()),
            Some(_) => Reply::failed(Failure::new(Code::Io, format!("job {} does not end", record.id))),
            None => Reply::failed(super::unknown(&record.id)),
        },
    }
}

async fn passed_on(jobs: &Jobs, record: &Record, request: &Request) -> Reply {
    let folder = jobs.folder_of(&record.id);
    let mut watch = super::JobWatch::new(folder.clone(), record.clone());
    loop {
        let changed = watch.look();
        // Looked at first, read then: at its end nothing that it told is left out.
        loop {
            let lines = watch.told();
            if lines.is_empty() {
                break;
            }
            for line in lines {
                match line.told {
                    Told::Progress { done, total, message } => request.events.progress(done, total, &message),
                    Told::Log { level, logger, data } => request.events.log(level, &logger, data),
                    Told::Row(row) => request.events.row(row),
                    Told::Gap(_) => {}
                }
            }
        }
        match (changed, watch.state()) {
            (_, None) => return result(jobs, record),
            (_, Some(state)) if state.is_final() => return result(jobs, record),
            (Some(status), Some(JobState::InputRequired)) => {
                let answered = match request.events.ask(status.questions).await {
                    Ok(answers) => inbox::answer(&folder, &record.id, answers),
                    // The client comes again with the answers, and finds the job waiting.
                    Err(Stop::Asked(asked)) => {
                        return Reply {
                            outcome: Outcome::Planned,
                            view: View::text("answers are needed first"),
                            asked,
                            ..Reply::default()
                        };
                    }
                    Err(Stop::Failed(failure)) => inbox::decline(&folder, failure),
                    Err(_) => inbox::decline(&folder, Failure::new(Code::NeedsInput, "the client did not answer")),
                };
                if let Err(failure) = answered {
                    return Reply::failed(failure);
                }
            }
            _ => watch.rest().await,
        }
    }
}
