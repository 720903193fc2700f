/** Variables in settings that are paths. */

export interface Surroundings {
  readonly home: string;
  /** The path of the folder that a setting is for. */
  readonly folder: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Whether the text names something in the folder that it is for. */
export function isInFolder(text: string): boolean {
  return text.includes("${workspaceFolder}");
}

/** Replace `~`, `${workspaceFolder}`, `${userHome}` and `${env:NAME}`; what is not known stays as it is. */
export function expand(text: string, around: Surroundings): string {
  const known: Record<string, string | undefined> = { workspaceFolder: around.folder, userHome: around.home };
  return text
    .replace(/^~(?=$|[/\\])/, () => around.home)
    .replace(/\$\{(?:env:([^}]+)|([^}:]+))\}/g, (whole, variable: string | undefined, name: string | undefined) => {
      const value = variable === undefined ? known[name ?? ""] : (around.environment[variable] ?? "");
      return value ?? whole;
    });
}
