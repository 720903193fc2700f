/** Arguments of commands are plain LSP values; VS Code's own commands want its classes. */

import { Location, Position, Range, Uri } from "vscode";
import type * as lsp from "vscode-languageclient/node";

export function asPosition({ line, character }: lsp.Position): Position {
  return new Position(line, character);
}

export function asLocation({ uri, range }: lsp.Location): Location {
  return new Location(Uri.parse(uri), new Range(asPosition(range.start), asPosition(range.end)));
}
