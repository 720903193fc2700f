"""What stands in for a program that torch refused to make, so that a script goes on to its next call."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

from .own import is_own
from .texts import first_line, text_of


class NeedsProgramError(Exception):
    """Something cannot be made without a program that there is not."""


class NoProgram:
    """A program that there is not. Whatever a script makes of it is this again, as with a NaN among numbers."""

    def __init__(self, error: BaseException, row: int) -> None:
        self._exportlint_error = error
        self._exportlint_row = row

    def _exportlint_refuse(self) -> NoReturn:
        raise NeedsProgramError(why(self)) from self._exportlint_error

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __setattr__(self, name: str, value: object) -> None:
        if name.startswith("_exportlint_"):
            super().__setattr__(name, value)

    @classmethod
    def __torch_function__(cls, function: object, types: object, args: Any = (), kwargs: Any = None) -> Any:
        return first_of((*args, *(kwargs or {}).values()))

    def __call__(self, *_: object, **__: object) -> Any:
        """What a method of the program would give."""
        return self

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __bool__(self) -> bool:
        return True  # the script goes on behind its `assert`

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"<no program: {why(self)}>"


def _the_same(self: Any, *_: object) -> Any:
    return self


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
    return f"torch refuses the call of torch.export at line {program._exportlint_row}: {said}"


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
