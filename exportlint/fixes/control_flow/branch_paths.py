"""The ways through an `if` or `match` as they stand in the source: what they assign, and what they return.

`cases` are the ways with their conditions; `way` turns one into steps, or declines if it does more than assign
variables.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from exportlint.fixes.errors import DeclinedError

Branching = ast.If | ast.Match

MAX_WAYS = 16
"""As many ways can be told apart where each is written into the one before."""


@dataclass(frozen=True, slots=True)
class Case:
    """One way of a branch, and the condition to take it if none of those in front of it holds; the last has none."""

    test: ast.expr | None
    body: Sequence[ast.stmt]


def cases(branch: Branching) -> list[Case]:
    """The ways of a branch, those of its `elif`s among them. Raises DeclinedError."""
    found: list[Case] = []
    if isinstance(branch, ast.Match):
        for case in branch.cases:
            if case.guard is not None:
                raise DeclinedError("a case has a guard")
            found.append(Case(_test(branch.subject, case.pattern), case.body))
            if found[-1].test is None:
                return found
        return [*found, Case(None, ())]
    found.append(Case(branch.test, branch.body))
    while len(branch.orelse) == 1 and isinstance(branch.orelse[0], ast.If):
        branch = branch.orelse[0]
        found.append(Case(branch.test, branch.body))
        if len(found) > MAX_WAYS:
            raise DeclinedError("there are too many branches to nest")
    return [*found, Case(None, branch.orelse)]


def _test(subject: ast.expr, pattern: ast.pattern) -> ast.expr | None:
    """Whether a pattern fits, as a condition; None if it always does."""
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is None and pattern.name is None:
        return None
    if isinstance(pattern, ast.MatchValue):
        return ast.copy_location(ast.Compare(subject, [ast.Eq()], [pattern.value]), subject)
    if isinstance(pattern, ast.MatchOr):
        parts = [test for part in pattern.patterns if (test := _test(subject, part)) is not None]
        if len(parts) == len(pattern.patterns):
            return ast.copy_location(ast.BoolOp(ast.Or(), parts), subject)
    raise DeclinedError("a pattern is not a number")


@dataclass(frozen=True, slots=True)
class Step:
    """A statement that assigns variables: an assignment of `value`, or a branch, which has none.

    Of an augmented assignment, `value` is the operation.
    """

    statement: ast.stmt
    targets: tuple[str, ...]
    value: ast.expr | None

    @property
    def reads(self) -> set[str]:
        """The variables that it reads."""
        return names_in(self.value or self.statement)


@dataclass(frozen=True, slots=True)
class Way:
    """One way through an `if` as it stands in the source: assignments, then perhaps `return`."""

    steps: tuple[Step, ...]
    returned: ast.expr | None = None

    @property
    def assigned(self) -> tuple[str, ...]:
        """The variables that it assigns, in order."""
        return tuple(dict.fromkeys(name for step in self.steps for name in step.targets))

    @property
    def reads(self) -> set[str]:
        """The variables that it reads."""
        found = set[str]().union(*(step.reads for step in self.steps))
        return found | (names_in(self.returned) if self.returned is not None else set())


def names_in(node: ast.AST) -> set[str]:
    """The variables that stand in a node."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def way(statements: Sequence[ast.stmt]) -> Way:
    """Code as steps. Raises DeclinedError if it does more than assign variables, choose and return a value."""
    steps: list[Step] = []
    for statement in statements:
        if isinstance(statement, ast.Return):
            if statement.value is None:
                raise DeclinedError("nothing is returned")
            return Way(tuple(steps), statement.value)
        step = _step(statement)
        if step is not None:
            steps.append(step)
    return Way(tuple(steps))


def _step(statement: ast.stmt) -> Step | None:
    if isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    ):
        return None
    if isinstance(statement, Branching):
        inner = [way(case.body) for case in cases(statement)]
        if any(each.returned is not None for each in inner):
            raise DeclinedError("an inner branch returns")
        return Step(statement, tuple(dict.fromkeys(name for each in inner for name in each.assigned)), None)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, value = statement.targets[0], statement.value
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        target, value = statement.target, statement.value
    elif isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        read = ast.copy_location(ast.Name(statement.target.id, ast.Load()), statement.target)
        target = statement.target
        value = ast.copy_location(ast.BinOp(read, statement.op, statement.value), statement)
    else:
        raise DeclinedError("an arm does more than assign variables")
    targets = target.elts if isinstance(target, ast.Tuple) else [target]
    names = tuple(t.id for t in targets if isinstance(t, ast.Name))
    if len(names) < len(targets):
        raise DeclinedError("an arm writes to more than variables")
    return Step(statement, names, value)
