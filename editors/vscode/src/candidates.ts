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
}

export interface Sources {
  readonly path: Command | undefined;
  readonly interpreter: Command | undefined;
  /** The interpreter that another extension says the project uses. */
  readonly environment: Command | undefined;
  readonly windows: boolean;
}

/**
 * A path that cannot be used gives way to the interpreter, for linting with what the project has is better than not at
 * all. An interpreter that the user names is the last candidate: to run something else would hide the mistake.
 */
export function candidates(sources: Sources): Candidate[] {
  const path: Candidate[] = sources.path ? [{ command: sources.path, setting: "path" }] : [];
  if (sources.interpreter) {
    return [...path, { ...module(sources.interpreter), setting: "interpreter" }];
  }
  const environment = sources.environment ? [module(sources.environment)] : [];
  return [...path, ...environment, { command: ["exportlint"] }, module([sources.windows ? "python" : "python3"])];
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
