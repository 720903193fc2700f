/** Where exportlint may be, most explicit first. */

/** A program and its arguments. */
export type Command = readonly [string, ...string[]];

export interface Candidate {
  /** Runs exportlint: `exportlint` or `python -m exportlint`. */
  readonly command: Command;
  /** The Python into which exportlint can be installed for this command to work. */
  readonly python?: Command;
}

export interface Sources {
  readonly path: Command | undefined;
  readonly interpreter: Command | undefined;
  /** The interpreter that another extension says the project uses. */
  readonly environment: Command | undefined;
  readonly windows: boolean;
}

/** What is chosen explicitly is the only candidate: to run something else would hide the mistake. */
export function candidates(sources: Sources): Candidate[] {
  if (sources.path) {
    return [{ command: sources.path }];
  }
  if (sources.interpreter) {
    return [module(sources.interpreter)];
  }
  const onPath = [{ command: ["exportlint"] as const }, module([sources.windows ? "python" : "python3"])];
  return sources.environment ? [module(sources.environment), ...onPath] : onPath;
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
