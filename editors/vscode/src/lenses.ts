/** A click on a code lens peeks at the findings that it counts. */

import { CodeLens, commands, Disposable, Location, Position, Range, Uri, window } from "vscode";
import type * as lsp from "vscode-languageclient/node";

/** Where to peek from, and at what. */
type Peek = [Uri, Position, Location[]];

/**
 * Gives the lenses of a document commands without arguments, one for the first lens, one for the second and so on.
 *
 * VS Code forgets the arguments of commands when it asks for lenses again, also of lenses that it still shows: a click
 * on one of them would be answered by "Actual command not found".
 */
export class Lenses implements Disposable {
  private readonly peeks = new Map<string, Peek[]>();
  private readonly commands: Disposable[] = [];

  /** The same lenses with other commands. */
  adapt(document: Uri, lenses: readonly CodeLens[]): CodeLens[] {
    const given = lenses.flatMap(({ range, command }) =>
      command?.command === "exportlint.showFindings" ? [{ range, title: command.title, args: command.arguments }] : [],
    );
    this.peeks.set(
      document.toString(),
      given.map(({ args }) => asPeek(args as [string, lsp.Position, lsp.Location[]])),
    );
    return given.map(({ range, title }, index) => new CodeLens(range, { title, command: this.command(index) }));
  }

  private command(index: number): string {
    const name = (number: number): string => `exportlint.peek.${number}`;
    while (this.commands.length <= index) {
      const number = this.commands.length;
      this.commands.push(commands.registerCommand(name(number), () => this.peek(number)));
    }
    return name(index);
  }

  /** A click into an editor makes it the active one. */
  private async peek(index: number): Promise<void> {
    const document = window.activeTextEditor?.document.uri.toString() ?? "";
    const peek = this.peeks.get(document)?.[index];
    if (peek) {
      await commands.executeCommand("editor.action.goToLocations", ...peek, "peek", "");
    }
  }

  dispose(): void {
    Disposable.from(...this.commands).dispose();
  }
}

function asPeek([uri, position, locations]: [string, lsp.Position, lsp.Location[]]): Peek {
  return [Uri.parse(uri), asPosition(position), locations.map(asLocation)];
}

function asPosition({ line, character }: lsp.Position): Position {
  return new Position(line, character);
}

function asLocation({ uri, range }: lsp.Location): Location {
  return new Location(Uri.parse(uri), new Range(asPosition(range.start), asPosition(range.end)));
}
