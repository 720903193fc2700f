"""Templates take nodes, put parentheses where they are needed, and keep the source of what they are given."""

from __future__ import annotations

import ast

import libcst as cst
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exportlint.fixes.edit import template as templates
from exportlint.fixes.edit.blocks import read, written
from exportlint.fixes.edit.parentheses import source
from exportlint.fixes.edit.template import expression, statement

OPERATORS = [
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
    "==",
    "in",
    "is not",
    "and",
    "or",
]
PREFIXES = ["-", "~", "not "]
HOLES = [
    "{0} + {1}", "{0} ** {1}", "-{0}", "not {0}", "{0} if {1} else {0}", "{0}.name", "{0}[{1}]", "{0}({1}, key={0})",
    "f(*{0}, **{1})", "[{0}, *{1}]", "({0}, {1})", "{{{0}: {1}}}", "{0} < {1} == {0}", "{0} and {1} or {0}",
    "lambda x: {0}", "[{0} for x in {1} if {0}]", "(yield {0})", "(x := {0})", "{0}[{1}:{0}]", "{0} @ {1} - {0}",
]  # fmt: skip


def trees(depth: int = 3) -> st.SearchStrategy[str]:
    """Sources of expressions of any precedence, some of several lines or in parentheses with comments."""
    atoms = st.sampled_from(["a", "1", "1.5", "'s'", "f(x)", "[p, q]", "(p, q)", "x[0]", "None", "a.b", "()"])
    if not depth:
        return atoms
    inner = trees(depth - 1)
    wrapped = st.builds("({})".format, inner)
    return (
        atoms
        | st.builds(lambda one, op, other: f"({one}) {op} ({other})", inner, st.sampled_from(OPERATORS), inner)
        | st.builds(lambda op, one: f"{op}({one})", st.sampled_from(PREFIXES), inner)
        | st.builds("({}) if ({}) else ({})".format, inner, inner, inner)
        | st.builds("lambda: ({})".format, inner)
        | st.builds("(\n    ({})  # why\n    + ({})\n)".format, inner, inner)
        | wrapped
    )


class Flat(ast.NodeTransformer):
    """`(a and b) and c` is `a and b and c`."""

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        first = node.values[0]
        if isinstance(first, ast.BoolOp) and isinstance(first.op, type(node.op)):
            node.values[:1] = first.values
        return node


def dump(text: str) -> str:
    return ast.dump(Flat().visit(ast.parse(f"({text}\n)", mode="eval").body))


@given(st.sampled_from(HOLES), trees(), trees())
def test_a_hole_is_what_is_put_there(template: str, one: str, other: str) -> None:
    named = template.replace("{0}", "{one}").replace("{1}", "{other}")
    made = expression(named, one=cst.parse_expression(one), other=cst.parse_expression(other))
    assert dump(source(made)) == dump(template.format(f"({one})", f"({other})"))
    assert source(made).count("#") >= one.count("#")


@given(trees())
def test_an_expression_stays_as_it_is(text: str) -> None:
    assert dump(source(expression("{x}", x=cst.parse_expression(text)))) == dump(text)


@given(trees())
def test_a_statement_needs_no_brackets_around_it(text: str) -> None:
    line = written([statement("{name} = {value}", name="x", value=cst.parse_expression(text))], "", "    ")
    (assigned,) = ast.parse(line).body
    assert isinstance(assigned, ast.Assign)
    assert dump(ast.unparse(assigned.value)) == dump(text)


@pytest.mark.parametrize(
    ("template", "holes", "expected"),
    [
        ("f({*a})", {"a": []}, "f()"),
        ("f({*a})", {"a": ["x", 1, None]}, "f(x, 1, None)"),
        ("f(x, {*a}, k=1)", {"a": []}, "f(x, k=1)"),
        ("f(x, {*a})", {"a": []}, "f(x)"),
        ("({*a},)", {"a": ["x"]}, "(x,)"),
        ("({*a},)", {"a": []}, "()"),
        ("[{*a}]", {"a": ["x", "y.z"]}, "[x, y.z]"),
        ("lambda {*a}: {b}", {"a": ["x", "y"], "b": cst.parse_expression("p, q")}, "lambda x, y: (p, q)"),
        ("lambda {*a}: {b}", {"a": [], "b": 0}, "lambda: 0"),
        ("{x}.{name}({*a})", {"x": -1, "name": "abs", "a": []}, "(-1).abs()"),
        ("{{{x}: 1}}", {"x": "torch.int64"}, "{torch.int64: 1}"),
    ],
)
def test_holes_for_any_number(template: str, holes: dict[str, templates.Holes], expected: str) -> None:
    assert source(expression(template, **holes)) == expected


def test_text_is_not_code() -> None:
    with pytest.raises(ValueError, match="not a dotted name"):
        expression("{x}", x="a + b")


BODY = """\
# first
if a:
    b = '''one
  two'''  # kept
    c(
        1,  # why
      2)

# last
else: d = 1; e = 2
"""


@pytest.mark.parametrize(("indent", "unit"), [("    ", "    "), ("\t", "\t"), ("", "  ")])
def test_moved_statements_keep_their_lines(indent: str, unit: str) -> None:
    body = read(BODY, "", "    ")
    made = statement("with {x}:\n    {*body}\n    f()", x="y", body=body)
    text = written([made], indent, unit)
    around = f"if 1:\n{text}" if indent else text
    assert ast.dump(ast.parse(around).body[-1]).count("one\\n  two") == 1
    for comment in ("# first", "# kept", "# why", "# last"):
        assert text.count(comment) == 1
    moved = ast.parse(around).body[0]
    inner = moved.body[0] if isinstance(moved, ast.If) and indent else moved
    assert isinstance(inner, ast.With)
    assert ast.dump(inner.body[0]) == ast.dump(ast.parse(BODY).body[0])
