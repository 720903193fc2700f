"""What functions of `math` and numpy are called in torch, where they do the same.

Tables for `array_calls` and `numbers.read_numbers`. Of an array they give a tensor, with the dtypes of torch.
"""

from __future__ import annotations

MATH = {
    "sqrt": "sqrt", "exp": "exp", "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p", "expm1": "expm1",
    "exp2": "exp2", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos", "atan": "atan",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "asinh", "acosh": "acosh", "atanh": "atanh", "erf": "erf",
    "erfc": "erfc", "fabs": "abs", "lgamma": "lgamma", "degrees": "rad2deg", "radians": "deg2rad", "pow": "pow",
    "fmod": "fmod", "copysign": "copysign", "hypot": "hypot", "atan2": "atan2",
    "floor": "floor", "ceil": "ceil", "trunc": "trunc",
}  # fmt: skip
"""Functions of `math`. They raise where torch gives NaN or an infinity."""

TO_INTEGERS = frozenset({"floor", "ceil", "trunc"})
"""Functions of `math` that return integers."""

NUMPY = {
    "abs": "abs", "absolute": "abs", "add": "add", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin",
    "arcsinh": "asinh", "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "ceil": "ceil", "clip": "clamp",
    "cos": "cos", "cosh": "cosh", "deg2rad": "deg2rad", "divide": "divide", "dot": "matmul", "exp": "exp",
    "exp2": "exp2", "expm1": "expm1", "fabs": "abs", "floor": "floor", "floor_divide": "floor_divide",
    "hypot": "hypot", "isfinite": "isfinite", "isinf": "isinf", "isnan": "isnan", "linalg.det": "linalg.det",
    "linalg.inv": "linalg.inv", "log": "log", "log10": "log10", "log1p": "log1p", "log2": "log2",
    "logaddexp": "logaddexp", "logical_and": "logical_and", "logical_not": "logical_not",
    "logical_or": "logical_or", "logical_xor": "logical_xor", "matmul": "matmul", "maximum": "maximum",
    "minimum": "minimum", "multiply": "multiply", "nan_to_num": "nan_to_num", "negative": "negative",
    "ones_like": "ones_like", "outer": "outer", "power": "pow", "rad2deg": "rad2deg", "ravel": "ravel",
    "reciprocal": "reciprocal", "reshape": "reshape", "rint": "round", "round": "round", "sign": "sign", "sin": "sin",
    "sinh": "sinh", "sqrt": "sqrt", "square": "square", "subtract": "subtract", "tan": "tan", "tanh": "tanh",
    "trace": "trace", "tril": "tril", "triu": "triu", "true_divide": "true_divide", "trunc": "trunc",
    "where": "where", "zeros_like": "zeros_like", "swapaxes": "swapaxes", "moveaxis": "moveaxis",
    "diagonal": "diagonal", "roll": "roll", "repeat": "repeat_interleave", "tile": "tile",
    "vstack": "vstack", "hstack": "hstack", "dstack": "dstack", "column_stack": "column_stack",
    "atleast_1d": "atleast_1d", "atleast_2d": "atleast_2d", "fmod": "fmod",
}  # fmt: skip
"""Functions of numpy that torch has with the same positional arguments."""

ALONG_AXES = {
    "sum": "sum", "mean": "mean", "prod": "prod", "max": "amax", "amax": "amax", "min": "amin", "amin": "amin",
    "all": "all", "any": "any", "argmax": "argmax", "argmin": "argmin", "squeeze": "squeeze", "nansum": "nansum",
    "nanmean": "nanmean", "count_nonzero": "count_nonzero", "linalg.norm": "linalg.norm", "std": "std", "var": "var",
    "concatenate": "cat", "stack": "stack", "expand_dims": "unsqueeze", "cumsum": "cumsum", "cumprod": "cumprod",
    "flip": "flip", "argsort": "argsort", "quantile": "quantile", "nanquantile": "nanquantile",
}  # fmt: skip
"""Functions of numpy with an `axis`, which torch calls `dim`."""

NEED_AXIS = frozenset({"cumsum", "cumprod", "flip", "expand_dims"})
"""Those that torch has with a `dim` only."""

DIMS = frozenset({"flip"})
"""Those whose `axis` torch calls `dims`."""

OF_TENSORS = frozenset({"atan2", "hypot", "logaddexp", "logical_and", "logical_or", "logical_xor", "matmul", "outer"})
"""Functions of torch that take tensors where those of numpy take numbers too."""

METHODS = {
    "copy": "clone", "clip": "clamp", "reshape": "reshape", "ravel": "ravel", "flatten": "flatten", "round": "round",
    "dot": "matmul", "swapaxes": "swapaxes", "trace": "trace", "diagonal": "diagonal",
}  # fmt: skip
"""Methods of arrays that tensors have with the same positional arguments."""

MOST_POSITIONAL = {
    "add": 2, "arctan2": 2, "clip": 3, "divide": 2, "dot": 2, "floor_divide": 2, "hypot": 2, "logaddexp": 2,
    "logical_and": 2, "logical_or": 2, "logical_xor": 2, "matmul": 2, "maximum": 2, "minimum": 2, "multiply": 2,
    "outer": 2, "power": 2, "reshape": 2, "subtract": 2, "tril": 2, "triu": 2, "true_divide": 2, "where": 3,
    "swapaxes": 3, "moveaxis": 3, "diagonal": 4, "roll": 3, "repeat": 3, "tile": 2, "fmod": 2, "linalg.norm": 3,
    "quantile": 3, "nanquantile": 3, "atleast_1d": 9, "atleast_2d": 9,
} | dict.fromkeys(ALONG_AXES.keys() - {"linalg.norm", "quantile", "nanquantile"}, 2)  # fmt: skip
"""How many positional arguments the functions of both libraries share, the array among them; of others, one."""

KEYWORDS = {"axis": "dim", "keepdims": "keepdim", "a_min": "min", "a_max": "max", "ddof": "correction",
            "decimals": "decimals", "nan": "nan", "min": "min", "max": "max", "offset": "offset"}  # fmt: skip

DTYPES = {
    "float16": "float16", "float32": "float32", "float64": "float64", "single": "float32", "double": "float64",
    "half": "float16", "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64", "uint8": "uint8",
    "bool_": "bool", "complex64": "complex64", "complex128": "complex128",
}  # fmt: skip
BUILTIN_DTYPES = {"float": "float64", "int": "int64", "bool": "bool"}

CONSTANTS = {"pi": "math.pi", "e": "math.e", "inf": "math.inf", "nan": "math.nan", "newaxis": ""}
