/** What VS Code and the server say to each other, in an output channel of its own. */

import { Disposable, EventEmitter, LogLevel, workspace, type LogOutputChannel } from "vscode";

const SETTING = "exportlint.trace.server";

/**
 * `channel` as languageclient wants it, which traces where the user has chosen *Trace* as log level of the channel, and
 * takes from the setting how much only. Here it is the setting that says whether.
 */
export function tracing(channel: LogOutputChannel): { readonly trace: LogOutputChannel; readonly end: Disposable } {
  const level = (): LogLevel =>
    workspace.getConfiguration().get<string>(SETTING, "off") === "off" ? LogLevel.Off : LogLevel.Trace;
  const changed = new EventEmitter<LogLevel>();
  const subscription = workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration(SETTING)) {
      changed.fire(level());
    }
  });
  const trace = Object.create(channel, {
    logLevel: { get: level },
    onDidChangeLogLevel: { value: changed.event },
    trace: { value: channel.info.bind(channel) },
  }) as LogOutputChannel;
  return { trace, end: Disposable.from(subscription, changed) };
}
