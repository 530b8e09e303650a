//! `audit verify`

use crate::house::House;
use pintle_core::{Answer, Call, Code, Doors, Failure, Query, Stop, View};
use pintle_dispatch::{AuditBreak, verify_audit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::path::PathBuf;

/// Look whether lines of the audit were changed, taken out or put in.
///
/// Each line carries a digest of itself and of the line before it. Whoever can write the file can also write it anew from the
/// first changed line on: keep the last digest elsewhere to be sure of what came before it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(default)]
#[derive(Default)]
pub(crate) struct VerifyAudit {
    /// The audit; absent: that of the state folder
    #[schemars(extend("x-cli" = {"positional": 1, "value": "FILE"}))]
    file: Option<PathBuf>,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Verified {
    /// The file.
    file: String,
    /// How many lines follow from each other.
    lines: usize,
}

impl Answer for Verified {
    fn view(&self) -> View {
        View::text(format!("{}: {} lines, each follows from the one before it", self.file, self.lines))
    }
}

impl Query for VerifyAudit {
    type Host = House;
    type Answer = Verified;
    const NAME: &'static str = "audit.verify";
    const DOORS: Doors = Doors::People;

    async fn run(self, house: &House, _: &Call) -> Result<Verified, Stop> {
        let own = || house.state.as_ref().map(|state| state.path().join("audit.jsonl"));
        let Some(file) = self.file.or_else(own) else {
            return Err(Failure::new(Code::Unavailable, "there is no state folder, so no audit").into());
        };
        match verify_audit(&file)? {
            Ok(lines) => Ok(Verified { file: file.display().to_string(), lines }),
            Err(AuditBreak(line)) => {
                let what =
                    format!("line {line} of the audit `{}` does not follow from the one before it", file.display());
                let failure =
                    Failure::new(Code::Invalid, what).hint("it, or what stood before it, was changed or taken out");
                Err(Failure { details: Some(Box::new(json!({ "line": line }))), ..failure }.into())
            }
        }
    }
}
