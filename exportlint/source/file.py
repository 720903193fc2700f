"""One Python file as it is: its bytes, its text, and how to get from one to the other and back."""

from __future__ import annotations

import re
import stat
import tokenize
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from exportlint.source.errors import SourceError, SyntaxProblem, os_reason
from exportlint.source.lines import LineIndex

_BOM = b"\xef\xbb\xbf"
_TWO_LINES = re.compile(rb"([^\r\n]*(?:\r\n|\r|\n)?)([^\r\n]*)")
_LINE_END = re.compile(rb"\r\n?|\n")
_ASCII_ONLY = bytes(range(128)) + b"?" * 128

NOTEBOOK_SUFFIX = ".ipynb"

Place = tuple[int, int, str]
"""An edit as offsets from where to where, and what to put there."""


@dataclass(frozen=True)
class SourceFile:
    """A file's bytes and their text.

    `path` is as the user named it, `filename` what reports call it. `text` is without byte order mark, its line ends
    untouched. `encoding` is `utf-8-sig` for UTF-8 with a byte order mark.
    """

    path: Path
    filename: str
    data: bytes
    text: str
    encoding: str

    @cached_property
    def lines(self) -> LineIndex:
        """The rows and columns of `text`."""
        return LineIndex.of(self.text)

    @cached_property
    def normalized(self) -> str:
        """`text` with its names as Python compares them (NFKC)."""
        return self.text if self.text.isascii() else unicodedata.normalize("NFKC", self.text)

    @property
    def has_bom(self) -> bool:
        """Whether the file starts with a UTF-8 byte order mark."""
        return self.encoding == "utf-8-sig"

    @property
    def problems(self) -> tuple[SyntaxProblem, ...]:
        """Parts of the file that are not Python, and that `text` has blanks for."""
        return ()

    def row_name(self, row: int) -> str:
        """What people call a row of `text`."""
        return f"line {row}"

    def block(self, row: int) -> range:  # noqa: ARG002 - a notebook's depends on it
        """The rows that run as one with `row`: all of them, but a notebook's only cell by cell."""
        return range(1, len(self.lines) + 1)

    def admits(self, edits: Sequence[Place]) -> bool:  # noqa: ARG002 - a notebook's depends on them
        """Whether edits leave alone what `text` does not show of the file."""
        return True

    @property
    def is_faithful(self) -> bool:
        """Whether writing the text gives the same bytes. A few stateful legacy encodings spell one text in two ways."""
        try:
            return self.encode(self.text) == self.data
        except SourceError:
            return False

    def edited(self, edits: Sequence[Place]) -> SourceFile:
        """The file after edits of its text, which are in order and do not overlap; other bytes stay if it is faithful.

        Raises SourceError where the encoding lacks a character, or what comes of the edits cannot be read.
        """
        return from_bytes(self.encode(replaced(self.text, edits)), self.path, self.filename)

    def encode(self, text: str) -> bytes:
        """The bytes of `text` in the encoding of this file, with its byte order mark.

        Raises SourceError where the encoding lacks a character.
        """
        try:
            return text.encode(self.encoding)
        except UnicodeEncodeError as error:
            row = LineIndex(text).position(error.start).row
            lacking = f"U+{ord(text[error.start]):04X}"
            raise SourceError(self.filename, f"{lacking} cannot be written as {self.encoding}", row) from None


def replaced(text: str, edits: Sequence[Place]) -> str:
    """A text after edits, which are in order and do not overlap."""
    parts: list[str] = []
    end = 0
    for start, stop, content in edits:
        parts += [text[end:start], content]
        end = stop
    return "".join([*parts, text[end:]])


def read(path: Path, filename: str | None = None) -> SourceFile:
    """Reads one file. Raises SourceError if it cannot be read or is not Python text."""
    name = str(path) if filename is None else filename
    try:
        kind = path.stat().st_mode
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
            raise SourceError(name, "is not a regular file")
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        raise SourceError(name, f"cannot be read: {os_reason(error)}") from None
    return from_bytes(data, path, name)


def from_bytes(data: bytes, path: Path, filename: str | None = None) -> SourceFile:
    """Decodes a file by its byte order mark or PEP 263 declaration. Raises SourceError if it is not Python text.

    A path that ends in `.ipynb` is a notebook's.
    """
    name = str(path) if filename is None else filename
    if is_notebook(path):
        from exportlint.source.notebook import from_json

        return from_json(data, path, name)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise SourceError(name, "is UTF-16, which Python cannot read: save it as UTF-8", 1)
    encoding = _declared_encoding(data, name)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        # `error.object` is `data` without what the codec skipped, a byte order mark.
        row = len(_LINE_END.findall(error.object, 0, error.start)) + 1
        shown = "UTF-8" if encoding.startswith("utf-8") else encoding
        hint = ": save it as UTF-8, or declare its encoding in line 1 (PEP 263)" if shown == "UTF-8" else ""
        raise SourceError(name, f"byte 0x{error.object[error.start]:02x} is not {shown}{hint}", row) from None
    except (LookupError, UnicodeError):
        raise SourceError(name, f"declares the encoding '{encoding}', which is not a text encoding", 1) from None
    if "\0" in text:
        row = LineIndex(text).position(text.index("\0")).row
        raise SourceError(name, "holds a NUL character, so it is not Python text", row)
    return SourceFile(path, name, data, text, encoding)


def is_notebook(path: Path | str) -> bool:
    """Whether a file is a notebook, by its name."""
    return str(path).endswith(NOTEBOOK_SUFFIX)


def from_text(text: str, path: Path, filename: str | None = None) -> SourceFile:
    """A file that an editor holds, as UTF-8. Raises nothing: what is wrong with the text, `parse` says."""
    name = str(path) if filename is None else filename
    data = text.encode("utf-8", "surrogatepass")
    if text.startswith("\ufeff"):
        return SourceFile(path, name, data, text[1:], "utf-8-sig")
    return SourceFile(path, name, data, text, "utf-8")


def _declared_encoding(data: bytes, filename: str) -> str:
    bom = _BOM if data.startswith(_BOM) else b""
    head = _TWO_LINES.match(data, len(bom))
    assert head is not None
    # Like Python itself, and unlike tokenize: a lone CR ends a line, and a declaration may share its line with
    # characters that are not UTF-8.
    first, second = (line.translate(_ASCII_ONLY) for line in head.groups())
    try:
        return tokenize.detect_encoding(iter([bom + first, second]).__next__)[0]
    except SyntaxError as error:
        if bom:
            raise SourceError(filename, "has a UTF-8 byte order mark, but declares another encoding", 1) from None
        raise SourceError(filename, f"{error.msg}: no such encoding (PEP 263)", 1) from None
