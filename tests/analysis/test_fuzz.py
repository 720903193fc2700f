"""Whatever becomes of a model while it is being typed, the analyzer takes it, and says the same of it every time."""

from __future__ import annotations

import ast
import copy
import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from exportlint.analysis.project import Project
from exportlint.check import check_file
from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.findings import Finding, Mode
from exportlint.pages import MODES
from exportlint.source import SourceError, SyntaxProblem, from_bytes
from tests.analysis.cases import cases
from tests.catalogue import pages
from tests.sampling import first_of_each

EXAMPLES = Path(__file__).parents[2] / "examples"

CORPUS = [
    *(block.source for page in pages() for block in page.blocks),
    *(path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.rglob("*.py"))),
    *(source for case in cases() for _, source in case.files if source.strip()),
]

NAMES = [
    "x", "y", "self", "cls", "super", "forward", "__init__", "torch", "nn", "F", "Model", "None", "True", "range",
    "len", "*x", "**x", "x.sum()", "x.shape", "x.data", "self.forward", "lambda x: x", "[x, y]", "{'x': x}", "()", "1",
    "'a'", "x[0]", "yield x", "await x", "(x := y)", "not x", "x if y else x", "nn.Module", "type(x)", "1.5e400", "...",
]  # fmt: skip
OPERATORS = [
    "+", "-", "*", "/", "//", "%", "@", "**", "&", "|", "^", "<<", "<", ">", "==", "!=", "=", "+=", "@=", ":=", ",",
    ".", ":", " and ", " or ", " is ", " is not ", " in ", " not in ", " if ", " else ", " for ", "(", ")", "[", "]",
    "{", "}",
]  # fmt: skip

_NAME = re.compile(r"\b[A-Za-z_][\w.]*\b")
_OPERATOR = re.compile(r"[-+*/%@&|^<>=!:]+|[][(){}.,]| (?:and|or|is|in|not|if|else|for) ")


@st.composite
def mutants(draw: st.DrawFn) -> str:
    """A file of the corpus after a few edits of the kind that typing makes."""
    lines = draw(st.sampled_from(CORPUS)).splitlines()
    for _ in range(draw(st.integers(1, 3))):
        row = draw(st.integers(0, len(lines) - 1))
        line = lines[row]
        match draw(
            st.sampled_from(["delete", "duplicate", "swap", "indent", "dedent", "name", "operator", "truncate"])
        ):
            case "delete":
                lines[row] = ""
            case "duplicate":
                lines.insert(draw(st.integers(0, len(lines))), line)
            case "swap":
                other = draw(st.integers(0, len(lines) - 1))
                lines[row], lines[other] = lines[other], line
            case "indent":
                lines[row] = "    " + line
            case "dedent":
                lines[row] = line.removeprefix("    ")
            case "name":
                lines[row] = draw(replaced(line, _NAME, NAMES))
            case "operator":
                lines[row] = draw(replaced(line, _OPERATOR, OPERATORS))
            case "truncate":
                lines[row] = line[: draw(st.integers(0, len(line)))]
    return "\n".join(lines) + "\n"


@st.composite
def replaced(draw: st.DrawFn, line: str, pattern: re.Pattern[str], replacements: list[str]) -> str:
    """The line with one match of the pattern replaced, if it has one, by another of the line or of the list."""
    found = list(pattern.finditer(line))
    if not found:
        return line
    match = draw(st.sampled_from(found))
    other = draw(st.sampled_from([*replacements, *(m[0] for m in found)]))
    return line[: match.start()] + other + line[match.end() :]


STATEMENTS = [
    "del x, y[0]", "global x", "async def f(a=x): return await a", "@x\ndef f(a, /, *b, c=x.sum(), **d): yield a",
    "class C(x, metaclass=y):\n    a = x", "with x as (a, *b), y: x = a", "for a, *b in x: break\nelse: pass",
    "match x:\n    case [a, *b] if x.sum() > 0: pass\n    case {'k': v, **r}: x = v\n    case C(a, b=1) as q: pass",
    "try: pass\nfinally: return x", "try: x = 1\nexcept* (A, B) as e: y = 2", "from . import a", "assert x, y",
    "raise x from y", "return x, *y", "x += y", "x: int = y", "while x.sum() > 0: x = x - 1", "a = b = c = x",
    "if x.sum() > 0: return x\nelif y: x = y\nelse: del x", "if x.sum() > 0:\n    a, *b = x",
    "if x.sum() > 0:\n    x.y[0] += 1", "for i in range(int(x)): x = x + i",
    "while True:\n    x = x + 1\n    if x.max(): break",
    "x = f'{x!r:>{y}}'", "x = lambda a=x.sum(), *b, **c: a", "x = [i for i in x if i]", f"x = 0x{'f' * 3000}",
]  # fmt: skip
TARGETS = ["a", "a, *b", "[a, *b]", "*a, b", "a.b", "self.a, b", "(a, (b, *c))", "x[x > 0]", "x.data", "a[b:c]"]


@st.composite
def mutant_trees(draw: st.DrawFn) -> str:
    """A file of the corpus after a few parts of its tree were exchanged for parts of any kind."""
    tree = ast.parse(draw(st.sampled_from([text for text in CORPUS if is_python(text)])))
    for _ in range(draw(st.integers(1, 4))):
        places = [
            (values, index)
            for node in ast.walk(tree)
            for _, values in ast.iter_fields(node)
            if isinstance(values, list)
            for index, value in enumerate(values)
            if isinstance(value, (ast.stmt, ast.expr))
        ]
        expressions = [v[i] for v, i in places if isinstance(v[i], ast.expr) and not isinstance(v[i], ast.Starred)]
        values, index = draw(st.sampled_from(places))
        old = values[index]
        if isinstance(old, ast.stmt):
            new = ast.parse(draw(st.sampled_from(STATEMENTS))).body[0]
            values[index : index + draw(st.integers(0, 1))] = [new]
        elif isinstance(getattr(old, "ctx", None), ast.Store):
            target = ast.parse(f"{draw(st.sampled_from(TARGETS))} = x").body[0]
            assert isinstance(target, ast.Assign)
            values[index] = target.targets[0]
        else:
            new_expression = copy.deepcopy(draw(st.sampled_from(expressions)))  # it may be around the place
            is_named = draw(st.booleans())
            values[index] = (
                ast.NamedExpr(ast.Name("walrus", ast.Store()), new_expression) if is_named else new_expression
            )
    try:
        return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    except ValueError:  # an f-string can hold no such part
        reject()


def findings(text: str, mode: Mode) -> list[Finding]:
    """What a fresh analyzer finds. Raises SyntaxProblem, or SourceError for an encoding that does not exist."""
    root = Path("/nowhere")
    configured = combine([Layer(root, {"mode": mode, "torch-version": (2, 13)})], root)
    return check_file(from_bytes(text.encode(), root / "model.py", "model.py"), Project(), configured)


def is_python(text: str) -> bool:
    try:
        ast.parse(text.encode())
    except SyntaxError:
        return False
    return True


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
@settings(max_examples=200, derandomize="CI" in os.environ, suppress_health_check=[HealthCheck.too_slow])
@given(text=mutants())
def test_every_edit_is_analysed_and_twice_the_same(text: str) -> None:
    for mode in MODES:
        if is_python(text):
            first = findings(text, mode)
            assert findings(text, mode) == first
        else:
            with pytest.raises((SyntaxProblem, SourceError)):
                findings(text, mode)


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("examples", first_of_each([10, 100], lambda _: "all"))
def test_every_tree_is_analysed(examples: int) -> None:
    @settings(max_examples=examples, derandomize="CI" in os.environ, suppress_health_check=list(HealthCheck))
    @given(text=mutant_trees())
    def check(text: str) -> None:
        if is_python(text):
            findings(text, "non-strict")

    check()
