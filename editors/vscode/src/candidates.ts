/** Where exportlint may be, most explicit first. */

/** A program and its arguments. */
export type Command = readonly [string, ...string[]];

/** A setting of section `exportlint` that names a program. */
export type CommandKey = "path" | "interpreter";

export interface Candidate {
  /** Runs exportlint: `exportlint` or `python -m exportlint`. */
  readonly command: Command;
  /** The Python into which exportlint can be installed for this command to work. */
  readonly python?: Command;
  /** The setting that names it. */
  readonly setting?: CommandKey;
  /** Whether it is the exportlint that comes with the extension. */
  readonly bundled?: boolean;
}

/** Whose exportlint runs first: that of the project's environment, or the extension's own. */
export type ImportStrategy = "fromEnvironment" | "useBundled";

export interface Sources {
  readonly path: Command | undefined;
  readonly interpreter: Command | undefined;
  /** The interpreter that another extension says the project uses. */
  readonly environment: Command | undefined;
  readonly windows: boolean;
  readonly strategy: ImportStrategy;
  /** The script that runs the bundled exportlint. */
  readonly bundled: string;
}

/**
 * A path that cannot be used gives way to the interpreter, for linting with what the project has is better than not at
 * all. No other interpreter is tried than one that the user names: to run something else would hide the mistake.
 */
export function candidates(sources: Sources): Candidate[] {
  const path: Candidate[] = sources.path ? [{ command: sources.path, setting: "path" }] : [];
  const onPath: Command = [sources.windows ? "python" : "python3"];
  const pythons = sources.interpreter ? [sources.interpreter] : [...(sources.environment ? [sources.environment] : []), onPath];
  const named: Pick<Candidate, "setting"> = sources.interpreter ? { setting: "interpreter" } : {};
  const bundled = pythons.map((python) => ({ ...bundle(python, sources.bundled), ...named }));
  if (sources.strategy === "useBundled") {
    return [...path, ...bundled];
  }
  const installed = pythons.map((python): Candidate => ({ ...module(python), ...named }));
  // the program on PATH goes before the Python on PATH
  const program: Candidate[] = sources.interpreter ? [] : [{ command: ["exportlint"] }];
  return [...path, ...installed.slice(0, -1), ...program, ...installed.slice(-1), ...bundled];
}

function bundle(python: Command, script: string): Candidate {
  return { command: [...python, script], python, bundled: true };
}

function module(python: Command): Candidate {
  return { command: [...python, "-m", "exportlint"], python };
}

/** The value of a setting that is a program or a list of a program and its arguments; undefined where it is empty. */
export function asCommand(value: unknown): Command | undefined {
  const words: unknown[] = Array.isArray(value) ? value : [value];
  const [program, ...rest] = words.filter((word): word is string => typeof word === "string" && word.trim() !== "");
  return program === undefined ? undefined : [program, ...rest];
}
