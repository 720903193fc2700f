"""Expressions keep their meaning wherever their source is put."""

from __future__ import annotations

import ast
from pathlib import Path

import libcst
import pytest

from exportlint.analysis.domain.trails import site_of
from exportlint.analysis.project import Project
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.parentheses import source, with_parentheses, without_parentheses
from exportlint.fixes.edit.template import expression
from exportlint.fixes.errors import DeclinedError
from exportlint.source import SyntaxProblem, from_text

EXPRESSIONS = """\
x = a + b * c - (d - e) ** -f ** g
x = not a < b == c or d and not (e or f), -g
x = (yield), (yield a), (await b).c, await b
x = lambda a, *b, c=1: a if b else (lambda: c)
x = [a, *b, (c, d)], {e: f, **g}, {h, *i}, (j,), ()
x = f(a, *b, c=d, **e), f(a for a in b), f(a, (b for b in c))
x = a[b, c], a[b:c, ::d], a[*e], a[(f := g)], a[f"{h!r:>{i}}"]
x = "a" "b", f"{a + b}", b'', 1 .real, 1.5, 1j, -1, ..., None, True
x = [a for a in b if c if not d for e in f], {a: b for a in c}, {a async for a in b}
x = 1if a else(2)if b else-3, [4]if(a)else not(b)
if (a := b) and not(c): d = e = f
for i in a, b: pass
with a as b, (c): return a, *b
assert a, b
del a.b, c[d]
raise a from b
@a(b).c
class A(B, c=D): e: F = g
def f(a: b = c, *d, e=f) -> g: return(-a)
x = (a
     + b, c
     if d else e)
x = a[
    b
    + c
]
print(* a, ** b)
async def g(): return[await a async for a in b]
a, b = c
a = (b)
é = é.ß + "é" % (é,)
lambda: (yield)
x = a @ b // c % d << e >> f & g ^ h | ~i
x = a if b else c, (a if b else c).d, (a, b)[0], (a)(b), (a or b)(c), -(-a), (-a) ** b, (a ** b) ** c, 1 .a
x = a in b, (a in b) in c, a is not b, (not a) == b
global_ = {**(a or b)}, [*(a or b)], f(*(a or b), **(c or d))
"""


def code_of(text: str, path: Path) -> Code:
    module = Project().add(from_text(text, path))
    return Code(module, site_of(module, module.tree.body[0]), (2, 13))


def expressions(code: Code) -> list[ast.expr]:
    """Those that can be replaced by another expression."""
    return [
        node
        for node in ast.walk(code.tree.root)
        if isinstance(node, ast.expr)
        and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        and not isinstance(node, (ast.Starred, ast.Slice, ast.FormattedValue))
    ]


def dump(text: str) -> str:
    return ast.dump(ast.parse(text))


def replaced(code: Code, node: ast.expr, new: libcst.BaseExpression) -> str:
    draft = code.replace(node, new)
    source = code.source.text
    return source[: draft.start] + draft.text + source[draft.end :]


def check_all(code: Code) -> int:
    """Put each expression in its own place, with and without parentheses around it."""
    before = dump(code.source.text)
    count = 0
    for node in expressions(code):
        try:
            same = code.concrete(node)
        except DeclinedError:
            continue
        for new in (same, with_parentheses(same)):
            assert dump(replaced(code, node, new)) == before, f"{source(new)!r} in line {node.lineno}"
            count += 1
        if not isinstance(node, (ast.Tuple, ast.GeneratorExp)):
            assert source(without_parentheses(same)) == code.text(node)
    return count


def with_another(code: Code, node: ast.expr, other: str) -> str:
    """The tree with an expression instead of one."""
    new = ast.parse(other, mode="eval").body

    class Replace(ast.NodeTransformer):
        def visit(self, visited: ast.AST) -> ast.AST:
            return new if visited is node else self.generic_visit(visited)

    before = ast.parse(code.source.text)
    for one, same in zip(ast.walk(code.tree.root), ast.walk(before), strict=True):
        if one is node:
            node = same  # type: ignore[assignment]
    return ast.dump(Replace().visit(before))


@pytest.mark.parametrize("line", [*EXPRESSIONS.splitlines(), EXPRESSIONS], ids=range(len(EXPRESSIONS.splitlines()) + 1))
def test_an_expression_in_its_own_place(line: str, tmp_path: Path) -> None:
    try:
        ast.parse(line)
    except SyntaxError:
        pytest.skip("part of a statement of several lines")
    assert check_all(code_of(line, tmp_path / "x.py"))


@pytest.mark.parametrize(
    "other", ["zz", "p + q", "p, q", "p if q else r", "not p", "'p'", "p\\\n+ q", "[p\n, q]", "(p) or (q)", "(p\n+ q)"]
)
def test_another_expression_in_its_place(other: str, tmp_path: Path) -> None:
    for line in EXPRESSIONS.splitlines():
        try:
            code = code_of(line, tmp_path / "x.py")
        except SyntaxProblem:
            continue
        for node in expressions(code):
            if not any(isinstance(n, ast.JoinedStr) for n in code.tree.ancestors(node)):
                after = replaced(code, node, expression(other))
                try:
                    tree = dump(after)
                except SyntaxError:
                    tree = ""
                assert tree == with_another(code, node, other), after
