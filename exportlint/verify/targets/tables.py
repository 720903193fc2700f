"""Mappings in files of JSON and YAML beside the code: configurations, and what models are made with."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_MOST_FILES = 40
"""How many files of data are looked at."""
_LONGEST = 20_000
"""Characters of such a file."""
_WITH_ATTRIBUTES = "type('Configuration', (dict,), {'__getattr__': dict.__getitem__})"
_KEY = re.compile(r"(?P<indent> *)(?P<item>- +)?(?P<key>[A-Za-z_]\w*) *:(?: +(?P<value>.*))?$")


@dataclass(frozen=True, slots=True)
class Table:
    """A mapping. `texts` are the strings among its values, and `code` is an expression for it.

    What that gives has the keys as attributes, too.
    """

    keys: frozenset[str]
    texts: frozenset[str]
    code: str


def tables(root: Path) -> Iterator[Table]:
    """The mappings in files of data up to two folders deep, each before those that it holds."""
    patterns = (f"{folder}*.{suffix}" for folder in ("", "*/", "*/*/") for suffix in ("json", "yaml", "yml"))
    files = (file for pattern in patterns for file in sorted(root.glob(pattern)))
    for file, _ in zip(files, range(_MOST_FILES), strict=False):
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, ValueError):
            continue
        if len(text) <= _LONGEST:
            yield from _of_json(text) if file.suffix == ".json" else _of_yaml(text)


def _of_json(text: str) -> Iterator[Table]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return
    waiting: list[tuple[tuple[str, ...], object]] = [((), document)]
    while waiting:
        path, value = waiting.pop(0)
        if isinstance(value, Mapping):
            texts = frozenset(item for item in value.values() if isinstance(item, str))
            yield _table(frozenset(map(str, value)), texts, repr(text), path)
            waiting += [((*path, key), item) for key, item in value.items()]


def _of_yaml(text: str) -> Iterator[Table]:
    """The mappings in block style, which is how people write them. Those inside of lists are left out."""
    known: dict[tuple[str, ...], tuple[set[str], set[str]]] = {}
    above: list[tuple[int, str | None]] = []
    for line in text.splitlines():
        match = _KEY.match(line.partition(" #")[0].rstrip())
        if match is None:
            continue
        indent = len(match["indent"])
        while above and above[-1][0] >= indent + len(match["item"] or ""):
            above.pop()
        if match["item"]:
            above.append((indent, None))
            continue
        path = [key for _, key in above]
        if None not in path:
            keys, texts = known.setdefault(tuple(key for key in path if key is not None), (set(), set()))
            keys.add(match["key"])
            texts.add((match["value"] or "").strip().strip("'\""))
        above.append((indent, match["key"]))
    document = f"__import__('json').dumps(__import__('yaml').safe_load({text!r}), default=str)"
    for path_of, (keys, texts) in known.items():
        yield _table(frozenset(keys), frozenset(texts), document, path_of)


def _table(keys: frozenset[str], texts: frozenset[str], document: str, path: tuple[str, ...]) -> Table:
    places = "".join(f"[{key!r}]" for key in path)
    return Table(keys, texts, f"__import__('json').loads({document}, object_hook={_WITH_ATTRIBUTES}){places}")
