/** A click on a code lens peeks at the findings that it counts, or does with the model below it what it says. */

import { CodeLens, commands, Disposable, Location, Position, Range, Uri, window, type Command } from "vscode";
import type * as lsp from "vscode-languageclient/node";

/** What a click does. */
type Click = () => Thenable<unknown>;

/**
 * Gives the lenses of a document commands without arguments, one for the first lens, one for the second and so on.
 *
 * VS Code forgets the arguments of commands when it asks for lenses again, also of lenses that it still shows: a click
 * on one of them would be answered by "Actual command not found".
 */
export class Lenses implements Disposable {
  private readonly clicks = new Map<string, Click[]>();
  private readonly commands: Disposable[] = [];

  /** The same lenses with other commands. */
  adapt(document: Uri, lenses: readonly CodeLens[]): CodeLens[] {
    const given = lenses.flatMap(({ range, command }) => {
      return command ? [{ range, title: command.title, click: clickOf(command) }] : [];
    });
    this.clicks.set(
      document.toString(),
      given.map(({ click }) => click),
    );
    return given.map(({ range, title }, index) => new CodeLens(range, { title, command: this.command(index) }));
  }

  private command(index: number): string {
    const name = (number: number): string => `exportlint.lens.${number}`;
    while (this.commands.length <= index) {
      const number = this.commands.length;
      this.commands.push(commands.registerCommand(name(number), () => this.click(number)));
    }
    return name(index);
  }

  /** A click into an editor makes it the active one. */
  private async click(index: number): Promise<void> {
    const document = window.activeTextEditor?.document.uri.toString() ?? "";
    await this.clicks.get(document)?.[index]?.();
  }

  dispose(): void {
    Disposable.from(...this.commands).dispose();
  }
}

function clickOf(command: Command): Click {
  const args: unknown[] = command.arguments ?? [];
  if (command.command !== "exportlint.showFindings") {
    return () => commands.executeCommand(command.command, ...args);
  }
  const [uri, position, locations] = args as [string, lsp.Position, lsp.Location[]];
  const peek = [Uri.parse(uri), asPosition(position), locations.map(asLocation), "peek", ""];
  return () => commands.executeCommand("editor.action.goToLocations", ...peek);
}

function asPosition({ line, character }: lsp.Position): Position {
  return new Position(line, character);
}

function asLocation({ uri, range }: lsp.Location): Location {
  return new Location(Uri.parse(uri), new Range(asPosition(range.start), asPosition(range.end)));
}
