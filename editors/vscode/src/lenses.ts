/** A click on a code lens peeks at the findings that it counts. */

import { CodeLens, Location, Position, Range, Uri } from "vscode";
import type * as lsp from "vscode-languageclient/node";

/**
 * The lens with a command of VS Code's own. VS Code forgets the arguments of commands of extensions when it asks for
 * lenses again, also of lenses that it still shows: "Actual command not found".
 */
export function peek(lens: CodeLens): CodeLens {
  if (lens.command?.command !== "exportlint.showFindings") {
    return lens;
  }
  const [uri, position, locations] = lens.command.arguments as [string, lsp.Position, lsp.Location[]];
  const { title } = lens.command;
  const given = [Uri.parse(uri), asPosition(position), locations.map(asLocation), "peek", ""];
  return new CodeLens(lens.range, { title, command: "editor.action.goToLocations", arguments: given });
}

function asPosition({ line, character }: lsp.Position): Position {
  return new Position(line, character);
}

function asLocation({ uri, range }: lsp.Location): Location {
  return new Location(Uri.parse(uri), new Range(asPosition(range.start), asPosition(range.end)));
}
