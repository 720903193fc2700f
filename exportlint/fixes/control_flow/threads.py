"""What other threads compute, computed where they start.

`t = Thread(target=f, args=(x,))` becomes `t = functools.partial(f, x)`, `t.start()` becomes `t()`, and `t.join()` goes;
`pool.submit(f, x).result()` becomes `f(x)`, and `pool.map(f, xs)` becomes `map(f, xs)`.

Needs: nothing else is done with the threads and futures. Never safe: one thread runs behind the other, gradients are
recorded as where they start, and what raises does so there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from exportlint.analysis.domain.values import External
from exportlint.fixes.edit.template import call as called
from exportlint.fixes.edit.template import expression
from exportlint.fixes.errors import DeclinedError

if TYPE_CHECKING:
    from exportlint.findings import Fix
    from exportlint.fixes.edit.code import Code
    from exportlint.fixes.edit.statements import Draft
    from exportlint.fixes.edit.template import Expression, Hole

MESSAGE = "Compute in the thread that calls the model"
OTHER_USE = "more is done with the thread than to start it and to wait for it"


def without_thread(code: Code) -> Fix:
    """Call what the threads of a function run. Raises DeclinedError if a thread, or a future, is used otherwise."""
    made = code.node(ast.Call)
    function = code.tree.function(made)
    if function is None:
        raise DeclinedError("the code runs when the file is imported")
    if isinstance(made.func, ast.Attribute) and made.func.attr in {"submit", "map", "apply", "starmap"}:
        return code.fix(MESSAGE, *_of_pool(code, made, made.func.attr), safe=False)
    threads = [n for n in ast.walk(function) if isinstance(n, ast.Call) and _is_thread(code, n)]
    edits: list[Draft] = []
    for thread in threads:
        attribute = code.tree.parents[thread]
        start = code.tree.parents[attribute]
        if isinstance(attribute, ast.Attribute) and attribute.attr == "start" and isinstance(start, ast.Call):
            target, arguments = _run_by(code, thread)
            edits.append(code.replace(start, called(target, *arguments)))
        else:
            edits.append(code.replace(thread, _partial(code, thread)))
    edits += _started(code, function, _held(code, function, threads))
    return code.fix(MESSAGE, *edits, safe=False)


def _is_thread(code: Code, node: ast.Call) -> bool:
    value = code.value(node.func)
    return isinstance(value, External) and value.name == "threading.Thread"


def _run_by(code: Code, thread: ast.Call) -> tuple[Expression, list[Hole]]:
    """What a thread calls, and the arguments. Raises DeclinedError if they are not written there."""
    given = {keyword.arg: keyword.value for keyword in thread.keywords}
    if thread.args or "target" not in given or None in given:
        raise DeclinedError("it is not known what the thread calls")
    arguments: list[Hole] = []
    match given.get("args"):
        case None:
            pass
        case ast.Tuple(elts=items) | ast.List(elts=items):
            arguments += map(code.argument, items)
        case other:
            arguments.append(code.make("f(*{given})", given=other).args[0])  # type: ignore[attr-defined]
    match given.get("kwargs"):
        case None:
            pass
        case ast.Dict(keys=keys, values=values) if all(isinstance(k, ast.Constant) for k in keys):
            arguments += [
                code.make("f({name}={value})", name=str(k.value), value=v).args[0]  # type: ignore[union-attr,attr-defined]
                for k, v in zip(keys, values, strict=True)
            ]
        case _:
            raise DeclinedError("it is not known what the thread calls")
    return code.concrete(given["target"]), arguments


def _partial(code: Code, thread: ast.Call) -> Expression:
    target, arguments = _run_by(code, thread)
    return called(code.name("functools.partial", thread), target, *arguments) if arguments else target


def _held(code: Code, function: ast.AST, threads: Sequence[ast.Call]) -> set[str]:
    """The variables that hold threads, or lists of them. Raises DeclinedError if a thread goes elsewhere."""
    names: set[str] = set()
    for thread in threads:
        node: ast.AST = code.tree.parents[thread]
        while isinstance(node, (ast.List, ast.ListComp, ast.Tuple)):
            node = code.tree.parents[node]
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]):
                names.add(name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append")):
                names.add(name)
            case ast.Attribute(attr="start"):
                continue
            case _:
                raise DeclinedError(OTHER_USE)
    while True:
        more = {name for node in ast.walk(function) for name in _handed_on(node, names)} - names
        if not more:
            return names
        names |= more


def _handed_on(node: ast.AST, names: set[str]) -> Iterator[str]:
    """The variables that a node lets hold what others hold."""
    match node:
        case ast.For(target=ast.Name(id=name), iter=ast.Name(id=given)) if given in names:
            yield name
        case ast.comprehension(target=ast.Name(id=name), iter=ast.Name(id=given)) if given in names:
            yield name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[ast.Name(id=given)]) if (
            given in names
        ):
            yield name


def _started(code: Code, function: ast.AST, names: set[str]) -> Iterator[Draft]:
    """Edits of each use of variables that hold threads. Raises DeclinedError."""
    waiting: dict[ast.stmt, None] = {}
    for node in ast.walk(function):
        if not isinstance(node, ast.Name) or node.id not in names or isinstance(node.ctx, ast.Store):
            continue
        around = code.tree.parents[node]
        use = code.tree.parents[around]
        match around:
            case ast.Attribute(attr="start") if isinstance(use, ast.Call):
                yield code.replace(use, called(node.id))
            case ast.Attribute(attr="join") if isinstance(use, ast.Call):
                waiting[_whole(code, use)] = None
            case ast.Attribute(attr="append") if isinstance(use, ast.Call):
                pass
            case ast.For() | ast.comprehension():
                pass
            case ast.Call(func=ast.Attribute(attr="append")):
                pass
            case _:
                raise DeclinedError(OTHER_USE)
    for statement in waiting:
        if isinstance(statement, ast.Expr) and not code.statements.have_lines([statement]):
            yield code.replace(statement.value, expression("None"))
        else:
            yield code.statements.left_out(statement)


def _whole(code: Code, waiting: ast.Call) -> ast.stmt:
    """The statement that only waits for threads: a loop, if it does nothing else. Raises DeclinedError."""
    statement = code.tree.statement(waiting)
    listed = code.tree.parents[waiting]
    if not isinstance(statement, ast.Expr) or (statement.value is not waiting and statement.value is not listed):
        raise DeclinedError(OTHER_USE)
    loop = code.tree.parents[statement]
    return loop if isinstance(loop, ast.For) and loop.body == [statement] and not loop.orelse else statement


def _of_pool(code: Code, made: ast.Call, kind: str) -> Iterator[Draft]:
    """Edits that call what a pool of threads is given, here."""
    if not made.args or any(isinstance(one, ast.Starred) for one in made.args[:1]):
        raise DeclinedError("it is not known what the thread calls")
    function, arguments = made.args[0], [*made.args[1:], *made.keywords]
    if kind == "map":
        yield code.replace(made, called("map", *map(code.argument, [function, *arguments])))
        return
    if kind != "submit":
        raise DeclinedError("its arguments are not known")
    result = called(code.concrete(function), *map(code.argument, arguments))
    read = _read(code, made)
    if read is not None:
        yield code.replace(read, result)
        return
    scope = code.tree.function(made)
    assert scope is not None
    for name in _held(code, scope, [made]):
        for node in code.tree.contents(scope).named(name):
            around = code.tree.parents[node]
            if isinstance(node.ctx, ast.Store) or isinstance(around, (ast.For, ast.comprehension)):
                continue
            read = _read(code, node)
            is_appended = isinstance(around, ast.Attribute) and around.attr == "append"
            if read is None and not is_appended:
                raise DeclinedError("more is done with the future than to read its result")
            if read is not None:
                yield code.replace(read, code.concrete(node))
    yield code.replace(made, result)


def _read(code: Code, node: ast.expr) -> ast.Call | None:
    """The call of `.result()` of a future."""
    attribute = code.tree.parents[node]
    read = code.tree.parents[attribute]
    if isinstance(attribute, ast.Attribute) and attribute.attr == "result" and isinstance(read, ast.Call):
        return read
    return None
