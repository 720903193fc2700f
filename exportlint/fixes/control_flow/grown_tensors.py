"""Tensors that each pass of a loop makes longer: all passes do, and a mask cuts off what came after the loop had ended.

`y = torch.cat([y, new], 1)` stays as it is, next to `y_mask.append((~stop).expand(new.shape[1]))`; behind the loop,
`y` becomes `y[:, torch.cat(y_mask)]`. A part of `masked_loops`: where it ends the loop, `y` has no more than what
belongs there, so that code in the loop may read all of it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from exportlint.fixes.control_flow.logic import Predicate
from exportlint.fixes.control_flow.selected_items import dimension
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.template import along, call, dotted, expression, method, statement
from exportlint.fixes.proofs.observed_values import operation
from exportlint.fixes.proofs.purity import is_pure
from exportlint.fixes.proofs.result_shapes import JOINS


@dataclass(frozen=True, slots=True)
class Grown:
    """A variable that a statement of a loop makes longer along a dimension by what is `added`."""

    growing: ast.stmt
    name: str
    added: ast.expr
    dim: int

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


def grown_in(code: Code, loop: ast.For | ast.While) -> list[Grown]:
    """The variables that statements of a loop make longer, and that nothing else in it binds."""
    found = []
    for one in loop.body:
        match one:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(args=[ast.List(elts=items) | ast.Tuple(elts=items), *_]) as made,
            ) if operation(code, made) in JOINS:
                dim = dimension(made)
                match items:
                    case [ast.Name(id=old), added] if old == name and dim is not None and is_pure(code, added):
                        if _bindings(loop, name) == 1:
                            found.append(Grown(one, name, added, dim))
    return found


def _bindings(loop: ast.For | ast.While, name: str) -> int:
    names = (node for node in ast.walk(loop) if isinstance(node, ast.Name) and node.id == name)
    return sum(not isinstance(node.ctx, ast.Load) for node in names)
