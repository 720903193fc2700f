/** The server process: found, started, restarted, asked. */

import { workspace, type Disposable, type LogOutputChannel, type Uri } from "vscode";
import { ExecuteCommandRequest, RevealOutputChannelOn, ShowMessageNotification, State } from "vscode-languageclient/node";

import { Client } from "./client";
import { Environments } from "./environments";
import { findExportlint, type Found } from "./interpreter";
import { Lenses } from "./lenses";
import { middleware } from "./middleware";
import { message, reportBroken, reportMissing } from "./missing";
import { Notifications } from "./notifications";
import { logFlags, SECTION, serverSettings } from "./settings";
import type { Status } from "./status";

/** Diffs and other views of old texts are not linted. */
const DOCUMENTS = ["file", "untitled", "vscode-notebook-cell"].map((scheme) => ({ scheme, language: "python" }));

export class Server implements Disposable {
  private client: Client | undefined;
  private found: Found | undefined;
  /** What the server was started with: where that changes, another one has to run. */
  private startedWith = "";
  private started: Promise<void> = Promise.resolve();
  /** The last message about what is missing, not to be repeated at each occasion to look again. */
  private told: string | undefined;
  private turn: Promise<void> = Promise.resolve();
  private readonly environments: Environments;
  private readonly lenses = new Lenses();
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

  /** The Python that the user chose for a file, where an extension knows, and it is a program without arguments. */
  async interpreter(scope: Uri): Promise<string | undefined> {
    const [program, ...rest] = (await this.environments.interpreter(scope)) ?? [];
    return rest.length ? undefined : program;
  }

  async restart(): Promise<void> {
    await this.next(async () => {
      this.status.starting();
      this.told = undefined;
      await this.halt();
      this.start(await this.find());
    });
    await this.started;
  }

  /** Start another server if another one has to run now, or none does. */
  refresh(): Promise<void> {
    return this.next(async () => {
      const found = await this.find();
      const alive = this.client?.state === State.Running || this.client?.state === State.Starting;
      if (!alive || identity(found) !== this.startedWith) {
        await this.halt();
        this.start(found);
      }
    });
  }

  stop(): Promise<void> {
    return this.next(() => this.halt());
  }

  dispose(): void {
    this.environments.dispose();
    this.lenses.dispose();
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
      this.told = undefined;
      return found;
    }
    const why = message(found);
    this.status.failed(why);
    if (why !== this.told) {
      this.told = why;
      void reportMissing(found, this.notifications, this.home, () => void this.restart());
    }
    return undefined;
  }

  /** Nothing waits in turn for a server to answer: it might never do so, and another one may have to take its place. */
  private start(found: Found | undefined): void {
    this.found = found;
    this.startedWith = identity(found);
    if (!found) {
      return;
    }
    const [program, ...rest] = found.command;
    const client = new Client(
      SECTION,
      "exportlint",
      { command: program, args: [...rest, "server", ...logFlags()], options: { cwd: this.home } },
      {
        documentSelector: DOCUMENTS,
        initializationOptions: () => ({ settings: serverSettings(workspace.workspaceFolders?.[0]?.uri) }),
        diagnosticPullOptions: { onChange: true, onSave: true },
        outputChannel: this.output,
        traceOutputChannel: this.trace,
        revealOutputChannelOn: RevealOutputChannelOn.Never,
        middleware: middleware(this, this.lenses),
      },
      () => {
        this.report(found, "has died too often");
      },
    );
    client.onDidChangeState(({ newState }) => {
      if (client === this.client) {
        this.show(newState, found);
      }
    });
    client.onNotification(ShowMessageNotification.type, (params) => {
      this.notifications.show(params);
    });
    this.client = client;
    // of a failure, the state tells
    this.started = client.start().catch(() => undefined);
  }

  private async halt(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    await client?.halt();
  }

  private show(state: State, found: Found): void {
    if (state === State.Running) {
      this.status.running(found);
    } else if (state === State.Starting) {
      this.status.starting();
    } else {
      this.status.failed(`exportlint ${found.version} does not run: ${found.command.join(" ")}`);
    }
    if (state === State.StartFailed) {
      this.report(found, "does not start");
    }
  }

  private report({ command, version }: Found, what: string): void {
    void reportBroken(`exportlint ${version} ${what}: ${command.join(" ")} server`, this.notifications);
  }
}

function identity(found: Found | undefined): string {
  const { workspaceDiagnostics } = serverSettings(undefined);
  return JSON.stringify([found?.command, logFlags(), workspaceDiagnostics, workspace.isTrusted]);
}
