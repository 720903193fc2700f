"""Calls of torch.export and its kin, and what is done with the programs that they give."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from exportlint.analysis.domain.script_values import Dim, Example, Inputs, Model, Program, Scripted, Unlifted
from exportlint.analysis.domain.values import UNKNOWN, Const, Dict, Sequence, Tuple, Value
from exportlint.analysis.eval.arguments import UNPACKED, Arguments
from exportlint.analysis.facts.exports import (
    Compilation,
    DimCall,
    Evaluated,
    ExportCall,
    ProgramCall,
    ProgramMove,
    ProgramRun,
    ProgramSave,
    Scripting,
)
from exportlint.analysis.scripts.modes import varies
from exportlint.analysis.scripts.scope import Scope
from exportlint.analysis.scripts.signatures import signature_of

EXPORTS = frozenset(
    f"torch.export.{name}" for name in ("export", "draft_export", "export_for_training", "export_for_inference")
)
SAVES = frozenset({"torch.export.save", "torch._inductor.aoti_compile_and_package"})
COMPILERS = {"torch._export.aot_compile": "f", "torch._inductor.aot_compile": "gm"}
"""What makes a library, and how the parameter for its target is called."""
SCRIPTS = frozenset({"torch.jit.script", "torch.jit.trace", "torch.jit.trace_module"})
REFINES = frozenset({"torch.jit.freeze", "torch.jit.optimize_for_inference"})
MOVES = frozenset({"to", "cuda", "cpu", "xpu", "mtia", "ipu"})
OF_MODULES = frozenset({
    "forward", "eval", "train", "to", "cuda", "cpu", "half", "float", "double", "bfloat16", "requires_grad_", "apply",
    "load_state_dict", "modules", "children", "named_modules", "named_children", "zero_grad", "compile",
    "register_buffer", "get_submodule", "get_parameter", "get_buffer", "share_memory", "to_empty",
})  # fmt: skip
"""Methods that a module has and an `ExportedProgram` lacks."""


def call(scope: Scope, name: str, arguments: Arguments, node: ast.Call) -> Value | None:
    """What a function of torch gives that has to do with export; None if it is another one."""
    if name in EXPORTS:
        return _export(scope, name, arguments, node)
    if name == "torch.export.load":
        return Program()
    if name in {"torch.export.Dim", "torch.export.dims"}:
        return _dim(scope, name, arguments, node)
    if name in SAVES:
        program = arguments.get(0, "ep" if name == "torch.export.save" else "exported_program")
        if isinstance(program, Program):
            scope.emit(ProgramSave, node, program=program, api=name)
        return UNKNOWN
    if name in COMPILERS:
        scope.emit(Compilation, node.func, target=arguments.get(0, COMPILERS[name]) or UNKNOWN)
        return UNKNOWN
    if name in SCRIPTS | REFINES:
        target = arguments.get(0, "func" if name == "torch.jit.trace" else "obj") or UNKNOWN
        if name in SCRIPTS or not isinstance(target, Scripted):
            scope.emit(Scripting, node, api=name, target=target)
        return target if isinstance(target, Scripted) else Scripted(target)
    return None


def _export(scope: Scope, name: str, arguments: Arguments, node: ast.Call) -> Value:
    if UNPACKED in arguments.keywords or Sequence(UNKNOWN, "*") in arguments.positional:
        return Program()
    target = arguments.get(0, "mod")
    if target is None:
        return Program()
    given = {key: arguments.keywords.get(key) for key in ("dynamic_shapes", "strict")}
    shapes = None if given["dynamic_shapes"] == Const(None) else given["dynamic_shapes"]
    kwargs = None if arguments.get(2, "kwargs") == Const(None) else arguments.get(2, "kwargs")
    inputs = Inputs(arguments.get(1, "args"), kwargs, shapes, signature_of(scope, target))
    training = scope.training.get(target) if isinstance(target, Model) else None
    program = Program(scope.site(node), target, inputs)
    if training and isinstance(target, Model):
        scope.run.exported.setdefault(target, []).append(scope.site(node))
    names = [*("mod", "args", "kwargs")[: len(node.args)], *(k.arg for k in node.keywords if k.arg)]
    places = [*node.args, *(k.value for k in node.keywords if k.arg)]
    scope.emit(
        ExportCall,
        node,
        api=name,
        target=target,
        inputs=inputs,
        strict=given["strict"],
        training=training,
        varies=isinstance(target, Model) and varies(scope, target),
        keywords=tuple(arguments.keywords),
        places=tuple((key, scope.site(place)) for key, place in zip(names, places, strict=False)),
        shared=tuple(
            (again.id, scope.site(again)) for again in _shared(dict(zip(names, places, strict=False)), inputs)
        ),
    )
    return program


def _shared(written: Mapping[str, ast.expr], inputs: Inputs) -> Iterator[ast.Name]:
    """Where variables that hold a tensor stand for one more input, as far as the inputs are written in the call."""
    given = (("args", inputs.args), ("kwargs", inputs.kwargs))
    seen: set[str] = set()
    for name in (name for key, value in given if key in written for name in _tensors(written[key], value)):
        if name.id in seen:
            yield name
        seen.add(name.id)


def _tensors(node: ast.expr, value: Value | None) -> Iterator[ast.Name]:
    """The variables that hold a tensor, in what is written for a value."""
    match node, value:
        case ast.Name(), Example():
            yield node
        case ((ast.Tuple(elts=nodes) | ast.List(elts=nodes)), Tuple(items=values)) if len(nodes) == len(values):
            for part, held in zip(nodes, values, strict=True):
                yield from _tensors(part, held)
        case ast.Dict(values=nodes), Dict(entries=entries, rest=None) if len(nodes) == len(entries):
            for part, (_, held) in zip(nodes, entries, strict=True):
                yield from _tensors(part, held)


def _dim(scope: Scope, name: str, arguments: Arguments, node: ast.Call) -> Value:
    lowest, highest = (_number(arguments.keywords.get(key)) for key in ("min", "max"))
    called = [v.value if isinstance(v, Const) and isinstance(v.value, str) else None for v in arguments.positional]
    if name == "torch.export.dims":
        return Tuple(tuple(Dim(each, lowest, highest) for each in called))
    keyword = arguments.keywords.get("name")
    if not called and isinstance(keyword, Const) and isinstance(keyword.value, str):
        called = [keyword.value]
    first = called[0] if called else None
    scope.emit(DimCall, node, name=first, min=lowest, max=highest)
    return Dim(first, lowest, highest)


def _number(value: Value | None) -> int | None:
    return value.value if isinstance(value, Const) and type(value.value) is int else None


def run(scope: Scope, callee: Program | Unlifted, arguments: Arguments, node: ast.Call) -> Value:
    """A program is called."""
    if isinstance(callee, Program):
        scope.emit(ProgramCall, node, method="")
        return UNKNOWN
    if UNPACKED not in arguments.keywords and Sequence(UNKNOWN, "*") not in arguments.positional:
        positional, keywords = Tuple(arguments.positional), tuple(arguments.keywords.items())
        scope.emit(ProgramRun, node, program=callee.program, positional=positional, keywords=keywords)
    return UNKNOWN


def method(scope: Scope, receiver: Program | Unlifted, name: str, arguments: Arguments, node: ast.Call) -> Value:
    """A method of a program or of its module is called."""
    if isinstance(receiver, Program):
        if name in OF_MODULES:
            scope.emit(ProgramCall, node, method=name)
            return UNKNOWN
        return Unlifted(receiver) if name == "module" else receiver if name == "run_decompositions" else UNKNOWN
    if name in {"eval", "train"}:
        scope.emit(ProgramCall, node, method=name, unlifted=True)
    if name not in MOVES:
        return UNKNOWN
    device = arguments.get(0, "device")
    literal = str(device.value) if isinstance(device, Const) else None
    if not isinstance(device, Example):
        scope.emit(ProgramMove, node, api=name, device=literal if name == "to" else name, program=receiver.program)
    return receiver


def mode_changed(scope: Scope, model: Model, node: ast.Call) -> None:
    """A model was put into training or evaluation mode."""
    if scope.training.get(model) is False:
        for site in scope.run.exported.get(model, ()):
            scope.emit(Evaluated, node, export=site)
