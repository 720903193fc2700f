"""Dynamic shapes, as they are written in a call of torch.export: one entry for each input, of a kind that torch takes.

`{"y": …}` gets the name of the input that is meant, or entries of None for the others; `Dim("n")` becomes
`{0: Dim("n")}`, `{-1: d}` counts from the front, `{0: "n"}` becomes `{0: Dim("n")}`.

Never safe: torch refuses what is written, and what is meant is a guess.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.script_values import Dim, Example
from exportlint.analysis.domain.values import Dict, Tuple, Value
from exportlint.analysis.facts.exports import ExportCall
from exportlint.analysis.scripts.signatures import MismatchError, bind
from exportlint.fixes.edit.arguments import with_entries
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.template import expression
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.export_calls.calls import written


def named(code: Code, node: ast.expr, fact: ExportCall) -> Iterator[Draft]:
    """What gives each input one entry: entries of None more, or fewer; another name for the only one."""
    try:
        bound = bind(fact.inputs)
    except MismatchError:
        bound = None
    if bound is None:
        raise DeclinedError("the inputs are not known")
    if isinstance(node, ast.Tuple):
        yield _counted(code, node, len(bound))
        return
    if not isinstance(node, ast.Dict) or not node.keys:
        raise DeclinedError("the dynamic shapes are not written in the call")
    keys = {key.value: key for key in node.keys if isinstance(key, ast.Constant)}
    others, missing = [key for key in keys if key not in bound], [name for name in bound if name not in keys]
    if len(keys) != len(node.keys) or len(others) > 1 or (others and len(missing) != 1):
        raise DeclinedError("the intended input is not known")
    if others:
        yield code.replace(keys[others[0]], code.string(missing[0], like=keys[others[0]]))
        return
    like = next(iter(keys.values()))
    entries = [(code.string(name, like), expression("None")) for name in missing]
    yield code.replace(node, with_entries(code.concrete(node), entries))


def _counted(code: Code, node: ast.Tuple, count: int) -> Draft:
    kept, rest = node.elts[:count], node.elts[count:]
    if any(not isinstance(each, ast.Constant) or each.value is not None for each in rest):
        raise DeclinedError("it has shapes that do not belong to an input")
    return code.replace(node, code.make("({*items},)", items=[*kept, *[None] * (count - len(kept))]))


def fitted(code: Code, node: ast.expr, fact: ExportCall) -> Iterator[Draft]:
    """What makes the shape of each tensor one that torch takes, and means what is written."""
    shapes = fact.inputs.dynamic_shapes
    args = fact.inputs.args
    bound: dict[str, Value] = bind(fact.inputs) or {}
    if isinstance(node, ast.Dict) and isinstance(shapes, Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            name = key.value if isinstance(key, ast.Constant) else None
            yield from _shape(code, value, bound.get(str(name)), shapes.get(name))
    elif isinstance(node, ast.Tuple) and isinstance(shapes, Tuple) and isinstance(args, Tuple):
        for value, example, spec in zip(node.elts, args.items, shapes.items, strict=False):
            yield from _shape(code, value, example, spec)


def _shape(code: Code, node: ast.expr, example: Value | None, spec: Value | None) -> Iterator[Draft]:
    """The changes to one of them. `spec` is what it holds."""
    if not isinstance(example, Example) or example.shape is None:
        return
    if isinstance(spec, Dim):
        yield code.replace(node, code.make("{{0: {dim}}}", dim=node))
        return
    node, rank = written(code, node), len(example.shape)
    if isinstance(node, ast.Tuple) and len(node.elts) < rank:
        items = [*node.elts, *[None] * (rank - len(node.elts))]
        yield code.replace(node, code.make("({*items},)", items=items))
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value.isidentifier():
                dim = code.name("torch.export.Dim", value)
                yield code.replace(value, code.make("{dim}({name})", dim=dim, name=value))
            place = _from_the_end(key)
            if key is not None and place is not None and -rank <= place < 0:
                yield code.replace(key, code.make("{place}", place=place + rank))


def _from_the_end(key: ast.expr | None) -> int | None:
    """The dimension that a key counts from the end."""
    if not (isinstance(key, ast.UnaryOp) and isinstance(key.op, ast.USub) and isinstance(key.operand, ast.Constant)):
        return None
    return -key.operand.value if isinstance(key.operand.value, int) else None
