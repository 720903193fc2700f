"""Tuples of tensors that calls leave behind, as one buffer for each item.

`self.hidden = (h, c)` becomes `self.hidden_0.copy_(h)` and `self.hidden_1.copy_(c)`, and where the tuple is read
`(self.hidden_0.clone(), self.hidden_1.clone())`.

Needs: only the code that is rewritten uses the tuple, and `__init__` writes out its items. Never safe: `copy_` keeps
sizes and dtypes, and the buffers move with the module.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.state.buffers import leaves_of

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression, Statement


@dataclass(frozen=True)
class KeptTuple:
    """A tuple that calls leave behind. `uses` are where code reads or writes it, `names` those of the buffers."""

    code: Code
    uses: Sequence[ast.expr]
    names: Sequence[str]

    def drafts(self) -> Iterator[Draft]:
        """What becomes of the uses. Raises DeclinedError if one changes the tuple otherwise."""
        written: dict[ast.stmt, ast.Attribute] = {}
        for use in self.uses:
            if isinstance(use, ast.Attribute) and not isinstance(use.ctx, ast.Load):
                statement = self.code.tree.statement(use)
                if statement in written:
                    raise DeclinedError(f"`{self.code.text(use)}` is assigned twice")
                written[statement] = use
        inside = {part for statement in written for part in ast.walk(statement)}
        for statement, use in written.items():
            yield self.code.statements.replace([statement], self._assigned(statement, use))
        for node, new in self._reads([use for use in self.uses if use not in inside]).items():
            yield self.code.replace(node, new)

    def _assigned(self, statement: ast.stmt, use: ast.Attribute) -> list[Statement]:
        """The statements in place of one that binds the tuple."""
        code = self.code
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            raise DeclinedError(f"`{code.text(use)}` is assigned together with others")
        (target,), value = statement.targets, statement.value
        if use not in leaves_of(target):
            raise DeclinedError(f"an item of `{code.text(use)}` is assigned")
        inside = set(ast.walk(value))
        read = [other for other in self.uses if other in inside]
        if target is use and isinstance(value, (ast.Tuple, ast.List)) and not read:
            if len(value.elts) != len(self.names) or any(isinstance(item, ast.Starred) for item in value.elts):
                raise DeclinedError(f"`{code.text(use)}` gets a different number of items")
            items: Sequence[Expression | ast.expr] = value.elts
            lines: list[Statement] = []
        else:
            name = code.fresh(use.attr.lstrip("_"), use)
            new = code.concrete(target, {use: code.make("{name}", name=name)})
            lines = [code.statement("{target} = {value}", target=new, value=code.concrete(value, self._reads(read)))]
            items = [code.make("{name}[{index}]", name=name, index=index) for index in range(len(self.names))]
        pairs = zip(self._places(use), items, strict=True)
        return lines + [code.statement("{place}.copy_({item})", place=place, item=item) for place, item in pairs]

    def _reads(self, uses: Sequence[ast.expr]) -> dict[ast.expr, Expression]:
        """What stands where the tuple is read, or one of its items."""
        code = self.code
        found: dict[ast.expr, Expression] = {}
        for use in uses:
            around, copies = code.tree.parents[use], [code.make("{p}.clone()", p=place) for place in self._places(use)]
            match around:
                case ast.Subscript(value=value, slice=ast.Constant(value=int() as index)) if value is use:
                    found[around] = copies[index]
                case _:
                    found[use] = code.make("({*copies},)", copies=copies)
        return found

    def _places(self, use: ast.expr) -> list[Expression]:
        assert isinstance(use, ast.Attribute)
        return [self.code.make("{owner}.{name}", owner=use.value, name=name) for name in self.names]
