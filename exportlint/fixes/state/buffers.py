"""Values that calls leave behind, kept in buffers: what assigned them changes the buffer in place.

`self.last = x` becomes `self.last.copy_(x)` of a buffer that `__init__` registers; reads that others hold on to
become clones, and `out, self.last = f(x)` binds a variable first. For a value that is None at first, a second buffer
says whether it is there: `if self.last is None: self.last = x` becomes
`self.last.copy_(torch.where(~self.has_last, x, self.last))`.

Needs: only the code that is rewritten uses the value. Never safe: `copy_` keeps size and dtype, and the buffer moves
with the module. What is kept on the first call only is computed on each.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.template import SYMBOLS, augmented
from exportlint.fixes.edit.tree import place
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.aliasing import SAVING, is_consumed, may_be_saved
from exportlint.fixes.proofs.guarded_indices import require_unguarded
from exportlint.fixes.proofs.purity import is_pure
from exportlint.fixes.state.constructor import Assignment, buffer
from exportlint.syntax.definitions import FunctionNode

if TYPE_CHECKING:
    from exportlint.fixes.edit.code import Given
    from exportlint.fixes.edit.template import Expression, Statement


@dataclass(frozen=True)
class Kept:
    """A value that calls leave behind, as a buffer of a module.

    `uses` are where code reads or writes it, `instead` how they are spelled from now on, if otherwise. `flag` is the
    name of the buffer that says whether the value is there, empty if it always is. `beside` is what stands where the
    statements that bind the value read others.
    """

    code: Code
    uses: Sequence[ast.expr]
    instead: Mapping[ast.expr, Expression] = field(default_factory=dict)
    flag: str = ""
    beside: Mapping[ast.expr, Expression] = field(default_factory=dict)

    def drafts(self) -> Iterator[Draft]:
        """What becomes of the uses.

        Raises:
            DeclinedError: the value is bound along with others, or left out.
        """
        branches = dict.fromkeys(branch for use in self.uses for branch in self._branch(use))
        merged = {node for branch in branches for node in ast.walk(branch)}
        yield from map(self._merged, branches)
        rest = [use for use in self.uses if use not in merged]
        for use in rest:
            if not isinstance(use.ctx, ast.Load):  # type: ignore[attr-defined]
                yield from self.written(use)
        reads = [use for use in rest if isinstance(use.ctx, ast.Load) and not self._is_rewritten(use)]  # type: ignore[attr-defined]
        for node, new in self.reads(reads).items():
            yield self.code.replace(node, new)

    def written(self, use: ast.expr) -> Iterator[Draft]:
        """What becomes of a statement that binds the value. Raises DeclinedError."""
        code, statement = self.code, self.code.tree.parents[use]
        if isinstance(statement, ast.Tuple):
            yield self._unpacked(use)
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            lines = self.assigned(use, statement.value)
            yield code.replace(statement, lines[0]) if len(lines) == 1 else code.statements.replace([statement], lines)
        elif not isinstance(statement, ast.AugAssign):
            raise DeclinedError(f"`{code.text(use)}` is assigned together with others")
        elif use in self.instead:
            new = augmented(SYMBOLS[type(statement.op)], self.place(use), self.value(statement.value))
            yield code.replace(statement, new)

    def _unpacked(self, use: ast.expr) -> Draft:
        """`out, self.h = f(x)`: a variable takes the value first. Raises DeclinedError."""
        code, flag, statement = self.code, self._flag(use), self.code.tree.statement(use)
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            raise DeclinedError(f"`{code.text(use)}` is assigned together with others")
        (target,) = statement.targets
        if sum(part in self.uses for part in ast.walk(target)) > 1:
            raise DeclinedError(f"`{code.text(use)}` is assigned twice")
        name = code.fresh(use.attr.lstrip("_") if isinstance(use, ast.Attribute) else "value", use)
        lines = [
            code.statement(
                "{target} = {value}",
                target=code.concrete(target, {use: code.make("{name}", name=name)}),
                value=self.value(statement.value),
            ),
            code.statement("{place}.copy_({name})", place=self.place(use), name=name),
        ]
        if flag is not None:
            lines.append(code.statement("{flag}.fill_(True)", flag=flag))
        return code.statements.replace([statement], lines)

    def reads(self, uses: Sequence[ast.expr]) -> dict[ast.expr, Expression]:
        """What stands where the value is read: the buffer or a copy of it, and for `is None` what says that."""
        found: dict[ast.expr, Expression] = {}
        for use in uses:
            chosen = self._choice(use)
            if chosen is not None:
                found[chosen[0]] = chosen[1]
        inside = {node for chosen in found for node in ast.walk(chosen)}
        for use in uses:
            if use not in inside:
                asked = self._none_test(use)
                new = asked[1] if asked is not None else self._read(use)
                if new is not None:
                    found[asked[0] if asked is not None else use] = new
        return found

    def place(self, use: ast.expr) -> Expression:
        """How a use is spelled from now on."""
        return self.instead.get(use) or self.code.concrete(use)

    def assigned(self, use: ast.expr, value: ast.expr) -> list[Statement]:
        """The statements that bind it to a value."""
        code, flag = self.code, self._flag(use)
        if isinstance(value, ast.Constant) and value.value is None:
            if flag is None:
                raise DeclinedError(f"`{code.text(use)}` becomes None again")
            return [code.statement("{flag}.fill_(False)", flag=flag)]
        copied = code.statement("{place}.copy_({value})", place=self.place(use), value=self.value(value))
        return [copied] if flag is None else [copied, code.statement("{flag}.fill_(True)", flag=flag)]

    def value(self, value: ast.expr) -> Expression:
        """An expression with the buffer, or a copy of it, where it reads the value."""
        parts = set(ast.walk(value))
        others = {use: new for use, new in self.beside.items() if use in parts}
        return self.code.concrete(value, self.reads([use for use in self.uses if use in parts]) | others)

    def is_renewed(self, use: ast.expr) -> bool:
        """Whether a use is part of what the value itself is bound to."""
        statement = self.code.tree.statement(use)
        targets = statement.targets[:1] if isinstance(statement, ast.Assign) else ()
        leaves = [part for target in targets for part in leaves_of(target)]
        return any(leaf in self.uses for leaf in leaves)

    def needs_clone(self, use: ast.expr) -> bool:
        """Whether somebody holds on to the tensor that is read, or autograd may, while the call still changes it."""
        code = self.code
        around = code.tree.parents[use]
        if isinstance(around, ast.keyword) and around.arg == "out":
            raise DeclinedError(f"a call writes its result to `{code.text(use)}`")
        if not is_consumed(code, use):
            return not self.is_renewed(use) or isinstance(around, (ast.Call, ast.keyword, ast.Tuple, ast.List))
        saves = may_be_saved(code, use)
        if isinstance(around, ast.BinOp) and isinstance(around.op, SAVING):
            saves = saves or _is_state(code, around.left if around.right is use else around.right)
        return saves and self._is_changed_later(use)

    def _read(self, use: ast.expr) -> Expression | None:
        """The buffer in place of what reads it, or a copy; None if it stays as it is. Raises DeclinedError."""
        if self.flag and not _refuses_none(self.code.tree.parents[use]) and self._may_be_none(use):
            raise DeclinedError(f"`{self.code.text(use)}` may be None where it is read")
        if self.needs_clone(use):
            return self.code.make("{place}.clone()", place=self.place(use))
        return self.instead.get(use)

    def _is_rewritten(self, use: ast.expr) -> bool:
        """Whether a use stands in a statement that is rewritten as a whole."""
        statement = self.code.tree.statement(use)
        is_added = isinstance(statement, ast.AugAssign) and statement.target in self.instead
        return self.is_renewed(use) or is_added

    def _is_changed_later(self, use: ast.expr) -> bool:
        function = self.code.tree.function(use)
        return any(
            not isinstance(other.ctx, ast.Load)  # type: ignore[attr-defined]
            and self.code.tree.function(other) is function
            and (self.is_renewed(use) or place(other) > place(use))
            for other in self.uses
        )

    # --- a value that is None at first

    def _flag(self, use: ast.expr) -> Expression | None:
        place = self.instead.get(use, use)
        owner = place.value if hasattr(place, "value") else None
        if not self.flag or owner is None:
            return None
        return self.code.make("{owner}.{flag}", owner=owner, flag=self.flag)

    def _is_asked(self, use: ast.expr) -> tuple[ast.Compare, bool] | None:
        """The question whether a use is None, and whether the answer is yes if it is."""
        match self.code.tree.parents[use]:
            case (
                ast.Compare(left=left, ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(value=None)]) as t
            ):
                return (t, isinstance(op, ast.Is)) if left is use else None
        return None

    def _none_test(self, use: ast.expr) -> tuple[ast.expr, Expression] | None:
        """The question whether the value is there, and the one that asks the buffer for it. Raises DeclinedError."""
        asked, flag = self._is_asked(use), self._flag(use)
        if asked is None:
            return None
        if flag is None:
            raise DeclinedError(f"`{self.code.text(use)}` may be None")
        test, is_none = asked
        return test, self.code.make("~{flag}" if is_none else "{flag}.clone()", flag=flag)

    def _may_be_none(self, use: ast.expr) -> bool:
        """Whether neither a test nor a statement before a use says that the value is there."""
        child: ast.AST = use
        for node in self.code.tree.ancestors(use):
            if isinstance(node, (ast.If, ast.IfExp)) and child is not node.test:
                asked = [a for other in self.uses if (a := self._is_asked(other)) and a[0] in ast.walk(node.test)]
                if len(asked) == 1 and self._says_there(node, child, asked[0]):
                    return False
            if isinstance(child, ast.stmt):
                block = self.code.tree.block(child)
                if any(map(self._gives, block[: block.index(child)])):
                    return False
            if isinstance(node, FunctionNode):
                break
            child = node
        return True

    def _says_there(self, around: ast.If | ast.IfExp, child: ast.AST, asked: tuple[ast.Compare, bool]) -> bool:
        """Whether an arm of a branch is only taken if the value is there."""
        test, is_none = asked
        arms = (around.orelse, around.body) if is_none else (around.body, around.orelse)
        is_alone = around.test is test or (
            not is_none and isinstance(around.test, ast.BoolOp) and isinstance(around.test.op, ast.And)
        )
        there = arms[0] if isinstance(arms[0], list) else [arms[0]]
        return is_alone and child in there

    def _gives(self, statement: ast.stmt) -> bool:
        """Whether the value is there behind a statement: it binds it, or does so where it is missing."""
        match statement:
            case ast.Assign(targets=targets, value=value):
                leaves = [leaf for target in targets for leaf in leaves_of(target)]
                is_none = isinstance(value, ast.Constant) and value.value is None
                return not is_none and any(leaf in self.uses for leaf in leaves)
            case ast.If(test=test, body=body, orelse=orelse):
                asked = next((a for use in self.uses if (a := self._is_asked(use)) and a[0] is test), None)
                if asked is not None:
                    missing = body if asked[1] else orelse
                    return any(map(self._gives, missing)) or (bool(missing) and _leaves(missing[-1]))
                return bool(orelse) and any(map(self._gives, body)) and any(map(self._gives, orelse))
        return False

    def _choice(self, use: ast.expr) -> tuple[ast.IfExp, Expression] | None:
        """`new if self.last is None else self.last`, and what chooses between the two tensors."""
        asked, flag = self._is_asked(use), self._flag(use)
        around = self.code.tree.parents[asked[0]] if asked is not None else None
        if asked is None or flag is None or not isinstance(around, ast.IfExp) or around.test is not asked[0]:
            return None
        missing, there = (around.body, around.orelse) if asked[1] else (around.orelse, around.body)
        if not all(is_pure(self.code, arm) for arm in (missing, there)):
            return None
        return around, self._where(flag, missing, self.place(there) if there in self.uses else self.value(there))

    def _branch(self, use: ast.expr) -> Iterator[ast.If]:
        """The `if` that only asks whether a use is None, in order to give it a value."""
        asked = self._is_asked(use)
        around = self.code.tree.parents[asked[0]] if asked is not None else None
        if asked is None or not isinstance(around, ast.If) or around.test is not asked[0] or not self.flag:
            return
        missing, there = (around.body, around.orelse) if asked[1] else (around.orelse, around.body)
        if self._given(missing) is not None and (not there or self._given(there) is not None):
            yield around

    def _given(self, block: Sequence[ast.stmt]) -> ast.expr | None:
        """What a block that does nothing else binds the value to."""
        match [*block]:
            case [ast.Assign(targets=[target], value=value)] if target in self.uses:
                is_none = isinstance(value, ast.Constant) and value.value is None
                return value if not is_none and is_pure(self.code, value) else None
        return None

    def _merged(self, branch: ast.If) -> Draft:
        """Writes what the value has to be at first where it is not there yet."""
        use = next(use for use in self.uses if self.code.tree.parents[use] is branch.test)
        asked, flag, code = self._is_asked(use), self._flag(use), self.code
        assert asked is not None
        assert flag is not None
        missing, there = (branch.body, branch.orelse) if asked[1] else (branch.orelse, branch.body)
        first, later = self._given(missing), self._given(there)
        assert first is not None
        for value in (first, later):
            if value is not None:
                require_unguarded(code, value)
        old = self.place(use) if later is None else self.value(later)
        copied = code.statement("{place}.copy_({value})", place=self.place(use), value=self._where(flag, first, old))
        return code.statements.replace([branch], [copied, code.statement("{flag}.fill_(True)", flag=flag)])

    def _where(self, flag: Expression, missing: ast.expr, there: Expression) -> Expression:
        """One of two values. The flag is negated, so that autograd does not keep the buffer, which changes."""
        code = self.code
        where = code.name("torch.where", missing)
        return code.make(
            "{f}(~{flag}, {missing}, {there})", f=where, flag=flag, missing=self.value(missing), there=there
        )


def leaves_of(target: ast.expr) -> list[ast.expr]:
    """The places that a target binds: `a`, `b` and `c` of `a, (b, c)`."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return [leaf for item in target.elts for leaf in leaves_of(item)]
    return [target]


def _refuses_none(around: ast.AST) -> bool:
    """Whether what an operand stands in raises for None."""
    if isinstance(around, ast.Compare):
        return all(isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for op in around.ops)
    return isinstance(around, (ast.BinOp, ast.Attribute, ast.Subscript, ast.AugAssign))


def _leaves(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.Return, ast.Raise, ast.Break, ast.Continue))


def _is_state(code: Code, node: ast.expr) -> bool:
    """Whether calls change what holds a number, so that a tensor may stand there as well."""
    return isinstance(node, (ast.Attribute, ast.Subscript)) and ast.unparse(node) in code.tree.once(
        _changed, code.tree.root
    )


def _changed(root: ast.Module) -> frozenset[str]:
    """The attributes and items that methods bind, by their source."""
    methods = (n for n in ast.walk(root) if isinstance(n, FunctionNode) and n.name != "__init__")
    nodes = (n for method in methods for n in ast.walk(method) if isinstance(n, (ast.Attribute, ast.Subscript)))
    return frozenset(ast.unparse(n) for n in nodes if isinstance(n.ctx, ast.Store))


def registration(code: Code, first: Assignment, value: Given = None) -> Draft:
    """The buffer that `__init__` registers in place of an attribute; with another value, if one is given."""
    registered = buffer(code, first.target.value, first.target.attr, first.value if value is None else value)
    return code.statements.replace([first.statement], [registered])
