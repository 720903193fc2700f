"""What modules of `torch.nn` do: one record each. `tests/analysis/test_layers.py` runs each against torch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from exportlint.analysis.torch import table
from exportlint.analysis.torch.operator import Backward

LayerShape = Literal["same", "rows", "features", "signal", "image", "volume"]
"""How the shape of the result follows from a batch.

same: it is that of the input. rows: it has as many rows, whatever the arguments. features: only the last dimension is
another. signal, image, volume: likewise with as many rows, and with channels and one, two or three dimensions behind
them.
"""

Parameters = Literal["always", "unless", "asked", "never"]
"""When a module has parameters.

unless: unless `affine=False` or `elementwise_affine=False` is given. asked: with `affine=True`. never: neither
parameters nor buffers.
"""

Effects = Literal["always", "training", "asked", "never"]
"""When a call draws random numbers or writes to the state of the module.

training: in training mode. asked: where its arguments say so.
"""


Attends = Literal["always", "asked"]
"""When a module calls `scaled_dot_product_attention` on its inputs.

asked: with `need_weights=False`. What it computes the weights with needs no sizes.
"""


@dataclass(frozen=True, slots=True)
class Layer:
    """What a module of `torch.nn` does.

    `recurrent`: it takes packed sequences. `attends`: its inputs are sequences of tokens. `backward`: what becomes of
    gradients through it that `forward` takes. `fixes`: the dimension of its input for which its parameters have one
    size.
    """

    name: str
    shape: LayerShape | None = None
    parameters: Parameters = "always"
    effects: Effects = "never"
    recurrent: bool = False
    backward: Backward | None = None
    fixes: int | None = None
    attends: Attends | None = None


def _each(
    names: str,
    *,
    shape: LayerShape | None = None,
    parameters: Parameters = "always",
    effects: Effects = "never",
    recurrent: bool = False,
    backward: Backward | None = None,
    fixes: int | None = None,
    attends: Attends | None = None,
) -> tuple[Layer, ...]:
    return tuple(
        [Layer(name, shape, parameters, effects, recurrent, backward, fixes, attends) for name in names.split()]
    )


LAYERS = (
    *_each(
        """
        CELU ELU GELU Hardsigmoid Hardswish Hardtanh Identity LeakyReLU LocalResponseNorm Mish ReLU6 SELU SiLU Softplus
        Softsign Threshold ChannelShuffle
        """,
        shape="same",
        parameters="never",
    ),
    *_each(
        "Hardshrink LogSigmoid LogSoftmax ReLU Sigmoid Softmax Softmax2d Softmin Softshrink Tanh Tanhshrink",
        shape="same",
        parameters="never",
        backward="untraced",
    ),
    *_each("PReLU", shape="same", backward="untraced"),
    *_each("RReLU", shape="same", parameters="never", effects="training", backward="untraced"),
    *_each(
        "Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout",
        shape="same",
        parameters="never",
        effects="training",
    ),
    *_each("LayerNorm RMSNorm", shape="same", parameters="unless", backward="untraced", fixes=-1),
    *_each("GroupNorm", shape="same", parameters="unless", backward="untraced", fixes=1),
    *_each(
        "BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d "
        "LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d",
        shape="same",
        parameters="unless",
        effects="training",
        backward="untraced",
        fixes=1,
    ),
    *_each(
        "InstanceNorm1d InstanceNorm2d InstanceNorm3d",
        shape="same",
        parameters="asked",
        effects="asked",
        backward="untraced",
    ),
    *_each(
        """
        AvgPool2d AvgPool3d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool2d AdaptiveMaxPool3d MaxPool2d
        MaxPool3d CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d ReflectionPad1d
        ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d ZeroPad1d ZeroPad2d
        ZeroPad3d GLU PixelShuffle PixelUnshuffle Unfold
        """,
        shape="rows",
        parameters="never",
    ),
    *_each(
        """
        AvgPool1d MaxPool1d LPPool1d LPPool2d LPPool3d AdaptiveAvgPool1d AdaptiveMaxPool1d Upsample
        UpsamplingBilinear2d UpsamplingNearest2d
        """,
        shape="rows",
        parameters="never",
        backward="untraced",
    ),
    *_each("FractionalMaxPool2d FractionalMaxPool3d", shape="rows", parameters="never", effects="always"),
    *_each("Flatten Unflatten", parameters="never"),
    *_each("Conv1d ConvTranspose1d LazyConv1d LazyConvTranspose1d", shape="signal", fixes=-2),
    *_each("Conv2d ConvTranspose2d LazyConv2d LazyConvTranspose2d", shape="image", fixes=-3),
    *_each("Conv3d ConvTranspose3d LazyConv3d LazyConvTranspose3d", shape="volume", fixes=-4),
    *_each("Linear LazyLinear Bilinear", shape="features", backward="untraced", fixes=-1),
    *_each("Embedding", shape="rows", effects="asked"),  # `max_norm` writes to the weights
    *_each("EmbeddingBag", effects="asked"),
    *_each("RNNCell LSTMCell GRUCell", backward="untraced"),
    *_each("RNN LSTM GRU", effects="asked", recurrent=True, backward="untraced", fixes=-1),
    *_each("MultiheadAttention", effects="asked", backward="untraced", fixes=-1, attends="asked"),
    *_each(
        "TransformerEncoderLayer", shape="same", effects="training", backward="untraced", fixes=-1, attends="always"
    ),
    *_each(
        "TransformerDecoderLayer Transformer TransformerEncoder TransformerDecoder",
        effects="training",
        backward="untraced",
        attends="always",
    ),
    *_each("AdaptiveLogSoftmaxWithLoss"),
)

_BY_NAME = {f"torch.nn.{layer.name}": layer for layer in LAYERS}


@lru_cache(maxsize=2048)
def find_layer(name: str) -> Layer | None:
    """The record of a module by its qualified name, or by that of a module of torch in which it is defined."""
    return _BY_NAME.get(table.resolve(name))
