"""Statements as lines of a block, and back: written, read, and moved into blocks of another indentation.

`read` parses the lines of a block, `written` prints them, `analysed` gives new statements to the analysis.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from exportlint.fixes.errors import DeclinedError

if TYPE_CHECKING:
    import libcst as cst


def written(statements: Sequence[cst.BaseStatement], indent: str, unit: str) -> str:
    r"""The lines of statements in a block of some indentation, without the last line end.

    `unit` is one level of indentation. Lines end with `\n`.
    """
    import libcst as cst

    if not statements:
        return ""
    if not indent:
        return cst.Module(statements, default_indent=unit).code.removesuffix("\n")  # type: ignore[arg-type]
    around = cst.If(cst.Name("x"), cst.IndentedBlock(statements, indent=indent))
    return cst.Module([around], default_indent=unit).code.partition("\n")[2].removesuffix("\n")


def read(lines: str, indent: str, unit: str) -> list[cst.BaseStatement]:
    r"""The statements of lines that are a block of some indentation, with the comments above each.

    Raises:
        DeclinedError: libcst does not read them.
    """
    import libcst as cst

    config = cst.PartialParserConfig(default_indent=unit)
    try:
        parsed = cst.parse_module(f"if 1:\n{lines}\n" if indent else f"{lines}\n", config)
    except cst.ParserSyntaxError:
        raise DeclinedError("LibCST cannot move the statements") from None
    if not indent:
        first, *others = parsed.body
        return [first.with_changes(leading_lines=[*parsed.header, *first.leading_lines]), *others]
    block = cst.ensure_type(cst.ensure_type(parsed.body[0], cst.If).body, cst.IndentedBlock)
    return [*block.body]


def simple(statement: cst.BaseStatement) -> str:
    """The source of a simple statement, without its line."""
    import libcst as cst

    return cst.Module([cst.ensure_type(statement, cst.SimpleStatementLine)]).code.rstrip("\n")


def apart(statement: cst.BaseStatement, blank_lines: int = 1) -> cst.BaseStatement:
    """A statement with blank lines above it."""
    import libcst as cst

    lines = [cst.EmptyLine(indent=False)] * blank_lines
    return statement.with_changes(leading_lines=[*lines, *statement.leading_lines])  # type: ignore[attr-defined]


def commented(statement: cst.BaseStatement, above: Sequence[str], behind: str = "") -> cst.BaseStatement:
    """A statement with comments on lines above it, and one behind it if it is a simple one."""
    import libcst as cst

    if behind and isinstance(statement, cst.SimpleStatementLine):
        trailing = cst.TrailingWhitespace(cst.SimpleWhitespace("  "), cst.Comment(behind))
        statement = statement.with_changes(trailing_whitespace=trailing)
    elif behind:
        above = [*above, behind]
    lines = [cst.EmptyLine(comment=cst.Comment(text)) for text in above]
    return statement.with_changes(leading_lines=[*lines, *statement.leading_lines])  # type: ignore[attr-defined]


def analysed(statements: Sequence[cst.BaseStatement]) -> list[ast.stmt]:
    """New statements as analysis reads them."""
    return ast.parse(written(statements, "", "    ")).body
