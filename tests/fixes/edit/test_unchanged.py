"""What a rewrite does not change stays as it is, byte by byte."""

from __future__ import annotations

import ast

from hypothesis import given, settings
from hypothesis import strategies as st

from exportlint.fixes.edit.concrete import Concrete
from exportlint.fixes.edit.parentheses import source
from exportlint.fixes.errors import DeclinedError
from tests.fixes.edit.layouts import File, programs


@given(programs(), st.integers(0, 1000), st.integers(0, 1000))
@settings(max_examples=50)
def test_a_statement_that_is_not_changed(text: str, block: int, index: int) -> None:
    file = File(text)
    block %= len(file.blocks())
    index %= len(file.blocks()[block])
    statement = file.blocks()[block][index]
    try:
        draft = file.statements.changed(statement, lambda old: old)
    except DeclinedError:
        return  # it shares its lines with others
    if file.statements.have_lines([statement]) and not file.statements.is_elif(statement):  # that becomes an `if`
        assert file.edited(draft) == text


@given(programs())
@settings(max_examples=50)
def test_an_expression_is_what_stands_there(text: str) -> None:
    file = File(text)
    concrete = Concrete(file.text, file.tree)
    for node in ast.walk(file.root):
        if isinstance(node, ast.expr) and not isinstance(file.tree.parents[node], (ast.FormattedValue, ast.JoinedStr)):
            assert source(concrete.expression(node, {})) == file.text.of(node)
