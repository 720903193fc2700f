"""Early returns on tensor data: what the rest of the function returns is computed in any case."""

from __future__ import annotations

import ast
from dataclasses import replace

from exportlint.findings import Fix
from exportlint.fixes.arms import Fresh, Way, arm
from exportlint.fixes.code import Code
from exportlint.fixes.conditions import Condition
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.liveness import assigned, is_bound, writes_in_place
from exportlint.fixes.precedence import Precedence
from exportlint.fixes.purity import is_harmless
from exportlint.fixes.renaming import Names
from exportlint.fixes.shapes import form
from exportlint.fixes.source_text import Piece
from exportlint.fixes.terms import Term, choose, term


def early_return(code: Code, branch: ast.If, condition: Condition, one: Way, other: Way, fresh: Fresh) -> Fix:
    """An `if` that returns, or whose `else` does, and the code behind it up to a last `return`."""
    falls = branch.orelse if one.returned is not None else branch.body
    following = code.tree.following(branch)
    last = following[-1] if following else None
    if not isinstance(last, ast.Return) or last.value is None:
        raise DeclinedError("the function does not end with another `return` here")
    between = [*falls, *following[:-1]]
    if not is_harmless(code, between):
        raise DeclinedError("the code behind the `return` may have effects")
    source = one if one.returned is not None else other
    keep = {n for n in source.assigned if n not in assigned(between) and not is_bound(code, n, maybe=True)}
    leaving = arm(code, source, keep, (), fresh)
    assert leaving.returned is not None
    changed = assigned(between)
    lines = list(leaving.lines)
    if changed & {n.id for n in ast.walk(branch.test) if isinstance(n, ast.Name)}:
        name = fresh.name("condition")
        lines.insert(0, f"{name} = {condition.text}")
        condition = replace(condition, source=Piece(name), scalar=True)
    early = _settled(leaving.returned, changed, lines, fresh)
    late = term(code.after(between), last.value, _names(code, between))
    chosen = choose(code, condition, *((early, late) if one.returned is not None else (late, early)))
    safe = chosen.safe and not (chosen.variable and writes_in_place(code, branch))
    text = chosen.source.text
    message = "Choose what is returned with `torch.where`"
    if not between:
        return code.fix(message, code.statements.replace([branch, last], [*lines, f"return {text}"]), safe=safe)
    if falls:
        lines.append(code.statements.moved(falls, code.statements.indent(branch)))
    ends = code.replace(last.value, text)
    return code.fix(message, code.statements.replace([branch], lines), ends, safe=safe)


def _names(code: Code, between: list[ast.stmt]) -> Names:
    """What is known of the variables that the code between two returns assigns."""
    names = Names()
    for statement in between:
        for name in assigned([statement]):
            names.forms[name] = None
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            names.forms[statement.targets[0].id] = form(code, statement.value, names.forms)
        code = code.after([statement])
    return names


def _settled(value: Term, changed: set[str], lines: list[str], fresh: Fresh) -> Term:
    if not value.reads & changed:
        return value
    if value.items is not None:
        items = tuple(_settled(item, changed, lines, fresh) for item in value.items)
        return replace(value, items=items)
    name = fresh.name("early")
    lines.append(f"{name} = {value.source.at(Precedence.TERNARY)}")
    return replace(value, source=Piece(name), reads=frozenset({name}))
