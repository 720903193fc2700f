"""Values that the program does not need, such as texts that are only logged, kept out of what torch.export traces.

`text = str(x)` / `log.info(text)` goes under `if not torch.compiler.is_exporting():`, with all statements that the
value goes through; `(str(x), y)[1]` keeps `str(x)` for eager. A branch that only logs it gets the condition itself.

Safe: all of that only computes and reports. Otherwise an effect of it is missing in the program.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from exportlint.analysis.domain.values import External
from exportlint.analysis.library_functions import find
from exportlint.findings import Fix, TorchVersion
from exportlint.fixes.eager_only.reports import computes_only, eager_only, is_exporting, is_report, reports
from exportlint.fixes.eager_only.said_only import saying, skipped
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.tree import in_order
from exportlint.fixes.errors import DeclinedError, InapplicableError
from exportlint.fixes.proofs.liveness import require_unread
from exportlint.fixes.state.constructor import Constructor

MESSAGE = "Skip it during export"


def left_out(code: Code, node: ast.expr, version: TorchVersion) -> Fix:
    """A fix that evaluates an expression in eager only, with all that is made of it.

    Raises:
        DeclinedError: what is made of it reaches the program.
    """
    element = _dropped_element(code, node)
    if element is not None:
        if not _is_dispensable(code, element):
            raise DeclinedError("it may change the values that the program computes with")
        require_unread(code, code.tree.statement(element), element)
        exporting = is_exporting(code, node, version)
        asked = code.make("{element} if not {exporting} else None", element=element, exporting=exporting)
        return code.fix(MESSAGE, code.replace(element, asked), safe=computes_only(code, [element]))
    first = _in_file(code, code.tree.statement(node))
    around = saying(code, code.tree.parents[first])
    if around is not None and computes_only(code, [around.test]):
        return skipped(code, around)
    statements = in_order(_statements(code, first))
    drafts = [eager_only(code, group, version) for group in _adjacent(code, statements)]
    return code.fix(MESSAGE, *drafts, safe=computes_only(code, statements))


def _dropped_element(code: Code, node: ast.expr) -> ast.expr | None:
    """The element around a node of `(a, b)[1]` that is not taken."""
    child: ast.AST = node
    for parent in code.tree.ancestors(node):
        if isinstance(parent, (ast.stmt, ast.Lambda)):
            return None
        if isinstance(parent, (ast.Tuple, ast.List)) and isinstance(child, ast.expr):
            around = code.tree.parents[parent]
            if isinstance(around, ast.Subscript) and around.value is parent and isinstance(around.slice, ast.Constant):
                taken = around.slice.value
                starred = any(isinstance(element, ast.Starred) for element in parent.elts)
                if isinstance(taken, int) and not starred and parent.elts[taken] is not child:
                    return child
        child = parent
    return None


def _statements(code: Code, first: ast.stmt) -> set[ast.stmt]:
    """The statements that an unneeded value goes through: those that report it, and those that name it."""
    found: set[ast.stmt] = set()
    waiting = [first]
    while waiting:
        statement = waiting.pop()
        if statement in found or _is_left_out(code, statement):
            continue
        found.add(statement)
        if isinstance(statement, (ast.Assign, ast.AnnAssign)):
            waiting += _users(code, statement)
        elif is_report(code, statement):
            waiting += reports(code, statement)
        elif not isinstance(statement, ast.With) and not (
            _only_writes(code, statement) or _only_collects(code, statement)
        ):
            raise InapplicableError("the value reaches the exported program")
    return found


def _in_file(code: Code, statement: ast.stmt) -> ast.stmt:
    """The `with open(…)` around a statement, if nothing is done in it but to write."""
    around = code.tree.parents[statement]
    if not isinstance(around, ast.With) or not all(_opens(code, item.context_expr) for item in around.items):
        return statement
    return around if all(isinstance(one, ast.Expr) for one in around.body) else statement


def _opens(code: Code, node: ast.expr) -> bool:
    callee = code.value(node.func) if isinstance(node, ast.Call) else None
    return isinstance(callee, External) and callee.name == "builtins.open"


def _users(code: Code, statement: ast.Assign | ast.AnnAssign) -> Iterator[ast.stmt]:
    """The statements that use the variable that one assigns."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    function = code.tree.function(statement)
    if function is None or len(targets) != 1 or not isinstance(targets[0], ast.Name):
        raise InapplicableError("the value is kept")
    contents = code.tree.contents(function)
    if targets[0].id in contents.declared():
        raise DeclinedError("the variable belongs to another function")
    for node in contents.named(targets[0].id):
        if node is not targets[0]:
            if not isinstance(node.ctx, ast.Load):
                raise InapplicableError("the variable is assigned more than once")
            yield code.tree.statement(node)


def _is_left_out(code: Code, statement: ast.stmt) -> bool:
    """Whether a statement is kept for eager already."""
    conditions = (parent.test for parent in code.tree.ancestors(statement) if isinstance(parent, ast.If))
    return any("is_exporting" in (text := code.text(condition)) or "is_compiling" in text for condition in conditions)


def _only_writes(code: Code, statement: ast.stmt) -> bool:
    """Whether a statement only makes text or bytes of something, perhaps into a file."""
    return isinstance(statement, ast.Expr) and _is_dispensable(code, statement.value)


def _only_collects(code: Code, statement: ast.stmt) -> bool:
    """Whether a statement only appends to a list of the module that nothing reads."""
    match statement:
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Attribute(value=ast.Name(), attr=name) as held, attr="append"))
        ):
            try:
                Constructor(code, statement).require_unread(name, [held])
            except DeclinedError:
                return False
            return True
    return False


def _is_dispensable(code: Code, node: ast.expr) -> bool:
    """Whether an expression whose value is dropped does no more than to make text or bytes, perhaps into a file."""
    callee = code.value(node.func) if isinstance(node, ast.Call) else None
    return (isinstance(callee, External) and find(callee.name).effect == "write") or computes_only(code, [node])


def _adjacent(code: Code, statements: Sequence[ast.stmt]) -> Iterable[list[ast.stmt]]:
    """Runs of statements that follow each other in one block."""
    groups: list[list[ast.stmt]] = []
    for statement in statements:
        if groups and code.tree.next(groups[-1][-1]) is statement:
            groups[-1].append(statement)
        else:
            groups.append([statement])
    return groups
