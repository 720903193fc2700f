"""What functions of `math` and numpy are called in torch, where they do the same."""

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

FUNCTIONS = {
    "abs": "abs", "absolute": "abs", "add": "add", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin",
    "arcsinh": "asinh", "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "ceil": "ceil", "clip": "clamp",
    "cos": "cos", "cosh": "cosh", "deg2rad": "deg2rad", "divide": "divide", "dot": "dot", "equal": "eq", "exp": "exp",
    "exp2": "exp2", "expm1": "expm1", "fabs": "abs", "floor": "floor", "floor_divide": "floor_divide", "fmod": "fmod",
    "greater": "greater", "hypot": "hypot", "isfinite": "isfinite", "isinf": "isinf", "isnan": "isnan", "less": "less",
    "log": "log", "log10": "log10", "log1p": "log1p", "log2": "log2", "logaddexp": "logaddexp",
    "logical_and": "logical_and", "logical_not": "logical_not", "logical_or": "logical_or",
    "logical_xor": "logical_xor", "matmul": "matmul", "maximum": "maximum", "minimum": "minimum",
    "multiply": "multiply", "nan_to_num": "nan_to_num", "negative": "negative", "ones_like": "ones_like",
    "outer": "outer", "power": "pow", "rad2deg": "rad2deg", "reciprocal": "reciprocal", "rint": "round",
    "sign": "sign", "sin": "sin", "sinh": "sinh", "sqrt": "sqrt", "square": "square", "subtract": "subtract",
    "tan": "tan", "tanh": "tanh", "trace": "trace", "tril": "tril", "triu": "triu", "true_divide": "true_divide",
    "trunc": "trunc", "where": "where", "zeros_like": "zeros_like", "linalg.norm": "linalg.norm",
    "linalg.inv": "linalg.inv", "linalg.det": "linalg.det", "reshape": "reshape", "ravel": "ravel",
}  # fmt: skip
"""Functions of numpy that torch has with the same arguments in the same places."""

OVER_DIMENSIONS = {
    "sum": "sum", "mean": "mean", "prod": "prod", "max": "amax", "amax": "amax", "min": "amin", "amin": "amin",
    "all": "all", "any": "any", "argmax": "argmax", "argmin": "argmin", "cumsum": "cumsum", "cumprod": "cumprod",
    "squeeze": "squeeze", "softmax": "softmax", "expand_dims": "unsqueeze", "flip": "flip", "roll": "roll",
    "repeat": "repeat_interleave", "concatenate": "cat", "stack": "stack", "swapaxes": "swapaxes", "sort": "msort",
    "nansum": "nansum", "nanmean": "nanmean", "count_nonzero": "count_nonzero",
}  # fmt: skip
"""Functions of numpy with an `axis`, which is a `dim` in torch, and `keepdims`, which is `keepdim`."""

KEYWORDS = {"axis": "dim", "keepdims": "keepdim", "a_min": "min", "a_max": "max", "ddof": "correction"}
"""Keywords of numpy that torch calls otherwise."""

DTYPES = {
    "float16": "float16", "float32": "float32", "float64": "float64", "single": "float32", "double": "float64",
    "half": "float16", "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64", "uint8": "uint8",
    "bool_": "bool", "bool": "bool", "complex64": "complex64", "complex128": "complex128",
}  # fmt: skip
"""The dtypes of numpy."""
