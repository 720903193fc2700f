"""Writing a target into the configuration for a model that cannot be built without one, as an edit of the client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from exportlint.big_stack import on_big_stack
from exportlint.config import ConfigError
from exportlint.server import uris
from exportlint.server.documents import Document
from exportlint.server.ranges import range_between
from exportlint.server.session import Session
from exportlint.server.threads import in_thread

if TYPE_CHECKING:
    from exportlint.verify.targets.adding import Addition


async def addition(session: Session, document: Document, name: str) -> Addition:
    """What to append to the configuration that holds for a document, as the client has it open or else on the disk.

    Raises:
        ConfigError: that cannot be done; the message says why.
    """
    from exportlint.verify.targets.adding import add_target

    path = document.path
    if path is None:
        raise ConfigError("save the file first: a verify target needs the path of a saved file")
    folder = session.folder(document)
    if folder.preferences.precedence == "editorOnly":
        raise ConfigError("configuration files are not read, because of `exportlint.configurationPreference`")
    opened = {one.path: one.text.removeprefix("\ufeff") for one in session.documents if one.path is not None}

    def work() -> Addition:
        settings = folder.configuration().for_file(path)
        return add_target(path, name, settings, folder.root, opened)

    return await in_thread(lambda _: on_big_stack(work))


def edit_of(wanted: Addition, session: Session) -> types.WorkspaceEdit:
    """The edit that appends it, to a file that it creates if need be."""
    client = session.client
    uri, version = uris.from_path(wanted.file), None
    opened = session.document(uri)
    if opened is not None:
        uri, version = opened.uri, opened.version
    held = Document(uri, 0, wanted.before or "", "toml")
    end = len(held.text)
    edits = [types.TextEdit(range_between(end, end, held.lines, client.encoding), wanted.text)]
    if not client.document_changes:
        return types.WorkspaceEdit(changes={uri: edits})
    appended = types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, version), edits)
    if wanted.before is None and client.creates_files:
        created = types.CreateFile(uri, options=types.CreateFileOptions(ignore_if_exists=True))
        return types.WorkspaceEdit(document_changes=[created, appended])
    return types.WorkspaceEdit(document_changes=[appended])


def place_of(wanted: Addition) -> types.Location:
    """Where the new table will begin."""
    place = types.Position(wanted.row - 1, 0)
    return types.Location(uris.from_path(wanted.file), types.Range(place, place))
