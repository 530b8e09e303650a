//! Programs that start MCP servers from a file of theirs, as data.
//!
//! Where a client keeps its servers, in which form, and what it asks of an entry: `table.rs`. What an entry of ours then
//! looks like: `shape.rs`.

mod shape;
mod table;

pub(crate) use shape::{EnvForm, Shape};
pub(crate) use table::ALL;

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// JSON; the client refuses comments.
    Json,
    /// JSON with comments and trailing commas.
    Jsonc,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

impl Format {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Jsonc => "jsonc",
            Self::Toml => "toml",
            Self::Yaml => "yaml",
        }
    }
}

/// Where a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// The user's home.
    Home,
    /// `$XDG_CONFIG_HOME`, else `~/.config`.
    Config,
    /// The folder that a variable of the client names, else this one in the home.
    Variable(&'static str, &'static str),
}

/// One file in which a client may keep its servers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) base: Base,
    /// The folder that the client makes for itself, below the base.
    pub(crate) folder: &'static str,
    /// The file, below that folder.
    pub(crate) file: &'static str,
}

/// The files of a project.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProjectFile {
    /// Relative to the project; the first that is there is taken, else the first.
    pub(crate) files: &'static [&'static str],
    /// What an entry there looks like.
    pub(crate) shape: Shape,
    /// What the person has to do before the client starts servers of a project.
    pub(crate) trust: &'static str,
}

/// A program that starts MCP servers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Client {
    /// The word for it.
    pub(crate) id: &'static str,
    /// Its name.
    pub(crate) name: &'static str,
    /// What this row rests on.
    pub(crate) source: &'static str,
    /// When that was looked at.
    pub(crate) date: &'static str,
    /// Its programs.
    pub(crate) programs: &'static [&'static str],
    /// Folders or files that tell that it is here, where those of the candidates do not.
    pub(crate) marks: &'static [(Base, &'static str)],
    /// Its files: the first that is there is taken, else the first whose folder is there, else the first.
    pub(crate) candidates: &'static [Candidate],
    /// Its files in a project, if it has any.
    pub(crate) project: Option<ProjectFile>,
    /// How they are written.
    pub(crate) format: Format,
    /// Keys from the root to the servers.
    pub(crate) key: &'static [&'static str],
    /// What an entry looks like.
    pub(crate) shape: Shape,
    /// How an entry names a variable of the environment without its value.
    pub(crate) env: EnvForm,
    /// Whether names of tools must do without dots. Off only where a run of the real client has shown that it needs not.
    pub(crate) strict_names: bool,
    /// What a new file begins with.
    pub(crate) starter: &'static str,
}

impl Client {
    /// Whether the servers are a list of items with a `name`.
    pub(crate) fn listed(&self) -> bool {
        self.shape == Shape::Continue
    }

    /// The client of that id.
    pub(crate) fn of(id: &str) -> Option<&'static Self> {
        ALL.iter().find(|client| client.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s_18_every_client_of_the_contract_is_there_once_with_source_and_date() {
        let ids: Vec<&str> = ALL.iter().map(|client| client.id).collect();
        let contract = "claude-code, claude-desktop, cursor, zed, vscode, vscode-insiders, vscode-server, codex, gemini, \
                        opencode, copilot-cli, antigravity, roo, cline, windsurf, goose, continue, lm-studio, kiro, amp, junie";
        assert_eq!(ids, contract.split(", ").map(str::trim).collect::<Vec<_>>());
        for client in ALL {
            assert!(!client.source.is_empty() && client.date.parse::<jiff::civil::Date>().is_ok(), "{}", client.id);
            assert!(!client.candidates.is_empty() && !client.key.is_empty(), "{}", client.id);
            let files = client.candidates.iter().map(|candidate| candidate.file);
            for file in files.chain(client.project.iter().flat_map(|project| project.files).copied()) {
                let fits = match client.format {
                    Format::Json | Format::Jsonc => file.ends_with(".json") || file.ends_with(".jsonc"),
                    Format::Toml => file.ends_with(".toml"),
                    Format::Yaml => file.ends_with(".yaml"),
                };
                assert!(fits && !file.starts_with('/'), "{}: {file}", client.id);
            }
        }
    }

    #[test]
    fn eg_005_eg_049_eg_050_eg_051_eg_052_eg_053_eg_054_clients_of_the_seed_are_found_at_its_places_and_at_present_ones()
     {
        let files = |id: &str| -> Vec<String> {
            let client = Client::of(id).unwrap();
            client.candidates.iter().map(|c| format!("{}/{}", c.folder, c.file)).collect()
        };
        assert!(files("antigravity").contains(&"antigravity/mcp.json".to_owned()));
        assert_eq!(files("antigravity")[0], ".gemini/config/mcp_config.json");
        assert_eq!(files("claude-desktop"), ["Claude/claude_desktop_config.json"]);
        assert_eq!(files("cursor"), [".cursor/mcp.json"]);
        assert_eq!(
            (files("zed")[0].as_str(), Client::of("zed").unwrap().key),
            ("zed/settings.json", &["context_servers"][..])
        );
        let roo = files("roo");
        for host in ["Code", "Code - Insiders", "VSCodium", "Cursor"] {
            for file in ["mcp_settings.json", "cline_mcp_settings.json"] {
                let path = format!("{host}/User/globalStorage/rooveterinaryinc.roo-cline/settings/{file}");
                assert!(roo.contains(&path), "{path}");
            }
        }
        let server = ".vscode-server/data/User/globalStorage/rooveterinaryinc.roo-cline/settings";
        assert!(roo.contains(&format!("{server}/mcp_settings.json")));
        assert!(roo.contains(&format!("{server}/cline_mcp_settings.json")));
    }
}
