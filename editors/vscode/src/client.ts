/** The client of the languageclient library, which shows no messages of its own and can always be stopped. */

import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  type ErrorHandler,
  type LanguageClientOptions,
  type ServerOptions,
} from "vscode-languageclient/node";

export class Client extends LanguageClient {
  /** `givenUp` is called when the server died too often to be started again. */
  constructor(id: string, name: string, server: ServerOptions, options: LanguageClientOptions, givenUp: () => void) {
    super(id, name, server, { ...options, initializationFailedHandler: () => false });
    this.clientOptions.errorHandler = this.handler(this.createDefaultErrorHandler(), givenUp);
  }

  /** Messages go to the log only: which ones are shown is a setting. */
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }

  /** Stops the server. One that does not end as it should, or has not even started, is killed. */
  async halt(): Promise<void> {
    const server = this.serverProcess;
    try {
      await this.dispose();
    } catch {
      server?.kill("SIGKILL");
    }
  }

  /** A server that dies is started again; one that does not start would not do so the next time. */
  private handler(usual: ErrorHandler, givenUp: () => void): ErrorHandler {
    return {
      // a message that cannot be written is one to a server that dies: `closed` follows, and is what counts
      error: (error, message, count) =>
        message ? { action: ErrorAction.Continue } : usual.error(error, message, count),
      closed: async () => {
        if (!this.isRunning()) {
          return { action: CloseAction.DoNotRestart };
        }
        const result = await usual.closed();
        if (result.action === CloseAction.DoNotRestart) {
          givenUp();
        }
        return result;
      },
    };
  }
}
