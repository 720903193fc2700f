/** The extension: a client of `exportlint server`. */

import { commands, window, workspace, type ExtensionContext } from "vscode";

import { openExample } from "./example";
import { registerExplanations } from "./explain";
import { registerRulePages } from "./rules";
import { Server } from "./server";
import { PROGRAM_KEYS, SERVER_KEYS } from "./settings";
import { Status } from "./status";
import { tracing } from "./trace";

let server: Server | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
  const output = window.createOutputChannel("exportlint", { log: true });
  const channel = window.createOutputChannel("exportlint trace", { log: true });
  const { trace, end } = tracing(channel);
  const status = new Status();
  const current = new Server(context.extensionPath, output, trace, status, context.globalState);
  server = current;
  context.subscriptions.push(
    output,
    channel,
    end,
    status,
    current,
    registerExplanations(current),
    registerRulePages(current),
    commands.registerCommand("exportlint.restart", () => current.restart()),
    commands.registerCommand("exportlint.showServerLogs", () => {
      output.show();
    }),
    commands.registerCommand("exportlint.getStarted", () =>
      commands.executeCommand("workbench.action.openWalkthrough", `${context.extension.id}#start`),
    ),
    commands.registerCommand("exportlint.openExample", openExample),
    workspace.onDidChangeConfiguration((event) => {
      const affects = (key: string): boolean => event.affectsConfiguration(key);
      if (SERVER_KEYS.some(affects)) {
        void current.refresh(PROGRAM_KEYS.some(affects));
      }
    }),
    workspace.onDidGrantWorkspaceTrust(() => void current.refresh()),
  );
  await current.restart(false);
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}
