/** Work of the server that can be cancelled, as a notification with a button for that. */

import { ProgressLocation, window, type Disposable, type Progress } from "vscode";
import type { Middleware, ProgressToken, WorkDoneProgressBegin, WorkDoneProgressReport } from "vscode-languageclient/node";

type Handler = NonNullable<Middleware["handleWorkDoneProgress"]>;

interface Shown {
  report(params: WorkDoneProgressBegin | WorkDoneProgressReport): void;
  end(): void;
}

/** languageclient shows all progress in the status bar, where nothing can be cancelled. */
export class Progresses implements Disposable {
  private readonly shown = new Map<ProgressToken, Shown>();

  /** `cancel` tells the server that the user has had enough of something. */
  constructor(private readonly cancel: (token: ProgressToken) => void) {}

  readonly handle: Handler = (token, params, next) => {
    if (params.kind === "begin" && params.cancellable) {
      this.shown.set(token, this.show(token, params));
    } else if (params.kind === "report" && this.shown.has(token)) {
      this.shown.get(token)?.report(params);
    } else {
      this.shown.get(token)?.end();
      this.shown.delete(token);
      next(token, params);
    }
  };

  /** Nothing goes on any more: the server has ended. */
  dispose(): void {
    for (const shown of this.shown.values()) {
      shown.end();
    }
    this.shown.clear();
  }

  private show(token: ProgressToken, begin: WorkDoneProgressBegin): Shown {
    let progress: Progress<{ message?: string; increment?: number }> | undefined;
    let done = 0;
    let end = (): void => undefined;
    let isCancelled = false;
    const report = ({ message, percentage }: WorkDoneProgressBegin | WorkDoneProgressReport): void => {
      const increment = Math.max(0, (percentage ?? done) - done);
      done += increment;
      progress?.report({ increment, ...(isCancelled ? { message: "cancelling…" } : message ? { message } : {}) });
    };
    const options = { location: ProgressLocation.Notification, title: `exportlint: ${begin.title}`, cancellable: true };
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    void window.withProgress(options, (given, cancellation) => {
      progress = given;
      cancellation.onCancellationRequested(() => {
        isCancelled = true;
        report(begin);
        this.cancel(token);
      });
      report(begin);
      return ended;
    });
    return { report, end };
  }
}
