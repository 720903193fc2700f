"""Mappings in files of JSON, YAML and Python beside the code: configurations, and what models are made with."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from exportlint.verify.targets.python_data import is_data, mappings

_MOST_FILES = 40
"""How many files of data are looked at."""
_LONGEST = 20_000
"""Characters of such a file."""
_FOLDERS = ("", "*/", "*/*/", "*/*/*/")
_WITH_ATTRIBUTES = (
    "type('Configuration', (dict,), {'__getattr__':"
    " lambda self, name: self[name] if name in self else object.__getattribute__(self, name)})"
)
_KEY = re.compile(r"(?P<indent> *)(?P<item>- +)?(?P<key>[A-Za-z_]\w*) *:(?: +(?P<value>.*))?$")


@dataclass(frozen=True, slots=True)
class Table:
    """A mapping. `texts` are the strings among its values, and `code` is an expression for it.

    What that gives has the keys as attributes, too. `whole` is the table of the file, for one inside of it.
    """

    keys: frozenset[str]
    texts: frozenset[str]
    code: str
    whole: Table | None = None


def tables(root: Path) -> Iterator[Table]:
    """The mappings in files of data up to two folders deep, each before those that it holds.

    Files of Python may be three folders deep, as `configs/_base_/models/net.py`.
    """
    yield from _of_files(root, ("json", "yaml", "yml"), _FOLDERS[:-1], lambda _: True)
    yield from _of_files(root, ("py",), _FOLDERS, is_data)


def _of_files(
    root: Path, suffixes: tuple[str, ...], folders: tuple[str, ...], is_wanted: Callable[[str], bool]
) -> Iterator[Table]:
    patterns = (f"{folder}*.{suffix}" for folder in folders for suffix in suffixes)
    count = 0
    for file in (file for pattern in patterns for file in sorted(root.glob(pattern))):
        try:
            text = file.read_text(encoding="utf-8") if file.stat().st_size <= 4 * _LONGEST else ""
        except (OSError, ValueError):
            continue
        if text and len(text) <= _LONGEST and is_wanted(text):
            whole: Table | None = None
            for table in _READERS[file.suffix](text):
                yield table if whole is None else replace(table, whole=whole)
                whole = whole or table
            count += 1
        if count == _MOST_FILES:
            return


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


def _of_python(text: str) -> Iterator[Table]:
    document = (
        f"(lambda made, value: made(made, value))(lambda made, value: {_WITH_ATTRIBUTES}((key, made(made, item))"
        " for key, item in value.items()) if isinstance(value, dict)"
        " else type(value)(made(made, item) for item in value) if type(value) in (list, tuple) else value,"
        f" (lambda names: exec({text!r}, names) or {{name: value for name, value in names.items()"
        " if name[:2] != '__'})({}))"
    )
    for path, keys, texts in mappings(text):
        yield Table(keys, texts, document + "".join(f"[{key!r}]" for key in path))


_READERS: Mapping[str, Callable[[str], Iterator[Table]]] = {
    ".json": _of_json,
    ".yaml": _of_yaml,
    ".yml": _of_yaml,
    ".py": _of_python,
}
