/** Says that exportlint was not found or does not work, and helps. */

import { commands, extensions, ProcessExecution, Task, tasks, TaskScope, window, workspace } from "vscode";
import type { Memento } from "vscode";

import type { Command } from "./candidates";
import { missingMessage, passedOverMessage, withoutFixesMessage, type Attempt, type Found, type Missing } from "./messages";
import type { Notifications } from "./notifications";

const INSTALL = "Install";
const CHOOSE = "Choose Interpreter";
const SETTINGS = "Open Settings";
const LOG = "Show Log";
const RESTART = "Restart Server";
const NEVER = "Don't show again";

const HIDDEN = "missing.hidden";
const FIXES_HIDDEN = "withoutFixes.hidden";

/** Whether the user wants no more messages about a missing exportlint. */
export function isHidden(memory: Memento): boolean {
  return memory.get(HIDDEN, false);
}

/** `installed` is called after an installation that worked. */
export async function reportMissing(
  missing: Missing,
  notifications: Notifications,
  memory: Memento,
  cwd: string,
  installed: () => void,
): Promise<void> {
  const python = missing.tried.find(({ answer, python }) => answer.kind === "not-installed" && python)?.python;
  const actions = [...(python ? [INSTALL] : []), CHOOSE, LOG, NEVER];
  switch (await notifications.error(missingMessage(missing), ...actions)) {
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
    case NEVER:
      await memory.update(HIDDEN, true);
      break;
  }
}

/** Says, until the user does not want to hear it again, that the bundled exportlint has no fixes. */
export async function reportWithoutFixes(
  found: Found,
  notifications: Notifications,
  memory: Memento,
  cwd: string,
  installed: () => void,
): Promise<void> {
  const python = found.bundled?.python;
  if (!python || memory.get<boolean>(FIXES_HIDDEN)) {
    return;
  }
  switch (await notifications.error(withoutFixesMessage(found), INSTALL, NEVER)) {
    case INSTALL:
      if (await install(python, cwd)) {
        installed();
      }
      break;
    case NEVER:
      await memory.update(FIXES_HIDDEN, true);
      break;
  }
}

/** Says that a setting names something that cannot be run, and that another exportlint runs instead. */
export async function reportPassedOver(attempt: Attempt, notifications: Notifications): Promise<void> {
  const instead = "The exportlint of the interpreter runs instead.";
  const choice = await notifications.error(`${passedOverMessage(attempt)} ${instead}`, SETTINGS, LOG);
  if (choice === SETTINGS) {
    await commands.executeCommand("workbench.action.openSettings", `exportlint.${attempt.setting ?? ""}`);
  } else if (choice === LOG) {
    await commands.executeCommand("exportlint.showServerLogs");
  }
}

/** Says what is wrong with a server that was found. */
export async function reportBroken(what: string, notifications: Notifications): Promise<void> {
  const choice = await notifications.error(`${what}.`, LOG, RESTART);
  if (choice !== undefined) {
    await commands.executeCommand(choice === LOG ? "exportlint.showServerLogs" : "exportlint.restart");
  }
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
