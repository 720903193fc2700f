"""Functions of `torch.nn.functional` that layers are made of."""

from __future__ import annotations

from exportlint.analysis.torch.operator import each, operator

POOLING = ("kernel_size", "stride", "padding", "dilation")
PADDED = ("dilation", "padding")

OPERATORS = (
    operator("conv1d", shape="signal", compared=(*PADDED, "groups", "stride")),
    operator("conv2d", shape="image", compared=(*PADDED, "groups", "stride")),
    operator("conv_transpose1d", shape="signal", compared=PADDED),
    operator("conv_transpose2d", shape="image", compared=PADDED),
    *each("conv3d conv_transpose3d", shape="volume", compared=PADDED),
    operator("convolution", compared=PADDED),
    *each("max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d", shape="first", plain=POOLING),
    *each("max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices", plain=POOLING),
    *each("max_unpool1d max_unpool2d max_unpool3d", plain=POOLING),
    *each("lp_pool1d lp_pool2d lp_pool3d fractional_max_pool2d fractional_max_pool3d", plain=POOLING),
    *each("fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices", plain=POOLING),
    *each("adaptive_avg_pool1d adaptive_max_pool1d adaptive_max_pool2d", shape="first", plain=("output_size",)),
    operator("adaptive_avg_pool2d", shape="first", compared=("output_size",)),
    operator("adaptive_avg_pool3d", shape="first"),
    operator("nn.functional.unfold", shape="first", plain=POOLING),
    operator("nn.functional.fold", shape="first", plain=("output_size", *POOLING)),
    operator("nn.functional.embedding", shape="first", compared=("padding_idx",)),
    operator("nn.functional.embedding_bag", compared=("padding_idx",)),
    operator(".embedding", compared=("padding_idx",)),
    operator(".embedding_bag", compared=("padding_idx",)),
    operator("one_hot", shape="first", plain=("num_classes",), unset=("num_classes", -1)),
    operator("group_norm", shape="first", plain=("num_groups", "eps"), backward="untraced"),
    *each("batch_norm instance_norm", shape="first", needs="nonempty", plain=("eps",), backward="untraced"),
    operator("grid_sample", shape="first"),
    operator("affine_grid", shape="first"),
    operator("local_response_norm", shape="same"),
    operator("nn.functional.glu", shape="resized"),
    operator("interpolate upsample", shape="first", compared=("scale_factor",), backward="untraced"),
    operator("pad", shape="padded", plain=("value",), read=("pad",)),
    operator("pixel_shuffle", shape="first", plain=("upscale_factor",)),
    operator("pixel_unshuffle", shape="first", plain=("downscale_factor",)),
    operator("scaled_dot_product_attention", shape="first", needs="keys", plain=("scale",), backward="untraced"),
    operator("cosine_similarity", needs="unlike", rows="broadcast", plain=("eps",), backward="untraced"),
    operator("pairwise_distance", rows="broadcast", plain=("eps",)),
    *each("gaussian_nll_loss poisson_nll_loss triplet_margin_loss", rows="broadcast", plain=("eps",)),
    *each("mse_loss l1_loss smooth_l1_loss huber_loss soft_margin_loss kl_div", rows="broadcast"),
    *each("binary_cross_entropy binary_cross_entropy_with_logits", rows="broadcast"),
    operator("nll_loss", rows="equal", needs="weights"),
    operator("cross_entropy", rows="equal", needs="weights", compared=("label_smoothing",), backward="untraced"),
    operator("Tensor.to_padded_tensor", compared=("padding",)),
)
