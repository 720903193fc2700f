"""Bad1 to Bad4 of the torch.export tutorial: Python that does not fit into one graph."""

from functorch.experimental.control_flow import cond
from torch import Tensor, nn


class Branch(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            return x.sin()
        return x.cos()


class Chosen(nn.Module):
    """The fix that the tutorial shows."""

    def forward(self, x: Tensor) -> Tensor:
        return cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), [x])


class HiddenWrite(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        x.data[0, 0] = 3
        return x


class Identity(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        scaled = x * 2
        return scaled + id(x) % 1000


class Raise(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        try:
            x = x + 1
            raise RuntimeError("not this way")
        except RuntimeError:
            x = x + 2
        return x
