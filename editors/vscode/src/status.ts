/** The status bar item: whether the server runs, and which one. A click shows its log. */

import { commands, Disposable, StatusBarAlignment, ThemeColor, window, type StatusBarItem } from "vscode";

import type { Found } from "./interpreter";

export class Status implements Disposable {
  private readonly item: StatusBarItem;
  private readonly subscriptions: Disposable;

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
    );
    this.reveal();
  }

  starting(): void {
    this.set("$(sync~spin) exportlint", "exportlint is starting");
  }

  running({ command, version }: Found): void {
    this.set(`$(check) exportlint ${version}`, `exportlint ${version} is running: ${command.join(" ")}`);
    void commands.executeCommand("setContext", "exportlint.running", true);
  }

  failed(why: string): void {
    this.set("$(error) exportlint", why, new ThemeColor("statusBarItem.errorBackground"));
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  private set(text: string, tooltip: string, background?: ThemeColor): void {
    this.item.text = text;
    this.item.tooltip = `${tooltip}\nClick for the log.`;
    this.item.accessibilityInformation = { label: tooltip };
    this.item.backgroundColor = background;
    void commands.executeCommand("setContext", "exportlint.running", false);
  }

  /** Only next to Python: elsewhere it says nothing of interest. */
  private reveal(): void {
    if (window.activeTextEditor?.document.languageId === "python" || window.activeNotebookEditor) {
      this.item.show();
    } else {
      this.item.hide();
    }
  }
}
