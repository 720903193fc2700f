"""What the functions, methods and classes of torch take, return and do, read from a generated data file.

`scripts/generate_torch_table.py` writes `torch_table.txt` from an installed torch; importing torch is not needed here.
One line of it is one name, and is decoded when that name is first looked up:

    torch.max <tab> function <tab> <tab> out <tab> (input,*,out:?=)->tensor:same <tab> …
    torch.nn.modules.linear.Linear <tab> = <tab> torch.nn.Linear
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, cast

Kind = Literal["function", "method", "attribute", "module", "class", "namespace", "constant"]
"""What a name is. A "module" is a subclass of `torch.nn.Module`, a "namespace" is a Python module."""

DtypeClass = Literal["bool", "int", "float", "complex", "same", "accumulated", "promoted", "unknown"]
"""The dtype of a tensor result, when no `dtype` argument is given.

same: as the first tensor argument. accumulated: likewise, but int for bool. promoted: what torch's type promotion makes
of all tensor and number arguments.
"""


@dataclass(frozen=True, slots=True)
class Returns:
    """The coarse type of a result.

    `kind` is "tensor", "int", "float", "bool", "scalar" (int, float or bool), "str", "none", "dtype", "device", "size"
    (a tuple of ints), "module", "self" (the very tensor the call was made on, or its first argument), "tensors" (a
    tuple or list of unknown length), "tuple" (of `items`, named by `fields` if it is a named tuple) or "unknown".
    `optional`: it may be None as well.
    """

    kind: str
    dtype: DtypeClass = "unknown"
    optional: bool = False
    items: tuple[Returns, ...] = ()
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Overload:
    """One way to call an API, and what comes of it. A method's parameters are given without `self`.

    `types` has one coarse type for each of `parameters`: "tensor", "tensors", "int", "ints", "float", "floats",
    "scalar" (any number), "bool", "true" and "false" (exactly that), "str", "dtype", "device", "generator", "any", …;
    "?" after it means None is accepted, "|" joins alternatives. A tensor passed for an "int", "float", "scalar" or
    "bool" is read. `parameters` may have "*args" and "**kwargs". The first `positional` of them can be passed by
    position, those in `required` have no default. For a "module", the parameters are those of its constructor and
    `returns` is what calling an instance gives.
    """

    parameters: tuple[str, ...]
    types: tuple[str, ...]
    positional: int
    required: frozenset[str]
    returns: Returns
    reads_data: bool
    dynamic_shape: bool


@dataclass(frozen=True, slots=True)
class Api:
    """One name of torch.

    `mutates` names the arguments that are written ("self" for a method's tensor, "out" when it is given; a parameter
    called `inplace` makes a function write to its first argument when true). `metadata_only`: it writes sizes, strides
    or storage of a tensor but not its elements. `random`: it draws from a generator. `view`: the result may share
    memory with an argument. `creates`: the result is a new tensor whose values come from Python, not from an operation
    on tensors.
    """

    name: str
    kind: Kind
    overloads: tuple[Overload, ...] = ()
    mutates: tuple[str, ...] = ()
    metadata_only: bool = False
    random: bool = False
    view: bool = False
    creates: bool = False

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def reads_data(self) -> bool:
        """Whether some overload needs a tensor's values on the host."""
        return any(overload.reads_data for overload in self.overloads)

    @property
    def dynamic_shape(self) -> bool:
        """Whether some overload gives a tensor whose shape depends on a tensor's values."""
        return any(overload.dynamic_shape for overload in self.overloads)

    @property
    def takes_device(self) -> bool:
        """Whether some overload has a `device` parameter."""
        return any("device" in overload.parameters for overload in self.overloads)


@cache
def _lines() -> tuple[str, dict[str, str]]:
    header, _, body = Path(__file__).with_name("torch_table.txt").read_text(encoding="utf-8").partition("\n")
    return header.rpartition(" ")[2], dict(line.split("\t", 1) for line in body.splitlines())


def torch_version() -> str:
    """The version of torch that the table was generated from, e.g. "2.13.0"."""
    return _lines()[0]


def resolve(name: str) -> str:
    """The canonical name of an alias: "torch.nn.Linear" for "torch.nn.modules.linear.Linear"; else `name` itself."""
    line = _lines()[1].get(name, "")
    return line[2:] if line.startswith("=\t") else name


@cache
def lookup(name: str) -> Api | None:
    """The API of that qualified name or alias, or None if torch has no such public name."""
    name = resolve(name)
    line = _lines()[1].get(name)
    return None if line is None else _api(name, line)


def tensor_member(name: str) -> Api | None:
    """The attribute or method of `torch.Tensor` with that name."""
    return lookup("torch.Tensor." + name)


def is_namespace(name: str) -> bool:
    """Whether `name` is a Python module of torch, e.g. "torch.nn" or "torch.utils.checkpoint"."""
    return _lines()[1].get(name) == "namespace"


def select(
    api: Api, positional: Sequence[str], keywords: Collection[str] | Mapping[str, str] = frozenset()
) -> Overload | None:
    """The overload that a call reaches, or None if none fits or several do whose results differ in kind.

    If several do that differ only in the dtype of the result or in whether they read data, the overload given claims
    what all of them share.

    `positional` has the coarse type of each argument: "tensor", "tensors", "int", "float", "scalar", "bool", "true",
    "false", "none", "str", "size", "list", "tuple", "dtype", "device", … or "unknown". `keywords` are the names of the
    others, or a mapping from them to their coarse types.
    """
    named = keywords if isinstance(keywords, Mapping) else dict.fromkeys(keywords, "unknown")
    return _select(api, tuple(positional), tuple(named.items()))


@lru_cache(maxsize=4096)
def _select(api: Api, positional: tuple[str, ...], keywords: tuple[tuple[str, str], ...]) -> Overload | None:
    named = dict(keywords)
    best: list[Overload] = []
    fewest = 0
    for overload in api.overloads:
        conversions = _conversions(overload, positional, named)
        if conversions is None or (best and conversions > fewest):
            continue
        if conversions < fewest:
            best.clear()
        best.append(overload)
        fewest = conversions
    if not best or any(_kinds(other.returns) != _kinds(best[0].returns) for other in best):
        return None
    return best[0] if len(best) == 1 else _common(best)


def common_parameters(api: Api) -> tuple[str, ...]:
    """The parameters that arguments by position fill in every overload with so many; empty where overloads differ."""
    taken = itertools.zip_longest(*(overload.parameters[: overload.positional] for overload in api.overloads))
    names = [{name for name in at if name is not None} for at in taken]
    return tuple(found.pop() if len(found) == 1 else "" for found in names)


def _common(overloads: Sequence[Overload]) -> Overload:
    first = overloads[0]
    return replace(
        first,
        returns=first.returns if all(other.returns == first.returns for other in overloads) else _kinds(first.returns),
        reads_data=all(overload.reads_data for overload in overloads),
        dynamic_shape=all(overload.dynamic_shape for overload in overloads),
    )


def _kinds(returns: Returns) -> Returns:
    """The same without dtypes."""
    return replace(returns, dtype="unknown", items=tuple(map(_kinds, returns.items)))


def _conversions(overload: Overload, positional: Sequence[str], named: Mapping[str, str]) -> int | None:
    """What torch would have to convert, weighed, or None if the call does not fit."""
    names, types = overload.parameters, overload.types
    variadic = overload.positional > 0 and names[overload.positional - 1].startswith("*")
    if len(positional) > overload.positional and not variadic:
        return None
    given = set(names[: min(len(positional), overload.positional)])
    if not overload.required <= given | named.keys():
        return None
    pairs = [(types[min(index, overload.positional - 1)], value) for index, value in enumerate(positional)]
    for name, value in named.items():
        if name in names and name not in given:
            pairs.append((types[names.index(name)], value))
        elif not (names and names[-1].startswith("**")):
            return None
    total = 0
    for wanted, value in pairs:
        cost = _cost(wanted, value)
        if cost is None:
            return None
        total += cost
    return total


@lru_cache(maxsize=4096)
def _cost(wanted: str, value: str) -> int | None:
    """0 if a value of that coarse type is taken as it is, more if it is converted, None if it is refused."""
    if wanted.endswith("?"):
        if value == "none":
            return 0
        wanted = wanted[:-1]
    if value not in _KNOWN or wanted == "any":
        return 0
    costs = [cost for part in wanted.split("|") if (cost := _part_cost(part, value)) is not None]
    return min(costs, default=None)


def _part_cost(wanted: str, value: str) -> int | None:
    exact, converted = _ACCEPTS.get(wanted, (wanted, ""))
    if value in exact.split():
        return 0
    if value not in converted.split():
        return None
    return 2 if wanted == "tensor" else 1  # torch would rather read a tensor than make one of a number


_ACCEPTS: dict[str, tuple[str, str]] = {
    "tensor": ("tensor", "int float scalar bool true false"),
    "tensors": ("tensors list tuple", ""),
    "int": ("int bool true false scalar", "tensor"),
    "float": ("float int scalar bool true false", "tensor"),
    "scalar": ("float int scalar bool true false", "tensor"),
    "bool": ("bool true false", "int scalar tensor"),
    "true": ("true bool", ""),
    "false": ("false bool", ""),
    "ints": ("size list tuple", "int tensors"),
    "floats": ("list tuple", "float int size"),
    "list": ("list tuple tensors size", ""),
    "str": ("str", ""),
    "device": ("device str", "int"),
}
"""What a parameter of a coarse type takes as it is, and what it takes with a conversion."""

_KNOWN = frozenset(("none", "dtype", "generator", "layout")).union(
    *(" ".join(pair).split() for pair in _ACCEPTS.values())
)
"""The coarse types of values that can be told to be wrong for a parameter; any other is taken for unknown."""


def _api(name: str, line: str) -> Api:
    kind, *rest = line.split("\t")
    flags, mutates = rest[0].split(",") if rest else [], rest[1] if len(rest) > 1 else ""
    return Api(
        name=name,
        kind=cast("Kind", kind),
        overloads=tuple(map(_overload, rest[2:])),
        mutates=tuple(mutates.split(",")) if mutates else (),
        metadata_only="metadata" in flags,
        random="random" in flags,
        view="view" in flags,
        creates="creates" in flags,
    )


_OPTIONS = "dtype:dtype?=,layout:layout?=,device:device?=,pin_memory:bool?=,requires_grad:bool?="


def _overload(text: str) -> Overload:
    """Decode e.g. "(input,dim:int,keepdim:bool=,*,out:?=)->(values=tensor:same,indices=tensor:int)".

    "=" ends a parameter that has a default, a parameter without a type is a tensor, "&" is all of `_OPTIONS`.
    """
    signature, _, result = text.replace("&", _OPTIONS).partition(")->")
    result, *flags = result.split(" ")
    names: list[str] = []
    types: list[str] = []
    positional: int | None = None
    required: set[str] = set()
    for item in signature[1:].split(",") if len(signature) > 1 else ():
        if item == "*":
            positional = len(names)
            continue
        optional = item.endswith("=")
        parameter, _, type_ = item.removesuffix("=").partition(":")
        names.append(parameter)
        types.append("tensor" + type_ if type_ in ("", "?") else type_)
        if parameter.startswith("*"):
            positional = len(names) - parameter.startswith("**") if positional is None else positional
        elif not optional:
            required.add(parameter)
    return Overload(
        parameters=tuple(names),
        types=tuple(types),
        positional=len(names) if positional is None else positional,
        required=frozenset(required),
        returns=_returns(result),
        reads_data="!reads" in flags,
        dynamic_shape="!dynamic" in flags,
    )


@cache
def _returns(text: str) -> Returns:
    """Decode e.g. "tensor:bool", "tensor?", "(values=tensor:same,indices=tensor:int)", "(tensor,(tensor,tensor))"."""
    if text.startswith("("):
        fields, items = zip(*(_field(part) for part in _split(text[1:-1])), strict=True)
        return Returns("tuple", items=items, fields=fields if all(fields) else ())
    optional = text.endswith("?")
    kind, _, dtype = text.removesuffix("?").partition(":")
    return Returns(kind, cast("DtypeClass", dtype or "unknown"), optional)


def _field(text: str) -> tuple[str, Returns]:
    name, equals, type_ = text.partition("=")
    return (name, _returns(type_)) if equals and "(" not in name else ("", _returns(text))


def _split(text: str) -> list[str]:
    """Split at the commas that are in no parentheses."""
    parts = [""]
    depth = 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if char == "," and not depth:
            parts.append("")
        else:
            parts[-1] += char
    return parts
