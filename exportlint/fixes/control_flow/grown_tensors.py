"""Tensors that a statement makes longer, where tensor data decide whether it does.

`if c: y = torch.cat([y, new], 1)` becomes `y = torch.cat([y, new[:, c.expand(new.shape[1])]], 1)`, which adds all of
`new` or nothing of it. In a loop that tensor data end, all passes make `y` longer, `y_mask` says which parts belong
there, and behind the loop `y` becomes `y[:, torch.cat(y_mask)]`: until the loop ends, it has no others. A part of
`predication` and of `masked_loops`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportlint.fixes.control_flow.logic import Predicate
from exportlint.fixes.control_flow.selected_items import dimension
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.template import along, call, dotted, expression, method, statement
from exportlint.fixes.proofs.observed_values import operation
from exportlint.fixes.proofs.purity import is_pure
from exportlint.fixes.proofs.result_shapes import JOINS

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Statement


@dataclass(frozen=True, slots=True)
class Grown:
    """A variable that a statement of a loop makes longer along a dimension by what is `added`."""

    growing: ast.stmt
    name: str
    added: ast.expr
    dim: int

    def selected(self, code: Code, when: Predicate) -> Statement:
        """The statement, which adds nothing where the condition does not hold."""
        assert isinstance(self.growing, ast.Assign)
        added = code.concrete(self.added)
        size = expression("{part}.shape[{dim}]", part=added, dim=self.dim)
        chosen = along(added, self.dim, method(when.truth, "expand", size))
        value = code.concrete(self.growing.value, {self.added: chosen})
        return statement("{name} = {value}", name=self.name, value=value)

    def masked(self, code: Code, loop: ast.For | ast.While, mask: str, when: Predicate) -> Iterator[Draft]:
        """Edits that note which part is added while the loop goes on, and keep that part behind the loop."""
        sizes = [
            expression("{part}.shape[{dim}]", part=p, dim=self.dim) for p in (self.name, code.concrete(self.added))
        ]
        before = method(call(code.name("torch.tensor", loop), expression("True")), "expand", sizes[0])
        first = statement("{mask} = [{before}]", mask=mask, before=before)
        added = method(when.truth, "expand", sizes[1])
        kept = along(self.name, self.dim, call(code.name("torch.cat", loop), dotted(mask)))
        yield code.statements.insert_before(loop, [first])
        yield code.statements.insert_before(self.growing, [statement("{mask}.append({added})", mask=mask, added=added)])
        yield code.statements.insert_after(loop, [statement("{name} = {kept}", name=self.name, kept=kept)])


def grown_by(code: Code, one: ast.stmt) -> Grown | None:
    """What a statement makes longer at its end; None if it does something else."""
    match one:
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.Call(args=[ast.List(elts=items) | ast.Tuple(elts=items), *_]) as made,
        ) if operation(code, made) in JOINS:
            dim = dimension(made)
            match items:
                case [ast.Name(id=old), added] if old == name and dim is not None and is_pure(code, added):
                    return Grown(one, name, added, dim)
    return None


def grown_in(code: Code, loop: ast.For | ast.While) -> list[Grown]:
    """The variables that statements of a loop make longer, and that nothing else in it binds."""
    found = filter(None, (grown_by(code, one) for one in loop.body))
    return [one for one in found if _bindings(loop, one.name) == 1]


def _bindings(loop: ast.For | ast.While, name: str) -> int:
    names = (node for node in ast.walk(loop) if isinstance(node, ast.Name) and node.id == name)
    return sum(not isinstance(node.ctx, ast.Load) for node in names)
