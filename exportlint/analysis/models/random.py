"""Random numbers of Python and of numpy: `random`, `secrets`, `uuid`, `numpy.random`. Export draws them once."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.values import NONE, PYTHON, External, Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.baked_values import bake_in
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.facts.environment import Drawn
from exportlint.analysis.library_functions import find, function, functions, shown
from exportlint.analysis.models.externals import ask_host

functions("random.* secrets.*", source="random")
functions("numpy.random.*", source="random", array_from=3)
functions("uuid.uuid1 uuid.uuid4", source="random")
functions("random.seed", returns=NONE, traced_from=(2, 15))
functions("random.setstate numpy.random.set_state", returns=NONE)
functions("numpy.random.seed", returns=NONE, strict="bakes")

functions("numpy.random.rand numpy.random.randn numpy.random.random", array_from=1, strict="bakes")
functions("numpy.random.random_sample numpy.random.permutation", array_from=1)
functions("numpy.random.choice", array_from=2)
functions("numpy.random.uniform numpy.random.normal numpy.random.randint", strict="bakes")


functions("random.sample", traced_from=(2, 15))


@function("numpy.random.shuffle")
@function("random.shuffle", traced_from=(2, 15))
def _shuffle(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    value = ask_host(frame, find(name), arguments, node)
    bake_in(frame, value, node, "choice")
    return value


@function("random.Random random.SystemRandom numpy.random.default_rng numpy.random.RandomState numpy.random.Generator")
def _generator(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """A generator, whose methods do what the functions of its module do.

    One that is made with a seed in the call gives the same numbers each time.
    """
    if arguments.values and not frame.engine.constructing:
        frame.emit(Drawn, node, source="random", api=shown(name))
        return PYTHON
    return External(name.rpartition(".")[0])
