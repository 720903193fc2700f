/** The client of the languageclient library, made quiet: which messages are shown is a setting. */

import { CloseAction, LanguageClient, type CloseHandlerResult, type ErrorHandler } from "vscode-languageclient/node";

export class Client extends LanguageClient {
  /** To the log only. */
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }

  /** Never fails, and leaves no process: one that does not end as it should is killed. */
  async halt(): Promise<void> {
    const server = this.serverProcess;
    try {
      await this.dispose();
    } catch {
      server?.kill("SIGKILL");
    }
  }
}

/** A server that dies is started again, but not one that does not even start, nor for the fifth time in three minutes. */
export function whenClosed(client: () => Client, givenUp: () => void): ErrorHandler {
  let usual: ErrorHandler | undefined;
  return {
    error: (...args) => (usual ??= client().createDefaultErrorHandler()).error(...args),
    closed: async (): Promise<CloseHandlerResult> => {
      if (!client().isRunning()) {
        return { action: CloseAction.DoNotRestart, handled: true };
      }
      const result = await (usual ??= client().createDefaultErrorHandler()).closed();
      if (result.action === CloseAction.DoNotRestart) {
        givenUp();
      }
      return result;
    },
  };
}
