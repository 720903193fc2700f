"""What else than its inputs a model reads: the clock, the environment, globals, what torch is set to."""

from __future__ import annotations

import builtins
import contextlib
import datetime
import dis
import functools
import os
import sys
import time
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from .answers import Asked, Questions
from .frames import is_of_project
from .lazily import torch
from .shadows import copied_module, shadowed
from .values import another
from .varying import zipped

_LATER = {"a year later": 400 * 24 * 3600 + 12_345, "a year and half a minute later": 400 * 24 * 3600 + 12_376}
"""In seconds. Each field of a date differs, and between the two whether the number of seconds is even."""
_CLOCKS = ("time", "monotonic", "perf_counter", "process_time", "thread_time")
_CLOCKS_BY_DEFAULT = ("localtime", "gmtime", "ctime")
"""Those that tell of the present unless they are given a time."""
_CLOCK_MODULES = frozenset(("time", "datetime"))
_FACTORIES = frozenset(
    ("arange", "empty", "eye", "full", "linspace", "logspace", "ones", "rand", "randn", "tensor", "zeros")
)
"""Functions of torch that give the default dtype, where they are told none."""
_LOADS = ("LOAD_GLOBAL", "LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_DEREF", "LOAD_NAME")
_MOST_VARIABLES, _MOST_TEXTS = 4, 4
_MOST_GLOBALS = 8
_SEEDS = 8


@dataclass(frozen=True)
class World:
    """Another state of what a model reads besides its inputs.

    `is_claimed`: a model that reads it is meant to see its changes. Of the rest, such as training mode and constants of
    modules, everybody knows that a program keeps them.
    """

    kind: str
    label: str
    enter: Callable[[Any], AbstractContextManager[None]]
    """Takes the model, or the program, and holds while the result is used."""
    is_claimed: bool = True
    seed: int = 0
    """What is added to the seed of the call."""
    shares: bool | None = None
    """Whether inputs that are alike are one object then, where they are not, or each its own."""


class Reads:
    """What the code of the project that ran names: the code objects are those of its files with rows that ran."""

    def __init__(self, rows: Mapping[str, set[int]], root: str, variables: set[str]) -> None:
        self.variables = sorted(variables)
        self.modules = [
            module
            for module in {id(module): module for module in sys.modules.values()}.values()
            if isinstance(file := getattr(module, "__dict__", {}).get("__file__"), str) and is_of_project(file, root)
        ]
        self._codes = [code for module in self.modules for code in _codes_that_ran(module, rows)]
        self.names = {name for code in self._codes for name in (*code.co_names, *code.co_freevars)}
        self.questions = Questions(self.modules, root, self.names, set(_attributes(self._codes)))

    @property
    def compares_identity(self) -> bool:
        """Whether the code asks of anything but None whether it is another thing."""
        return any(
            now.opname == "IS_OP" and not (before.opname == "LOAD_CONST" and before.argval is None)
            for steps in map(list, map(dis.get_instructions, self._codes))
            for before, now in zipped(steps, steps[1:])
        )

    @property
    def numbers(self) -> list[int]:
        """The numbers in the code that may be sizes, the smaller ones first."""
        found = {value for code in self._codes for value in _constants(code) if type(value) is int}
        return sorted(number for number in found if 1 < number < 1 << 16)

    @property
    def texts(self) -> list[str]:
        """The strings in the code, without those that explain it."""
        found = [v for c in self._codes for v in _constants(c) if isinstance(v, str) and v != _docstring(c)]
        return list(dict.fromkeys(text for text in found if len(text) <= 40))


@contextlib.contextmanager
def environment_reads(root: str) -> Iterator[set[str]]:
    """The environment variables that code of the project asks for meanwhile."""
    found: set[str] = set()
    kind: Any = type(os.environ)
    original = kind.__getitem__

    def read(self: Any, key: Any) -> Any:
        frame: Any = sys._getframe(1)
        for _ in range(3):  # `get` of a mapping and `os.getenv` stand in between
            if frame is not None and is_of_project(frame.f_code.co_filename, root):
                found.add(str(key))
                break
            frame = frame and frame.f_back
        return original(self, key)

    kind.__getitem__ = read
    try:
        yield found
    finally:
        kind.__getitem__ = original


def worlds(model: Any, reads: Reads, asked: Asked) -> Iterator[World]:
    """The other worlds that the code which ran may tell from this one; `asked` is what it asked in it."""
    for name in reads.variables[:_MOST_VARIABLES]:
        now = os.environ.get(name)
        texts = [text for text in reads.texts if text not in (name, now)][:_MOST_TEXTS]
        for value in ("1", "0", *texts) if now is None else (None, "0" if now == "1" else "1", *texts):
            if value != now:
                shown = f"{name} unset" if value is None else f"{name}={value}"
                yield World("environment", shown, lambda _, n=name, v=value: _with_variable(n, v))  # type: ignore[misc]
    for answer in reads.questions.answers(asked, reads.texts[:_MOST_TEXTS], reads.numbers):
        yield World("environment", answer.label, answer.enter, is_claimed=not answer.is_setting)
    if _CLOCK_MODULES & reads.names or any(
        _later(value, 0) is not None for module in reads.modules for value in _named(module, reads.names)
    ):
        for label, seconds in _LATER.items():
            yield World("time", label, functools.partial(_in_time, reads.modules, seconds))
    if reads.names & {"id", "hash"}:
        yield World("identity", "other objects", functools.partial(_elsewhere, reads.modules))
    if reads.compares_identity:
        for shares, label in ((True, "one tensor for several inputs"), (False, "a separate tensor for each input")):
            yield World("identity", label, lambda _: contextlib.nullcontext(), shares=shares)
    if any(_draws(value) for module in reads.modules for value in _named(module, reads.names)):
        for seed in range(1, _SEEDS):
            yield World("again", f"seed {seed}", lambda _: contextlib.nullcontext(), seed=1000 * seed)
    if reads.names & (_FACTORIES | {"get_default_dtype"}):
        yield World("default dtype", "another default dtype", lambda _: _with_default_dtype(), is_claimed=False)
    if "is_grad_enabled" in reads.names:
        yield World("grad mode", "under torch.no_grad()", lambda _: torch.no_grad(), is_claimed=False)
    if "training" in reads.names or any(_asks_for_mode(part) for part in model.modules()):
        yield World("mode", "training" if not model.training else "evaluation", _switched, is_claimed=False)
    yield from _other_globals(reads)


def _attributes(codes: Iterable[types.CodeType]) -> Iterator[tuple[str, str]]:
    """The attributes that code reads of what a name holds, each with the name."""
    for steps in map(list, map(dis.get_instructions, codes)):
        for before, now in zipped(steps, steps[1:]):
            if now.opname in ("LOAD_ATTR", "LOAD_METHOD") and before.opname in _LOADS:
                yield str(before.argval), str(now.argval)


def _attribute(value: Any, name: str, default: Any) -> Any:
    """An attribute of whatever a module holds. What stands for a package that is not installed raises all kinds."""
    try:
        return getattr(value, name, default)
    except Exception:
        return default


def _draws(value: Any) -> bool:
    """Whether a global is Python's or numpy's random numbers."""
    name = _attribute(value, "__name__", "")
    if isinstance(value, types.ModuleType):
        return name in ("random", "numpy", "numpy.random")
    return type(_attribute(value, "__self__", value)).__module__ in ("random", "numpy.random.mtrand")


def _named(module: Any, names: set[str]) -> Iterator[Any]:
    return (value for name, value in list(vars(module).items()) if name in names)


def _codes_that_ran(module: Any, rows: Mapping[str, set[int]]) -> Iterator[types.CodeType]:
    ran = rows.get(os.path.abspath(module.__file__), set())
    waiting: list[Any] = list(vars(module).values()) if ran else []
    seen: set[int] = set()
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, type) and value.__module__ == module.__name__:
            waiting += vars(value).values()
        value = _attribute(value, "__func__", value)
        value = _attribute(value, "__wrapped__", value)
        value = _attribute(value, "fget", None) or value
        code = value if isinstance(value, types.CodeType) else _attribute(value, "__code__", None)
        if isinstance(code, types.CodeType) and code.co_filename == module.__file__:
            waiting += [part for part in code.co_consts if isinstance(part, types.CodeType)]
            if any(row in ran for _, _, row in _lines(code)):
                yield code


def _lines(code: types.CodeType) -> Any:
    lines = getattr(code, "co_lines", None)  # from Python 3.10 on
    return lines() if lines else [(0, 0, code.co_firstlineno + 1)]


def _constants(code: types.CodeType) -> Iterator[Any]:
    for value in code.co_consts:
        if isinstance(value, (tuple, frozenset)):
            yield from value
        else:
            yield value


def _docstring(code: types.CodeType) -> Any:
    return code.co_consts[0] if code.co_consts else None


@contextlib.contextmanager
def _with_variable(name: str, value: str | None) -> Iterator[None]:
    before = os.environ.get(name)

    def put(value: str | None) -> None:
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value

    put(value)
    try:
        yield
    finally:
        put(before)


@contextlib.contextmanager
def _with_default_dtype() -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64 if before != torch.float64 else torch.float32)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


@contextlib.contextmanager
def _switched(module: Any) -> Iterator[None]:
    with contextlib.suppress(NotImplementedError):  # of a program, which keeps its mode
        module.train(not module.training)
    yield


def _asks_for_mode(part: Any) -> bool:
    """Whether a part of a model is one of torch's that behave otherwise in training mode."""
    kind = type(part)
    return (
        kind.__module__.startswith("torch.nn.modules.")
        and kind.__module__.endswith(("dropout", "batchnorm", "instancenorm", "activation"))
        and hasattr(part, "p" if "ropout" in kind.__name__ else "track_running_stats")
    )


def _in_time(modules: list[Any], seconds: int, model: Any) -> Any:
    """Have the modules of the project see a later time, also where a function imports a clock itself."""
    return shadowed(modules, model, functools.partial(_later, seconds=seconds))


def _later(value: Any, seconds: int) -> Any:
    """What a clock, or a module with clocks, becomes so many seconds later; None for all else."""
    if value is time or value is datetime:
        return copied_module(value, functools.partial(_later, seconds=seconds))
    for clock in _CLOCKS:
        for name, later in ((clock, seconds), (f"{clock}_ns", seconds * 10**9)):
            original = getattr(time, name, None)
            if original is not None and value is original:
                return functools.partial(_added, original, later)
    for name in _CLOCKS_BY_DEFAULT:
        if value is getattr(time, name):
            return functools.partial(_at, value, seconds)
    if value is datetime.datetime or value is datetime.date:
        return _later_dates(datetime.timedelta(seconds=seconds))[value is datetime.date]
    return None


def _added(clock: Callable[[], Any], later: int) -> Any:
    return clock() + later


def _at(function: Callable[[float], Any], later: int, seconds: float | None = None) -> Any:
    return function(time.time() + later if seconds is None else seconds)


def _later_dates(later: datetime.timedelta) -> tuple[type, type]:
    """What `datetime.datetime` and `datetime.date` become."""

    class Datetime(datetime.datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.datetime.now(tz) + later

        @classmethod
        def utcnow(cls) -> Any:
            return cls.now(datetime.timezone.utc).replace(tzinfo=None)

        @classmethod
        def today(cls) -> Any:
            return cls.now()

    class Date(datetime.date):
        @classmethod
        def today(cls) -> Any:
            return Datetime.now().date()

    return Datetime, Date


def _elsewhere(modules: list[Any], model: Any) -> Any:
    """Have the modules of the project see what lies elsewhere in memory, and texts that are hashed as elsewhere."""
    others: dict[str, Any] = {"id": lambda thing: 2 * id(thing), "hash": _hashed}
    own: dict[int, Any] = {id(getattr(builtins, name)): other for name, other in others.items()}
    return shadowed(modules, model, lambda value: own.get(id(value)), others)


def _hashed(value: Any) -> int:
    """The hash in another process, where it is not that of numbers."""
    if isinstance(value, tuple):
        return hash(tuple(map(_hashed, value)))
    is_salted = isinstance(value, (str, bytes)) or getattr(type(value), "__hash__", None) is object.__hash__
    return hash(value) + 1 if is_salted else hash(value)


def _other_globals(reads: Reads) -> Iterator[World]:
    """One after the other, the globals with a number or a truth value that code which ran reads.

    Not texts: they are paths and addresses.
    """
    seen: set[tuple[int, Any]] = set()
    for module in reads.modules:
        for holder, key, shown in _plain_globals(module, reads.names):
            other = None if isinstance(holder[key], str) else another(holder[key])
            if other is not None and len(seen) < _MOST_GLOBALS and (id(holder), key) not in seen:
                seen.add((id(holder), key))  # which several modules may import
                name = f"{shown} = {other!r}"
                yield World("global", name, lambda _, h=holder, k=key, o=other: _put(h, k, o), is_claimed=False)  # type: ignore[misc]


def _plain_globals(module: Any, names: set[str]) -> Iterator[tuple[Any, Any, str]]:
    """What holds a global or a part of one, its key there, and what to call it."""
    own = vars(module)
    for name in sorted(names & own.keys()):
        if name.startswith("__"):
            continue
        if isinstance(own[name], (dict, list)):
            keys = own[name] if isinstance(own[name], dict) else range(len(own[name]))
            yield from ((own[name], key, f"{name}[{key!r}]") for key in keys)
        else:
            yield own, name, name


@contextlib.contextmanager
def _put(holder: dict[Any, Any], key: Any, value: Any) -> Iterator[None]:
    before = holder[key]
    holder[key] = value
    try:
        yield
    finally:
        holder[key] = before
