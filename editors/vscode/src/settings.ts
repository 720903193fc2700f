/** The settings of section `exportlint`, as the user has them and as the server wants them. */

import { homedir } from "node:os";

import { workspace, type Uri } from "vscode";

import { asCommand, type Command, type CommandKey, type ImportStrategy } from "./candidates";
import { expand, isInFolder } from "./expand";
import { forServer } from "./serverSettings";

export const SECTION = "exportlint";

/** These choose the program that runs: who changes them wants to know whether it does. */
export const PROGRAM_KEYS = ["path", "interpreter", "importStrategy"].map((key) => `${SECTION}.${key}`);

/** A change of these needs another server, or none: a client has to pull all or not from the start. */
export const SERVER_KEYS = [
  ...PROGRAM_KEYS,
  ...["logFile", "workspaceDiagnostics", "enable"].map((key) => `${SECTION}.${key}`),
];

/** Whether there is linting at all for the file or folder `scope`. */
export function isEnabled(scope: Uri | undefined): boolean {
  return workspace.getConfiguration(SECTION, scope).get("enable", true);
}

/** The program that the setting `key` names. What is in a folder that is not trusted is not run, whoever says so. */
export function commandSetting(key: CommandKey, scope: Uri | undefined): Command | undefined {
  const command = asCommand(workspace.getConfiguration(SECTION, scope).get(key));
  if (!command || (!workspace.isTrusted && command.some(isInFolder))) {
    return undefined;
  }
  const replace = replacer(scope);
  const [program, ...rest] = command;
  return [replace(program), ...rest.map(replace)];
}

/** Whose exportlint to run for the folder `scope`. */
export function importStrategy(scope: Uri | undefined): ImportStrategy {
  const value = workspace.getConfiguration(SECTION, scope).get("importStrategy");
  return value === "useBundled" ? value : "fromEnvironment";
}

/** What `workspace/configuration` answers for the file or folder `scope`. */
export function serverSettings(scope: Uri | undefined): Record<string, unknown> {
  const settings = workspace.getConfiguration(undefined, scope).get<Record<string, unknown>>(SECTION, {});
  return forServer(settings, replacer(scope), workspace.isTrusted);
}

/** The flags of the server that name its log: no workspace can set it, and the server takes it from nowhere else. */
export function logFlags(): readonly string[] {
  const file = workspace.getConfiguration(SECTION).inspect<string | null>("logFile")?.globalValue;
  return typeof file === "string" && file ? ["--log-file", replacer(undefined)(file)] : [];
}

function replacer(scope: Uri | undefined): (text: string) => string {
  const folder = (scope && workspace.getWorkspaceFolder(scope)) ?? workspace.workspaceFolders?.[0];
  const around = { home: homedir(), folder: folder?.uri.fsPath, environment: process.env };
  return (text) => expand(text, around);
}
