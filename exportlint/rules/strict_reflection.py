"""EXP606 strict-reflection: Python looks at values or at the program in a way that strict mode cannot trace."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.lattice import tensors_in
from exportlint.analysis.domain.values import Const, External
from exportlint.analysis.facts import Call
from exportlint.analysis.facts.tracing import (
    AliasSubscript,
    CachedRead,
    ClassStatement,
    ClassText,
    HookedCall,
    MethodTest,
    StackedContext,
    Text,
    UntracedOrder,
)
from exportlint.analysis.library_functions import LibraryFunction, find
from exportlint.analysis.torch.operator import Operator
from exportlint.analysis.torch.registry import find as operator
from exportlint.claims import ERROR, INFO, Claim, Context, Report, always, before
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.tensor_evidence import surely_tensor
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(None), strict=always(ERROR))
CLASS_TEXT = Claim(non_strict=always(None), strict={(2, 4): None, (2, 13): ERROR, (2, 15): None})
CACHED = Claim(non_strict={(2, 4): ERROR, (2, 13): INFO}, strict=always(ERROR))
TRACED_SINCE_2_9 = Claim(non_strict=always(None), strict=before((2, 9)))
TRACED_SINCE_2_13 = Claim(non_strict=always(None), strict=before((2, 13)))
TRACED_SINCE_2_15 = Claim(non_strict=always(None), strict=before((2, 15)))
BY_VERSION = {
    None: CLAIM,
    (2, 9): TRACED_SINCE_2_9,
    (2, 13): TRACED_SINCE_2_13,
    (2, 15): TRACED_SINCE_2_15,
}
"""By the first torch whose TorchDynamo traces a call."""
CHOOSE = "choose with `sorted(..., key=...)[0]`, or in a loop"

NAMED = frozenset({"items", "named_parameters", "named_buffers", "named_children", "named_modules"})
"""Methods that give pairs of which no two begin with the same name."""

Looks = (
    Call
    | Text
    | MethodTest
    | ClassStatement
    | ClassText
    | CachedRead
    | UntracedOrder
    | StackedContext
    | AliasSubscript
    | HookedCall
)


@rule(
    "EXP606",
    "strict-reflection",
    Call,
    Text,
    MethodTest,
    ClassStatement,
    ClassText,
    CachedRead,
    UntracedOrder,
    StackedContext,
    AliasSubscript,
    HookedCall,
)
def strict_reflection(fact: Looks, context: Context) -> Iterator[Report]:
    """`str(x)`, `callable(x.sum)`, `dir(x)`, `globals()`, `eval("x * 2")`, `sorted(d.items())`, `class` in forward."""
    claim, what, instead = _verdict(fact)
    severity = context.severity(claim) if claim is not None else None
    if severity is None or (fact.guarded and severity is ERROR):
        return
    message = f"{what} cannot be traced" + (
        " in strict mode" if context.mode == "strict" else " by some torch versions"
    )
    yield Report(severity, message, instead, fix=lambda code: _fix(code, fact))


def _fix(code: Code, fact: Looks) -> Fix | None:
    if isinstance(fact, MethodTest):
        call = code.node(ast.Call)
        method = call.args[0]
        if not isinstance(method, ast.Attribute):
            raise DeclinedError("the tensor is not written in the call")
        asks = code.make("isinstance({x}, {tensor})", x=method.value, tensor=code.name("torch.Tensor", call))
        safe = surely_tensor(code, method.value)
        return code.fix("Use `isinstance`", code.replace(call, asks), safe=safe)
    if isinstance(fact, UntracedOrder) and fact.of == "rows":
        call = code.node(ast.Call)
        pairs = call.args[0].func if call.args and isinstance(call.args[0], ast.Call) else None
        if call.keywords or not isinstance(pairs, ast.Attribute) or pairs.attr not in NAMED:
            raise DeclinedError("what is sorted may have equal first items")
        keyed = code.make("sorted({pairs}, key=lambda pair: pair[0])", pairs=call.args[0])
        return code.fix("Sort by the names", code.replace(call, keyed), safe=True)
    if isinstance(fact, Call) and fact.name == "builtins.pow":
        call = code.node(ast.Call)
        if len(call.args) != 2 or call.keywords:
            raise DeclinedError("`**` takes no modulus")
        power = code.make("{base} ** {exponent}", base=call.args[0], exponent=call.args[1])
        return code.fix("Use `**`", code.replace(call, power), safe=True)
    return None


def _verdict(fact: Looks) -> tuple[Claim | None, str, str]:
    if isinstance(fact, StackedContext):
        return CLAIM, f"`enter_context()` of `{fact.context}`", "use it in a `with` of its own"
    if isinstance(fact, UntracedOrder):
        of = {"rows": "of tuples that hold modules or tensors", "objects": "of objects", "key": "with a `key`"}[fact.of]
        is_sorting = fact.api in {"sorted()", "sort()"}
        instead = "sort by a `key` that returns a string or a number" if is_sorting else CHOOSE
        return CLAIM if fact.of == "objects" and not is_sorting else TRACED_SINCE_2_15, f"`{fact.api}` {of}", instead
    if isinstance(fact, Text):
        shown = f"`{fact.api}`" if fact.api.endswith("()") else f"formatting with `{fact.api}`"
        return CLAIM, f"{shown} of tensor data", 'use `f"{x}"`, or build the string outside the model'
    if isinstance(fact, MethodTest):
        return (
            TRACED_SINCE_2_15,
            f"`callable()` of the method `{fact.method}` of a tensor",
            "use `isinstance(x, torch.Tensor)`",
        )
    if isinstance(fact, ClassStatement):
        return CLAIM, f"the definition of class `{fact.name}`", "define it at the top of the file"
    if isinstance(fact, ClassText):
        what = f"`{fact.operation.strip('.')}` on the `{fact.text}` of a parameter's class"
        return CLASS_TEXT, what, "ask `self.weight.__class__`, or compare with `==` or `isinstance`"
    if isinstance(fact, HookedCall):
        return (
            CLAIM,
            f"a call of a module with a hook on its gradients (`{fact.name}`)",
            "register the hook after the export, or not at all while exporting",
        )
    if isinstance(fact, AliasSubscript):
        return (
            CLAIM,
            f"a type subscripted with the global alias `{fact.alias}`",
            "write its type out, or leave it out",
        )
    if isinstance(fact, CachedRead):
        is_tensor = any(True for _ in tensors_in(fact.computed))
        instead = "compute it in `__init__`; register a tensor as a buffer"
        return CACHED if is_tensor else CLAIM, f"the `cached_property` `{fact.name}`", instead
    if fact.name.startswith("torch.nn.Module.register_"):
        return CLAIM, f"`{fact.name.rpartition('.')[2]}()`", "register it in `__init__`, or have the module return it"
    if fact.name == "torch.Tensor.type" and External("torch.Tensor") in fact.positional:
        return CLAIM, "`type(torch.Tensor)`", "name a dtype: `x.float()`"
    if fact.name == "builtins.pow" and any(True for v in fact.positional for _ in tensors_in(v)):
        return CLAIM if len(fact.positional) > 2 else TRACED_SINCE_2_15, "`pow()` of a tensor", "use `x ** y`"
    if fact.name == "copy.copy" and any(True for v in fact.positional for _ in tensors_in(v, 0)):
        return None, "", ""  # refused in either mode
    refused = _refused(fact)
    if refused is None or _is_constant_expression(fact):
        return None, "", ""
    claim = BY_VERSION[refused.traced_from]
    holder, _, method = fact.name.rpartition(".")
    if method == "__setattr__":
        return claim, "an attribute that is set on a function", "keep it in a buffer of the module"
    if method == "__enter__":
        return claim, f"`with` on a `{holder}`", "acquire it where the model is called, or skip it while exporting"
    return (
        claim,
        f"`{fact.name.removeprefix('builtins.').removeprefix('torch.Tensor')}()`",
        "do it in `__init__`, or at the top of the file",
    )


def _refused(call: Call) -> LibraryFunction | Operator | None:
    """The record of what strict mode refuses to call like this, in some torch."""
    function = find(call.name)
    if function.strict == "refuses" and (function.refused_with is None or function.refused_with(call)):
        return function
    method = operator(call.name)
    return method if method.strict == "refuses" else None


def _is_constant_expression(fact: Call) -> bool:
    """`eval("1 + 1")`, which strict mode computes."""
    text = fact.positional[0] if fact.positional else None
    if fact.name != "builtins.eval" or not isinstance(text, Const) or not isinstance(text.value, str):
        return False
    try:
        tree = ast.parse(text.value, mode="eval")
    except SyntaxError:
        return False
    return not any(isinstance(node, ast.Name) for node in ast.walk(tree))
