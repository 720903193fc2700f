/** The page of a rule, as a Markdown preview. */

import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { commands, languages, Uri, window, workspace, type Disposable, type QuickPickItem } from "vscode";

import { codeOf } from "./findings";
import type { Server } from "./server";

const SCHEME = "exportlint-rule";

/** Serves the texts of `exportlint-rule:EXP101.md`. */
export function registerRulePages(server: Server): Disposable {
  return workspace.registerTextDocumentContentProvider(SCHEME, {
    provideTextDocumentContent: (uri) => page(server, uri.path.replace(/\.md$/, "")),
  });
}

/** Show the page of the rule with this code or name; by default of the finding at the cursor, or of one to choose. */
export async function showRule(server: Server, rule: unknown): Promise<unknown> {
  const wanted = typeof rule === "string" ? rule : (ruleAtCursor() ?? (await pickRule(server)));
  if (wanted === undefined) {
    return undefined;
  }
  const text = await page(server, wanted);
  if (text !== undefined) {
    await commands.executeCommand("markdown.showPreview", Uri.from({ scheme: SCHEME, path: `${wanted}.md` }));
  }
  return text;
}

/** The server says itself that there is no such rule. */
async function page(server: Server, rule: string): Promise<string | undefined> {
  const text = await server.execute("exportlint.showRule", rule);
  return typeof text === "string" ? text : undefined;
}

function ruleAtCursor(): string | undefined {
  const editor = window.activeTextEditor;
  if (!editor) {
    return undefined;
  }
  return languages
    .getDiagnostics(editor.document.uri)
    .filter(({ source, range }) => source === "exportlint" && range.contains(editor.selection.active))
    .map(codeOf)
    .find((code) => code !== undefined);
}

async function pickRule(server: Server): Promise<string | undefined> {
  const chosen = await window.showQuickPick(allRules(server), {
    placeHolder: "A rule to explain",
    matchOnDescription: true,
    matchOnDetail: true,
  });
  return chosen?.label;
}

interface Rule {
  readonly code: string;
  readonly name: string;
  readonly summary: string;
}

/** As the command line of the same exportlint lists them. */
async function allRules(server: Server): Promise<QuickPickItem[]> {
  const command = server.running?.command;
  if (!command) {
    return [];
  }
  const [program, ...rest] = command;
  const args = [...rest, "rule", "--all", "--output-format", "json"];
  const { stdout } = await promisify(execFile)(program, args, { cwd: server.home, maxBuffer: 1 << 26 });
  return (JSON.parse(stdout) as Rule[]).map(({ code, name, summary }) => ({
    label: code,
    description: name,
    detail: summary,
  }));
}
