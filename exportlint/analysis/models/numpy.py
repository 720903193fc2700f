"""numpy: arrays leave the graph, but for those that strict mode traces."""

from __future__ import annotations

import ast
from dataclasses import replace

from exportlint.analysis.domain.lattice import tensors_in
from exportlint.analysis.domain.values import Python, Shape, Size, Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.demands import demand_number
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.sizes import note_conversion, product
from exportlint.analysis.eval.tensor_results import result
from exportlint.analysis.facts import HostRead
from exportlint.analysis.library_functions import find, function, functions, shown
from exportlint.analysis.models.held_numbers import numbers_in

ARRAY = Python("ndarray")

functions(
    """
    numpy.array numpy.asarray numpy.ones numpy.zeros numpy.full numpy.empty numpy.arange numpy.linspace numpy.eye
    numpy.stack
    """,
    returns=ARRAY,
)
functions("numpy.save", effect="act")
functions("numpy.savez numpy.savetxt", effect="write")
functions(
    """
    numpy.vectorize numpy.ndindex numpy.interp numpy.set_printoptions numpy.errstate numpy.seterr
    numpy.testing.assert_allclose numpy.lib.stride_tricks.as_strided numpy.apply_along_axis numpy.fromiter
    numpy.fromstring numpy.frombuffer numpy.packbits numpy.polyfit numpy.datetime64
    """,
    strict="refuses",
)


@function("numpy.ndarray.tobytes numpy.ndarray.tofile", strict="refuses")
@function("numpy.*")
def _compute(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    tensor = next((t for v in arguments.values for t in tensors_in(v, 2) if not t.assumed), None)
    if tensor is not None:
        frame.emit(HostRead, node, tensor, api=shown(name), operand=tensor)
        if frame.engine.mode == "strict":
            return replace(result(frame, node, name, (tensor,)), array=True)
        return ARRAY
    scalar = next((s for v in arguments.values for s in numbers_in(v)), None)
    if scalar is not None:
        demand_number(frame, scalar, node, f"{shown(name)}()")
    for value in arguments.positional[:1]:
        size = product(value.tensor) if isinstance(value, Shape) else value
        note_conversion(frame, size, node, f"{shown(name)}()")
        if name == "numpy.prod" and isinstance(size, Size):
            return size
    return find(name).returns or Python("number")
