"""Rewrites of a file that keep what it does, so that the linter must say the same of it.

A transformation takes the text of a file, with `\n` at the end of its lines, and gives a `Variant`. It raises
`DoesNotApply` where it cannot tell that the rewrite keeps what the file does, or has nothing to rewrite.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from exportlint.analysis.eval.parameter_usage import TENSOR_ONLY

MARK = "unrelated_"
"""In every line that a transformation puts in. Findings there are not compared."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = ast.ClassDef | Function


class DoesNotApply(Exception):  # noqa: N818 - it is an answer, not a failure
    """The file has nothing to rewrite, or the rewrite might change what it does."""


def _unchanged(text: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class Variant:
    """A file that does the same.

    `original` gives a piece of its text, or of a message about it, with the names that the original has. Where
    `moves_code`, expressions stand in other lines than before, so that only their own text can be compared.
    """

    text: str
    original: Callable[[str], str] = field(default=_unchanged, compare=False)
    moves_code: bool = False


Transformation = Callable[[str], Variant]


# --- text


class _Text:
    """A text and its tree: offsets of nodes in bytes, and edits of these."""

    def __init__(self, text: str) -> None:
        if "\r" in text or "\f" in text:
            raise DoesNotApply("line ends other than \\n")
        if MARK in text:
            raise DoesNotApply(f"uses the name {MARK}")
        try:
            self.tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError) as error:
            raise DoesNotApply("does not parse") from error
        self.text = text
        self.data = text.encode()
        self.lines = self.data.split(b"\n")
        self._starts = [0]
        for line in self.lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def start(self, node: ast.expr | ast.stmt) -> int:
        return self._starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._starts[node.end_lineno - 1] + node.end_col_offset

    def row_start(self, row: int) -> int:
        """Where a row starts, from 1; the end of the text behind the last."""
        return min(self._starts[row - 1], len(self.data))

    def of(self, node: ast.expr | ast.stmt) -> str:
        return self.data[self.start(node) : self.end(node)].decode()

    def edited(self, edits: Iterable[tuple[int, int, str]]) -> str:
        parts, done = [], 0
        for start, end, content in sorted(edits):
            assert start >= done, "edits overlap"
            parts += [self.data[done:start], content.encode()]
            done = end
        return b"".join((*parts, self.data[done:])).decode()


def _first_row(node: ast.stmt) -> int:
    decorators = node.decorator_list if isinstance(node, Definition) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _last_row(node: ast.stmt) -> int:
    assert node.end_lineno is not None
    return node.end_lineno


def _checked(text: str) -> str:
    try:
        ast.parse(text)
    except SyntaxError as error:
        raise DoesNotApply("the rewrite does not parse") from error
    return text


# --- line ends


def crlf(text: str) -> Variant:
    """Every line ends with `\\r\\n`."""
    _Text(text)
    return Variant(text.replace("\n", "\r\n"))


# --- order of classes


def classes_reversed(text: str) -> Variant:
    """Neighbouring classes and functions of a module stand in reverse order, as far as they do not need each other."""
    source = _Text(text)
    edits: list[tuple[int, int, str]] = []
    for run in _runs(source.tree.body):
        order = _reverse(run)
        if order == list(run):
            continue
        before = source.tree.body[: source.tree.body.index(run[0])]
        first = _last_row(before[-1]) + 1 if before else 1
        rows = [first, *(_last_row(node) + 1 for node in run)]
        pieces = {
            node: source.data[source.row_start(a) : source.row_start(b)].decode()
            for node, a, b in zip(run, rows, rows[1:], strict=False)
        }
        if before and _first_row(run[0]) < first:
            continue
        whole = "".join(piece if piece.endswith("\n") else piece + "\n" for piece in map(pieces.__getitem__, order))
        edits.append((source.row_start(rows[0]), source.row_start(rows[-1]), whole))
    if not edits:
        raise DoesNotApply("no neighbouring definitions that do not need each other")
    return Variant(_checked(source.edited(edits)))


def _runs(body: Sequence[ast.stmt]) -> Iterator[Sequence[Definition]]:
    """Definitions that stand next to each other, each in rows of its own and under a name of its own."""
    run: list[Definition] = []
    row = 0
    for node in body:
        is_apart = _first_row(node) > row
        row = _last_row(node)
        if isinstance(node, Definition) and is_apart:
            run.append(node)
            continue
        if not is_apart and run:
            run.pop()
        yield from _sound(run)
        run = []
    yield from _sound(run)


def _sound(run: list[Definition]) -> Iterator[list[Definition]]:
    names = [node.name for node in run]
    if len(run) > 1 and len(set(names)) == len(names):
        yield run


def _reverse(run: Sequence[Definition]) -> list[Definition]:
    """The definitions from the last to the first, each behind those that it needs when it is made."""
    named = {node.name: node for node in run}
    needs = {node: [named[name] for name in _needed(node, named) if name != node.name] for node in run}
    order: list[Definition] = []

    def put(node: Definition) -> None:
        if node not in order:
            for other in needs[node]:
                put(other)
            order.append(node)

    for node in reversed(run):
        put(node)
    return order


def _needed(node: Definition, named: dict[str, Definition]) -> Iterator[str]:
    """The names that making a definition reads, with those that the code reads which it runs to be made."""
    seen: set[str] = set()
    waiting = [name for part in _at_definition(node) for name in _names(part)]
    while waiting:
        name = waiting.pop()
        if name in seen or name not in named:
            continue
        seen.add(name)
        yield name
        other = named[name]
        hooks = {"__init_subclass__", "__set_name__", "__new__", "__prepare__"}
        if not isinstance(other, ast.ClassDef) or any(
            isinstance(n, Function) and n.name in hooks for n in ast.walk(other)
        ):
            waiting += _names(other)
        else:  # it is not called, unless it stands in a call
            called = (call for part in _at_definition(node) for call in ast.walk(part) if isinstance(call, ast.Call))
            if any(name in _names(call) for call in called):
                waiting += _names(other)


def _at_definition(node: ast.stmt) -> Iterator[ast.AST]:
    """What of a statement is evaluated when a definition that holds it is made."""
    if isinstance(node, Function):
        yield from node.decorator_list
        yield from node.args.defaults
        yield from (default for default in node.args.kw_defaults if default is not None)
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
        yield from (a.annotation for a in arguments if a is not None and a.annotation is not None)
        if node.returns is not None:
            yield node.returns
    elif isinstance(node, ast.ClassDef):
        yield from node.decorator_list
        yield from node.bases
        yield from (keyword.value for keyword in node.keywords)
        for inner in node.body:
            yield from _at_definition(inner)
    else:
        yield node


def _names(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


# --- code that has to do with nothing

_CLASS = """

import torch as unrelated_torch


class unrelated_Block(unrelated_torch.nn.Module):
    def __init__(self):  # unrelated_
        super().__init__()  # unrelated_
        self.unrelated_scale = 2.0
        self.training_steps = []  # unrelated_

    def pick(self, x, flag=None):  # unrelated_
        self.unrelated_scale = x.shape[0]
        return x if x.sum() > 0 else -x  # unrelated_

    def forward(self, x, mask=None):  # unrelated_
        if mask is not None and mask.any():  # unrelated_
            x = x.masked_fill(mask, 0.0)  # unrelated_
        self.training_steps.append(x.mean().item())  # unrelated_
        for step in range(x.shape[0]):  # unrelated_
            x = x + step  # unrelated_
        return self.pick(x, flag=True)  # unrelated_


class unrelated_Holder:
    def make(self):  # unrelated_
        return unrelated_Block()


"""
"""A part of something else: a second module that nothing needs would say that the file is a collection of parts."""


def class_first(text: str) -> Variant:
    """An unrelated class, with findings of its own, stands before all others."""
    return _with(text, _CLASS, _place_of_first)


def class_last(text: str) -> Variant:
    """An unrelated class, with findings of its own, stands behind all others."""
    return _with(text, _CLASS, lambda source: len(source.data))


def statement_first(text: str) -> Variant:
    """An unrelated statement stands before all definitions."""
    return _with(text, f"{MARK}limit = 3\n", _place_of_first)


def _with(text: str, content: str, place: Callable[[_Text], int]) -> Variant:
    source = _Text(text)
    if not source.tree.body:
        raise DoesNotApply("holds no code")
    at = place(source)
    if at == len(source.data) and not text.endswith("\n"):
        content = "\n" + content
    return Variant(_checked(source.edited([(at, at, content)])))


def _place_of_first(source: _Text) -> int:
    """Before the first definition, behind what it stands next to."""
    row = 0
    for node in source.tree.body:
        if isinstance(node, Definition):
            if _first_row(node) <= row:
                raise DoesNotApply("the first definition shares a row")
            return source.row_start(row + 1) if row else source.row_start(1)
        row = _last_row(node)
    raise DoesNotApply("defines nothing")


def statement_in_functions(text: str) -> Variant:
    """An unrelated statement stands at the start of every function."""
    source = _Text(text)
    edits: list[tuple[int, int, str]] = []
    for node in ast.walk(source.tree):
        if not isinstance(node, Function):
            continue
        body = node.body[1:] if _is_docstring(node.body[0]) else node.body
        if not body or any(isinstance(inner, ast.Call) and _is_reflective(inner) for inner in ast.walk(node)):
            continue
        first = body[0]
        row = _first_row(first)
        indentation = source.lines[row - 1][: first.col_offset]
        is_behind = node.body[0] is not first and _last_row(node.body[0]) >= row
        if indentation.strip() or is_behind:
            continue
        at = source.row_start(row)
        edits.append((at, at, f"{indentation.decode()}{MARK}local = None\n"))
    if not edits:
        raise DoesNotApply("no function with room for a statement")
    return Variant(_checked(source.edited(edits)))


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


# --- names

_LATIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
_ARMENIAN = "".join(map(chr, (*range(0x561, 0x561 + 26), *range(0x531, 0x531 + 26), 0x587 - 1)))
_THERE = str.maketrans(_LATIN, _ARMENIAN)
_BACK = str.maketrans(_ARMENIAN, _LATIN)
_REFLECTIVE = frozenset({"locals", "vars", "eval", "exec", "dir", "super"})


def _renamed(name: str) -> str:
    """A name of the same length, of which the original can be told."""
    return name[0].translate(_THERE) + name[1:]


def _is_reflective(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id in _REFLECTIVE - {"super"}


def variables_renamed(text: str) -> Variant:
    """Local variables have other names."""
    return _rename(text, _local_variables)


def self_renamed(text: str) -> Variant:
    """What methods call `self` has another name."""
    return _rename(text, _receiver)


def parameters_renamed(text: str) -> Variant:
    """Parameters of functions have other names, those that the file names in no call and no string."""
    return _rename(text, _parameters)


def _rename(text: str, names_of: Callable[[Function, ast.Module], set[str]]) -> Variant:
    if not text.isascii() and any(letter in _ARMENIAN for letter in text):
        raise DoesNotApply("uses Armenian letters")
    source = _Text(text)
    edits: set[tuple[int, int, str]] = set()
    for function in _outermost(source.tree):
        names = names_of(function, source.tree)
        places = [place for place in _places(function) if place[0] in names]
        wrong = {name for name, row, column in places if _at(source, row, column, name) is None}
        for name, row, column in places:
            if name not in wrong:
                start = source.row_start(row) + column
                edits.add((start, start + len(name.encode()), _renamed(name)))
    if not edits:
        raise DoesNotApply("nothing to rename")
    changed = source.edited(edits)
    try:
        is_same = _blurred(ast.parse(_checked(changed))) == _blurred(source.tree)
    except (ValueError, RecursionError) as error:  # numbers too long to print, trees too deep
        raise DoesNotApply("cannot be compared") from error
    if not is_same:
        raise DoesNotApply("the places of names are unclear")
    return Variant(changed, lambda piece: piece.translate(_BACK))


def _blurred(tree: ast.Module) -> str:
    return ast.dump(tree).translate(_BACK)


def _at(source: _Text, row: int, column: int, name: str) -> int | None:
    start = source.row_start(row) + column
    return start if source.data[start : start + len(name.encode())] == name.encode() else None


def _outermost(tree: ast.Module) -> Iterator[Function]:
    """The functions that stand in no other function."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        for node in ast.iter_child_nodes(waiting.pop()):
            if isinstance(node, Function):
                yield node
            else:
                waiting.append(node)


def _places(function: Function) -> Iterator[tuple[str, int, int]]:
    """Where a function names variables and parameters, besides its decorators, defaults and annotations."""
    parts: list[ast.AST] = [function.args, *function.body]
    defaults = {*function.args.defaults, *function.args.kw_defaults}
    while parts:
        node = parts.pop()
        if isinstance(node, ast.Name):
            yield node.id, node.lineno, node.col_offset
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno, node.col_offset
            continue  # its annotation is evaluated outside
        if node is function.args:
            parts += [inner for inner in ast.iter_child_nodes(node) if inner not in defaults]
        else:
            parts += ast.iter_child_nodes(node)


def _local_variables(function: Function, _: ast.Module) -> set[str]:
    """Variables that a function binds as names, and nothing in it binds otherwise."""
    inner = list(ast.walk(function))
    if any(isinstance(node, ast.Call) and _is_reflective(node) for node in inner):
        return set()
    own = {
        node.id for node in _in_own_scope(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    others: set[str] = set()
    for node in inner:
        match node:
            case (
                ast.arg(arg=name)
                | ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                others.add(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                others.update(names)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                others.add(name)
            case ast.MatchMapping(rest=str(name)):
                others.add(name)
            case ast.alias(name=name, asname=other):
                others.add((other or name).partition(".")[0])
        if isinstance(node, ast.ClassDef):  # its variables are attributes
            others |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return {name for name in own - others if not (name.startswith("__") or name[0] not in _LATIN)}


def _in_own_scope(function: Function) -> Iterator[ast.AST]:
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, (*Function.__args__, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            continue
        waiting += ast.iter_child_nodes(node)


def _receiver(function: Function, _: ast.Module) -> set[str]:
    arguments = [*function.args.posonlyargs, *function.args.args]
    if not arguments or arguments[0].arg != "self" or any(_is_closure_cell(node) for node in ast.walk(function)):
        return set()
    inner = (node for node in ast.walk(function) if isinstance(node, ast.arguments) and node is not function.args)
    again = any(a.arg == "self" for node in inner for a in (*node.posonlyargs, *node.args, *node.kwonlyargs))
    return set() if again else {"self"}


def _is_closure_cell(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and _is_reflective(node)


def _parameters(function: Function, tree: ast.Module) -> set[str]:
    if any(isinstance(node, ast.Call) and _is_reflective(node) for node in ast.walk(function)):
        return set()
    named = {k.arg for k in ast.walk(tree) if isinstance(k, ast.keyword)}
    strings = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    found = {a.arg for a in (*function.args.posonlyargs, *function.args.args)[function.args.args[:1] != [] :]}
    bound: list[str] = []
    for node in ast.walk(function):
        match node:
            case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                bound.append(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                bound += names * 2
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                bound += [name] * 2
            case ast.alias(name=name, asname=other):
                bound += [other or name] * 2
        if isinstance(node, ast.ClassDef):
            bound += [n.id for n in ast.walk(node) if isinstance(n, ast.Name)] * 2
    once = {name for name in found if bound.count(name) == 1 and name[0] in _LATIN and not name.startswith("__")}
    return once - named - strings


# --- code moved into functions


def moved_to_helper(text: str) -> Variant:
    """What statements of functions compute is computed by helpers of the module."""
    return _moved(text, is_method=False)


def moved_to_method(text: str) -> Variant:
    """What statements of methods compute is computed by other methods."""
    return _moved(text, is_method=True)


def _moved(text: str, *, is_method: bool) -> Variant:
    source = _Text(text)
    comments = _comment_rows(text)
    edits: list[tuple[int, int, str]] = []
    helpers: list[str] = []
    count = 0
    calls: dict[str, str] = {}
    for owner, function in _functions(source.tree):
        if is_method and (owner is None or _receiver(function, source.tree) == set() or function.decorator_list):
            continue
        made: list[str] = []
        for value, known in _values(function):
            names = _may_move(value, known, function, comments)
            if names is None:
                continue
            count += 1
            parameters = ", ".join(name for name in names if not (is_method and name == "self"))
            name = f"{MARK}{count}"
            call = f"{'self.' * is_method}{name}({parameters})"
            calls[call] = source.of(value)
            edits.append((source.start(value), source.end(value), call))
            head = f"def {name}({', '.join((['self'] if is_method else []) + ([parameters] if parameters else []))}):"
            made += ["", head, f"    return ({source.of(value)})"]
        if is_method and made and owner is not None:
            row = _last_row(owner) + 1
            at = source.row_start(row)
            indentation = " " * owner.body[0].col_offset
            lines = "".join(f"{indentation if line else ''}{line}\n" for line in made)
            edits.append((at, at, lines if source.data[:at].endswith(b"\n") else "\n" + lines))
        else:
            helpers += made
    if not count:
        raise DoesNotApply("no statement to move")
    edits = _merged(edits)
    if helpers:
        # Before all definitions: what defines them may call them.
        place = _place_of_first(source)
        edits.append((place, place, "\n".join((*helpers, "", "", ""))))

    def original(piece: str) -> str:
        for call, moved in calls.items():
            piece = piece.replace(call, moved)
        return piece

    return Variant(_checked(source.edited(edits)), original, moves_code=True)


def _merged(edits: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Insertions at one place as one, in their order."""
    found: dict[tuple[int, int], str] = {}
    for start, end, content in edits:
        found[start, end] = found.get((start, end), "") + content
    return [(start, end, content) for (start, end), content in found.items()]


def _comment_rows(text: str) -> frozenset[int]:
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError) as error:
        raise DoesNotApply("does not parse") from error
    return frozenset(token.start[0] for token in tokens if token.type == tokenize.COMMENT)


def _functions(tree: ast.Module) -> Iterator[tuple[ast.ClassDef | None, Function]]:
    """The functions of a module and the methods of its classes."""
    for node in tree.body:
        if isinstance(node, Function):
            yield None, node
        elif isinstance(node, ast.ClassDef):
            yield from ((node, inner) for inner in node.body if isinstance(inner, Function))


def _values(function: Function) -> Iterator[tuple[ast.expr, frozenset[str]]]:
    """What the statements of a function compute, each with the variables that are surely bound there."""
    arguments = function.args
    given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    found: list[tuple[ast.expr, frozenset[str]]] = []
    _block(function.body, frozenset(a.arg for a in given if a is not None), found)
    yield from found


def _block(
    body: Sequence[ast.stmt], known: frozenset[str], found: list[tuple[ast.expr, frozenset[str]]]
) -> frozenset[str] | None:
    """The variables that are bound behind a block; None if its end is not reached."""
    for node in body:
        match node:
            case ast.Assign(value=value) | ast.AugAssign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                found.append((value, known))
                known |= _stored(node)
            case ast.Return(value=value):
                if value is not None:
                    found.append((value, known))
                return None
            case ast.Raise() | ast.Continue() | ast.Break():
                return None
            case ast.If():
                ways = [_block(node.body, known, found), _block(node.orelse, known, found)]
                left = [way for way in ways if way is not None]
                if not left:
                    return None
                known = frozenset.intersection(*left)
            case ast.For():
                _block(node.body, known | _stored(node.target), found)
                _block(node.orelse, known, found)
            case ast.While():
                _block(node.body, known, found)
                _block(node.orelse, known, found)
            case ast.With():
                variables = [item.optional_vars for item in node.items if item.optional_vars is not None]
                inside = _block(node.body, known.union(*map(_stored, variables)), found)
                if inside is None:
                    return None
                known = inside
            case ast.Try():
                _block(node.body, known, found)
            case ast.Delete():
                known -= _names(node)
    return known


def _stored(node: ast.AST) -> frozenset[str]:
    stored = (n for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    return frozenset(name.id for name in stored)


_LAZY = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda, ast.GeneratorExp, ast.Starred)
_PLAIN = (ast.Name, ast.Constant, ast.Attribute)


def _may_move(value: ast.expr, known: frozenset[str], function: Function, comments: frozenset[int]) -> list[str] | None:
    """The variables that a value reads, if another function can compute it; None if not, or if that is idle."""
    if isinstance(value, (*_PLAIN, ast.Tuple)):
        return None
    inner = list(ast.walk(value))
    if any(isinstance(node, _LAZY) for node in inner):
        return None
    if any(isinstance(n, ast.Name | ast.Attribute) and _is_private(n) for n in inner):
        return None
    if comments.intersection(range(value.lineno, (value.end_lineno or value.lineno) + 1)):
        return None
    comprehended = {name for node in inner if isinstance(node, ast.comprehension) for name in _stored(node.target)}
    read = dict.fromkeys(node.id for node in inner if isinstance(node, ast.Name))
    bound = {name for node in ast.walk(function) for name in _binds(node)}
    names = [name for name in read if name in bound or name in known]
    if set(names) & comprehended or not set(names) <= known | comprehended:
        return None
    return names


def _binds(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.alias(name=name, asname=other):
            yield (other or name).partition(".")[0]


def _is_private(node: ast.Name | ast.Attribute) -> bool:
    name = node.id if isinstance(node, ast.Name) else node.attr
    return (name.startswith("__") and not name.endswith("__")) or name in _REFLECTIVE or name == "__class__"


# --- attributes, annotations, base classes

_PLAIN_BASES = frozenset({"nn.Module", "torch.nn.Module", "Module", "object"})
_OF_TORCH = TENSOR_ONLY | {
    "training",
    "weight",
    "bias",
    "forward",
    "in_features",
    "out_features",
    "real",
    "imag",
    "grad",
}
_BY_NAME = frozenset(
    {"getattr", "setattr", "hasattr", "delattr", "vars", "eval", "exec", "locals", "__dict__", "__slots__"}
)


def attributes_renamed(text: str) -> Variant:
    """Attributes that the methods of a class bind have other names: those that nothing else in the file can mean."""
    source = _Text(text)
    nodes = list(ast.walk(source.tree))
    words = {n.id for n in nodes if isinstance(n, ast.Name)} | {n.attr for n in nodes if isinstance(n, ast.Attribute)}
    if words & _BY_NAME or any(letter in _ARMENIAN for letter in text):
        raise DoesNotApply("looks attributes up by name")
    given = {k.arg for k in nodes if isinstance(k, ast.keyword)}
    given |= {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    given |= {n.name for n in nodes if isinstance(n, Definition)}
    given |= {name for n in nodes if isinstance(n, ast.MatchClass) for name in n.kwd_attrs}
    given |= {n.id for c in nodes if isinstance(c, ast.ClassDef) for s in c.body for n in _stored_names(s)}
    others = {n.attr for n in nodes if isinstance(n, ast.Attribute) and ast.unparse(n.value) != "self"}
    bound = {
        n.attr
        for cls in source.tree.body
        if isinstance(cls, ast.ClassDef) and _PLAIN_BASES.issuperset(map(ast.unparse, cls.bases))
        for n in ast.walk(cls)
        if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)
    }
    names = {name for name in bound - given - others - _OF_TORCH if name[0] in _LATIN and not name.startswith("__")}
    places = [(n.attr, source.end(n) - len(n.attr)) for n in nodes if isinstance(n, ast.Attribute) and n.attr in names]
    wrong = {name for name, at in places if source.data[at : at + len(name)] != name.encode()}
    edits = {(at, at + len(name), _renamed(name)) for name, at in places if name not in wrong}
    if not edits:
        raise DoesNotApply("nothing to rename")
    return Variant(_checked(source.edited(edits)), lambda piece: piece.translate(_BACK))


def _stored_names(statement: ast.stmt) -> Iterator[ast.Name]:
    if not isinstance(statement, Definition):
        yield from (n for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def annotated(text: str) -> Variant:
    """Variables that functions bind once, to what is written as a number, a text or a list, are annotated as such."""
    source = _Text(text)
    edits: list[tuple[int, int, str]] = []
    names: set[str] = set()
    for function in _outermost(source.tree):
        stored = Counter(
            n.id for n in ast.walk(function) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
        )
        if any(isinstance(n, ast.Global | ast.Nonlocal) for n in ast.walk(function)):
            continue
        for node in _in_own_scope(function):
            if not isinstance(node, ast.Assign) or len(node.targets) != 1:
                continue
            target, kind = node.targets[0], _written_type(node.value)
            if (
                isinstance(target, ast.Name)
                and stored[target.id] == 1
                and kind
                and f"{target.id}: {kind} =" not in text
            ):
                names.add(f"{target.id}: {kind} =")
                edits.append((source.end(target), source.end(target), f": {kind}"))
    if not edits:
        raise DoesNotApply("nothing to annotate")

    def original(piece: str) -> str:
        return re.sub(r"\b(\w+): \w+ =", lambda found: f"{found[1]} =" if found[0] in names else found[0], piece)

    return Variant(_checked(source.edited(edits)), original)


def _written_type(value: ast.expr) -> str:
    match value:
        case ast.Constant(value=bool() | int() | float() | str()):
            return type(value.value).__name__
        case ast.JoinedStr():
            return "str"
        case ast.List():
            return "list"
        case ast.Dict():
            return "dict"
    return ""


def methods_in_base(text: str) -> Variant:
    """Methods of a class that derives from no class of the file stand in a base class of it."""
    source = _Text(text)
    nodes = list(ast.walk(source.tree))
    if any(isinstance(n, Function) and n.name == "__init_subclass__" for n in nodes):
        raise DoesNotApply("counts its classes")
    edits: list[tuple[int, int, str]] = []
    for count, cls in enumerate(node for node in source.tree.body if isinstance(node, ast.ClassDef)):
        bases = [ast.unparse(base) for base in cls.bases]
        if cls.decorator_list or cls.keywords or not _PLAIN_BASES.issuperset(bases) or cls.lineno == cls.body[0].lineno:
            continue
        moved = [node for node in cls.body[1:] if isinstance(node, Function) and _may_stand_in_base(node, cls)]
        if not moved:
            continue
        name = f"{MARK}Base{count}"
        rows = [(source.row_start(_first_row(node)), source.row_start(_last_row(node) + 1)) for node in moved]
        body = "".join(source.data[start:end].decode() for start, end in rows)
        head = f"class {name}({', '.join(bases)}):\n" if bases else f"class {name}:\n"
        start = source.row_start(cls.lineno)
        derived = f"class {cls.name}({name}):"
        edits += [(start, source.row_start(cls.lineno + 1), f"{head}{body}\n\n{derived}\n")]
        edits += [(start, end, "") for start, end in rows]
    if not edits:
        raise DoesNotApply("no method to move")
    return Variant(_checked(source.edited(edits)))


def _may_stand_in_base(method: Function, cls: ast.ClassDef) -> bool:
    """Whether a method is found in a base class as it is in its class."""
    if method.decorator_list or method.name.startswith("__") or method.name == "forward":
        return False
    names = [
        n.id if isinstance(n, ast.Name) else n.attr for n in ast.walk(method) if isinstance(n, ast.Name | ast.Attribute)
    ]
    if {"super", "__class__", cls.name} & set(names) or any(n.startswith("__") and not n.endswith("__") for n in names):
        return False
    if sum(isinstance(node, Function) and node.name == method.name for node in cls.body) > 1:
        return False
    at_definition = {name for node in cls.body for part in _at_definition(node) for name in _names(part)}
    return method.name not in at_definition


TRANSFORMATIONS: dict[str, Transformation] = {
    "crlf": crlf,
    "classes-reversed": classes_reversed,
    "class-first": class_first,
    "class-last": class_last,
    "statement-first": statement_first,
    "statement-in-functions": statement_in_functions,
    "variables-renamed": variables_renamed,
    "self-renamed": self_renamed,
    "parameters-renamed": parameters_renamed,
    "attributes-renamed": attributes_renamed,
    "annotated": annotated,
    "methods-in-base": methods_in_base,
    "moved-to-helper": moved_to_helper,
    "moved-to-method": moved_to_method,
}
"""Every transformation of a file, by its name."""
