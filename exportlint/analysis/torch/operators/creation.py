"""Operators that make a tensor of numbers and sizes."""

from __future__ import annotations

from exportlint.analysis.torch.operator import each, operator

TYPES = {
    "Tensor": "float32", "FloatTensor": "float32", "LongTensor": "int64", "IntTensor": "int32", "BoolTensor": "bool",
}  # fmt: skip
"""The classes of tensors on the CPU, which are called to make one."""

OPERATORS = (
    *each("empty ones rand randn zeros", shape="sized"),
    *each("Tensor.new_empty Tensor.new_ones Tensor.new_zeros", shape="sized"),
    operator("Tensor.new"),
    operator("full", shape="filled"),
    operator("Tensor.new_full", shape="filled", read=("fill_value",)),
    operator("full_like", shape="same", read=("fill_value",)),
    *each("empty_like ones_like rand_like randn_like randint_like zeros_like", shape="same"),
    operator("arange", shape="counted", compared=("step",), read=("start",)),
    operator("randint", shape="drawn", read=("low", "high")),
    operator("randperm", shape="counted"),
    operator("eye", shape="squared"),
    *each("tensor as_tensor asarray Tensor.new_tensor", shape="listed"),
    *[operator(name, shape="listed", dtype=dtype) for name, dtype in TYPES.items()],
    *each("linspace logspace", shape="spaced", plain=("steps",)),
    *each("bartlett_window blackman_window hamming_window hann_window kaiser_window", plain=("window_length",)),
    *each("tril_indices triu_indices", plain=("row", "col", "offset")),
    *each("fft.fftfreq fft.rfftfreq", plain=("n",)),
    operator("diag", plain=("diagonal",)),
    *each("diag_embed diagonal_copy diagonal_scatter", plain=("offset", "dim2")),
    operator("diagflat", plain=("offset",)),
    operator("vander linalg.vander", needs="every", varying="fixed", plain=("N",)),
)
