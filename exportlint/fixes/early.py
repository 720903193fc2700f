"""Early returns on tensor data: what the rest of the function returns is computed in any case."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from exportlint.findings import Fix
from exportlint.fixes.code import Code
from exportlint.fixes.conditions import Condition, negated, tensor_condition
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.liveness import assigned, is_bound, writes_in_place
from exportlint.fixes.merging import Fresh, arm, hoisted
from exportlint.fixes.purity import is_harmless
from exportlint.fixes.shapes import Form, form
from exportlint.fixes.source_text import Piece
from exportlint.fixes.statements import Draft
from exportlint.fixes.terms import Term, choose, term
from exportlint.fixes.ways import names_in, way

MESSAGE = "Choose what is returned with `torch.where`"


@dataclass(frozen=True, slots=True)
class _Exit:
    """An `if` that returns, as lines that stand in its place, its condition and what it returns."""

    branch: ast.If
    lines: Sequence[str]
    condition: Condition
    value: Term


def early_return(code: Code, branch: ast.If, fresh: Fresh) -> Fix:
    """An `if` that returns, or whose `else` does, and others behind it up to a last `return`. Raises DeclinedError."""
    following = code.tree.following(branch)
    last = following[-1] if following else None
    if not isinstance(last, ast.Return) or last.value is None:
        raise DeclinedError("the function does not end with another `return` here")
    forms: dict[str, Form | None] = {}
    exits: list[_Exit] = []
    here = code
    statements = [branch, *following[:-1]]
    for index, statement in enumerate(statements):
        if isinstance(statement, ast.If) and any(isinstance(n, ast.Return) for n in ast.walk(statement)):
            exits.append(_exit(here, statement, assigned(statements[index + 1 :]), fresh, forms))
            falls = _falls(statement)
        else:
            falls = [statement]
        for one in falls:
            if not is_harmless(here, [one]):
                raise DeclinedError("the code behind the `return` may have effects")
            _note(here, one, forms)
            here = here.after([one])
    value = term(here, last.value, forms)
    for found in reversed(exits):
        value = choose(code, found.condition, found.value, value)
    sound = all(found is not None and found.total for found in forms.values())
    safe = sound and value.safe and not (value.variable and writes_in_place(code, branch))
    if len(statements) == 1 and not _falls(branch):
        lines = [*exits[0].lines, f"return {value.source.text}"]
        return code.fix(MESSAGE, code.statements.replace([branch, last], lines), safe=safe)
    edits = [_edit(code, found) for found in exits]
    return code.fix(MESSAGE, *edits, code.replace(last.value, value.source.text), safe=safe)


def _falls(branch: ast.If) -> Sequence[ast.stmt]:
    """The statements of an `if` after which the function goes on."""
    return branch.orelse if isinstance(branch.body[-1], ast.Return) else branch.body


def _edit(code: Code, found: _Exit) -> Draft:
    falls = _falls(found.branch)
    lines = [*found.lines]
    if falls:
        lines.append(code.statements.moved(falls, code.statements.indent(found.branch)))
    return code.statements.replace([found.branch], lines)


def _exit(code: Code, branch: ast.If, later: set[str], fresh: Fresh, forms: dict[str, Form | None]) -> _Exit:
    condition = tensor_condition(code, branch.test)
    falls = _falls(branch)
    returns = way(branch.orelse if falls is branch.body else branch.body)
    if falls is branch.body:
        condition = negated(condition)
    changed = later | assigned(falls)
    keep = {n for n in returns.assigned if n not in changed and not is_bound(code, n, maybe=True)}
    leaving = arm(code, returns, keep, (), fresh, forms)
    if leaving.returned is None:
        raise DeclinedError("a way returns sometimes")
    lines = list(leaving.lines)
    if changed & names_in(branch.test):
        condition = hoisted(condition, lines, fresh)
    value = _settled(leaving.returned, changed, lines, fresh)
    return _Exit(branch, lines, condition, value)


def _note(code: Code, statement: ast.stmt, forms: dict[str, Form | None]) -> None:
    """Notes what is known of the variables that a statement assigns."""
    found = None
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        found = form(code, statement.value, forms)
    for name in assigned([statement]):
        forms[name] = found


def _settled(value: Term, changed: set[str], lines: list[str], fresh: Fresh) -> Term:
    """A value that what is assigned behind it does not change."""
    if not value.reads & changed:
        return value
    if value.items is not None:
        return replace(value, items=tuple(_settled(item, changed, lines, fresh) for item in value.items))
    name = fresh.name("early")
    lines.append(f"{name} = {value.source.text}")
    return replace(value, source=Piece(name), reads=frozenset({name}))
