/** Messages to the user, as far as the setting `showNotifications` wants them; the log has them all. */

import { window, workspace, type LogOutputChannel } from "vscode";
import { MessageType, type ShowMessageParams } from "vscode-languageclient/node";

const LEVELS: Readonly<Record<string, MessageType | 0>> = {
  off: 0,
  onError: MessageType.Error,
  onWarning: MessageType.Warning,
  always: MessageType.Debug,
};

export class Notifications {
  constructor(private readonly output: LogOutputChannel) {}

  /** Gives the action that was chosen. */
  async error(message: string, ...actions: string[]): Promise<string | undefined> {
    this.output.error(message);
    return this.wants(MessageType.Error) ? window.showErrorMessage(message, ...actions) : undefined;
  }

  /** A `window/showMessage` of the server. */
  show({ type, message }: ShowMessageParams): void {
    const [log, show] =
      type === MessageType.Error
        ? [this.output.error.bind(this.output), window.showErrorMessage]
        : type === MessageType.Warning
          ? [this.output.warn.bind(this.output), window.showWarningMessage]
          : [this.output.info.bind(this.output), window.showInformationMessage];
    log(message);
    if (this.wants(type)) {
      void show(message);
    }
  }

  private wants(type: MessageType): boolean {
    const level = workspace.getConfiguration("exportlint").get("showNotifications", "onError");
    return type <= (LEVELS[level] ?? MessageType.Error);
  }
}
