"""EXP811 dynamic-shapes: `dynamic_shapes` does not fit the inputs."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from exportlint.analysis.domain.script_values import Dim, Example, Hint
from exportlint.analysis.domain.values import Const, Dict, Tuple, Value
from exportlint.analysis.facts.exports import ExportCall
from exportlint.analysis.scripts.signatures import MismatchError, dims, leaves, specified
from exportlint.claims import ERROR, WARNING, Claim, Context, Report, always
from exportlint.findings import Fix, Mode
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.export_calls.calls import written
from exportlint.fixes.export_calls.dynamic_shapes import fitted, named
from exportlint.registry import rule

MISMATCH = Claim(non_strict=always(ERROR), strict=always(ERROR))
LENGTH = Claim(non_strict={(2, 4): None, (2, 9): ERROR}, strict={(2, 4): None, (2, 9): ERROR})
TOGETHER = Claim(non_strict=always(ERROR), strict=always(ERROR))
OUTSIDE = Claim(non_strict=always(ERROR), strict=always(WARNING))
NEGATIVE = Claim(non_strict={(2, 4): None, (2, 9): WARNING}, strict={(2, 4): None, (2, 9): WARNING})
NEGATIVE_DIM = Claim(non_strict=always(None), strict=always(WARNING))


@rule("EXP811", "dynamic-shapes", ExportCall)
def dynamic_shapes(fact: ExportCall, context: Context) -> Iterator[Report]:
    """`dynamic_shapes={"y": …}` where forward has no `y`."""
    if fact.guarded or fact.inputs.dynamic_shapes is None:
        return
    mode, place = _mode(fact, context), fact.place("dynamic_shapes")
    try:
        tensors = [leaf for _, example, spec in specified(fact.inputs) for leaf in leaves(example, spec)]
    except MismatchError as error:
        severity = MISMATCH.severity(mode, context.version)
        if error.argument == "dynamic_shapes" and severity is not None:
            yield Report(
                severity,
                f"`dynamic_shapes` does not fit the inputs: {error}",
                "name each input once",
                place,
                _mend(fact, named),
            )
        return
    for example, spec in tensors:
        for claim, message, instead in _problems(example, spec):
            severity = claim.severity(mode, context.version)
            if severity is not None:
                yield Report(severity, message, instead, place, _mend(fact, fitted))
                return
    severity = TOGETHER.severity(mode, context.version)
    contradiction = next(_contradictions(tensors), None)
    if severity is not None and contradiction is not None:
        message, instead = contradiction
        yield Report(severity, message, instead, place)


def _mend(fact: ExportCall, edits: Callable[[Code, ast.expr, ExportCall], Iterator[Draft]]) -> Callable[[Code], Fix]:
    def fix(code: Code) -> Fix:
        found = list(edits(code, written(code, code.expression), fact))
        if not found:
            raise DeclinedError("the intended dimensions are not written in the call")
        return code.fix("Fit `dynamic_shapes` to the inputs", *found, safe=False)

    return fix


def _mode(fact: ExportCall, context: Context) -> Mode:
    """How the call traces, whatever the rest of the project is linted for."""
    if fact.strict is None:
        return "strict" if context.version < (2, 7) else "non-strict"
    if isinstance(fact.strict, Const):
        return "strict" if fact.strict.value else "non-strict"
    return context.mode


def _problems(example: Value, spec: Value) -> Iterator[tuple[Claim, str, str]]:
    rank = len(example.shape) if isinstance(example, Example) and example.shape is not None else None
    if isinstance(spec, Dim) and isinstance(example, Example):
        message = "the dynamic shape of a tensor must be a dict or a tuple of dimensions, not a single one"
        yield MISMATCH, message, "write `{0: dim}`"
    if isinstance(spec, Tuple) and rank is not None and len(spec.items) != rank:
        message = f"a dynamic shape with {len(spec.items)} entries for an input with {rank} dimensions"
        yield LENGTH, message, "list every dimension, with None for static ones"
    entries = spec.entries if isinstance(spec, Dict) and isinstance(example, Example) else ()
    for key, value in entries:
        if isinstance(value, Const) and isinstance(value.value, str):
            message = f"dimension {key} is given as the string {value.value!r}, which does not name a dimension"
            yield MISMATCH, message, f"write `torch.export.Dim({value.value!r})`".replace("'", '"')
        elif rank is not None and type(key) is int and isinstance(value, Dim | Hint):
            if not -rank <= key < rank:
                yield OUTSIDE, f"dimension {key} of an input that has only {rank} dimensions", "count dimensions from 0"
            elif key < 0 and value != Hint("STATIC"):
                message = f"dimension {key} is counted from the end: export silently leaves it static"
                yield NEGATIVE if isinstance(value, Hint) else NEGATIVE_DIM, message, f"write {key + rank}"


def _contradictions(tensors: Iterable[tuple[Value, Value]]) -> Iterator[tuple[str, str]]:
    """Dimensions that have one name, and cannot be the same. One that is derived has the name of no other."""
    known: dict[str, list[tuple[Dim, int | None]]] = {}
    for example, spec in tensors:
        sizes = example.shape if isinstance(example, Example) and example.shape is not None else ()
        for axis, dim in dims(example, spec).items():
            if isinstance(dim, Dim) and dim.name is not None and not dim.derived and 0 <= axis < len(sizes):
                known.setdefault(dim.name, []).append((dim, sizes[axis]))
    for name, found in known.items():
        for bound, numbers in (("min", {dim.min for dim, _ in found}), ("max", {dim.max for dim, _ in found})):
            given = sorted(number for number in numbers if number is not None)
            if len(given) > 1:
                message = f"two dimensions are named `{name}`, with `{bound}={given[0]}` and `{bound}={given[1]}`"
                yield message, "give them the same bounds, or different names"
        examples = sorted({size for _, size in found if size is not None})
        if len(examples) > 1:
            message = (
                f"`{name}` stands for dimensions whose sizes in the example differ: {examples[0]} and {examples[1]}"
            )
            yield message, "use one dimension for each, or an example in which they are equal"
