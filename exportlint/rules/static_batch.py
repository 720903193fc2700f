"""EXP803 static-batch: a program is exported for one size, and meant to take others."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.exports.signatures import by_input, dims
from exportlint.analysis.exports.values import Dim, Example, Hint, Program
from exportlint.analysis.facts.exports import ProgramRun, ProgramSave
from exportlint.analysis.values import Const, Tuple, Value
from exportlint.claims import INFO, WARNING, Claim, Context, Report, always
from exportlint.registry import rule

OTHER_SIZES = Claim(non_strict=always(WARNING), strict=always(WARNING))
SAVED = Claim(non_strict=always(INFO), strict=always(INFO))

INSTEAD = "pass `dynamic_shapes` with a `torch.export.Dim` for each dimension that varies"


@rule("EXP803", "static-batch", ProgramRun, ProgramSave)
def static_batch(fact: ProgramRun | ProgramSave, context: Context) -> Iterator[Report]:
    """`program.module()(torch.randn(4, 3))` of a program that was exported with `torch.randn(2, 3)`."""
    program = fact.program
    if program.site is None or program.inputs is None or fact.guarded:
        return
    if isinstance(fact, ProgramSave):
        severity = context.severity(SAVED)
        if severity is not None and program.inputs.dynamic_shapes is None and _has_tensors(program.inputs.args):
            message = f"the program that `{fact.api}` writes takes inputs of the example's sizes only"
            yield Report(severity, message, INSTEAD, program.site)
        return
    found = next(_refused(program, fact), None)
    severity = context.severity(OTHER_SIZES)
    if found is not None and severity is not None:
        name, place, one, other = found
        message = (
            f"dimension {place} of {name} is always {one} in this program, which line {fact.site.row} gives {other}"
        )
        yield Report(severity, message, INSTEAD, program.site)


def _has_tensors(args: Value | None) -> bool:
    return isinstance(args, Tuple) and any(isinstance(a, Example) and a.shape != () for a in args.items)


def _refused(program: Program, fact: ProgramRun) -> Iterator[tuple[str, int, int, int]]:
    """The input, dimension and both sizes where the program is given another one than the example had."""
    assert program.inputs is not None
    expected = by_input(program.inputs)
    positional = fact.positional.items if isinstance(fact.positional, Tuple) else ()
    given: dict[int | str, Value] = {**dict(enumerate(positional)), **dict(fact.keywords)}
    for key, value in given.items():
        name, example, spec = expected.get(key, (None, Const(None), Const(None)))
        if name is None or not isinstance(example, Example) or not isinstance(value, Example):
            continue
        one, other = example.shape or (), value.shape or ()
        wanted = dims(example, spec)
        for place, (size, actual) in enumerate(zip(one, other, strict=False)):
            is_dynamic = isinstance(wanted.get(place), Dim | Hint) and wanted.get(place) != Hint("STATIC")
            if len(one) == len(other) and None not in (size, actual) and size != actual and not is_dynamic:
                assert size is not None
                assert actual is not None
                yield f"`{name}`" if not name.isdigit() else f"input {name}", place, size, actual
