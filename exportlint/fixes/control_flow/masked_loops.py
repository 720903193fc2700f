"""Loops that tensor data ends, or makes skip the rest of a pass: all passes run, and `torch.where` drops results.

`if c: break` becomes `stop = stop | c`, and `x = f(x)` behind it `x = torch.where(stop, x, f(x))`. Of
`if c: best = i; break`, the first hit counts: `hit = ~stop & c`, `best = torch.where(hit, i, best)`. What
`if c: return x` gives is chosen behind the loop, where `x` is what it was then. Branches of Python around it stay.

Never safe: all passes run, so that a loop takes longer, and each must keep shapes and dtypes.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from exportlint.analysis.facts import Fact
from exportlint.findings import Fix
from exportlint.fixes.control_flow.branch_paths import names_in
from exportlint.fixes.control_flow.conditions import tensor_condition
from exportlint.fixes.control_flow.grown_tensors import grown_in
from exportlint.fixes.control_flow.logic import Condition, Predicate
from exportlint.fixes.control_flow.merging import Fresh
from exportlint.fixes.control_flow.predicated_writes import lasting_condition
from exportlint.fixes.control_flow.predication import Predicated, calls_only
from exportlint.fixes.control_flow.reporting_branches import said_before, silent
from exportlint.fixes.control_flow.terms import choose, term, total_parts
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.template import call, dotted, statement
from exportlint.fixes.errors import DeclinedError, InapplicableError
from exportlint.fixes.proofs.guarded_indices import require_unguarded
from exportlint.fixes.proofs.live_variables import bound, definitely_assigned, needed, needed_after
from exportlint.fixes.proofs.observed_values import builtin, is_python
from exportlint.fixes.proofs.purity import is_pure

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Statement


def masked_fix(code: Code, _: Fact) -> Fix:
    """Keep the old values where `if …: break`, `continue` or `return` has left the loop or the pass.

    Raises:
        DeclinedError: the loop does something other than assign tensors.
    """
    branch = code.tree.statement(code.expression)
    body = silent(code, branch.body) if isinstance(branch, ast.If) else ()
    if not isinstance(branch, ast.If) or not body:
        raise InapplicableError("it is not an `if …: break`")
    *first, leave = body
    if not isinstance(leave, (ast.Break, ast.Return) if first else (ast.Break, ast.Continue, ast.Return)):
        raise InapplicableError("it is not an `if …: break`")
    around = _around(code, branch)
    loop = code.tree.parents[around[-1] if around else branch]
    if not isinstance(loop, (ast.For, ast.While)) or (around and isinstance(leave, ast.Continue)):
        raise InapplicableError("it is not in the body of a loop")
    if loop.orelse:
        raise DeclinedError("the loop has an `else`")
    counted = _counted(code, loop) if isinstance(loop, ast.While) else set()
    if isinstance(loop, ast.While) and (not counted or not isinstance(leave, ast.Break)):
        raise InapplicableError("Python does not count how often the `while` runs")
    known, asked = _split(code, branch.test)
    inside = code.under(known, holds=True) if known is not None else code
    condition = tensor_condition(inside, asked)
    flag = code.fresh("skip" if isinstance(leave, ast.Continue) else "stop", loop)
    carried = _carried(code, loop) - counted
    if isinstance(leave, ast.Return) and leave.value is not None:
        carried |= names_in(leave.value) & set(bound(loop.body))
    grown = grown_in(code, loop) if isinstance(leave, ast.Break) and not first else []
    carried -= {one.name for one in grown}
    late = carried - definitely_assigned(code.tree, loop)
    tests = [outer.test for outer in around] + ([known] if known is not None else [])
    late |= (unset := _none_before(code, loop, tests, carried, _not_none(branch, around, known)))
    _require_no_none(asked, carried)
    predicated = Predicated(code, loop, Fresh(code, loop), frozenset(carried))
    when = Predicate(dotted(flag), holds=False)
    index = loop.body.index(around[-1] if around else branch)
    if not isinstance(leave, ast.Continue):
        start = [statement("{flag} = {false}", flag=flag, false=call(code.name("torch.tensor"), False))]
        start += [statement("{name} = None", name=name) for name in sorted(late - unset)]
        lines: list[Statement] = []
        met = condition.tensor
        if first:
            if late.difference(bound(loop.body[:index])) & set(bound(first)):
                raise DeclinedError("a variable has no tensor before the loop")
            hit = predicated.name("hit")
            lines.append(statement("{hit} = ~{flag} & {condition}", hit=hit, flag=flag, condition=met))
            met = dotted(hit)
            lines += predicated.block(inside, first, Predicate(met))
        lines.append(statement("{flag} = {flag} | {met}", flag=flag, met=met))
        if known is not None:
            lines = [code.statement("if {known}:\n    {*lines}", known=known, lines=lines)]
        lines = [*said_before(code, branch, dotted(flag)), *lines, *_otherwise(code, branch, predicated, when, late)]
        edits = [code.statements.insert_before(loop, start), code.statements.replace([branch], lines)]
        beside = [one for one in _beside(branch, around) if one not in loop.body]
        masked = loop.body[:index] + beside + loop.body[index + 1 :]
        if isinstance(leave, ast.Return):
            edits += _returned(code, loop, leave.value, flag)
    else:
        if late:
            raise DeclinedError("a variable has no tensor before the loop")
        if known is not None:
            raise InapplicableError("it is not an `if …: break`")
        lasting = lasting_condition(code, branch.test)
        left = statement("{flag} = {condition}", flag=flag, condition=lasting.tensor)
        lines = [*said_before(code, branch), left, *_otherwise(code, branch, predicated, when, late)]
        edits = [code.statements.replace([branch], lines)]
        masked = loop.body[index + 1 :]
    own: set[str] = set()
    for each in grown:
        edits += each.masked(code, loop, predicated.name(f"{each.name}_mask"), when)
    as_before = [each.growing for each in grown]
    as_before += [one for one in masked if isinstance(one, ast.AugAssign) and set(bound([one])) & counted]
    # Where nothing happens any more, the loop or the pass may as well end.
    ends = ast.Continue if isinstance(leave, ast.Continue) else (ast.Break, ast.Continue)
    as_before += [one for one in masked if _only_leaves(code, one, ends)]
    for one in masked:
        if one in as_before or _writes_to_own(code, one, own):
            continue
        edits += _masked(code, one, predicated, when, late)
        own |= _made_by(one) - carried
        if one in loop.body[:index]:  # from here on it has a value
            late = late - set(bound([one]))
    is_prefix = isinstance(leave, ast.Break) and not first
    edits += predicated.selections(code, loop if is_prefix else None)
    message = "Run all iterations and drop results with `torch.where`, which needs equal shapes"
    return code.fix(message, *edits, safe=False)


def _around(code: Code, branch: ast.If) -> list[ast.If]:
    """The branches inside of a loop around another one, the innermost first, between which Python chooses."""
    found: list[ast.If] = []
    node = code.tree.parents[branch]
    while isinstance(node, ast.If):
        if not is_python(code, node.test):
            raise InapplicableError("it is not in the body of a loop")
        found.append(node)
        node = code.tree.parents[node]
    return found


def _beside(branch: ast.If, around: Sequence[ast.If]) -> list[ast.stmt]:
    """The statements of the branches around another one which are not on the way to it."""
    way = {branch, *around}
    return [one for outer in reversed(around) for one in (*outer.body, *outer.orelse) if one not in way]


def _split(code: Code, test: ast.expr) -> tuple[ast.expr | None, ast.expr]:
    """What Python knows of `prev is not None and c`, without which `c` has no meaning, and `c`."""
    match test:
        case ast.BoolOp(op=ast.And(), values=[known, asked]) if _asked_for_none(known) and is_python(code, known):
            return known, asked
    return None, test


def _not_none(branch: ast.If, around: Sequence[ast.If], known: ast.expr | None) -> set[str]:
    """The variables that are not None where a branch inside of others is met, as these ask."""
    inner: ast.stmt = branch
    asked: list[tuple[ast.expr, type[ast.cmpop]]] = [(known, ast.IsNot)] if known is not None else []
    for outer in around:
        asked.append((outer.test, ast.IsNot if inner in outer.body else ast.Is))
        inner = outer
    return {
        test.left.id
        for test, operator in asked
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], operator) and isinstance(test.left, ast.Name)
        if _asked_for_none(test)
    }


def _none_before(
    code: Code, loop: ast.stmt, tests: Sequence[ast.expr], carried: set[str], not_none: set[str]
) -> set[str]:
    """The variables that are None before the loop, as conditions of Python around the finding ask.

    Raises:
        DeclinedError: such a variable may be None where the loop is left and needed behind it, or it is not known to be
            None only at first.
    """
    asked = {name for test in tests for name in _asked_for_none(test) & carried}
    block = code.tree.block(loop)
    for name in sorted(asked):
        before = [one for one in block[: code.tree.index(loop)] if name in bound([one])]
        match before[-1:]:
            case [ast.Assign(targets=[ast.Name()], value=ast.Constant(value=None))] if (
                name in not_none or name not in needed_after(code.tree, loop)
            ):
                continue
        raise DeclinedError(f"`{name}` may be None")
    return asked


def _asked_for_none(test: ast.expr) -> set[str]:
    """The variables that a condition compares with None."""
    found: set[str] = set()
    for part in ast.walk(test):
        match part:
            case ast.Compare(ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]):
                found |= names_in(part.left)
    return found


def _require_no_none(test: ast.expr, carried: set[str]) -> None:
    """Raises DeclinedError if only the condition rules out that a variable is None: `torch.where` takes no None."""
    if found := _asked_for_none(test) & carried:
        raise DeclinedError(f"`{min(found)}` may be None")


def _counted(code: Code, loop: ast.While) -> set[str]:
    """What Python counts for the test of a `while`: `i` of `while i < 10: …; i += 1`, `xs` of `while len(xs) < 10`."""
    asked = names_in(loop.test)
    found = set(bound(loop.body)) & asked
    if not found and is_python(code, loop.test):
        return _growing(code, loop)
    counting = [one for one in loop.body if isinstance(one, ast.AugAssign) and found & set(bound([one]))]
    steps = all(isinstance(one.value, ast.Constant) for one in counting)
    if not steps or len(counting) != len(found) or not is_python(code, loop.test):
        return set()
    bindings = [n.id for n in ast.walk(loop) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)]
    is_needed = bool(found & needed_after(code.tree, loop))
    return found if not is_needed and all(bindings.count(name) == 1 for name in found) else set()


def _growing(code: Code, loop: ast.While) -> set[str]:
    """The lists whose length a test asks, to which each pass appends one item, and with which it does nothing else."""
    asked = [n for n in ast.walk(loop.test) if isinstance(n, ast.Call) and builtin(code, n) == "len"]
    found = {argument.id for call in asked for argument in call.args if isinstance(argument, ast.Name)}
    for name in found:
        appended = [one for one in loop.body if _appends(one, name)]
        changes = [n for n in ast.walk(loop) if isinstance(n, ast.Attribute) and names_in(n) == {name}]
        if len(appended) != 1 or len(changes) != 1:
            return set()
    return found


def _appends(one: ast.stmt, name: str) -> bool:
    match one:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr="append"), args=[_])):
            return owner == name
    return False


def _returned(code: Code, loop: ast.For | ast.While, value: ast.expr | None, flag: str) -> Sequence[Draft]:
    """What a `return` in the loop gives, chosen behind the loop, where its variables are as they were then."""
    following = code.tree.following(loop)
    last = following[0] if following else None
    if value is None or not isinstance(last, ast.Return) or last.value is None:
        raise DeclinedError("the loop is not followed by another `return`")
    if isinstance(loop, ast.For) and names_in(value) & set(bound([loop.target])):
        raise DeclinedError("the loop variable is returned")
    if ast.dump(value) == ast.dump(last.value):
        return []
    one, other = term(code, value, {}), term(code, last.value, {})
    return [code.replace(last.value, choose(code, Condition(dotted(flag)), one, other).unbracketed)]


def _carried(code: Code, loop: ast.For | ast.While) -> set[str]:
    """The variables that a pass takes from the one before it, or leaves behind the loop."""
    found = set(bound(loop.body)) & (set(needed(loop.body)) | needed_after(code.tree, loop))
    if isinstance(loop, ast.For) and set(bound([loop.target])) & needed_after(code.tree, loop):
        raise DeclinedError("the loop variable is used after the loop")
    return found


def _otherwise(
    code: Code, branch: ast.If, predicated: Predicated, when: Predicate, late: set[str]
) -> Sequence[Statement]:
    """What stands behind the `else` of the branch that leaves. Raises DeclinedError."""
    if late & set(bound(branch.orelse)):
        raise DeclinedError("a variable has no tensor before the loop")
    return predicated.block(code, branch.orelse, when)


def _masked(code: Code, one: ast.stmt, predicated: Predicated, when: Predicate, late: set[str]) -> Sequence[Draft]:
    if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name) and one.targets[0].id in late:
        if len(one.targets) > 1:
            raise DeclinedError("several variables are assigned at once")
        name = one.targets[0].id
        template = "{name} = {new} if {name} is None else {chosen}"
        new = code.concrete(one.value)
        chosen = when.choose(code, new, dotted(name))
        return [code.statements.replace([one], [code.statement(template, name=name, new=new, chosen=chosen)])]
    if late & set(bound([one])):
        raise DeclinedError("a variable has no tensor before the loop")
    if isinstance(one, (ast.Assign, ast.AugAssign)):
        target = one.targets[0] if isinstance(one, ast.Assign) else one.target
        if isinstance(target, ast.Name) and target.id not in (predicated.masked or ()):
            if not _has_no_effect(code, one.value):
                raise DeclinedError("the loop does more than assign variables")
            changed = total_parts(code, one.value, when)
            value = code.concrete(one.value, changed)
            return [code.replace(one.value, value)] if changed else []
    lines = predicated.statement(code, one, when, called=True)
    return [code.statements.replace([one], lines)]


def _made_by(one: ast.stmt) -> set[str]:
    """The variable that a statement gives a tensor of its own, which is no view of another one."""
    match one:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp() | ast.Compare() | ast.UnaryOp()):
            return {name}
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(attr="clone"))):
            return {name}
    return set()


def _writes_to_own(code: Code, one: ast.stmt, own: set[str]) -> bool:
    """Whether a statement only writes in place to tensors that the pass has made, and that no other pass sees."""
    target = one.targets[0] if isinstance(one, ast.Assign) else getattr(one, "target", None)
    if not isinstance(one, (ast.Assign, ast.AugAssign)) or not isinstance(target, ast.Subscript):
        return False
    if not isinstance(target.value, ast.Name) or target.value.id not in own or not _has_no_effect(code, one.value):
        return False
    require_unguarded(code, target)
    require_unguarded(code, one.value)
    return True


def _only_leaves(code: Code, one: ast.stmt, ends: type[ast.stmt] | tuple[type[ast.stmt], ...]) -> bool:
    """Whether a statement is `if …: break` or `continue`, whose condition can be asked in vain."""
    match one:
        case ast.If(test=test, body=[leave], orelse=[]) if isinstance(leave, ends) and is_pure(code, test):
            require_unguarded(code, test)
            return True
    return False


def _has_no_effect(code: Code, node: ast.expr) -> bool:
    """Whether an expression surely has no effect, or is the call of a module or function, as far as that shows."""
    return is_pure(code, node) or calls_only(node)
