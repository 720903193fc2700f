"""Templates of source code: `{name}` is a hole that takes a node, never text.

`{*names}` takes any number of them: arguments, items, parameters, or statements. Every node is put in parentheses where
it needs them. Braces that are Python's are written twice, as in a format string.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from exportlint.fixes.edit.parentheses import (
    Precedence,
    fitted,
    place_of,
    source,
    with_parentheses,
    without_parentheses,
)

if TYPE_CHECKING:
    import libcst as cst

    Expression = cst.BaseExpression
    Statement = cst.BaseStatement
    Hole = cst.CSTNode | str | int | float | bool | None
    """A node; text is a dotted name, numbers and None are constants."""
    Holes = Hole | Sequence[Hole]

SYMBOLS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.MatMult: "@",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>", ast.Pow: "**",
}  # fmt: skip
"""How binary operators are written."""
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
"""How comparisons are written that tensors have, too."""

Node = TypeVar("Node", bound="cst.CSTNode")

_HOLE = re.compile(r"\{\{|\}\}|\{(\*?)(\w+)\}")
_ONE, _MANY = "_exportlint_hole_", "_exportlint_holes_"


def expression(template: str, **holes: Holes) -> Expression:
    """An expression: `expression("{x}.sum()", x=node)`.

    Raises:
        KeyError: a hole is not filled.
        ValueError: a string is not a dotted name.
    """
    parsed = _expression(template)
    name = getattr(parsed, "value", None)
    if isinstance(name, str) and name.startswith(_ONE):
        return cast("Expression", _node(cast("Hole", holes[name[len(_ONE) :]])))
    return cast("Expression", _filled(parsed, holes))


def statements(template: str, **holes: Holes) -> list[Statement]:
    """Statements: `statements("{name} = {value}", name="x", value=node)`. Raises as `expression` does."""
    filled: Any = _filled(_module(template), holes)
    return list(filled.body)


def statement(template: str, **holes: Holes) -> Statement:
    """One statement. Raises as `expression` does."""
    (only,) = statements(template, **holes)
    return only


def call(function: Holes, *arguments: Hole) -> Expression:
    """`function(argument, …)`."""
    return expression("{function}({*arguments})", function=function, arguments=arguments)


def method(receiver: Expression, name: str, *arguments: Hole) -> Expression:
    """`receiver.name(argument, …)`."""
    return expression("{receiver}.{name}({*arguments})", receiver=receiver, name=name, arguments=arguments)


def along(items: Hole, dim: int, index: Hole) -> Expression:
    """`items[:, index]`: what an index chooses along one dimension, which may be counted from the last one."""
    place = ":, " * dim + "{index}" if dim >= 0 else "..., {index}" + ", :" * (-dim - 1)
    return expression("{items}[" + place + "]", items=items, index=index)


def of_generator(function: str, items: Expression) -> Expression:
    """`function(item for item in items)`, with the parentheses of the generator as those of the call."""
    import libcst as cst

    return cst.Call(dotted(function), [cst.Arg(without_parentheses(items, entirely=True))])


def binary(operator: str, left: Hole, right: Hole) -> Expression:
    """`left operator right`, of any binary operator of Python."""
    return expression(f"{{left}} {operator} {{right}}", left=left, right=right)


def augmented(operator: str, target: Hole, value: Hole) -> Statement:
    """`target operator= value`, of any binary operator of Python."""
    return statement(f"{{target}} {operator}= {{value}}", target=target, value=value)


def as_tuple(node: Expression) -> Expression:
    """A list as a tuple, laid out as it is."""
    import libcst as cst

    given = cst.ensure_type(node, cst.List)
    left = cst.LeftParen(given.lbracket.whitespace_after)
    right = cst.RightParen(given.rbracket.whitespace_before)
    items = list(given.elements)
    if len(items) == 1 and not isinstance(items[0].comma, cst.Comma):
        items = [items[0].with_changes(comma=cst.Comma())]
    return cst.Tuple(items, lpar=[left], rpar=[right])


def bare_tuple(items: Sequence[Expression]) -> Expression:
    """`a, b`, as behind `return`; an empty one has parentheses."""
    return expression("({*items},)", items=items).with_changes(lpar=(), rpar=()) if items else expression("()")


def same(one: cst.CSTNode, other: cst.CSTNode) -> bool:
    """Whether two nodes have the same source."""
    return source(one) == source(other)


def names_in(node: Expression) -> set[str]:
    """The names that stand in an expression."""
    return {part.id for part in ast.walk(ast.parse(f"({source(node)}\n)")) if isinstance(part, ast.Name)}


def keyword(name: str, value: Hole) -> cst.Arg:
    """`name=value`, as an argument."""
    filled: Any = expression("f({name}={value})", name=name, value=value)
    return cast("cst.Arg", filled.args[0])


def starred(stars: str, value: Expression) -> cst.Arg:
    """`*value` or `**value`, as an argument."""
    filled: Any = expression(f"f({stars}{{value}})", value=value)
    return cast("cst.Arg", filled.args[0])


def string(value: str, quote: str = '"') -> Expression:
    """A string with quotes of a kind, if it does not hold these."""
    import libcst as cst

    text = repr(value)
    if text[0] != quote and quote not in text:
        text = f"{quote}{text[1:-1]}{quote}"
    return cst.SimpleString(text)


def parsed(source: str) -> Expression:
    """An expression of another file, as it stands there."""
    import libcst as cst

    return cst.parse_expression(source)


def dotted(name: str) -> Expression:
    """`a.b.c`. Raises ValueError if it is not a dotted name."""
    import libcst as cst

    first, *others = name.split(".")
    if not all(part.isidentifier() for part in (first, *others)):
        raise ValueError(f"{name!r} is not a dotted name")
    found: cst.BaseExpression = cst.Name(first)
    for other in others:
        found = cst.Attribute(found, cst.Name(other))
    return found


def substituted(node: cst.CSTNode, instead: Mapping[int, cst.BaseExpression]) -> cst.CSTNode:
    """A node with others instead of nodes in it, which are given by `id`. Parentheses around what is replaced stay."""
    import libcst as cst

    def replacement(original: cst.BaseExpression, place: Precedence, force: bool) -> cst.BaseExpression:
        new = instead[id(original)]
        if original.lpar and not isinstance(original, (cst.Tuple, cst.GeneratorExp)):
            return new.with_changes(lpar=original.lpar, rpar=original.rpar)
        return with_parentheses(new) if force and not new.lpar else fitted(new, place)

    return _replaced(node, lambda inner: id(inner) in instead, replacement)


def in_place(node: Node) -> Node:
    """An expression or statement of several lines that keep their indentation wherever it is put."""
    import libcst as cst

    class InPlace(cst.CSTTransformer):
        def leave_ParenthesizedWhitespace(
            self, original_node: cst.ParenthesizedWhitespace, updated_node: cst.ParenthesizedWhitespace
        ) -> cst.ParenthesizedWhitespace:
            return updated_node.with_changes(indent=False)

        def leave_EmptyLine(self, original_node: cst.EmptyLine, updated_node: cst.EmptyLine) -> cst.EmptyLine:
            return updated_node.with_changes(indent=False)

    return cast("Node", node.visit(InPlace()))


def _node(hole: Hole) -> Any:
    import libcst as cst

    if isinstance(hole, str):
        return dotted(hole)
    if isinstance(hole, cst.CSTNode):
        return hole
    return cst.parse_expression(repr(hole))


@lru_cache(maxsize=1024)
def _expression(template: str) -> cst.BaseExpression:
    import libcst as cst

    return cst.parse_expression(_with_names(template))


@lru_cache(maxsize=1024)
def _module(template: str) -> cst.Module:
    import libcst as cst

    return cst.parse_module(_with_names(template))


def _with_names(template: str) -> str:
    def name(match: re.Match[str]) -> str:
        if not match[2]:
            return match[0][0]
        return f"{_MANY if match[1] else _ONE}{match[2]}"

    return _HOLE.sub(name, template)


def _filled(parsed: cst.CSTNode, holes: Mapping[str, Holes]) -> cst.CSTNode:
    import libcst as cst

    def is_hole(node: cst.CSTNode) -> bool:
        return isinstance(node, cst.Name) and node.value.startswith(_ONE)

    def replacement(original: cst.BaseExpression, place: Precedence, _: bool) -> cst.BaseExpression:
        return fitted(_node(cast("Hole", holes[cast(cst.Name, original).value[len(_ONE) :]])), place)

    filled = _replaced(parsed, is_hole, replacement)
    return cast(cst.CSTNode, filled.visit(_spread(holes)))


def _replaced(
    node: cst.CSTNode,
    is_replaced: Callable[[cst.CSTNode], bool],
    replacement: Callable[[cst.BaseExpression, Precedence, bool], cst.BaseExpression],
) -> cst.CSTNode:
    """A node in which expressions are replaced, as the place of each demands."""
    import libcst as cst

    class Replace(cst.CSTTransformer):
        def __init__(self, force: bool) -> None:
            super().__init__()
            self.force = force
            self.places: dict[int, Precedence] = {}

        def on_visit(self, node: cst.CSTNode) -> bool:
            if is_replaced(node):
                return False
            for field in node.__dataclass_fields__:
                child = getattr(node, field, None)
                if isinstance(child, cst.CSTNode) and is_replaced(child):
                    self.places[id(child)] = place_of(node, field)
            return True

        def on_leave(self, original: cst.CSTNode, updated: Any) -> Any:
            if is_replaced(original):
                place = self.places.get(id(original), Precedence.TERNARY)
                return replacement(cast(cst.BaseExpression, original), place, self.force)
            if isinstance(original, cst.Slice) and any(map(is_replaced, filter(None, original.children))):
                return _set_apart(updated)
            return updated

    try:
        return cast(cst.CSTNode, node.visit(Replace(force=False)))
    except cst.CSTValidationError:  # a word would touch a word: `[x]if y`
        return cast(cst.CSTNode, node.visit(Replace(force=True)))


def _set_apart(node: cst.Slice) -> cst.Slice:
    """A slice with blanks around its colons if a bound is more than a name or a number: `x[: n // 2]`."""
    import libcst as cst

    def is_simple(bound: cst.BaseExpression | None) -> bool:
        if isinstance(bound, cst.UnaryOperation):
            return is_simple(bound.expression)
        return bound is None or isinstance(bound, (cst.Name, cst.BaseNumber))

    def spaced(colon: Any, before: cst.CSTNode | None, after: cst.CSTNode | None) -> Any:
        if not isinstance(colon, cst.Colon):
            return colon
        spaces = {"whitespace_before": before, "whitespace_after": after}
        return colon.with_changes(**{
            field: cst.SimpleWhitespace(" " if bound is not None else "")
            for field, bound in spaces.items()
            if isinstance(getattr(colon, field), cst.SimpleWhitespace)
        })  # fmt: skip

    if all(map(is_simple, (node.lower, node.upper, node.step))):
        return node
    has_step = isinstance(node.second_colon, cst.Colon)
    return node.with_changes(
        first_colon=spaced(node.first_colon, node.lower, None if has_step and node.upper is None else node.upper),
        second_colon=spaced(node.second_colon, node.upper, node.step),
    )


def _spread(holes: Mapping[str, Holes]) -> cst.CSTTransformer:
    """Puts the nodes of `{*names}` where these stand."""
    import libcst as cst

    def given(node: cst.CSTNode | None) -> Sequence[Hole] | None:
        if not isinstance(node, cst.Name) or not node.value.startswith(_MANY):
            return None
        return cast("Sequence[Hole]", holes[node.value[len(_MANY) :]])

    def listed(items: Sequence[Any], make: Callable[[Any], Any]) -> list[Any]:
        found: list[Any] = []
        for item in items:
            many = given(getattr(item, "value", None) if not isinstance(item, cst.Param) else item.name)
            found += [item] if many is None else map(make, many)
        last = len(found) - 1
        comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        return [
            one.with_changes(
                comma=(cst.MaybeSentinel.DEFAULT if index == last else one.comma)
                if isinstance(one.comma, cst.Comma) or index == last
                else comma
            )
            for index, one in enumerate(found)
        ]

    def argument(hole: Hole) -> cst.Arg:
        if isinstance(hole, cst.Arg):
            return hole
        return cst.Arg(fitted(_node(hole), Precedence.ARGUMENT))

    def element(hole: Hole) -> cst.BaseElement:
        if isinstance(hole, cst.BaseElement):
            return hole
        return cst.Element(fitted(_node(hole), Precedence.ARGUMENT))

    def parameter(hole: Hole) -> cst.Param:
        return hole if isinstance(hole, cst.Param) else cst.Param(_node(hole))

    class Spread(cst.CSTTransformer):
        def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
            if any(given(arg.value) is not None for arg in updated_node.args):
                return updated_node.with_changes(args=listed(updated_node.args, argument))
            return updated_node

        def _items(self, node: Any) -> Any:
            if not any(given(item.value) is not None for item in node.elements):
                return node
            found = listed(node.elements, element)
            if isinstance(node, cst.Tuple) and len(found) == 1:
                found = [found[0].with_changes(comma=cst.Comma())]
            return node.with_changes(elements=found)

        def leave_Tuple(self, original_node: cst.Tuple, updated_node: cst.Tuple) -> cst.BaseExpression:
            return cast(cst.BaseExpression, self._items(updated_node))

        def leave_List(self, original_node: cst.List, updated_node: cst.List) -> cst.BaseExpression:
            return cast(cst.BaseExpression, self._items(updated_node))

        def leave_Set(self, original_node: cst.Set, updated_node: cst.Set) -> cst.BaseExpression:
            return cast(cst.BaseExpression, self._items(updated_node))

        def leave_Parameters(self, original_node: cst.Parameters, updated_node: cst.Parameters) -> cst.Parameters:
            if not any(given(param.name) is not None for param in updated_node.params):
                return updated_node
            return updated_node.with_changes(params=listed(updated_node.params, parameter))

        def leave_Lambda(self, original_node: cst.Lambda, updated_node: cst.Lambda) -> cst.BaseExpression:
            if updated_node.params.params or not original_node.params.params:
                return updated_node
            return updated_node.with_changes(whitespace_after_lambda=cst.SimpleWhitespace(""))

        def leave_SimpleStatementLine(
            self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
        ) -> Any:
            only = updated_node.body[0] if len(updated_node.body) == 1 else None
            many = given(only.value) if isinstance(only, cst.Expr) else None
            return updated_node if many is None else cst.FlattenSentinel(cast("Sequence[cst.BaseStatement]", many))

    return Spread()
