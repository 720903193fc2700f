"""Operators that give the values of a tensor in another dtype or in another place."""

from __future__ import annotations

from exportlint.analysis.torch.operator import each, operator

CASTS = {
    "bfloat16": "bfloat16", "bool": "bool", "byte": "uint8", "char": "int8", "double": "float64", "float": "float32",
    "half": "float16", "int": "int32", "long": "int64", "short": "int16",
}  # fmt: skip

OPERATORS = (
    *[
        operator(f"Tensor.{name}", shape="same", storage="unchanged", converts=True, dtype=dtype)
        for name, dtype in CASTS.items()
    ],
    *each("Tensor.to Tensor.type_as Tensor.cpu Tensor.cuda", shape="same", storage="unchanged", converts=True),
    operator("Tensor.type", storage="unchanged", converts=True),
    operator("detach", shape="same", storage="view", converts=True),
    operator("clone", shape="same"),
    *each("Tensor.requires_grad_ detach_", shape="same", storage="view"),
    *each(
        """
        Tensor.to_sparse Tensor.to_sparse_coo Tensor.to_sparse_csr fake_quantize_per_channel_affine
        """,
        varying="refused",
    ),
    operator("quantize_per_tensor", shape="same", plain=("scale", "zero_point")),
    operator("dequantize", shape="same", storage="unchanged", varying="refused"),
    operator("fake_quantize_per_tensor_affine", varying="refused", plain=("scale", "zero_point")),
)
