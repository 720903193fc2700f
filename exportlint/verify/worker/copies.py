"""Copies of a model whose hooks and functions work on the copy, and not on the model that they were written for."""

from __future__ import annotations

import copy
import types
from collections.abc import Mapping
from typing import Any

from .lazily import torch
from .pristine import restored


def faithful_copy(model: Any, shared: Mapping[int, Any]) -> Any:
    """A deep copy, which shares some objects, by their identity, with the model.

    `copy.deepcopy` leaves functions as they are, also those that close over the model: a hook such as
    `lambda module, inputs, output: self.seen.append(output)` would go on writing to the original.
    """
    memo: dict[int, Any] = dict(shared)
    with restored():
        copied = copy.deepcopy(model, memo)
    if isinstance(copied, torch.nn.Module):
        for module in copied.modules():
            for name, value in list(vars(module).items()):
                _rebind(value, vars(module), name, memo)
                if isinstance(value, (dict, list)):
                    for key, item in list(value.items() if isinstance(value, dict) else enumerate(value)):
                        _rebind(item, value, key, memo)
    return copied


def _rebind(value: Any, container: Any, key: Any, memo: dict[int, Any]) -> None:
    """Have a container hold a function that closes over copies, if it has one that closes over what was copied."""
    if isinstance(value, types.FunctionType):
        bound = _bound(value, memo, frozenset())
        if bound is not value:
            container[key] = bound


def _bound(function: types.FunctionType, memo: dict[int, Any], outer: frozenset[int]) -> types.FunctionType:
    if not function.__closure__ or id(function) in outer:
        return function
    cells = [_cell(cell, memo, outer | {id(function)}) for cell in function.__closure__]
    if all(new is old for new, old in zip(cells, function.__closure__)):  # noqa: B905
        return function
    made = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, tuple(cells)
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__dict__.update(function.__dict__)
    return made


def _cell(cell: Any, memo: dict[int, Any], outer: frozenset[int]) -> Any:
    """The cell for copies: one for all functions that share it, so that what one assigns is what another reads."""
    if id(cell) in memo:
        return memo[id(cell)]
    try:
        content = cell.cell_contents
    except ValueError:  # nothing was assigned yet
        return cell
    if isinstance(content, types.FunctionType):
        new: Any = _bound(content, memo, outer)
    else:
        new = memo.get(id(content), content)
    if new is content:
        return cell
    memo[id(cell)] = types.CellType(new)
    return memo[id(cell)]
