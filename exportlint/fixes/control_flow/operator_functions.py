"""The functions that a call of `torch.cond`, `while_loop`, `scan` or `map` names, and changes to what they do.

`return x` becomes `return x.clone()`, `x.add_(1)` works on a clone, a list of operands or results becomes a tuple, and
`n = t.item()` becomes `n = t`.

Never safe: who holds the operand or the result sees another tensor than before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import Const, Function, Python, Size
from exportlint.analysis.facts.control_flow import BodyAlias, BodyCapture, BodyWrite, OperandMismatch
from exportlint.analysis.torch.table import tensor_member
from exportlint.findings import Fix
from exportlint.fixes.control_flow.bodies import clone, copied, given_back, is_tensor, runs_of, storages
from exportlint.fixes.edit.arguments import with_argument
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.parentheses import with_parentheses
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.template import same
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.live_variables import returns
from exportlint.fixes.proofs.observed_values import item_of, may_be_tensor

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression

POSITIONS = {"`true_fn`": 1, "`false_fn`": 2, "`cond_fn`": 0, "`body_fn`": 1, "`combine_fn`": 0, "`f`": 0}
BRANCHES = ("`true_fn`", "`false_fn`")
ROLES = {"torch.cond": BRANCHES, "while_loop": ("`cond_fn`", "`body_fn`"), "scan": ("`combine_fn`",), "map": ("`f`",)}
"""The functions that each operator runs."""
REFUSED_OPERANDS = {
    "object": "only tensors can be operands: let the functions capture the object",
    "predicate": "the code does not show whether any or all of the elements must hold",
}
"""Why there is no fix for what has none."""


def clone_fix(code: Code, fact: BodyAlias) -> Fix:
    """Return copies of what is not the function's own. Raises DeclinedError if that cannot be told apart."""
    roles = BRANCHES if fact.role in BRANCHES else (fact.role,)
    edits = [edit for role in roles for edit in _copies(code, *function_of(code, role))]
    if not edits:
        raise DeclinedError("it is not known which result the function did not create")
    return code.fix("Return a copy", *edits, safe=False)


def _copies(code: Code, call: ast.Call, node: ast.FunctionDef | ast.Lambda) -> Iterator[Draft]:
    ways = statements_of(node)
    runs = runs_of(code, ways, first=list(_bindings(call, node)))
    for statement in returns(ways):
        if statement.value is not None:
            found = [(run, value) for run in runs for at, value in run.returned if at is statement]
            before, after = code.concrete(statement.value), given_back(code, statement.value, found)
            if before.lpar and not after.lpar:
                after = with_parentheses(after)
            if not same(before, after):
                yield code.replace(statement.value, after)


def statements_of(node: ast.FunctionDef | ast.Lambda) -> Sequence[ast.stmt]:
    """The statements of a function; a lambda has a `return`."""
    return node.body if isinstance(node.body, list) else [ast.copy_location(ast.Return(node.body), node.body)]


def function_of(code: Code, role: str) -> tuple[ast.Call, ast.FunctionDef | ast.Lambda]:
    """The call of the operator, and the function that it runs in a role, if that is in this file."""
    call = code.node(ast.Call)
    position = POSITIONS.get(role)
    keyword = next((k.value for k in call.keywords if f"`{k.arg}`" == role), None)
    if keyword is None and (position is None or position >= len(call.args)):
        raise DeclinedError("the function is not among the arguments")
    argument = keyword or call.args[position or 0]
    value = code.value(argument)
    found = {option.node for option in options(value) if isinstance(option, Function) and option.module is code.module}
    node = found.pop() if len(found) == 1 else None
    if isinstance(node, (ast.FunctionDef, ast.Lambda)):
        return call, node
    raise DeclinedError("the function is not in this file")


def _bindings(call: ast.Call, node: ast.FunctionDef | ast.Lambda) -> Iterator[ast.stmt]:
    """Assignments of the operands to the parameters of a function: of what `map` takes apart, its first row."""
    named = next((k.value for k in call.keywords if k.arg in {"operands", "carried_inputs"}), None)
    operands = named or next(reversed(call.args), None)
    if isinstance(operands, (ast.Tuple, ast.List)):
        given = operands.elts
    elif len(call.args) > 1:
        first = ast.Subscript(call.args[1], ast.Constant(0), ast.Load())
        given = [ast.fix_missing_locations(ast.copy_location(first, call.args[1])), *call.args[2:]]
    else:
        given = []
    for parameter, operand in zip(node.args.args, given, strict=False):
        target = ast.copy_location(ast.Name(parameter.arg, ast.Store()), operand)
        yield ast.copy_location(ast.Assign([target], operand), operand)


def copy_fix(code: Code, fact: BodyWrite) -> Fix:
    """Write to a copy of an operand. Raises DeclinedError if it is none of the function's parameters."""
    if not fact.is_tensor:
        raise DeclinedError(f"{fact.what} is Python state, which the graph of a function does not have")
    _, node = function_of(code, fact.role)
    names = {argument.arg for argument in node.args.args}
    writes = [(name, write) for name, write in _writes(node) if name.id in names]
    if not writes:
        raise DeclinedError(
            f"it writes to {fact.what}: the function must return the value, to be stored after the call"
        )
    message = "Leave the operand unchanged, so that the caller sees no write"
    if isinstance(node, ast.Lambda):
        edits = [_out_of_place(code, name) for name, _ in writes]
        if len({name.id for name, _ in writes}) < len(writes) or any(
            isinstance(part, ast.Name) and part.id == name.id and part is not name
            for name, _ in writes
            for part in ast.walk(node.body)
        ):
            raise DeclinedError("the operand is used again")
        return code.fix(message, *edits, safe=False)
    lines = [copied(name) for name in dict.fromkeys(name.id for name, _ in writes)]
    has_docstring = ast.get_docstring(node) is not None and len(node.body) > 1
    return code.fix(message, code.statements.insert_before(node.body[has_docstring], lines), safe=False)


def _out_of_place(code: Code, name: ast.Name) -> Draft:
    """`x.add(1)` for `x.add_(1)`, or `x.clone()` for `x` where there is no such method."""
    called = code.tree.parents[name]
    if isinstance(called, ast.Attribute) and tensor_member(called.attr.removesuffix("_")) is not None:
        return code.replace(called, code.make("{name}.{method}", name=name, method=called.attr.removesuffix("_")))
    return code.replace(name, code.make("{name}.clone()", name=name))


def _writes(node: ast.FunctionDef | ast.Lambda) -> Iterator[tuple[ast.Name, ast.AST]]:
    """The variables that a function writes to in place, each with what does so."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr.endswith("_"):
            if isinstance(part.func.value, ast.Name):
                yield part.func.value, part
        elif isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
            yield part.target, part
        elif isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store) and isinstance(part.value, ast.Name):
            yield part.value, part


def operands_fix(code: Code, fact: OperandMismatch) -> Fix:
    """Pass a tuple of tensors. Raises DeclinedError if it is not clear which ones."""
    call = code.node(ast.Call)
    if fact.what in REFUSED_OPERANDS:
        raise DeclinedError(REFUSED_OPERANDS[fact.what])
    if fact.what == "count":
        return _with_missing(code, call, fact)
    if len(call.args) < 3 or call.keywords:
        raise DeclinedError("the operands are not passed by position")
    operands = call.args[-1]
    if fact.what == "container":
        if fact.operand is None:
            raise DeclinedError("only you know the order of the operands")
        return code.fix("Pass a tuple", code.replace(operands, code.make("({operand},)", operand=operands)), safe=False)
    if not isinstance(operands, (ast.Tuple, ast.List)):
        raise DeclinedError("the operands are not written in the call")
    if fact.what == "alias":
        return _apart(code, operands)
    edits = [code.replace(one, _as_tensor(code, one)) for one in operands.elts if not may_be_tensor(code, one)]
    if not edits:
        raise DeclinedError("the operands are not known")
    for role in ROLES[fact.operator]:
        _require_arithmetic(code, role, operands.elts)
    return code.fix("Pass the number as a tensor", *edits, safe=False)


def _as_tensor(code: Code, operand: ast.expr) -> Expression:
    """A number as a tensor, and of what is read from a tensor that tensor."""
    read = item_of(operand)
    if read is not None:
        return code.concrete(read)
    if not all(isinstance(option, (Const, Python, Size)) for option in options(code.value(operand))):
        raise DeclinedError("the operand is neither a tensor nor a number that is written there")
    if isinstance(operand, ast.Constant) and not isinstance(operand.value, (int, float)):
        raise DeclinedError("an operand is neither a tensor nor a number")
    return code.make("{tensor}({number})", tensor=code.name("torch.tensor"), number=operand)


def _require_arithmetic(code: Code, role: str, operands: Sequence[ast.expr]) -> None:
    """Raises DeclinedError if a function does more than compute with the numbers that it is given."""
    _, node = function_of(code, role)
    parameters = [*node.args.posonlyargs, *node.args.args]
    numbers = {p.arg for p, one in zip(parameters, operands, strict=False) if not may_be_tensor(code, one)}
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part.id in numbers:
            around = code.tree.parents[part]
            if not isinstance(around, (ast.BinOp, ast.Compare, ast.UnaryOp)):
                raise DeclinedError(f"the function needs `{part.id}` as a number: let it capture it instead")


def _with_missing(code: Code, call: ast.Call, fact: OperandMismatch) -> Fix:
    """Pass the variables that have the names of the parameters for which there is no operand."""
    roles = ROLES[fact.operator]
    names = {tuple(p.arg for p in [*node.args.posonlyargs, *node.args.args]) for _, node in _all(code, roles)}
    given = call.args[3 if fact.operator == "torch.cond" else 2 :]
    operands = given[0] if given else None
    if (
        len(names) != 1
        or len(given) > 1
        or call.keywords
        or fact.operator == "map"
        or not isinstance(operands, (ast.Tuple, ast.List, type(None)))
    ):
        raise DeclinedError("the functions take different numbers of arguments")
    (parameters,) = names
    held = operands.elts if operands is not None else []
    missing = parameters[len(held) :]
    if not missing:
        raise DeclinedError("there are more operands than parameters, and only you know which one is not needed")
    for name in missing:
        if not code.surely(is_tensor, ast.copy_location(ast.Name(name, ast.Load()), call)):
            raise DeclinedError(f"no operand is passed for `{name}`, and no tensor here has this name")
    passed = code.make("({*held}, {*missing},)" if held else "({*missing},)", held=held, missing=missing)
    message = "Pass the tensors that have the names of the parameters"
    if operands is not None:
        return code.fix(message, code.replace(operands, passed), safe=False)
    return code.fix(message, code.replace(call, with_argument(code.concrete(call), passed)), safe=False)


def _all(code: Code, roles: Sequence[str]) -> list[tuple[ast.Call, ast.FunctionDef | ast.Lambda]]:
    return [function_of(code, role) for role in roles]


def _apart(code: Code, operands: ast.Tuple | ast.List) -> Fix:
    """Pass clones of the operands that share storage with one in front of them."""
    seen: set[object] = set()
    edits = []
    for one in operands.elts:
        roots = set(storages(code.value(one)))
        if roots & seen:
            edits.append(code.replace(one, clone(code.concrete(one))))
        seen |= roots
    if not edits:
        raise DeclinedError("it is not known which operands share their storage")
    return code.fix("Pass a copy", *edits, safe=False)


def captured_fix(code: Code, fact: BodyCapture) -> Fix:
    """Keep the tensor instead of reading its number: `n = x.sum().item()`. Raises DeclinedError."""
    function = code.tree.function(code.expression)
    found = [
        statement
        for statement in code.tree.contents(function or code.tree.root).of(ast.Assign)
        if any(isinstance(target, ast.Name) and target.id == fact.name for target in statement.targets)
    ]
    read = item_of(found[0].value) if len(found) == 1 else None
    if read is not None:
        edit = code.replace(found[0].value, read)
        return code.fix("Use the tensor itself; its dtype then affects the result", edit, safe=False)
    raise DeclinedError("the number is not read in a separate assignment")
