"""Branches on tensor data that say something and do more: what they say moves in front of them, for eager only.

`if c: print("bad"); x = a` becomes `if not torch.compiler.is_exporting() and c: print("bad")`, and `if c: x = a` is
left for another rewrite.

Safe: the condition and what is said only compute, and nothing that is said depends on what the branch assigned before.
Otherwise an effect of it is missing in the program, or happens twice in eager.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from exportlint.fixes.control_flow.branch_paths import Branching, Case, cases, names_in
from exportlint.fixes.eager_only.reports import computes_only, is_exporting, is_report
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.template import statement
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.liveness import assigned, require_unread
from exportlint.fixes.proofs.purity import require_pure

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression, Statement


def silent(code: Code, body: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    """Statements without those that only say something; the same ones if there are none of these."""
    rest = [one for one in body if not is_report(code, one)]
    return rest if len(rest) < len(body) else body


def silent_cases(code: Code, branch: Branching) -> list[Case]:
    """The ways of a branch without what they say. Raises DeclinedError."""
    return [Case(case.test, silent(code, case.body)) for case in cases(branch)]


def said(code: Code, branch: Branching) -> list[ast.stmt]:
    """What the ways of a branch say. Raises DeclinedError."""
    return [one for case in cases(branch) for one in case.body if is_report(code, one)]


def only_computes(code: Code, branch: Branching) -> bool:
    """Whether nothing but what a branch says is lost where the program does not say it. Raises DeclinedError."""
    spoken = said(code, branch)
    return not spoken or (isinstance(branch, ast.If) and computes_only(code, [branch.test, *spoken]))


def said_before(code: Code, branch: Branching, unless: Expression | None = None) -> list[Statement]:
    """What a branch says as a branch of its own in front of it, which export leaves out; nothing if it says nothing.

    `unless`: a tensor that is true where the branch is not reached.

    Raises:
        DeclinedError: what it says depends on what it assigned before, or its condition has an effect.
    """
    if not said(code, branch):
        return []
    if not isinstance(branch, ast.If):
        raise DeclinedError("a branch that prints or logs is not an `if`")
    found = cases(branch)
    for case in found:
        if case.test is not None:
            require_pure(code, case.test)
        _require_unchanged(code, case.body)
    exporting = is_exporting(code, branch, code.version)
    for one in said(code, branch):
        require_unread(code, one, one)
    asked = code.make("not {exporting}", exporting=exporting)
    if unless is not None:
        asked = code.make("{asked} and not {unless}", asked=asked, unless=unless)
    spoken = [[one for one in case.body if is_report(code, one)] for case in found]
    if not any(spoken[1:]):
        test = code.make("{asked} and {test}", asked=asked, test=branch.test)
        return [code.statement("if {test}:\n    {*body}", test=test, body=_moved(code, spoken[0]))]
    return [code.statement("if {asked}:\n    {*body}", asked=asked, body=[_spoken(code, found, spoken)])]


def _spoken(code: Code, found: Sequence[Case], spoken: Sequence[Sequence[ast.stmt]]) -> Statement:
    """The ways of a branch with only what they say."""
    (case, *others), (first, *later) = found, spoken
    body = _moved(code, first) or [statement("pass")]
    if not any(later):
        return code.statement("if {test}:\n    {*body}", test=case.test, body=body)
    rest = _moved(code, later[0]) if others[0].test is None else [_spoken(code, others, later)]
    template = "if {test}:\n    {*body}\nelse:\n    {*rest}"
    return code.statement(template, test=case.test, body=body, rest=rest)


def _moved(code: Code, spoken: Sequence[ast.stmt]) -> list[Statement]:
    return [new for one in spoken for new in code.statements.moved([one], above=True)]


def _require_unchanged(code: Code, body: Sequence[ast.stmt]) -> None:
    """Raises DeclinedError if what is said reads what other statements in front of it may have changed."""
    changed: set[str] = set()
    for one in body:
        if not is_report(code, one):
            written = {n for n in ast.walk(one) if isinstance(n, (ast.Attribute, ast.Subscript, ast.Call))}
            has_effect = any(isinstance(getattr(n, "ctx", None), ast.Store) for n in written)
            changed |= assigned([one]) | (names_in(one) if has_effect or isinstance(one, ast.Expr) else set())
        elif changed & names_in(one):
            raise DeclinedError("the printed text depends on what the branch assigned")
