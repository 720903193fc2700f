/** Says that exportlint was not found or does not work, and helps. */

import { commands, extensions, ProcessExecution, Task, tasks, TaskScope, window, workspace } from "vscode";

import type { Command } from "./candidates";
import { describe, type Missing } from "./interpreter";
import type { Notifications } from "./notifications";

const INSTALL = "Install";
const CHOOSE = "Choose Interpreter";
const LOG = "Show Log";
const RESTART = "Restart Server";

/** `installed` is called after an installation that worked. */
export async function reportMissing(
  missing: Missing,
  notifications: Notifications,
  cwd: string,
  installed: () => void,
): Promise<void> {
  const python = missing.tried.find(({ answer }) => answer.kind === "not-installed")?.python;
  const choice = await notifications.error(message(missing), ...(python ? [INSTALL] : []), CHOOSE, LOG);
  switch (choice) {
    case INSTALL:
      if (python && (await install(python, cwd))) {
        installed();
      }
      break;
    case CHOOSE:
      await chooseInterpreter();
      break;
    case LOG:
      await commands.executeCommand("exportlint.showServerLogs");
      break;
  }
}

/** Says what is wrong with a server that was found. */
export async function reportBroken(what: string, notifications: Notifications): Promise<void> {
  const choice = await notifications.error(`${what}.`, LOG, RESTART);
  if (choice !== undefined) {
    await commands.executeCommand(choice === LOG ? "exportlint.showServerLogs" : "exportlint.restart");
  }
}

export function message({ tried }: Missing): string {
  const absent = tried.find(({ answer }) => answer.kind === "not-installed");
  if (absent?.python) {
    return `exportlint is not installed for ${absent.python.join(" ")}.`;
  }
  const attempts = tried.map(({ command, answer }) => `\`${command.join(" ")}\`: ${describe(answer)}`);
  return `exportlint was not found. ${attempts.join("; ")}.`;
}

/** Run pip in a terminal, where its output and questions can be seen; true if it succeeds. */
async function install(python: Command, cwd: string): Promise<boolean> {
  const [program, ...rest] = python;
  const task = new Task(
    { type: "exportlint.install" },
    workspace.workspaceFolders?.[0] ?? TaskScope.Global,
    "Install exportlint",
    "exportlint",
    new ProcessExecution(program, [...rest, "-m", "pip", "install", "exportlint"], { cwd }),
  );
  const execution = await tasks.executeTask(task);
  return new Promise((resolve) => {
    const subscription = tasks.onDidEndTaskProcess((event) => {
      if (event.execution === execution) {
        subscription.dispose();
        resolve(event.exitCode === 0);
      }
    });
  });
}

async function chooseInterpreter(): Promise<void> {
  if (extensions.getExtension("ms-python.python")) {
    await commands.executeCommand("python.setInterpreter");
    return;
  }
  const chosen = await window.showOpenDialog({ title: "The Python that has exportlint", canSelectMany: false });
  if (chosen?.[0]) {
    await workspace.getConfiguration("exportlint").update("interpreter", [chosen[0].fsPath], !workspace.workspaceFolders);
  }
}
