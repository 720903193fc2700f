"""What stands in for a program that torch refused to make, so that a script goes on to its next call."""

from __future__ import annotations

import ast
import contextlib
import functools
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

from .lazily import pytree, torch
from .own import is_own
from .rows import tracing
from .texts import first_line, text_of


class NeedsProgramError(Exception):
    """Something cannot be made without a program that there is not."""


class NoProgram:
    """A program that there is not. Whatever a script makes of it is this again, as with a NaN among numbers.

    With `_exportlint_passes` off, whoever makes something of it is refused.
    """

    _exportlint_passes = True

    def __init__(self, error: BaseException, row: int) -> None:
        self._exportlint_error = error
        self._exportlint_row = row

    def _exportlint_refuse(self) -> NoReturn:
        raise NeedsProgramError(why(self)) from self._exportlint_error

    def _exportlint_pass(self) -> NoProgram:
        if not NoProgram._exportlint_passes:
            self._exportlint_refuse()
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("__", "_exportlint_")):
            raise AttributeError(name)
        return self._exportlint_pass()

    def __setattr__(self, name: str, value: object) -> None:
        if name.startswith("_exportlint_"):
            super().__setattr__(name, value)

    @classmethod
    def __torch_function__(cls, function: object, types: object, args: Any = (), kwargs: Any = None) -> Any:
        found = first_of((*args, *(kwargs or {}).values()))
        return found and found._exportlint_pass()

    def __call__(self, *_: object, **__: object) -> Any:
        """What a method of the program would give."""
        return self._exportlint_pass()

    def __enter__(self) -> Any:
        return self._exportlint_pass()

    def __exit__(self, *_: object) -> None:
        return None

    def __iter__(self) -> Iterator[Any]:
        self._exportlint_pass()
        return iter(())

    def __len__(self) -> int:
        self._exportlint_pass()
        return 0

    def __format__(self, _: str) -> str:
        return repr(self)

    def __bool__(self) -> bool:
        self._exportlint_pass()
        return True  # the script goes on behind its `assert`

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"<no program: {why(self)}>"


def _the_same(self: Any, *_: object) -> Any:
    return self._exportlint_pass()


def _refuse(self: Any, *_: object) -> Any:
    self._exportlint_refuse()


for _name in ["add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"]:
    setattr(NoProgram, f"__{_name}__", _the_same)
    setattr(NoProgram, f"__r{_name}__", _the_same)
for _name in ["getitem", "eq", "ne", "lt", "le", "gt", "ge", "neg", "abs", "invert"]:
    setattr(NoProgram, f"__{_name}__", _the_same)
for _name in ["int", "float", "index", "complex", "array"]:
    setattr(NoProgram, f"__{_name}__", _refuse)


def why(program: NoProgram) -> str:
    """Why there is no program, on one line."""
    error = program._exportlint_error
    said = f"{type(error).__name__}: {first_line(text_of(error))}"
    return f"torch rejects the call of torch.export at line {program._exportlint_row}: {said}"


def first_of(values: Iterable[Any]) -> NoProgram | None:
    """The first stand-in among values and the lists and tuples among them."""
    for value in values:
        found = first_of(value) if type(value) in (list, tuple) else value
        if type(found) is NoProgram:
            return found
    return None


def passing(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of torch that gives a stand-in back instead of complaining about it."""

    def passed(*arguments: Any, **keywords: Any) -> Any:
        found = first_of((*arguments, *keywords.values()))
        return function(*arguments, **keywords) if found is None else found

    return passed


def made_by(original: Any, arguments: Any, keywords: Any, frame: Any, refused: list[NoProgram]) -> Any:
    """What a call of torch.export gives that is not the one to be verified.

    Where torch refuses it, that is a stand-in, which is added to those that are `refused`.

    Raises:
        Exception: torch refuses it, and the code around `frame` catches that.
    """
    lacking = first_of((*arguments, *keywords.values()))
    if lacking is not None:
        return lacking
    try:
        with tracing(None):  # that of `Way.end_behind` slows torch down, and Dynamo does not like it
            return original(*arguments, **keywords)
    except Exception as error:
        if is_caught(error, frame):
            raise
        refused.append(NoProgram(error, frame.f_lineno))
        return refused[-1]


@contextlib.contextmanager
def calls_replaced(replace: Callable[[Any], Any]) -> Iterator[Callable[[], None]]:
    """Have functions of torch.export be what `replace` makes of them; and what takes programs, take stand-ins.

    Yields what ends that.
    """
    makers = [(torch.export, name) for name in ("export", "export_for_training", "draft_export")]
    takers = [(torch.export, "save"), (torch.export, "unflatten"), (torch.testing, "assert_close")]
    places = [(module, name) for module, name in makers + takers if hasattr(module, name)]
    originals = {(module, name): getattr(module, name) for module, name in places}

    replaced = {place: (replace if place in makers else passing)(original) for place, original in originals.items()}

    def restore() -> None:
        for (module, name), ours in replaced.items():
            if getattr(module, name, None) is ours:  # and nothing that the user's code has put there
                setattr(module, name, originals[module, name])

    for (module, name), ours in replaced.items():
        setattr(module, name, ours)
    try:
        yield restore
    finally:
        restore()


@contextlib.contextmanager
def imports_go_on() -> Iterator[None]:
    """Have a module be imported although torch refuses what it exports at its top level, and it does not catch that.

    What else it defines can be verified, unless it uses such a program.

    Raises:
        Exception: the import fails, with what torch said of the first such call, if there is one.
    """
    refused: list[NoProgram] = []
    is_over, passed = False, NoProgram._exportlint_passes

    def replace(original: Any) -> Any:
        @functools.wraps(original)
        def call(*arguments: Any, **keywords: Any) -> Any:
            if is_over:  # the module has got hold of it by `from torch.export import export`
                return original(*arguments, **keywords)
            return made_by(original, arguments, keywords, sys._getframe(1), refused)

        return call

    NoProgram._exportlint_passes = True
    with calls_replaced(replace):
        try:
            yield
        except Exception:
            if not refused:
                raise
            raise refused[0]._exportlint_error from None
        finally:
            is_over = True
            NoProgram._exportlint_passes = passed and not refused


def refuse_given(value: Any) -> None:
    """See to it that what a model gives has no stand-ins in it. Raises NeedsProgramError."""
    if not NoProgram._exportlint_passes:
        found = first_of(pytree.tree_leaves(value))
        if found is not None:
            found._exportlint_refuse()


_CATCHING = ("suppress", "raises", "assertRaises", "assertRaisesRegex")
"""What a `with` calls that is to catch something."""


def is_caught(error: BaseException, frame: Any) -> bool:
    """Whether code that is running catches what is raised at a frame, as far as its source says."""
    while frame is not None and not is_own(frame.f_code.co_filename):
        with contextlib.suppress(OSError, SyntaxError, ValueError):
            with open(frame.f_code.co_filename, "rb") as file:
                tree = ast.parse(file.read())
            if any(_catches(statement, error, frame) for statement in _around(tree, frame.f_lineno)):
                return True
        frame = frame.f_back
    return False


def _around(tree: ast.AST, row: int) -> list[ast.AST]:
    """The `try` and `with` statements around a row, within its function."""
    found: list[ast.AST] = []
    node: ast.AST | None = tree
    while node is not None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found = []
        inside = next((child for child in _statements(node) if child.lineno <= row <= (child.end_lineno or 0)), None)
        if isinstance(node, (ast.With, ast.AsyncWith)) or (isinstance(node, ast.Try) and inside in node.body):
            found.append(node)
        node = inside
    return found


def _statements(node: ast.AST) -> Iterator[Any]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.stmt, ast.ExceptHandler)):
            yield child
        elif not hasattr(child, "lineno"):  # the case of a match
            yield from _statements(child)


def _catches(statement: ast.AST, error: BaseException, frame: Any) -> bool:
    if isinstance(statement, ast.Try):
        return any(handler.type is None or _is_of(handler.type, error, frame) for handler in statement.handlers)
    calls = (item.context_expr for item in getattr(statement, "items", ()))
    names = (ast.unparse(call.func).rpartition(".")[2] for call in calls if isinstance(call, ast.Call))
    return any(name in _CATCHING for name in names)


def _is_of(node: ast.expr, error: BaseException, frame: Any) -> bool:
    try:
        code = compile(ast.Expression(node), frame.f_code.co_filename, "eval")
        return isinstance(error, eval(code, frame.f_globals, frame.f_locals))  # noqa: S307 - names of exceptions
    except Exception:
        return True
