"""Programs that change lists, dictionaries and sets through aliases: what the interpreter says of them is true."""

from __future__ import annotations

import ast
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exportlint.analysis.domain.heap import UNTRACKED
from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import (
    PYTHON,
    UNKNOWN,
    Const,
    Dict,
    Origin,
    Python,
    Sequence,
    Tensor,
    Tuple,
    Value,
)
from exportlint.analysis.eval.engine import Engine, Options
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.handlers import load_interpreter
from exportlint.analysis.project import Project
from exportlint.source import from_bytes
from exportlint.syntax.definitions import Module

HELPERS = """
class Box:
    def __init__(self, items):
        self.items = items
        self.entries = {}

    def add(self, value):
        self.items.append(value)
        self.entries["last"] = self.items

    def take(self):
        found, self.items = self.items, []
        return found


def push(xs, value):
    xs.append(value)
    return xs


def first(xs, ys):
    return xs


def moved(xs, ys):
    ys.append(xs.pop())


def fill(xs, n):
    if n > 0:
        xs.append(n)
        fill(xs, n - 1)


def rest(xs):
    return [] if not xs else [xs[0], *rest(xs[1:])]


def kept(entries, key, value):
    entries[key] = value
    return entries.get("x")


def default(value, found=[]):
    found.append(value)
    return found
"""
START = "a = [1, t]\nb = [3]\nc = a\nd = {'x': 1}\ne = {'y': b}\ns = {1}\nbox = Box(b)\n"
LISTS = [
    "{0} = {1}", "{0} = [4, t]", "{0} = list({1})", "{0} = {1}[:]", "{0} = {1} + {2}", "{0} += {1}", "{0}.append(6)",
    "{0}.append({1})", "{0}.append(t)", "{0}.pop()", "{0}.pop(0)", "{0}.pop(k)", "{0}.insert(0, t)",
    "{0}.insert(k, 7)", "{0}.extend({1})", "{0}.clear()", "{0}.reverse()", "{0}.remove(1)", "{0}[0] = 8",
    "{0}[-1] = {1}", "{0}[k] = t", "del {0}[0]", "del {0}[k]", "del {0}[:1]", "{0}[1:] = {1}", "{0}[:] = [1]",
    "{0}[k:] = [2]", "push({0}, {1})", "{0} = push({1}, t)", "{0} = first({1}, {2})", "moved({0}, {1})",
    "fill({0}, k)", "fill({0}, 2)", "fill({0}, 10)", "{0} = rest({1})", "put = {0}.append; put(3)",
    "put = {0}.pop; put()", "{0} = [{1}, {1}]", "{0}, {1} = {1}, {0}", "{0} = [*{1}, 3]", "{0} *= 2",
    "{0} = {1} if flag else {2}", "({0} if flag else {1}).append(t)", "{0} = default(t)", "{0}.append({0}.pop())",
    "{0} = {1}.copy()", "{0} += (t, 1)",
]  # fmt: skip
ATTRIBUTES = [
    "box.items = {0}", "{0} = box.items", "box.items.append({0})", "box.items.pop()", "box.add({0})", "box.add(t)",
    "{0} = box.take()", "box.entries = {3}", "{3} = box.entries", "box.entries['x'] = t", "box.entries.clear()",
    "put = box.items.append; put(t)", "box.items += {0}", "box = Box({0})",
]  # fmt: skip
DICTIONARIES = [
    "{3} = {4}", "{3} = dict({4})", "{3}['x'] = {0}", "{3}['y'] = t", "{3}[key] = {0}", "{3}.update({4})",
    "{3}.update(z=1)", "{3}.update([('x', {0})])", "{3}.pop('x')", "{3}.pop('x', None)", "{3}.pop(key, None)",
    "del {3}['y']", "del {3}[key]", "{3}.clear()", "{3}.popitem()", "{3}.setdefault('x', {0})",
    "{3}.setdefault(key, {0})", "{3}.setdefault('all', []).append({0})", "kept({3}, 'x', {0})", "kept({3}, key, 4)",
    "{0} = [{3}.get('x')]", "{0} = [{3}.get(key)]", "{0} = [{3}[key]]", "{3} = {{**{4}, 'x': {0}}}",
    "{3} = {{'x': 1, **{4}, key: t}}", "{0} = list({3})", "{0} = {3}.setdefault('l', {1})", "{3} |= {4}",
    "{3} = {4} | {{'x': t}}", "{0} = [{3}.pop(key, t)]",
]  # fmt: skip
SETS = [
    "s.add(2)",
    "s.add(k)",
    "s.discard(1)",
    "s.update({{3}})",
    "s |= {{k}}",
    "{0} = list(s)",
    "s = {{4}}",
    "s.clear()",
]
CHOICES = {"k": (0, 1, 3), "key": ("x", "y", "w"), "flag": (False, True)}
"""Variables of which the interpreter knows nothing, and what Python runs with."""
SHOWN = ("a", "b", "c", "d", "e", "s", "box.items", "box.entries")
"""What the interpreter and Python are asked for after a program."""


MAX_PARTS = 1_000


class Stub:
    """What Python computes with for a tensor, of which only matters where it is."""


@st.composite
def statements(draw: st.DrawFn) -> str:
    pattern = draw(st.sampled_from(LISTS + ATTRIBUTES + DICTIONARIES + SETS))
    lists = [draw(st.sampled_from("abc")) for _ in range(3)]
    entries = [draw(st.sampled_from("de")) for _ in range(2)]
    return pattern.format(*lists, *entries)


@st.composite
def programs(draw: st.DrawFn, depth: int = 2) -> str:
    lines = []
    for _ in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(["plain", "plain", "plain", "if", "else", "for", "while"])) if depth else "plain"
        if kind == "plain":
            lines.append(draw(statements()))
            continue
        inner = _indented(draw(programs(depth - 1)))
        if kind == "else":
            lines.append(f"if flag:\n{inner}\nelse:\n{_indented(draw(programs(depth - 1)))}")
        elif kind == "while":
            lines.append(f"n = k\nwhile n > 0:\n    n = n - 1\n{inner}")
        else:
            lines.append(f"{'if flag' if kind == 'if' else 'for _ in range(k)'}:\n{inner}")
    return "\n".join(lines)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


@cache
def module() -> Module:
    load_interpreter()
    text = HELPERS + "\n" * 300  # rows of the programs are looked up in it
    return Project().add(from_bytes(text.encode(), Path("model.py").absolute(), "model.py"))


def covers(value: Value, found: object, depth: int = 5) -> bool:
    """Whether a value of the interpreter stands for a value of Python."""
    return not depth or any(_covers(option, found, depth - 1) for option in options(value))


def _covers(value: Value, found: object, depth: int) -> bool:
    if value in (UNKNOWN, PYTHON):
        return True
    if isinstance(value, Tensor):
        return isinstance(found, Stub)
    if isinstance(value, Const):
        return type(value.value) is type(found) and value.value == found
    if isinstance(value, Python):
        return value.type == type(found).__name__
    if isinstance(value, Tuple) and isinstance(found, list):
        return len(value.items) == len(found) and all(map(lambda v, f: covers(v, f, depth), value.items, found))
    if isinstance(value, Sequence) and isinstance(found, (list, set)):
        return value.type == type(found).__name__ and all(covers(value.item, item, depth) for item in found)
    if isinstance(value, Dict) and isinstance(found, dict):
        known = dict(value.entries)
        return set(known) <= set(found) and all(
            (held := known.get(key, value.rest)) is not None and covers(held, item, depth)
            for key, item in found.items()
        )
    return False


def _parts(value: object) -> int:
    """How many parts a value of Python has, at most one more than matter."""
    waiting, count = [value], 0
    while waiting and count <= MAX_PARTS:
        held = waiting.pop()
        count += 1
        waiting += held.values() if isinstance(held, dict) else held if isinstance(held, (list, set)) else ()
    return count


def uncovered(program: str) -> tuple[object, ...] | None:
    """What the interpreter takes for something else after a program than it is in Python; None if nothing."""
    text = START + program
    frame = Frame(Engine(Project(), Options()), module())
    frame.env = {**dict.fromkeys(CHOICES, PYTHON), "t": Tensor(Origin.INPUT)}
    reached = frame.execute(ast.parse(text).body)
    held = {name: frame.evaluate(ast.parse(name, mode="eval").body) for name in SHOWN} if reached else {}
    if any(value.reaches & UNTRACKED for value in held.values()):
        return None  # one of so many containers that none of them is followed
    code = compile(HELPERS + text, "program", "exec")
    for chosen in product(*CHOICES.values()):
        variables: dict[str, object] = {**dict(zip(CHOICES, chosen, strict=True)), "t": Stub()}
        try:
            exec(code, variables)
        except (IndexError, KeyError, ValueError, TypeError, RecursionError, AttributeError):
            continue
        found = {name: eval(name, variables) for name in SHOWN}
        if _parts(found) > MAX_PARTS:
            continue  # also what holds itself: the interpreter shows that as it was once
        if not reached:
            return "the end is not reached", chosen
        for name in SHOWN:
            if not covers(held[name], found[name]):
                return name, held[name], found[name], chosen
    return None


@pytest.mark.thorough
@given(programs())
@settings(max_examples=80, deadline=None, derandomize=True)
def test_what_containers_hold_is_covered(program: str) -> None:
    assert uncovered(program) is None


@pytest.mark.parametrize(
    "program",
    [
        "moved(a, a)",
        "if flag:\n    a.pop(0)\na.pop()",
        "for _ in range(k):\n    push(b, c)",
        "for _ in range(k):\n    b += a",
        "if flag:\n    b = [4, 5]\nb += c",
        "d[key] = a\nd['x'] = b\nd.popitem()",
        "fill(a, 10)\nc.reverse()",
        "a.clear()\nc.extend(b)",
        "d.setdefault('all', []).append(a)\na.append(6)",
        "if flag:\n    a.insert(0, 7)\n    a = push(b, 1)\nfor _ in range(k):\n    b = b[:]\n    fill(b, 2)\nc[k] = 9",
        "if flag:\n    c.pop(k)\nfor _ in range(k):\n    put = c.append; put(3)",
        "if flag:\n    for _ in range(k):\n        box = Box(c)\n    box.entries = d",
        "if flag:\n    box.items = a",
        "if flag:\n    box.entries['x'] = t",
        "for _ in range(k):\n    fill(b, 2)\n    b = [4, t]\nb.pop()",
        "if flag:\n    for _ in range(k):\n        a[k:] = [2]\n        box.items = c\n    box.items.pop()",
        "fill(a, 10)",
        "if flag:\n    a.extend(c)\n    a[k] = 9\nelse:\n    e.clear()\n    b = [4, 5]\nb = c + b\nmoved(b, c)",
    ],
)
def test_what_programs_do_through_aliases_is_covered(program: str) -> None:
    assert uncovered(program) is None
