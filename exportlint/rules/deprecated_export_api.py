"""EXP809 deprecated-export-api: an API of torch.export's history that has a replacement."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.facts.exports import ApiUse, ExportCall
from exportlint.claims import ERROR, INFO, Claim, Context, Report, Timeline, always
from exportlint.findings import Fix, TorchVersion
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.export_calls.calls import without_argument
from exportlint.fixes.export_calls.compiled_packages import COMPILERS, LOADER, packaged
from exportlint.fixes.export_calls.renamed_imports import renamed_import
from exportlint.registry import rule


def _both(timeline: Timeline) -> Claim:
    return Claim(non_strict=timeline, strict=timeline)


GONE = _both(always(ERROR))
RENAMED = _both(always(INFO))
CAPTURE = _both({(2, 4): INFO, (2, 9): ERROR})
TRAINING = _both({(2, 4): ERROR, (2, 5): None, (2, 9): INFO, (2, 10): ERROR})
INFERENCE = _both({(2, 4): ERROR, (2, 6): None, (2, 9): ERROR})
DIMENSION = _both({(2, 4): INFO, (2, 6): ERROR})
COMPILED = _both({(2, 4): None, (2, 6): INFO})
QUANTIZED = _both({(2, 4): None, (2, 9): INFO, (2, 13): ERROR})
ONNX = _both({(2, 4): None, (2, 6): INFO, (2, 9): ERROR})

APIS: dict[str, tuple[Claim, str]] = {
    "functorch.experimental.control_flow.cond": (RENAMED, "torch.cond"),
    "functorch.experimental.control_flow.map": (RENAMED, "torch._higher_order_ops.map"),
    "functorch.experimental.cond": (RENAMED, "torch.cond"),
    "torch.library.impl_abstract": (RENAMED, "torch.library.register_fake"),
    "torch._dynamo.export": (RENAMED, "torch.export.export"),
    "torch._export.export": (GONE, "torch.export.export"),
    "torch._export.aot_compile": (COMPILED, "torch._inductor.aoti_compile_and_package"),
    "torch._export.aot_load": (COMPILED, "torch._inductor.aoti_load_package"),
    "torch._inductor.aot_compile": (COMPILED, "torch._inductor.aoti_compile_and_package"),
    "torch._export.capture_pre_autograd_graph": (CAPTURE, "torch.export.export"),
    "torch._export.dynamic_dim": (DIMENSION, "torch.export.Dim"),
    "torch.export.dynamic_dim": (DIMENSION, "torch.export.Dim"),
    "torch.export.export_for_training": (TRAINING, "torch.export.export"),
    "torch.export.export_for_inference": (INFERENCE, "torch.export.export"),
    "torch.ao.quantization.quantize_pt2e": (QUANTIZED, "torchao.quantization.pt2e"),
    "torch.onnx.dynamo_export": (ONNX, "torch.onnx.export"),
}
"""What was measured with torch 2.13, and read in 2.4.1, 2.6.0 and 2.9.1; and the successor."""


@rule("EXP809", "deprecated-export-api", ApiUse, ExportCall)
def deprecated_export_api(fact: ApiUse | ExportCall, context: Context) -> Iterator[Report]:
    """`from functorch.experimental.control_flow import cond`, `torch.export.export(…, constraints=…)`."""
    if fact.guarded:
        return
    if isinstance(fact, ExportCall):
        severity = context.severity(GONE)
        if "constraints" in fact.keywords and severity is not None:
            place = fact.place("constraints")
            yield Report(
                severity, f"`{fact.api}` has no `constraints`", "pass `dynamic_shapes`", place, _without_constraints
            )
        return
    claim, successor = next((APIS[name] for name in _parents(fact.name) if name in APIS), (None, ""))
    severity = context.severity(claim) if claim is not None else None
    if severity is not None:
        state = "has been removed from torch" if severity is ERROR else f"has been replaced by `{successor}`"
        message = f"`{fact.name}` {state}"
        yield Report(severity, message, f"use `{successor}`", fix=lambda code: _fix(code, fact, context))


def _without_constraints(code: Code) -> Fix:
    keyword = code.tree.parents[code.expression]
    call = code.tree.parents[keyword]
    is_empty = isinstance(code.expression, (ast.List, ast.Tuple)) and not code.expression.elts
    if not is_empty or not isinstance(keyword, ast.keyword) or not isinstance(call, ast.Call):
        raise DeclinedError("each constraint is an entry of `dynamic_shapes`")
    return code.fix("Leave out `constraints`", without_argument(code, call, keyword), safe=True)


SAME: dict[str, TorchVersion] = {
    "functorch.experimental.control_flow.cond": (2, 4),
    "functorch.experimental.control_flow.map": (2, 13),
    "functorch.experimental.cond": (2, 4),
    "torch.library.impl_abstract": (2, 4),
    "torch.export.export_for_training": (2, 9),
}
"""Those that have come to be the same function as their successor, and since when."""
ALIKE = frozenset({*SAME, "torch._export.export"})
"""Those whose successor takes the same arguments."""


def _fix(code: Code, fact: ApiUse, context: Context) -> Fix:
    if fact.name in COMPILERS and not fact.imported:
        return packaged(code, fact)
    if fact.name == LOADER:
        raise DeclinedError("it loads another file; the fix is at the call that compiles this library")
    if fact.name not in ALIKE:
        raise DeclinedError("its replacement takes different arguments or returns another type")
    message = f"Use `{APIS[fact.name][1]}`"
    if not fact.imported:
        name = code.name(APIS[fact.name][1], code.expression)
        return code.fix(
            message, code.replace(code.expression, code.make("{name}", name=name)), safe=_is_same(fact.name, context)
        )
    statement = code.node(ast.ImportFrom)
    names = {alias.name: f"{statement.module}.{alias.name}" for alias in statement.names}
    known = {alias: name for alias, name in names.items() if name in ALIKE}
    successors = {alias: APIS[name][1] for alias, name in known.items()}
    safe = all(_is_same(name, context) for name in known.values())
    return code.fix(message, *renamed_import(code, statement, successors), safe=safe)


def _is_same(name: str, context: Context) -> bool:
    return name in SAME and context.version >= SAME[name]


def _parents(name: str) -> Iterator[str]:
    """The name, then those of the namespaces that it is in."""
    while name:
        yield name
        name = name.rpartition(".")[0]
