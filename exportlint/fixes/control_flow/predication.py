"""Statements that run in any case, and keep what was there unless a condition holds: predicated execution.

`x = v` becomes `x = torch.where(c, v, x)`, `x[i] = v` writes `torch.where(c, v, x[i])`, `x.add_(v)` becomes
`x.copy_(torch.where(c, x.add(v), x))`, and behind a method that writes to tensors of `self` what it wrote is put back.
A list gets every item, and a mask says which of them `torch.stack`, `sum` and `len` see. What is only said, and numbers
in attributes that the file never reads, are left to eager.

Needs: what is written are tensors, or numbers that become tensors, and all of it can be computed in vain. Never safe:
shapes and dtypes have to stay, what is computed in vain may raise or give NaN gradients, and each tensor is written.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from exportlint.analysis.domain.values import PYTHON
from exportlint.analysis.torch import table
from exportlint.fixes.control_flow.conditions import condition_in_vain
from exportlint.fixes.control_flow.grown_tensors import grown_by
from exportlint.fixes.control_flow.logic import Predicate, negated
from exportlint.fixes.control_flow.merging import Fresh, given_to
from exportlint.fixes.control_flow.selected_items import SelectedItems
from exportlint.fixes.control_flow.terms import is_number, is_started_by_number, total_parts
from exportlint.fixes.eager_only.reports import is_exporting, is_report
from exportlint.fixes.edit.blocks import analysed
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.template import (
    SYMBOLS,
    augmented,
    bare_tuple,
    binary,
    call,
    dotted,
    expression,
    keyword,
    method,
    statement,
)
from exportlint.fixes.edit.tree import place
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.guarded_indices import require_unguarded
from exportlint.fixes.proofs.live_variables import bound, needed, needed_after
from exportlint.fixes.proofs.liveness import is_bound, read_later, require_unread
from exportlint.fixes.proofs.observed_values import is_python, operation, tensor
from exportlint.fixes.proofs.purity import is_pure
from exportlint.fixes.proofs.result_shapes import form
from exportlint.fixes.proofs.tensor_effects import written_by

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression, Hole, Statement

NEUTRAL: dict[type[ast.operator], int] = {ast.Add: 0, ast.Sub: 0, ast.Mult: 1, ast.Div: 1}
"""What changes nothing as the right operand."""


class Predicated:
    """Makes statements take effect only where a condition holds.

    `around` is what they stand in, or are moved out of: variables that only they use are left as they are.
    """

    def __init__(self, code: Code, around: ast.stmt, fresh: Fresh, masked: frozenset[str] | None = None) -> None:
        self._around = around
        self._fresh = fresh
        self._before = code
        self.masked = masked
        """The variables whose old values are needed, where the caller knows."""
        self._read = needed([around])
        self._called_anyway = False
        self.counted: dict[str, None] = {}
        """The variables that held numbers, and hold tensors now."""
        self.masks: dict[str, tuple[str, list[ast.stmt]]] = {}
        """The lists that get every item, the lists of their masks, and the statements that append."""

    def name(self, like: str) -> str:
        """A name for a variable that new code needs."""
        return self._fresh.name(like)

    def block(self, code: Code, body: Sequence[ast.stmt], when: Predicate) -> list[Statement]:
        """The statements of a block. Raises DeclinedError if one does what cannot be undone."""
        lines: list[Statement] = []
        for number, one in enumerate(body, 1):
            lines += code.statements.commented(one, self.statement(code, one, when))
            if number < len(body):  # an `elif` is the last statement of each branch around it
                code = code.after([one])
        return lines

    def statement(self, code: Code, one: ast.stmt, when: Predicate, *, called: bool = False) -> list[Statement]:
        """One statement; it may call modules and functions if they are `called` anyway. Raises as `block` does."""
        self._called_anyway = called
        match one:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                return []
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(value=ast.Name(id=own))) as made
            ) if name == own and (operation(code, made) or "").endswith("_"):
                return self._called(code, one, made, when)  # `x = x.add_(v)`
            case ast.Assign(targets=[ast.Attribute() as target]) | ast.AugAssign(target=ast.Attribute() as target) if (
                _is_unread(code, target)
            ):
                return [self._in_eager(code, one, when)]
            case ast.Assign(targets=[target]) | ast.AnnAssign(target=target, value=ast.expr()):
                assert one.value is not None
                return self._assigned(code, one, target, one.value, when)
            case ast.AugAssign():
                return self._augmented(code, one, when)
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[item], keywords=[])
            ) if not isinstance(item, ast.Starred):
                return self._appended(code, one, name, item, when)
            case ast.Expr() if is_report(code, one):
                return [self._in_eager(code, one, when)]
            case ast.Expr(value=ast.Call() as made):
                return self._called(code, one, made, when)
            case ast.With() if not any(item.optional_vars for item in one.items):
                if len(one.items) > 1:
                    raise DeclinedError("several contexts are entered at once")
                body, entered = self.block(code, one.body, when), code.concrete(one.items[0].context_expr)
                return [code.statement("with {item}:\n    {*body}", item=entered, body=body)] if body else []
            case ast.If():
                return self._branch(code, one, when)
            case ast.For(orelse=[]):
                return self._loop(code, one, when)
        raise DeclinedError("it does more than write to tensors and assign variables")

    def _loop(self, code: Code, one: ast.For, when: Predicate) -> list[Statement]:
        """A loop that runs in any case, whose body takes effect only where the condition holds."""
        self._require_pure(code, one.iter)
        if set(bound([one.target])) & needed_after(code.tree, one):
            raise DeclinedError("the loop variable is used after the loop")
        inside = code.after([ast.copy_location(ast.For(one.target, one.iter, [ast.Pass()], []), one)])
        body = self.block(inside, one.body, when)
        if not body:
            return []
        template = "for {target} in {items}:\n    {*body}"
        return [code.statement(template, target=one.target, items=one.iter, body=body)]

    def _appended(self, code: Code, one: ast.stmt, name: str, item: ast.expr, when: Predicate) -> list[Statement]:
        """An item that a list gets in any case, and whether it belongs there."""
        if name not in self.masks:
            self.masks[name] = self._fresh.name(f"{name}_mask"), []
        mask, appending = self.masks[name]
        appending.append(one)
        appended = (name, self._value(code, item, when)), (mask, when.truth)
        return [statement("{name}.append({item})", name=owner, item=value) for owner, value in appended]

    def selections(self, code: Code, prefix: ast.stmt | None = None) -> list[Draft]:
        """Edits for the lists that get every item, as `SelectedItems.drafts` has them. Raises DeclinedError."""
        return [
            draft
            for name, (mask, appending) in self.masks.items()
            for draft in SelectedItems(code, name, mask, appending).drafts(prefix)
        ]

    def _in_eager(self, code: Code, one: ast.stmt, when: Predicate) -> Statement:
        """What the program does not need, in eager only."""
        require_unread(code, one, one)
        exporting = is_exporting(code, one, code.version)
        template = "not {exporting} and {truth}" if when.holds else "not {exporting} and not {truth}"
        test = code.make(template, exporting=exporting, truth=when.condition)
        return code.statement("if {test}:\n    {*body}", test=test, body=code.statements.moved([one]))

    def _assigned(
        self, code: Code, one: ast.stmt, target: ast.expr, value: ast.expr, when: Predicate
    ) -> list[Statement]:
        if isinstance(target, (ast.Tuple, ast.List)):
            return self._unpacked(code, target, value, when)
        if isinstance(target, ast.Name) and not self._is_kept(target.id):
            self._require_pure(code, value)
            changed = total_parts(code, value, when)
            if changed:
                return [statement("{name} = {value}", name=target.id, value=code.concrete(value, changed))]
            return code.statements.moved([one])
        grown = grown_by(code, one)
        if grown is not None:
            require_unguarded(code, value)
            return [grown.selected(code, when)]
        old = self._place(code, target, when)
        before, after = form(code, target, {}), form(code, value, {})
        if before is not None and after is not None and not after.may_fit(before):
            raise DeclinedError("the tensors differ in shape")
        return [statement("{target} = {new}", target=old, new=when.choose(code, self._value(code, value, when), old))]

    def _unpacked(self, code: Code, target: ast.Tuple | ast.List, value: ast.expr, when: Predicate) -> list[Statement]:
        if not all(isinstance(item, ast.Name) for item in target.elts):
            raise DeclinedError("one statement writes to several targets")
        names = [item.id for item in target.elts if isinstance(item, ast.Name)]
        kept = [name for name in names if self._is_kept(name)]
        own = {name: self._fresh.name(name, numbered=True) if name in kept else name for name in names}
        targets = bare_tuple(list(map(dotted, own.values())))
        lines = [code.statement("{targets} = {value}", targets=targets, value=self._value(code, value, when))]
        for item in target.elts:
            assert isinstance(item, ast.Name)
            if item.id in kept:
                old = self._place(code, item, when)
                lines.append(statement("{old} = {new}", old=old, new=when.choose(code, dotted(own[item.id]), old)))
        return lines

    def _augmented(self, code: Code, one: ast.AugAssign, when: Predicate) -> list[Statement]:
        symbol = SYMBOLS[type(one.op)]
        if isinstance(one.target, ast.Name) and not self._is_kept(one.target.id):
            self._require_pure(code, one.value)
            require_unguarded(code, one.value)
            return code.statements.moved([one])
        target, neutral = self._place(code, one.target, when), NEUTRAL.get(type(one.op))
        value = self._value(code, one.value, when)
        if neutral is not None and isinstance(one.target, ast.Name) and one.target.id in self.counted:
            counted = binary(symbol, target, when.choose(code, value, neutral))
            return [statement("{name} = {counted}", name=target, counted=counted)]
        if neutral is not None:
            return [augmented(symbol, target, when.choose(code, value, neutral))]
        return [statement("{old} = {new}", old=target, new=when.choose(code, binary(symbol, target, value), target))]

    def _called(self, code: Code, one: ast.stmt, made: ast.Call, when: Predicate) -> list[Statement]:
        """`t.add_(x)` as `t.copy_(…)` of what `t.add(x)` gives; a method whose writes are put back."""
        name = operation(code, made)
        if not isinstance(made.func, ast.Attribute) or name is None:
            return self._put_back(code, one, made, when)
        written, new = self._out_of_place(code, made, when)
        target = code.concrete(written)
        return [statement("{copy}", copy=method(target, "copy_", when.choose(code, new, target)))]

    def _out_of_place(self, code: Code, made: ast.Call, when: Predicate) -> tuple[ast.expr, Expression]:
        """What `t.mul_(a).add_(b)` writes to, and `t.mul(a).add(b)`. Raises DeclinedError."""
        name = operation(code, made) or ""
        if not isinstance(made.func, ast.Attribute) or not name.endswith("_"):
            raise DeclinedError("it does more than write")
        held = made.func.value
        if isinstance(held, ast.Call) and (operation(code, held) or "").endswith("_"):
            written, old = self._out_of_place(code, held, when)
        elif is_pure(code, held):
            written, old = held, code.concrete(held)
        else:
            raise DeclinedError("the written value has side effects")
        arguments: list[Hole] = [self._value(code, argument, when) for argument in made.args]
        if any(one.arg is None for one in made.keywords):
            raise DeclinedError("its arguments are not known")
        arguments += [keyword(one.arg or "", self._value(code, one.value, when)) for one in made.keywords]
        known = table.tensor_member(name[:-1])
        if name in {"copy_", "fill_", "zero_"} and written is held:
            if len(arguments) > 1 or made.keywords:
                raise DeclinedError("the method has no out-of-place variant")
            return written, self._value(code, made.args[0], when) if made.args else expression("0")
        if known is None or known.kind != "method" or known.random or known.view:
            raise DeclinedError("the method has no out-of-place variant")
        return written, method(old, name[:-1], *arguments)

    def _put_back(self, code: Code, one: ast.stmt, made: ast.Call, when: Predicate) -> list[Statement]:
        """A call of a method of the class that writes to tensors of `self`: they get back what they held."""
        function = code.tree.function(one)
        owner, written = written_by(code, function, made)
        no_grad = code.name("torch.no_grad", one)
        first: list[Statement] = []
        last: list[Statement] = []
        for name in written:
            held = expression("{owner}.{name}", owner=owner, name=dotted(name))
            old = self._fresh.name(f"old_{name}")
            first.append(statement("{old} = {held}.clone()", old=old, held=held))
            new = when.choose(code, held, dotted(old))
            last.append(statement("{copy}", copy=method(held, "copy_", new)))
        template = "with {no_grad}():\n    {*body}"
        return [
            code.statement(template, no_grad=no_grad, body=first),
            *code.statements.moved([one]),
            code.statement(template, no_grad=no_grad, body=last),
        ]

    def _branch(self, code: Code, one: ast.If, when: Predicate) -> list[Statement]:
        """A branch inside: Python's stays one, one on tensor data is one more condition."""
        if is_python(code, one.test):
            body = self.block(code.under(one.test, holds=True), one.body, when)
            other = self.block(code.under(one.test, holds=False), one.orelse, when)
            if not body and not other:
                return []
            body = body or [statement("pass")]
            if not other:
                return [code.statement("if {test}:\n    {*body}", test=one.test, body=body)]
            template = "if {test}:\n    {*body}\nelse:\n    {*other}"
            return [code.statement(template, test=one.test, body=body, other=other)]
        condition = condition_in_vain(code, one.test)
        lines: list[Statement] = []
        for body_, holds in ((one.body, condition), (one.orelse, negated(condition))):
            if body_:
                name = self._fresh.name("condition", numbered=True)
                both = binary("&", when.truth, holds.tensor)
                lines.append(statement("{name} = {both}", name=name, both=both))
        made = iter([source_of(line) for line in lines])
        for body_ in (one.body, one.orelse):
            if body_:
                lines += self.block(code, body_, Predicate(dotted(next(made))))
        return lines

    def _value(self, code: Code, node: ast.expr, when: Predicate) -> Expression:
        """A value that is computed in any case, though it is only used where the condition holds."""
        self._require_pure(code, node)
        return code.concrete(node, total_parts(code, node, when))

    def _require_pure(self, code: Code, node: ast.expr) -> None:
        if not is_pure(code, node) and not (self._called_anyway and calls_only(node)):
            raise DeclinedError("the written value has side effects")

    def _is_kept(self, name: str) -> bool:
        """Whether the old value of a variable may be needed."""
        if self.masked is not None:
            return name in self.masked
        is_read_before = name in self._read and is_bound(self._before, name, maybe=True)
        return is_read_before or read_later(self._before, self._around, name)

    def _place(self, code: Code, node: ast.expr, when: Predicate) -> Expression:
        """A place that holds a tensor, or a variable that holds a number, to read and to write."""
        if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            raise DeclinedError("one statement writes to several targets")
        if isinstance(node, ast.Name) and not is_bound(code, node.id):
            raise DeclinedError(f"`{node.id}` has no value before")
        (read,) = analysed([code.statement("{place}", place=node)])
        assert isinstance(read, ast.Expr)
        is_counted = not isinstance(node, ast.Attribute) and holds_number(code, read.value)
        holds_tensor = tensor(code, read.value) is not None or is_started_by_number(code.value(read.value))
        if not (holds_tensor or is_counted) or not is_pure(code, read.value):
            raise DeclinedError("the written value is not a tensor")
        if isinstance(node, ast.Name) and is_counted:
            self.counted[node.id] = None
        return code.concrete(node, total_parts(code, node, when, written=True))

    def starts(self, code: Code) -> list[Draft]:
        """Edits that let the variables that held numbers be tensors from the start, where that is one constant."""
        edits: list[Draft] = []
        around = {*code.tree.ancestors(self._around)}
        for name in self.counted:
            scope = code.tree.function(self._around)
            stores = [
                n
                for n in ast.walk(scope or code.tree.root)
                if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
            ]
            before = [n for n in stores if place(n) < place(self._around)]
            last = max(before, key=place, default=None)
            value = given_to(code, last) if last is not None else None
            always = last is not None and code.tree.parents[code.tree.statement(last)] in around
            if always and isinstance(value, ast.Constant) and type(value.value) is int:
                start = call(code.name("torch.tensor", value), code.concrete(value))
                edits.append(code.replace(value, start))
        return edits


def _is_unread(code: Code, target: ast.Attribute) -> bool:
    """Whether nothing in the file reads an attribute, which holds a number."""
    uses = code.tree.contents(code.tree.root).attributes(target.attr)
    statement = code.tree.statement(target)
    value = getattr(statement, "value", None)
    is_python_number = isinstance(value, ast.expr) and is_number(code.value(value)) and is_python(code, value)
    return is_python_number and not any(isinstance(use.ctx, ast.Load) for use in uses)


def holds_number(code: Code, node: ast.expr) -> bool:
    """Whether an expression is a number: of what a loop counts, only the first pass may know."""
    values = [snapshot.value(node) for snapshot in code.observed.snapshots]
    return any(map(is_number, values)) and all(is_number(value) or value == PYTHON for value in values)


def source_of(assigning: Statement) -> str:
    """The variable that a new statement assigns."""
    (node,) = analysed([assigning])
    assert isinstance(node, ast.Assign)
    assert isinstance(node.targets[0], ast.Name)
    return node.targets[0].id


def calls_only(node: ast.expr) -> bool:
    """Whether nothing in an expression shows that it has an effect: it may call modules and functions."""
    calls = [part for part in ast.walk(node) if isinstance(part, ast.Call)]
    return not any(
        isinstance(part, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)) for part in ast.walk(node)
    ) and not any(isinstance(call.func, ast.Attribute) and call.func.attr.endswith("_") for call in calls)
