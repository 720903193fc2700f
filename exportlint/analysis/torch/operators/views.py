"""Operators that arrange the elements of a tensor in another way."""

from __future__ import annotations

from exportlint.analysis.torch.operator import each, operator

OPERATORS = (
    operator("transpose", shape="swapped", storage="view"),
    operator("swapaxes", shape="swapped", storage="view", plain=("axis0", "axis1")),
    operator("swapdims", shape="swapped", storage="view"),
    operator("t", shape="transposed", storage="view"),
    operator("permute", shape="permuted", storage="view"),
    operator("movedim moveaxis", shape="moved", storage="view"),
    *each("adjoint Tensor.mT Tensor.mH", shape="mirrored", storage="view"),
    operator("Tensor.T", shape="reversed", storage="view"),
    operator("Tensor.H", shape="transposed", storage="view"),
    *each("real Tensor.imag", shape="same", storage="view"),
    operator("conj", shape="same", storage="view"),
    operator("view_as_real", storage="view"),
    operator("unsqueeze", shape="unsqueezed", storage="view"),
    operator("squeeze", shape="squeezed", storage="view"),
    operator("expand broadcast_to", shape="expanded", storage="view"),
    *each("expand_as view_as", shape="like", storage="view"),
    operator("view", shape="viewed", storage="view"),
    operator("reshape", shape="viewed", storage="contiguous"),
    operator("reshape_as", shape="like", storage="contiguous"),
    operator("flatten ravel", shape="flattened", storage="contiguous"),
    operator("Tensor.contiguous", shape="same", storage="contiguous", converts=True),
    operator("unflatten", shape="unflattened", storage="view"),
    operator("as_strided", storage="view"),
    operator("diagonal", storage="view", plain=("offset", "dim2")),
    operator("linalg.diagonal", storage="view", plain=("offset", "dim2")),
    operator("Tensor.unfold", shape="windowed", storage="view", plain=("size", "step")),
    operator("narrow", shape="narrowed", storage="view"),
    operator("select", shape="picked", storage="view", read=("index",)),
    operator("chunk", shape="divided", storage="view", needs="divided", plain=("chunks",)),
    operator(
        "split", shape="divided", storage="view", needs="divided", compared=("split_size", "split_size_or_sections")
    ),
    operator("split_with_sizes", shape="divided", storage="view"),
    operator("unbind", shape="picked", storage="view", needs="divided"),
    operator("tensor_split", storage="view", needs="divided", plain=("sections",)),
    *each("hsplit vsplit dsplit", storage="view", plain=("sections",)),
)
