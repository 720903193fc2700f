"""The ways of a branch as straight code, and what the variables are then: a choice for each.

`if c: a = x; y = a + 1` / `else: y = x` becomes `a = x`, `y = torch.where(c, a + 1, x)`. Variables that only one way
binds keep their names, others get new ones; what nobody reads any more is not assigned. A part of `where`, which says
when the result is safe.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import Const
from exportlint.fixes.control_flow.branch_paths import Branching, Case, Step, Way, cases, way
from exportlint.fixes.control_flow.conditions import condition_in_vain, tensor_condition
from exportlint.fixes.control_flow.logic import Condition, Predicate
from exportlint.fixes.control_flow.terms import Term, choose, is_sound, term
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.parentheses import source
from exportlint.fixes.edit.template import SYMBOLS, bare_tuple, binary, dotted, expression, statement
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.guarded_indices import guarded_indices
from exportlint.fixes.proofs.liveness import is_bound, read_later
from exportlint.fixes.proofs.purity import require_pure
from exportlint.fixes.proofs.result_shapes import Forms
from exportlint.fixes.proofs.total_conditions import evaluated
from exportlint.fixes.state.counters import number_of

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


def arm(
    code: Code,
    through: Way,
    keep: Collection[str],
    final: Collection[str],
    fresh: Fresh,
    forms: Forms,
    when: Predicate | None = None,
) -> Arm:
    """A way as code that leaves the variables alone that were there before.

    The variables in `keep` are its own. What the variables in `final` get last is not assigned but given, unless the
    way itself reads it. What it computes is used only `when` a condition holds.
    """
    known = dict(forms)
    lines: list[Statement] = []
    variables: dict[str, Term] = {}
    sound = True
    for index, step in enumerate(through.steps):
        later = Way(through.steps[index + 1 :], through.returned)
        before, values = _values(code, step, fresh, known, when)
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
    returned = term(code, through.returned, known, when)
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
    first: list[Statement] = []
    if any(guarded_indices(code, one) for case in found for one in case.body):  # which ask the condition again
        conditions = hoisted(conditions, first, fresh)
    whens = [None] * len(ways) if in_vain else predicates(conditions)
    arms = [
        _arm(code, each, [other for other in ways if other is not each], names, fresh, forms, when)
        for each, when in zip(ways, whens, strict=True)
    ]
    lines = [*first, *(line for each in arms for line in each.lines)]
    if len(names) > 1:
        conditions = hoisted(conditions, lines, fresh)
    variables: dict[str, Term] = {}
    for name in names:
        current = ast.copy_location(ast.Name(name, ast.Load()), branch)
        found_first = _first_found(code, branch, found, current, [each.variables.get(name) for each in arms])
        if found_first is not None:
            variables[name] = _or_first(name, found_first, choose(code, conditions[0], *_tensors(name, found_first)))
            continue
        terms = [each.variables.get(name) or _current(code, current, forms) for each in arms]
        variables[name] = folded(code, conditions, terms)
    return Arm(tuple(lines), variables)


def _first_found(
    code: Code, branch: Branching, found: Sequence[Case], current: ast.Name, terms: Sequence[Term | None]
) -> Term | None:
    """What a variable gets that is None until the condition holds, as it does at first: the best of some items.

    None for a variable that is never None.

    Raises:
        DeclinedError: it may still be None behind the branch.
    """
    test, name = found[0].test, current.id
    if None not in terms:
        return None
    asked = isinstance(test, ast.BoolOp) and _is_none_before(code, branch, name)
    if not asked and not any(isinstance(o, Const) and o.value is None for o in options(code.value(current))):
        return None
    if len(terms) != 2 or terms[0] is None or terms[1] is not None or terms[0].kind != "tensor":
        raise DeclinedError(f"`{name}` may be None")
    is_first = isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) and _is_none(test.values[0])
    if not is_first and not (isinstance(test, ast.Compare) and _exceeds_infinity(code, branch, test)):
        raise DeclinedError(f"`{name}` may be None")
    return terms[0]


def _tensors(name: str, new: Term) -> tuple[Term, Term]:
    """A new value, and that which a variable has, which is no longer None."""
    return new, Term(dotted(name), safe=False, variable=True, reads=frozenset({name}))


def _or_first(name: str, new: Term, chosen: Term) -> Term:
    template = "{new} if {name} is None else {chosen}"
    return replace(chosen, source=expression(template, new=new.source, name=name, chosen=chosen.source), safe=False)


def _is_none(node: ast.expr) -> bool:
    """`name is None`."""
    match node:
        case ast.Compare(left=ast.Name(), ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
            return True
    return False


def _is_none_before(code: Code, branch: Branching, name: str) -> bool:
    """Whether a variable is bound to None outside of a branch.

    Behind `best is None or`, where the condition needs tensor data, it is known not to be None.
    """
    scope, inside = code.tree.function(branch), set(ast.walk(branch))
    names = code.tree.contents(scope).named(name) if scope is not None else ()
    held = [given_to(code, n) for n in names if isinstance(n.ctx, ast.Store) and n not in inside]
    return any(isinstance(value, ast.Constant) and value.value is None for value in held)


def _exceeds_infinity(code: Code, branch: Branching, test: ast.Compare) -> bool:
    """Whether a condition holds at first for all numbers: it compares with an infinity, up to then."""
    sides = [test.left, *test.comparators]
    upwards = isinstance(test.ops[0], (ast.Gt, ast.GtE))
    scope, inside = code.tree.function(branch), set(ast.walk(branch))
    for side, below in zip(sides, (not upwards, upwards), strict=False):
        if len(sides) == 2 and isinstance(side, ast.Name) and scope is not None:
            stores = [n for n in code.tree.contents(scope).named(side.id) if isinstance(n.ctx, ast.Store)]
            first = [given_to(code, n) for n in stores if n not in inside]
            if len(first) == 1 and first[0] is not None and _infinity(first[0]) == (-inf if below else inf):
                return True
    return False


def given_to(code: Code, target: ast.Name) -> ast.expr | None:
    """What a variable is bound to: by itself, or along with others."""
    around = code.tree.parents[target]
    match code.tree.statement(target):
        case ast.Assign(targets=[only], value=value) if only is target:
            return value
        case ast.Assign(targets=[ast.Tuple(elts=targets) as only], value=ast.Tuple(elts=values)) if only is around:
            return values[targets.index(target)] if len(targets) == len(values) else None
    return None


def _infinity(node: ast.expr) -> float | None:
    """The infinity that an expression is, if it is one."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            found = _infinity(operand)
            return None if found is None else -found
        case ast.Attribute(value=ast.Name(), attr="inf"):
            return inf
    number = number_of(node)
    return number if number in {inf, -inf} else None


def conditions_of(code: Code, found: Sequence[Case], *, in_vain: bool = False) -> list[Condition]:
    """The conditions of the ways. Those behind the first one are only asked if it does not hold."""
    tests = [case.test for case in found if case.test is not None]
    if in_vain:
        return [condition_in_vain(code, test) for test in tests]
    known = evaluated(tests[0])
    return [tensor_condition(code, tests[0]), *(condition_in_vain(code, test, known) for test in tests[1:])]


def predicates(conditions: Sequence[Condition]) -> list[Predicate | None]:
    """When each way is taken, as far as that is one condition."""
    first, *others = conditions
    last = [None] if others else [Predicate(first.tensor, holds=False)]
    return [Predicate(first.tensor), *(None for _ in others), *last]


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


def _arm(
    code: Code,
    this: Way,
    others: Sequence[Way],
    names: Sequence[str],
    fresh: Fresh,
    forms: Forms,
    when: Predicate | None,
) -> Arm:
    taken = set(names).union(*({*other.assigned, *other.reads} for other in others))
    keep = {name for name in this.assigned if name not in taken and not is_bound(code, name, maybe=True)}
    return arm(code, this, keep, names, fresh, forms, when)


def _current(code: Code, node: ast.Name, forms: Forms) -> Term:
    """A variable as it is."""
    name = code.renames.get(node.id, node.id)
    return replace(_variable(code, node, forms), source=dotted(name), reads=frozenset({name}), variable=True)


def _variable(code: Code, node: ast.Name, forms: Forms) -> Term:
    return term(code.renamed({node.id: node.id}), node, forms)


def _values(
    code: Code, step: Step, fresh: Fresh, forms: Forms, when: Predicate | None
) -> tuple[Sequence[Statement], dict[str, Term]]:
    """What a step assigns, and lines to run first."""
    if isinstance(step.statement, Branching):
        found = merged(code, step.statement, fresh, forms, in_vain=True)
        return found.lines, found.variables
    assert step.value is not None
    if isinstance(step.statement, ast.AugAssign):
        return (), {step.targets[0]: _augmented(code, step.value, forms, when)}
    if isinstance(step.statement, (ast.Assign, ast.AnnAssign)) and len(step.targets) == 1:
        return (), {step.targets[0]: term(code, step.value, forms, when)}
    require_pure(code, step.value)
    behind = code.after([step.statement])
    unknown = dict.fromkeys(step.targets)
    read = {name: ast.copy_location(ast.Name(name, ast.Load()), step.value) for name in step.targets}
    # a sequence of another length is refused
    return (), {
        name: replace(_variable(behind, node, unknown), source=dotted(name), total=False) for name, node in read.items()
    }


def _augmented(code: Code, operation: ast.expr, forms: Forms, when: Predicate | None) -> Term:
    assert isinstance(operation, ast.BinOp)
    left, right = term(code, operation.left, forms, when), term(code, operation.right, forms, when)
    # a tensor is written itself, which others may see
    return Term(
        binary(SYMBOLS[type(operation.op)], left.source, right.source),
        left.kind,
        safe=left.kind == "number",
        reads=left.reads | right.reads,
    )
