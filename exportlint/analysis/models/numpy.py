"""numpy: arrays leave the graph, but for those that strict mode traces."""

from __future__ import annotations

import ast
from dataclasses import replace

from exportlint.analysis.domain.lattice import options, tensors_in
from exportlint.analysis.domain.values import (
    ARRAY,
    COMPUTED_ARRAY,
    UNKNOWN,
    Const,
    Python,
    Sequence,
    Shape,
    Size,
    Tensor,
    Tuple,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.demands import demand_number
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.sizes import arithmetic, note_conversion, product, varying_size
from exportlint.analysis.eval.tensor_results import result
from exportlint.analysis.facts import HostRead
from exportlint.analysis.library_functions import find, function, functions, shown
from exportlint.analysis.models.held_numbers import numbers_in

functions(
    """
    numpy.array numpy.asarray numpy.ascontiguousarray numpy.atleast_1d numpy.atleast_2d
    numpy.ones numpy.zeros numpy.full numpy.empty numpy.ones_like numpy.zeros_like numpy.full_like numpy.empty_like
    numpy.arange numpy.linspace numpy.logspace numpy.geomspace numpy.eye numpy.identity numpy.diag numpy.tri numpy.tril
    numpy.triu numpy.hanning numpy.hamming numpy.blackman numpy.bartlett numpy.kaiser numpy.fft.fftfreq numpy.indices
    numpy.stack numpy.concatenate numpy.vstack numpy.hstack numpy.dstack numpy.column_stack numpy.append
    numpy.pad numpy.tile numpy.repeat numpy.roll numpy.flip numpy.flipud numpy.fliplr numpy.rot90
    numpy.reshape numpy.ravel numpy.transpose numpy.swapaxes numpy.moveaxis numpy.expand_dims numpy.squeeze
    numpy.broadcast_to numpy.outer numpy.kron numpy.convolve numpy.cumsum numpy.diff numpy.argsort numpy.argwhere
    numpy.linalg.inv numpy.linalg.pinv numpy.bincount
    numpy.ndarray.astype numpy.ndarray.copy numpy.ndarray.diagonal numpy.ndarray.flatten numpy.ndarray.ravel
    numpy.ndarray.repeat numpy.ndarray.reshape numpy.ndarray.squeeze numpy.ndarray.swapaxes numpy.ndarray.transpose
    numpy.ndarray.view
    """,
    returns=ARRAY,
)
"""What gives an array.

With torch 2.13, non-strict mode refuses `x * array` for each. Strict mode refuses a branch on the sum of one, and
traces one of the constructor as a tensor without data; `torch.tensor` takes none with negative strides (`flip`).
"""
functions(
    "numpy.asanyarray numpy.asfortranarray numpy.delete numpy.insert numpy.select", returns=ARRAY, strict="refuses"
)
functions("numpy.split numpy.array_split numpy.meshgrid", returns=Sequence(ARRAY))
functions("numpy.save", effect="act")
functions("numpy.savez numpy.savetxt", effect="write")
functions(
    """
    numpy.vectorize numpy.ndindex numpy.interp numpy.set_printoptions numpy.errstate numpy.seterr
    numpy.testing.assert_allclose numpy.lib.stride_tricks.as_strided numpy.apply_along_axis numpy.fromiter
    numpy.fromstring numpy.frombuffer numpy.packbits numpy.polyfit numpy.datetime64 numpy.apply_over_axes
    numpy.argpartition numpy.array2string numpy.array_repr numpy.array_str numpy.asarray_chkfinite numpy.asmatrix
    numpy.base_repr numpy.binary_repr numpy.bitwise_count numpy.block numpy.compress numpy.cumulative_sum
    numpy.digitize numpy.ediff1d numpy.einsum_path numpy.extract numpy.format_float_positional numpy.frexp
    numpy.fromfunction numpy.frompyfunc numpy.genfromtxt numpy.geterr numpy.histogram_bin_edges numpy.intersect1d
    numpy.isdtype numpy.isfortran numpy.isin numpy.ix_ numpy.lexsort numpy.loadtxt numpy.mask_indices
    numpy.matrix_transpose numpy.may_share_memory numpy.shares_memory numpy.nanargmax numpy.nanmax numpy.nanmean
    numpy.nanmedian numpy.nanmin numpy.nanpercentile numpy.nanstd numpy.nansum numpy.nanvar numpy.partition
    numpy.piecewise numpy.place numpy.poly numpy.poly1d numpy.polyadd numpy.polyder numpy.polyint numpy.polymul
    numpy.polyval numpy.promote_types numpy.result_type numpy.can_cast numpy.putmask numpy.ravel_multi_index
    numpy.unravel_index numpy.require numpy.roots numpy.setdiff1d numpy.setxor1d numpy.union1d numpy.sort_complex
    numpy.spacing numpy.trapezoid numpy.trim_zeros numpy.typename numpy.unpackbits numpy.unwrap numpy.size numpy.nditer
    numpy.ndenumerate numpy.linalg.matrix_norm numpy.void numpy.str_ numpy.bytes_ numpy.ma.masked_array
    """,
    strict="refuses",
)
"""What `torch._numpy` lacks, or gives no tensor."""


# fmt: off
TRACED = frozenset({
    "array", "asarray", "ones", "zeros", "full", "empty", "arange", "linspace", "eye", "stack", "concatenate",
    "zeros_like", "ones_like", "prod", "sum", "mean", "std", "var", "min", "max", "amin", "amax", "any", "all",
    "median", "trace", "count_nonzero", "argmax", "argmin", "abs", "absolute", "fabs", "sqrt", "cbrt", "square",
    "exp", "log", "log2", "log10", "ceil", "floor", "trunc", "round", "rint", "power", "mod", "remainder",
    "floor_divide", "sin", "cos", "tan", "tanh", "arctan2", "deg2rad", "radians", "sign", "clip", "maximum",
    "minimum", "add", "subtract", "multiply", "divide", "gcd", "lcm", "isnan", "isinf", "isfinite", "isclose",
    "logical_and", "logical_or", "logical_not", "equal", "not_equal", "greater", "less", "where", "cumsum",
    "cumprod", "dot", "matmul", "outer", "cross", "unique", "sort", "argsort", "diff", "transpose", "flip",
    "squeeze", "expand_dims", "tile", "repeat", "float32", "float64", "int32", "int64", "bool_", "astype", "copy",
    "flatten", "ravel", "log1p", "expm1", "arctan", "sinh", "cosh", "einsum", "tensordot", "digitize",
})
# fmt: on
"""What strict mode traces, of numbers as well: what it gives is a tensor of the graph, whose truth is not known."""

# fmt: off
ELEMENTWISE = frozenset({
    "abs", "arctan", "ceil", "clip", "cos", "cosh", "cumprod", "dot", "exp", "expm1", "floor", "log", "log10", "log1p",
    "log2", "matmul", "power", "round", "sign", "sin", "sinh", "sort", "sqrt", "square", "tan", "tanh",
})
# fmt: on
"""What computes an array, or a number, of an array."""
ARITHMETIC: dict[str, type[ast.operator]] = {
    "numpy.add": ast.Add, "numpy.subtract": ast.Sub, "numpy.multiply": ast.Mult, "numpy.floor_divide": ast.FloorDiv,
    "numpy.mod": ast.Mod, "numpy.remainder": ast.Mod,
}  # fmt: skip
SUMS = frozenset({"numpy.mean", "numpy.sum"})
REDUCTIONS = SUMS | {"numpy.max", "numpy.min"}
"""What strict mode computes of an array, and not of a list of tensors."""


def _size_in(value: Value) -> Size | None:
    """The size that a value is, or one of those that it holds: the product of those of a shape."""
    if isinstance(value, Shape):
        return product(value.tensor)
    return value if isinstance(value, Size) else varying_size(value)


@function("numpy.isscalar numpy.iterable", gives="bool", strict="refuses")
@function("numpy.ndim", gives="int", strict="refuses")
@function("numpy.shape")
def _describe(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """What NumPy reads from attributes of a tensor: it converts nothing."""
    first = arguments.get(0) or UNKNOWN
    if name == "numpy.shape" and isinstance(first, Tensor):
        return Shape(first)
    if name == "numpy.isscalar" and isinstance(first, Tensor):
        return Const(False)
    return Python(find(name).gives)


@function("numpy.ndarray.tobytes numpy.ndarray.tofile", strict="refuses")
@function("numpy.*")
def _compute(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    tensor = next((t for v in arguments.values for t in tensors_in(v, 2) if not t.assumed), None)
    if tensor is not None:
        frame.emit(HostRead, node, tensor, api=shown(name), operand=tensor)
        if frame.engine.mode == "strict":
            if name in REDUCTIONS and not any(isinstance(o, Tensor) for v in arguments.values for o in options(v)):
                demand_number(frame, tensor, node, f"{shown(name)}()")
            return replace(result(frame, node, name, (tensor,)), array=True)
        return ARRAY
    scalar = next((s for v in arguments.values for s in numbers_in(v)), None)
    is_listed = isinstance(arguments.get(0), (Tuple, Sequence))
    if scalar is not None and is_listed and name in SUMS and frame.engine.mode == "non-strict":
        # what numpy does with a list of objects is Python's arithmetic
        return replace(scalar, kind="float" if name == "numpy.mean" else scalar.kind, dim=None)
    if scalar is not None:
        demand_number(frame, scalar, node, f"{shown(name)}()")
    is_traced = frame.engine.mode == "strict" and name.rpartition(".")[2] in TRACED
    if name in ARITHMETIC and not is_traced and len(arguments.positional) == 2:
        left, right = arguments.positional
        if isinstance(left, Size) or isinstance(right, Size):
            return arithmetic(ARITHMETIC[name](), left, right)  # of a symbol, NumPy asks for its operator
    sizes = [size for value in arguments.values if (size := _size_in(value)) is not None]
    if sizes:
        note_conversion(frame, sizes[0], node, f"{shown(name)}()")
    if name == "numpy.prod" and sizes and not is_traced:
        return sizes[0]
    if is_traced:
        return ARRAY
    if name.rpartition(".")[2] in ELEMENTWISE and arguments.get(0) in (ARRAY, COMPUTED_ARRAY):
        return COMPUTED_ARRAY
    return find(name).returns or Python("number")
