"""What code asks of the process and the machine through Python's standard library, and other answers to that.

A function that is called without arguments and gives a number, a text or a truth value can only have it from there.
What is read of files is asked with arguments, so that is told by where it ends: in the functions of `os` and `io`.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import io
import os
import stat
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from .frames import is_of_project
from .own import is_own
from .shadows import copied_module, shadowed
from .texts import short

_STANDARD = frozenset(
    getattr(sys, "stdlib_module_names", ())  # from Python 3.10 on
    or ("gc", "getpass", "locale", "_locale", "os", "nt", "platform", "posix", "shutil", "socket", "_socket", "sys")
)
_ELSEWHERE = frozenset(("builtins", "datetime", "random", "_random", "secrets", "time", "uuid"))
"""The clock and random numbers, which are varied by other means, or are different each time anyway."""
_PURE = frozenset(
    ("collections", "contextlib", "copy", "dataclasses", "enum", "functools", "itertools", "math", "operator", "re")
) | {"string", "types", "typing", "warnings"}
"""Modules that most models use, and that ask nothing."""
_SETTINGS = ("os", "sys")
"""Modules whose plain values say what the process and the machine are, and not what numbers are, as `math.pi` does."""
_MOST_ANSWERS = 4
_NOWHERE = "\0"
"""Added to paths, so that nothing is read or written there: the system refuses such a path."""
_FAR = 1 << 22
"""Added to large numbers: it may be the identifier of a process, of which no other one must be meant."""


@dataclass
class Asked:
    """What code of the project asked of the standard library, with the answers that it got."""

    functions: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    """Functions by their identity, with what they gave."""
    files: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Answer:
    """Another answer to something that was asked; `is_setting`: to what everybody knows that a program keeps."""

    label: str
    enter: Callable[[Any], AbstractContextManager[None]]
    is_setting: bool = False


class Questions:
    """What code of some modules may ask. `names` are those that it mentions, `attributes` those of what names hold."""

    def __init__(self, modules: Sequence[Any], root: str, names: set[str], attributes: set[tuple[str, str]]) -> None:
        self._modules = modules
        self._root = root
        self._names = names
        self._attributes = attributes

    def may_be_asked(self, model: Any) -> bool:
        """Whether the code mentions anything that asks, also what a part of the model keeps."""
        holders = [vars(holder) for holder in (*self._modules, *model.modules())]
        values = (value for holder in holders for name, value in holder.items() if name in self._names)
        return (
            "open" in self._names
            or any(_is_asking(name) and name in sys.modules for name in self._names)
            or any(_is_asking(getattr(value, "__module__" if callable(value) else "__name__", "")) for value in values)
        )

    @contextlib.contextmanager
    def listening(self, model: Any) -> Iterator[Asked]:
        """Note what the code asks meanwhile."""
        asked = Asked()

        def heard(function: Any, value: Any) -> Any:
            if _others(value, (), ()):
                asked.functions[id(function)] = function, value
            return value

        def noted(path: str, _: Any) -> None:
            asked.files.add(path)

        with shadowed(self._modules, model, _replacing(self._names, heard)), _files(self._root, noted):
            yield asked

    def answers(self, asked: Asked, texts: Sequence[str], numbers: Sequence[int]) -> Iterator[Answer]:
        """Other answers to what was asked, one after the other."""
        for function, value in asked.functions.values():
            for other in _others(value, texts, numbers):
                enter = functools.partial(self._answering, function, other)
                yield Answer(f"{_spelled(function)}() = {_shown(other)}", enter)
        if asked.files:
            shown = ", ".join(map(os.path.basename, sorted(asked.files)[:2]))
            yield Answer(f"other files ({shown})", lambda _: _files(self._root, _otherwise), is_setting=True)
        for spelled, name in sorted(self._attributes):
            value = getattr(sys.modules[spelled], name, None) if spelled in _SETTINGS else None
            for other in _others(value, texts, ()):
                enter = functools.partial(self._set, sys.modules[spelled], name, other)
                yield Answer(f"{spelled}.{name} = {_shown(other)}", enter, is_setting=True)

    def _answering(self, function: Any, other: Any, model: Any) -> Any:
        def heard(asked: Any, value: Any) -> Any:
            return other if asked is function else value

        return shadowed(self._modules, model, _replacing(self._names, heard))

    def _set(self, module: Any, name: str, other: Any, model: Any) -> Any:
        changed = copied_module(module, lambda _: None)
        setattr(changed, name, other)
        return shadowed(self._modules, model, lambda value: changed if value is module else None)


def _replacing(names: set[str], heard: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """What code that mentions some names sees in place of functions, which `heard` is told of with what they gave."""
    known: dict[int, Any] = {}

    def instead(value: Any) -> Any:
        if id(value) not in known:
            known[id(value)] = None  # modules import each other
            if isinstance(value, types.ModuleType):
                known[id(value)] = _replaced(value) if _is_asking(value.__name__) else None
            elif _is_question(value):
                known[id(value)] = _wrapped(value, heard)
        return known[id(value)]

    def _replaced(module: types.ModuleType) -> Any:
        mentioned = [value for name, value in list(vars(module).items()) if name in names]
        found = {id(value): new for value in mentioned if (new := instead(value)) is not None}
        return copied_module(module, lambda value: found.get(id(value))) if found else None

    return instead


def _wrapped(function: Any, heard: Callable[[Any, Any], Any]) -> Any:
    @functools.wraps(function)
    def asked(*arguments: Any, **keywords: Any) -> Any:
        value = function(*arguments, **keywords)
        return value if arguments or keywords else heard(function, value)

    return asked


def _is_standard(name: Any) -> bool:
    return isinstance(name, str) and name.partition(".")[0] in _STANDARD


def _is_asking(name: Any) -> bool:
    return _is_standard(name) and name.partition(".")[0] not in _ELSEWHERE | _PURE


def _is_question(value: Any) -> bool:
    return isinstance(value, (types.FunctionType, types.BuiltinFunctionType)) and _is_asking(value.__module__)


def _spelled(function: Any) -> str:
    module = function.__module__
    return f"{'os' if module in ('posix', 'nt') else module.lstrip('_')}.{function.__name__}"


def _shown(value: Any) -> str:
    return short(value).replace(repr(_NOWHERE)[1:-1], "_")


def _others(value: Any, texts: Sequence[str], numbers: Sequence[int]) -> list[Any]:
    """Other values of the kind of an answer; none if it is neither a plain value nor made of some."""
    if type(value) is str and os.path.isabs(value):
        return [value + _NOWHERE]
    if isinstance(value, (tuple, list)):
        parts = [_others(part, texts, ()) for part in value]
        most = max(map(len, parts), default=0)
        made = [[part[min(i, len(part) - 1)] if part else old for part, old in zip(parts, value)] for i in range(most)]  # noqa: B905
        longer = [[*value, value[-1]]] if type(value) is list and value else []
        return [*longer, *(again for items in made if (again := _remade(value, items)) is not None)]
    if isinstance(value, bool):
        return [not value]
    if type(value) is int:
        near = (other for number in numbers for other in (number, number + 1, number - 1))
        found: list[Any] = [value + 1 if value < 1000 else value + _FAR + 1, *near]
    elif type(value) is float:
        found = [value + 1]
    elif type(value) is str:
        found = [*(text for text in texts if text), f"{value}_"]
    else:
        return []
    return [other for other in dict.fromkeys(found) if other != value][:_MOST_ANSWERS]


def _remade(value: Any, items: list[Any]) -> Any:
    if not hasattr(value, "_replace"):
        with contextlib.suppress(Exception):
            return type(value)(items)
        return None
    for name, item in zip(value._fields, items):  # noqa: B905
        with contextlib.suppress(Exception):  # of a field that is computed, as one of `platform.uname()`
            value = value._replace(**{name: item})
    return value


_Change = Callable[[str, Callable[[], Any]], Any]
"""What is seen in place of what asking about a path gives, and None for that itself."""


@contextlib.contextmanager
def _files(root: str, change: _Change) -> Iterator[None]:
    """Have what code of the project asks about files, and reads of texts, be what `change` makes of it."""
    places = ((os, "stat"), (os, "lstat"), (os, "listdir"), (os, "access"), (io, "open"), (builtins, "open"))
    originals = [(holder, name, getattr(holder, name)) for holder, name in places]
    for holder, name, original in originals:
        setattr(holder, name, _asking(original, root, change))
    try:
        yield
    finally:
        for holder, name, original in originals:
            setattr(holder, name, original)


def _asking(original: Any, root: str, change: _Change) -> Any:
    @functools.wraps(original)
    def asked(path: Any = ".", *rest: Any, **options: Any) -> Any:
        ask = functools.partial(original, path, *rest, **options)
        mode = rest[0] if rest else options.get("mode", "r")
        reads = original is not _OPEN or not set(mode) & set("wxa+b")
        if not reads or not isinstance(path, (str, os.PathLike)) or not _is_asked_by_project(root):
            return ask()
        new = change(os.fspath(path), ask)
        return ask() if new is None else new

    return asked


_OPEN = io.open


def _is_asked_by_project(root: str) -> bool:
    frame: Any = sys._getframe(2)
    while frame is not None and (_is_standard(frame.f_globals.get("__name__")) or is_own(frame.f_code.co_filename)):
        frame = frame.f_back
    return frame is not None and is_of_project(frame.f_code.co_filename, root)


def _otherwise(_: str, ask: Callable[[], Any]) -> Any:
    """What asking about a path gives if the file is another one, or one that there is not.

    What is there stays there: code that believes it gone may write it anew.
    """
    try:
        value = ask()
    except FileNotFoundError:
        return os.stat_result(_STAT) if ask.func.__name__ in ("stat", "lstat") else None  # type: ignore[attr-defined]
    if isinstance(value, bool):
        return not value
    if isinstance(value, os.stat_result):
        return os.stat_result([*value[:6], value.st_size + 1, *(seconds + _DAY for seconds in value[7:10])])
    if isinstance(value, list):
        return [*value, _NEW]
    with value:
        return io.StringIO(_changed(value.read()))


_STAT = (stat.S_IFREG | 0o644, 1, 1, 1, 0, 0, 1, 1, 1, 1)
_DAY = 86_400
_NEW = "another"


def _changed(text: str) -> str:
    """A text with other numbers, which is read as before, or a longer one if it has none."""
    digits = "0123456789"
    changed = text.translate(str.maketrans(digits, digits[1:] + "1"))
    return changed if changed != text else f"{text.rstrip()}_\n"
