//! The questions, each from its request to an answer.

use super::{Answer, Unanswered, arguments::Arguments};
use clap::ArgMatches;
use pintle_check::printed;
use pintle_client::{CallOptions, Error, Session};
use pintle_core::{Code, Failure, nearest};
use serde_json::{Value, json};

/// What is asked.
pub(super) enum Ask {
    Probe,
    Tools,
    Call { tool: String, arguments: Arguments },
    Read { uri: String },
    Prompts,
    Prompt { name: String, arguments: Arguments },
}

impl Ask {
    pub(super) fn of(word: &str, matches: &ArgMatches) -> Result<Self, Failure> {
        let text = |id: &str| matches.get_one::<String>(id).cloned();
        Ok(match word {
            "tools" => Self::Tools,
            "call" => Self::Call { tool: text("name").unwrap_or_default(), arguments: Arguments::of(matches)? },
            "read" => Self::Read { uri: text("uri").unwrap_or_default() },
            "prompts" => match text("name") {
                Some(name) => Self::Prompt { name, arguments: Arguments::of(matches)? },
                None if matches.contains_id("json") => {
                    return Err(Failure::new(Code::InvalidArgument, "`--json` needs the name of a prompt"));
                }
                None => Self::Prompts,
            },
            _ => Self::Probe,
        })
    }

    /// Asks.
    ///
    /// # Errors
    /// What went wrong with the server, or with the arguments for it.
    pub(super) async fn put(&self, session: &Session, options: &CallOptions) -> Result<Answer, Unanswered> {
        match self {
            Self::Call { tool, arguments } => call(tool, arguments, session, options).await,
            Self::Read { uri } => Ok(answer("resources/read", session.read_resource(uri, options).await?)),
            Self::Prompt { name, arguments } => {
                let arguments = arguments.texts().map_err(Unanswered::Refused)?;
                Ok(answer("prompts/get", session.get_prompt(name, arguments, options).await?))
            }
            Self::Prompts => Ok(answer("prompts/list", json!({"prompts": session.list_prompts(options).await?}))),
            Self::Tools | Self::Probe => Ok(answer("tools/list", json!({"tools": session.list_tools(options).await?}))),
        }
    }
}

fn answer(request: &str, value: Value) -> Answer {
    Answer { text: printed(request, &value), value, failure: None }
}

async fn call(
    tool: &str,
    arguments: &Arguments,
    session: &Session,
    options: &CallOptions,
) -> Result<Answer, Unanswered> {
    let tools = if arguments.needs_schema() { session.list_tools(options).await? } else { Vec::new() };
    let schema = tools.iter().find(|known| known["name"] == tool).map_or(&Value::Null, |known| &known["inputSchema"]);
    let arguments = arguments.typed(schema).map_err(Unanswered::Refused)?;
    let result = match session.call_tool(tool, arguments, options).await {
        Ok(result) => result,
        Err(error) => return Err(explained(tool, error, session, options).await),
    };
    let failed = result["isError"] == true;
    let mut answer = answer("tools/call", result);
    answer.failure = failed.then(|| Failure::new(Code::Remote, format!("request tools/call: tool \"{tool}\" failed")));
    Ok(answer)
}

/// A refusal of a tool that the server does not list says which one may be meant.
async fn explained(tool: &str, error: Error, session: &Session, options: &CallOptions) -> Unanswered {
    if error.rpc().is_none() {
        return error.into();
    }
    let hint = match session.list_tools(options).await {
        Ok(tools) if tools.iter().all(|known| known["name"] != tool) => {
            let names = tools.iter().filter_map(|known| known["name"].as_str());
            Some(match nearest(tool, names) {
                Some(near) => format!("the server lists no tool `{tool}`; did you mean `{near}`?"),
                None => format!("the server lists no tool `{tool}`; `pintle mcp tools` shows what it lists"),
            })
        }
        // The refusal itself is the news; that the list failed too adds nothing.
        Ok(_) | Err(_) => None,
    };
    Unanswered::Failed { error, hint }
}
