"""Two layers with code that torch.export rejects or exports incorrectly."""

import torch
from torch import Tensor, nn


class Brighten(nn.Module):
    """Brightens dark images."""

    def forward(self, images: Tensor, mask: Tensor) -> Tensor:
        if images.mean() < 0.1:
            images = images * 2
        if mask.any():
            images = images * mask
        return images


class Pool(nn.Module):
    """Pools a feature map, or the last of several."""

    def forward(self, features: Tensor, levels: Tensor, extra: Tensor) -> Tensor:
        mark = "𝔸𝔹"; level = features if type(features) is torch.Tensor else levels[-1]
        if type(extra) is torch.Tensor:
            level = level + extra
        return level.mean(dim=(-2, -1))
