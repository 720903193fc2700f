/** Finds the exportlint to run. */

import { workspace, type LogOutputChannel } from "vscode";

import { candidates, type Candidate, type Command } from "./candidates";
import type { Environments } from "./environments";
import { probe, type Answer } from "./probe";
import { commandSetting } from "./settings";

export interface Found {
  readonly command: Command;
  readonly version: string;
}

/** What was tried in vain, in that order. */
export interface Missing {
  readonly tried: readonly (Candidate & { readonly answer: Answer })[];
}

/** Environments of folders that are not trusted are not run: they may be part of what was downloaded. */
export async function findExportlint(
  environments: Environments,
  output: LogOutputChannel,
  cwd: string,
): Promise<Found | Missing> {
  const scope = workspace.workspaceFolders?.[0]?.uri;
  const tried = [];
  for (const candidate of candidates({
    path: commandSetting("path", scope),
    interpreter: commandSetting("interpreter", scope),
    environment: workspace.isTrusted ? await environments.interpreter(scope) : undefined,
    windows: process.platform === "win32",
  })) {
    const answer = await probe(candidate.command, cwd);
    output.info(`${candidate.command.join(" ")}: ${describe(answer)}`);
    if (answer.kind === "works") {
      return { command: candidate.command, version: answer.version };
    }
    tried.push({ ...candidate, answer });
  }
  return { tried };
}

export function describe(answer: Answer): string {
  switch (answer.kind) {
    case "works":
      return `exportlint ${answer.version}`;
    case "not-installed":
      return "exportlint is not installed there";
    case "not-found":
      return "no such program";
    case "fails":
      return answer.why;
  }
}
