"""The lines of a log as the program printed them: without colours, timestamps and what else wraps put before them."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import BinaryIO

MAX_LINE = 4_000
"""Characters of a line that are kept; tensors and graphs are printed in longer ones."""
_CHUNK = 1 << 16

_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]")
_PREFIXES = re.compile(
    r"(?:"
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?(?: (?=\S)|[ \t]*-[ \t]+| |\t|$)"
    r"|\[\d\d:\d\d:\d\d(?:[.,]\d+)?\] ?"
    r"|[VDIWEFC]\d{4}(?:\d{4})? \d\d:\d\d:\d\d\.\d+ (?:\d+ )*[^\s\]]+:\d+\] ?(?:\[[\w/!]+\] ?)*"  # glog, TORCH_LOGS
    r"|\[?(?:default\d+|rank ?\d+)\]?: ?"
    r"|[\w.-]+-\d+ +\| "  # docker compose
    r"|##\[(?:error|debug|command|group)\]"
    r"|E(?:   |$)(?!File )"  # pytest
    r"|(?:  )*\| (?=\s*File \"|\s*Traceback|\s{4}\S|[\w.]+(?:Error|Exception|Unsupported): )"  # a group of exceptions
    r")"
)
_ERROR_OF_LOGGER = re.compile(r"(?:ERROR|CRITICAL)(?::[\w.]+:| +\| | - )(?=Traceback|[\w.]+(?:Error|Exception): )")


class NotTextError(ValueError):
    """What is read is not text."""


def read_lines(stream: BinaryIO) -> Iterator[str]:
    """The lines of a stream, cleaned. Only one of them is held at a time, and of long ones only their beginning.

    Raises:
        NotTextError: it holds bytes that text does not have.
    """
    quoted = False
    for line in map(clean, _decoded(stream)):
        # In a quotation all lines begin so; elsewhere, pytest marks a line of code.
        quoted = line.startswith("> Traceback (") or (quoted and line.startswith(">"))
        yield line[1:].removeprefix(" ") if quoted else line


def clean(line: str) -> str:
    """A line without what is not the program's."""
    line = _ESCAPES.sub("", line).rstrip()
    if "\r" in line:  # a progress bar
        line = line.rpartition("\r")[2]
    while (found := _PREFIXES.match(line)) is not None and found.end():
        line = line[found.end() :]
    return _ERROR_OF_LOGGER.sub("", line, count=1) if line.startswith(("ERROR", "CRITICAL")) else line


def _decoded(stream: BinaryIO) -> Iterator[str]:
    first = stream.read(_CHUNK)
    encoding = "utf-8-sig"
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):  # what PowerShell writes with `>`
        encoding = "utf-16"
    elif b"\0" in first:
        raise NotTextError
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    rest = ""
    cut = False  # whether the line that `rest` begins was longer than what is kept
    chunk = first
    while chunk:
        if encoding != "utf-16" and b"\0" in chunk:
            raise NotTextError
        *lines, rest = (rest + decoder.decode(chunk)).split("\n")
        for line in lines:
            if not cut:
                yield line[:MAX_LINE]
            cut = False
        if len(rest) > MAX_LINE:
            if not cut:
                yield rest[:MAX_LINE]
            cut, rest = True, ""
        elif cut:
            rest = ""
        chunk = stream.read(_CHUNK)
    rest += decoder.decode(b"", final=True)
    if rest and not cut:
        yield rest[:MAX_LINE]
