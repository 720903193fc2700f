//! Tells Zed how to start `exportlint server`. Nothing is downloaded: it belongs to the project's environment.

use zed_extension_api::settings::LspSettings;
use zed_extension_api::{self as zed, serde_json, LanguageServerId, Result, Worktree};

struct Exportlint;

impl zed::Extension for Exportlint {
    fn new() -> Self {
        Self
    }

    fn language_server_command(
        &mut self,
        server: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<zed::Command> {
        let (path, arguments) = LspSettings::for_worktree(server.as_ref(), worktree)?
            .binary
            .map_or((None, None), |binary| (binary.path, binary.arguments));
        let command = path
            .or_else(|| worktree.which("exportlint"))
            .ok_or("exportlint is not on PATH: `pip install exportlint`, or set lsp.exportlint.binary.path")?;
        Ok(zed::Command {
            command,
            args: arguments.unwrap_or_else(|| vec!["server".to_string()]),
            env: worktree.shell_env(),
        })
    }

    fn language_server_initialization_options(
        &mut self,
        server: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<serde_json::Value>> {
        Ok(LspSettings::for_worktree(server.as_ref(), worktree)?.initialization_options)
    }

    fn language_server_workspace_configuration(
        &mut self,
        server: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<serde_json::Value>> {
        let settings = LspSettings::for_worktree(server.as_ref(), worktree)?.settings;
        Ok(settings.map(|settings| serde_json::json!({ "exportlint": settings })))
    }
}

zed::register_extension!(Exportlint);
