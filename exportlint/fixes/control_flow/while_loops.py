"""Loops whose number of passes depends on tensor data as `torch.while_loop`.

`while c: x = f(x)` and `for i in range(n)` become two functions and `x, = torch.while_loop(cond_fn, body_fn, (x,))`.
Where `if c: break` stands in the body, one more variable says whether the loop goes on, and the statements behind it
take effect only then: `while True: …` is such a loop. If a variable has no value before the loop, what stands before
the `break` runs once in front of it, and again at the end of each pass. The flag of `while not done` becomes a tensor.
`loop_rows` rewrites rows that the counter chooses. A number that the function only returns is read from its tensor.

Never safe: shapes and dtypes have to stay, and the loop is compiled in eager too. Up to torch 2.13, `torch.while_loop`
loses the gradients of all passes but the last one through a variable that starts without a gradient.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Mapping, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import PYTHON, UNKNOWN, Const, Python, Scalar, Size, Tensor, Value
from exportlint.analysis.eval.snapshots import Run
from exportlint.analysis.facts import Conversion, Fact
from exportlint.findings import Fix, TorchVersion
from exportlint.fixes.control_flow.bodies import (
    Operands,
    aliases,
    check_movable,
    check_result,
    check_tensors,
    clone,
    copied,
    copies,
    is_tensor,
    operands,
    runs_of,
)
from exportlint.fixes.control_flow.branch_paths import names_in
from exportlint.fixes.control_flow.conditions import tensor_condition
from exportlint.fixes.control_flow.definitions import assigned_to, definition, put_in_place
from exportlint.fixes.control_flow.logic import Condition, Predicate, negated
from exportlint.fixes.control_flow.loop_rows import with_rows, written_rows
from exportlint.fixes.control_flow.merging import Fresh, given_to
from exportlint.fixes.control_flow.predication import Predicated
from exportlint.fixes.edit.blocks import analysed, apart
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.parentheses import source
from exportlint.fixes.edit.template import bare_tuple, binary, call, dotted, expression, keyword, method, statement
from exportlint.fixes.edit.tree import place
from exportlint.fixes.errors import DeclinedError, InapplicableError
from exportlint.fixes.numbers.operands import operand
from exportlint.fixes.proofs.live_variables import bound, definitely_assigned, needed, needed_after, returns
from exportlint.fixes.proofs.observed_values import item_of, scalar

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression, Statement

MESSAGE = (
    "Loop with `torch.while_loop`, which keeps shapes and dtypes, even if no pass runs, is compiled, also in eager, "
    "and has wrong gradients through variables that start without one"
)
SINCE: TorchVersion = (2, 6)
"""The first version that has `torch.while_loop`."""


def while_fix(code: Code, _: Fact) -> Fix:
    """Let `torch.while_loop` run a `while`. Raises DeclinedError if its body is not fit for that."""
    node: ast.AST = code.tree.statement(code.expression)
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]):
            node = code.tree.parents[node]
            if not isinstance(node, ast.While) or name not in names_in(node.test):
                raise InapplicableError("it is not the flag of a `while`")
    if not isinstance(node, ast.While):
        raise InapplicableError("it is not a `while`")
    code.need(SINCE)
    return _while(code, node)


def break_fix(code: Code, _: Fact) -> Fix:
    """Let `torch.while_loop` run a `while` that an `if …: break` ends. Raises DeclinedError."""
    branch = code.tree.statement(code.expression)
    loop = code.tree.parents[branch]
    if not isinstance(loop, ast.While) or not _breaks(branch) or branch not in loop.body:
        raise InapplicableError("it is not an `if …: break` in the body of a `while`")
    code.need(SINCE)
    return _while(code, loop, branch)


def _while(code: Code, node: ast.While, met: ast.stmt | None = None) -> Fix:
    """A `while` as an operator; the variables are known at its test, or at the statement of its body that is `met`."""
    check_loop(code, node)
    always = _is_endless(node)
    if always and met is not None:
        rotated = _rotated(code, node, met)
        if rotated is not None:
            return rotated
    carried = carried_by(code, node, [node.test, *node.body])
    counters = _numbers(code, carried, node)
    condition = None if always else _condition(code, node.test, counters)
    return looped(code, node, carried, condition, counters, met=met)


def _rotated(code: Code, node: ast.While, met: ast.stmt) -> Fix | None:
    """`while True: a; if c: break; b` as `a; while not c: b; a`, if `a` gives a variable its first value."""
    index = node.body.index(met)
    first, behind = node.body[:index], node.body[index + 1 :]
    left = needed_after(code.tree, node).union(*map(names_in, returns(node.body)))
    late = set(bound(first)) & (set(needed(node.body)) | left) - definitely_assigned(code.tree, node)
    if not late or sum(map(_breaks, node.body)) > 1:
        return None
    assert isinstance(met, ast.If)
    here, body = code.after(first), [*behind, *first]
    wanted = set(needed([met.test, *body])) | left
    carried = [name for name in bound(body) if name in wanted]
    has_values = set(carried) <= definitely_assigned(code.tree, met) and _have_values(here, carried)
    if written_rows(here, body) or not has_values:
        return None
    counters = _numbers(here, carried, node)
    condition = negated(Condition(_condition(here, met.test, counters))).tensor
    return looped(
        here, node, carried, condition, counters, prepared=code.statements.moved(first, above=True), body=body
    )


def _is_endless(node: ast.While | ast.For) -> bool:
    return isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)


def _breaks(one: ast.AST) -> bool:
    """Whether a statement is `if …: break`, or `return`."""
    leaves = isinstance(one, ast.If) and not one.orelse and len(one.body) == 1
    return leaves and isinstance(one.body[0], (ast.Break, ast.Return))  # type: ignore[attr-defined]


def range_fix(code: Code, _: Conversion) -> Fix:
    """Let `torch.while_loop` run `for i in range(n)`, where `n` is read from a tensor. Raises DeclinedError."""
    node = code.tree.statement(code.expression)
    if not isinstance(node, ast.For) or not isinstance(node.target, ast.Name):
        raise InapplicableError("it is not a loop over a `range`")
    given = node.iter
    if not isinstance(given, ast.Call) or given.keywords or not 1 <= len(given.args) <= 2:
        raise DeclinedError("the range has a step")
    code.need(SINCE)
    check_loop(code, node)
    index = node.target.id
    if index == "_" and index not in needed(node.body):
        index = code.fresh("i", node)
    if index in needed_after(code.tree, node) or index in bound(node.body):
        raise DeclinedError(f"`{index}` is used after the loop, or changed in it")
    carried = [index, *carried_by(code, node, node.body, but=index)]
    start = call(code.name("torch.tensor"), code.concrete(given.args[0]) if len(given.args) == 2 else 0)
    limit, prepared = _number_tensor(code, given.args[-1]), []
    if isinstance(given.args[-1], ast.Name) and code.surely(lambda v: isinstance(v, Scalar), given.args[-1]):
        name = code.fresh("limit", node)  # a function of an operator cannot capture a number
        prepared, limit = [assigned_to([name], limit)], dotted(name)
    condition = binary("<", index, limit)
    return looped(code, node, carried, condition, {index: start}, step=binary("+", index, 1), prepared=prepared)


def check_loop(code: Code, node: ast.While | ast.For) -> None:
    """Raises DeclinedError if the body of a loop cannot stand in a function."""
    if code.tree.function(node) is None or node.orelse or (returns(node.body) and _returned(node) is None):
        raise DeclinedError("the loop has an `else` or a `return`, or is not in a function")
    check_movable([one for one in node.body if not _breaks(one)])


def _returned(node: ast.While | ast.For) -> ast.Return | None:
    """The `return` that can follow a loop, as it is the only way out of it: `while True: … if c: return x`."""
    ways = [one for one in node.body if _breaks(one)]
    found = returns(node.body)
    only = _is_endless(node) and len(ways) == len(found) == 1 and node.body[-1] is ways[0]
    return found[0] if only and found[0].value is not None else None


def carried_by(code: Code, node: ast.stmt, read: Sequence[ast.AST], but: str = "") -> list[str]:
    """The variables that a pass of a loop takes from the one before it, or leaves behind."""
    body = node.body  # type: ignore[attr-defined]
    wanted = set(needed(read)) | needed_after(code.tree, node)
    wanted = wanted.union(*map(names_in, returns(body)))
    found = [name for name in bound(body) if name in wanted and name != but]
    found += [name for name in written_rows(code, body) if name not in found]
    before = definitely_assigned(code.tree, node)
    for name in found:
        if name not in before or not _have_values(code, [name]):
            raise DeclinedError(f"`{name}` is not assigned before the loop")
    return found


def _have_values(code: Code, names: Sequence[str]) -> bool:
    return all(s.variable(name) is not None for s in code.observed.snapshots for name in names)


def _numbers(code: Code, carried: Sequence[str], loop: ast.While) -> dict[str, Expression]:
    """The numbers and truths among the variables, as the tensors that are carried."""
    found = [name for name in carried if _is_number(code, name) or _is_flag(code, name, loop)]
    return {name: call(code.name("torch.tensor"), name) for name in found}


def _is_flag(code: Code, name: str, loop: ast.While | ast.For) -> bool:
    """Whether a variable is a truth of Python at first, maybe in passes before the one that is observed."""
    held = [option for s in code.observed.snapshots for option in options(s.variable(name) or UNKNOWN)]
    scope = code.tree.function(loop) or code.tree.root
    before = [n for n in code.tree.contents(scope).named(name) if place(n) < place(loop)]
    stores = [n for n in before if isinstance(n.ctx, ast.Store)]
    start = given_to(code, max(stores, key=place)) if stores else None
    is_started = isinstance(start, ast.Constant) and isinstance(start.value, bool)
    kinds = {"bool", None} if is_started else {"bool"}
    return (is_started or any(map(_is_truth, held))) and all(
        _is_truth(o) or o == PYTHON or (isinstance(o, (Scalar, Tensor)) and o.kind in kinds) for o in held
    )


def _is_truth(value: Value) -> bool:
    if isinstance(value, Const):
        return isinstance(value.value, bool)
    return isinstance(value, Python) and value.type == "bool"


def _is_number(code: Code, name: str) -> bool:
    """Whether a variable holds a number, which has to be carried as a tensor."""
    held = [option for s in code.observed.snapshots for option in options(s.variable(name) or UNKNOWN)]
    return any(map(_is_python_number, held)) and all(isinstance(o, (Const, Python, Scalar, Size)) for o in held)


def _is_python_number(value: Value) -> bool:
    if isinstance(value, Const):
        return isinstance(value.value, (int, float)) and not isinstance(value.value, bool)
    return isinstance(value, (Scalar, Size)) or (isinstance(value, Python) and value.type in {"int", "float"})


def _condition(code: Code, node: ast.expr, counters: Mapping[str, Expression]) -> Expression:
    """A condition in which counters are tensors: `x.sum() < 100 and i < 10`."""
    if isinstance(node, ast.BoolOp):
        symbol = "&" if isinstance(node.op, ast.And) else "|"
        return reduce(partial(binary, symbol), (_condition(code, value, counters) for value in node.values))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return negated(Condition(_condition(code, node.operand, counters))).tensor
    if isinstance(node, ast.Name) and node.id in counters:
        return binary("!=", node.id, 0) if _is_number(code, node.id) else dotted(node.id)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and set(needed([node])) & set(counters):
        return code.concrete(node)
    return tensor_condition(code, node).tensor


def _number_tensor(code: Code, node: ast.expr) -> Expression:
    """The 0-d tensor from which a number is read, or what is computed from it."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)) and isinstance(node.right, ast.Constant):
        operator = "+" if isinstance(node.op, ast.Add) else "-"
        return binary(operator, _number_tensor(code, node.left), code.concrete(node.right))
    read = item_of(node)
    if read is not None:
        node = read
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "int":
        return _number_tensor(code, node.args[0])
    if not code.surely(is_tensor, node):
        found = operand(code, node)
        if found is None:
            raise DeclinedError("it is not known which tensor the number is read from")
        return found.source
    if code.surely(lambda value: isinstance(value, Tensor) and value.zero_dim, node):
        return code.concrete(node)
    return code.make("{number}.reshape(())", number=node)


def looped(
    code: Code,
    node: ast.While | ast.For,
    carried: Sequence[str],
    condition: Expression | None,
    starts: Mapping[str, Expression],
    step: Expression | None = None,
    met: ast.stmt | None = None,
    prepared: Sequence[Statement] = (),
    body: Sequence[ast.stmt] | None = None,
    opened: Sequence[Statement] = (),
    message: str = MESSAGE,
) -> Fix:
    """The operator and its functions.

    `body` is what a pass does, if not what stands in the loop, and `opened` what it does before. `prepared` stands in
    front of the functions.

    Raises:
        DeclinedError: the loop changes nothing, or the functions are not fit for the operator.
    """
    if not carried:
        raise DeclinedError("the loop does not change a variable")
    stands = node.body if body is None else body
    body = [one for one in stands if not _breaks(one)]
    flags = {name for name in starts if _is_flag(code, name, node)}
    truths = _kept_truths(code, stands, flags, starts)
    kept, numbers = _kept_tensors(code, stands, {name: start for name, start in starts.items() if name not in flags})
    kept, starts = {**kept, **truths}, {**starts, **numbers}
    body = [new for one in body for new in (analysed([kept[one]]) if one in kept else [one])]
    first = [*copies(code, body, starts), *(copied(name) for name in written_rows(code, body)), *opened]
    counters = analysed([*prepared, *(assigned_to([name], start) for name, start in starts.items())])
    runs = runs_of(code, [*analysed(first), *body], first=[*ast.parse("import torch").body, *counters])
    tensors = operands(code, (n for n in carried if n not in starts), (n for n in carried if n not in starts))
    passed = dict(zip(tensors.names, tensors.passed, strict=True)) | dict(starts)
    given = Operands(tuple(carried), tuple(passed[name] for name in carried))
    shared = aliases(runs, carried)
    back = [step if step is not None and name == carried[0] else _given_back(name, runs, shared) for name in carried]
    names = [code.fresh("cond_fn", node), code.fresh("body_fn", node)]
    targets = ["_" if step is not None and name == carried[0] else name for name in carried]
    groups: list[Sequence[ast.stmt]] = _runs(code, stands)
    rows = with_rows(code, stands, starts, kept) if len(body) == len(stands) else None
    if rows is None and kept and len(body) == len(stands):
        rows = [line for one in stands for line in _moved(code, one, kept)]
    if rows is not None:
        first, groups = [*first, *rows], []
    if len(body) < len(stands):
        running = code.fresh("running", node)
        first = [*first, *_until_break(code, node, running, starts, met, kept)]
        groups = []
        start = call(code.name("torch.tensor"), dotted("True"))
        given = Operands((running, *given.names), (start, *given.passed))
        back, targets = [dotted(running), *back], ["_", *targets]
        condition = binary("&", running, condition) if condition is not None else clone(dotted(running))
    if condition is None:
        raise DeclinedError("the loop does not end")
    if source(condition) in carried:  # a function gives none of its operands back
        condition = clone(condition)
    made = call(code.name("torch.while_loop"), *names, given.tuple)
    lines = [
        *prepared,
        apart(definition(code, names[0], given, [], [], condition), bool(prepared)),
        apart(definition(code, names[1], given, first, groups, _several(back))),
        apart(statement("{left} = {made}", left=_several(list(map(dotted, targets))), made=made)),
    ]
    lines += [
        assigned_to([name], method(dotted(name), "item"))
        for name in targets
        if name in starts and name not in flags and _is_only_returned(code, node, name)
    ]
    check_result(code, lines)
    last = _returned(node)
    if last is not None:
        lines.append(code.statement("return {value}", value=last.value))
    if stands is not node.body:
        return code.fix(message, code.statements.replace([node], lines), safe=False)
    return code.fix(message, *put_in_place(code, [node], lines), safe=False)


def _is_only_returned(code: Code, node: ast.While | ast.For, name: str) -> bool:
    """Whether a loop leaves a variable to nothing but a `return`, whose callers get a number."""
    function = code.tree.function(node)
    inside = set(ast.walk(node))
    found = [] if function is None else code.tree.contents(function).named(name)
    read = [n for n in found if isinstance(n.ctx, ast.Load) and n not in inside and place(n) > place(node)]
    return bool(read) and all(isinstance(_holder(code, n), ast.Return) for n in read)


def _holder(code: Code, node: ast.expr) -> ast.AST:
    """What takes an expression, or the tuple, list or dictionary of which it is an item."""
    around = code.tree.parents[node]
    while isinstance(around, (ast.Tuple, ast.List, ast.Dict)):
        around = code.tree.parents[around]
    return around


def _runs(code: Code, body: Sequence[ast.stmt]) -> list[Sequence[ast.stmt]]:
    """Statements as groups of those that follow each other in the file."""
    groups: list[list[ast.stmt]] = []
    for one in body:
        if groups and code.tree.following(groups[-1][-1])[:1] == [one]:
            groups[-1].append(one)
        else:
            groups.append([one])
    return [*groups]


def _moved(code: Code, one: ast.stmt, kept: Mapping[ast.stmt, Statement]) -> list[Statement]:
    return [kept[one]] if one in kept else code.statements.moved([one], above=True)


def _kept_tensors(
    code: Code, body: Sequence[ast.stmt], starts: Mapping[str, Expression]
) -> tuple[dict[ast.stmt, Statement], Mapping[str, Expression]]:
    """What reads numbers that are carried, without reading them, and the numbers at first, of the same dtypes.

    `error = (y - x).norm().item()` becomes `error = (y - x).norm().to(torch.float64)`, the dtype of Python's numbers.
    """
    found: dict[ast.stmt, tuple[str, Expression, bool]] = {}
    for index, one in enumerate(body):
        match one:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in starts:
                here = code.after(body[:index]) if not any(map(_breaks, body[:index])) else code
                number = scalar(here, value)
                held = operand(here, value) if number is not None else None
                if held is not None:
                    found[one] = name, held.source, number is not None and number.kind == "int"
    whole = {name: all(is_int for other, _, is_int in found.values() if other == name) for name, _, _ in found.values()}
    dtypes = {name: code.name("torch.int64" if is_int else "torch.float64") for name, is_int in whole.items()}
    kept = {
        one: statement("{name} = {value}", name=name, value=method(value, "to", dtypes[name]))
        for one, (name, value, _) in found.items()
    }
    begun = {name: call(code.name("torch.tensor"), name, keyword("dtype", dtype)) for name, dtype in dtypes.items()}
    return kept, dict(starts) | begun


def _kept_truths(
    code: Code, body: Sequence[ast.stmt], flags: Container[str], starts: Mapping[str, Expression]
) -> dict[ast.stmt, Statement]:
    """What gives flags their values, as tensors: `done = bool(c)` becomes `done = c`."""
    found: dict[ast.stmt, Statement] = {}
    for index, one in enumerate(body):
        match one:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant() as value) if name in flags:
                held: Expression = call(code.name("torch.tensor"), code.concrete(value))
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in flags:
                held = _condition(code.after(body[:index]), value, starts)
            case _:
                continue
        found[one] = assigned_to([name], held)
    return found


def _until_break(
    code: Code,
    node: ast.While | ast.For,
    running: str,
    starts: Mapping[str, Expression],
    met: ast.stmt | None,
    own: Mapping[ast.stmt, Statement],
) -> list[Statement]:
    """The body of a loop: what stands behind a `break` takes effect only if that is not reached."""
    before = next(index for index, one in enumerate(node.body) if _breaks(one))
    if met is not None and node.body[before] is not met:
        raise DeclinedError("another `break` comes before it")
    if met is None:
        code = code.after(node.body[:before])
    lines: list[Statement] = []
    if own:
        lines = [line for one in node.body[:before] for line in _moved(code, one, own)]
    elif before:
        lines = code.statements.moved(node.body[:before], above=True)
    bound_in = frozenset(bound([node]))
    kept = set(needed([*([node.test] if isinstance(node, ast.While) else []), *node.body]))
    predicated = Predicated(
        code, node, Fresh(code, node), (bound_in & (needed_after(code.tree, node) | kept)) | set(starts)
    )
    goes_on = False
    for one in node.body[before:]:
        if _breaks(one):
            assert isinstance(one, ast.If)
            stops = negated(Condition(_condition(code, one.test, starts)))
            value = binary("&", running, stops.tensor) if goes_on else stops.tensor
            lines.append(assigned_to([running], value))
            goes_on = True
        elif one in own:
            raise DeclinedError("a number is read after the `break`")
        else:
            lines += predicated.statement(code, one, Predicate(dotted(running)))
            code = code.after([one])
    if predicated.masks:
        raise DeclinedError("a list gets items in the loop")
    return lines


def _several(items: Sequence[Expression]) -> Expression:
    """A tuple, in parentheses where it has one item only."""
    return bare_tuple(items) if len(items) > 1 else expression("({*items},)", items=items)


def _given_back(name: str, runs: Sequence[Run], shared: Container[str]) -> Expression:
    found = [(run, run.variables.get(name, UNKNOWN)) for run in runs]
    check_tensors((value for _, value in found), f"`{name}`")
    is_shared = name in shared or any(is_tensor(value) and not run.is_own(value) for run, value in found)
    return clone(dotted(name)) if is_shared else dotted(name)
