"""`itertools`."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.lattice import join
from exportlint.analysis.domain.values import NONE, PYTHON, UNKNOWN, Const, Sequence, Tensor, Tuple, Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.demands import MAX_UNROLLED, data_of, demand_truth, elements, known_items
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.facts import Construct
from exportlint.analysis.library_functions import function, functions

functions("itertools.count", numbers=(0, 1))


@function("itertools.cycle itertools.accumulate")
@function("itertools.islice", numbers=(1, 2, 3))
def _iterate(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`itertools.cycle(items)`."""
    item = elements(frame, arguments.get(0, "iterable") or UNKNOWN, node)
    return Sequence(UNKNOWN if name == "itertools.accumulate" else item, "iterator")


@function("itertools.repeat", numbers=(1, "times"))
def _repeat(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`itertools.repeat(2, n)`; what may be a number or a tuple is a number here, as in helpers such as `to_2tuple`."""
    given = arguments.get(0, "object")
    return Sequence(given if isinstance(given, (Tensor, Const)) else UNKNOWN, "iterator")


@function("itertools.chain")
def _chain(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`itertools.chain(self.encoder, self.decoder)`."""
    given = arguments.positional
    known = [known_items(value) for value in given]
    items = tuple(item for part in known if part is not None for item in part)
    if None not in known and len(items) <= MAX_UNROLLED:
        return Tuple(items, lazy="generator")
    return Sequence(join([elements(frame, value, node) for value in given]) if given else UNKNOWN, "iterator")


@function("itertools.chain.from_iterable")
def _chain_all(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return Sequence(elements(frame, elements(frame, arguments.get(0) or UNKNOWN, node), node), "iterator")


@function("itertools.combinations itertools.permutations", numbers=(1,))
@function("itertools.combinations_with_replacement", numbers=(1,), strict="refuses", traced_from=(2, 15))
def _combine(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`itertools.combinations(items, 2)`."""
    item, count = elements(frame, arguments.get(0, "iterable") or UNKNOWN, node), arguments.get(1, "r")
    if isinstance(count, Const) and isinstance(count.value, int) and 0 < count.value <= MAX_UNROLLED:
        return Sequence(Tuple((item,) * count.value), "iterator")
    return Sequence(Sequence(item, "tuple"), "iterator")


@function("itertools.pairwise")
def _pair(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    item = elements(frame, arguments.get(0) or UNKNOWN, node)
    return Sequence(Tuple((item, item)), "iterator")


@function("itertools.product")
def _multiply(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`itertools.product(rows, columns)`."""
    items = [elements(frame, value, node) for value in arguments.positional]
    if "repeat" in arguments.keywords:
        return Sequence(Sequence(join(items) if items else UNKNOWN, "tuple"), "iterator")
    return Sequence(Tuple(tuple(items)), "iterator")


@function("itertools.groupby")
def _group(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`itertools.groupby(items, key)` compares each key with the one before it."""
    item = elements(frame, arguments.get(0, "iterable") or UNKNOWN, node)
    key = arguments.get(1, "key") or NONE
    keyed = item if key == NONE else frame.call(key, Arguments((item,)), node)
    assert isinstance(node, ast.Call)
    demand_truth(frame, keyed, node, "groupby()")
    if data_of(keyed) is not None:
        keyed = PYTHON  # what is to be said of the keys is said
    return Sequence(Tuple((keyed, Sequence(item, "generator"))), "generator")


SELECTIONS: dict[str, Construct] = {
    "itertools.takewhile": "takewhile()",
    "itertools.dropwhile": "dropwhile()",
    "itertools.filterfalse": "filterfalse()",
}


@function(" ".join(SELECTIONS))
def _select(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`itertools.takewhile(predicate, items)` asks for the truth of what the predicate gives for each item."""
    item = elements(frame, arguments.get(1, "iterable") or UNKNOWN, node)
    predicate = arguments.get(0, "predicate") or NONE
    asked = item if predicate == NONE else frame.call(predicate, Arguments((item,)), node)
    assert isinstance(node, ast.expr)
    demand_truth(frame, asked, node, SELECTIONS[name])
    return Sequence(item, "generator")
