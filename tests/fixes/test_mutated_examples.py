"""Examples of the pages after a few changes that nobody meant: eager is the same after all safe fixes.

A change exchanges an expression for another, deletes, repeats, swaps or guards statements, or brings one of another
example. So fixes meet code of every family in surroundings that their authors did not think of.
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from exportlint.pages import Block
from tests.catalogue import pages
from tests.fixes.test_eager import fixed
from tests.fixes.test_safe_in_eager import alike, traces

IMPORTS = "import math\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
CONDITIONS = ("x.sum() > 0", "x.shape[0] > 2", "(x > 0).any()", "self.training", "len(x) > 1")
LONGEST = 60
"""Characters of an expression that is put elsewhere."""


@cache
def examples() -> tuple[tuple[Block, ast.Module], ...]:
    """The blocks that eager can run, and their trees. What loops while a condition holds may not end once changed."""
    blocks = [b for page in pages() for b in page.blocks if b.directive("run") and b.kind and not b.is_script]
    plain = [b for b in blocks if not b.settings and not b.raises and "while " not in b.source]
    return tuple([(block, ast.parse(block.source)) for block in plain if "class Model" in block.source])


@cache
def safely_fixed() -> tuple[tuple[Block, ast.Module], ...]:
    """The examples that have a safe fix: it may stay one where it should not."""
    found = {page.original_of(b) for page in pages() for b in page.blocks if b.fix == "safe"}
    return tuple([example for example in examples() if example[0] in found])


class Mutator:
    """Changes examples, each by the numbers that a seed gives."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def mutant(self) -> tuple[Block, str] | None:
        """An example and its source after one to three changes; None if it is no program any more."""
        block, tree = self._one(safely_fixed() if self._random.random() < 0.7 else examples())
        tree = copy.deepcopy(tree)
        for _ in range(self._random.randint(1, 3)):
            function = self._one(functions(tree))
            if self._random.random() < 0.45:
                self._exchange(function)
            else:
                self._rearrange(function)
        try:
            source = IMPORTS + ast.unparse(ast.fix_missing_locations(tree)) + "\n"
            compile(source, "mutant.py", "exec")
        except (SyntaxError, ValueError):
            return None
        return block, source

    def _exchange(self, function: ast.FunctionDef) -> None:
        places = [
            (node, name, index)
            for node in ast.walk(function)
            if not isinstance(node, ast.JoinedStr)
            for name, values in ast.iter_fields(node)
            for index, value in enumerate(values if isinstance(values, list) else [values])
            if is_read(value)
        ]
        of = function if self._random.random() < 0.7 else self._other()
        others = [node for node in ast.walk(of) if is_read(node) and len(ast.unparse(node)) <= LONGEST]
        if not places or not others:
            return
        node, name, index = self._one(places)
        new = copy.deepcopy(self._one(others))
        values = getattr(node, name)
        if isinstance(values, list):
            values[index] = new
        else:
            setattr(node, name, new)

    def _rearrange(self, function: ast.FunctionDef) -> None:
        body = self._one(list(blocks(function)))
        at = self._random.randrange(len(body))
        statement = body[at]
        match self._random.randrange(5):
            case 0 if len(body) > 1:
                del body[at]
            case 1:
                body.insert(self._random.randrange(len(body) + 1), copy.deepcopy(statement))
            case 2:
                other = self._random.randrange(len(body))
                body[at], body[other] = body[other], statement
            case 3:
                orelse = [copy.deepcopy(self._one(body))] if self._random.random() < 0.4 else []
                test = ast.parse(self._one(CONDITIONS), mode="eval").body
                body[at] = ast.If(test, [statement], orelse)
            case _:
                body.insert(at, copy.deepcopy(self._one(self._other().body)))

    def _other(self) -> ast.FunctionDef:
        function: ast.FunctionDef = self._one(functions(self._one(examples())[1]))
        return function

    def _one(self, of: Sequence[Any]) -> Any:
        return self._random.choice(of)


def is_read(node: object) -> bool:
    parts = (ast.Starred, ast.JoinedStr, ast.FormattedValue, ast.Slice)
    return isinstance(node, ast.expr) and not isinstance(node, parts) and not is_written(node)


def is_written(node: ast.expr) -> bool:
    return isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))


def functions(tree: ast.Module) -> list[ast.FunctionDef]:
    """The functions but the constructors."""
    return [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name != "__init__"]


def blocks(function: ast.FunctionDef) -> Iterable[list[ast.stmt]]:
    for node in ast.walk(function):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                yield block


def arguments_of(block: Block) -> list[tuple[Any, ...]]:
    """The inputs of an example, and others of them: negated, that learn, of twice the size."""
    names = {"torch": torch}
    exec(compile(block.source, "example.py", "exec"), names)
    given = [eval(text, names) for text in block.inputs]
    first = given[0] if isinstance(given[0], tuple) else (given[0],)
    return [
        *(one if isinstance(one, tuple) else (one,) for one in given),
        tuple(-a if is_float(a) else a for a in first),
        tuple(a.clone().requires_grad_() if is_float(a) else a for a in first),
        tuple(torch.cat([a, a]) if isinstance(a, torch.Tensor) and a.dim() else a for a in first),
    ]


def is_float(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def seen(source: str, arguments: tuple[Any, ...]) -> list[object]:
    """What can be seen of a model; one exception is as good as another."""
    try:
        found = traces(source, arguments)
    except Exception as error:  # of the module or of the constructor
        return [type(error).__name__]
    return ["raises" if is_error(part) else part for part in found]


def is_error(part: object) -> bool:
    return isinstance(part, str) and part.endswith("Error") and part != "NameError"


def require_same(seeds: range, directory: Path) -> int:
    """How many of the mutants a safe fix changes."""
    changed = 0
    for seed in seeds:
        made = Mutator(seed).mutant()
        if made is None:
            continue
        block, source = made
        after = fixed(source, directory)
        if after == source:
            continue
        changed += 1
        for arguments in arguments_of(block):
            before = seen(source, arguments)
            if "NameError" in before or not alike(before, seen(source, arguments)):
                break  # the mutant is no program, or draws its own random numbers
            assert alike(before, seen(after, arguments)), f"seed {seed}, {block.name}:\n{source}\n{after}"
    return changed


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("first", range(0, 2_000, 400))
def test_many_mutants(first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # some write files
    assert require_same(range(first, first + 400), tmp_path) > 50
