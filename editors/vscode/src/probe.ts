/** Asks a command whether it is exportlint. */

import { execFile } from "node:child_process";

import type { Command } from "./candidates";

export type Answer =
  /** `fixes`: whether it has what it needs to work out fixes. */
  | { readonly kind: "works"; readonly version: string; readonly fixes: boolean }
  /** Python is there, and exportlint is not. */
  | { readonly kind: "not-installed" }
  /** No such program. */
  | { readonly kind: "not-found" }
  | { readonly kind: "fails"; readonly why: string };

/** How a run of `--version` ended. */
export interface Run {
  readonly error: (Error & { code?: number | string | null; killed?: boolean }) | null;
  readonly stdout: string;
  readonly stderr: string;
}

const TIMEOUT_MS = 30_000;

/** `cwd` must hold no Python files: `python -m` imports from it first. */
export async function probe(command: Command, cwd: string, timeout = TIMEOUT_MS): Promise<Answer> {
  const [program, ...rest] = command;
  const run = await new Promise<Run>((resolve) => {
    // a signal that nothing can ignore: all else waits for the answer
    execFile(program, [...rest, "--version"], { cwd, timeout, killSignal: "SIGKILL" }, (error, stdout, stderr) => {
      resolve({ error, stdout, stderr });
    });
  });
  return judge(run);
}

export function judge({ error, stdout, stderr }: Run): Answer {
  const version = /^exportlint (\S+)$/m.exec(stdout)?.[1];
  if (!error && version !== undefined) {
    return { kind: "works", version, fixes: !/^without libcst$/m.test(stdout) };
  }
  if (error?.code === "ENOENT") {
    return { kind: "not-found" };
  }
  if (/No module named '?exportlint\b/.test(stderr)) {
    return { kind: "not-installed" };
  }
  if (error?.killed) {
    return { kind: "fails", why: `no answer within ${TIMEOUT_MS / 1000} s` };
  }
  const said = [stderr, stdout, error?.message ?? ""].map((text) => text.trim()).find((text) => text !== "");
  return { kind: "fails", why: said?.split(/\r?\n/).at(-1) ?? "it does not say that it is exportlint" };
}
