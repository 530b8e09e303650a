//! The clients. A row changes when its client does: look at the source again, and write the new date.

use super::{Base, Candidate, Client, EnvForm, Format, ProjectFile, Shape};

const DATE: &str = "2026-11-30";
const CLAUDE_TRUST: &str = "Claude Code asks once before it starts servers of a project";

const fn at(base: Base, folder: &'static str, file: &'static str) -> Candidate {
    Candidate { base, folder, file }
}

const fn project(files: &'static [&'static str], shape: Shape) -> Option<ProjectFile> {
    Some(ProjectFile { files, shape, trust: "" })
}

const fn trusted(files: &'static [&'static str], shape: Shape, trust: &'static str) -> Option<ProjectFile> {
    Some(ProjectFile { files, shape, trust })
}

/// A client of which most rows say the same.
const USUAL: Client = Client {
    id: "",
    name: "",
    source: "",
    date: DATE,
    programs: &[],
    marks: &[],
    candidates: &[],
    project: None,
    format: Format::Json,
    key: &["mcpServers"],
    shape: Shape::Plain,
    env: EnvForm::None,
    strict_names: true,
    starter: "",
};

/// Every client, in the order in which they are listed.
pub(crate) const ALL: &[Client] = &[
    Client {
        id: "claude-code",
        name: "Claude Code",
        source: "runs of the real client; code.claude.com/docs/en/mcp",
        programs: &["claude"],
        marks: &[
            (Base::Variable("CLAUDE_CONFIG_DIR", ".claude"), ""),
            (Base::Variable("CLAUDE_CONFIG_DIR", ""), ".claude.json"),
        ],
        candidates: &[at(Base::Variable("CLAUDE_CONFIG_DIR", ""), "", ".claude.json")],
        project: trusted(&[".mcp.json"], Shape::Typed, CLAUDE_TRUST),
        shape: Shape::Typed,
        env: EnvForm::Env("${NAME}"),
        strict_names: false,
        ..USUAL
    },
    Client {
        id: "claude-desktop",
        name: "Claude Desktop",
        source: "add-mcp 2.4.0, @gleanwork/mcp-config-schema 5.2.0",
        programs: &["claude-desktop"],
        candidates: &[at(Base::Config, "Claude", "claude_desktop_config.json")],
        ..USUAL
    },
    Client {
        id: "cursor",
        name: "Cursor",
        source: "add-mcp 2.4.0, cursor.com/docs/context/mcp",
        programs: &["cursor", "cursor-agent"],
        candidates: &[at(Base::Home, ".cursor", "mcp.json")],
        project: project(&[".cursor/mcp.json"], Shape::Plain),
        env: EnvForm::Env("${env:NAME}"),
        ..USUAL
    },
    Client {
        id: "zed",
        name: "Zed",
        source: "zed.dev/docs/ai/mcp, add-mcp 2.4.0",
        programs: &["zed", "zeditor"],
        candidates: &[at(Base::Config, "zed", "settings.json")],
        project: project(&[".zed/settings.json"], Shape::Zed),
        format: Format::Jsonc,
        key: &["context_servers"],
        shape: Shape::Zed,
        ..USUAL
    },
    Client {
        id: "vscode",
        name: "VS Code",
        source: "code.visualstudio.com/docs/agents/reference/mcp-configuration",
        programs: &["code", "codium"],
        candidates: &[at(Base::Config, "Code/User", "mcp.json"), at(Base::Config, "VSCodium/User", "mcp.json")],
        ..VSCODE
    },
    Client {
        id: "vscode-insiders",
        name: "VS Code Insiders",
        source: "code.visualstudio.com/docs/agents/reference/mcp-configuration",
        programs: &["code-insiders"],
        candidates: &[at(Base::Config, "Code - Insiders/User", "mcp.json")],
        ..VSCODE
    },
    Client {
        id: "vscode-server",
        name: "VS Code Server",
        source: "microsoft/vscode issues 269340 and 324124",
        programs: &[],
        candidates: &[at(Base::Home, ".vscode-server", "data/User/mcp.json")],
        ..VSCODE
    },
    Client {
        id: "codex",
        name: "Codex",
        source: "runs of the real client",
        programs: &["codex"],
        candidates: &[at(Base::Variable("CODEX_HOME", ".codex"), "", "config.toml")],
        project: trusted(&[".codex/config.toml"], Shape::Plain, "Codex reads it in trusted folders only"),
        format: Format::Toml,
        key: &["mcp_servers"],
        env: EnvForm::Names("env_vars"),
        strict_names: false,
        ..USUAL
    },
    Client {
        id: "gemini",
        name: "Gemini CLI",
        source: "runs of the real client",
        programs: &["gemini"],
        candidates: &[at(Base::Home, ".gemini", "settings.json")],
        project: trusted(&[".gemini/settings.json"], Shape::Plain, "Gemini CLI reads it in trusted folders only"),
        format: Format::Jsonc,
        env: EnvForm::Env("$NAME"),
        strict_names: false,
        ..USUAL
    },
    Client {
        id: "opencode",
        name: "OpenCode",
        source: "runs of the real client; opencode.ai/docs/mcp-servers",
        programs: &["opencode"],
        candidates: &[at(Base::Config, "opencode", "opencode.jsonc"), at(Base::Config, "opencode", "opencode.json")],
        project: project(&["opencode.jsonc", "opencode.json"], Shape::OpenCode),
        format: Format::Jsonc,
        key: &["mcp"],
        shape: Shape::OpenCode,
        env: EnvForm::Environment("{env:NAME}"),
        strict_names: false,
        ..USUAL
    },
    Client {
        id: "copilot-cli",
        name: "Copilot CLI",
        source: "runs of the real client; add-mcp 2.4.0",
        programs: &["copilot"],
        candidates: &[at(Base::Variable("COPILOT_HOME", ".copilot"), "", "mcp-config.json")],
        project: trusted(
            &[".mcp.json", ".github/mcp.json"],
            Shape::CopilotShared,
            "Copilot CLI asks whether the folder is trusted",
        ),
        shape: Shape::Copilot,
        env: EnvForm::Env("${NAME}"),
        ..USUAL
    },
    Client {
        id: "antigravity",
        name: "Antigravity",
        source: "@gleanwork/mcp-config-schema 5.2.0, add-mcp 2.4.0; the last path is the one of penguins-eggs",
        programs: &["agy", "antigravity"],
        candidates: &[
            at(Base::Home, ".gemini/config", "mcp_config.json"),
            at(Base::Home, ".gemini/antigravity", "mcp_config.json"),
            at(Base::Config, "antigravity", "mcp.json"),
        ],
        project: project(&[".agents/mcp_config.json"], Shape::Plain),
        ..USUAL
    },
    Client {
        id: "roo",
        name: "Roo Code",
        source: "Roo-Code McpHub.ts (2026-04), install-mcp 1.10.2",
        candidates: ROO,
        project: project(&[".roo/mcp.json"], Shape::Plain),
        env: EnvForm::Env("${env:NAME}"),
        ..USUAL
    },
    Client {
        id: "cline",
        name: "Cline",
        source: "add-mcp 2.4.0, docker/mcp-gateway",
        programs: &["cline"],
        candidates: &[
            at(Base::Config, "Code/User/globalStorage/saoudrizwan.claude-dev", "settings/cline_mcp_settings.json"),
            at(Base::Config, "Cursor/User/globalStorage/saoudrizwan.claude-dev", "settings/cline_mcp_settings.json"),
            at(Base::Home, ".cline", "data/settings/cline_mcp_settings.json"),
        ],
        shape: Shape::Switched,
        ..USUAL
    },
    Client {
        id: "windsurf",
        name: "Windsurf",
        source: "add-mcp 2.4.0, mcporter",
        programs: &["windsurf"],
        candidates: &[
            at(Base::Home, ".codeium/windsurf", "mcp_config.json"),
            at(Base::Home, ".codeium/windsurf-next", "mcp_config.json"),
            at(Base::Home, ".codeium", "mcp_config.json"),
        ],
        env: EnvForm::Env("${env:NAME}"),
        ..USUAL
    },
    Client {
        id: "goose",
        name: "Goose",
        source: "block.github.io/goose, add-mcp 2.4.0",
        programs: &["goose"],
        candidates: &[at(Base::Config, "goose", "config.yaml")],
        project: project(&[".goose/config.yaml"], Shape::Goose),
        format: Format::Yaml,
        key: &["extensions"],
        shape: Shape::Goose,
        env: EnvForm::Names("env_keys"),
        ..USUAL
    },
    Client {
        id: "continue",
        name: "Continue",
        source: "docs.continue.dev, docker/mcp-gateway",
        programs: &["cn"],
        candidates: &[at(Base::Home, ".continue", "config.yaml")],
        // Every file in that folder is read.
        project: project(&[".continue/mcpServers/pintle.yaml"], Shape::Continue),
        format: Format::Yaml,
        shape: Shape::Continue,
        env: EnvForm::Env("${{ secrets.NAME }}"),
        // Without these three the file is none of Continue's.
        starter: "name: Local\nversion: 1.0.0\nschema: v1\n",
        ..USUAL
    },
    Client {
        id: "lm-studio",
        name: "LM Studio",
        source: "lmstudio.ai/docs, docker/mcp-gateway PR 84",
        programs: &["lms"],
        candidates: &[at(Base::Home, ".lmstudio", "mcp.json"), at(Base::Home, ".cache/lm-studio", "mcp.json")],
        ..USUAL
    },
    Client {
        id: "kiro",
        name: "Kiro",
        source: "kiro.dev/docs/mcp/configuration, add-mcp 2.4.0",
        programs: &["kiro", "kiro-cli"],
        candidates: &[at(Base::Home, ".kiro", "settings/mcp.json")],
        project: project(&[".kiro/settings/mcp.json"], Shape::Switched),
        shape: Shape::Switched,
        env: EnvForm::Env("${NAME}"),
        ..USUAL
    },
    Client {
        id: "amp",
        name: "Amp",
        source: "runs of the real client",
        programs: &["amp"],
        candidates: &[at(Base::Home, ".config/amp", "settings.json")],
        project: trusted(&[".amp/settings.json"], Shape::Plain, "run `amp mcp approve` before Amp starts it"),
        key: &["amp.mcpServers"],
        ..USUAL
    },
    Client {
        id: "junie",
        name: "Junie",
        source: "@gleanwork/mcp-config-schema 5.2.0",
        programs: &["junie"],
        candidates: &[at(Base::Home, ".junie", "mcp/mcp.json")],
        project: project(&[".junie/mcp/mcp.json"], Shape::Typed),
        shape: Shape::Typed,
        ..USUAL
    },
];

/// What the builds of VS Code have in common.
const VSCODE: Client = Client {
    project: project(&[".vscode/mcp.json"], Shape::Typed),
    format: Format::Jsonc,
    key: &["servers"],
    shape: Shape::Typed,
    env: EnvForm::Env("${env:NAME}"),
    ..USUAL
};

const fn roo(base: Base, folder: &'static str) -> [Candidate; 2] {
    [at(base, folder, "settings/mcp_settings.json"), at(base, folder, "settings/cline_mcp_settings.json")]
}

/// The extension lies in whichever editor hosts it; its file has had two names.
const ROO: &[Candidate] = &{
    let code = roo(Base::Config, "Code/User/globalStorage/rooveterinaryinc.roo-cline");
    let insiders = roo(Base::Config, "Code - Insiders/User/globalStorage/rooveterinaryinc.roo-cline");
    let codium = roo(Base::Config, "VSCodium/User/globalStorage/rooveterinaryinc.roo-cline");
    let cursor = roo(Base::Config, "Cursor/User/globalStorage/rooveterinaryinc.roo-cline");
    let server = roo(Base::Home, ".vscode-server/data/User/globalStorage/rooveterinaryinc.roo-cline");
    [code[0], code[1], server[0], server[1], insiders[0], insiders[1], codium[0], codium[1], cursor[0], cursor[1]]
};
