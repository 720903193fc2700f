"""Documents as the client has them: what was opened, and each version of it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from lsprotocol import types

from exportlint.server.ranges import offset_of
from exportlint.server.uris import to_path
from exportlint.source import LineIndex, PositionEncoding
from exportlint.source.encodings import as_saved

Change = types.TextDocumentContentChangeEvent
_SUFFIXES = (".py", ".pyi")


@dataclass(frozen=True)
class Document:
    """One version of an open document. `uri` is as the client writes it, `text` with the client's line ends."""

    uri: str
    version: int
    text: str
    language: str

    @staticmethod
    def of(item: types.TextDocumentItem) -> Document:
        """What the client opens."""
        return Document(item.uri, item.version, item.text, item.language_id)

    @property
    def path(self) -> Path | None:
        """Where it is on the disk; None if it is not there, such as a new one."""
        return to_path(self.uri)

    @cached_property
    def lines(self) -> LineIndex:
        """The rows and columns of its text."""
        return LineIndex.of(self.text)

    @property
    def is_python(self) -> bool:
        """Whether there is something to lint."""
        return self.language == "python" or (not self.language and self.uri.endswith(_SUFFIXES))

    @cached_property
    def data(self) -> bytes:
        """What its file will hold when it is saved."""
        return as_saved(self.text)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of that."""
        return hashlib.sha256(self.data).hexdigest()

    def changed(self, version: int, changes: Sequence[Change], encoding: PositionEncoding) -> Document:
        """The version after changes, each of which is about the text that those before it leave."""
        document = replace(self, version=version)
        for change in changes:
            lines = _changed(document.lines, change, encoding)
            document = replace(document, text=lines.text)
            document.__dict__["lines"] = lines
        return document


def _changed(lines: LineIndex, change: Change, encoding: PositionEncoding) -> LineIndex:
    if isinstance(change, types.TextDocumentContentChangeWholeDocument):
        return LineIndex.of(change.text)
    start, end = (offset_of(place, lines, encoding) for place in (change.range.start, change.range.end))
    return lines.edited(min(start, end), max(start, end), change.text)
