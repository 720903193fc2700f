"""EXP202 tensor-to-number: Python needs the number that a tensor holds."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.values import Scalar
from exportlint.analysis.facts import Conversion
from exportlint.claims import ERROR, Claim, Context, Report, always, before
from exportlint.findings import Fix
from exportlint.fixes.control_flow.checks import check_of_tensor
from exportlint.fixes.control_flow.truth import branch_fix
from exportlint.fixes.control_flow.while_loops import range_fix
from exportlint.fixes.eager_only.unused import left_out
from exportlint.fixes.edit.attempts import first_of
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.template import method
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.numbers import read_numbers
from exportlint.fixes.numbers.index_select import selection_fix
from exportlint.fixes.numbers.one_hot import one_hot_fix
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=before((2, 6)))
INDEX = Claim(non_strict=always(ERROR), strict=before((2, 13)))
MATH = Claim(non_strict=always(ERROR), strict=always(ERROR))
POWER = Claim(non_strict=before((2, 13)), strict=always(ERROR))
PLAIN = frozenset({"hex()", "oct()", "bin()", "chr()", "complex()", "round()"})
INTEGERS = frozenset({"int", "operator.index", "round", *(f"np.int{bits}" for bits in (8, 16, 32, 64))})
FLOATS = frozenset({"float", *(f"np.float{bits}" for bits in (16, 32, 64)), "np.double", "np.single"})
"""What reads one number of either kind."""
CHECK = "use `torch._assert_async`, which takes a tensor"
BUILTINS = {
    "int()": "keep it a tensor with `.to(torch.int64)`, or read it with `.to(torch.int64).item()`",
    "float()": "drop the `float()`: arithmetic works on the 0-d tensor; or read it with `.item()`",
    "complex()": "keep it a tensor: `torch.complex`",
    "operator.index()": "read it with `.item()`",
    "hex()": "format outside the model",
    "oct()": "format outside the model",
    "bin()": "format outside the model",
    "chr()": "format outside the model",
    "round()": "use `torch.round`",
    "max() of one tensor": "use `x.max()`",
    "min() of one tensor": "use `x.min()`",
}


ARGUMENT = Claim(non_strict=always(None), strict=always(ERROR))
PADDING = Claim(non_strict=before((2, 9)), strict=always(ERROR))


@rule("EXP202", "tensor-to-number", Conversion)
def tensor_to_number(fact: Conversion, context: Context) -> Iterator[Report]:
    """`int(t)`, `float(t)`, `math.sqrt(t)`, `operator.index(t)`, `max(t)`, `x.new_full(size, t)`."""
    if fact.target.startswith("argument of "):
        claim = PADDING if fact.target == "argument of pad()" else ARGUMENT
        severity = context.severity(claim) if not fact.guarded else None
        if severity is not None:
            is_strict = context.mode == "strict"
            yield Report(
                severity,
                f"`{fact.target.removeprefix('argument of ')}` needs a tensor's concrete value"
                + (" in strict mode" if is_strict else ""),
                "read the number with `.item()`" + (", or export in non-strict mode" if is_strict else ""),
            )
        return
    is_math = fact.target.startswith(("math.", "np."))
    is_check = fact.target.startswith("torch._check")
    help_text = (
        "use the function of the same name in `torch`" if is_math else CHECK if is_check else BUILTINS.get(fact.target)
    )
    severity = context.severity(_claim(fact))
    if help_text is None or severity is None or fact.guarded:
        return
    name, _, rest = fact.target.partition(" ")
    yield Report(
        severity,
        f"`{name}`{' ' + rest if rest else ''} needs a tensor's concrete value, which is not known during export",
        help_text,
        fix=lambda code: first_of(
            code,
            fact,
            branch_fix,
            range_fix,
            one_hot_fix,
            selection_fix,
            lambda code, _: _fix(code, fact, context),
        ),
    )


def _claim(fact: Conversion) -> Claim:
    target = fact.target
    if target == "math.sqrt()" and isinstance(fact.operand, Scalar):
        return CLAIM  # strict mode has a symbolic square root
    if target == "math.pow()":
        return POWER  # non-strict mode has a symbolic power
    if target.startswith(("math.", "np.", "torch._check")) or target in PLAIN:
        return MATH
    if target == "int()" and fact.operand.kind == "bool":
        return MATH  # strict mode asks a truth value for itself
    if target == "operator.index()":
        return MATH if isinstance(fact.operand, Scalar) else INDEX
    return CLAIM


def _fix(code: Code, fact: Conversion, context: Context) -> Fix:
    node = code.node(ast.Call)
    if fact.target in {"hex()", "oct()", "bin()", "chr()"}:
        return left_out(code, node, context.version)
    if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
        raise DeclinedError("not all arguments are known")
    if fact.target.startswith("math."):
        number = read_numbers.of_math(code, node)
        return code.fix("Use the operator of torch", code.replace(node, number), safe=False)
    if fact.target.startswith("torch._check"):
        return check_of_tensor(code, node)
    if len(node.args) != 1 or fact.target == "complex()":
        raise DeclinedError("torch.export cannot represent it symbolically")
    argument = node.args[0]
    if fact.target == "round()" and not isinstance(fact.operand, Scalar):
        rounded = method(code.concrete(argument), "round")
        return code.fix("Round with torch: Python cannot round tensors", code.replace(node, rounded), safe=False)
    if fact.target.endswith("of one tensor"):
        reduced = method(code.concrete(argument), fact.target[:3])
        return code.fix("Reduce with torch, which spreads gradients over ties", code.replace(node, reduced), safe=False)
    is_whole = fact.target.removesuffix("()") in INTEGERS
    if not is_whole and fact.target.removesuffix("()") not in FLOATS:
        number = read_numbers.of_math(code, node)
        return code.fix("Use the operator of torch", code.replace(node, number), safe=False)
    read = read_numbers.integer if is_whole else read_numbers.floating
    number, safe = read(code, argument, fact.operand)
    return code.fix("Read the number with `.item()`", code.replace(node, number), safe=safe)
