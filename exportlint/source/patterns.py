"""File patterns with Ruff's meaning, as `include`, `exclude` and `per-file-ignores` use them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from exportlint.source.globs import CLASS, Part, alternatives, assembled

_MAX_ALTERNATIVES = 256
_MAGIC = re.compile(r"[*?\[{\\]")


def absolute(path: Path) -> str:
    """The absolute name, `/` between its names. Symbolic links stay: patterns are about names that users see."""
    return Path(os.path.abspath(path)).as_posix()  # noqa: PTH100 - resolve() follows links


class PathPatterns:
    """Patterns that a path matches by its last name, or as a whole.

    A pattern without `/` matches that name anywhere (`.venv`, `*_pb2.py`). One with `/` is a path relative to `root`
    (`src/generated`, `tests/*.py`), or absolute. `*` and `**` match across `/`, `?` one character, `[ab]`, `[!ab]` one
    of a set, `{a,b}` one of several.
    """

    def __init__(self, patterns: Iterable[str], root: Path) -> None:
        base = absolute(root).rstrip("/")
        self._names: set[str] = set()
        names: list[str] = []
        paths: list[str] = []
        for pattern in patterns:
            pattern = pattern.replace(os.sep, "/")
            if "/" in pattern:
                paths.append(_anchored(pattern, base))
            elif _MAGIC.search(pattern):
                names.append(_translate(pattern))
            else:
                self._names.add(pattern)
        self._name = re.compile("|".join(names), re.DOTALL) if names else None
        self._path = re.compile("|".join(paths), re.DOTALL) if paths else None

    def match(self, path: str) -> bool:
        """Whether an absolute path, `/` between its names and none at its end, matches one of the patterns."""
        name = path.rpartition("/")[2]
        return (
            name in self._names
            or (self._name is not None and self._name.fullmatch(name) is not None)
            or (self._path is not None and self._path.fullmatch(path) is not None)
        )


def _anchored(pattern: str, base: str) -> str:
    if Path(pattern).is_absolute():
        return _translate(pattern.rstrip("/"))
    names = [name for name in pattern.split("/") if name not in ("", ".")]
    while names and names[0] == "..":
        base = base.rpartition("/")[0]
        del names[0]
    return re.escape(base + "/") + _translate("/".join(names))


def _translate(pattern: str) -> str:
    """The regular expression of a pattern. What is not closed is taken literally, and so are too many braces."""
    choices = alternatives(pattern, _MAX_ALTERNATIVES) or [pattern]
    return f"(?:{'|'.join(assembled(_parts(choice)) for choice in choices)})"


def _parts(pattern: str) -> Iterator[Part]:
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if pattern.startswith("**/", at) and (at == 0 or pattern[at - 1] == "/"):
            yield Part("(?:.*?/)??", is_wildcard=True)
            at += 2
        elif char == "*":
            if at == 0 or pattern[at - 1] != "*":
                yield Part(".*?", is_wildcard=True)
        elif char == "?":
            yield Part(".")
        elif char == "[" and (chars := CLASS.match(pattern, at)):
            yield Part(one_of(chars[2], negated=chars[1] == "!"))
            at = chars.end() - 1
        elif char == "\\" and at + 1 < len(pattern):
            at += 1
            yield Part(re.escape(pattern[at]))
        else:
            yield Part(re.escape(char))
        at += 1


def one_of(chars: str, negated: bool) -> str:
    """The expression of `[chars]`, with ranges and escapes; literal if a range runs backwards."""
    ranges = re.findall(r"\\?(.)-\\?(.)|\\?(.)", chars, re.DOTALL)
    body = "".join(f"{re.escape(low)}-{re.escape(high)}" if low else re.escape(char) for low, high, char in ranges)
    expression = f"[{'^' if negated else ''}{body}]"
    try:
        re.compile(expression)
    except re.error:
        return re.escape(f"[{chars}]")
    return expression
