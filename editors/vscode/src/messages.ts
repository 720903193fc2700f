/** What the user is told about an exportlint that is missing, or that another one stands in for. */

import type { Candidate, Command } from "./candidates";
import type { Answer } from "./probe";

export type Attempt = Candidate & { readonly answer: Answer };

/** What was tried in vain, in that order. */
export interface Missing {
  readonly tried: readonly Attempt[];
}

/** An exportlint that runs, and what was to run instead of it, if there was something. */
export interface Found {
  readonly command: Command;
  readonly version: string;
  readonly passedOver?: Attempt | undefined;
  /** If it is the extension's own: the Python that runs it, and whether that has what fixes need. */
  readonly bundled?: { readonly python: Command | undefined; readonly fixes: boolean } | undefined;
}

/** What a command turned out to be, in a few words. */
export function describe(answer: Answer): string {
  switch (answer.kind) {
    case "works":
      return `exportlint ${answer.version}`;
    case "not-installed":
      return "exportlint is not installed there";
    case "not-found":
      return "no such program";
    case "fails":
      return answer.why;
  }
}

/** Where exportlint was looked for, and what to do. */
export function missingMessage({ tried }: Missing): string {
  const absent = tried.find(({ answer, python }) => answer.kind === "not-installed" && python);
  const named = tried.find(({ setting }) => setting);
  if (absent?.python && (!named || named === absent)) {
    const whose = named ? `, which the setting \`exportlint.${named.setting ?? ""}\` names` : "";
    const instead = named ? "choose another Python" : "set `exportlint.interpreter` to a Python that has it";
    return `exportlint is not installed for \`${absent.python.join(" ")}\`${whose}: install it, or ${instead}.`;
  }
  const attempts = tried.map(attempted).join("; ");
  return `exportlint was not found: ${attempts}. Set \`exportlint.interpreter\` to a Python that has it.`;
}

/** What is wrong with the setting that was passed over. */
export function passedOverMessage(passedOver: Attempt): string {
  return `exportlint cannot be run from ${attempted(passedOver)}.`;
}

/** Which exportlint runs. */
export function runningMessage(found: Found): string {
  const { command, version, passedOver, bundled } = found;
  const instead = passedOver ? `${passedOverMessage(passedOver)}\n` : "";
  const whose = bundled ? `exportlint ${version}, bundled with the extension,` : `exportlint ${version}`;
  const without = bundled && !bundled.fixes ? `\n${withoutFixesMessage(found)}` : "";
  return `${instead}${whose} is running: ${command.join(" ")}${without}`;
}

/** What the bundled exportlint lacks, and what to do about it. */
export function withoutFixesMessage({ bundled }: Found): string {
  const python = bundled?.python?.join(" ") ?? "";
  return `The bundled exportlint offers no fixes, because \`${python}\` does not have libcst: install exportlint there.`;
}

function attempted({ setting, command, answer }: Attempt): string {
  const where = setting ? `the setting \`exportlint.${setting}\`, ` : "";
  return `${where}\`${command.join(" ")}\` (${describe(answer)})`;
}
