"""EXP205 tensor-copy: a tensor or module is copied or serialised by Python."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.values import Origin
from exportlint.analysis.facts import Copy
from exportlint.claims import ERROR, WARNING, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.eager_only.unused import left_out
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.names import qualified
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.observed_values import tensor
from exportlint.fixes.state.container_copies import copy_of_items
from exportlint.registry import rule

DEEP = Claim(
    non_strict={(2, 4): ERROR, (2, 6): None, (2, 9): ERROR},
    strict=always(ERROR),
)
DEEP_MODULE = Claim(
    non_strict={(2, 4): ERROR, (2, 6): WARNING, (2, 9): ERROR},
    strict=always(ERROR),
)
SAVE = Claim(non_strict=always(ERROR), strict=always(ERROR))
SHALLOW = Claim(non_strict={(2, 4): None, (2, 6): WARNING, (2, 9): ERROR}, strict=always(ERROR))
CLAIMS = {"copy.copy": SHALLOW, "copy.deepcopy": DEEP, "dataclasses.asdict": DEEP, "dataclasses.astuple": DEEP}

LOADS = frozenset({"pickle.loads", "cloudpickle.loads", "dill.loads"})
"""What gives back what was pickled."""


@rule("EXP205", "tensor-copy", Copy)
def tensor_copy(fact: Copy, context: Context) -> Iterator[Report]:
    """`copy.deepcopy(x)`, `copy.copy(x)`, `pickle.dumps(x)`, `torch.save(x, path)`."""
    severity = context.severity(_claim(fact))
    if severity is None or fact.guarded:
        return
    yield Report(
        severity,
        f"`{fact.api}` of a traced tensor or of a module with parameters, which have no data to copy during export",
        "use `x.clone()` for a tensor; copy modules in `__init__`",
        fix=lambda code: _fix(code, fact, context),
    )


def _claim(fact: Copy) -> Claim:
    is_of_parameters = fact.of_module or fact.operand.origin is Origin.PARAMETER
    return DEEP_MODULE if fact.api == "copy.deepcopy" and is_of_parameters else CLAIMS.get(fact.api, SAVE)


def _fix(code: Code, fact: Copy, context: Context) -> Fix:
    call = code.node(ast.Call)
    if fact.api.startswith("dataclasses."):
        raise DeclinedError("the fields have to be named")
    if fact.api not in {"copy.copy", "copy.deepcopy"}:
        loaded = _loaded(code, call)
        return left_out(code, call, context.version) if loaded is None else loaded
    if len(call.args) != 1 or call.keywords:
        raise DeclinedError("the copy has options")
    original = call.args[0]
    if tensor(code, original) is not None:
        # a shallow copy shares the memory, but no history
        method = "detach" if fact.api == "copy.copy" else "clone"
        new = code.make("{original}.{method}()", original=original, method=method)
        return code.fix(f"Use `.{method}()`", code.replace(call, new), safe=False)
    if fact.api == "copy.deepcopy" and (copied := copy_of_items(code, original)) is not None:
        return code.fix("Clone each tensor", code.replace(call, copied), safe=False)
    if _is_only_called(code, call):
        message = "Call the module itself, whose parameters get the gradients"
        return code.fix(message, code.replace(call, original), safe=False)
    raise DeclinedError("the copy may be changed")


def _loaded(code: Code, dumped: ast.Call) -> Fix | None:
    """`pickle.loads(pickle.dumps(x))` as a copy of tensors; None if it is something else."""
    around = code.tree.parents[dumped]
    name = qualified(around.func, code.tree.root, code.module.package) if isinstance(around, ast.Call) else None
    if name not in LOADS or not isinstance(around, ast.Call) or around.args[:1] != [dumped] or len(dumped.args) != 1:
        return None
    original = dumped.args[0]
    is_tensor = tensor(code, original) is not None
    copied = code.make("{x}.clone()", x=original) if is_tensor else copy_of_items(code, original)
    return None if copied is None else code.fix("Clone each tensor", code.replace(around, copied), safe=False)


def _is_only_called(code: Code, copied: ast.Call) -> bool:
    """Whether all that is done with a copy is to call it, at once or by a name."""
    parent = code.tree.parents[copied]
    if isinstance(parent, ast.Call):
        return parent.func is copied
    function = code.tree.function(copied)
    if not isinstance(parent, ast.Assign) or function is None or len(parent.targets) != 1:
        return False
    target = parent.targets[0]
    return isinstance(target, ast.Name) and all(
        isinstance(around := code.tree.parents[node], ast.Call) and around.func is node
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and node.id == target.id and node is not target
    )
