"""What `forward` asks of the host, asked once instead, by `__init__`.

`float(os.environ["SCALE"])` becomes `self.scale`, and numbers from a seeded generator, or behind
`torch.manual_seed(0)`, a buffer.

Never safe: what changes after the module is made is not seen, numbers are drawn on the CPU, and what else draws is no
longer seeded.
"""

from __future__ import annotations

import ast
import keyword
from typing import TYPE_CHECKING

from exportlint.findings import Fix
from exportlint.fixes.edit.arguments import with_argument
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.names import qualified
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.tree import place
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.purity import api_of
from exportlint.fixes.proofs.writes import writes
from exportlint.fixes.state.constructor import Constructor, buffer, receiver

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression

SEEDS = frozenset({"torch.manual_seed", "torch.random.manual_seed"})
CONVERSIONS = frozenset({"int", "float", "bool", "str"})
CLEANERS = frozenset({"lower", "upper", "strip"})


def read_once(code: Code) -> Fix:
    """The answer as an attribute of the module. Raises DeclinedError if `__init__` cannot ask."""
    read = code.expression
    for around in code.tree.ancestors(read):
        if not isinstance(around, ast.expr) or not (isinstance(around, ast.Attribute) or _is_cleaned(around, read)):
            break
        if isinstance(around, ast.Call):
            read = around
    constructor = Constructor(code, read)
    method = code.tree.function(read)
    if method not in constructor.methods or not isinstance(method, ast.FunctionDef):
        raise DeclinedError("a nested function reads it")
    constructor.require_constant(read, asked=_names(code, code.expression))
    free = constructor.free(_name(code, code.expression))
    attribute = code.make("{owner}.{name}", owner=receiver(method), name=free)
    return code.fix(
        "Read it in `__init__`: later changes are no longer seen",
        constructor.append([code.statement("{attribute} = {value}", attribute=attribute, value=read)]),
        code.replace(read, attribute),
        safe=False,
    )


def _is_cleaned(around: ast.expr, read: ast.expr) -> bool:
    """Whether an expression is `float(…)` or `….lower()` of another."""
    match around:
        case ast.Call(func=ast.Name(id=name), args=[inner], keywords=[]):
            return name in CONVERSIONS and inner is read
        case ast.Call(func=ast.Attribute(value=inner, attr=name), args=[], keywords=[]):
            return name in CLEANERS and inner is read
    return False


def _names(code: Code, read: ast.expr) -> frozenset[str]:
    """The functions of the host that a question calls."""
    calls = [node.func for node in ast.walk(read) if isinstance(node, ast.Call)]
    names = {qualified(call, code.tree.root, code.module.package) for call in calls}
    return frozenset(name for name in names if name is not None)


def _name(code: Code, read: ast.expr) -> str:
    """What the answer is called: as the variable of the environment, or as the function."""
    for node in ast.walk(read):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            name = node.value.lower()
            return name if not keyword.iskeyword(name) else f"{name}_"
    called = read.func if isinstance(read, ast.Call) else read
    name = code.text(called).rpartition(".")[2].removeprefix("get")
    return name.lstrip("_") if name.lstrip("_").isidentifier() else "setting"


def drawn_once(code: Code) -> Fix:
    """Numbers from a generator that is made anew each time, in a buffer. Raises DeclinedError if they may differ."""
    made = code.expression
    called = made.func if isinstance(made, ast.Call) else made
    if qualified(called, code.tree.root, code.module.package) in SEEDS and isinstance(made, ast.Call):
        return _drawn_after(code, made)
    while isinstance(around := code.tree.parents[made], (ast.Attribute, ast.Call)) and _is_seeding(around, made):
        made = around
    constructor, method = Constructor(code, made), code.tree.function(made)
    if method not in constructor.methods or not isinstance(method, ast.FunctionDef):
        raise DeclinedError("a nested function draws it")
    edits = []
    used = made
    statement = code.tree.parents[made]
    if isinstance(statement, ast.Assign):
        used = _only_use(method, statement)
        edits.append(code.statements.replace([statement], []))
    argument = code.tree.parents[used]
    draw = code.tree.parents[argument]
    if not isinstance(argument, ast.keyword) or argument.arg != "generator" or not isinstance(draw, ast.Call):
        raise DeclinedError("it is used for more than drawing")
    if not any(isinstance(node, ast.Call) and node.args for node in ast.walk(made)):
        raise DeclinedError("the generator has no seed")
    for part in (made, draw.func, *draw.args, *(k.value for k in draw.keywords if k is not argument)):
        constructor.require_constant(part)
    drawn = code.concrete(draw, {used: code.concrete(made)})
    target = code.tree.parents[draw]
    is_named = isinstance(target, ast.Assign) and isinstance(target.targets[0], ast.Name)
    name = constructor.free(target.targets[0].id if is_named else "noise")  # type: ignore[attr-defined]
    owner = receiver(method)
    edits += [
        constructor.append([buffer(code, owner, name, drawn)]),
        code.replace(draw, _buffered(code, method, owner, name, target)),
    ]
    return code.fix("Draw once, in `__init__`, and keep the numbers in a buffer", *edits, safe=False)


def _drawn_after(code: Code, seeding: ast.Call) -> Fix:
    """What is drawn behind `torch.manual_seed(0)`, in a buffer."""
    constructor, method = Constructor(code, seeding), code.tree.function(seeding)
    if method not in constructor.methods or not isinstance(method, ast.FunctionDef) or len(seeding.args) != 1:
        raise DeclinedError("a nested function seeds it")
    draws = [n for n in ast.walk(method) if isinstance(n, ast.Call) and _is_random(code, n)]
    if len(draws) != 1:
        raise DeclinedError("it does not draw exactly one tensor")
    (draw,) = draws
    if place(draw) < place(seeding) or code.tree.block(code.tree.statement(draw)) is not code.tree.block(
        code.tree.statement(seeding)
    ):
        raise DeclinedError("the tensor may be drawn without the seed")
    for part in (seeding, draw):
        constructor.require_constant(part)
    drawn = with_argument(
        code.concrete(draw),
        code.make("{generator}().manual_seed({seed})", generator=code.name("torch.Generator"), seed=seeding.args[0]),
        "generator",
    )
    target = code.tree.parents[draw]
    is_named = isinstance(target, ast.Assign) and isinstance(target.targets[0], ast.Name)
    name = constructor.free(target.targets[0].id if is_named else "noise")  # type: ignore[attr-defined]
    owner = receiver(method)
    drafts = [
        constructor.append([buffer(code, owner, name, drawn)]),
        *_unseeded(code, seeding, draw, _buffered(code, method, owner, name, target)),
    ]
    return code.fix("Draw once, in `__init__`, and leave the global seed alone", *drafts, safe=False)


def _buffered(code: Code, method: ast.FunctionDef, owner: str, name: str, statement: ast.AST) -> Expression:
    """The buffer that has the numbers, or a copy of it if the variable that gets them is written to."""
    names = statement.targets if isinstance(statement, ast.Assign) else []
    is_written = any(True for name in names for _ in writes(method, name))
    return code.make("{owner}.{name}.clone()" if is_written else "{owner}.{name}", owner=owner, name=name)


def _is_random(code: Code, call: ast.Call) -> bool:
    """Whether a call draws from the generator that is seeded."""
    api = api_of(code, call)
    return api is not None and api.random and not any(k.arg == "generator" for k in call.keywords)


def _unseeded(code: Code, seeding: ast.Call, draw: ast.Call, numbers: Expression) -> list[Draft]:
    """Leaves out what seeds, and puts numbers in place of what is drawn. Raises DeclinedError."""
    around = code.tree.parents[seeding]
    if isinstance(around, ast.Expr):
        return [code.statements.replace([around], []), code.replace(draw, numbers)]
    taken = code.tree.parents[around]
    match taken:
        case ast.Subscript(value=ast.Tuple(elts=[first, second]), slice=ast.Constant(value=1)) if first is seeding:
            return [code.replace(taken, code.concrete(second, {draw: numbers}))]
    raise DeclinedError("the generator is used for more than seeding")


def _is_seeding(around: ast.expr, inner: ast.expr) -> bool:
    """Whether an expression is, or calls, the method that seeds a generator."""
    if isinstance(around, ast.Attribute):
        return around.attr == "manual_seed"
    return isinstance(around, ast.Call) and around.func is inner


def _only_use(method: ast.FunctionDef, statement: ast.Assign) -> ast.expr:
    """The one place where a variable is used. Raises DeclinedError."""
    match statement.targets:
        case [ast.Name(id=name)]:
            uses = [node for node in ast.walk(method) if isinstance(node, ast.Name) and node.id == name]
            read = [node for node in uses if isinstance(node.ctx, ast.Load)]
            if len(uses) == 2 and len(read) == 1:
                return read[0]
    raise DeclinedError("the generator is used more than once")
