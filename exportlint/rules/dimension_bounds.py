"""EXP805 dimension-bounds: a dynamic dimension whose example or whose bounds torch cannot take as they are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial

from exportlint.analysis.domain.script_values import Dim, Example, Hint
from exportlint.analysis.domain.values import Value
from exportlint.analysis.facts.exports import DimCall, ExportCall
from exportlint.analysis.scripts.signatures import MismatchError, by_input, dims, leaves, specified
from exportlint.analysis.torch.registry import find
from exportlint.claims import ERROR, INFO, WARNING, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.export_calls.calls import argument, written
from exportlint.registry import rule

SPECIALIZED = Claim(non_strict=always(ERROR), strict=always(ERROR))
OUT_OF_BOUNDS = Claim(non_strict=always(ERROR), strict=always(ERROR))
AUTO = Claim(non_strict={(2, 4): None, (2, 9): WARNING}, strict={(2, 4): None, (2, 9): WARNING})
EMPTY_RANGE = Claim(non_strict=always(ERROR), strict=always(ERROR))
NAME = Claim(non_strict={(2, 4): None, (2, 6): ERROR}, strict={(2, 4): None, (2, 6): ERROR})
LOW = Claim(non_strict=always(INFO), strict=always(INFO))


@rule("EXP805", "dimension-bounds", ExportCall, DimCall)
def dimension_bounds(fact: ExportCall | DimCall, context: Context) -> Iterator[Report]:
    """`Dim("batch")` with an example batch of 1, `Dim("batch", min=1)`."""
    if fact.guarded:
        return
    found = _bounds(fact) if isinstance(fact, DimCall) else _examples(fact)
    for claim, message, instead in found:
        severity = context.severity(claim)
        if severity is not None:
            place = fact.place("args" if claim is AUTO else "dynamic_shapes") if isinstance(fact, ExportCall) else None
            yield Report(severity, message, instead, place, partial(_fix, fact=fact, claim=claim))
            return


def _fix(code: Code, *, fact: ExportCall | DimCall, claim: Claim) -> Fix:
    if isinstance(fact, ExportCall):
        if claim is OUT_OF_BOUNDS:
            raise DeclinedError("either the bounds or the example may be intended")
        return code.fix("Export with an example of size 2", *_doubled(code, fact), safe=False)
    call = code.node(ast.Call)
    if claim is NAME:
        name = argument(call, 0, "name")
        if not isinstance(name, ast.Constant) or fact.name is None:
            raise DeclinedError("the name is not written in the call")
        identifier = re.sub(r"\W+", "_", fact.name.strip())
        if not identifier.isidentifier():
            raise DeclinedError("the name has no letters")
        return code.fix(
            f"Call it `{identifier}`",
            code.replace(name, code.string(identifier, like=name)),
            safe=True,
        )
    lowest = next((keyword.value for keyword in call.keywords if keyword.arg == "min"), None)
    if claim is not LOW or lowest is None:
        raise DeclinedError("the intended bounds are not written in the call")
    return code.fix("Write `min=2`", code.replace(lowest, code.make("2")), safe=False)


def _doubled(code: Code, fact: ExportCall) -> Iterator[Draft]:
    """The sizes of 1 in the examples of dimensions that are dynamic."""
    call = next(n for n in (code.expression, *code.tree.ancestors(code.expression)) if isinstance(n, ast.Call))
    args = argument(call, 1, "args")
    inputs = written(code, args) if args is not None else None
    if not isinstance(inputs, ast.Tuple) or any(isinstance(node, ast.Starred) for node in inputs.elts):
        raise DeclinedError("the example inputs are not written in the call")
    for place, (_, example, spec) in by_input(fact.inputs).items():
        if type(place) is not int or not isinstance(example, Example) or example.shape is None:
            continue
        for dim, wanted in dims(example, spec).items():
            is_dynamic = isinstance(wanted, Dim) or wanted in (Hint("AUTO"), Hint("DYNAMIC"))
            if is_dynamic and dim < len(example.shape) and example.shape[dim] == 1:
                yield code.replace(_size(written(code, inputs.elts[place]), dim), code.make("2"))


def _size(node: ast.expr, dim: int) -> ast.expr:
    """One of the sizes in a call that makes a tensor: `torch.ones(1, 3)`, `torch.rand((1, 3))`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _makes(node.func.attr) and node.args:
        first = node.args[0]
        sizes = first.elts if isinstance(first, (ast.Tuple, ast.List)) else node.args
        if dim < len(sizes) and isinstance(sizes[dim], ast.Constant):
            return sizes[dim]
    raise DeclinedError("the sizes of the example are not written out")


def _makes(function: str) -> bool:
    return find(f"torch.{function}").shape == "sized"


def _bounds(fact: DimCall) -> Iterator[tuple[Claim, str, str]]:
    if fact.min is not None and fact.max is not None and fact.max <= fact.min:
        yield (
            EMPTY_RANGE,
            f"a dimension from {fact.min} to {fact.max} cannot be dynamic",
            "make `max` larger than `min`",
        )
    if fact.name is not None and not fact.name.isidentifier():
        yield NAME, f"the name of a dimension must be an identifier, which {fact.name!r} is not", "use letters and `_`"
    if fact.min is not None and fact.min in (0, 1):
        message = (
            f"`min={fact.min}`: tracing assumes that a dynamic size is 2 or more, so code that runs only for smaller "
            "sizes is not in the program"
        )
        yield (
            LOW,
            message,
            "write `min=2`, and export a second program for a batch of 1 if forward treats it differently",
        )


def _examples(fact: ExportCall) -> Iterator[tuple[Claim, str, str]]:
    try:
        found = list(specified(fact.inputs))
    except MismatchError:
        return
    for name, example, spec in found:
        for tensor, shape in leaves(example, spec):
            if isinstance(tensor, Example) and tensor.shape is not None:
                for place, dim in dims(tensor, shape).items():
                    if place < len(tensor.shape):
                        yield from _fits(name, place, dim, tensor.shape[place])


def _fits(name: str, place: int, dim: Value, size: int | None) -> Iterator[tuple[Claim, str, str]]:
    where = f"dimension {place} of input {name}" if name.isdigit() else f"dimension {place} of `{name}`"
    instead = "use an example with a size of 2 or more in that dimension"
    if size is None or (isinstance(dim, Dim) and dim.derived):
        return
    if isinstance(dim, Dim):
        lowest, highest = dim.min or 0, dim.max if dim.max is not None else size
        if not lowest <= size <= highest and size > 1:
            limits = f"{lowest} to {'…' if dim.max is None else dim.max}"
            yield (
                OUT_OF_BOUNDS,
                f"the example has size {size} in {where}, outside the bounds {limits}",
                "widen the bounds",
            )
        elif size <= 1:
            yield SPECIALIZED, f"the example has size {size} in {where}, which export treats as a constant", instead
    elif dim == Hint("DYNAMIC") and size <= 1:
        yield SPECIALIZED, f"the example has size {size} in {where}, which export treats as a constant", instead
    elif dim == Hint("AUTO") and size <= 1:
        yield AUTO, f"the example has size {size} in {where}, where `Dim.AUTO` silently becomes static", instead
