"""Other layouts of a program, made from its tokens and its tree, and what programs are alike whatever their layout."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Callable, Iterator
from itertools import pairwise

_LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
_OPEN, _CLOSE = {"(", "[", "{"}, {")", "]", "}"}
_BREAKS = {
    ",",
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "**",
    "@",
    "&",
    "|",
    "^",
    "<<",
    ">>",
    "<",
    ">",
    "<=",
    ">=",
    "==",
    "!=",
    ":=",
}
_WORDS = {"if", "else", "and", "or", "not", "in", "is", "for", "lambda"}

Token = tokenize.TokenInfo


def tokens(text: str) -> list[Token]:
    """The tokens of a text whose lines end with `\\n`."""
    return list(tokenize.generate_tokens(io.StringIO(text).readline))


def with_newlines(newline: str) -> Callable[[str], str]:
    """The same program with other line ends."""
    return lambda text: text.replace("\n", newline)


def with_tabs(text: str) -> str:
    """The same program with tabs instead of four blanks in front of lines, except for those of strings."""
    inside = {
        row
        for token in tokens(text)
        if token.type == tokenize.STRING
        for row in range(token.start[0] + 1, token.end[0] + 1)
    }
    lines = text.split("\n")
    for row, line in enumerate(lines, start=1):
        indent = len(line) - len(line.lstrip(" "))
        if row not in inside:
            lines[row - 1] = "\t" * (indent // 4) + " " * (indent % 4) + line[indent:]
    return "\n".join(lines)


def spread(text: str, *, brackets: bool = True, every: bool = False, comments: bool = False) -> str:
    """The same program with operands and arguments on lines of their own, within brackets.

    `brackets` puts some around expressions that have none; `every` breaks lines at every token; `comments` puts another
    comment behind each of these lines.
    """
    text = _bracketed(text) if brackets else text
    pieces = [_start(text)]
    depth = number = 0
    for token, following in pairwise(tokens(text)):
        if token.type == tokenize.OP:
            depth += (token.string in _OPEN) - (token.string in _CLOSE)
        gap = _between(text, token, following)
        if depth and _is_break(token, following, every) and not gap.strip(" "):
            number += 1
            gap = f"{f'  # note {number}' if comments else ''}\n{' ' * 8}"
        pieces += [token.string, gap]
    return "".join(pieces)


def joined(text: str) -> str:
    """The same program with a backslash and a line end around operators outside of brackets."""
    pieces = [_start(text)]
    depth = 0
    for token, following in pairwise(tokens(text)):
        if token.type == tokenize.OP:
            depth += (token.string in _OPEN) - (token.string in _CLOSE)
        gap = _between(text, token, following)
        if not depth and gap == " " and _is_break(token, following, every=False):
            gap = " \\\n" + " " * 8
        pieces += [token.string, gap]
    return "".join(pieces)


def parenthesised(text: str) -> str:
    """The same program with parentheses around each operand and argument."""
    root = ast.parse(text)
    inside = {n for f in ast.walk(root) if isinstance(f, ast.JoinedStr) for n in ast.walk(f)}
    imports = {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(root)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    left_out = {n.value for n in ast.walk(root) if isinstance(n, ast.Expr)} | {
        part for n in ast.walk(root) if isinstance(n, ast.AnnAssign) for part in ast.walk(n.target)
    }
    bare = (ast.Starred, ast.Slice, ast.GeneratorExp, ast.Yield, ast.Tuple)
    inserted: list[tuple[int, int, str]] = []
    parents = {child: node for node in ast.walk(root) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(root):
        if not isinstance(node, ast.expr) or isinstance(node, bare) or node in inside or node in left_out:
            continue
        if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)) or isinstance(parents[node], ast.withitem):
            continue
        parent = parents[node]
        if _dotted(node) in imports or (isinstance(parent, ast.AnnAssign) and node is not parent.value):
            continue
        start, end = _places(text, node)
        inserted += [(start, end, "("), (end, -start, ")")]
    for at, _, bracket in sorted(inserted, key=lambda place: (-place[0], place[2] == "(", place[1])):
        text = text[:at] + bracket + text[at:]
    return text


def _dotted(node: ast.expr) -> str | None:
    """The name that a dotted name begins with."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _places(text: str, node: ast.expr) -> tuple[int, int]:
    starts, lines = _line_starts(text), text.split("\n")
    first, last = (
        starts[row - 1] + len(lines[row - 1].encode()[:column].decode())
        for row, column in ((node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0))
    )
    return first, last


def _start(text: str) -> str:
    row, column = tokens(text)[0].start
    return "\n" * (row - 1) + " " * column


def _is_break(token: Token, following: Token, every: bool) -> bool:
    if token.type in {tokenize.COMMENT, tokenize.NL} or following.type in {tokenize.COMMENT, tokenize.NL}:
        return False
    dots = token.string == "." or (following.string == "." and token.type == tokenize.NAME)
    if (every and not dots) or any(_separates(one) for one in (token, following)):
        return True
    return token.string in _OPEN or following.string in _CLOSE


def _separates(token: Token) -> bool:
    return (token.type == tokenize.OP and token.string in _BREAKS) or (
        token.type == tokenize.NAME and token.string in _WORDS
    )


def _between(text: str, token: Token, following: Token) -> str:
    starts = _line_starts(text)
    return text[starts[token.end[0] - 1] + token.end[1] : starts[following.start[0] - 1] + following.start[1]]


def _line_starts(text: str) -> list[int]:
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts


def _bracketed(text: str) -> str:
    """The program with brackets around the expressions of its statements."""
    inserted: list[tuple[int, int, str]] = []
    for node in ast.walk(ast.parse(text)):
        for part in _operands(node):
            start, end = _places(text, part)
            if text[start] not in _OPEN:
                inserted += [(start, 1, "("), (end, 0, ")")]
    for at, _, bracket in sorted(inserted, reverse=True):
        text = text[:at] + bracket + text[at:]
    return text


def _operands(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions of a statement that may stand in brackets."""
    match node:
        case ast.Expr(value=ast.Constant()):
            return
        case ast.Assign(value=value) | ast.AugAssign(value=value) | ast.Expr(value=value):
            yield value
        case ast.AnnAssign(value=ast.expr() as value) | ast.Return(value=ast.expr() as value):
            yield value
        case ast.If(test=test) | ast.While(test=test):
            yield test
        case ast.Assert(test=test, msg=message):
            yield test
            if message is not None:
                yield message
        case ast.For(iter=items):
            yield items
        case ast.Raise(exc=raised) if raised is not None:
            yield raised


def essence(text: str) -> tuple[list[str], str]:
    """What is the same of programs whatever their layout: the tokens without parentheses and commas, and the tree."""
    found = [
        "\n" if token.type == tokenize.NEWLINE else token.string
        for token in tokens(text)
        if token.type not in _LAYOUT and token.string not in {"(", ")", ","}
    ]
    return found, ast.dump(ast.parse(text))
