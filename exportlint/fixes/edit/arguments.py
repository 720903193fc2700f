"""Calls with one argument more or less, and dicts with more entries, laid out as they are.

`with_argument`, `without_argument`, `with_entries` and `with_base` change one node; `parameters` lists those of a
function.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from exportlint.fixes.edit.template import expression, keyword

if TYPE_CHECKING:
    import libcst as cst

    from exportlint.fixes.edit.template import Expression


def with_argument(node: Expression, value: Expression, name: str | None = None) -> Expression:
    """A call with one more argument behind the others, on a line of its own if the last one is."""
    import libcst as cst

    call = cst.ensure_type(node, cst.Call)
    new = cst.Arg(value) if name is None else keyword(name, value)
    if not call.args:
        return call.with_changes(args=[new])
    *others, last = call.args
    above = others[-1].comma.whitespace_after if others and isinstance(others[-1].comma, cst.Comma) else None
    lead = above if others else call.whitespace_before_args
    if isinstance(last.value, cst.GeneratorExp) and not last.value.lpar:
        last = last.with_changes(value=last.value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()]))
    has_comma = isinstance(last.comma, cst.Comma)
    tail = cast(cst.Comma, last.comma).whitespace_after if has_comma else last.whitespace_after_arg
    if isinstance(lead, cst.ParenthesizedWhitespace):
        first = tail.first_line if isinstance(tail, cst.ParenthesizedWhitespace) else cst.TrailingWhitespace()
        between: cst.BaseParenthesizableWhitespace = lead.with_changes(first_line=first, empty_lines=[])
        if isinstance(tail, cst.ParenthesizedWhitespace):
            tail = tail.with_changes(first_line=cst.TrailingWhitespace())
    else:
        between = cst.SimpleWhitespace(" ")
        if isinstance(tail, cst.ParenthesizedWhitespace) and tail.first_line.comment is not None:
            between = tail
            tail = tail.with_changes(first_line=cst.TrailingWhitespace())
    last = last.with_changes(comma=cst.Comma(whitespace_after=between), whitespace_after_arg=cst.SimpleWhitespace(""))
    return call.with_changes(args=[*others, last, _ended(new, has_comma, tail)])


def without_argument(node: Expression, index: int) -> Expression:
    """A call without one of its arguments, which are counted as they stand there; the comment behind it stays."""
    import libcst as cst

    call = cst.ensure_type(node, cst.Call)
    args = list(call.args)
    left_out = args.pop(index)
    if not args:
        return call.with_changes(args=[], whitespace_before_args=cst.SimpleWhitespace(""))
    has_comma = isinstance(left_out.comma, cst.Comma)
    tail = cast(cst.Comma, left_out.comma).whitespace_after if has_comma else left_out.whitespace_after_arg
    if index == 0:
        return call.with_changes(args=args, whitespace_before_args=_commented(call.whitespace_before_args, tail))
    before = args[index - 1]
    space = cast(cst.Comma, before.comma).whitespace_after
    if index < len(args):
        comma = cst.ensure_type(before.comma, cst.Comma).with_changes(whitespace_after=_commented(space, tail))
        args[index - 1] = before.with_changes(comma=comma)
    else:
        args[-1] = _ended(before, has_comma, _commented(tail, space))
    return call.with_changes(args=args)


def _commented(
    space: cst.BaseParenthesizableWhitespace, other: cst.BaseParenthesizableWhitespace
) -> cst.BaseParenthesizableWhitespace:
    """Whitespace with the comment of another one."""
    import libcst as cst

    if not isinstance(other, cst.ParenthesizedWhitespace) or other.first_line.comment is None:
        return space
    return space.with_changes(first_line=other.first_line) if isinstance(space, cst.ParenthesizedWhitespace) else other


def with_argument_behind(node: Expression, index: int, value: Expression, name: str | None = None) -> Expression:
    """A call with one more argument right behind another one, on the same line."""
    import libcst as cst

    call = cst.ensure_type(node, cst.Call)
    old = call.args[index]
    new = cst.Arg(value) if name is None else keyword(name, value)
    new = new.with_changes(comma=old.comma, whitespace_after_arg=old.whitespace_after_arg)
    comma, nothing = cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")), cst.SimpleWhitespace("")
    before = old.with_changes(comma=comma, whitespace_after_arg=nothing)
    return call.with_changes(args=[*call.args[:index], before, new, *call.args[index + 1 :]])


def with_entries(node: Expression, entries: Sequence[tuple[Expression, Expression]]) -> Expression:
    """A dict with more entries behind the others, on the same line."""
    import libcst as cst

    given = cst.ensure_type(node, cst.Dict)
    end = given.elements[-1].comma if given.elements else cst.MaybeSentinel.DEFAULT
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    new = [cst.DictElement(key, value, comma=comma) for key, value in entries]
    kept = [*given.elements[:-1], *(one.with_changes(comma=comma) for one in given.elements[-1:])]
    return given.with_changes(elements=[*kept, *new[:-1], *(one.with_changes(comma=end) for one in new[-1:])])


def with_base(node: Any, base: str) -> Any:
    """A class that has no bases with one."""
    import libcst as cst

    return cst.ensure_type(node, cst.ClassDef).with_changes(
        bases=[cst.Arg(expression("{base}", base=base))], lpar=cst.LeftParen(), rpar=cst.RightParen()
    )


def without_decorator(node: Any, index: int) -> Any:
    """A function or class without one of its decorators, and with the comments above it."""
    left_out = node.decorators[index]
    kept = [*node.decorators[:index], *node.decorators[index + 1 :]]
    if index < len(kept):
        below = kept[index]
        kept[index] = below.with_changes(leading_lines=[*left_out.leading_lines, *below.leading_lines])
        return node.with_changes(decorators=kept)
    lines = [*left_out.leading_lines, *node.lines_after_decorators]
    if kept:
        return node.with_changes(decorators=kept, lines_after_decorators=lines)
    return node.with_changes(decorators=[], lines_after_decorators=[], leading_lines=[*node.leading_lines, *lines])


def _ended(arg: cst.Arg, has_comma: bool, tail: cst.BaseParenthesizableWhitespace) -> cst.Arg:
    """The last argument of a call, with what stands behind it."""
    import libcst as cst

    if has_comma:
        return arg.with_changes(comma=cst.Comma(whitespace_after=tail), whitespace_after_arg=cst.SimpleWhitespace(""))
    return arg.with_changes(comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=tail)


def parameters(given: Sequence[tuple[str, str, Expression | None]]) -> cst.Parameters:
    """Parameters of a function, each as its kind, its name and its default.

    The kinds are `positional`, `keyword`, `star` and `double-star`.
    """
    import libcst as cst

    def made(kind: str) -> list[cst.Param]:
        equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
        return [
            cst.Param(cst.Name(name), default=default, equal=cst.MaybeSentinel.DEFAULT if default is None else equal)
            for of, name, default in given
            if of == kind
        ]

    star, double = made("star"), made("double-star")
    return cst.Parameters(
        params=made("positional"),
        star_arg=star[0] if star else cst.MaybeSentinel.DEFAULT,
        kwonly_params=made("keyword"),
        star_kwarg=double[0] if double else None,
    )
