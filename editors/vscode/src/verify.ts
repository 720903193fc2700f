/** Verifying models, which runs the code of the folder: in trusted folders only, and on what is saved. */

import { commands, Uri, window, workspace } from "vscode";

import { isVerified } from "./documents";
import type { Server } from "./server";

type Next = (command: string, args: unknown[]) => unknown;

export const VERIFY = "exportlint.verifyModule";

/** Have the server verify a class of a file, or all models of the file in front, with the Python that the user chose. */
export async function verify(server: Server, [uri, name]: unknown[], next: Next): Promise<unknown> {
  if (!workspace.isTrusted) {
    const manage = "Manage Trust";
    const why = "exportlint: Verifying runs the code of this folder, which is not trusted.";
    if ((await window.showWarningMessage(why, manage)) === manage) {
      await commands.executeCommand("workbench.trust.manage");
    }
    return undefined;
  }
  const wanted = typeof uri === "string" ? uri : window.activeTextEditor?.document.uri.toString();
  if (wanted === undefined) {
    return undefined;
  }
  // as before a test or a debugging session: what is seen is what is run
  const unsaved = workspace.textDocuments.filter((document) => document.isDirty && isVerified(document));
  await Promise.all(unsaved.map((document) => document.save()));
  const python = await server.interpreter(Uri.parse(wanted));
  return next(VERIFY, [wanted, name ?? null, { python: python ?? null }]);
}
