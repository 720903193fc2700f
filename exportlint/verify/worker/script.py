"""Model and inputs of a call of torch.export in a script."""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import importlib.machinery
import inspect
import itertools
import os
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .again import LeftError, way_to_the_same_call
from .frames import frame_event
from .inputs import to_device
from .lazily import pytree, torch
from .models import Subject
from .modules import imports_relatively
from .no_program import NeedsProgramError, NoProgram, calls_replaced, first_of, made_by, why
from .options import options_may_be_missing
from .texts import first_line, text_of, with_article
from .words import Example, Job


class _Reached(BaseException):
    """A script has come to the call that is verified, and is done. Not an `Exception`: no `except` there stops it."""


@dataclass(frozen=True)
class ExportCall:
    """A call of torch.export in a script. `strict` is the tracer that it asks for, `make` makes it.

    `given` are its arguments by name, None where they do not fit the parameters. `again`: the script may come there
    once more.
    """

    make: Callable[[], Any]
    given: Mapping[str, Any] | None
    strict: bool
    place: Mapping[str, Any]
    again: bool

    def refuse_stand_ins(self) -> None:
        """See to it that the call has all that it is made with.

        Raises:
            NeedsProgramError: it needs the program of an earlier call, which torch refused.
        """
        given = self.given or {}
        model = given.get("mod")
        held = [vars(part) for part in model.modules()] if isinstance(model, torch.nn.Module) else [model]
        used = first_of(pytree.tree_leaves([held, given.get("args"), given.get("kwargs")]))
        if used is not None:
            used._exportlint_refuse()

    def taken_apart(self, device: str) -> tuple[Subject, Example]:
        """The model and what it is called with.

        Raises:
            TypeError: the call has something else, of which torch has its word to say.
        """
        if self.given is None:
            raise TypeError("the arguments of the call do not fit torch.export")
        model = self.given["mod"]
        if not isinstance(model, torch.nn.Module):
            raise TypeError(f"torch.export is called with {with_article(model)}, not an nn.Module")
        model = model.to(device)
        arguments, keywords = to_device((self.given["args"], self.given.get("kwargs") or {}), device)
        if not isinstance(arguments, tuple):
            raise TypeError(f"the arguments are {with_article(arguments)}: torch.export takes a tuple")
        return Subject(model, None), Example(arguments, keywords, self.given.get("dynamic_shapes"))


def run_script(job: Job, examine: Callable[[ExportCall], None]) -> None:
    """Run a script up to its call of torch.export at the row of the job, and examine there what it calls it with.

    The call is still running meanwhile: the script is `__main__`, and what its `with` statements set up holds. Where
    torch refuses an earlier call, and the script does not catch that, it goes on with what stands in for the program.
    A call that is met several times is examined when it is met for the `meeting`-th time. One in a function that the
    script does not call is met by calling it.

    Raises:
        LookupError: it ended before. NeedsProgramError: the call needs what an earlier one lacks. And whatever the
            script or `examine` raises.
    """
    script = job["inputs"]["script"]
    file, row, meeting = os.path.realpath(script["file"]), script["row"], script["meeting"]
    met = 0
    raised: list[BaseException] = []
    refused: list[NoProgram] = []

    def intercept(original: Any) -> Any:
        @functools.wraps(original)
        def call(*arguments: Any, **keywords: Any) -> Any:
            nonlocal met
            frame = sys._getframe(1)
            if os.path.realpath(frame.f_code.co_filename) != file or row not in _rows(frame):
                return made_by(original, arguments, keywords, frame, refused)
            met += 1
            way = way_to_the_same_call(frame)
            if met < meeting:
                try:
                    return made_by(original, arguments, keywords, frame, refused)
                finally:
                    if met == meeting - 1 and way is not None:
                        way.end_behind()
            sys.settrace(None)
            restore()
            place = frame_event(file, row, frame.f_code.co_name)
            given = _bound(original, arguments, keywords)
            strict = bool(given and given.get("strict"))
            found = ExportCall(
                functools.partial(original, *arguments, **keywords), given, strict, place, way is not None
            )
            try:
                examine(found)
            except BaseException as error:  # which no `except` of the script is to take
                raised.append(error)
            raise _Reached

        return call

    main, arguments, sys.argv = sys.modules["__main__"], sys.argv, [file]
    with calls_replaced(intercept) as restore, options_may_be_missing() as missing:
        try:
            _run_as_main(file, job["model"]["module"])
            _call_function_at(file, row)
        except _Reached:
            pass
        except LeftError:
            raise LookupError(f"the script does not call torch.export again at line {row}") from None
        except NeedsProgramError:
            raise
        except Exception as error:
            if not refused and not missing:
                raise
            ended = f"{type(error).__name__}: {first_line(text_of(error))}"
            reason = why(refused[-1]) if refused else f"it was run without its required {', '.join(missing)}"
            raise LookupError(f"the script ended before line {row} with {ended}, and {reason}") from error
        except SystemExit as error:
            raise LookupError(f"the script ended with {error!r} before line {row}") from None
        else:
            raise LookupError(f"the script ended without calling torch.export at line {row}")
        finally:
            sys.settrace(None)
            sys.argv = arguments
            sys.modules["__main__"] = main
    if raised:
        raise raised[0]


def _bound(function: Any, arguments: Any, keywords: Any) -> Mapping[str, Any] | None:
    try:
        bound = inspect.signature(function).bind(*arguments, **keywords)
    except TypeError:
        return None
    bound.apply_defaults()
    return bound.arguments


def _run_as_main(file: str, name: str) -> None:
    """Run a file as `python FILE` does, or `python -m NAME` if it imports relatively to its package.

    It stays `__main__`: what it defines looks there for its globals.
    """
    loader = importlib.machinery.SourceFileLoader("__main__", file)
    data = loader.get_data(file)
    code = loader.source_to_code(data, file)
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=file, __builtins__=builtins, __loader__=loader)
    package = name.rpartition(".")[0]
    if package and imports_relatively(data):
        importlib.import_module(package)
        main.__package__ = package
    else:
        sys.path.insert(0, os.path.dirname(file))
    sys.modules["__main__"] = main
    exec(code, main.__dict__)  # noqa: S102 - it is the user's script


def _call_function_at(file: str, row: int) -> None:
    """Call the function of a script that has a row, which the script has not called, if it needs no arguments."""
    with open(file, "rb") as script:
        body = ast.parse(script.read()).body
    functions = (node for node in body if isinstance(node, ast.FunctionDef) and node.end_lineno)
    name = next((node.name for node in functions if node.lineno <= row <= (node.end_lineno or 0)), None)
    function = None if name is None else getattr(sys.modules["__main__"], name, None)
    if inspect.isfunction(function) and not any(
        parameter.default is parameter.empty and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        for parameter in inspect.signature(function).parameters.values()
    ):
        function()


def _rows(frame: Any) -> range:
    """The rows of the call that a frame is at."""
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is not None:
        first, last, *_ = next(itertools.islice(positions(), frame.f_lasti // 2, None))
        if first and last:
            return range(first, last + 1)
    return range(frame.f_lineno, frame.f_lineno + 1)
