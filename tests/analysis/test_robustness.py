"""No Python stops the analyzer: every construct is passed through, and what follows it is still found."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from textwrap import indent

import pytest

from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.linter import Task, lint
from tests.analysis.cases import FORWARD
from tests.sampling import one_in

BRANCH = "if x.sum() > 0: pass\n"

STATEMENTS = {
    "assign": "a = b = 1\na.b = c[0] = [d, *e] = f()\n(a, b), c = (1, 2), 3\n",
    "augmented assignment": "\n".join(f"a {op}= 2" for op in ("+", "-", "*", "/", "//", "%", "@", "&", "|", "^")),
    "shift and power": "a <<= 1\na >>= 1\na **= 2\nx.y += 1\nx[0] += 1\n",
    "annotated assignment": "a: int = 1\nb: 'Tensor'\nself.a: int\nx[0]: int = 2\n",
    "delete": "a = 1\ndel a, x[0], self.b, (c, d)\n",
    "pass and constants": "pass\n'text'\n...\nNone\n1j\nb'bytes'\n",
    "import": "import os, os.path as p\nfrom . import a\nfrom .. import b as c\nfrom .x.y import z\n",
    "global and nonlocal": "global G\nG = 1\ndef inner():\n    nonlocal y\n    y = 2\n    global H\n",
    "assert and raise": "assert a, b\ntry:\n    raise A from b\nexcept A:\n    if a: raise\nfinally:\n    pass\n",
    "if": "if a: pass\nelif b: pass\nelse: pass\n",
    "for": "for a, *b in c:\n    if a: break\n    continue\nelse:\n    pass\nfor x.y in z: pass\nfor a[0] in z: pass\n",
    "while": "while a:\n    break\nelse:\n    pass\n",
    "with": "with a as b, c() as (d, e), f: pass\nwith (open('a') as g, open('b') as h): pass\n",
    "try": "try:\n    pass\nexcept (A, B) as e:\n    pass\nexcept:\n    pass\nelse:\n    pass\nfinally:\n    pass\n",
    "match": """\
match x:
    case 1 | -1 | 1j | "a" | None | True: pass
    case [a, *rest] if a: pass
    case {"a": b, **others}: pass
    case {}: pass
    case Point(1, y=c) as d: pass
    case a.b.C: pass
    case (1, [2, _], *_): pass
    case whatever: pass
""",
    "class": "class A(B, metaclass=C):\n    a: int = 1\n    def f(self): return self.a\nA().f()\n",
    "function": "@decorated\n@decorated(1)\ndef f(a, /, b: int = 1, *c, d=2, **e) -> int:\n    return a\nf(1)\n",
    "async": """\
async def f(a):
    async with a as b: await b
    async for c in a: yield c
    return
async def g(): return [i async for i in f(1) if await i]
""",
    "generator": "def f():\n    a = yield\n    b = yield a\n    yield from f()\nlist(f())\n",
    "return in a nested function": "def f(): return\nf()\n",
}

EXPRESSIONS = {
    "constants": "(0x1F, 1_000, 1e400, -0.0, 1e-400, 10**100, 'a' 'b', rb'\\x00', ..., NotImplemented, __debug__)",
    "operators": "a + b - c * d / e // f % g @ h ** i << j >> k & l | m ^ n",
    "unary operators": "(not a, -a, +a, ~a, not not -~+a, -True, ~1, -'a', -None)",
    "comparisons": "(a < b <= c > d >= e == f != g is h is not i in j not in k, 1 < 'a', None < 1, [] < {}, 1 in 2)",
    "boolean operators": "(a and b or c and not d, () or [], 1 and {} or None)",
    "conditional": "a if b else c if d else e",
    "walrus": "(n := 1, [m := i for i in y], (lambda: (k := 1))())",
    "lambdas": "(lambda: 0, lambda a, /, b=1, *c, d=2, **e: (a, b, c, d, e), (lambda f: f(f))(lambda f: f))",
    "calls": "f(*a, *b, c, d=1, **e, **g)(h)[i](j=k).l",
    "wrong calls": "(len(), range(1, 2, 3, 4), int('a'), print(1, sep=2), ''.join(1), (1)(2), None(), x.sum(1, 2, 3))",
    "more wrong calls": "(torch.sum(), torch.cat(), torch.zeros('a'), x.view(), x.split(), x.max(a=1), nn.Linear())",
    "wrong shapes": (
        "(torch.einsum('ab->c', x), torch.einsum('ab,,->->', x, x), torch.einsum('', x), x.movedim((0, 0), 9),"
        " x.tile('a'), x.unfold(9), torch.meshgrid(), torch.hstack([]), torch.vstack(1), x.repeat_interleave(-1, 9))"
    ),
    "still more wrong calls": "(super(), super(1, 2), super().a, isinstance(x), type(), type('A', (), {})())",
    "odd builtins": "(iter([], 1), next(), sorted(), max(), min([]), sum('a'), zip(), map(), filter(), enumerate())",
    "attributes": "a.b.c.__class__.__mro__[0].__dict__['a'].__init__.__func__",
    "subscripts": "(a[1], a[1:2:3], a[:, ..., None], a[::], a[b[c]], a[()], 'abc'[9], (1, 2)[5], {}['a'])",
    "containers": "([], (), {}, {1}, [*a, *b], (*a,), {*a}, {**a, 'b': c, **d}, [[[]]], {'a': {'b': [({1: 2},)]}})",
    "keys that are equal": "({1: 'a', 1.0: 'b', True: 'c', '1': 'd'}[1], {None: 1, (): 2, (1, (2,)): 3, 1j: 4}[None])",
    "keys that have no hash": "({[]: 1, {}: 2, {1}: 3, x: 4}, {[1], {}}, {}[[]], {}.get([]), [].index({}), {}.pop([]))",
    "comprehensions": "([i for i in a if b if c for j in i], {i for i in a}, {i: j for i, j in a}, (i for i in a))",
    "f-strings": "f'{a!r:>{b}} {c=} {{}} {d:%Y-%m} {e[\"k\"]!s:{f}.{g}}' '' f''",
    "arithmetic that fails": "(1 // 0, 1 % 0, 0 ** -1, 1 << -1, 'a' + 1, [1] * 'a', -[], 2 ** 2 ** 2 ** 2 ** 2 ** 9)",
    "huge results": "(10 ** 10 ** 10, 1 << 10 ** 12, 'a' * 10 ** 12, [0] * 10 ** 12, (1,) * 10 ** 12, range(10 ** 30))",
    "formatting that fails": "('%d' % 'a', '%s %s' % 1, '{} {}'.format(1), '{a'.format(1), f'{1:nonsense}', '%' % ())",
}

SYNTAX_OF = {
    (3, 11): {"except*": "try: pass\nexcept* A as e: pass\n", "starred subscript": "a[*b, 1]\n"},
    (3, 12): {
        "type parameters": "def f[T: int, *Ts, **P](a: T) -> T: return a\nclass A[T]: pass\nf(1)\n",
        "type statement": "type A[T] = list[T]\n",
        "nested f-strings": "f'{f'{f'{a}'}'}'\n",
    },
    (3, 13): {"defaults of type parameters": "def f[T = int](a: T) -> T: return a\n"},
    (3, 14): {"template strings": "t'{a!r:>{b}}'\n"},
}

SNIPPETS = {
    **STATEMENTS,
    **{name: f"({source})\nfor _ in range(1): z = {source}\n" for name, source in EXPRESSIONS.items()},
    **{n: s for version, found in SYNTAX_OF.items() if sys.version_info >= version for n, s in found.items()},
}

ODD_MODULES = Path(__file__).with_name("odd_modules.md")

AFTER = "\n\nclass After(nn.Module):\n    def forward(self, x):\n        return x if x.sum() > 0 else -x\n"
HEAD = "import torch\nfrom torch import nn\n"

MODULES = dict(re.findall(r"^## (.+)\n```py\n(.*?)^```", ODD_MODULES.read_text(encoding="utf-8"), re.M | re.S))


def deep(size: int, head: str, tail: str = "") -> str:
    return f"z = {head * size}x{tail * size}\n"


BIG = {
    "1,500 terms": f"z = {' + '.join(['x'] * 1500)}\n",
    "1,500 comparisons": f"z = {' and '.join(['y.dim() > 1'] * 1500)}\n",
    "60 nested ifs": "".join(f"{'    ' * n}if y.shape[0] > {n}:\n" for n in range(60)) + "    " * 60 + "z = x\n",
    "19 nested loops": "".join(f"{'    ' * n}for i{n} in range(9):\n" for n in range(19)) + "    " * 19 + "z = x\n",
    "80 ifs one after the other": "".join(f"if self.a{n}: z = {n}\nelse: z = x\n" for n in range(80)),
    "400 elifs": "if y == 0: z = 0\n" + "".join(f"elif y == {n}: z = {n}\n" for n in range(1, 400)),
    "80 nested brackets": deep(80, "[", "]"),
    "80 nested parentheses": deep(80, "(", ")"),
    "80 nested dictionaries": deep(80, "{'a': ", "}"),
    "80 nested calls": deep(80, "torch.relu(", ")"),
    "80 nested lambdas": deep(80, "lambda: "),
    "500 nots": deep(500, "not "),
    "500 attributes": f"z = y{'.a' * 500}\n",
    "500 subscripts": f"z = y{'[0]' * 500}\n",
    "500 methods": f"z = x{'.relu()' * 500}\n",
    "a list of 20,000": f"z = [{'1, ' * 20_000}]\nfor i in z: w = i\n",
    "a dictionary of 5,000": f"z = {{{', '.join(f'{n}: {n}' for n in range(5000))}}}\n",
    "a text of 1,000,000": f"z = '{'a' * 1_000_000}' * 3\n",
    "a number of 4,000 digits": f"z = {'9' * 4000} ** 2 % 7\n",
    "a hexadecimal number of 5,000 digits": f"z = x[:0x{'f' * 5000}]\n",
    "a list of places that a branch writes": "if x.max() > 5:\n    a, *b = x\n",
    "8 nested comprehensions": "z = " + "[" * 8 + "x" + " for i in y]" * 8 + "\n",
    "a comprehension of 8 loops": f"z = [x {'for i in y ' * 8}]\n",
    "12 functions that call the next one twice": "\n".join(
        f"def f{n}(a, b): return f{n + 1}(a, b) + f{n + 1}(b, a + {n})" for n in range(12)
    ) + "\ndef f12(a, b): return a + b\nz = f0(x, y)\n",
}  # fmt: skip


def found(source: str, directory: Path) -> list[tuple[str, int]]:
    """Code and row of each finding."""
    settings = combine([Layer(directory, {"torch-version": (2, 13)})], directory)
    result = lint([Task(directory / "model.py", settings, data=source.encode(errors="surrogatepass"))])
    for finding in result.findings:
        assert finding.code not in ("EXP001", "EXP003", "EXP004"), finding.message
    return [(finding.code, finding.span.start.row) for finding in result.findings]


def followed(snippet: str) -> tuple[str, tuple[str, int]]:
    """A file that has the snippet in its `forward`, then a branch on tensor data, and the finding about that."""
    source = FORWARD + indent(snippet.rstrip("\n") + "\n" + BRANCH, " " * 8)
    return source, ("EXP101", source.count("\n"))


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("snippet", SNIPPETS.values(), ids=list(SNIPPETS))
def test_every_construct_is_passed(snippet: str, tmp_path: Path) -> None:
    source, branch = followed(snippet)
    assert branch in found(source, tmp_path)


def test_the_snippets_have_every_node_of_the_grammar() -> None:
    seen = {type(node).__name__ for source in SNIPPETS.values() for node in ast.walk(ast.parse(followed(source)[0]))}
    kinds = {kind.__name__ for base in (ast.stmt, ast.expr, ast.pattern) for kind in base.__subclasses__()}
    retired = {"Num", "Str", "Bytes", "NameConstant", "Ellipsis"}
    assert kinds - seen == retired & kinds


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("module", MODULES.values(), ids=list(MODULES))
def test_no_module_stops_the_next_one(module: str, tmp_path: Path) -> None:
    source = HEAD + module + AFTER
    assert ("EXP101", source.count("\n")) in found(source, tmp_path)


@pytest.mark.parametrize("name", one_in(4, BIG))
def test_what_is_big_or_deep_is_passed(name: str, tmp_path: Path) -> None:
    source, branch = followed(BIG[name])
    assert branch in found(source, tmp_path)
