"""The functions of the module `operator`, which do what the operators of Python do."""

from __future__ import annotations

import ast

from exportlint.analysis.interpreter.arguments import Arguments
from exportlint.analysis.interpreter.comparisons import compare
from exportlint.analysis.interpreter.demands import data_of, demand_number, demand_truth
from exportlint.analysis.interpreter.frame import Frame
from exportlint.analysis.interpreter.operators import operate
from exportlint.analysis.interpreter.tensors import result
from exportlint.analysis.joins import options
from exportlint.analysis.values import UNKNOWN, Const, Python, Scalar, Tensor, Value

BINARY: dict[str, ast.operator] = {
    "add": ast.Add(), "sub": ast.Sub(), "mul": ast.Mult(), "truediv": ast.Div(), "floordiv": ast.FloorDiv(),
    "mod": ast.Mod(), "pow": ast.Pow(), "matmul": ast.MatMult(), "and_": ast.BitAnd(), "or_": ast.BitOr(),
    "xor": ast.BitXor(), "lshift": ast.LShift(), "rshift": ast.RShift(), "concat": ast.Add(),
}  # fmt: skip
COMPARES: dict[str, ast.cmpop] = {
    "lt": ast.Lt(), "le": ast.LtE(), "eq": ast.Eq(), "ne": ast.NotEq(), "ge": ast.GtE(), "gt": ast.Gt(),
    "is_": ast.Is(), "is_not": ast.IsNot(),
}  # fmt: skip


def call_operator(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`operator.name(…)`."""
    name = name.removeprefix("operator.").strip("_") if name.startswith("operator.__") else name[len("operator.") :]
    given = arguments.positional
    if name == "index":
        demand_number(frame, arguments.get(0) or UNKNOWN, node, "operator.index()")
        return Python("int")
    if name in {"truth", "not_", "not"} and isinstance(node, ast.Call) and given:
        is_true = demand_truth(frame, given[0], node, "bool()" if name == "truth" else "not")
        return Python("bool") if is_true is None else Const(is_true is (name == "truth"))
    if name in {"contains", "__contains__"} and len(given) == 2:
        return compare(frame, node, ast.In(), given[1], given[0])
    if len(given) == 2 and name in BINARY:
        return operate(frame, node, BINARY[name], *given)
    if len(given) == 2 and name in COMPARES:
        return compare(frame, node, COMPARES[name], *given)
    if any(isinstance(o, Tensor) for value in arguments.values for o in options(value)):
        return result(frame, node, f"operator.{name}", arguments.values)
    data = data_of(given[0]) if given else None
    return data if isinstance(data, Scalar) and name in {"neg", "pos", "abs"} else UNKNOWN
