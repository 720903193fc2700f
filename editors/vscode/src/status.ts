/** The status bar item: whether the server runs, and which one, or that it is not wanted. A click shows its log. */

import { commands, Disposable, StatusBarAlignment, ThemeColor, window, workspace, type StatusBarItem } from "vscode";

import { runningMessage, type Found } from "./messages";
import { isEnabled } from "./settings";

interface Look {
  readonly text: string;
  readonly tooltip: string;
  readonly background?: ThemeColor;
}

const DISABLED: Look = {
  text: "$(circle-slash) exportlint disabled",
  tooltip: "exportlint is disabled here, by the setting `exportlint.enable`",
};

export class Status implements Disposable {
  private readonly item: StatusBarItem;
  private readonly subscriptions: Disposable;
  private look: Look = { text: "exportlint", tooltip: "exportlint" };

  constructor() {
    this.item = window.createStatusBarItem("exportlint.status", StatusBarAlignment.Right, 100);
    this.item.name = "exportlint";
    this.item.command = "exportlint.showServerLogs";
    this.subscriptions = Disposable.from(
      this.item,
      window.onDidChangeActiveTextEditor(() => {
        this.reveal();
      }),
      window.onDidChangeActiveNotebookEditor(() => {
        this.reveal();
      }),
      workspace.onDidChangeConfiguration(() => {
        this.reveal();
      }),
    );
    this.reveal();
  }

  starting(): void {
    this.set({ text: "$(sync~spin) exportlint", tooltip: "exportlint is starting" });
  }

  running(found: Found): void {
    const mark = found.passedOver ? "$(warning)" : "$(check)";
    this.set({ text: `${mark} exportlint ${found.version}${found.bundled ? " (bundled)" : ""}`, tooltip: runningMessage(found) });
    void commands.executeCommand("setContext", "exportlint.running", true);
  }

  failed(why: string): void {
    const background = new ThemeColor("statusBarItem.errorBackground");
    this.set({ text: "$(error) exportlint", tooltip: why, background });
  }

  disabled(): void {
    this.set(DISABLED);
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  private set(look: Look): void {
    this.look = look;
    this.reveal();
    void commands.executeCommand("setContext", "exportlint.running", false);
  }

  /** Only next to Python: elsewhere it says nothing of interest. */
  private reveal(): void {
    const notebook = window.activeNotebookEditor?.notebook;
    const document = window.activeTextEditor?.document;
    if (!notebook && document?.languageId !== "python") {
      this.item.hide();
      return;
    }
    // a server that runs for other folders does nothing in one where it is not wanted
    const { text, tooltip, background } = isEnabled((notebook ?? document)?.uri) ? this.look : DISABLED;
    this.item.text = text;
    this.item.tooltip = `${tooltip}\nClick for the log.`;
    this.item.accessibilityInformation = { label: tooltip };
    this.item.backgroundColor = background;
    this.item.show();
  }
}
