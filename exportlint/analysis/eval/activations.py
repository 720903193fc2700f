"""Calls and constructors that are being run, and what is known so far of the result of those that call themselves."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import NamedTuple

from exportlint.analysis.domain.heap import EMPTY, Heap
from exportlint.analysis.domain.values import Function, Instance, Value
from exportlint.analysis.eval.effects import Effects, Places, Summary
from exportlint.syntax.definitions import Class


class Context(NamedTuple):
    """What the result of a call depends on besides its function, its variables and the heap."""

    is_silent: bool
    is_tracing: bool
    is_constructing: bool
    has_parameters: bool
    is_guarded: bool
    is_on_accelerator: bool
    is_catching: bool
    region: int
    is_unrecorded: bool


class CallKey(NamedTuple):
    """What the result of a call depends on besides the heap."""

    function: ast.AST
    context: Context
    variables: tuple[tuple[str, Value], ...]
    captured: tuple[object, ...]


@dataclass(slots=True, eq=False)
class Activation:
    """A call of a function that is being run.

    `context` is how it runs besides its arguments, `variables` are these, `captured` the variables of enclosing
    functions. `approximation` is what is known of its result, None while no run has returned. `is_asked`: a recursive
    call has taken the approximation. `is_provisional`: so has one of a call outside of this one, so that the result
    holds only until that one is known better.
    """

    function: Function
    context: Context | None = None
    variables: dict[str, Value] = field(default_factory=dict)
    captured: tuple[object, ...] = ()
    heap: Heap = EMPTY
    given: Places = ()
    effects: Effects | None = None
    approximation: Summary | None = None
    is_asked: bool = False
    is_provisional: bool = False


@dataclass(slots=True, eq=False)
class Construction:
    """A constructor that is being run. `depth` is how many calls were being run when it began.

    `is_provisional`: it holds an object that an outer one is still making.
    """

    definition: Class
    arguments: tuple[tuple[str | None, Value], ...]
    instance: Instance
    depth: int
    is_provisional: bool = False
