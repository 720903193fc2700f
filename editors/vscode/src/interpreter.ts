/** Finds the exportlint to run. */

import path from "node:path";

import { workspace, type LogOutputChannel } from "vscode";

import { candidates } from "./candidates";
import type { Environments } from "./environments";
import { describe, type Attempt, type Found, type Missing } from "./messages";
import { probe } from "./probe";
import { commandSetting, importStrategy } from "./settings";

/** `cwd` is the extension's directory. Environments of folders that are not trusted are not run: they may be part of what was downloaded. */
export async function findExportlint(
  environments: Environments,
  output: LogOutputChannel,
  cwd: string,
): Promise<Found | Missing> {
  const scope = workspace.workspaceFolders?.[0]?.uri;
  const tried: Attempt[] = [];
  for (const candidate of candidates({
    path: commandSetting("path", scope),
    interpreter: commandSetting("interpreter", scope),
    environment: workspace.isTrusted ? await environments.interpreter(scope) : undefined,
    windows: process.platform === "win32",
    strategy: importStrategy(scope),
    bundled: path.join(cwd, "bundled", "run.py"),
  })) {
    const answer = await probe(candidate.command, cwd);
    output.info(`${candidate.command.join(" ")}: ${describe(answer)}`);
    if (answer.kind === "works") {
      const passedOver = tried.find(({ setting }) => setting);
      const { command, python, bundled } = candidate;
      return { command, version: answer.version, passedOver, bundled: bundled ? { python, fixes: answer.fixes } : undefined };
    }
    tried.push({ ...candidate, answer });
  }
  return { tried };
}
