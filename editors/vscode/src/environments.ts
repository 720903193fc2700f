/** The interpreter that the project uses, asked from the Python extension or Python Environments, if there are any. */

import { extensions, type Disposable, type Event, type LogOutputChannel, type Uri } from "vscode";

import type { Command } from "./candidates";

/** The part of ms-python.python's API that is used here. */
interface PythonApi {
  readonly environments: {
    getActiveEnvironmentPath(resource?: Uri): { readonly id: string; readonly path: string };
    resolveEnvironment(path: {
      readonly id: string;
      readonly path: string;
    }): Promise<{ readonly executable: { readonly uri: Uri | undefined } } | undefined>;
    readonly onDidChangeActiveEnvironmentPath: Event<unknown>;
  };
}

/** The part of ms-python.vscode-python-envs' API that is used here. */
interface PythonEnvironmentsApi {
  getEnvironment(
    scope: Uri | undefined,
  ): Promise<
    { readonly execInfo: { readonly run: { readonly executable: string; readonly args?: string[] } } } | undefined
  >;
  readonly onDidChangeEnvironment: Event<unknown>;
}

interface Source {
  readonly interpreter: (scope: Uri | undefined) => Promise<Command | undefined>;
  readonly onDidChange: Event<unknown>;
}

function python(api: unknown): Source {
  const { environments } = api as PythonApi;
  return {
    interpreter: async (scope) => {
      const path = environments.getActiveEnvironmentPath(scope);
      const executable = (await environments.resolveEnvironment(path))?.executable.uri?.fsPath;
      return executable === undefined ? undefined : [executable];
    },
    onDidChange: environments.onDidChangeActiveEnvironmentPath,
  };
}

function pythonEnvironments(api: unknown): Source {
  const environments = api as PythonEnvironmentsApi;
  return {
    interpreter: async (scope) => {
      const run = (await environments.getEnvironment(scope))?.execInfo.run;
      return run && [run.executable, ...(run.args ?? [])];
    },
    onDidChange: environments.onDidChangeEnvironment,
  };
}

/** The first extension that is there and has an API, also if it is installed later. */
export class Environments implements Disposable {
  private source: Promise<Source | undefined> | undefined;
  /** To the changes that `source` tells of. */
  private changes: Disposable | undefined;
  private readonly extensions: Disposable;

  constructor(
    private readonly output: LogOutputChannel,
    private readonly changed: () => void,
  ) {
    this.extensions = extensions.onDidChange(() => {
      this.source = undefined;
      changed();
    });
  }

  /** The interpreter for the folder `scope`, or undefined where no extension knows. */
  async interpreter(scope: Uri | undefined): Promise<Command | undefined> {
    this.source ??= this.find();
    try {
      return await (await this.source)?.interpreter(scope);
    } catch (error) {
      this.output.warn(`The Python extension does not say which interpreter to use: ${String(error)}`);
      return undefined;
    }
  }

  private async find(): Promise<Source | undefined> {
    const source =
      (await this.activate("ms-python.python", python)) ??
      (await this.activate("ms-python.vscode-python-envs", pythonEnvironments));
    this.changes?.dispose();
    this.changes = source?.onDidChange(this.changed);
    return source;
  }

  /** An extension may be there and have no API: it is switched off by a setting of its own. */
  private async activate(id: string, adapt: (api: unknown) => Source): Promise<Source | undefined> {
    try {
      const api: unknown = await extensions.getExtension(id)?.activate();
      return api ? adapt(api) : undefined;
    } catch (error) {
      this.output.warn(`${id} cannot be used: ${String(error)}`);
      return undefined;
    }
  }

  dispose(): void {
    this.extensions.dispose();
    this.changes?.dispose();
  }
}
