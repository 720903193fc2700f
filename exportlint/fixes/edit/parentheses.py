"""The parentheses that an expression needs where it is put, which libcst does not add.

`precedence` says how tightly an expression binds, `place_of` how tightly it must, and `fitted` adds or removes
parentheses.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    import libcst as cst


class Precedence(IntEnum):
    """Of Python's grammar, from loose to tight. A place of some precedence takes what binds at least as tightly.

    `ARGUMENT` is inside brackets, where an expression may have several lines.
    """

    TUPLE = 0
    WALRUS = 1
    ARGUMENT = 2
    TERNARY = 3
    OR = 4
    AND = 5
    NOT = 6
    COMPARISON = 7
    BIT_OR = 8
    BIT_XOR = 9
    BIT_AND = 10
    SHIFT = 11
    SUM = 12
    PRODUCT = 13
    UNARY = 14
    POWER = 15
    AWAIT = 16
    ATOM = 17


_OPERATORS = {
    "Or": Precedence.OR,
    "And": Precedence.AND,
    "Not": Precedence.NOT,
    "BitOr": Precedence.BIT_OR,
    "BitXor": Precedence.BIT_XOR,
    "BitAnd": Precedence.BIT_AND,
    "LeftShift": Precedence.SHIFT,
    "RightShift": Precedence.SHIFT,
    "Add": Precedence.SUM,
    "Subtract": Precedence.SUM,
    "Power": Precedence.POWER,
    "Plus": Precedence.UNARY,
    "Minus": Precedence.UNARY,
    "BitInvert": Precedence.UNARY,
}
_NODES = {
    "Tuple": Precedence.TUPLE,
    "GeneratorExp": Precedence.TUPLE,
    "Yield": Precedence.TUPLE,
    "NamedExpr": Precedence.WALRUS,
    "Lambda": Precedence.TERNARY,
    "IfExp": Precedence.TERNARY,
    "Comparison": Precedence.COMPARISON,
    "Await": Precedence.AWAIT,
    "Integer": Precedence.AWAIT,  # `1.real` is not an attribute
    "Float": Precedence.AWAIT,
}
_PLACES = {
    ("IfExp", "body"): Precedence.OR,
    ("IfExp", "test"): Precedence.OR,
    ("IfExp", "orelse"): Precedence.TERNARY,
    ("Attribute", "value"): Precedence.ATOM,
    ("Call", "func"): Precedence.ATOM,
    ("Subscript", "value"): Precedence.ATOM,
    ("Await", "expression"): Precedence.ATOM,
    ("Comparison", "left"): Precedence.BIT_OR,
    ("ComparisonTarget", "comparator"): Precedence.BIT_OR,
    ("Arg", "value"): Precedence.ARGUMENT,
    ("Element", "value"): Precedence.ARGUMENT,
    ("DictElement", "key"): Precedence.ARGUMENT,
    ("DictElement", "value"): Precedence.ARGUMENT,
    ("StarredElement", "value"): Precedence.BIT_OR,
    ("StarredDictElement", "value"): Precedence.BIT_OR,
    ("CompFor", "iter"): Precedence.OR,
    ("CompIf", "test"): Precedence.OR,
    ("ListComp", "elt"): Precedence.ARGUMENT,
    ("SetComp", "elt"): Precedence.ARGUMENT,
    ("GeneratorExp", "elt"): Precedence.ARGUMENT,
    ("DictComp", "key"): Precedence.ARGUMENT,
    ("DictComp", "value"): Precedence.ARGUMENT,
    ("Index", "value"): Precedence.ARGUMENT,
    ("Assign", "value"): Precedence.TUPLE,
    ("AnnAssign", "value"): Precedence.TUPLE,
    ("AugAssign", "value"): Precedence.TUPLE,
    ("AssignTarget", "target"): Precedence.TUPLE,
    ("Return", "value"): Precedence.TUPLE,
    ("Expr", "value"): Precedence.TUPLE,
    ("For", "iter"): Precedence.TUPLE,
    ("For", "target"): Precedence.TUPLE,
}


def precedence(node: cst.BaseExpression) -> Precedence:
    """How tightly an expression binds as it stands, with the parentheses that it has."""
    if node.lpar:
        return Precedence.ATOM
    operator = getattr(node, "operator", None)
    if operator is not None:
        return _OPERATORS.get(type(operator).__name__, Precedence.PRODUCT)
    return _NODES.get(type(node).__name__, Precedence.ATOM)


def place_of(parent: cst.CSTNode, field: str) -> Precedence:
    """How tightly an expression must bind to stand in a field of a node without parentheses."""
    kind = type(parent).__name__
    if kind == "BinaryOperation":
        own = precedence(cast("cst.BaseExpression", parent).with_changes(lpar=(), rpar=()))
        if own is Precedence.POWER:
            return Precedence.AWAIT if field == "left" else Precedence.UNARY
        return own if field == "left" else Precedence(own + 1)
    if kind == "BooleanOperation":
        own = precedence(cast("cst.BaseExpression", parent).with_changes(lpar=(), rpar=()))
        return own if field == "left" else Precedence(own + 1)
    if kind == "UnaryOperation":
        return precedence(cast("cst.BaseExpression", parent).with_changes(lpar=(), rpar=()))
    if kind == "Arg" and getattr(parent, "star", None):
        return Precedence.BIT_OR
    if kind == "Arg" and getattr(parent, "keyword", None) is not None:
        return Precedence.ARGUMENT
    return _PLACES.get((kind, field), Precedence.TERNARY)


def fitted(node: cst.BaseExpression, place: Precedence) -> cst.BaseExpression:
    """An expression with parentheses if it needs them at a place, and without if it does not.

    Parentheses with a comment inside stay.
    """
    bare = without_parentheses(node)
    if precedence(bare) < place or (place is not Precedence.ARGUMENT and is_open(bare)):
        return node if node.lpar else with_parentheses(node)
    return bare


def with_parentheses(node: cst.BaseExpression) -> cst.BaseExpression:
    """An expression with one more pair of parentheses around it."""
    import libcst as cst

    return node.with_changes(lpar=[cst.LeftParen(), *node.lpar], rpar=[*node.rpar, cst.RightParen()])


def without_parentheses(node: cst.BaseExpression, *, entirely: bool = False) -> cst.BaseExpression:
    """An expression without the parentheses around it, but for those that hold a comment.

    Unless `entirely`, tuples and generators keep those that are theirs.
    """
    import libcst as cst

    kept = 1 if isinstance(node, (cst.Tuple, cst.GeneratorExp)) and not entirely else 0
    if len(node.lpar) <= kept or any(map(_has_comment, (*node.lpar, *node.rpar))):
        return node
    return node.with_changes(lpar=node.lpar[len(node.lpar) - kept :], rpar=node.rpar[:kept])


def source(node: cst.CSTNode) -> str:
    """The source of a node."""
    import libcst as cst

    return cst.Module([]).code_for_node(node)


def is_open(node: cst.BaseExpression) -> bool:
    """Whether an expression is of several lines that only brackets around it hold together."""
    import libcst as cst

    text = source(node)
    if "\n" not in text:
        return False
    try:
        cst.parse_expression(text)
    except cst.ParserSyntaxError:
        return True
    return False


def spaced(text: str, before: str, behind: str) -> str:
    """Source that is put between two characters, with the blanks that keep words apart: `return-x`, `[y]if x`."""
    lead = " " if _is_word(before) and (_is_word(text[:1]) or text[:1] in {"'", '"'}) else ""
    return f"{lead}{text}{' ' if _is_word(text[-1:]) and _is_word(behind) else ''}"


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _has_comment(parenthesis: cst.CSTNode) -> bool:
    return "#" in source(parenthesis)
