//! `clients`

use crate::{
    choose::{has_folder, has_program, of_user},
    clients::ALL,
    host::Host,
};
use pintle_core::{Answer, Call, Doors, Query, Stop, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// List the MCP clients that `register` knows, and which of them are here.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct ListClients {
    /// Of this user, by the passwd entry; another one only as root
    user: Vec<String>,
}

/// A client.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Known {
    /// Its word in `--client`.
    id: &'static str,
    /// Its name.
    name: &'static str,
    /// The file that `register` would write.
    path: String,
    /// How that is written.
    format: &'static str,
    /// Where in it the servers are.
    key: String,
    /// Whether its folder or its program is here.
    detected: bool,
    /// What this row rests on.
    source: &'static str,
    /// When that was looked at.
    date: &'static str,
}

/// All of them.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub(crate) struct Listed(Vec<Known>);

impl Answer for Listed {
    fn view(&self) -> View {
        let rows = self.0.iter().map(|known| {
            let here = if known.detected { "yes" } else { "" };
            [known.id, here, known.format, &known.key, &known.path].map(str::to_owned).to_vec()
        });
        View::table(["CLIENT", "HERE", "FORMAT", "KEY", "FILE"], rows.collect::<Vec<_>>())
    }
}

impl Query for ListClients {
    type Host = Host;
    type Answer = Listed;
    const NAME: &'static str = "clients";
    const DOORS: Doors = Doors::People;

    async fn run(self, host: &Host, _: &Call) -> Result<Listed, Stop> {
        let owner = host.owner_of(&self.user)?;
        let known = ALL.iter().map(|client| Known {
            id: client.id,
            name: client.name,
            path: of_user(client, &owner).path.display().to_string(),
            format: client.format.name(),
            key: client.key.join("."),
            detected: has_folder(client, &owner) || has_program(client, &owner),
            source: client.source,
            date: client.date,
        });
        Ok(Listed(known.collect()))
    }
}
