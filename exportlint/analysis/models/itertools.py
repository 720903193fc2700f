"""`itertools`."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.values import NONE, PYTHON, UNKNOWN, Sequence, Tuple, Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.demands import data_of, demand_truth, elements
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.facts import Construct
from exportlint.analysis.library_functions import function, functions

functions("itertools.repeat", numbers=(1, "times"))
functions("itertools.islice", numbers=(1, 2, 3))
functions("itertools.combinations itertools.permutations", numbers=(1,))
functions("itertools.combinations_with_replacement", numbers=(1,), strict="refuses")
functions("itertools.count", numbers=(0, 1))


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
