/** What the extension changes of what VS Code and the server say to each other. */

import { Uri, window, workspace } from "vscode";
import type { Middleware } from "vscode-languageclient/node";

import { explain } from "./explain";
import type { Lenses } from "./lenses";
import type { Progresses } from "./progress";
import { showRule } from "./rules";
import type { Server } from "./server";
import { SECTION, serverSettings } from "./settings";
import { VERIFY, verify } from "./verify";

type Handler = (args: unknown[], next: (command: string, args: unknown[]) => unknown) => unknown;

/** languageclient registers the commands of the server; here they get the arguments and the view that VS Code can give. */
export function middleware(server: Server, lenses: Lenses, progresses: Progresses): Middleware {
  const handlers: Readonly<Record<string, Handler>> = {
    "exportlint.applyAutofix": (args, next) => {
      // without a document the server would take all that are open
      const documents = args.length ? args : activeDocument();
      return documents.length ? next("exportlint.applyAutofix", documents) : undefined;
    },
    "exportlint.debugInformation": async (args, next) => {
      const text = await next("exportlint.debugInformation", args.length ? args : activeDocument());
      if (typeof text === "string") {
        await window.showTextDocument(await workspace.openTextDocument({ content: text, language: "plaintext" }));
      }
      return text;
    },
    "exportlint.explain": (args) => explain(server, args[0]),
    "exportlint.showRule": (args) => showRule(server, args[0]),
    [VERIFY]: (args, next) => verify(server, args, next),
  };
  return {
    executeCommand: (command, args: unknown[], next) => {
      const handler = handlers[command];
      return (handler ? handler(args, next) : next(command, args)) as Promise<unknown>;
    },
    handleWorkDoneProgress: progresses.handle,
    provideCodeLenses: async (document, token, next) => lenses.adapt(document.uri, (await next(document, token)) ?? []),
    workspace: {
      configuration: (params, token, next) =>
        Promise.all(
          params.items.map(async (item) => {
            if (item.section === SECTION) {
              return serverSettings(item.scopeUri === undefined ? undefined : Uri.parse(item.scopeUri));
            }
            const answers = await next({ items: [item] }, token);
            return Array.isArray(answers) ? (answers[0] as unknown) : null;
          }),
        ),
    },
  };
}

/** The notebook or file in front, as the arguments of a command. */
function activeDocument(): string[] {
  const notebook = window.activeNotebookEditor?.notebook;
  const document = window.activeTextEditor?.document;
  const uri = notebook?.uri ?? (document?.languageId === "python" ? document.uri : undefined);
  return uri ? [uri.toString()] : [];
}
