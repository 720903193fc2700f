"""Modules of torch itself, as `__init__` builds them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from exportlint.analysis.domain.values import (
    BASE,
    NONE,
    Dict,
    Instance,
    Sequence,
    TorchModule,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.models.torch.results import items_of
from exportlint.analysis.torch import table


def construct(name: str, arguments: Arguments, node: ast.AST) -> TorchModule:
    """An `nn.Module` of torch itself, which the call at `node` makes."""
    short = name.rpartition(".")[2]
    first = arguments.get(0)
    if short in {"Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"}:
        if isinstance(first, Dict):
            rest = () if first.rest is None else (first.rest,)
            keys = () if rest else tuple(key for key, _ in first.entries)
            return TorchModule(name, (*(value for _, value in first.entries), *rest), keys)
        if short != "Sequential":
            return TorchModule(name, () if first is None else items_of(first))
        return TorchModule(name, tuple(p.item if isinstance(p, Sequence) else p for p in arguments.positional))
    named = {**_named(name, arguments.positional), **arguments.keywords}
    return TorchModule(name, arguments=tuple(named.items()), created_at=node)


def _named(name: str, given: Iterable[Value]) -> dict[str, Value]:
    """The flags, modules and None among positional arguments. Layers that differ only in sizes stay alike."""
    api = table.lookup(name)
    if api is None or not api.overloads:
        return {}
    parameters = zip(api.overloads[0].parameters, api.overloads[0].types, given, strict=False)
    return {
        parameter: value
        for parameter, type_, value in parameters
        if type_.removesuffix("?") == "bool" or isinstance(value, TorchModule) or value == NONE
    }


def build_on(instance: Instance, name: str, arguments: Arguments, node: ast.AST) -> None:
    """Note the module of torch that a module of the project is, by inheritance."""
    api = table.lookup(table.resolve(name))
    if api is not None and api.kind == "module" and api.name != "torch.nn.Module":
        instance.attributes[BASE] = construct(api.name, arguments, node)
