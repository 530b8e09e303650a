//! What a job asks, and the answers: two files in its folder, as whoever answers is another process.

use super::record::{read, write};
use pintle_core::{Code, Failure, InputKind, InputRequest, InputResponse};
use serde::{Deserialize, Serialize};
use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

const QUESTIONS: &str = "questions.json";
const ANSWERS: &str = "answers.json";
/// How long a question waits for its answer.
const PATIENCE: Duration = Duration::from_secs(24 * 3600);
/// How often it is looked for one.
const LOOK: Duration = Duration::from_millis(100);

#[derive(Debug, Default, Serialize, Deserialize)]
struct Answers {
    given: Vec<InputResponse>,
    /// Why there will be none.
    #[serde(default)]
    declined: Option<Failure>,
}

/// What is asked and not answered yet.
pub(super) fn open_questions(folder: &Path) -> Vec<InputRequest> {
    let asked: Vec<InputRequest> = read(&folder.join(QUESTIONS)).unwrap_or_default();
    if asked.is_empty() {
        return asked;
    }
    let answers: Answers = read(&folder.join(ANSWERS)).unwrap_or_default();
    if answers.declined.is_some() {
        return Vec::new();
    }
    asked.into_iter().filter(|question| answers.given.iter().all(|given| given.key != question.key)).collect()
}

/// The questions as one line for people.
pub(super) fn shown(questions: &[InputRequest]) -> String {
    let shown = questions.iter().map(|question| match &question.kind {
        InputKind::Form { message, .. } | InputKind::Url { message, .. } => message.clone(),
        InputKind::Sample(_) => "a completion by the client's model".to_owned(),
        InputKind::Roots => "the client's roots".to_owned(),
    });
    format!("it asks: {}", shown.collect::<Vec<_>>().join("; "))
}

/// Puts answers where the job finds them.
pub(super) fn answer(folder: &Path, id: &str, responses: Vec<InputResponse>) -> Result<(), Failure> {
    let open = open_questions(folder);
    if let Some(stray) = responses.iter().find(|given| open.iter().all(|question| question.key != given.key)) {
        return Err(Failure::new(Code::InvalidArgument, format!("job {id} does not ask for `{}`", stray.key)));
    }
    let mut answers: Answers = read(&folder.join(ANSWERS)).unwrap_or_default();
    answers.given.extend(responses);
    leave(folder, &answers)
}

/// Tells the job that there will be no answer.
pub(super) fn decline(folder: &Path, why: Failure) -> Result<(), Failure> {
    leave(folder, &Answers { declined: Some(why), ..Answers::default() })
}

fn leave(folder: &Path, answers: &Answers) -> Result<(), Failure> {
    write(&folder.join(ANSWERS), answers).map_err(|error| Failure::io("leaving the answers for the job", &error))
}

/// Asks, and waits until everything is answered.
pub(super) async fn ask(folder: &Path, questions: &[InputRequest]) -> Result<Vec<InputResponse>, Failure> {
    forget(folder);
    write(&folder.join(QUESTIONS), &questions)
        .map_err(|error| Failure::io("writing down what the job asks", &error))?;
    let begun = Instant::now();
    let answered = loop {
        let answers: Answers = read(&folder.join(ANSWERS)).unwrap_or_default();
        if let Some(why) = answers.declined {
            break Err(why);
        }
        if questions.iter().all(|question| answers.given.iter().any(|given| given.key == question.key)) {
            break Ok(answers.given);
        }
        if begun.elapsed() > PATIENCE {
            break Err(Failure::new(Code::NeedsInput, "nobody answered what the job asks"));
        }
        tokio::time::sleep(LOOK).await;
    };
    forget(folder);
    answered
}

/// Answers may be secrets: they do not stay.
pub(super) fn forget(folder: &Path) {
    // Where there is nothing there is nothing to forget.
    let _ = fs::remove_file(folder.join(QUESTIONS));
    let _ = fs::remove_file(folder.join(ANSWERS));
}
