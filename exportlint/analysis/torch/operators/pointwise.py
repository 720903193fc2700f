"""Operators that work on one element after the other, or keep the shape of their tensor all the same."""

from __future__ import annotations

from exportlint.analysis.torch.operator import each, operator

OPERATORS = (
    *each(
        """
        acos acosh asin asinh atan atanh angle bitwise_not ceil cos cosh deg2rad digamma erf erfc
        erfinv fix floor frac gelu hardsigmoid hardswish i0 isfinite isinf isnan isneginf isposinf isreal
        lgamma log log10 log1p log2 logical_not mish neg negative rad2deg relu6 selu sgn sign signbit
        silu sin sinc sinh softsign square trunc
        """,
        shape="same",
    ),
    *each(
        """
        cumprod exp exp2 expit expm1 log_softmax logsigmoid msort reciprocal relu rsqrt sigmoid softmax softmin
        sqrt tan tanh tanhshrink
        """,
        shape="same",
        backward="untraced",
    ),
    *each("celu elu", shape="same", read=("alpha",)),
    operator("leaky_relu", shape="same", read=("negative_slope",)),
    operator("softplus", shape="same", read=("beta", "threshold")),
    operator("threshold", shape="same", read=("threshold", "value")),
    operator("hardshrink", shape="same", read=("lambd",), backward="untraced"),
    operator("softshrink", shape="same", compared=("lambd",), backward="untraced"),
    operator("rrelu", shape="same", plain=("lower", "upper"), backward="untraced"),
    operator("hardtanh", shape="same", compared=("min_val", "max_val")),
    operator("logit", shape="same", compared=("eps",)),
    operator("nan_to_num", shape="same", plain=("nan", "posinf", "neginf")),
    operator("abs absolute", shape="same"),
    operator("round", shape="same", plain=("decimals",)),
    operator("polygamma", shape="first", plain=("n",)),
    *each(
        """
        cumsum logcumsumexp flip fliplr flipud masked_fill prelu sort argsort
        """,
        shape="same",
    ),
    *each("tril triu", shape="same", read=("diagonal",)),
    operator("renorm", shape="same", compared=("p",), read=("maxnorm",)),
    *each("nn.functional.layer_norm nn.functional.rms_norm", shape="same", plain=("eps",), backward="untraced"),
    operator("gumbel_softmax", shape="same", compared=("eps",)),
    *each(".layer_norm .rms_norm", shape="same", plain=("eps",)),
    operator("dropout", shape="same", storage="unchanged", compared=("p",)),
    *each(
        "alpha_dropout feature_alpha_dropout dropout1d dropout2d dropout3d",
        shape="same",
        storage="unchanged",
        compared=("p",),
    ),
    operator("bernoulli", shape="same", compared=("p",)),
    operator("normalize", shape="same", compared=("p",)),
    *each("cummax cummin", shape="same", needs="nonempty"),
    operator("roll", shape="same", needs="nonempty", read=("shifts",)),
    operator("rot90", plain=("k",)),
    *each(
        """
        addcdiv addcmul atan2 bitwise_and bitwise_or bitwise_xor clamp_max clamp_min eq fmax fmin
        fmod gcd heaviside lcm ldexp lerp logaddexp logaddexp2 logical_and logical_or
        logical_xor maximum minimum nextafter pow remainder rsub xlogy
        """,
        shape="elementwise",
    ),
    *each("copysign float_power hypot", shape="elementwise", backward="untraced"),
    operator("isclose", shape="elementwise", plain=("rtol", "atol")),
    operator("allclose", plain=("rtol", "atol")),
    operator("add", shape="elementwise", runs_on_constants=True),
    operator("sub subtract", shape="elementwise", runs_on_constants=True),
    operator("mul multiply", shape="elementwise", runs_on_constants=True),
    operator("div divide true_divide", shape="elementwise", runs_on_constants=True),
    operator("floor_divide", shape="elementwise", runs_on_constants=True),
    operator("gt greater", shape="elementwise"),
    operator("ge greater_equal", shape="elementwise"),
    operator("lt less", shape="elementwise"),
    operator("le less_equal", shape="elementwise"),
    operator("ne not_equal", shape="elementwise"),
    operator("clamp clip", shape="elementwise", read=("min", "max")),
    operator("where", shape="elementwise"),
    *each("complex polar", shape="elementwise"),
    *each("bucketize isin", shape="same"),
    *each("Tensor.fill_ Tensor.zero_", shape="same"),
    operator("Tensor.copy_", shape="same", rows="broadcast"),
    *each("Tensor.random_ Tensor.bernoulli_", shape="same"),
    *each("Tensor.normal_ Tensor.log_normal_", shape="same", plain=("mean", "std")),
    operator("Tensor.uniform_", shape="same", plain=("from_", "to")),
    operator("Tensor.exponential_", shape="same", plain=("lambd",)),
    operator("Tensor.geometric_", shape="same", compared=("p",)),
    operator("Tensor.cauchy_", shape="same", plain=("median", "sigma")),
)
