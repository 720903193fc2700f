"""EXP803 static-batch: a program is exported for one size, and meant to take others."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from exportlint.analysis.domain.script_values import Dim, Example, Hint, Program
from exportlint.analysis.domain.values import Const, Tuple, Value
from exportlint.analysis.facts.exports import ProgramRun, ProgramSave
from exportlint.analysis.scripts.signatures import by_input, dims
from exportlint.claims import INFO, LINE, WARNING, Claim, Context, Report, always
from exportlint.findings import Fix, TorchVersion
from exportlint.fixes.edit.arguments import with_entries
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.export_calls.calls import with_argument
from exportlint.registry import rule

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression

OTHER_SIZES = Claim(non_strict=always(WARNING), strict=always(WARNING))
SAVED = Claim(non_strict=always(INFO), strict=always(INFO))

INSTEAD = "pass `dynamic_shapes` with a `torch.export.Dim` for each dynamic dimension"


@rule("EXP803", "static-batch", ProgramRun, ProgramSave)
def static_batch(fact: ProgramRun | ProgramSave, context: Context) -> Iterator[Report]:
    """`program.module()(torch.randn(4, 3))` of a program that was exported with `torch.randn(2, 3)`."""
    program = fact.program
    if program.site is None or program.inputs is None or fact.guarded:
        return
    if isinstance(fact, ProgramSave):
        severity = context.severity(SAVED)
        if severity is not None and program.inputs.dynamic_shapes is None and _has_tensors(program.inputs.args):
            message = f"the program from `{fact.api}` accepts only inputs with the sizes of the example"
            yield Report(severity, message, INSTEAD, program.site, lambda code: _fix(code, program, context, None))
        return
    found = next(_refused(program, fact), None)
    severity = context.severity(OTHER_SIZES)
    if found is not None and severity is not None:
        name, place, one, other = found
        message = f"dimension {place} of {name} is always {one} in this program, but {LINE} passes {other}"
        varying = {(one, place) for one, place, *_ in _refused(program, fact)}
        yield Report(severity, message, INSTEAD, program.site, lambda code: _fix(code, program, context, varying))


HINTS: TorchVersion = (2, 6)
"""The first torch with `Dim.AUTO`."""


def _fix(code: Code, program: Program, context: Context, varying: set[tuple[str, int]] | None) -> Fix:
    """Makes dimensions dynamic: those that vary, or the first of each input if that is not known."""
    inputs = program.inputs
    assert inputs is not None
    if inputs.dynamic_shapes is not None or inputs.kwargs is not None or not isinstance(inputs.args, Tuple):
        raise DeclinedError("dynamic shapes are given already, or the inputs are not all in one tuple")
    call = code.node(ast.Call)
    dim = code.name("torch.export.Dim", call)
    wanted = code.make("{dim}.AUTO" if context.version >= HINTS else '{dim}("batch")', dim=dim)
    expected = by_input(inputs)
    shapes: list[Expression] = []
    for index, example in enumerate(inputs.args.items):
        if not isinstance(example, Example) or example.shape is None:
            raise DeclinedError("which of the inputs are tensors is not known")
        name = _shown(expected[index][0]) if index in expected else ""
        places = [p for p in range(len(example.shape)) if (p == 0 if varying is None else (name, p) in varying)]
        if any((example.shape[place] or 2) < 2 for place in places):
            raise DeclinedError("export treats a size of 1 as a constant")
        entries = [(code.make("{place}", place=place), wanted) for place in places]
        shapes.append(with_entries(code.make("{{}}"), entries) if places else code.make("None"))
    given = code.make("({*shapes},)", shapes=shapes)
    return code.fix("Make the dimensions dynamic", with_argument(code, call, given, "dynamic_shapes"), safe=False)


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
                yield _shown(name), place, size, actual


def _shown(name: str) -> str:
    return f"`{name}`" if not name.isdigit() else f"input {name}"
