"""A function, or a string, that tensor data chooses: all are used, and the condition chooses one of the results.

`(f if c else g)(x)` becomes `torch.where(c, f(x), g(x))`. Where a variable holds the function, as in
`h = f if c else g` or an `if` that only assigns it, each call of the variable becomes such a choice, and where it holds
a string, each tensor that is computed with it: `self.heads[name](x)`, `pad(x, p, mode)`. `getattr(self, "a" if c else
"b")` becomes `torch.where(c, self.a, self.b)`.

A function of the project is called by `torch.cond`, which takes one of them.

Never safe: the function that was not taken runs, too, and the results are broadcast and promoted. `torch.cond` compiles
both, also in eager.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from exportlint.fixes.control_flow.bodies import (
    check_movable,
    check_result,
    check_tensors,
    clone,
    operands,
    runs_of,
)
from exportlint.fixes.control_flow.branch_paths import names_in
from exportlint.fixes.control_flow.conditions import tensor_condition
from exportlint.fixes.control_flow.merging import Fresh, hoisted
from exportlint.fixes.control_flow.where import CHOOSE, branch_of
from exportlint.fixes.edit.blocks import analysed
from exportlint.fixes.edit.template import call as called
from exportlint.fixes.edit.template import expression, statement
from exportlint.fixes.errors import DeclinedError, InapplicableError
from exportlint.fixes.proofs.called_variables import calls_of
from exportlint.fixes.proofs.live_variables import needed
from exportlint.fixes.proofs.liveness import assigned
from exportlint.fixes.proofs.observed_values import as_tensor, builtin, is_python
from exportlint.fixes.proofs.purity import is_pure, require_pure

if TYPE_CHECKING:
    from exportlint.analysis.facts import Fact
    from exportlint.findings import Fix
    from exportlint.fixes.edit.code import Code
    from exportlint.fixes.edit.template import Expression, Statement


def chosen_function_fix(code: Code, _: Fact) -> Fix:
    """Call all functions that a branch chooses from, or use all strings, and choose a result.

    Raises:
        DeclinedError: the branch chooses no function, a call may have effects, or a result is not a tensor.
    """
    branch = branch_of(code)
    if isinstance(branch, ast.Match):
        raise InapplicableError("the branch does not choose a function")
    if isinstance(branch, ast.IfExp):
        parent = code.tree.parents[branch]
        if isinstance(parent, ast.Call) and parent.func is branch:
            asked = tensor_condition(code, branch.test).tensor
            result = _result(code, parent, asked, branch.body, branch.orelse)
            return code.fix(CHOOSE, code.replace(parent, result), safe=False)
        if not isinstance(parent, ast.stmt) and _is_text(branch.body) and _is_text(branch.orelse):
            use = _smallest_tensor(code, branch, branch.body, branch.orelse)
            asked = tensor_condition(code, branch.test).tensor
            chosen = _with_each(code, use, [branch], asked, branch.body, branch.orelse)
            return code.fix(CHOOSE, code.replace(use, chosen), safe=False)
    name, one, other = _assigned(code, branch)
    around = branch if isinstance(branch, ast.If) else code.tree.statement(branch)
    lines: list[Statement] = []
    (condition,) = hoisted([tensor_condition(code, branch.test)], lines, Fresh(code, branch))
    edits = [code.statements.replace([around], lines)] if lines else [code.statements.left_out(around)]
    block, first = code.tree.block(around), code.tree.index(around)
    is_text = _is_text(one) and _is_text(other)
    uses: Sequence[tuple[int, ast.expr]] = (
        _uses_of(code, around, name, one, other) if is_text else calls_of(code, around, name)
    )
    for index, use in uses:
        between = block[first + 1 : index]
        if (names_in(one) | names_in(other)) & assigned(between):
            raise DeclinedError("a name of the chosen functions means something else where it is called")
        here = code.after(block[first:index])
        if isinstance(use, ast.Call) and not _is_text(one):
            edits.append(code.replace(use, _result(here, use, condition.tensor, one, other)))
        else:
            named = [part for part in ast.walk(use) if isinstance(part, ast.Name) and part.id == name]
            edits.append(code.replace(use, _with_each(here, use, named, condition.tensor, one, other)))
    return code.fix(CHOOSE, *edits, safe=False)


def _assigned(code: Code, branch: ast.AST) -> tuple[str, ast.expr, ast.expr]:
    """The variable that a branch only assigns, and its two values. Raises DeclinedError."""
    if isinstance(branch, ast.IfExp):
        match code.tree.parents[branch]:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is branch:
                return name, branch.body, branch.orelse
    if isinstance(branch, ast.If) and not code.statements.is_elif(branch):
        match branch.body, branch.orelse:
            case [ast.Assign(targets=[ast.Name(id=name)], value=one)], [
                ast.Assign(targets=[ast.Name(id=again)], value=other)
            ] if name == again:
                return name, one, other
    raise InapplicableError("the branch does not choose a function")


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _uses_of(code: Code, statement: ast.stmt, name: str, one: ast.expr, other: ast.expr) -> list[tuple[int, ast.expr]]:
    """The smallest tensors that are computed with a variable, as `calls_of` has it. Raises DeclinedError."""
    function = code.tree.function(statement)
    if function is None:
        raise DeclinedError("the code runs when the file is imported")
    inside, block = set(ast.walk(statement)), code.tree.block(statement)
    places = {n: index for index, each in enumerate(block) for n in ast.walk(each)}
    found: dict[ast.expr, int] = {}
    for node in code.tree.contents(function).named(name):
        if node in inside:
            continue
        index = places.get(node, -1)
        if index <= code.tree.index(statement) or not isinstance(node.ctx, ast.Load):
            raise DeclinedError("the chosen string is also used elsewhere")
        here = code.after(block[code.tree.index(statement) : index])
        found[_smallest_tensor(here, node, one, other)] = index
    if not found:
        raise InapplicableError("the branch does not choose a string")
    inner = {part for use in found for part in ast.walk(use) if part is not use}
    return [(index, use) for use, index in found.items() if use not in inner]


def _smallest_tensor(code: Code, node: ast.expr, one: ast.expr, other: ast.expr) -> ast.expr:
    """The smallest tensor that is computed with a string, whichever of two it is. Raises DeclinedError."""
    use = code.tree.parents[node]
    while isinstance(use, (ast.expr, ast.keyword)) and not isinstance(use, (ast.Lambda, ast.JoinedStr)):
        if isinstance(use, ast.expr) and all(
            as_tensor(code.value(way)) is not None for _, way in _ways(code, use, [node], one, other)
        ):
            return use
        use = code.tree.parents[use]
    raise DeclinedError("the chosen string is used for more than tensors")


def _with_each(
    code: Code, use: ast.expr, chosen: Sequence[ast.expr], condition: Expression, one: ast.expr, other: ast.expr
) -> Expression:
    """The choice between what an expression gives for two values of parts of it. Raises DeclinedError."""
    ways = list(_ways(code, use, chosen, one, other))
    for _, read in ways:
        require_pure(code, read)
    return called(code.name("torch.where", use), condition, *(way for way, _ in ways))


def _ways(
    code: Code, use: ast.expr, chosen: Sequence[ast.expr], *values: ast.expr
) -> Iterator[tuple[Expression, ast.expr]]:
    """An expression with each of some values in the place of parts of it, also as analysis reads it."""
    for value in values:
        way = code.concrete(use, dict(_put(code, part, value) for part in chosen))
        (read,) = analysed([code.statement("{way}", way=way)])
        assert isinstance(read, ast.Expr)
        yield way, read.value


def _put(code: Code, part: ast.expr, value: ast.expr) -> tuple[ast.expr, Expression]:
    """What is replaced where a value takes the place of a part: all of `getattr(self, part)` by `self.value`."""
    around = code.tree.parents[part]
    match around, value:
        case ast.Call(args=[held, given], keywords=[]), ast.Constant(value=str() as name) if (
            given is part and name.isidentifier() and builtin(code, around) == "getattr"
        ):
            return around, code.make("{held}.{name}", held=held, name=name)
    return part, code.concrete(value)


def _result(code: Code, call: ast.Call, condition: Expression, one: ast.expr, other: ast.expr) -> Expression:
    """The choice between what two functions give for the arguments of a call. Raises DeclinedError."""
    ways, runs = [], []
    for function in (one, other):
        way = ast.copy_location(ast.Call(function, call.args, call.keywords), call)
        if isinstance(function, ast.IfExp) or is_python(code, function):
            raise InapplicableError("the branch does not choose a function")
        if as_tensor(code.value(way)) is None:
            raise DeclinedError("the chosen function does not return a tensor")
        if isinstance(call.func, ast.Name):
            ways.append(code.concrete(call, {call.func: code.concrete(function)}))
        else:  # the parentheses are those of the choice
            ways.append(called(code.concrete(function), *map(code.argument, [*call.args, *call.keywords])))
        runs.append(way)
    if all(is_pure(code, way) for way in runs):
        return called(code.name("torch.where", call), condition, *ways)
    return _by_cond(code, call, condition, list(zip(ways, runs, strict=True)))


def _by_cond(
    code: Code, call: ast.Call, condition: Expression, ways: Sequence[tuple[Expression, ast.Call]]
) -> Expression:
    """The result of the one function that `torch.cond` calls, as code of the project does. Raises DeclinedError."""
    check_movable([run for _, run in ways])
    results = []
    for way, run in ways:
        found = runs_of(code, [ast.copy_location(ast.Return(run), run)])
        values = [(each, value) for each in found for _, value in each.returned]
        check_tensors((value for _, value in values), "the returned value")
        results.append(way if all(each.is_own(value) for each, value in values) else clone(way))
    given = operands(code, needed([run for _, run in ways]), ())
    functions = [expression("lambda {*names}: {result}", names=given.names, result=result) for result in results]
    made = called(code.name("torch.cond", call), condition, *functions, given.tuple)
    check_result(code, [statement("{made}", made=made)])
    return made
