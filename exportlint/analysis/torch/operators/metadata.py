"""What a tensor says of itself besides its values, and calls that act on it."""

from __future__ import annotations

from exportlint.analysis.torch.operator import each, operator

OPERATORS = (
    operator("Tensor.data", storage="view", converts=True),
    operator("Tensor.stride", tells=("layout", "strides")),
    operator("Tensor.storage_offset", tells=("layout", "storage offset"), strict="refuses", traced_from=(2, 15)),
    operator("Tensor.is_contiguous", tells=("layout", "contiguity")),
    operator("is_floating_point", tells=("dtype", "dtype")),
    operator("is_complex", tells=("dtype", "dtype")),
    operator("Tensor.element_size", tells=("dtype", "dtype")),
    operator("Tensor.dtype", tells=("dtype", "dtype")),
    operator("Tensor.requires_grad", tells=("gradient", "`requires_grad`")),
    *each("Tensor.item Tensor.tolist Tensor.size Tensor.__len__ is_nonzero"),
    operator("numel Tensor.nelement"),
    operator("Tensor.storage", strict="refuses"),
    operator("Tensor.untyped_storage"),
    *each("Tensor.data_ptr Tensor.__dlpack__", host="memory"),
    operator("Tensor.const_data_ptr", host="address"),
    operator("Tensor.pin_memory", storage="unchanged", host="memory"),
    operator("from_dlpack utils.dlpack.from_dlpack", host="memory"),
    operator("Tensor.share_memory_", host="memory"),
    *each(
        """
        Tensor.is_pinned Tensor.is_shared Tensor.dense_dim Tensor.is_same_size Tensor.is_set_to Tensor.is_inference
        result_type can_cast
        """,
        strict="refuses",
    ),
    operator("sparse_coo_tensor", storage="view", strict="refuses"),
    *each("Tensor.numpy Tensor.__array__", host="array"),
    *each(
        """
        Tensor.backward Tensor.retain_grad Tensor.register_hook Tensor.register_post_accumulate_grad_hook
        Tensor.to_mkldnn Tensor.as_subclass Tensor.apply_ Tensor.map_
        """,
        acts=True,
    ),
)
