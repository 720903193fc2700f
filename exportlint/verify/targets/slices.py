"""The statements that a piece of code needs, and no others: a backward slice, as program analysis calls it."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from exportlint.syntax.definitions import FunctionNode, Module
from exportlint.verify.targets.fixtures import Shared, nothing, tests_of_class, with_fixtures
from exportlint.verify.targets.signatures import parameters

Trail = tuple[tuple[Sequence[ast.stmt], int], ...]
"""Where a statement is: the bodies around it, the outermost first, each with the index of what leads to it."""

_WRITING = r"(mode\s*=\s*)?['\"][rwaxbt+]*[wax+][bt+]*['\"]"
"""How the mode of a file that is written to stands in a call."""
_EFFECTS = re.compile(
    r"[Dd]ataset|[Dd]ata_?[Ll]oader|\w*_loader\b|\bloader\b|load_state_dict|torch\.load\(|from_pretrained|hub\.load"
    r"|pretrained\s*=\s*True|download|urlopen|urlretrieve|\brequests\.|subprocess|os\.(system|remove|makedirs|mkdir|rename)"
    rf"|shutil\.|open\([^)]*,\s*{_WRITING}|\.open\({_WRITING}|\.(mkdir|rmdir|touch|unlink|write_text|write_bytes)\("
    r"|\b(torch|np|numpy)\.save\w*\(|init_process_group|\bwandb\b|\binput\(|\bexit\(|\.backward\(|\.step\("
    r"|Image\.open|imread|SummaryWriter\("
)
"""What a slice must not do: train, read data sets and checkpoints, fetch, write, wait for somebody."""
_OPTION = re.compile(r"\.dataset\b(?![(.\[])")
"""The name of a data set as a plain value."""
_OF_MODELS = frozenset({"load_state_dict", "cuda", "to", "train", "eval", "half", "print", "summary"})
"""Methods that are called for what they do to a model, which verify sees to."""
_MOST_CALLERS = 5
"""How many calls are followed from a function to who calls it."""
_KNOWN = frozenset(dir(builtins)) | {"__file__", "__name__"}
_CERTAIN = (ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
"""Statements that bind whatever happens."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Code that runs by itself: the body of a file, or of a function that can be called without arguments.

    `shared` are the fixtures from other files that tests may ask for.
    """

    module: Module
    body: Sequence[ast.stmt]
    function: FunctionNode | None = None
    shared: Shared = nothing

    def statements(self) -> Iterator[tuple[ast.stmt, Trail]]:
        """Its statements, also those inside of others, each with where it is."""
        yield from _statements(self.body, ())


def _statements(body: Sequence[ast.stmt], above: Trail) -> Iterator[tuple[ast.stmt, Trail]]:
    for index, statement in enumerate(body):
        here = (*above, (body, index))
        yield statement, here
        if isinstance(statement, (FunctionNode, ast.ClassDef)):
            continue
        for part in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, part, ()), here)


def own_expressions(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement, without those of the statements inside of it."""
    if isinstance(statement, (FunctionNode, ast.ClassDef)):
        return
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        children = ast.iter_child_nodes(node)
        waiting += [child for child in children if not isinstance(child, (ast.stmt, ast.excepthandler))]


def slice_of(scope: Scope, trail: Trail, wanted: Sequence[ast.expr], *, is_imported: bool) -> list[ast.stmt] | None:
    """What has to run before some expressions at a place of a scope can be evaluated, in order.

    What parameters of a function are is what they are by default, or else what the first call in the file gives them.
    With `is_imported`, the file has run already, but for what only runs if it is the main program. None if that cannot
    be told, or would do more than make things.
    """
    known = _bound_on_import(scope.module) if is_imported else frozenset[str]()
    found = _Slice({name for node in wanted for name in free(node)})
    for _ in range(_MOST_CALLERS):
        if scope.function is None:
            found.know(known | (_KNOWN - {name for statement in scope.body for name in bound_by(statement)}))
        found.go_back(trail)
        function = scope.function
        if function is None:
            break
        found.bind_defaults(function)
        if not {argument.arg for argument in parameters(function)} & found.needed:
            scope = Scope(scope.module, main_body(scope.module), shared=scope.shared)
            trail = ((scope.body, len(scope.body)),)
            continue
        called = next(_calls_of(function, scope), None)
        if called is None or not found.bind_arguments(function, called[0]):
            return None
        _, scope, trail = called
    found.know(_KNOWN)
    if found.needed and not scope.module.stars:
        return None
    if found.needed and not is_imported:
        found.picked += reversed([s for s in scope.module.tree.body if _is_star(s)])
    return None if has_effects([*found.picked, *wanted]) else list(reversed(found.picked))


def has_effects(nodes: Iterable[ast.AST]) -> bool:
    """Whether code does more than make things.

    Sentences, as the help of an option, do nothing, nor do options, as `--dataset` and `args.dataset`.
    """
    for node in nodes:
        text = _OPTION.sub("", ast.unparse(node))
        constants = (one.value for one in ast.walk(node) if isinstance(one, ast.Constant))
        for harmless in {v for v in constants if isinstance(v, str) and (" " in v or v.startswith("--"))}:
            text = text.replace(repr(harmless), "''")
        if _EFFECTS.search(text):
            return True
    return False


def _is_star(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*"


def scopes(module: Module, shared: Shared = nothing) -> Iterator[Scope]:
    """The code of a file by functions, what is the main program first."""
    yield Scope(module, main_body(module), shared=shared)
    for statement in main_body(module):
        if isinstance(statement, FunctionNode):
            functions = with_fixtures(statement, module.tree.body, shared)
            yield from (Scope(module, function.body, function, shared) for function in functions)
        elif isinstance(statement, ast.ClassDef):
            tests = tests_of_class(statement, module.tree.body, shared)
            yield from (Scope(module, test.body, test, shared) for test in tests)


def _calls_of(function: FunctionNode, caller: Scope) -> Iterator[tuple[ast.Call, Scope, Trail]]:
    for scope in scopes(caller.module, caller.shared):
        if scope.function is not function:
            for statement, trail in scope.statements():
                for node in own_expressions(statement):
                    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function.name:
                        yield node, scope, trail


def main_body(module: Module) -> Sequence[ast.stmt]:
    """What a file does if it is the main program."""
    found: list[ast.stmt] = []
    for statement in module.tree.body:
        found += statement.body if isinstance(statement, ast.If) and _is_main(statement) else [statement]
    return found


def _is_main(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test)


def _bound_on_import(module: Module) -> frozenset[str]:
    return frozenset(name for s in module.tree.body if not _is_main(s) for name in bound_by(s))


class _Slice:
    """What was picked so far, the last statement first, and the names that have to be bound before it."""

    def __init__(self, needed: set[str]) -> None:
        self.picked: list[ast.stmt] = []
        self.needed = needed
        self._known = frozenset[str]()

    def know(self, names: frozenset[str]) -> None:
        """Take some names for bound from here on, as those of a file are once no variable of a function hides them."""
        self._known = names
        self.needed = self.needed - names

    def go_back(self, trail: Trail) -> None:
        """Go through what stands before a place, from the end to the beginning."""
        for depth in reversed(range(len(trail))):
            body, index = trail[depth]
            if depth + 1 < len(trail):
                self._enter(body[index])
            for statement in reversed(body[:index]):
                self._look(statement)

    def _enter(self, owner: ast.stmt) -> None:
        """Take the first round of a loop around."""
        if isinstance(owner, ast.For) and bound_by(owner.target) & self.needed:
            first = ast.Call(
                ast.Name("next", ast.Load()), [ast.Call(ast.Name("iter", ast.Load()), [owner.iter], [])], []
            )
            self._pick(ast.copy_location(ast.Assign([owner.target], first), owner), bound_by(owner.target))

    def _look(self, statement: ast.stmt) -> None:
        bound = bound_by(statement)
        if bound & self.needed:
            self._pick(statement, bound if isinstance(statement, _CERTAIN) else set())
        elif _changes(statement, self.needed):
            self._pick(statement, set())
        elif isinstance(statement, ast.If):
            changing = self._changing(statement)
            if changing is not None:
                self._pick(changing, set())

    def _changing(self, statement: ast.If) -> ast.If | None:
        """A condition with those of its statements alone that change what is needed."""
        body, other = ([s for s in map(self._kept, part) if s] for part in (statement.body, statement.orelse))
        if not body and not other:
            return None
        return ast.copy_location(ast.If(statement.test, body or [ast.Pass()], other), statement)

    def _kept(self, statement: ast.stmt) -> ast.stmt | None:
        if isinstance(statement, ast.If):
            return self._changing(statement)
        return statement if _changes(statement, self.needed) else None

    def _pick(self, statement: ast.stmt, bound: set[str]) -> None:
        self.picked.append(ast.fix_missing_locations(statement))
        self.needed = ((self.needed - bound) | free(statement)) - self._known

    def bind_defaults(self, function: FunctionNode) -> None:
        """Bind those parameters that are needed and have defaults."""
        arguments = function.args
        positional = [*arguments.posonlyargs, *arguments.args]
        with_defaults = positional[len(positional) - len(arguments.defaults) :]
        defaults = {a.arg: value for a, value in zip(with_defaults, arguments.defaults, strict=True)}
        named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        defaults |= {a.arg: value for a, value in named if value is not None}
        if arguments.vararg:
            defaults[arguments.vararg.arg] = ast.Tuple([], ast.Load())
        if arguments.kwarg:
            defaults[arguments.kwarg.arg] = ast.Dict([], [])
        self._bind({name: value for name, value in defaults.items() if name in self.needed}, function)

    def bind_arguments(self, function: FunctionNode, call: ast.Call) -> bool:
        """Bind the parameters that are needed to what a call gives them. Returns whether it gives them all."""
        positional = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
        given = dict(zip(positional, call.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        given = {name: value for name, value in given.items() if name in self.needed}
        self._bind({n: v for n, v in given.items() if not (isinstance(v, ast.Name) and v.id == n)}, call)
        wanted = self.needed & {argument.arg for argument in parameters(function)}
        return wanted <= given.keys() and not any(isinstance(value, ast.Starred) for value in given.values())

    def _bind(self, values: Mapping[str, ast.expr], place: ast.stmt | ast.expr) -> None:
        """All at once, for what one value is may be called as another parameter is."""
        if values:
            targets = ast.Tuple([ast.Name(name, ast.Store()) for name in values], ast.Store())
            statement = ast.Assign([targets], ast.Tuple(list(values.values()), ast.Load()))
            self._pick(ast.copy_location(statement, place), set(values))


def _changes(statement: ast.stmt, names: set[str]) -> bool:
    """Whether a statement changes what a name stands for: `parser.add_argument(...)`, `options.x = 1`."""
    match statement:
        case ast.Expr(ast.Call(ast.Attribute(value=receiver, attr=method))):
            text = ast.unparse(receiver)
            return text == "sys.path" or (method not in _OF_MODELS and _root(receiver) in names)
        case ast.Assign(targets=[target]) | ast.AugAssign(target=target):
            parts = target.elts if isinstance(target, ast.Tuple) else [target]
            return any(isinstance(part, ast.Attribute | ast.Subscript) and _root(part) in names for part in parts)
    return False


def _root(node: ast.AST) -> str | None:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def bound_by(node: ast.AST) -> set[str]:
    """The names that a statement, or a target, binds around it."""
    if isinstance(node, (FunctionNode, ast.ClassDef)):
        return {node.name}
    found: set[str] = set()
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load):
            found.add(one.id)
        elif isinstance(one, (ast.Import, ast.ImportFrom)):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in one.names}
        if isinstance(one, (FunctionNode, ast.ClassDef)):
            found.add(one.name)
        elif not isinstance(one, (ast.Lambda, ast.comprehension)):
            waiting += ast.iter_child_nodes(one)
    return found


def _bound_itself(node: ast.AST) -> set[str]:
    """The names that a node binds without those inside of it."""
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Store) else set()
    return bound_by(node) if isinstance(node, (ast.Import, ast.ImportFrom, FunctionNode, ast.ClassDef)) else set()


def free(node: ast.AST) -> set[str]:
    """The names that a piece of code reads, and does not bind itself for itself alone."""
    read: set[str] = set()
    inner: set[str] = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load):
            read.add(one.id)
        elif isinstance(one, ast.comprehension):
            inner |= {n.id for n in ast.walk(one.target) if isinstance(n, ast.Name)}
        elif isinstance(one, ast.ExceptHandler) and one.name:
            inner.add(one.name)
        elif isinstance(one, (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef)):
            inner |= {n.arg for n in ast.walk(one.args) if isinstance(n, ast.arg)}
            inner |= {name for part in ast.walk(one) if part is not one for name in _bound_itself(part)}
        elif isinstance(one, (ast.With, ast.For)) and one is not node:
            inner |= bound_by(one)
    if isinstance(node, (ast.If, ast.With, ast.For, ast.Try)):
        inner |= bound_by(node) - (free(node.test) if isinstance(node, ast.If) else set())
    return read - inner
