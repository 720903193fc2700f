/** What an error of torch.export is, as a Markdown preview; tracebacks in the terminal link to it. */

import { commands, Disposable, env, EventEmitter, TerminalLink, Uri, window, workspace } from "vscode";

import type { Server } from "./server";

const SCHEME = "exportlint-explanation";
const PAGE = Uri.from({ scheme: SCHEME, path: "Explanation.md" });
const ERROR = /\b(?:GuardOnDataDependentSymNode|torch\.(?:_dynamo|_subclasses|export|_export|onnx)[\w.]*(?:Error|Exception|Unsupported)\b).*/;

let explanation = "";
const changed = new EventEmitter<Uri>();

class ErrorLink extends TerminalLink {
  constructor(
    start: number,
    readonly error: string,
  ) {
    super(start, error.length, "Explain with exportlint");
  }
}

/** Serves the page, and links the last lines of tracebacks in terminals. */
export function registerExplanations(server: Server): Disposable {
  return Disposable.from(
    changed,
    workspace.registerTextDocumentContentProvider(SCHEME, {
      onDidChange: changed.event,
      provideTextDocumentContent: () => explanation,
    }),
    window.registerTerminalLinkProvider({
      provideTerminalLinks: ({ line }) => {
        const found = ERROR.exec(line);
        return found ? [new ErrorLink(found.index, found[0])] : [];
      },
      handleTerminalLink: async (link) => {
        if (link instanceof ErrorLink) {
          await explain(server, link.error);
        }
      },
    }),
  );
}

/** Explain a text; by default the selection of the editor, or else the clipboard. */
export async function explain(server: Server, text: unknown): Promise<unknown> {
  const wanted = typeof text === "string" ? text : (selection() ?? (await env.clipboard.readText()));
  const answer = await server.execute("exportlint.explain", wanted);
  if (typeof answer !== "string") {
    return undefined; // the server says itself why
  }
  explanation = answer;
  changed.fire(PAGE);
  await commands.executeCommand("markdown.showPreview", PAGE);
  return answer;
}

function selection(): string | undefined {
  const editor = window.activeTextEditor;
  return editor && !editor.selection.isEmpty ? editor.document.getText(editor.selection) : undefined;
}
