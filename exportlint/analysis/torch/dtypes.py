"""The dtypes of torch by name."""

from __future__ import annotations

from exportlint.analysis.domain.values import Kind

SHORTER = {
    "double": "float64", "float": "float32", "half": "float16", "long": "int64", "int": "int32", "short": "int16",
}  # fmt: skip
"""The dtypes that have a second name, by that."""

CLASSES: dict[Kind, tuple[str, ...]] = {
    "float": ("bfloat16", "float16", "float32", "float64"),
    "int": ("int8", "int16", "int32", "int64", "uint8"),
    "bool": ("bool",),
}

DTYPES: dict[str, Kind] = {
    **{f"torch.{name}": kind for kind, names in CLASSES.items() for name in names},
    **{f"torch.{name}": kind for kind, names in CLASSES.items() for name in SHORTER if SHORTER[name] in names},
}
"""The class of each dtype of torch, by its qualified names."""


def dtype_name(name: str) -> str:
    """`float64` for `torch.double`."""
    short = name.removeprefix("torch.")
    return SHORTER.get(short, short)
