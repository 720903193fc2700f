/** The server process: found, started, restarted, asked. */

import { workspace, type Disposable, type LogOutputChannel } from "vscode";
import {
  ExecuteCommandRequest,
  LanguageClient,
  RevealOutputChannelOn,
  ShowMessageNotification,
  State,
} from "vscode-languageclient/node";

import { Environments } from "./environments";
import { findExportlint, type Found } from "./interpreter";
import { middleware } from "./middleware";
import { message, reportMissing } from "./missing";
import { Notifications } from "./notifications";
import { SECTION, serverSettings } from "./settings";
import type { Status } from "./status";

/** Diffs and other views of old texts are not linted. */
const DOCUMENTS = ["file", "untitled", "vscode-notebook-cell"].map((scheme) => ({ scheme, language: "python" }));

export class Server implements Disposable {
  private client: LanguageClient | undefined;
  private found: Found | undefined;
  private turn: Promise<void> = Promise.resolve();
  private readonly environments: Environments;
  private readonly notifications: Notifications;

  /** `home` is where the server runs: a directory without Python files, which would be imported from there. */
  constructor(
    readonly home: string,
    private readonly output: LogOutputChannel,
    private readonly trace: LogOutputChannel,
    private readonly status: Status,
  ) {
    this.notifications = new Notifications(output);
    this.environments = new Environments(output, () => void this.refresh());
  }

  /** What runs, if anything does. */
  get running(): Found | undefined {
    return this.client?.isRunning() ? this.found : undefined;
  }

  /** The answer of the server to a command of its own. */
  async execute(command: string, ...args: unknown[]): Promise<unknown> {
    return this.client?.sendRequest(ExecuteCommandRequest.type, { command, arguments: args });
  }

  restart(): Promise<void> {
    return this.next(async () => {
      await this.halt();
      await this.start(await this.find());
    });
  }

  /** Start another server if it is another exportlint now that has to run. */
  refresh(): Promise<void> {
    return this.next(async () => {
      const found = await this.find();
      if (!this.running || JSON.stringify(found?.command) !== JSON.stringify(this.found?.command)) {
        await this.halt();
        await this.start(found);
      }
    });
  }

  stop(): Promise<void> {
    return this.next(() => this.halt());
  }

  dispose(): void {
    this.environments.dispose();
  }

  /** One after the other: a server must not start while another one stops. */
  private next(work: () => Promise<void>): Promise<void> {
    this.turn = this.turn.then(work).catch((error: unknown) => {
      this.status.failed(`exportlint does not run: ${String(error)}`);
    });
    return this.turn;
  }

  private async find(): Promise<Found | undefined> {
    const found = await findExportlint(this.environments, this.output, this.home);
    if (!("tried" in found)) {
      return found;
    }
    this.status.failed(message(found));
    void reportMissing(found, this.notifications, this.home, () => void this.restart());
    return undefined;
  }

  private async start(found: Found | undefined): Promise<void> {
    this.found = found;
    if (!found) {
      return;
    }
    const [program, ...rest] = found.command;
    const client = new LanguageClient(
      SECTION,
      "exportlint",
      { command: program, args: [...rest, "server"], options: { cwd: this.home } },
      {
        documentSelector: DOCUMENTS,
        initializationOptions: () => ({ settings: serverSettings(workspace.workspaceFolders?.[0]?.uri) }),
        diagnosticPullOptions: { onChange: true, onSave: true },
        outputChannel: this.output,
        traceOutputChannel: this.trace,
        revealOutputChannelOn: RevealOutputChannelOn.Never,
        middleware: middleware(this),
      },
    );
    client.onDidChangeState(({ newState }) => {
      this.show(newState, found);
    });
    client.onNotification(ShowMessageNotification.type, (params) => {
      this.notifications.show(params);
    });
    this.client = client;
    await client.start();
  }

  private async halt(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client?.state !== State.StartFailed) {
      await client?.dispose();
    }
  }

  private show(state: State, found: Found): void {
    if (state === State.Running) {
      this.status.running(found);
    } else if (state === State.Starting) {
      this.status.starting();
    } else {
      this.status.failed(`exportlint ${found.version} does not run: ${found.command.join(" ")}`);
    }
  }
}
