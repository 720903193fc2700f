"""The functions of the module `operator`, which do what the operators of Python do."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import UNKNOWN, Const, External, Partial, Python, Scalar, Tensor, Tuple, Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.comparisons import compare
from exportlint.analysis.eval.demands import data_of, demand_number, demand_truth
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.operators import operate
from exportlint.analysis.eval.subscripts import item
from exportlint.analysis.eval.tensor_results import result
from exportlint.analysis.library_functions import function, functions

BINARY: dict[str, ast.operator] = {
    "add": ast.Add(), "sub": ast.Sub(), "mul": ast.Mult(), "truediv": ast.Div(), "floordiv": ast.FloorDiv(),
    "mod": ast.Mod(), "pow": ast.Pow(), "matmul": ast.MatMult(), "and_": ast.BitAnd(), "or_": ast.BitOr(),
    "xor": ast.BitXor(), "lshift": ast.LShift(), "rshift": ast.RShift(), "concat": ast.Add(),
}  # fmt: skip
COMPARES: dict[str, ast.cmpop] = {
    "lt": ast.Lt(), "le": ast.LtE(), "eq": ast.Eq(), "ne": ast.NotEq(), "ge": ast.GtE(), "gt": ast.Gt(),
    "is_": ast.Is(), "is_not": ast.IsNot(),
}  # fmt: skip


functions("operator.index", gives="int")
functions("operator.indexOf operator.inv operator.setitem", strict="refuses", traced_from=(2, 15))
functions("operator.attrgetter.__call__ operator.itemgetter.__call__ operator.methodcaller.__call__", strict="refuses")


@function("operator.*")
def _call(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    name = name.removeprefix("operator.").strip("_") if name.startswith("operator.__") else name[len("operator.") :]
    given = arguments.positional
    if name in GETTERS:
        # TorchDynamo calls those that it has traced the making of
        call = "__call__" if frame.engine.constructing else "traced"
        return Partial(External(f"operator.{name}.{call}"), given, tuple(arguments.keywords.items()))
    if name.partition(".")[0] in GETTERS:
        return _got(frame, name.partition(".")[0], arguments, node)
    if name == "getitem" and len(given) == 2:
        return item(frame, *given, node)
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


GETTERS = frozenset({"attrgetter", "itemgetter", "methodcaller"})
"""Functions of `operator` that make functions."""


def _got(frame: Frame, getter: str, arguments: Arguments, node: ast.AST) -> Value:
    """What `itemgetter(…)(value)` and the like give. The last argument is the value."""
    *names, value = arguments.positional
    if getter == "methodcaller":
        name = names[0] if names else UNKNOWN
        method = _attribute_by_path(frame, value, name, node)
        return frame.call(method, Arguments(tuple(names[1:]), arguments.keywords), node)
    found = [
        _attribute_by_path(frame, value, name, node) if getter == "attrgetter" else item(frame, value, name, node)
        for name in names
    ]
    return found[0] if len(found) == 1 else Tuple(tuple(found))


def _attribute_by_path(frame: Frame, value: Value, path: Value, node: ast.AST) -> Value:
    if not isinstance(path, Const) or not isinstance(path.value, str):
        return UNKNOWN
    for name in path.value.split("."):
        value = frame.attribute(value, name, node)
    return value
