"""Operators that work on one element after the other, or keep the shape of their tensor all the same."""

from __future__ import annotations

from exportlint.analysis.torch.operator import each, operator

OPERATORS = (
    *each(
        """
        acos acosh asin asinh atan atanh angle bitwise_not ceil celu cos cosh deg2rad digamma elu erf erfc erfinv exp
        exp2 expit expm1 fix floor frac gelu hardshrink hardsigmoid hardswish i0 isfinite isinf isnan isneginf
        isposinf isreal leaky_relu lgamma log log10 log1p log2 logical_not logsigmoid mish neg negative
        rad2deg reciprocal relu relu6 rrelu rsqrt selu sgn sigmoid sign signbit silu sin sinc sinh softplus softshrink
        softsign sqrt square tan tanh tanhshrink threshold trunc
        """,
        shape="same",
    ),
    operator("hardtanh", shape="same", compared=("min_val", "max_val")),
    operator("logit", shape="same", compared=("eps",)),
    operator("nan_to_num", shape="same", plain=("nan", "posinf", "neginf")),
    operator("abs absolute", shape="same"),
    operator("round", shape="same", plain=("decimals",)),
    operator("polygamma", shape="first", plain=("n",)),
    *each(
        """
        cumsum cumprod logcumsumexp flip fliplr flipud log_softmax softmax softmin masked_fill
        prelu sort argsort msort tril triu renorm
        """,
        shape="same",
    ),
    *each("nn.functional.layer_norm nn.functional.rms_norm", shape="same", plain=("eps",)),
    operator("gumbel_softmax", shape="same", compared=("eps",)),
    *each(".layer_norm .rms_norm", shape="same", plain=("eps",)),
    operator("dropout", shape="same", storage="unchanged", compared=("p",)),
    *each("alpha_dropout feature_alpha_dropout dropout1d dropout2d dropout3d", shape="same", storage="unchanged"),
    operator("bernoulli", shape="same", compared=("p",)),
    operator("normalize", shape="same", compared=("p",)),
    *each("cummax cummin", shape="same", needs="every"),
    operator("roll", shape="same", needs="every"),
    operator("rot90", plain=("k",)),
    *each(
        """
        addcdiv addcmul atan2 bitwise_and bitwise_or bitwise_xor clamp_max clamp_min copysign eq floor_divide fmax fmin
        fmod float_power gcd heaviside hypot lcm ldexp lerp logaddexp logaddexp2 logical_and logical_or
        logical_xor maximum minimum nextafter pow remainder rsub xlogy
        """,
        shape="elementwise",
    ),
    operator("isclose", shape="elementwise", plain=("rtol", "atol")),
    operator("allclose", plain=("rtol", "atol")),
    operator("add", shape="elementwise"),
    operator("sub subtract", shape="elementwise"),
    operator("mul multiply", shape="elementwise"),
    operator("div divide true_divide", shape="elementwise"),
    operator("gt greater", shape="elementwise"),
    operator("ge greater_equal", shape="elementwise"),
    operator("lt less", shape="elementwise"),
    operator("le less_equal", shape="elementwise"),
    operator("ne not_equal", shape="elementwise"),
    operator("clamp clip", shape="elementwise"),
    operator("where", shape="elementwise"),
    *each("Tensor.fill_ Tensor.zero_ Tensor.copy_", shape="same", overwrites=True),
    *each(
        """
        Tensor.normal_ Tensor.uniform_ Tensor.random_ Tensor.exponential_ Tensor.geometric_ Tensor.cauchy_
        Tensor.log_normal_ Tensor.bernoulli_
        """,
        shape="same",
        overwrites=True,
    ),
)
