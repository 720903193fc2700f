"""Bad1 to Bad4 of the torch.export tutorial: Python that does not fit into one graph."""

import torch
from torch import Tensor, cond, nn


class Branch(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.where(x.sum() > 0, x.sin(), x.cos())


class Chosen(nn.Module):
    """The fix that the tutorial shows."""

    def forward(self, x: Tensor) -> Tensor:
        return cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), [x])


class HiddenWrite(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        x.detach()[0, 0] = 3
        return x


class Identity(nn.Module):
    def __init__(self, salt: int = 7) -> None:
        super().__init__()
        self.salt = salt

    def forward(self, x: Tensor) -> Tensor:
        scaled = x * 2
        return scaled + self.salt


class Raise(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        try:
            x = x + 1
            raise RuntimeError("not this way")
        except RuntimeError:
            x = x + 2
        return x
