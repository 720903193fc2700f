"""Finds the record of an operator. The modules of `operators` hold them in `OPERATORS`."""

from __future__ import annotations

import ast
import pkgutil
from collections.abc import Iterator
from functools import cache
from importlib import import_module

from exportlint.analysis.torch import operators as records
from exportlint.analysis.torch import table
from exportlint.analysis.torch.operator import Operator

NAMESPACES = ("torch.", "torch.Tensor.", "torch.nn.functional.", "torch.special.")

AUGMENTED: dict[type[ast.operator], str] = {
    ast.Add: "add_", ast.Sub: "sub_", ast.Mult: "mul_", ast.Div: "div_", ast.FloorDiv: "floor_divide_",
    ast.Mod: "remainder_", ast.Pow: "pow_", ast.BitAnd: "bitwise_and_", ast.BitOr: "bitwise_or_",
    ast.BitXor: "bitwise_xor_", ast.LShift: "bitwise_left_shift_", ast.RShift: "bitwise_right_shift_",
}  # fmt: skip
"""The methods that do what augmented assignments do to tensors."""


def qualified(name: str) -> tuple[str, ...]:
    """The qualified names that a name in a record stands for, whether torch has them or not."""
    return (
        (f"torch.{name.removeprefix('.')}",) if "." in name else tuple([namespace + name for namespace in NAMESPACES])
    )


@cache
def operators() -> tuple[Operator, ...]:
    """All records."""
    modules = [import_module(f"{records.__name__}.{found.name}") for found in pkgutil.iter_modules(records.__path__)]
    return tuple([record for module in modules for record in getattr(module, "OPERATORS", ())])


@cache
def _index() -> dict[str, Operator]:
    return {full: record for record in operators() for name in record.names for full in qualified(name)}


@cache
def find(name: str) -> Operator:
    """The record of an operator by a qualified name, or by that of a method; an empty one if it has none.

    That of `add_` is that of `add`, unless it has its own.
    """
    return _known(name if "." in name else f"torch.Tensor.{name}") or Operator((name,))


def _known(name: str) -> Operator | None:
    index = _index()
    for candidate in dict.fromkeys((name, table.resolve(name))):
        found = index.get(candidate)
        if found is None and candidate.endswith("_") and not candidate.endswith("__"):
            found = index.get(candidate[:-1])
        if found is not None:
            return found
    return None


def methods(**traits: object) -> Iterator[str]:
    """The names under which tensors have the operators whose records have these traits."""
    for record in operators():
        if all(getattr(record, trait) == value for trait, value in traits.items()):
            for name in record.names:
                if "." not in name or name.startswith("Tensor."):
                    yield name.rpartition(".")[2]
