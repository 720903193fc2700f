"""From the nodes that analysis works with, `ast`'s, to libcst's nodes of the same source, by position.

`Concrete` parses the expressions that are asked for, each once, and puts other nodes in place of parts of them.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from exportlint.fixes.edit.parentheses import Precedence, place_of
from exportlint.fixes.edit.template import in_place, substituted
from exportlint.fixes.edit.text import Text
from exportlint.fixes.edit.tree import Tree
from exportlint.fixes.errors import DeclinedError

if TYPE_CHECKING:
    import libcst as cst

_OTHER = "LibCST parses the source differently than Python"


class Concrete:
    """The concrete syntax of one file. Only the expressions that are asked for are parsed, each once."""

    def __init__(self, text: Text, tree: Tree) -> None:
        self._text = text
        self._tree = tree
        self._parsed: dict[ast.expr, _Parsed] = {}

    def expression(self, node: ast.expr, instead: Mapping[ast.AST, cst.BaseExpression]) -> cst.BaseExpression:
        """An expression as it stands in the file, with others instead of parts of it.

        Raises:
            DeclinedError: it cannot stand by itself, as a slice, or libcst does not find it.
        """
        import libcst as cst

        if isinstance(node, ast.Name) and node not in instead:
            return cst.Name(node.id)
        if node in instead:
            return instead[node]
        if isinstance(node, (ast.Slice, ast.Starred)):
            raise DeclinedError(f"`{self._text.of(node)}` is not an expression by itself")
        parsed = self._of(node)
        found = self._found(parsed, node)
        if not instead:
            return found
        inside = {id(self._found(parsed, part)): new for part, new in instead.items() if isinstance(part, ast.expr)}
        return cast(cst.BaseExpression, substituted(found, inside))

    def place(self, node: ast.expr) -> Precedence:
        """How tightly another expression must bind to stand in the place of one without parentheses."""
        top = self._top(node)
        if top is node:
            return _place_in(self._tree.parents[node], node)
        try:
            parsed = self._of(node)
            found = self._found(parsed, node)
        except DeclinedError:  # in a string
            return Precedence.TERNARY
        return parsed.places.get(id(found), Precedence.TERNARY)

    def is_only_argument(self, node: ast.GeneratorExp) -> bool:
        """Whether the brackets around a generator are those of the call that it is given to."""
        call = self._tree.parents.get(node)
        return (
            isinstance(call, ast.Call)
            and call.end_lineno == node.end_lineno
            and (call.end_col_offset == node.end_col_offset)
        )

    def _found(self, parsed: _Parsed, node: ast.expr) -> cst.BaseExpression:
        found = parsed.spans.get(self._text.range(node))
        if found is None and isinstance(node, ast.Tuple):
            parent = self._tree.parents.get(node)
            if isinstance(parent, ast.Subscript):
                return _indices(parsed.spans.get(self._text.range(parent)))
        if found is None:
            raise DeclinedError(_OTHER)
        return found

    def _top(self, node: ast.expr) -> ast.expr:
        """The outermost expression around one, or itself."""
        top = node
        for around in self._tree.ancestors(node):
            if isinstance(around, ast.stmt):
                break
            if isinstance(around, ast.expr) and not isinstance(around, ast.Starred):
                top = around
        return top

    def _of(self, node: ast.expr) -> _Parsed:
        top = self._top(node)
        if top not in self._parsed:
            start, end = self._text.range(top)
            self._parsed[top] = _Parsed(self._text.between(start, end), start)
        return self._parsed[top]


def _place_in(parent: ast.AST, node: ast.expr) -> Precedence:
    """What the place of an expression in a statement asks of another one that is put there."""
    match parent:
        case ast.Assign() | ast.AugAssign() | ast.Return() | ast.Expr():
            return Precedence.TUPLE
        case ast.Starred():
            return Precedence.BIT_OR
        case ast.ClassDef() if node not in parent.decorator_list:
            return Precedence.ARGUMENT
    return Precedence.TERNARY


class _Parsed:
    """An expression that libcst parsed, and its parts by the offsets in the file between which they stand."""

    def __init__(self, source: str, start: int) -> None:
        import libcst as cst
        from libcst.metadata import MetadataWrapper, PositionProvider

        try:
            whole = cst.parse_expression(f"({source})")
        except cst.ParserSyntaxError:
            raise DeclinedError(_OTHER) from None
        if "\n" in source:
            whole = in_place(whole)
        module = cst.Module([cst.SimpleStatementLine([cst.Expr(whole)])])
        places = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
        rows = [start - 1]  # where each row starts in the file; the first one starts with a parenthesis
        for line in source.split("\n")[:-1]:
            rows.append(rows[-1] + len(line) + 1 + (len(rows) == 1))

        def offsets(node: cst.CSTNode) -> tuple[int, int]:
            place = places[node]
            first, last = place.start, place.end
            return rows[first.line - 1] + first.column, rows[last.line - 1] + last.column

        self.places: dict[int, Precedence] = {}
        """What the places of the parts ask of what is put there, by the `id` of each part."""
        for node in places:
            for field in node.__dataclass_fields__:
                child = getattr(node, field, None)
                if isinstance(child, cst.BaseExpression):
                    self.places[id(child)] = place_of(node, field)
            if isinstance(node, cst.Tuple) and len(node.lpar) == (node is whole):  # no brackets hold it together
                for element in node.elements:
                    if isinstance(element, cst.Element):
                        self.places[id(element.value)] = Precedence.TERNARY
            if isinstance(node, cst.BooleanOperation):  # `(a and b) and c` is not `a and b and c`
                self.places[id(node.left)] = self.places[id(node.right)]
        self.spans: dict[tuple[int, int], cst.BaseExpression] = {}
        for node in places:
            if not isinstance(node, cst.BaseExpression):
                continue
            self.spans.setdefault(offsets(node), node)
            if isinstance(node, (cst.Tuple, cst.GeneratorExp)):
                for left, right in zip(node.lpar, reversed(node.rpar), strict=True):
                    self.spans[offsets(left)[0], offsets(right)[1]] = node
            if isinstance(node, cst.Call) and len(node.args) == 1:
                (only,) = node.args
                if isinstance(only.value, cst.GeneratorExp) and not only.value.lpar:
                    self.spans[offsets(node.whitespace_before_args)[0] - 1, offsets(node)[1]] = only.value
        outer = whole.with_changes(lpar=whole.lpar[1:], rpar=whole.rpar[:-1])
        self.spans = {span: outer if node is whole else node for span, node in self.spans.items()}


def _indices(node: cst.BaseExpression | None) -> cst.BaseExpression:
    """The items of `x[a, b]` as a tuple."""
    import libcst as cst

    items = [element.slice for element in node.slice] if isinstance(node, cst.Subscript) else []
    if not items or not all(isinstance(item, cst.Index) and not item.star for item in items):
        raise DeclinedError("a slice is not an expression by itself")
    return cst.Tuple([cst.Element(item.value) for item in items if isinstance(item, cst.Index)])
