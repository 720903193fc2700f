"""torchvision and timm: models and layers that do something else in training mode."""

from __future__ import annotations

from exportlint.analysis.library_functions import functions

functions("torchvision.models.* timm.create_model", trains=True)  # nearly every model has dropout or batch norm
functions("torchvision.ops.StochasticDepth torchvision.ops.stochastic_depth.StochasticDepth", trains=True)
functions("torchvision.ops.DropBlock2d torchvision.ops.DropBlock3d", trains=True)
functions(
    "timm.layers.DropPath timm.layers.drop.DropPath timm.layers.DropBlock2d timm.layers.PatchDropout", trains=True
)
functions("timm.models.layers.DropPath timm.models.layers.drop.DropPath", trains=True)
