/** The server process: found, started, restarted, asked. */

import { workspace, type Disposable, type LogOutputChannel, type Memento, type Uri } from "vscode";
import {
  ExecuteCommandRequest,
  RevealOutputChannelOn,
  ShowMessageNotification,
  State,
  WorkDoneProgressCancelNotification,
} from "vscode-languageclient/node";

import { Client } from "./client";
import { CONFIGURATION_FILES } from "./documents";
import { Environments } from "./environments";
import { findExportlint } from "./interpreter";
import { Lenses } from "./lenses";
import { missingMessage, passedOverMessage, type Found } from "./messages";
import { middleware } from "./middleware";
import { isHidden, reportBroken, reportMissing, reportPassedOver, reportWithoutFixes } from "./missing";
import { Notifications } from "./notifications";
import { Progresses } from "./progress";
import { isEnabled, logFlags, SECTION, serverSettings } from "./settings";
import type { Status } from "./status";

/** Diffs and other views of old texts are not linted. Targets are added to configuration files as they are seen. */
const DOCUMENTS = [
  ...["file", "untitled", "vscode-notebook-cell"].map((scheme) => ({ scheme, language: "python" })),
  { scheme: "file", pattern: `**/{${CONFIGURATION_FILES.join(",")}}` },
];

export class Server implements Disposable {
  private client: Client | undefined;
  private found: Found | undefined;
  /** What the server was started with: where that changes, another one has to run. */
  private startedWith = "";
  private started: Promise<void> = Promise.resolve();
  /** Whether it was said that exportlint is missing, which is not to be repeated at each occasion to look again. */
  private saidMissing = false;
  private saidWithoutFixes = false;
  /** What was last said about a setting that cannot be used. */
  private saidPassedOver: string | undefined;
  private turn: Promise<void> = Promise.resolve();
  private readonly environments: Environments;
  private readonly lenses = new Lenses();
  private readonly progresses = new Progresses((token) => {
    void this.client?.sendNotification(WorkDoneProgressCancelNotification.type, { token });
  });
  private readonly notifications: Notifications;

  /** `home` is where the server runs: a directory without Python files, which would be imported from there. */
  constructor(
    readonly home: string,
    private readonly output: LogOutputChannel,
    private readonly trace: LogOutputChannel,
    private readonly status: Status,
    private readonly memory: Memento,
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

  /** `asked`: it is the user who wants it, and who is told why it cannot be. */
  async restart(asked = true): Promise<void> {
    await this.next(async () => {
      this.status.starting();
      await this.halt();
      if (this.isWanted()) {
        this.start(await this.find(asked));
      }
    });
    await this.started;
  }

  /** Start another server if another one has to run now, or none does; stop it if none is wanted any more. */
  refresh(asked = false): Promise<void> {
    return this.next(async () => {
      if (!this.isWanted()) {
        await this.halt();
        return;
      }
      const found = await this.find(asked);
      const alive = this.client?.state === State.Running || this.client?.state === State.Starting;
      if (!alive || identity(found) !== this.startedWith) {
        await this.halt();
        this.start(found);
      }
    });
  }

  /** Where linting is switched off everywhere, nothing is looked for, started, or said. */
  private isWanted(): boolean {
    const folders = workspace.workspaceFolders ?? [];
    const wanted = folders.length ? folders.some(({ uri }) => isEnabled(uri)) : isEnabled(undefined);
    if (!wanted) {
      this.status.disabled();
    }
    return wanted;
  }

  stop(): Promise<void> {
    return this.next(() => this.halt());
  }

  dispose(): void {
    this.environments.dispose();
    this.progresses.dispose();
    this.lenses.dispose();
  }

  /** One after the other: a server must not start while another one stops. */
  private next(work: () => Promise<void>): Promise<void> {
    this.turn = this.turn.then(work).catch((error: unknown) => {
      this.status.failed(`exportlint does not run: ${String(error)}`);
    });
    return this.turn;
  }

  private async find(asked: boolean): Promise<Found | undefined> {
    const found = await findExportlint(this.environments, this.output, this.home);
    if (!("tried" in found)) {
      this.saidMissing = false;
      const passedOver = found.passedOver && passedOverMessage(found.passedOver);
      if (found.passedOver && passedOver !== this.saidPassedOver) {
        void reportPassedOver(found.passedOver, this.notifications);
      }
      this.saidPassedOver = passedOver;
      if (found.bundled && !found.bundled.fixes && !this.saidWithoutFixes) {
        this.saidWithoutFixes = true;
        void reportWithoutFixes(found, this.notifications, this.memory, this.home, () => void this.restart());
      }
      return found;
    }
    const why = missingMessage(found);
    this.status.failed(why);
    if (asked || !(this.saidMissing || isHidden(this.memory))) {
      this.saidMissing = true;
      void reportMissing(found, this.notifications, this.memory, this.home, () => void this.restart());
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
        middleware: middleware(this, this.lenses, this.progresses),
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
    this.progresses.dispose();
    await client?.halt();
  }

  private show(state: State, found: Found): void {
    if (state === State.Running) {
      this.status.running(found);
    } else if (state === State.Starting) {
      this.status.starting();
    } else {
      this.progresses.dispose();
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
