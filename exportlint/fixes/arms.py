"""The two ways of an `if`: straight code that can run whichever way is taken, under names of its own."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from exportlint.fixes.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.precedence import precedence
from exportlint.fixes.purity import require_pure
from exportlint.fixes.renaming import Names
from exportlint.fixes.source_text import Piece, joined
from exportlint.fixes.terms import Term, term

OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.MatMult: "@",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Step:
    """An assignment to variables. Of an augmented one, `value` is the operation."""

    statement: ast.stmt
    targets: tuple[str, ...]
    value: ast.expr

    @property
    def reads(self) -> set[str]:
        """The variables that it reads."""
        return {n.id for n in ast.walk(self.value) if isinstance(n, ast.Name)}


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
        return found | ({n.id for n in ast.walk(self.returned) if isinstance(n, ast.Name)} if self.returned else set())


@dataclass(frozen=True, slots=True)
class Arm:
    """A way as new code: lines to run, and what its variables then are, or what it returns."""

    lines: tuple[str, ...]
    variables: dict[str, Term]
    returned: Term | None = None


class Fresh:
    """Names that are free in a function, each given once."""

    def __init__(self, code: Code, node: ast.AST) -> None:
        self._code = code
        self._node = node
        self._given: set[str] = set()

    def name(self, like: str, *, numbered: bool = False) -> str:
        """A name like another one."""
        found, number = (like, 0) if not numbered else (f"{like}_1", 1)
        while found in self._given or self._code.fresh(found, self._node) != found:
            number += 1
            found = f"{like}_{number}"
        self._given.add(found)
        return found


def way(statements: Sequence[ast.stmt]) -> Way:
    """Straight code as steps. Raises DeclinedError if it is more than assignments and a `return` of a value."""
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
        raise DeclinedError("an arm writes to something else than variables")
    return Step(statement, names, value)


def arm(code: Code, source: Way, keep: Collection[str], final: Collection[str], fresh: Fresh) -> Arm:
    """A way as code that leaves the variables alone that were there before.

    The variables in `keep` are its own. What the variables in `final` get last is not assigned but given, unless the
    way itself reads it.
    """
    names = Names()
    lines: list[str] = []
    variables: dict[str, Term] = {}
    for index, step in enumerate(source.steps):
        later = Way(source.steps[index + 1 :], source.returned)
        values = [_value(code, step, names)] if len(step.targets) == 1 else _unpacked(code, step)
        target = step.targets[0]
        if len(values) == 1 and target in final and target not in {*later.reads, *later.assigned}:
            variables[target] = values[0]
            code = code.after([step.statement])
            continue
        text = values[0].source.text if len(values) == 1 else names.renamed(code, step.value).text
        own = [name if name in keep else fresh.name(name, numbered=True) for name in step.targets]
        lines.append(f"{', '.join(own)} = {text}")
        for name, new, value in zip(step.targets, own, values, strict=True):
            names.renames[name], names.forms[name] = Piece(new), value.form
            variables[name] = replace(value, source=Piece(new), variable=False, reads=frozenset({new}))
        code = code.after([step.statement])
    returned = term(code, source.returned, names) if source.returned is not None else None
    return Arm(tuple(lines), variables, returned)


def _value(code: Code, step: Step, names: Names) -> Term:
    if not isinstance(step.statement, ast.AugAssign):
        return term(code, step.value, names)
    operation = step.value
    assert isinstance(operation, ast.BinOp)
    left, right = term(code, operation.left, names), term(code, operation.right, names)
    symbol = OPERATORS.get(type(operation.op))
    if symbol is None:
        raise DeclinedError("the operator has no other spelling")
    source = joined(symbol, precedence(operation), left.source, right.source)
    # the tensor itself is written, which others may see
    return Term(source, left.kind, safe=left.kind == "number", reads=left.reads | right.reads)


def _unpacked(code: Code, step: Step) -> list[Term]:
    require_pure(code, step.value)
    behind = code.after([step.statement])
    names = Names()
    return [term(behind, ast.copy_location(ast.Name(name, ast.Load()), step.value), names) for name in step.targets]
