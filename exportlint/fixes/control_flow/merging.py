"""The ways of a branch as straight code, and what the variables are then: a choice for each.

`if c: a = x; y = a + 1` / `else: y = x` becomes `a = x`, `y = torch.where(c, a + 1, x)`. Variables that only one way
binds keep their names, others get new ones; what nobody reads any more is not assigned. A part of `where`, which says
when the result is safe.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from exportlint.fixes.control_flow.branch_paths import Branching, Case, Step, Way, cases, way
from exportlint.fixes.control_flow.conditions import condition_in_vain, tensor_condition
from exportlint.fixes.control_flow.logic import Condition
from exportlint.fixes.control_flow.terms import Term, choose, is_sound, term
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.parentheses import source
from exportlint.fixes.edit.template import SYMBOLS, bare_tuple, binary, dotted, statement
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.liveness import is_bound, read_later
from exportlint.fixes.proofs.purity import require_pure
from exportlint.fixes.proofs.result_shapes import Forms
from exportlint.fixes.proofs.total_conditions import evaluated

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Statement


class Fresh:
    """Names that are free in a function, each given once."""

    def __init__(self, code: Code, node: ast.AST) -> None:
        self._code = code
        self._node = node
        self._given: set[str] = set()

    def name(self, like: str, *, numbered: bool = False) -> str:
        """A name like another one."""
        number = int(numbered)
        found = f"{like}_{number}" if number else like
        while found in self._given or self._code.fresh(found, self._node) != found:
            number += 1
            found = f"{like}_{number}"
        self._given.add(found)
        return found


@dataclass(frozen=True, slots=True)
class Arm:
    """A way as new code: lines to run, and what its variables then are, or what it returns."""

    lines: tuple[Statement, ...]
    variables: dict[str, Term]
    returned: Term | None = None


def arm(code: Code, through: Way, keep: Collection[str], final: Collection[str], fresh: Fresh, forms: Forms) -> Arm:
    """A way as code that leaves the variables alone that were there before.

    The variables in `keep` are its own. What the variables in `final` get last is not assigned but given, unless the
    way itself reads it.
    """
    known = dict(forms)
    lines: list[Statement] = []
    variables: dict[str, Term] = {}
    sound = True
    for index, step in enumerate(through.steps):
        later = Way(through.steps[index + 1 :], through.returned)
        before, values = _values(code, step, fresh, known)
        lines += before
        given = {n for n in step.targets if n in values and n in final and n not in {*later.reads, *later.assigned}}
        if not step.value or len(step.targets) == 1:
            own = {n: n if n in keep else fresh.name(n, numbered=True) for n in values if n not in given}
            lines += [assignment(new, values[name]) for name, new in own.items()]
        else:
            given = set()
            own = {n: n if n in keep else fresh.name(n, numbered=True) for n in step.targets}
            lines.append(
                code.statement(
                    "{targets} = {value}",
                    targets=bare_tuple(list(map(dotted, own.values()))),
                    value=step.value,
                )
            )
        sound = sound and all(map(is_sound, values.values()))
        for name, value in values.items():
            known[name] = value.form
            variables[name] = value
            if name in own:
                variables[name] = replace(value, source=dotted(own[name]), variable=False, reads=frozenset({own[name]}))
        code = code.after([step.statement]).renamed(own)
    variables = {name: replace(value, safe=value.safe and sound) for name, value in variables.items()}
    if through.returned is None:
        return Arm(tuple(lines), variables)
    returned = term(code, through.returned, known)
    return Arm(tuple(lines), variables, replace(returned, safe=returned.safe and sound))


def merged(
    code: Code,
    branch: Branching,
    fresh: Fresh,
    forms: Forms,
    *,
    in_vain: bool = False,
    found: Sequence[Case] | None = None,
) -> Arm:
    """What a branch that does not return leaves in the variables that are read behind it. Raises DeclinedError.

    `found` are the ways that count, if they are not all.
    """
    found = found or cases(branch)
    ways = [way(case.body) for case in found]
    assigned = [set(each.assigned) for each in ways]
    names = [n for n in dict.fromkeys(n for each in ways for n in each.assigned) if read_later(code, branch, n)]
    if any(not all(name in each for each in assigned) and not is_bound(code, name) for name in names):
        raise DeclinedError("a branch leaves a variable unassigned")
    conditions = conditions_of(code, found, in_vain=in_vain)
    arms = [_arm(code, each, [other for other in ways if other is not each], names, fresh, forms) for each in ways]
    lines = [line for each in arms for line in each.lines]
    if len(names) > 1:
        conditions = hoisted(conditions, lines, fresh)
    variables: dict[str, Term] = {}
    for name in names:
        current = ast.copy_location(ast.Name(name, ast.Load()), branch)
        terms = [each.variables.get(name) or _current(code, current, forms) for each in arms]
        variables[name] = folded(code, conditions, terms)
    return Arm(tuple(lines), variables)


def conditions_of(code: Code, found: Sequence[Case], *, in_vain: bool = False) -> list[Condition]:
    """The conditions of the ways. Those behind the first one are only asked if it does not hold."""
    tests = [case.test for case in found if case.test is not None]
    if in_vain:
        return [condition_in_vain(code, test) for test in tests]
    known = evaluated(tests[0])
    return [tensor_condition(code, tests[0]), *(condition_in_vain(code, test, known) for test in tests[1:])]


def folded(code: Code, conditions: Sequence[Condition], terms: Sequence[Term]) -> Term:
    """The first term whose condition holds, or the last one."""
    *others, value = terms
    for condition, other in reversed(list(zip(conditions, others, strict=True))):
        value = choose(code, condition, other, value)
    return value


def hoisted(conditions: Sequence[Condition], lines: list[Statement], fresh: Fresh) -> list[Condition]:
    """Conditions that are worked out in front of some lines, as variables."""
    first: list[Statement] = []
    found: list[Condition] = []
    for condition in conditions:
        if not source(condition.tensor).isidentifier():
            name = fresh.name("condition")
            first.append(statement("{name} = {condition}", name=name, condition=condition.tensor))
            condition = replace(condition, source=dotted(name), scalar=True)
        found.append(condition)
    lines[:0] = first
    return found


def assignments(variables: dict[str, Term], fresh: Fresh) -> list[Statement]:
    """Lines that assign values to variables one after the other, though some may read others as they were."""
    lines: list[Statement] = []
    waiting = dict(variables)
    while waiting:
        unread = (
            name for name in waiting if not any(name in waiting[other].reads for other in waiting.keys() - {name})
        )
        name = next(unread, None)
        if name is None:  # each reads another
            name = next(reversed(waiting))
            kept = fresh.name(name, numbered=True)
            lines.append(assignment(kept, waiting[name]))
            waiting[name] = replace(waiting[name], source=dotted(kept), reads=frozenset())
        else:
            lines.append(assignment(name, waiting.pop(name)))
    return lines


def assignment(name: str, value: Term) -> Statement:
    """`name = value`."""
    return statement("{name} = {value}", name=name, value=value.source)


def _arm(code: Code, this: Way, others: Sequence[Way], names: Sequence[str], fresh: Fresh, forms: Forms) -> Arm:
    taken = set(names).union(*({*other.assigned, *other.reads} for other in others))
    keep = {name for name in this.assigned if name not in taken and not is_bound(code, name, maybe=True)}
    return arm(code, this, keep, names, fresh, forms)


def _current(code: Code, node: ast.Name, forms: Forms) -> Term:
    """A variable as it is."""
    name = code.renames.get(node.id, node.id)
    return replace(_variable(code, node, forms), source=dotted(name), reads=frozenset({name}), variable=True)


def _variable(code: Code, node: ast.Name, forms: Forms) -> Term:
    return term(code.renamed({node.id: node.id}), node, forms)


def _values(code: Code, step: Step, fresh: Fresh, forms: Forms) -> tuple[Sequence[Statement], dict[str, Term]]:
    """What a step assigns, and lines to run first."""
    if isinstance(step.statement, Branching):
        found = merged(code, step.statement, fresh, forms, in_vain=True)
        return found.lines, found.variables
    assert step.value is not None
    if isinstance(step.statement, ast.AugAssign):
        return (), {step.targets[0]: _augmented(code, step.value, forms)}
    if isinstance(step.statement, (ast.Assign, ast.AnnAssign)) and len(step.targets) == 1:
        return (), {step.targets[0]: term(code, step.value, forms)}
    require_pure(code, step.value)
    behind = code.after([step.statement])
    unknown = dict.fromkeys(step.targets)
    read = {name: ast.copy_location(ast.Name(name, ast.Load()), step.value) for name in step.targets}
    # a sequence of another length is refused
    return (), {
        name: replace(_variable(behind, node, unknown), source=dotted(name), total=False) for name, node in read.items()
    }


def _augmented(code: Code, operation: ast.expr, forms: Forms) -> Term:
    assert isinstance(operation, ast.BinOp)
    left, right = term(code, operation.left, forms), term(code, operation.right, forms)
    # a tensor is written itself, which others may see
    return Term(
        binary(SYMBOLS[type(operation.op)], left.source, right.source),
        left.kind,
        safe=left.kind == "number",
        reads=left.reads | right.reads,
    )
