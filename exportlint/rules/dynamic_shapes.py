"""EXP811 dynamic-shapes: `dynamic_shapes` does not fit the inputs."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from exportlint.analysis.domain.script_values import Dim, Example, Hint
from exportlint.analysis.domain.values import UNKNOWN, Const, Dict, Tuple, Value
from exportlint.analysis.facts.exports import ExportCall
from exportlint.analysis.scripts.signatures import MismatchError, bind, dims, leaves, specified
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
IGNORED = Claim(non_strict={(2, 4): None, (2, 13): WARNING}, strict={(2, 4): None, (2, 13): WARNING})
SINCE_2_13 = Claim(non_strict={(2, 4): None, (2, 13): ERROR}, strict={(2, 4): None, (2, 13): ERROR})
NEGATIVE_DIM = Claim(non_strict=always(None), strict=always(WARNING))


@rule("EXP811", "dynamic-shapes", ExportCall)
def dynamic_shapes(fact: ExportCall, context: Context) -> Iterator[Report]:
    """`dynamic_shapes={"y": …}` where forward has no `y`."""
    if fact.guarded or fact.inputs.dynamic_shapes is None:
        return
    mode, place = _mode(fact, context), fact.place("dynamic_shapes")
    try:
        given = list(specified(fact.inputs))
        is_bound = bind(fact.inputs) is not None
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
    tensors = [leaf for _, example, spec in given for leaf in leaves(example, spec)]
    for example, spec in tensors:
        for claim, message, instead in _problems(example, spec):
            severity = claim.severity(mode, context.version)
            if severity is not None:
                yield Report(severity, message, instead, place, _mend(fact, fitted))
                return
    unlike = (found for name, example, spec in given if is_bound for found in _unlike(name, example, spec))
    together = ((TOGETHER, *found) for found in _contradictions(tensors))
    derived = ((SINCE_2_13, *found) for found in _misfits(tensors))
    for claim, message, instead in chain(((SINCE_2_13, *found) for found in unlike), together, derived):
        severity = claim.severity(mode, context.version)
        if severity is not None:
            yield Report(severity, message, instead, place)
            return


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
                claim = OUTSIDE if isinstance(value, Dim) else IGNORED
                yield claim, f"dimension {key} of an input that has only {rank} dimensions", "count dimensions from 0"
            elif key < 0 and value != Hint("STATIC"):
                message = f"dimension {key} is counted from the end: export silently leaves it static"
                yield NEGATIVE if isinstance(value, Hint) else NEGATIVE_DIM, message, f"write {key + rank}"
    sizes = example.shape if isinstance(example, Example) and example.shape is not None else ()
    for axis, value in dims(example, spec).items():
        number = value.value if isinstance(value, Const) else None
        if isinstance(number, float):
            message = f"dimension {axis} is given as {number}, which is neither a size nor a dimension"
            yield SINCE_2_13, message, "write `torch.export.Dim.AUTO`, or None if it is static"
        elif isinstance(number, int) and 0 <= axis < len(sizes) and sizes[axis] not in {None, number}:
            message = f"dimension {axis} is given as {number}, but has size {sizes[axis]} in the example"
            yield SINCE_2_13, message, "write None if it is static"


def _unlike(name: str, example: Value, spec: Value) -> Iterator[tuple[str, str]]:
    """Where `dynamic_shapes` is not built as the inputs are, of which all is known."""
    place = f"`{name}`" if not name.isdigit() else f"input {name}"
    if isinstance(example, Tuple) and not example.fields and example.lazy is None and example.items:
        yield from _unlike_sequence(place, name, example, spec)
    elif isinstance(example, Dict) and example.rest is None and example.entries:
        if isinstance(spec, (Tuple, Dim, Hint)) or spec == Const(None):
            yield f"{place} is a dict, and its dynamic shape is not", "give a dict with the same keys"
        elif isinstance(spec, Dict) and spec.rest is None:
            keys, wanted = [key for key, _ in spec.entries], [key for key, _ in example.entries]
            missing = [key for key in wanted if key not in keys] or [key for key in keys if key not in wanted]
            if missing:
                yield f"the dynamic shape of {place} has other keys than {place}", f"see {missing[0]!r}"
            for key, item in example.entries:
                yield from _unlike(name, item, spec.get(key) or UNKNOWN)
    elif isinstance(example, Const) and isinstance(spec, (Tuple, Dict, Dim, Hint)):
        is_hinted = type(example.value) is int and isinstance(spec, Hint)
        if not is_hinted:
            yield f"{place} is {example.value!r}, which has no dimensions", "write None for it"


def _unlike_sequence(place: str, name: str, example: Tuple, spec: Value) -> Iterator[tuple[str, str]]:
    kind = "list" if example.mutable else "tuple"
    if isinstance(spec, (Dict, Dim, Hint)) or spec == Const(None):
        yield f"{place} is a {kind}, and its dynamic shape is not", f"give a {kind} with an item for each"
    elif isinstance(spec, Tuple) and spec.mutable is not example.mutable:
        other = "list" if spec.mutable else "tuple"
        yield f"{place} is a {kind}, and its dynamic shape a {other}", f"write a {kind}"
    elif isinstance(spec, Tuple) and len(spec.items) != len(example.items):
        counts = f"{len(example.items)} items, and its dynamic shape {len(spec.items)}"
        yield f"{place} has {counts}", "give one for each item, None where it is static"
    elif isinstance(spec, Tuple):
        for item, shape in zip(example.items, spec.items, strict=True):
            yield from _unlike(name, item, shape)


def _misfits(tensors: Iterable[tuple[Value, Value]]) -> Iterator[tuple[str, str]]:
    """Sizes in the example that are not what a derived dimension makes of any size, or of the one that there is."""
    roots: dict[str, int] = {}
    found: list[tuple[Dim, int]] = []
    for example, spec in tensors:
        sizes = example.shape if isinstance(example, Example) and example.shape is not None else ()
        for axis, dim in dims(example, spec).items():
            size = sizes[axis] if 0 <= axis < len(sizes) else None
            if isinstance(dim, Dim) and size is not None:
                if dim.derived and dim.root is not None:
                    found.append((dim, size))
                elif dim.name is not None:
                    roots[dim.name] = size
    for dim, size in found:
        shown = _shown(dim)
        if dim.max is not None and size > dim.max:
            yield f"the example has size {size} for `{shown}`, which is at most {dim.max}", "widen the bounds"
        root, rest = divmod(size - dim.shift, dim.factor)
        if rest:
            yield f"the example has size {size} where `{shown}` is declared", "use an example of such a size"
        elif (held := roots.setdefault(dim.root or "", root)) != root:
            expected = held * dim.factor + dim.shift
            message = f"`{shown}` is {expected} by the sizes in the example, but the dimension has size {size}"
            yield message, "use an example in which they fit"
        elif root < 2:
            message = f"the example has size {size} for `{shown}`: export treats `{dim.root}` as a constant then"
            yield message, f"use an example in which `{dim.root}` is 2 or more"


def _shown(dim: Dim) -> str:
    """A derived dimension as torch writes it: `2*n + 1`."""
    product = f"{dim.factor}*{dim.root}" if dim.factor != 1 else f"{dim.root}"
    return f"{product} {'+' if dim.shift > 0 else '-'} {abs(dim.shift)}" if dim.shift else product


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
