// A directory for one run of VS Code: its profile, its extensions, and a workspace.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

export const HERE = path.dirname(import.meta.dirname);

/** Where pictures go that nobody asked for by a name. */
export const OUT = path.join(HERE, "out");

const USER = {
  "chat.disableAIFeatures": true,
  "editor.accessibilitySupport": "off",
  "editor.minimap.enabled": false,
  "editor.unicodeHighlight.ambiguousCharacters": false,
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": false,
  "files.autoSave": "off",
  "security.workspace.trust.startupPrompt": "never",
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "window.commandCenter": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
};

/**
 * `settings` are the user's, `machine` those of scope machine or machine-overridable: code-server is a remote VS Code,
 * which reads the latter from a file of their own. The workspace is that of the directories `from` together, with the
 * programs `programs` by their names; with `other`, there is a second folder, of these directories. Where it is not
 * `trusted`, VS Code does not ask about that.
 */
export function makePlace(options) {
  const { settings = {}, machine = {}, from = ["workspace"], other = [], programs = {}, trusted = true } = options;
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "exportlint-vscode-"));
  const write = (file, content) => {
    fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    fs.writeFileSync(path.join(root, file), content);
  };
  write("profile/User/settings.json", JSON.stringify({ ...USER, ...settings }));
  write("profile/Machine/settings.json", JSON.stringify(machine));
  write("config.yaml", "auth: none\n");
  for (const [name, script] of Object.entries(programs)) {
    write(`project/${name}`, `#!/bin/sh\n${script}\n`);
    fs.chmodSync(path.join(root, "project", name), 0o755);
  }
  const fill = (folder, directories) => {
    for (const directory of directories) {
      fs.cpSync(path.join(HERE, directory), folder, { recursive: true });
    }
  };
  const workspace = path.join(root, "project");
  const both = path.join(root, "both.code-workspace");
  fill(workspace, from);
  fill(path.join(root, "other"), other);
  fs.writeFileSync(both, JSON.stringify({ folders: [{ path: "project" }, { path: "other" }] }));
  return {
    root,
    workspace,
    query: other.length ? `workspace=${encodeURIComponent(both)}` : `folder=${encodeURIComponent(workspace)}`,
    flags: trusted ? ["--disable-workspace-trust"] : [],
    arguments: [
      ...["--config", path.join(root, "config.yaml")],
      ...["--user-data-dir", path.join(root, "profile")],
      ...["--extensions-dir", path.join(root, "extensions")],
    ],
    environment: { XDG_CONFIG_HOME: path.join(root, "xdg"), XDG_DATA_HOME: path.join(root, "xdg") },
    remove: () => fs.rmSync(root, { recursive: true, force: true }),
  };
}
